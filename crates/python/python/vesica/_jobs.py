"""The jobs of a run on a cluster, for the driver's conversation in the engine."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Callable

import pyarrow as pa
import pyarrow.fs

from vesica import _executors, _folder, _vesica
from vesica._errors import InputError, OutputError, UsageError
from vesica._events import log
from vesica._flags import Flag
from vesica._pools import Pool

_WORDS = {
    "keys": "reading the rows, and hashing their keys",
    "divide": "dividing the keys into buckets",
    "wave": "a wave of buckets",
    "commit": "keeping what counts",
}

# Tables and files of a run that hold rows, hashes of keys, what matched, or what workers are told.
_PRIVATE = ["rows", "parts", "shares", "buckets", "states", "matches", "found", "tickets"]

# The most shares into which the keys of a table are divided while they are read: each is a section of each file.
_MOST_SHARES = 256

# How long a job that was cancelled may take to end.
_CANCELLED_WITHIN = 30.0


class Jobs:
    """Runs one job at a time in a thread, and says what it gave.

    The engine calls `begin`, then `poll` until it gives something else than `None`; `cancel` ends a job.
    """

    def __init__(
        self,
        pool: Pool,
        needed: list[str],
        key: list[Flag],
        work: str,
        slots: int | None,
        buckets: int,
        join: str | None,
    ) -> None:
        self._pool, self._needed, self._key = pool, list(dict.fromkeys(needed)), key
        self._slots, self._buckets = slots, buckets
        # How rows become the result, "union" for all of them and new ones; without, they are not kept.
        self._join, self._keeps_rows = join, join is not None
        self._shares = max(1, min(buckets, _MOST_SHARES))
        self.folder = f"{_folder.real(work)}/vesica-{uuid.uuid4()}"
        # How long jobs of each kind took together.
        self.seconds: dict[str, float] = {}
        # Where a job failed and no error of ours says why: the exception of the system.
        self.error: BaseException | None = None
        self._is_made = self._was_cancelled = False
        self._thread: threading.Thread | None = None
        self._done: list[Any] = []
        # What is read beside keys, how they are divided, and what the partner gives, as the engine says it.
        self._beside, self._division = "", ""
        self._received: str | None = None
        # The files of rows, and one of them whose key columns have types.
        self._files: list[str] = []
        self._like = ""
        # Of each bucket that counts the attempt, and the key of what its worker left.
        self._attempts: dict[int, tuple[int, str]] = {}
        self._seals: dict[tuple[int, int], str] = {}
        self._waves = 0
        self._kinds: dict[str, Callable[[str], Any]] = {
            "keys": self._read_keys,
            "divide": self._divide,
            "wave": self._run_wave,
            "commit": self._commit,
        }

    def no_rows(self) -> _vesica.Table:
        """A table with all columns and no rows; those that are needed are as tasks see them."""
        pool, names = self._pool, set(self._needed)
        schema = pool.schema([name for name in pool.columns if name in names])
        return _vesica.Table.of_arrow(pool.table_name, pool.columns, pa.table(schema.empty_table()))

    def slots(self) -> int:
        """How many tasks may run at once."""
        if self._slots is None:
            return self._pool.slots()
        if self._slots < 1:
            raise UsageError(f"slots={self._slots} is no number of tasks", "say at least 1")
        return self._slots

    def begin(self, kind: str, argument: str) -> None:
        """Starts a job."""
        self._done = []
        self._thread = threading.Thread(target=self._play, args=(kind, argument), daemon=True)
        self._thread.start()

    def poll(self) -> Any:
        """What the job gave, once it is done."""
        if self._thread is None or self._thread.is_alive():
            return None
        result, error = self._done
        if error is not None:
            said = self._pool.said_by(error)
            if said is not None:
                raise said
            self.error = error
            raise error
        return result

    def cancel(self) -> None:
        """Ends the job, if it still runs."""
        if self._thread is not None and self._thread.is_alive():
            self._was_cancelled = True
            self._pool.cancel()

    def result(self) -> Any:
        """The rows of the table, joined with the keys that matched, in a table of their own."""
        said = {"division": self._division, "beside": self._beside, "received": self._received, "attempts": self._attempts}
        began = time.monotonic()
        try:
            with self._pool.job():
                _folder.write(self.folder, _executors.MATCHED, json.dumps(said).encode())
                kept = self._write_union() if self._join == "union" else self._write_rows()
        except Exception as error:
            if (own := self._pool.said_by(error)) is not None:
                raise own from error
            fault = f"the rows of the result could not be written: the cluster failed with {type(error).__name__}"
            mend = f"see the exception that caused this one, and the logs of {self._pool.name}; then run again"
            raise OutputError(fault, mend) from error
        self.seconds["result"] = time.monotonic() - began
        columns = kept[0]["own"] if kept else len(self._pool.columns)
        keys = [value for name, value in self._key if name == "key" and value is not None]
        return self._pool.result(f"{self.folder}/result", columns, keys if self._join == "union" else None)

    def _write_rows(self) -> list[dict[str, Any]]:
        self._each(self._shares, partial(_executors.find, self.folder, self._shares, len(self._files)))
        terms = (self.folder, self._join or "inner", self._received, self._shares, self._files, self._pool.readable())
        return self._each(len(self._files), partial(_executors.keep, *terms))

    def _write_union(self) -> list[dict[str, Any]]:
        terms = (self.folder, self._key, self._received or "")
        plain, readable = self._pool.plain(), self._pool.readable()
        kept = self._each(len(self._files), partial(_executors.keep_all, *terms, self._files, plain, readable))
        work = partial(_executors.add_new, *terms, self._like, len(self._files), plain, readable)
        self._each(self._buckets, work)
        return kept

    def close(self, keep: bool, has_result: bool) -> str | None:
        """Removes what nobody needs after the run: all but the result, and what both sides have signed. Gives a warning if
        that fails."""
        end = time.monotonic() + _CANCELLED_WITHIN
        while self._thread is not None and self._thread.is_alive() and time.monotonic() < end:
            # Once more: what had just begun may not have been known to the system.
            self.cancel()
            self._thread.join(0.5)
        if not self._is_made:
            return None
        # Whoever keeps the rest keeps no keys beside it.
        names = ["tickets"] if keep else [*_PRIVATE, *([] if has_result else ["result"])]
        try:
            _folder.remove(self.folder, names)
        except OSError:
            return f"rows and hashes of keys could not be removed from {self.folder}; remove the folder"
        if keep:
            return None
        # A task of a cancelled job may still be about to write, and the system does not say when it has ended: it finds a
        # folder that nobody else enters.
        if self._was_cancelled:
            return f"tasks of the cancelled job may still write rows and hashes of keys to {self.folder}; remove the folder"
        _folder.remove_if_empty(self.folder)
        return None

    def _play(self, kind: str, argument: str) -> None:
        log.info("the cluster begins: %s", _WORDS[kind])
        began = time.monotonic()
        try:
            with self._pool.job():
                self._done = [self._kinds[kind](argument), None]
        except BaseException as error:
            self._done = [None, error]
        finally:
            self.seconds[kind] = self.seconds.get(kind, 0) + time.monotonic() - began

    def _each(self, numbers: int, work: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
        # Some more than there are slots, so that none waits long for the last one.
        return self._pool.each(numbers, min(numbers, 2 * self.slots()), work)

    def _read_keys(self, beside: str) -> tuple[list[str], list[str], list[str], list[str | None]]:
        self._pool.make_folder(self.folder)
        self._is_made, self._beside = True, beside
        work = partial(_executors.scan, self.folder, self._key, self._needed, beside, self._shares, self._keeps_rows)
        scanned = self._pool.scan(None if self._keeps_rows else self._needed, work)
        self._refuse_other_machines([name for part in scanned for name in part["parts"]])
        with_rows = [part for part in scanned if part["rows"]]
        self._refuse_other_types([part["types"] for part in with_rows])
        self._files = [part["name"] for part in with_rows]
        # A part in which a column has no value does not know its type.
        keys = sum(name == "key" for name, _ in self._key)
        self._like = next((part["name"] for part in with_rows if "null" not in part["types"][:keys]), "")
        parts = [(file, name) for file, part in enumerate(with_rows) for name in part["parts"]]
        # A part's keys have numbers of its own groups beside them.
        categories, places = _vesica.agree_on_groups(beside, [part["categories"] for part in with_rows])
        if categories:
            _folder.write(self.folder, _executors.GROUPS, json.dumps(places).encode())
        work_of_shares = partial(
            _executors.merge, self.folder, self._key, beside, self._shares, parts, bool(categories), self._keeps_rows
        )
        shares = self._each(self._shares, work_of_shares)
        _folder.remove(self.folder, ["parts"])
        payloads = {part["payload"] for part in with_rows if part["payload"] is not None}
        counts = [part["counts"] for part in scanned]
        return counts, sorted(payloads), [share["counts"] for share in shares], categories

    def _refuse_other_machines(self, names: list[str]) -> None:
        """Refuses a directory that this program and the tasks do not share."""
        files, path = _folder.filesystem(self.folder)
        found = files.get_file_info([f"{path}/{name}" for name in names])
        if any(info.type != pyarrow.fs.FileType.File for info in found):
            fault = f"this program does not see what tasks wrote to {self.folder}"
            raise OutputError(fault, "name a directory with work= that it and all machines of the cluster read and write")

    def _refuse_other_types(self, parts: list[list[str]]) -> None:
        """Refuses columns of objects whose parts have values of different types: such keys would not match."""
        for name, types in zip(self._needed, zip(*parts)):
            if len(found := {kind for kind in types if kind != "null"}) > 1:
                fault = f"column {name!r} has values of several types: {', '.join(sorted(found))}"
                raise InputError(fault, "bring all values to one type, for example with .astype(str)")

    def _divide(self, argument: str) -> list[int]:
        division, (key_width, width), received = json.loads(argument)
        self._division, self._received = division, received
        if self._join == "left" and received is None:
            fault = "join='left' without columns of the partner: all rows would be the result, as they are"
            raise InputError(fault, "omit join=, or ask the partner for payload=")
        work = partial(_executors.divide, self.folder, division, self._beside, (key_width, width))
        counts = [share["keys"] for share in self._each(self._shares, work)]
        return [sum(of_shares) for of_shares in zip(*counts)]

    def _run_wave(self, argument: str) -> list[tuple[Any, ...]]:
        workers, tickets = json.loads(argument)
        self._waves += 1
        self._hand_out([tickets[number::workers] for number in range(workers)])
        work = partial(
            _executors.run, self.folder, self._waves, self._pool.cores(), self._shares, self._buckets
        )
        try:
            # One worker a task.
            said = self._pool.each(workers, workers, work)
        finally:
            # What is left, as a file that a lost task holds open, is removed with all else in the end.
            with contextlib.suppress(OSError):
                _folder.remove(self.folder, ["tickets"])
        secrets = {(bucket, attempt): ticket for bucket, attempt, _, ticket in tickets}
        outcomes: dict[tuple[int, int], tuple[Any, ...]] = {}
        for outcome in (outcome for worker in said for outcome in worker["outcomes"]):
            due = (outcome["bucket"], outcome["attempt"])
            outcomes[due] = self._outcome(secrets[due], due, outcome)
        return [outcomes[bucket, attempt] for bucket, attempt, *_ in tickets]

    def _outcome(self, ticket: str, due: tuple[int, int], outcome: Mapping[str, Any]) -> tuple[Any, ...]:
        if outcome["failure"] is not None:
            return tuple(outcome["failure"])
        learned = None
        if outcome["learned"] is not None:
            learned = _vesica.unmasked(ticket, bytes.fromhex(outcome["learned"]))
            self._seals[due] = _vesica.seal_key(ticket)
        return outcome["transcript"], learned

    def _hand_out(self, tickets: list[Any]) -> None:
        """Writes the tickets of each worker to a file of its own."""
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(self._hand_out_to, range(len(tickets)), tickets))

    def _hand_out_to(self, number: int, tickets: Any) -> None:
        _folder.write(self.folder, _executors.tickets(self._waves, number), json.dumps(tickets).encode())

    def _commit(self, commit: str) -> int:
        said = json.loads(commit)
        _folder.write(self.folder, f"commits/{said['wave']}.json", commit.encode(), is_durable=True)
        for ended in said["attempts"]:
            due = (ended["bucket"], ended["attempt"])
            # One that has found something; a pass may have nothing to find.
            if ended["sender"] is not None and ended["sender"] == ended["receiver"] and due in self._seals:
                self._attempts[due[0]] = (due[1], self._seals[due])
        return len(self._attempts)


def refuse_join(join: str, task: str) -> None:
    """Refuses a join that there is not."""
    if join not in ("inner", "left", "difference"):
        raise UsageError(f"join={join!r} is no join on a cluster", 'say "inner", "left" or "difference"')
    if task != "intersect" and join != "inner":
        raise UsageError("join= is for intersect", "omit it")

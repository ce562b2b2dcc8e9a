"""The jobs that a join runs on a Spark cluster, for the driver's conversation in the engine."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

import pyarrow as pa

from vesica import _errors, _executors, _folder, _vesica
from vesica._errors import Error, InputError, OutputError, UsageError
from vesica._events import log
from vesica._executors import COUNTS, DIGEST, OUTCOMES, value
from vesica._flags import Flag

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_WORDS = {
    "keys": "hashing the keys of all rows",
    "divide": "dividing the keys into buckets",
    "wave": "a wave of buckets",
    "commit": "keeping what counts",
}


# Tables and files of a run that hold rows, hashes of keys, what matched, or what workers are told.
_PRIVATE = ["rows", "digests", "buckets", "matches", "tickets"]

# How long a job that was cancelled may take to end.
_CANCELLED_WITHIN = 30.0


class Jobs:
    """Runs one job at a time in a thread, and says what it gave.

    The engine calls `begin`, then `poll` until it gives something else than `None`; `cancel` ends a job.
    """

    def __init__(
        self,
        df: DataFrame,
        on: list[str],
        payload: list[str],
        key: list[Flag],
        work: str,
        slots: int | None,
        keeps_rows: bool,
    ) -> None:
        self._df, self._on, self._key = df, on, key
        self._needed = list(dict.fromkeys([*on, *payload]))
        # What the tables in the folder have, so that Spark need not look at their files for that.
        self._schemas: dict[str, StructType] = {}
        # Columns of values that stand beside each digest.
        self._values: list[str] = []
        self._keeps_rows = keeps_rows
        self._spark = df.sparkSession
        self.folder = f"{_folder.real(work)}/vesica-{uuid.uuid4()}"
        self._slots = slots
        # How long jobs of each kind took together.
        self.seconds: dict[str, float] = {}
        # Where a job failed and no error of ours says why: the exception of Spark.
        self.error: BaseException | None = None
        self._tag = f"vesica-{uuid.uuid4()}"
        self._is_made = self._was_cancelled = False
        self._thread: threading.Thread | None = None
        self._done: list[Any] = []
        self._attempts: dict[int, int] = {}
        self._waves = 0
        self._kinds: dict[str, Callable[[str], Any]] = {
            "keys": self._read_keys,
            "divide": self._divide,
            "wave": self._run_wave,
            "commit": self._commit,
        }

    def no_rows(self) -> _vesica.Table:
        """A table with the columns of the DataFrame and no rows; those that are needed are as executors see them."""
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        fields = [field for field in self._df.schema.fields if field.name in self._needed]
        schema = to_arrow_schema(StructType(fields))
        return _vesica.Table.of_arrow("the DataFrame", self._df.columns, pa.table(schema.empty_table()))

    def driver_host(self) -> str:
        """The host of this program as executors know it."""
        # With Spark Connect, the driver that has this host is another program.
        host = None if self._context() is None else self._setting("spark.driver.host")
        if host is None:
            text = "this session does not say at which address executors reach this program"
            raise UsageError(text, 'say rendezvous="host:port"; port 0 takes a free one')
        return host

    def slots(self) -> int:
        """How many tasks may run at once."""
        if self._slots is not None:
            if self._slots < 1:
                raise UsageError(f"slots={self._slots} is no number of tasks", "say at least 1")
            return self._slots
        context = self._context()
        # With either setting, Spark's number is another one than that of the cores of its executors.
        is_unclear = context is None or self._setting("spark.default.parallelism") is not None
        if is_unclear or self._setting("spark.dynamicAllocation.enabled") == "true":
            text = "this session does not say how many tasks its cluster runs at once"
            raise UsageError(text, "say slots=, the number of cores of all executors")
        return max(1, int(context.defaultParallelism) // self._cores())

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
            said = error if isinstance(error, Error) else _said_by_executor(error)
            if said is not None:
                raise said
            self.error = error
            raise error
        return result

    def cancel(self) -> None:
        """Ends the job, if it still runs."""
        if self._thread is not None and self._thread.is_alive():
            self._was_cancelled = True
            context = self._context()
            if context is None:
                self._spark.interruptTag(self._tag)
            else:
                context.cancelJobsWithTag(self._tag)

    def result(self, how: str) -> DataFrame:
        """The rows of the DataFrame, joined in this way with the digests that matched, in a table of their own."""
        matched = self._numbers(len(self._attempts), min(len(self._attempts), self.slots())).mapInArrow(
            partial(_executors.matches, self.folder, self._attempts), f"{DIGEST} binary"
        )
        rows = self._read("rows").join(matched, DIGEST, how).drop(DIGEST, COUNTS)
        began = time.monotonic()
        try:
            self._write("result", rows, compression="zstd")
        except Exception as error:
            fault = f"the rows of the result could not be written: the cluster failed with {type(error).__name__}"
            raise OutputError(fault, "see the exception that caused this one, and the logs of Spark; then run again") from error
        self.seconds["result"] = time.monotonic() - began
        return self._read("result")

    def close(self, keep: bool, has_result: bool) -> str | None:
        """Removes what nobody needs after the run: all but the result, and what both sides have signed. Gives a warning if
        that fails."""
        if self._thread is not None:
            self._thread.join(_CANCELLED_WITHIN)
        if not self._is_made or keep:
            return None
        try:
            _folder.remove(self.folder, _PRIVATE if has_result else [*_PRIVATE, "result"])
        except OSError:
            return f"rows and hashes of keys could not be removed from {self.folder}; remove the folder"
        # A task of a cancelled job may still be about to write, and Spark does not say when it has ended: it finds a
        # folder that nobody else enters.
        if self._was_cancelled:
            return f"tasks of the cancelled job may still write rows and hashes of keys to {self.folder}; remove the folder"
        _folder.remove_if_empty(self.folder)
        return None

    def _play(self, kind: str, argument: str) -> None:
        log.info("the cluster begins: %s", _WORDS[kind])
        began = time.monotonic()
        try:
            context = self._context()
            if context is None:
                self._spark.addTag(self._tag)
            else:
                context.addJobTag(self._tag)
            self._done = [self._kinds[kind](argument), None]
        except BaseException as error:
            self._done = [None, error]
        finally:
            self.seconds[kind] = self.seconds.get(kind, 0) + time.monotonic() - began

    def _read_keys(self, argument: str) -> tuple[int, list[str], list[int]]:
        from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

        _folder.make(self.folder, self._spark if self._context() is not None else None)
        self._is_made = True
        values = json.loads(argument)
        self._values = [value(place) for place in range(len(values["columns"]))]
        added = [StructField(DIGEST, BinaryType()), StructField(COUNTS, StringType())]
        df = self._df
        if self._keeps_rows:
            work = partial(_executors.with_digests, self.folder, self._key, self._on)
            schema = StructType([*self._df.schema.fields, *added])
        else:
            quoted = [name.replace("`", "``") for name in self._needed]
            df = df.select([f"`{name}`" for name in quoted])
            work = partial(_executors.only_digests, self.folder, self._key, self._needed, argument)
            schema = StructType([*added, *(StructField(name, LongType()) for name in self._values)])
        self._write("rows", df.mapInArrow(work, schema), compression="zstd")
        rows = self._read("rows")
        keyed = rows.select(DIGEST, *self._values).where(f"{DIGEST} is not null")
        self._write("digests", self._one_a_key(keyed, values["columns"], values["sum"]))
        counts = rows.select(COUNTS).where(f"{COUNTS} is not null").collect()
        distinct, clamped = self._count_keys(values["columns"], values["sum"])
        return distinct, [row[0] for row in counts], clamped

    def _one_a_key(self, keyed: DataFrame, columns: list[dict[str, Any]], adds_up: bool) -> DataFrame:
        """A row for each digest: of each column its value within the range, and whether it was outside or is none."""
        from pyspark.sql.functions import col, greatest, least, lit, max, min, sum

        found, kept = [], []
        for name, column in zip(self._values, columns):
            lowest, highest = _range(column)
            if adds_up:
                # Wide enough for any number of rows.
                found.append(sum(col(name).cast("decimal(38,0)")).alias(name))
                is_none = ~col(name).between(*_range({}))
            else:
                found += [min(name).alias(name), max(name).alias(f"{name}_most")]
                is_none = col(name) != col(f"{name}_most")
            clamped = least(greatest(col(name), lit(lowest)), lit(highest)).cast("bigint")
            is_outside = ~col(name).between(lowest, highest)
            kept += [clamped.alias(name), is_outside.alias(f"{name}_outside"), is_none.alias(f"{name}_none")]
        return keyed.groupBy(DIGEST).agg(*found).select(DIGEST, *kept) if found else keyed.distinct()

    def _count_keys(self, columns: list[dict[str, Any]], adds_up: bool) -> tuple[int, list[int]]:
        """How many keys there are, and how many of their values each column had outside of its range."""
        from pyspark.sql.functions import col, count_if

        (distinct,) = _executors.count_rows(self.folder, ["digests"])
        if not columns:
            return distinct, []
        found = []
        for name in self._values:
            found += [count_if(col(f"{name}_outside")), count_if(col(f"{name}_none"))]
        others = self._read("digests").agg(*found).collect()[0]
        for column, missing in zip(columns, others[1::2]):
            if missing and adds_up:
                fault = f"the values of {missing} keys in column {column['name']!r} add up to more than 64 bits hold"
                raise InputError(fault, "choose fewer digits (scale=), or another column")
            if missing:
                fault = f"{missing} keys have rows that differ in column {column['name']!r}"
                mend = 'remove duplicate keys, or add up the values of each with payload_duplicates="sum"'
                raise InputError(fault, mend)
        return distinct, others[::2]

    def _divide(self, division: str) -> list[int]:
        schema = ", ".join([f"{DIGEST} binary", *(f"{name} bigint" for name in self._values), "bucket int"])
        keys = self._read("digests").select(DIGEST, *self._values)
        divided = keys.mapInArrow(partial(_executors.with_buckets, self.folder, division), schema)
        buckets = json.loads(division)["buckets"]
        divided = divided.repartition(min(buckets, 2 * self.slots()), "bucket")
        write = divided.write.options(**_folder.OPTIONS).partitionBy("bucket")
        write.parquet(f"{self.folder}/buckets", compression="uncompressed")
        return _executors.count_rows(self.folder, [f"buckets/bucket={bucket}" for bucket in range(buckets)])

    def _run_wave(self, argument: str) -> list[tuple[Any, ...]]:
        workers, tickets = json.loads(argument)
        self._waves += 1
        self._hand_out([tickets[number::workers] for number in range(workers)])
        work = partial(_executors.run, self.folder, self._waves, self._cores())
        try:
            # One worker a task. The tasks read files, so there is no shuffle that could put two of them together.
            rows = self._numbers(workers, workers).mapInArrow(work, OUTCOMES).collect()
        finally:
            # What is left, as a file that a lost task holds open, is removed with all else in the end.
            with contextlib.suppress(OSError):
                _folder.remove(self.folder, ["tickets"])
        secrets = {(bucket, attempt): ticket for bucket, attempt, ticket in tickets}
        outcomes: dict[tuple[int, int], tuple[Any, ...]] = {}
        for row in rows:
            due = (row["bucket"], row["attempt"])
            if row["failure"] is not None:
                outcomes[due] = tuple(json.loads(row["failure"]))
                continue
            learned = None
            if row["learned"] is not None:
                bits, learned = _vesica.unmasked(secrets[due], bytes(row["learned"]))
                if self._keeps_rows:
                    _folder.write(self.folder, f"matches/{due[0]}-{due[1]}.bits", bits)
            outcomes[due] = (row["transcript"], learned)
        return [outcomes[bucket, attempt] for bucket, attempt, _ in tickets]

    def _hand_out(self, tickets: list[Any]) -> None:
        """Writes the tickets of each worker to a file of its own."""
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(self._hand_out_to, range(len(tickets)), tickets))

    def _hand_out_to(self, number: int, tickets: Any) -> None:
        _folder.write(self.folder, _executors.tickets(self._waves, number), json.dumps(tickets).encode())

    def _commit(self, commit: str) -> int:
        said = json.loads(commit)
        _folder.write(self.folder, f"commits/{said['wave']}.json", commit.encode())
        for ended in said["attempts"]:
            if ended["sender"] is not None and ended["sender"] == ended["receiver"]:
                self._attempts[ended["bucket"]] = ended["attempt"]
        return len(self._attempts)

    def _write(self, name: str, rows: DataFrame, compression: str = "uncompressed") -> None:
        rows.write.options(**_folder.OPTIONS).parquet(f"{self.folder}/{name}", compression=compression)
        self._schemas[name] = rows.schema

    def _read(self, name: str) -> DataFrame:
        return self._spark.read.schema(self._schemas[name]).parquet(f"{self.folder}/{name}")

    def _numbers(self, count: int, tasks: int) -> DataFrame:
        return self._spark.range(0, count, 1, tasks)

    def _context(self) -> Any:
        """The context of a session that runs in this program; none of one of Spark Connect."""
        try:
            return self._spark.sparkContext
        except Exception:
            return None

    def refuse_open_link(self) -> None:
        """Refuses a session of Spark Connect whose link everybody on the way can read and change."""
        if self._context() is not None:
            return
        builder = self._spark.client._builder
        host = str(builder.host).strip("[]")
        is_local = host == "localhost" or host.startswith("unix:") or _is_loopback(host)
        # A builder of the caller's own does not say.
        if getattr(builder, "secure", None) is False and not is_local:
            fault = f"the session of Spark Connect reaches {host} without TLS and without a token"
            raise UsageError(fault, "say use_ssl=true, or a token, in the session's URL (sc://host:port/;use_ssl=true)")

    def _cores(self) -> int:
        return int(self._setting("spark.task.cpus") or 1)

    def _setting(self, name: str) -> str | None:
        found: str | None = self._spark.conf.get(name, None)
        return found


def _is_loopback(host: str) -> bool:
    """Whether this is an address of this machine alone. A name is none, whatever it begins with."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _range(column: dict[str, Any]) -> tuple[int, int]:
    """The range of a column of values, in units of its scale."""
    clamp = column.get("clamp") or {"least": -(2**63), "most": 2**63 - 1}
    return clamp["least"], clamp["most"]


def _said_by_executor(error: BaseException) -> Error | None:
    """The error of vesica that a task raised, in the text of Spark's exception."""
    if "No module named 'vesica'" in str(error):
        mend = "install vesica for it on all machines, or set PYSPARK_PYTHON to a Python that has it"
        return UsageError("the Python of the executors has no vesica", mend)
    found = re.search(r"^vesica\._errors\.(\w+): (.*); (.*)$", str(error), re.MULTILINE)
    kind = getattr(_errors, found.group(1), None) if found else None
    if found is None or not isinstance(kind, type) or not issubclass(kind, Error):
        return None
    return kind(found.group(2), found.group(3))

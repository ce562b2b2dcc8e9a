"""Runs on clusters: what `vesica.spark` and `vesica.dask` have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable
from urllib.parse import urlsplit

import pyarrow

from vesica import _vesica
from vesica._errors import Error, UsageError, at_the_call
from vesica._events import Progress, Teller
from vesica._flags import SIDES, columns, described, flags, key_flags, keys, refuse_unknown
from vesica._jobs import Jobs, refuse_join
from vesica._pools import Pool
from vesica._tasks import refuse_role

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from vesica._settings import Role, RunSettings

_NUMBERS = ("cardinality", "union-cardinality")

# Tasks whose results are rows of the own table.
_ROWS = ("intersect", "union")


class Cluster:
    """The tasks that run on a cluster of one kind."""

    def __init__(self, pool: Callable[[Any], Pool]) -> None:
        self._pool = pool

    @at_the_call
    @described(*SIDES.values())
    def intersect(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Tells the receiver which rows of its DataFrame have a key that the sender has too.

        Returns a DataFrame of the receiver's rows, with the columns that the sender gives (`payload`) behind its own, and
        `None` on the sender's side, unless both say `both_learn=True`. The rows come from the table `result` in the folder
        of this run in `work`: save them, then delete the folder.

        `on`: the key column, or a list of them in the same order as the partner's; names may differ.
        `role`: "receiver" or "sender".
        `work`: a directory that this program and all machines of the cluster read and write, such as hdfs:///tmp/vesica.
        Each run makes a folder of its own there, which holds your rows and hashes of your keys until the run ends.
        `buckets`: into how many buckets the keys are divided, the same number on both sides, 64 by default; one core of the
        cluster holds one bucket.
        `slots`: how many tasks of this cluster may run at once; by default what the cluster says.
        `rendezvous`: host:port of this program that all machines reach; by default the driver's host, and a free port.
        With Spark Connect say it and `slots`; port 0 takes a free one.
        `keep`: leave the rows, hashes and buckets of the run in its folder, also when it fails.
        `join`: "inner"; "left" for all rows, with the sender's columns where it has the key; or "difference" for the rows
        whose key the sender does not have.

        All other arguments are those of `vesica.intersect`.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("intersect", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def union(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Gives the receiver each key of the sender that it does not have, with the columns that the sender gives (`payload`).

        Returns a DataFrame of the receiver's rows, and behind them a row for each new key, and `None` on the sender's side;
        with `both_learn=True` on both sides, the sender gets its rows and the receiver's keys that it does not have. Other
        arguments are those of `intersect` but `join`, and `max_item_bytes` of `vesica.union`.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("union", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def cardinality(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Tells the receiver how many keys both DataFrames have, and nothing of single buckets.

        Returns an integer, and `None` on the sender's side; with the receiver's `group_by`, a DataFrame with a row for each
        value of that column. Arguments are those of `intersect` but `join`, and `group_by`, `max_groups`, `epsilon` and
        `budget` of `vesica.cardinality`. The rows are not kept in `work`, only hashes of their keys, and their groups.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("cardinality", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def sum(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Tells the receiver the sum of each column of the sender's `payload` over the keys that both DataFrames have.

        Returns a DataFrame of one row, or with the receiver's `group_by` of a row for each value of that column, and `None`
        on the sender's side; nobody learns the sums of single buckets. Arguments are those of `intersect` but `join`, and of
        `vesica.sum` the receiver's `group_by` and the sender's `payload`, `scale`, `clamp`, `max_groups`, `epsilon` and
        `budget`. Rows that share a key must have the same values, or are added up with payload_duplicates="sum"; they must
        be of one group.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("sum", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def join_and_compute(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Tells the receiver the sum, over the keys that both DataFrames have, of its column times each of the sender's.

        Each side names its columns with `payload`: the receiver one, the sender one or more. As `sum` else.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("join-and-compute", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def union_cardinality(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Tells the receiver how many different keys the two DataFrames have together. As `cardinality` else."""
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("union-cardinality", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def union_sum(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> Any:
        """Tells the receiver sums over the keys of both DataFrames, in which each key counts once.

        The two sides name their columns with `payload`, pair by pair. As `sum` else.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
        return self.run("union-sum", df, on, role, given)

    @at_the_call
    @described(*SIDES.values())
    def dry_run(
        self,
        df: Any,
        *,
        on: Any,
        role: Role,
        task: str = "intersect",
        slots: int | None = None,
        rendezvous: str | None = None,
        keep: bool = False,
        **settings: Unpack[RunSettings],
    ) -> dict[str, Any]:
        """Tries all of a run up to the exchange of sizes, if the partner does so too. The cluster reads the table as a run does.

        Returns a dictionary as `vesica.dry_run` does. Of faults of the table it has the first that is found.
        """
        given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings, "dry_run": True}
        found: dict[str, Any] = self.run(task, df, on, role, given)
        return found

    def run(
        self,
        task: str,
        df: Any,
        on: Any,
        role: str,
        settings: Mapping[str, Any],
        listening: Callable[[str], None] | None = None,
    ) -> Any:
        """Runs a side; `listening` hears the address at which it listens."""
        pool = self._pool(df)
        refuse_role(role)
        given: dict[str, Any] = {"buckets": 64, **settings}
        work = str(given.pop("work", None) or "")
        slots, rendezvous = given.pop("slots", None), given.pop("rendezvous", None)
        keep = given.pop("keep", False)
        task, join = task.replace("_", "-"), given.pop("join", "inner")
        with_report = given.pop("with_report", False)
        progress: Progress = given.pop("progress", None)
        cancel, or_on = given.pop("cancel", None), given.pop("or_on", None)
        normalise, null_words = given.pop("normalise", None), given.pop("null_words", None)
        refuse_join(join, task)
        refuse_unknown(given, SIDES[role])
        if not str(given["buckets"]).isdigit():
            raise UsageError("a cluster takes a number of buckets", "say buckets=64, or another number, on both sides")
        on = columns(on)
        key = [*key_flags(on, or_on, normalise), *flags({"null_words": null_words})]
        payload = columns(given.get("payload"))
        # What the receiver expects of its partner is no column of its own.
        own = payload if role == "sender" or task not in _ROWS else []
        group_by = columns(given.get("group_by"))
        needed = [*on, *(name for key in keys(or_on) for name in key), *own, *group_by]
        keeps_rows = task in _ROWS and (role == "receiver" or bool(given.get("both_learn")))
        if keeps_rows:
            pool.refuse_columns()
        join = "union" if task == "union" else join if role == "receiver" else "inner"
        kept = join if keeps_rows else None
        jobs = Jobs(pool, needed, key, _uri(work), slots, int(given["buckets"]), kept)
        pool.refuse_open_link()
        jobs.slots()  # Says before anything else that it does not know them.
        spoken = [("task", task), *key, *flags(given)]
        teller = Teller(progress, listening, cancel)
        has_result = False
        try:
            inside = _inside(rendezvous, pool)
            outcome = _vesica.on_cluster(SIDES[role], spoken, jobs.no_rows(), inside, jobs, teller)
            if outcome.is_dry_run:
                found = json.loads(outcome.report)
                return (found, found) if with_report else found
            report = {**json.loads(outcome.report), "work": jobs.folder, "cluster_seconds": jobs.seconds}
            for warning in report["warnings"]:
                teller.warn(warning)
            result = None
            if outcome.kind == "numbers":
                numbers = task in _NUMBERS and not group_by
                result = next(iter(outcome.lists(0).values()))[0] if numbers else pool.numbers(pyarrow.table(outcome.table(0)))
            elif report["matched_keys"] is not None or report["output"] is not None:
                result = jobs.result()
                has_result = True
        except Error as error:
            if jobs.error is not None:
                raise error from jobs.error
            raise
        finally:
            teller.close()
            if (left := jobs.close(keep, has_result)) is not None:
                teller.warn(left)
        return (result, report) if with_report else result


def _uri(work: str) -> str:
    """The directory as a URI that the cluster and Arrow both read."""
    if strange := re.search(r"[^A-Za-z0-9_.~:/@=+,\[\]-]", work):
        text = f"work={work!r} has the character {strange[0]!r}, which Spark and Arrow read in different ways"
        raise UsageError(text, "name a directory of plain letters, digits and signs such as - and _")
    parts = urlsplit(work)
    if not parts.scheme:
        if not work.startswith("/"):
            raise UsageError(f"work={work!r} is no absolute path", "say an absolute path or a URI, as hdfs:///tmp/vesica")
        return "file://" + work.rstrip("/")
    return work.rstrip("/")


def _inside(rendezvous: str | None, pool: Pool) -> tuple[str, str | None]:
    """The address to bind, and the host that machines dial."""
    if rendezvous is None:
        host = pool.driver_host()
        return ("0.0.0.0:0" if ":" not in host else "[::]:0"), host
    name, _, port = rendezvous.rpartition(":")
    if not name or not port.isdigit():
        raise UsageError(f"rendezvous={rendezvous!r} is no address", 'say host:port, as "10.0.0.5:7401"')
    return (f"[::]:{port}" if name.startswith("[") else f"0.0.0.0:{port}"), name

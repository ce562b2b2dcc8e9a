"""Joins of Spark DataFrames: the buckets of a join are run by the executors of both parties' clusters.

::

    from vesica import spark

    matches = spark.intersect(df, on="email", role="receiver", buckets=64, work="hdfs:///tmp/vesica",
                              security="semi-honest", peer="them.pub", listen="0.0.0.0:7400")

docs/spark.md says what each side needs, and what it reveals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable
from urllib.parse import urlsplit

from vesica import _vesica
from vesica._errors import Error, UsageError, at_the_call
from vesica._events import Progress, Teller
from vesica._executors import COUNTS, DIGEST
from vesica._flags import SIDES, columns, described, flags, key_flags, refuse_unknown
from vesica._jobs import Jobs
from vesica._tasks import refuse_role

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from vesica._settings import Role, RunSettings

__all__ = ["cardinality", "intersect", "sum"]

_JOINS = {"inner": "left_semi", "difference": "left_anti"}


@at_the_call
@described(*SIDES.values())
def intersect(
    df: DataFrame,
    *,
    on: Any,
    role: Role,
    slots: int | None = None,
    rendezvous: str | None = None,
    keep: bool = False,
    **settings: Unpack[RunSettings],
) -> Any:
    """Tells the receiver which rows of its DataFrame have a key that the sender has too.

    Returns a DataFrame of the receiver's rows, and `None` on the sender's side, unless both say `both_learn=True`. The
    rows come from the table `result` in the folder of this run in `work`: save them, then delete the folder.

    `on`: the key column, or a list of them in the same order as the partner's; names may differ.
    `role`: "receiver" or "sender".
    `work`: a directory that this program and all executors read and write, such as hdfs:///tmp/vesica. Each run makes a
    folder of its own there, which holds your rows and hashes of your keys until the run ends.
    `security`: say "semi-honest", the only security on a cluster: the partner must be trusted to follow the protocol.
    `buckets`: into how many buckets the keys are divided, the same number on both sides, 64 by default; one executor
    core holds one bucket.
    `slots`: how many tasks of this cluster may run at once; by default what Spark says.
    `rendezvous`: host:port of this program that all executors reach; by default the driver's host, and a free port.
    With Spark Connect say it and `slots`; port 0 takes a free one.
    `keep`: leave the rows, hashes and buckets of the run in its folder, also when it fails.
    `join`: "inner", or "difference" for the other rows.

    All other arguments are those of `vesica.intersect`.
    """
    given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
    return run("intersect", df, on, role, given)


@at_the_call
@described(*SIDES.values())
def cardinality(
    df: DataFrame,
    *,
    on: Any,
    role: Role,
    slots: int | None = None,
    rendezvous: str | None = None,
    keep: bool = False,
    **settings: Unpack[RunSettings],
) -> Any:
    """Tells the receiver how many keys both DataFrames have, and nothing of single buckets.

    Returns an integer, and `None` on the sender's side. Arguments are those of `intersect` but `join`, and `epsilon` and
    `budget` of `vesica.cardinality`. The rows are not kept in `work`, only hashes of their keys.
    """
    given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
    return run("cardinality", df, on, role, given)


@at_the_call
@described(*SIDES.values())
def sum(
    df: DataFrame,
    *,
    on: Any,
    role: Role,
    slots: int | None = None,
    rendezvous: str | None = None,
    keep: bool = False,
    **settings: Unpack[RunSettings],
) -> Any:
    """Tells the receiver the sum of each column of the sender's `payload` over the keys that both DataFrames have.

    Returns a DataFrame of one row, and `None` on the sender's side; nobody learns the sums of single buckets. Arguments
    are those of `intersect` but `join`, and of `vesica.sum` the sender's `payload`, `scale`, `clamp`, `epsilon` and
    `budget`. Rows that share a key must have the same values, or are added up with payload_duplicates="sum".
    """
    given = {"slots": slots, "rendezvous": rendezvous, "keep": keep, **settings}
    return run("sum", df, on, role, given)


def run(
    task: str,
    df: DataFrame,
    on: Any,
    role: str,
    settings: Mapping[str, Any],
    listening: Callable[[str], None] | None = None,
) -> Any:
    """Runs a side; `listening` hears the address at which it listens."""
    refuse_others(df)
    refuse_role(role)
    given: dict[str, Any] = {"buckets": 64, **settings}
    work = str(given.pop("work", None) or "")
    slots, rendezvous = given.pop("slots", None), given.pop("rendezvous", None)
    keep = given.pop("keep", False)
    task, join = task.replace("_", "-"), given.pop("join", "inner")
    with_report = given.pop("with_report", False)
    progress: Progress = given.pop("progress", None)
    cancel = given.pop("cancel", None)
    normalise, null_words = given.pop("normalise", None), given.pop("null_words", None)
    if join not in _JOINS:
        raise UsageError(f"join={join!r} is no join on a cluster", 'say "inner" or "difference"')
    if task != "intersect" and join != "inner":
        raise UsageError("join= is for intersect", "omit it")
    if given.pop("or_on", None) is not None:
        raise UsageError("keys with alternatives do not run on a cluster yet", "omit or_on, or use vesica.intersect")
    for name in (DIGEST, COUNTS):
        if name in df.columns:
            raise UsageError(f"the DataFrame has a column {name!r}, a name that vesica uses", "rename the column")
    refuse_unknown(given, SIDES[role])
    on = columns(on)
    key = [*key_flags(on, None, normalise), *flags({"null_words": null_words})]
    # The rows of an intersection are its result.
    payload, keeps_rows = columns(given.get("payload")), task == "intersect"
    jobs = Jobs(df, on, payload, key, _uri(work), slots, keeps_rows)
    jobs.refuse_open_link()
    jobs.slots()  # Says before anything else that it does not know them.
    spoken = [("task", task), *key, *flags(given)]
    teller = Teller(progress, listening, cancel)
    has_result = False
    try:
        outcome = _vesica.on_cluster(
            SIDES[role], spoken, jobs.no_rows(), _inside(rendezvous, jobs), jobs, teller
        )
        report = {**json.loads(outcome.report), "work": jobs.folder, "cluster_seconds": jobs.seconds}
        for warning in report["warnings"]:
            teller.warn(warning)
        result = None
        if outcome.kind == "numbers":
            result = outcome.lists(0)[task][0] if task == "cardinality" else _one_row(df, outcome)
        elif report["matched_keys"] is not None:
            result = jobs.result(_JOINS[join])
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


def refuse_others(df: Any) -> None:
    """Refuses a table that is no DataFrame of Spark."""
    kind = type(df)
    if not kind.__module__.startswith("pyspark.sql") or not hasattr(df, "sparkSession"):
        what = f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__} is no DataFrame of Spark".replace("builtins.", "")
        mend = "use vesica.intersect and its relatives for it, or make one with session.createDataFrame"
        raise UsageError(what, "say df.to_spark()" if kind.__module__.startswith("pyspark.pandas") else mend)


def _one_row(df: DataFrame, outcome: Any) -> DataFrame:
    """The numbers of a run in a DataFrame, beside that which was given."""
    import pyarrow
    from pyspark.sql.pandas.types import from_arrow_schema

    table = pyarrow.table(outcome.table(0))
    row = tuple(table.to_pylist()[0].values())
    return df.sparkSession.createDataFrame([row], from_arrow_schema(table.schema))


def _uri(work: str) -> str:
    """The directory as a URI that Spark and Arrow both read."""
    if strange := re.search(r"[^A-Za-z0-9_.~:/@=+,\[\]-]", work):
        text = f"work={work!r} has the character {strange[0]!r}, which Spark and Arrow read in different ways"
        raise UsageError(text, "name a directory of plain letters, digits and signs such as - and _")
    parts = urlsplit(work)
    if not parts.scheme:
        if not work.startswith("/"):
            raise UsageError(f"work={work!r} is no absolute path", "say an absolute path or a URI, as hdfs:///tmp/vesica")
        return "file://" + work.rstrip("/")
    return work.rstrip("/")


def _inside(rendezvous: str | None, jobs: Jobs) -> tuple[str, str | None]:
    """The address to bind, and the host that executors dial."""
    if rendezvous is None:
        host = jobs.driver_host()
        return ("0.0.0.0:0" if ":" not in host else "[::]:0"), host
    name, _, port = rendezvous.rpartition(":")
    if not name or not port.isdigit():
        raise UsageError(f"rendezvous={rendezvous!r} is no address", 'say host:port, as "10.0.0.5:7401"')
    return (f"[::]:{port}" if name.startswith("[") else f"0.0.0.0:{port}"), name

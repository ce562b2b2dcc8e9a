"""Joins of Spark DataFrames: the buckets of a join are run by the executors of both parties' clusters.

::

    from vesica import spark

    matches = spark.intersect(df, on="email", role="receiver", buckets=64, work="hdfs:///tmp/vesica",
                              peer="them.pub", listen="0.0.0.0:7400")

docs/spark.md says what each side needs, and what it reveals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable
from urllib.parse import urlsplit

from vesica import _vesica
from vesica._errors import Error, UsageError
from vesica._events import Progress, Teller
from vesica._executors import COUNTS, DIGEST
from vesica._flags import columns, flags, key_flags
from vesica._jobs import Jobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from vesica._settings import RunSettings

__all__ = ["cardinality", "intersect", "sum"]

_COMMANDS = {"receiver": "receive", "sender": "send"}

_JOINS = {"inner": "left_semi", "difference": "left_anti"}


def intersect(
    df: DataFrame,
    *,
    on: Any,
    role: str,
    work: str,
    slots: int | None = None,
    rendezvous: str | None = None,
    **settings: Unpack[RunSettings],
) -> Any:
    """Tells the receiver which rows of its DataFrame have a key that the sender has too.

    Returns a DataFrame of the receiver's rows, and `None` on the sender's side, unless both say `both_learn=True`. The
    rows come from the folder of this run in `work`: save them, or keep the folder as long as you use them.

    `on`: the key column, or a list of them in the same order as the partner's; names may differ.
    `role`: "receiver" or "sender".
    `work`: a directory that this program and all executors read and write, such as hdfs:///tmp/vesica. Each run makes a
    folder of its own there, which holds your rows and hashes of your keys.
    `buckets`: into how many buckets the keys are divided, the same number on both sides, 64 by default; one executor
    core holds one bucket.
    `slots`: how many tasks of this cluster may run at once; by default what Spark says.
    `rendezvous`: host:port of this program that all executors reach; by default the driver's host, and a free port.
    With Spark Connect say it and `slots`; port 0 takes a free one.
    `join`: "inner", or "difference" for the other rows.

    All other arguments are those of `vesica.intersect`. The partner must be trusted to follow the protocol:
    security="semi-honest" is the only security on a cluster, and the default here.
    """
    given = {"work": work, "slots": slots, "rendezvous": rendezvous, **settings}
    return run("intersect", df, on, role, given)


def cardinality(
    df: DataFrame,
    *,
    on: Any,
    role: str,
    work: str,
    slots: int | None = None,
    rendezvous: str | None = None,
    **settings: Unpack[RunSettings],
) -> Any:
    """Tells the receiver how many keys both DataFrames have, and nothing of single buckets.

    Returns an integer, and `None` on the sender's side. Arguments are those of `intersect` but `join`, and `epsilon` and
    `budget` of `vesica.cardinality`. The rows are not kept in `work`, only hashes of their keys.
    """
    return run("cardinality", df, on, role, {"work": work, "slots": slots, "rendezvous": rendezvous, **settings})


def sum(
    df: DataFrame,
    *,
    on: Any,
    role: str,
    work: str,
    slots: int | None = None,
    rendezvous: str | None = None,
    **settings: Unpack[RunSettings],
) -> Any:
    """Tells the receiver the sum of each column of the sender's `payload` over the keys that both DataFrames have.

    Returns a DataFrame of one row, and `None` on the sender's side; nobody learns the sums of single buckets. Arguments
    are those of `intersect` but `join`, and of `vesica.sum` the sender's `payload`, `scale`, `clamp`, `epsilon` and
    `budget`. Rows that share a key must have the same values, or are added up with payload_duplicates="sum".
    """
    return run("sum", df, on, role, {"work": work, "slots": slots, "rendezvous": rendezvous, **settings})


def run(
    task: str,
    df: DataFrame,
    on: Any,
    role: str,
    settings: Mapping[str, Any],
    listening: Callable[[str], None] | None = None,
) -> Any:
    """Runs a side; `listening` hears the address at which it listens."""
    given: dict[str, Any] = {"security": "semi-honest", "buckets": 64, **settings}
    work, slots, rendezvous = given.pop("work", ""), given.pop("slots", None), given.pop("rendezvous", None)
    task, join = task.replace("_", "-"), given.pop("join", "inner")
    with_report = given.pop("with_report", False)
    progress: Progress = given.pop("progress", None)
    normalise, null_words = given.pop("normalise", None), given.pop("null_words", None)
    if role not in _COMMANDS:
        raise UsageError(f"there is no role {role!r}", 'say role="receiver" or role="sender"')
    if join not in _JOINS:
        raise UsageError(f"join={join!r} is no join on a cluster", 'say "inner" or "difference"')
    if task != "intersect" and join != "inner":
        raise UsageError("join= is for intersect", "omit it")
    if given.pop("or_on", None) is not None:
        raise UsageError("keys with alternatives do not run on a cluster yet", "omit or_on, or use vesica.intersect")
    for name in (DIGEST, COUNTS):
        if name in df.columns:
            raise UsageError(f"the DataFrame has a column {name!r}, a name that vesica uses", "rename the column")
    on = columns(on)
    key = [*key_flags(on, None, normalise), *flags({"null_words": null_words})]
    # The rows of an intersection are its result.
    payload, keeps_rows = columns(given.get("payload")), task == "intersect"
    jobs = Jobs(df, on, payload, key, _folder(work), slots, keeps_rows)
    jobs.slots()  # Says before anything else that it does not know them.
    spoken = [("task", task), *key, *flags(given)]
    teller = Teller(progress, listening)
    try:
        outcome = _vesica.on_cluster(
            _COMMANDS[role], spoken, jobs.no_rows(), _inside(rendezvous, jobs), jobs, teller
        )
    except Error as error:
        if jobs.error is not None and jobs.error is not error:
            raise error from jobs.error
        raise
    finally:
        teller.close()
    report = {**json.loads(outcome.report), "work": jobs.folder, "cluster_seconds": jobs.seconds}
    for warning in report["warnings"]:
        teller.warn(warning)
    result = None
    if outcome.kind == "numbers":
        result = outcome.lists(0)[task][0] if task == "cardinality" else _one_row(df, outcome)
    elif report["matched_keys"] is not None:
        result = jobs.result(_JOINS[join])
    return (result, report) if with_report else result


def _one_row(df: DataFrame, outcome: Any) -> DataFrame:
    """The numbers of a run in a DataFrame, beside that which was given."""
    import pyarrow
    from pyspark.sql.pandas.types import from_arrow_schema

    table = pyarrow.table(outcome.table(0))
    row = tuple(table.to_pylist()[0].values())
    return df.sparkSession.createDataFrame([row], from_arrow_schema(table.schema))


def _folder(work: str) -> str:
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

"""Spark as the system that runs tasks."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

import pyarrow as pa
import pyarrow.parquet

from vesica import _errors, _folder
from vesica._errors import Error, OutputError, UsageError
from vesica._pools import Pool, Scan, Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Stores of Hadoop whose folders have modes.
_WITH_MODES = ("hdfs", "viewfs", "webhdfs", "swebhdfs")

# What a task says, as JSON.
_SAID = "said string"


class SparkPool(Pool):
    table_name, name = "the DataFrame", "Spark"

    def __init__(self, df: DataFrame) -> None:
        kind = type(df)
        if not kind.__module__.startswith("pyspark.sql") or not hasattr(df, "sparkSession"):
            what = f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__} is no DataFrame of Spark"
            mend = "use vesica.intersect and its relatives for it, or make one with session.createDataFrame"
            mend = "say df.to_spark()" if kind.__module__.startswith("pyspark.pandas") else mend
            raise UsageError(what.replace("builtins.", ""), mend)
        self._df, self._spark = df, df.sparkSession
        self.columns = df.columns
        self._tag = f"vesica-{uuid.uuid4()}"

    def refuse_open_link(self) -> None:
        # Of a session of Spark Connect.
        if self._context() is not None:
            return
        builder = self._spark.client._builder
        host = str(builder.host).strip("[]")
        is_local = host == "localhost" or host.startswith("unix:") or _is_loopback(host)
        # A builder of the caller's own does not say.
        if getattr(builder, "secure", None) is False and not is_local:
            fault = f"the session of Spark Connect reaches {host} without TLS and without a token"
            raise UsageError(fault, "say use_ssl=true, or a token, in the session's URL (sc://host:port/;use_ssl=true)")

    def refuse_columns(self) -> None:
        """Refuses names that Spark could not tell apart in a table that it reads."""
        tells_case_apart = self._setting("spark.sql.caseSensitive") == "true"
        names = self.columns if tells_case_apart else [name.lower() for name in self.columns]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"the DataFrame has more than one column {twice!r}", "rename columns, or leave some out")

    def schema(self, needed: Sequence[str]) -> pa.Schema:
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        return to_arrow_schema(StructType([field for field in self._df.schema.fields if field.name in needed]))

    def slots(self) -> int:
        context = self._context()
        # With either setting, Spark's number is another one than that of the cores of its executors.
        is_unclear = context is None or self._setting("spark.default.parallelism") is not None
        if is_unclear or self._setting("spark.dynamicAllocation.enabled") == "true":
            text = "this session does not say how many tasks its cluster runs at once"
            raise UsageError(text, "say slots=, the number of cores of all executors")
        return max(1, int(context.defaultParallelism) // self.cores())

    def cores(self) -> int:
        return int(self._setting("spark.task.cpus") or 1)

    def driver_host(self) -> str:
        # With Spark Connect, the driver that has this host is another program.
        host = None if self._context() is None else self._setting("spark.driver.host")
        if host is None:
            text = "this session does not say at which address executors reach this program"
            raise UsageError(text, 'say rendezvous="host:port"; port 0 takes a free one')
        return host

    def make_folder(self, folder: str) -> None:
        is_local = _folder.make(folder)
        if not is_local and self._context() is not None and folder.partition(":")[0] in _WITH_MODES:
            _make_in_hadoop(folder, self._spark)

    @contextlib.contextmanager
    def job(self) -> Iterator[None]:
        context = self._context()
        if context is None:
            self._spark.addTag(self._tag)
        else:
            context.addJobTag(self._tag)
        yield

    def scan(self, needed: Sequence[str] | None, work: Scan) -> list[dict[str, Any]]:
        df = self._df
        if needed is not None:
            quoted = [name.replace("`", "``") for name in needed]
            df = df.select([f"`{name}`" for name in quoted])
        return _said(df.mapInArrow(partial(_scan, work), _SAID))

    def each(self, numbers: int, at_once: int, work: Work) -> list[dict[str, Any]]:
        # A range has no shuffle that could put two of its parts together.
        return _said(self._spark.range(0, numbers, 1, max(1, at_once)).mapInArrow(partial(_each, work), _SAID))

    def cancel(self) -> None:
        context = self._context()
        if context is None:
            self._spark.interruptTag(self._tag)
        else:
            context.cancelJobsWithTag(self._tag)

    def readable(self) -> Callable[[pa.Table, int], pa.Table]:
        return partial(_readable, self._setting("spark.sql.caseSensitive") == "true")

    def result(self, uri: str, own: int, keys: Sequence[str] | None = None) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        files, path = _folder.filesystem(f"{uri}/part-00000.parquet")
        with files.open_input_file(path) as file:
            found = pyarrow.parquet.read_schema(file)
        added = pa.schema([found.field(place) for place in range(own, len(found))])
        columns = [*self._df.schema.fields, *from_arrow_schema(added).fields]
        return self._spark.read.schema(StructType(columns)).parquet(uri)

    def numbers(self, table: pa.Table) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        rows = [tuple(row.values()) for row in table.to_pylist()]
        return self._spark.createDataFrame(rows, from_arrow_schema(table.schema))

    def said_by(self, error: BaseException) -> Error | None:
        if isinstance(error, Error):
            return error
        # The text of Spark's exception has that of the task's.
        if "No module named 'vesica'" in str(error):
            mend = "install vesica for it on all machines, or set PYSPARK_PYTHON to a Python that has it"
            return UsageError("the Python of the executors has no vesica", mend)
        found = re.search(r"^vesica\._errors\.(\w+): (.*); (.*)$", str(error), re.MULTILINE)
        kind = getattr(_errors, found.group(1), None) if found else None
        if found is None or not isinstance(kind, type) or not issubclass(kind, Error):
            return None
        return kind(found.group(2), found.group(3))

    def _context(self) -> Any:
        """The context of a session that runs in this program; none of one of Spark Connect."""
        try:
            return self._spark.sparkContext
        except Exception:
            return None

    def _setting(self, name: str) -> str | None:
        found: str | None = self._spark.conf.get(name, None)
        return found


def _make_in_hadoop(folder: str, session: Any) -> None:
    hadoop = session._jvm.org.apache.hadoop.fs
    path = hadoop.Path(folder)
    files = path.getFileSystem(session._jsc.hadoopConfiguration())
    files.mkdirs(path.getParent())
    made = files.mkdirs(path, hadoop.permission.FsPermission("700"))
    if not made or files.getFileStatus(path).getPermission().toShort() & 0o077:
        fault = f"{folder} could not be made with mode 0700"
        raise OutputError(fault, "name with work= a directory that you may write to, whose store keeps modes")


def _scan(work: Scan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield _row(work(batches))


def _each(work: Work, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        yield _row(work(number))


def _row(said: dict[str, Any]) -> pa.RecordBatch:
    return pa.record_batch([pa.array([json.dumps(said)])], names=["said"])


def _said(rows: DataFrame) -> list[dict[str, Any]]:
    return [json.loads(row[0]) for row in rows.collect()]


def _readable(tells_case_apart: bool, table: pa.Table, own: int) -> pa.Table:
    def plain(name: str) -> str:
        return name if tells_case_apart else name.lower()

    names = list(table.column_names[:own])
    taken = {plain(name) for name in names}
    for place in range(own, table.num_columns):
        name, kind = table.column_names[place], _spark_type(table.schema.types[place])
        while plain(name) in taken:
            name = f"partner_{name}"
        taken.add(plain(name))
        names.append(name)
        if kind != table.schema.types[place]:
            table = table.set_column(place, name, _cast(table.column(place), kind, name))
    return table.rename_columns(names)


def _cast(values: Any, kind: pa.DataType, name: str) -> Any:
    try:
        return values.cast(kind)
    except pa.ArrowException:
        # The exception's text has a value.
        fault = f"the partner's column {name!r} has values that the type {kind} of Spark does not hold"
    raise OutputError(fault, "ask the partner to cast the column, for example to text")


def _spark_type(kind: pa.DataType) -> pa.DataType:
    """The type of Spark that holds all values of this one."""
    types = pa.types
    wider = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.decimal128(20, 0)}
    if (found := wider.get(str(kind))) is not None:
        return found
    if types.is_float16(kind):
        return pa.float32()
    if types.is_date64(kind):
        return pa.date32()
    if types.is_timestamp(kind):
        # No other unit; values of a finer one that would be cut are refused.
        return pa.timestamp("us", kind.tz)
    if types.is_time(kind) or types.is_large_string(kind) or str(kind) == "string_view" or types.is_null(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_fixed_size_binary(kind) or str(kind) == "binary_view":
        return pa.binary()
    if types.is_duration(kind):
        return pa.duration("us")
    if types.is_decimal(kind):
        # 38 digits at most.
        return kind if kind.precision <= 38 and kind.bit_width == 128 else pa.decimal128(38, kind.scale)
    return kind


def _is_loopback(host: str) -> bool:
    """Whether this is an address of this machine alone. A name is none, whatever it begins with."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

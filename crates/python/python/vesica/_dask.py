"""Dask as the system that runs tasks."""

from __future__ import annotations

import importlib
import json
import socket
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Callable
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from vesica import _folder
from vesica._errors import InputError, OutputError, UsageError
from vesica._frames import _to_pandas, _with_missing
from vesica._pools import Pool, Scan, Work

# Rows of a part that become a batch.
_ROWS_AT_A_TIME = 1 << 16

_MEND = "bring all values to one type, for example with .astype(str)"


class DaskPool(Pool):
    table_name, name = "the DataFrame", "Dask"

    def __init__(self, df: Any) -> None:
        kind = type(df)
        if not kind.__module__.startswith("dask") or not hasattr(df, "to_delayed") or not hasattr(df, "columns"):
            what = f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__} is no DataFrame of Dask"
            mend = "use vesica.intersect and its relatives for it, or make one with dask.dataframe.from_pandas"
            raise UsageError(what.replace("builtins.", ""), mend)
        self._df = df
        if strange := [label for label in df.columns if not isinstance(label, str)]:
            raise UsageError(f"the DataFrame has columns whose names are no texts, such as {strange[0]!r}", "rename them")
        self.columns = list(df.columns)
        self._running: list[Any] = []
        self._client = _client()

    def refuse_columns(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise UsageError("the DataFrame has more than one column of a name", "rename columns, or leave some out")

    def schema(self, needed: Sequence[str]) -> pa.Schema:
        names = [name for name in self.columns if name in needed]
        schema = _arrow(self._df._meta_nonempty[names]).schema
        # Columns of objects have no type before they are read; keys and texts are the usual ones.
        fields = [pa.field(name, schema.field(name).type) for name in names]
        return pa.schema(fields)

    def slots(self) -> int:
        slots: int = sum(self._client.nthreads().values())
        if slots == 0:
            raise UsageError("the cluster of Dask has no worker now", "start workers, or say slots=")
        return slots

    def cores(self) -> int:
        return 1

    def driver_host(self) -> str:
        # The address by which this program reaches the scheduler is on a network that workers reach, too.
        host = urlsplit(self._client.scheduler.address).hostname or "127.0.0.1"
        # To connect a socket of this kind sends nothing, and tells the own address on the way there.
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect((host, 9))
            return str(way.getsockname()[0])

    def make_folder(self, folder: str) -> None:
        _folder.make(folder)

    def scan(self, needed: Sequence[str] | None, work: Scan) -> list[dict[str, Any]]:
        dask = _module("dask")
        df = self._df if needed is None else self._df[list(dict.fromkeys(needed))]
        parts = [dask.delayed(_scan)(work, part, pure=False) for part in df.to_delayed()]
        return self._wait(self._client.compute(parts))

    def each(self, numbers: int, at_once: int, work: Work) -> list[dict[str, Any]]:
        # Tasks of a wave wait for each other: they go to the threads in turn, and elsewhere only if a worker is lost.
        threads = [address for address, count in self._client.nthreads().items() for _ in range(count)]
        if not threads:
            raise OutputError("the cluster of Dask has no worker any more", "start workers, then both sides again")
        tasks = max(1, min(at_once, numbers))
        submit = partial(self._client.submit, _each, work, pure=False, allow_other_workers=True)
        return [
            said
            for of_task in self._wait(
                [submit(range(task, numbers, tasks), workers=[threads[task % len(threads)]]) for task in range(tasks)]
            )
            for said in of_task
        ]

    def cancel(self) -> None:
        self._client.cancel(self._running)

    def readable(self) -> Callable[[pa.Table, int], pa.Table]:
        return _as_it_is

    def plain(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        return _without_labels

    def result(self, uri: str, own: int, keys: Sequence[str] | None = None) -> Any:
        files, path = _folder.filesystem(uri)
        found = sorted(info.path for info in files.get_file_info(pa.fs.FileSelector(path)))
        above = uri[: len(uri) - len(path)]
        names = [f"{above}{name}" for name in found if not name.rpartition("/")[2].startswith("_")]
        read = partial(_read, own, keys)
        return _module("dask.dataframe").from_map(read, names, meta=read(names[0], has_rows=False))

    def numbers(self, table: pa.Table) -> Any:
        return _to_pandas(table)

    def _wait(self, futures: list[Any]) -> list[Any]:
        self._running = futures
        try:
            return list(self._client.gather(futures))
        finally:
            self._running = []


def _module(name: str) -> Any:
    """A module without types of its own."""
    return importlib.import_module(name)


def _client() -> Any:
    try:
        distributed = _module("distributed")
    except ImportError:
        raise UsageError("the package distributed is missing", "pip install 'vesica[dask]'") from None
    try:
        return distributed.default_client()
    except ValueError:
        raise UsageError("there is no client of a Dask cluster", "make one first: distributed.Client(address)") from None


def _scan(work: Scan, part: Any) -> dict[str, Any]:
    return work(_batches(part))


def _batches(part: Any) -> Iterator[pa.RecordBatch]:
    # At once, so that all pieces of a column of objects have one type.
    yield from _arrow(part).to_batches(max_chunksize=_ROWS_AT_A_TIME)


def _each(work: Work, numbers: range) -> list[dict[str, Any]]:
    return [work(number) for number in numbers]


def _arrow(part: Any) -> pa.Table:
    """Rows of pandas as Arrow, with what pandas needs to have them back. Its own messages hold values."""
    try:
        return pa.Table.from_pandas(part, preserve_index=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        pass
    for name in part.columns:
        try:
            pa.Array.from_pandas(part[name])
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            raise InputError(f"column {name!r} has values of several types, or of one that Arrow has not", _MEND) from None
    raise InputError("the index has values of a type that Arrow has not", "reset_index(), or bring them to one type")


def _as_it_is(table: pa.Table, own: int) -> pa.Table:
    return table


def _without_labels(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows without the labels of pandas, as in a union of pandas tables: new rows have none."""
    labels = [name for name in _said_by_pandas(rows.schema)["index_columns"] if isinstance(name, str)]
    return rows.select([name for name in rows.schema.names if name not in labels])


def _said_by_pandas(schema: pa.Schema) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(schema.metadata[b"pandas"])
    return said


def _read(own: int, keys: Sequence[str] | None, uri: str, has_rows: bool = True) -> Any:
    import pandas

    files, path = _folder.filesystem(uri)
    with files.open_input_file(path) as file:
        opened = pyarrow.parquet.ParquetFile(file)
        table = opened.read() if has_rows else opened.schema_arrow.empty_table()
    # Own columns are those of the index, too, under whatever name.
    theirs = table.column_names[own:]
    rows = table.drop_columns(theirs).to_pandas()
    if keys is not None:
        for column in _said_by_pandas(table.schema)["columns"]:
            name, kind = column["field_name"], _with_missing(column["numpy_type"])
            if name not in rows or name in keys:
                continue
            if column["pandas_type"] == "categorical":
                if len(rows[name].cat.categories) == 0:
                    # Without any category, pandas does not know the type that they have in other parts.
                    none = pa.array([], table.schema.field(name).type.value_type).to_pandas()
                    rows[name] = rows[name].cat.set_categories(none)
            elif kind is not None:
                # Numbers of pandas that miss some become floats, which round.
                rows[name] = table[name].to_pandas(types_mapper=partial(_typed, kind))
    if not theirs:
        return rows
    payload = _to_pandas(table.select(theirs))
    payload.index = rows.index
    return pandas.concat([rows, payload], axis=1)


def _typed(kind: str, _: pa.DataType) -> Any:
    import pandas

    return pandas.api.types.pandas_dtype(kind)

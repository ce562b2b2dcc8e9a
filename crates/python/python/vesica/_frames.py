"""Tables of other libraries: which columns they have, how a run reads them, and its result as the same kind of table.

Each adapter gives the engine the columns that a run needs, without copying their values where the library has Arrow
columns. The engine names rows by their places, so that own rows are the caller's own, with all columns, types and
labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vesica._errors import InputError, UsageError
from vesica._vesica import Outcome, Table

# How the table is called in errors.
_NAME = "your table"

# The column of keys that are given without a table.
_KEY = "key"


def adapt(table: Any, on: Any = None) -> Frame:
    """The adapter of a table."""
    library = type(table).__module__.partition(".")[0]
    kind = type(table).__name__
    if library == "pandas" and kind == "DataFrame":
        return _Pandas(table)
    if library == "polars" and kind in ("DataFrame", "LazyFrame"):
        return _Polars(table)
    if library == "pyarrow" and kind in ("Table", "RecordBatch", "RecordBatchReader"):
        return _Arrow(table)
    if kind == "DuckDBPyRelation":
        return _DuckDB(table)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return _Capsule(table)
    if isinstance(table, Mapping):
        return _Lists(table)
    if isinstance(table, Iterable) and not isinstance(table, (str, bytes)):
        return _Items(table, on)
    raise UsageError(
        f"a {type(table).__module__}.{type(table).__qualname__} is no table",
        "give a pandas, polars, pyarrow or DuckDB table, a dictionary of lists, a list of dictionaries or a list of keys",
    )


class Frame:
    """A table of the caller."""

    names: list[str]
    on: list[str] | None = None

    def native(self, needed: list[str]) -> Table:
        """The table as the engine reads it, with the values of the columns `needed` that it has."""
        raise NotImplementedError

    def rows(self, outcome: Outcome) -> Any:
        """The own rows of the result, with the partner's columns behind the own ones."""
        raise NotImplementedError

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        """All own rows, and the partner's behind them."""
        raise NotImplementedError

    def numbers(self, outcome: Outcome) -> Any:
        """A small table of numbers."""
        raise NotImplementedError

    def _places(self, needed: list[str]) -> list[int]:
        """The places of the columns that are needed, each the first of its name."""
        return [self.names.index(name) for name in dict.fromkeys(needed) if name in self.names]


def _pyarrow(why: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{why} needs pyarrow: pip install pyarrow") from None
    return pyarrow


def _arrow_places(pyarrow: Any, outcome: Outcome) -> Any:
    data = outcome.place_bytes()
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(data) // 8, [None, pyarrow.py_buffer(data)])


def _partner_rows(pyarrow: Any, outcome: Outcome, own: list[str], keys: list[str]) -> Any:
    """The partner's rows of a union: the key columns, and the partner's columns."""
    table = pyarrow.table(outcome.table(0)).slice(len(outcome.place_bytes()) // 8)
    wanted = [place for place, name in enumerate(table.column_names) if place >= len(own) or name in keys]
    return table.select(wanted)


class _Pandas(Frame):
    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = [name if isinstance(name, str) else repr(name) for name in table.columns]
        self.pyarrow = _pyarrow("a pandas table")

    def native(self, needed: list[str]) -> Table:
        columns = self.table.iloc[:, self._places(needed)]
        for name in columns.columns:
            _refuse_mixed(name, columns[name])
        try:
            arrow = self.pyarrow.Table.from_pandas(columns, preserve_index=False)
        except (self.pyarrow.ArrowInvalid, self.pyarrow.ArrowTypeError, self.pyarrow.ArrowNotImplementedError) as error:
            fault = f"{_NAME} cannot be read: {error.args[0] if error.args else error}"
            raise InputError(fault, "bring the column to one type, for example with .astype(str)") from None
        return Table.of_arrow(_NAME, self.names, arrow)

    def rows(self, outcome: Outcome) -> Any:
        import numpy
        import pandas

        rows = self.table.iloc[numpy.frombuffer(outcome.place_bytes(), dtype=numpy.int64)]
        if not outcome.names(len(self.names)):
            return rows
        payload = _to_pandas(self.pyarrow.table(outcome.table(len(self.names))))
        payload.index = rows.index
        return pandas.concat([rows, payload], axis=1)

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        import pandas

        theirs = _to_pandas(_partner_rows(self.pyarrow, outcome, self.names, keys))
        ours = self.table if theirs.empty else self.table.astype(_with_missing(self.table, keys))
        both = pandas.concat([ours, theirs], ignore_index=True)
        return both[[*self.table.columns, *outcome.names(len(self.names))]]

    def numbers(self, outcome: Outcome) -> Any:
        return _to_pandas(self.pyarrow.table(outcome.table(0)))


def _to_pandas(table: Any) -> Any:
    """A table of Arrow in pandas' usual types; in those of Arrow where a value would be lost."""
    import pandas

    def column(values: Any) -> Any:
        # With missing values, pandas' own integers become floats, which round numbers beyond 2^53.
        is_whole = str(values.type).startswith(("int", "uint"))
        if not (is_whole and values.null_count):
            try:
                return values.to_pandas()
            except (ValueError, OverflowError):
                pass  # a date beyond what Python has
        return values.to_pandas(types_mapper=pandas.ArrowDtype)

    columns = {name: column(values) for name, values in zip(table.column_names, table.columns)}
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(table)))


def _with_missing(table: Any, keys: list[str]) -> dict[Any, str]:
    """For columns of whole numbers and truth values, the types that can miss values."""
    kinds = {}
    for name, dtype in table.dtypes.items():
        kind = str(dtype)
        if name not in keys and kind.startswith(("int", "uint")):
            kinds[name] = kind.replace("uint", "UInt").replace("int", "Int")
        elif name not in keys and kind == "bool":
            kinds[name] = "boolean"
    return kinds


def _refuse_mixed(name: Any, column: Any) -> None:
    """Refuses a column of objects of several types, as pandas has them after a join or a failed conversion."""
    if column.dtype != object:
        return
    kinds = sorted({type(value).__name__ for value in column if value is not None and value == value})
    if len(kinds) > 1:
        raise InputError(
            f"column {name!r} mixes values of the types {', '.join(kinds)}",
            "bring all values to one type, for example with .astype(str)",
        )


class _Polars(Frame):
    def __init__(self, table: Any) -> None:
        self.is_lazy = type(table).__name__ == "LazyFrame"
        self.table = table.collect() if self.is_lazy else table
        self.names = list(self.table.columns)

    def native(self, needed: list[str]) -> Table:
        import polars

        columns = self.table[:, self._places(needed)]
        # The two sides of the interface differ in what a column of the type Null has.
        return Table.of_arrow(_NAME, self.names, columns.cast({polars.Null: polars.String}))

    def rows(self, outcome: Outcome) -> Any:
        import polars

        rows = self.table[polars.Series("place", outcome.places(), dtype=polars.Int64)]
        if outcome.names(len(self.names)):
            rows = rows.hstack(polars.DataFrame(outcome.table(len(self.names))))
        return self._given(rows)

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        import polars

        theirs = polars.DataFrame(outcome.table(0))[len(outcome.places()) :]
        own = [name for name in self.names if name not in keys]
        both = polars.concat([self.table, theirs.drop(own)], how="diagonal_relaxed")
        return self._given(both)

    def numbers(self, outcome: Outcome) -> Any:
        import polars

        return self._given(polars.DataFrame(outcome.table(0)))

    def _given(self, table: Any) -> Any:
        return table.lazy() if self.is_lazy else table


class _Arrow(Frame):
    """A pyarrow table. Batches stay batches; a reader, which can be read once, becomes a table."""

    def __init__(self, table: Any) -> None:
        self.pyarrow = _pyarrow("a pyarrow table")
        self.is_batch = type(table).__name__ == "RecordBatch"
        if self.is_batch:
            table = self.pyarrow.Table.from_batches([table])
        self.table = table.read_all() if type(table).__name__ == "RecordBatchReader" else table
        self.names = self.table.column_names

    def native(self, needed: list[str]) -> Table:
        return Table.of_arrow(_NAME, self.names, self.table.select(self._places(needed)))

    def rows(self, outcome: Outcome) -> Any:
        rows = self.table.take(_arrow_places(self.pyarrow, outcome))
        payload = self.pyarrow.table(outcome.table(len(self.names)))
        for name, column in zip(payload.column_names, payload.columns):
            rows = rows.append_column(name, column)
        return self._given(rows)

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        theirs = _partner_rows(self.pyarrow, outcome, self.names, keys)
        return self._given(self.pyarrow.concat_tables([self.table, theirs], promote_options="permissive"))

    def numbers(self, outcome: Outcome) -> Any:
        return self._given(self.pyarrow.table(outcome.table(0)))

    def _given(self, table: Any) -> Any:
        if not self.is_batch:
            return table
        columns = [column.combine_chunks() for column in table.columns]
        chunks = [column.chunk(0) if isinstance(column, self.pyarrow.ChunkedArray) else column for column in columns]
        return self.pyarrow.RecordBatch.from_arrays(chunks, schema=table.schema)


class _DuckDB(_Arrow):
    """A relation. It is run once: a query may give its rows in another order each time."""

    def __init__(self, relation: Any) -> None:
        _pyarrow("a DuckDB relation")
        self.relation = relation
        super().__init__(relation.to_arrow_table())

    def _given(self, table: Any) -> Any:
        vesica_result = table  # DuckDB finds it by its name
        return self.relation.query("vesica_table", "SELECT * FROM vesica_result")


class _Capsule(Frame):
    """Any other object of the Arrow PyCapsule interface. Its results are objects of that interface."""

    def __init__(self, table: Any) -> None:
        self.table = Table.of_arrow(_NAME, None, table)
        self.names = self.table.names

    def native(self, needed: list[str]) -> Table:
        return self.table

    def rows(self, outcome: Outcome) -> Any:
        return outcome.table(0)

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        return outcome.table(0)

    def numbers(self, outcome: Outcome) -> Any:
        return outcome.table(0)


class _Lists(Frame):
    """A dictionary of lists."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = {name: list(column) for name, column in table.items()}
        self.names = list(self.table)
        lengths = {name: len(column) for name, column in self.table.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the columns have different lengths: {lengths}", "give lists of one length")

    def native(self, needed: list[str]) -> Table:
        # Names of columns must all be there, so that an error can list them.
        empty = [None] * len(next(iter(self.table.values()), []))
        wanted = set(needed)
        return Table.of_lists(_NAME, [(name, self.table[name] if name in wanted else empty) for name in self.names])

    def rows(self, outcome: Outcome) -> Any:
        places = outcome.places()
        rows = {name: [column[place] for place in places] for name, column in self.table.items()}
        return {**rows, **outcome.lists(len(self.names))}

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        count = len(outcome.places())
        theirs = {name: column[count:] for name, column in outcome.lists(0).items()}
        empty = [None] * count
        return {name: self.table.get(name, empty) + column for name, column in theirs.items()}

    def numbers(self, outcome: Outcome) -> Any:
        return outcome.lists(0)


class _Items(Frame):
    """Dictionaries, one a row; or keys, which need no `on`: a key of several columns is a tuple."""

    def __init__(self, items: Iterable[Any], on: Any) -> None:
        self.items = list(items)
        first = next((item for item in self.items if item is not None), None)
        self.are_rows = isinstance(first, Mapping) or (first is None and on is not None)
        if self.are_rows:
            for row, item in enumerate(self.items, 1):
                if not isinstance(item, Mapping):
                    raise InputError(f"row {row} is a {type(item).__name__}, and no dictionary", "give one for each row")
            self.names = list(dict.fromkeys(name for item in self.items for name in item))
        else:
            width = len(first) if isinstance(first, tuple) else 0
            self.names = [f"{_KEY}_{place}" for place in range(1, width + 1)] if width else [_KEY]
            self.on = self.names
            if on is not None:
                raise UsageError("a list of keys has no columns", "omit on=, or give a list of dictionaries")

    def native(self, needed: list[str]) -> Table:
        wanted, empty = set(needed), [None] * len(self.items)
        columns = [self._column(place) if name in wanted else empty for place, name in enumerate(self.names)]
        return Table.of_lists(_NAME, list(zip(self.names, columns)))

    def _column(self, place: int) -> list[Any]:
        if self.are_rows:
            return [item.get(self.names[place]) for item in self.items]
        if self.names == [_KEY]:
            return self.items
        for row, item in enumerate(self.items, 1):
            if item is not None and (not isinstance(item, tuple) or len(item) != len(self.names)):
                raise InputError(f"the key in row {row} is no tuple of {len(self.names)}", "give tuples of one length")
        return [None if item is None else item[place] for item in self.items]

    def rows(self, outcome: Outcome) -> Any:
        rows = [self.items[place] for place in outcome.places()]
        payload = outcome.lists(len(self.names))
        if not payload:
            return rows
        return [{**self._row(row), **dict(zip(payload, values))} for row, values in zip(rows, zip(*payload.values()))]

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        lists = outcome.lists(0)
        theirs = list(zip(*lists.values()))[len(outcome.places()) :]
        new = [dict(zip(lists, values)) for values in theirs]
        if self.are_rows:
            return self.items + [{name: value for name, value in row.items() if value is not None} for row in new]
        if len(lists) > len(self.names):
            return [self._row(item) for item in self.items] + new
        return self.items + [row[_KEY] if _KEY in row else tuple(row.values()) for row in new]

    def _row(self, item: Any) -> dict[str, Any]:
        row: dict[str, Any] = item
        return row if self.are_rows else dict(zip(self.names, item if self.names != [_KEY] else [item]))

    def numbers(self, outcome: Outcome) -> Any:
        lists = outcome.lists(0)
        return [dict(zip(lists, values)) for values in zip(*lists.values())]

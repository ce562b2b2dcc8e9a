"""Tables of other libraries: which columns they have, how a run reads them, and its result as the same kind of table.

Each adapter gives the engine the columns that a run needs, without copying their values where the library has Arrow
columns. The engine names rows by their places, so that own rows are the caller's own, with all columns, types and
labels. What cannot be given back is refused before a run, since its result comes once.
"""

from __future__ import annotations

import datetime
import secrets
import sys
import threading
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from vesica._errors import InputError, UsageError
from vesica._flags import columns
from vesica._vesica import Outcome, Table

# How the table is called in errors.
_NAME = "your table"

# The column of keys that are given without a table.
_KEY = "key"

# What brings a column of objects to one type.
_MEND = "bring all values to one type, for example with .astype(str)"

# A connection of DuckDB serves one thread at a time.
_DUCKDB = threading.Lock()


def adapt(table: Any, on: Any = None) -> Frame:
    """The adapter of a table."""
    if _is(table, "pandas", "DataFrame"):
        return _Pandas(table)
    if _is(table, "polars", "DataFrame", "LazyFrame"):
        return _Polars(table)
    if _is(table, "pyarrow", "Table", "RecordBatch", "RecordBatchReader"):
        return _Arrow(table)
    if _is(table, "duckdb", "DuckDBPyRelation"):
        return _DuckDB(table)
    if _is(table, "pandas", "Series", "Index") or _is(table, "polars", "Series"):
        return _Column(table, on)
    if _is(table, "pyarrow", "Array", "ChunkedArray"):
        return _Column(table, on)
    if type(table).__module__.startswith("pyspark."):
        # It has an Arrow interface, by which all its rows would come to this machine.
        what = "a DataFrame of Spark is joined on its cluster, not in this program"
        raise UsageError(what, "use vesica.spark.intersect and its relatives; or give toPandas(), if it fits in memory")
    if type(table).__module__.startswith("dask."):
        # Its items are the names of its columns.
        what = "a DataFrame of Dask is joined on its cluster, not in this program"
        raise UsageError(what, "use vesica.dask.intersect and its relatives; or give compute(), if it fits in memory")
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


def _is(table: Any, library: str, *kinds: str) -> bool:
    """Whether the table is of one of these classes, or of a subclass; a library that is not loaded has no tables."""
    module = sys.modules.get(library)
    classes = tuple(getattr(module, kind) for kind in kinds if hasattr(module, kind))
    return isinstance(table, classes)


class Frame:
    """A table of the caller."""

    names: list[str]
    on: list[str] | None = None

    def native(self, needed: list[str]) -> Table:
        """The table as the engine reads it, with the values of the columns `needed` that it has."""
        raise NotImplementedError

    def check(self, task: str) -> None:
        """Refuses a table that could not hold the result of the task."""

    def rows(self, outcome: Outcome) -> Any:
        """The own rows of the result, with the partner's columns behind the own ones."""
        raise NotImplementedError

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        """All own rows, and the partner's behind them."""
        raise NotImplementedError

    def numbers(self, outcome: Outcome) -> Any:
        """A small table of numbers."""
        raise NotImplementedError

    def named(self, label: Any) -> str | None:
        """The engine's name of the column that the caller names by something else than text."""
        return None

    def _places(self, needed: list[str]) -> list[int]:
        """The places of the columns that are needed."""
        wanted = set(needed)
        return [place for place, name in enumerate(self.names) if name in wanted]


def _pyarrow(why: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{why} needs pyarrow: pip install pyarrow") from None
    return pyarrow


def _partner_rows(pyarrow: Any, outcome: Outcome, own: list[str], keys: list[str]) -> Any:
    """The partner's rows of a union: the key columns, and the partner's columns."""
    table = pyarrow.table(outcome.table(0)).slice(outcome.own_rows)
    wanted = [place for place, name in enumerate(table.column_names) if place >= len(own) or name in keys]
    return table.select(wanted)


def _kind(value: Any) -> str:
    """The type of a value as far as columns tell types apart."""
    if isinstance(value, str):
        return "str"
    if isinstance(value, datetime.datetime):
        return "datetime without a zone" if value.tzinfo is None else "datetime with a zone"
    if isinstance(value, Integral) and not isinstance(value, bool):
        return "int"
    return type(value).__name__


class _Pandas(Frame):
    """A table of pandas. Levels of its index that have a name are columns, too; they stay in the index."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.pyarrow = _pyarrow("a pandas table")
        self.names: list[str] = []
        self._labels: dict[Any, str] = {}
        for label in table.columns:
            name = label if isinstance(label, str) else repr(label)
            while not isinstance(label, str) and name in table.columns:
                name = f"({name})"
            self.names.append(name)
            self._labels.setdefault(label, name)
        self.levels: dict[str, int] = {}
        for number, label in enumerate(table.index.names):
            if label is not None and label not in self._labels:
                name = label if isinstance(label, str) else repr(label)
                self._labels[label] = name
                self.levels[name] = number
                self.names.append(name)

    def named(self, label: Any) -> str | None:
        try:
            return self._labels.get(label)
        except TypeError:
            return None  # it cannot be hashed, and is no label

    def native(self, needed: list[str]) -> Table:
        places = self._places(needed)
        arrays = [self._array(self.names[place], self._own(place)) for place in places]
        names = [self.names[place] for place in places]
        if not arrays:
            arrays, names = [self.pyarrow.nulls(len(self.table))], [""]
        return Table.of_arrow(_NAME, self.names, self.pyarrow.Table.from_arrays(arrays, names))

    def _own(self, place: int) -> Any:
        level = self.levels.get(self.names[place])
        if level is None or place < len(self.table.columns):
            return self.table.iloc[:, place]
        return self.table.index.get_level_values(level).to_series()

    def _array(self, name: str, column: Any) -> Any:
        """A column as Arrow. The library's own messages hold values of the table, and are not passed on."""
        if hasattr(column, "sparse"):
            column = column.sparse.to_dense()
        kinds = sorted({_kind(value) for value in column.dropna()}) if column.dtype == object else []
        if len(kinds) > 1:
            raise InputError(f"column {name!r} mixes values of the types {', '.join(kinds)}", _MEND)
        try:
            return self.pyarrow.Array.from_pandas(column)
        except (self.pyarrow.ArrowException, ValueError, TypeError, OverflowError):
            what = f"values of the type {kinds[0]}" if kinds else f"the type {column.dtype}"
        raise InputError(f"column {name!r} has {what}, which cannot be read as an Arrow column", _MEND)

    def check(self, task: str) -> None:
        if task == "union" and (self.table.columns.nlevels > 1 or not self.table.columns.is_unique):
            raise InputError("a union needs a table with a name of its own for each column", "rename the columns")

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

        theirs = _partner_rows(self.pyarrow, outcome, self.names, keys)
        in_index = [self.table.index.names[number] for name, number in self.levels.items() if name in keys]
        own = self.table.reset_index(in_index)
        columns = []
        for place, label in enumerate(own.columns):
            column, name = own.iloc[:, place].reset_index(drop=True), self._labels[label]
            if name in keys:
                columns.append(_followed(column, theirs[name]))
            else:
                columns.append(_lengthened(column, theirs.num_rows))
        labels = list(own.columns)
        for name in outcome.names(len(self.names)):
            missing = self.pyarrow.nulls(len(own), theirs[name].type)
            columns.append(_series(self.pyarrow.chunked_array([missing, *theirs[name].chunks])))
            labels.append(name)
        both = pandas.concat(columns, axis=1, ignore_index=True)
        both.columns = labels
        return both

    def numbers(self, outcome: Outcome) -> Any:
        return _to_pandas(self.pyarrow.table(outcome.table(0)))


def _to_pandas(table: Any) -> Any:
    """A table of Arrow in pandas' usual types; in those of Arrow where a value would be lost."""
    import pandas

    return pandas.DataFrame({name: _series(column) for name, column in zip(table.column_names, table.columns)})


def _series(values: Any) -> Any:
    """A column of Arrow in pandas' usual type, with that for missing values where it needs one."""
    import pandas

    kind = str(values.type)
    if kind.startswith(("int", "uint", "bool")) and values.null_count:
        # pandas' own integers become floats, which round numbers beyond 2^53, and truth values become objects.
        return values.to_pandas(types_mapper=lambda _: pandas.api.types.pandas_dtype(_with_missing(kind)))
    try:
        return values.to_pandas()
    except (ValueError, OverflowError):
        return pandas.Series(pandas.arrays.ArrowExtensionArray(values))


def _with_missing(kind: str) -> str | None:
    """For the name of a type of whole numbers or truth values, that of pandas which can miss values."""
    if kind in ("bool", "boolean"):
        return "boolean"
    if kind.startswith(("int", "uint")) and "[" not in kind:
        return kind.replace("uint", "UInt").replace("int", "Int")
    return None


def _lengthened(column: Any, rows: int) -> Any:
    """A column with so many missing values behind it, and no value rounded."""
    if rows == 0:
        return column
    if hasattr(column, "sparse"):
        column = column.sparse.to_dense()
    kind = str(column.dtype)
    if (other := _with_missing(kind)) is not None:
        column = column.astype(other)
    elif kind.startswith("interval[") and "int" in kind.removeprefix("interval"):
        column = column.astype(object)
    return column.reindex(range(len(column) + rows))


def _followed(column: Any, values: Any) -> Any:
    """A key column with the partner's values behind it, which have its type: the engine sees to that."""
    import pandas

    if hasattr(column, "sparse"):
        column = column.sparse.to_dense()
    if isinstance(column.dtype, pandas.ArrowDtype):
        theirs = pandas.Series(pandas.arrays.ArrowExtensionArray(values.cast(column.dtype.pyarrow_dtype)))
    else:
        theirs = _series(values)
    return pandas.concat([column, theirs], ignore_index=True) if len(theirs) else column


class _Polars(Frame):
    def __init__(self, table: Any) -> None:
        import polars

        self.is_lazy = isinstance(table, polars.LazyFrame)
        self.table = table.collect() if self.is_lazy else table
        self.names = list(self.table.columns)

    def native(self, needed: list[str]) -> Table:
        import polars

        columns = self.table[:, self._places(needed)]
        for name, dtype in columns.schema.items():
            if isinstance(dtype, polars.Object) or str(dtype) in ("Int128", "UInt128"):
                raise InputError(f"column {name!r} has the type {dtype}, which cannot be read", "cast it, for example to text")
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

        theirs = polars.DataFrame(outcome.table(0))[outcome.own_rows :]
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
        self.is_batch = isinstance(table, self.pyarrow.RecordBatch)
        if self.is_batch:
            table = self.pyarrow.Table.from_batches([table])
        self.table = table.read_all() if isinstance(table, self.pyarrow.RecordBatchReader) else table
        self.names = self.table.column_names
        # Columns whose rows this release of pyarrow can take only in another type.
        self.taken_as: dict[int, Any] = {}
        for place, column in enumerate(self.table.columns):
            self._try(place, column)

    def _try(self, place: int, column: Any) -> None:
        """Takes a row of a column, so that what cannot be taken is known before a run."""
        first, row = column.slice(0, 1), self.pyarrow.array(range(min(len(column), 1)), self.pyarrow.int64())
        try:
            first.take(row)
        except self.pyarrow.ArrowNotImplementedError:
            views = {"string_view": self.pyarrow.large_string(), "binary_view": self.pyarrow.large_binary()}
            other = views.get(str(column.type))
            if other is None:
                what = f"column {self.names[place]!r} has the type {column.type}, of which pyarrow takes no rows"
                raise InputError(what, "cast it, or leave it out") from None
            self.taken_as[place] = other

    def native(self, needed: list[str]) -> Table:
        return Table.of_arrow(_NAME, self.names, self.table.select(self._places(needed)))

    def rows(self, outcome: Outcome) -> Any:
        data = self.pyarrow.py_buffer(outcome.place_bytes())
        places = self.pyarrow.Array.from_buffers(self.pyarrow.int64(), outcome.own_rows, [None, data])
        columns = []
        for place, column in enumerate(self.table.columns):
            other = self.taken_as.get(place)
            columns.append(column.take(places) if other is None else column.cast(other).take(places).cast(column.type))
        rows = self.pyarrow.Table.from_arrays(columns, schema=self.table.schema)
        payload = self.pyarrow.table(outcome.table(len(self.names)))
        for name, column in zip(payload.column_names, payload.columns):
            rows = rows.append_column(name, column)
        return self._given(rows)

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        return self._given(self._union(outcome, keys))

    def _union(self, outcome: Outcome, keys: list[str]) -> Any:
        theirs = _partner_rows(self.pyarrow, outcome, self.names, keys)
        for name in keys:
            kind = self.table.schema.field(name).type
            if self.pyarrow.types.is_dictionary(kind):
                # The partner's values are no entries of our dictionary.
                place = theirs.column_names.index(name)
                theirs = theirs.set_column(place, name, theirs[name].dictionary_encode().cast(kind))
        return self.pyarrow.concat_tables([self.table, theirs], promote_options="permissive")

    def numbers(self, outcome: Outcome) -> Any:
        return self._given(self.pyarrow.table(outcome.table(0)))

    def check(self, task: str) -> None:
        if task == "union" and len(set(self.names)) < len(self.names):
            raise InputError("a union needs a table with a name of its own for each column", "rename the columns")

    def _given(self, table: Any) -> Any:
        if not self.is_batch:
            return table
        columns = [column.combine_chunks() for column in table.columns]
        chunks = [column.chunk(0) if isinstance(column, self.pyarrow.ChunkedArray) else column for column in columns]
        return self.pyarrow.RecordBatch.from_arrays(chunks, schema=table.schema)


class _DuckDB(_Arrow):
    """A relation. It is run once: a query may give its rows in another order each time."""

    # Types that an Arrow table does not hold as they are, and from which no cast leads back.
    _LOST = ("BIT", "TIME WITH TIME ZONE")
    # Types that become others, and come back by a cast.
    _CAST = ("HUGEINT", "UHUGEINT", "UUID", "ENUM", "JSON")

    def __init__(self, relation: Any) -> None:
        _pyarrow("a DuckDB relation")
        self.relation = relation
        self.types = [str(kind) for kind in relation.types]
        for name, kind in zip(relation.columns, self.types):
            if kind.startswith(self._LOST):
                raise InputError(f"column {name!r} has the type {kind}, which would not come back", "cast it to VARCHAR")
        with _DUCKDB:
            table = relation.to_arrow_table()
        super().__init__(table)

    def numbers(self, outcome: Outcome) -> Any:
        return self._relation(self.pyarrow.table(outcome.table(0)), [])

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        # The partner's values are no values of our enumeration.
        own = zip(self.names, self.types)
        types = ["VARCHAR" if name in keys and kind.startswith("ENUM") else kind for name, kind in own]
        return self._relation(self._union(outcome, keys), types)

    def _given(self, table: Any) -> Any:
        return self._relation(table, self.types)

    def _relation(self, table: Any, types: list[str]) -> Any:
        """A relation on the caller's connection, whose first columns have these types."""
        names: list[str] = []
        for place, name in enumerate(table.column_names):
            # Names that differ in capitals are one name to DuckDB.
            while place >= len(self.names) > 0 and name.lower() in {other.lower() for other in names}:
                name = f"partner_{name}"
            names.append(name)
        # DuckDB finds the table by the name of a variable, of which no table of the caller may have another.
        variable = f"vesica_{secrets.token_hex(8)}"
        casts = []
        for place, name in enumerate(names):
            quoted = '"' + name.replace('"', '""') + '"'
            kind = types[place] if place < len(types) and types[place].startswith(self._CAST) else None
            casts.append(f"CAST(#{place + 1} AS {kind}) AS {quoted}" if kind else f"#{place + 1} AS {quoted}")
        globals()[variable] = table.rename_columns(names)
        try:
            with _DUCKDB:
                return self.relation.query("vesica_own", f"SELECT {', '.join(casts)} FROM {variable}")
        finally:
            del globals()[variable]


class _Column(Frame):
    """A column of pandas, polars or pyarrow: a list of keys. Results are such columns, or tables where there is more."""

    def __init__(self, column: Any, on: Any) -> None:
        self.column = column
        self.name = getattr(column, "name", None)
        name = self.name if self.name is not None and self.name != "" else _KEY
        if on is not None and on != name:
            raise UsageError(f"a {type(column).__name__} is one column", "omit on=, or give a table")
        if _is(column, "pandas", "Series", "Index"):
            self.frame: Frame = _Pandas(column.to_frame(name=name) if _is(column, "pandas", "Series") else column.to_frame(index=False, name=name))
        elif _is(column, "polars", "Series"):
            self.frame = _Polars(column.alias(name).to_frame())
        else:
            self.frame = _Arrow(_pyarrow("a column of pyarrow").table({name: column}))
        self.names = self.frame.names
        self.on = self.names[:1]

    def native(self, needed: list[str]) -> Table:
        return self.frame.native(needed)

    def rows(self, outcome: Outcome) -> Any:
        return self._given(self.frame.rows(outcome))

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        return self._given(self.frame.union(outcome, keys))

    def numbers(self, outcome: Outcome) -> Any:
        return self.frame.numbers(outcome)

    def _given(self, table: Any) -> Any:
        if table.shape[1] > 1:
            return table
        if _is(self.column, "polars", "Series"):
            return table.to_series().alias(self.name)
        if _is(table, "pyarrow", "Table"):
            column = table.column(0)
            return column if _is(self.column, "pyarrow", "ChunkedArray") else column.combine_chunks()
        column = table.iloc[:, 0].rename(self.name)
        return type(self.column)(column, name=self.name) if _is(self.column, "pandas", "Index") else column


class _Capsule(Frame):
    """Any other object of the Arrow PyCapsule interface. Its results are objects of that interface."""

    def __init__(self, table: Any) -> None:
        try:
            self.table = Table.of_arrow(_NAME, None, table)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            what = f"a {type(table).__name__} cannot be read as an Arrow table"
            raise UsageError(what, "give a table of columns, for example a pyarrow.Table") from None
        self.names = self.table.names

    def native(self, needed: list[str]) -> Table:
        return self.table

    def rows(self, outcome: Outcome) -> Any:
        return outcome.table(0)

    def union(self, outcome: Outcome, keys: list[str]) -> Any:
        return outcome.table(0)

    def numbers(self, outcome: Outcome) -> Any:
        return outcome.table(0)


def _texts(names: Iterable[Any]) -> list[str]:
    """Names of columns, which are text."""
    names = list(names)
    other = next((name for name in names if not isinstance(name, str)), None)
    if other is not None:
        raise UsageError(f"a column has the name {other!r}, which is no str", "rename it")
    return names


class _Lists(Frame):
    """A dictionary of lists."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.names = _texts(table)
        self.table = {name: self._column(name, column) for name, column in table.items()}
        lengths = {name: len(column) for name, column in self.table.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the columns have different lengths: {lengths}", "give lists of one length")

    @staticmethod
    def _column(name: str, column: Any) -> list[Any]:
        # Arrays of numpy have a list of Python's own values.
        if hasattr(column, "tolist"):
            column = column.tolist()
        if not isinstance(column, Iterable) or isinstance(column, (str, bytes)):
            raise UsageError(f"column {name!r} is a {type(column).__name__}, and no list", "give a list for each column")
        return list(column)

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
        count = outcome.own_rows
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
            names = dict.fromkeys(name for item in self.items for name in item)
            self.names = _texts(names) if self.items else columns(on)
        else:
            width = len(first) if isinstance(first, tuple) else 0
            self.names = [f"{_KEY}_{place}" for place in range(1, width + 1)] if width else [_KEY]
            self.on = self.names
            if on is not None:
                raise UsageError("a list of keys has no columns", "omit on=, or give a list of dictionaries")

    def native(self, needed: list[str]) -> Table:
        wanted, empty = set(needed), [None] * len(self.items)
        lists = [self._column(place) if name in wanted else empty for place, name in enumerate(self.names)]
        return Table.of_lists(_NAME, list(zip(self.names, lists)))

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
        theirs = list(zip(*lists.values()))[outcome.own_rows :]
        new = [dict(zip(lists, values)) for values in theirs]
        if self.are_rows:
            own = set(self.names) - set(keys)
            return self.items + [{name: value for name, value in row.items() if name not in own} for row in new]
        payload = list(lists)[len(self.names) :]
        if payload:
            return [{**self._row(item), **dict.fromkeys(payload)} for item in self.items] + new
        return self.items + [row[_KEY] if _KEY in row else tuple(row.values()) for row in new]

    def _row(self, item: Any) -> dict[str, Any]:
        row: dict[str, Any] = item
        return row if self.are_rows else dict(zip(self.names, item if self.names != [_KEY] else [item]))

    def numbers(self, outcome: Outcome) -> Any:
        lists = outcome.lists(0)
        return [dict(zip(lists, values)) for values in zip(*lists.values())]

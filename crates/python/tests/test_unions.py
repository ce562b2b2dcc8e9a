"""Unions of every type of pandas, polars and pyarrow: no value is rounded, and no type is lost without need."""

from __future__ import annotations

import datetime
import decimal
import warnings

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import SEMI_HONEST, both

# What no 64-bit float holds.
BIG = 2**53 + 1

DAY, UTC = datetime.date(2026, 1, 2), datetime.timezone.utc
TIMES = [datetime.datetime(2026, 1, day, 3, 4, 5, 678000) for day in (1, 2, 3)]
ZONED = [time.replace(tzinfo=UTC) for time in TIMES]
DAYS = [DAY - datetime.timedelta(days=1), DAY, DAY + datetime.timedelta(days=10_000)]
TEXTS = ["Bonn", "Århus", "Gent"]


def whole(bits, is_signed):
    """Three values of an integer type: both ends, and one that a float rounds where there is one."""
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    return [least, min(BIG, most - 1), most]


def integers(name):
    return {
        name.format(sign=sign, bits=bits): whole(bits, sign in "int Int".split())
        for sign in ("int", "uint") for bits in (8, 16, 32, 64)
    }


PANDAS = {
    **{name: values for name, values in integers("{sign}{bits}").items()},
    **{name.replace("uint", "UInt").replace("int", "Int"): values for name, values in integers("{sign}{bits}").items()},
    **{name + "[pyarrow]": values for name, values in integers("{sign}{bits}").items()},
    "bool": [True, False],
    "boolean": [True, False],
    "bool[pyarrow]": [True, False],
    "object text": TEXTS,
    "object int": [1, BIG, -5],
    "object bool": [True, False],
    "object date": DAYS,
    "object bytes": [b"\x00", b"\xff", b"\x01"],
    "object datetime": TIMES,
    "str": TEXTS,
    "string": TEXTS,
    "string[pyarrow]": TEXTS,
    "large_string[pyarrow]": TEXTS,
    "category text": TEXTS,
    "category int": [1, BIG, -5],
    **{f"datetime64[{unit}]": TIMES for unit in ("ms", "us", "ns")},
    **{f"datetime64[{unit}, UTC]": ZONED for unit in ("ms", "us", "ns")},
    "datetime64[us, Europe/Brussels]": ZONED,
    "date32[day][pyarrow]": DAYS,
    "timestamp[us][pyarrow]": TIMES,
    "timestamp[us, tz=UTC][pyarrow]": ZONED,
    "binary[pyarrow]": [b"\x00", b"\xff", b"\x01"],
}

# Types that are no keys.
PANDAS_VALUES = {
    **PANDAS,
    "float32": [0.5, -2.0, 1e30],
    "float64": [0.1, -2.0, 1e300],
    "Float64": [0.1, -2.0, 1e300],
    "complex128": [1j, 2.0, 3.5],
    "object mixed": [1, "a", {}],
    "object decimal": [decimal.Decimal("12.50"), decimal.Decimal("-0.25"), decimal.Decimal(0)],
    "timedelta64[us]": [datetime.timedelta(seconds=seconds) for seconds in (1, 2, 3)],
    "period[M]": pandas.period_range("2026-01", periods=3, freq="M").tolist(),
    "interval[int64, right]": [pandas.Interval(1, BIG), pandas.Interval(BIG, BIG + 1), pandas.Interval(3, 4)],
    "Sparse[int64]": [0, BIG, -5],
    "Sparse[bool]": [True, False],
}


def of_pandas(kind, values):
    name = kind.partition(" ")[0] if kind.startswith(("object", "category")) else kind
    if kind == "category int":
        return pandas.Series(pandas.Categorical(values))
    if kind.startswith("datetime64") and "," in kind:
        return pandas.Series(pandas.to_datetime(values)).astype(kind)
    if kind.endswith("[pyarrow]") and kind != "string[pyarrow]":
        types = {"large_string": pyarrow.large_string(), "date32[day]": pyarrow.date32(), "binary": pyarrow.binary()}
        types.update({"timestamp[us]": pyarrow.timestamp("us"), "timestamp[us, tz=UTC]": pyarrow.timestamp("us", "UTC")})
        arrow = types.get(kind.removesuffix("[pyarrow]")) or pyarrow.type_for_alias(kind.removesuffix("[pyarrow]"))
        return pandas.Series(values, dtype=pandas.ArrowDtype(arrow))
    return pandas.Series(values, dtype=name)


def exact(values):
    """Values as Python has them, and `None` where there is none; a float where an integer was shows."""
    found = []
    for value in list(values):
        value = value.item() if hasattr(value, "item") else value
        value = value.to_pydatetime() if isinstance(value, pandas.Timestamp) else value
        value = value.to_pytimedelta() if isinstance(value, pandas.Timedelta) else value
        found.append(None if value is None or value is pandas.NA or value is pandas.NaT or value != value else value)
    return [(type(value) if not isinstance(value, datetime.date) else None, value) for value in found]


@pytest.mark.parametrize("kind", PANDAS)
def test_keys_of_pandas_are_joined_as_they_are(kind):
    values = PANDAS[kind]
    ours, theirs = of_pandas(kind, values[:-1]), of_pandas(kind, values[1:])
    result = both("union", pandas.DataFrame({"id": ours}), pandas.DataFrame({"id": theirs}), on="id", **SEMI_HONEST)["id"]
    assert exact(result) == exact(of_pandas(kind, values))
    # Categories of ours do not have what is the partner's.
    assert kind.startswith("category") or result.dtype == ours.dtype or kind.startswith("object"), (result.dtype, ours.dtype)


@pytest.mark.parametrize("kind", PANDAS_VALUES)
def test_other_columns_of_pandas_miss_values_and_lose_none(kind):
    values = PANDAS_VALUES[kind]
    ours = pandas.DataFrame({"id": range(len(values)), "x": of_pandas(kind, values)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        warnings.simplefilter("error", DeprecationWarning)
        result = both("union", ours, pandas.DataFrame({"id": [99]}), on="id", **SEMI_HONEST)["x"]
    assert exact(result) == [*exact(ours["x"]), *exact([None])]
    is_plain = kind.startswith(("int", "uint", "bool", "Sparse"))
    assert is_plain or result.dtype == ours["x"].dtype or kind.startswith("interval"), result.dtype
    assert not is_plain or result.dtype not in ("float64", "object") or kind.startswith("interval"), result.dtype


@pytest.mark.parametrize("kind", [kind for kind in PANDAS if kind not in ("object int", "object bool")])
def test_the_partners_columns_in_pandas_are_exact(kind):
    values = PANDAS[kind]
    theirs = pandas.DataFrame({"id": range(len(values)), "x": of_pandas(kind, values)})
    result = both("union", pandas.DataFrame({"id": [99, 98]}), theirs, on="id", their_payload="x", **SEMI_HONEST)
    assert exact(result["x"][:2]) == exact([None, None])
    assert exact(result[2:].sort_values("id")["x"]) == exact(theirs["x"])
    number = any(isinstance(value, (bool, int)) for value in values)
    assert not number or str(result["x"].dtype) not in ("float64", "object"), result["x"].dtype


def test_labels_index_and_empty_sides_of_pandas():
    ours = pandas.DataFrame({"n": [BIG, 2]}, index=pandas.Index([7, BIG], name="id"))
    result = both("union", ours, {"id": [BIG, BIG + 2], "q": [True, False]}, on="id", their_payload="q", **SEMI_HONEST)
    assert list(result.columns) == ["id", "n", "q"] and result["id"].tolist() == [7, BIG, BIG + 2]
    assert result["n"].tolist()[:2] == [BIG, 2] and result["q"].tolist()[2] is False
    same = both("union", ours, [7], our_on="id", **SEMI_HONEST)
    assert same["n"].dtype == "int64" and same["n"].tolist() == [BIG, 2], "nothing is missing"
    # A payload that no row has.
    none = both("union", ours, {"id": [7], "q": [BIG]}, on="id", their_payload="q", **SEMI_HONEST)
    assert none["q"].isna().all() and none["n"].tolist() == [BIG, 2]


POLARS = {
    **{getattr(polars, ("" if is_signed else "U") + f"Int{bits}"): whole(bits, is_signed)
       for is_signed in (True, False) for bits in (8, 16, 32, 64)},
    polars.String: TEXTS,
    polars.Categorical: TEXTS,
    polars.Boolean: [True, False],
    polars.Date: DAYS,
    polars.Datetime("us"): TIMES,
    polars.Datetime("ms"): TIMES,
    polars.Datetime("us", "UTC"): ZONED,
    polars.Binary: [b"\x00", b"\xff", b"\x01"],
}
POLARS_VALUES = {
    **POLARS,
    polars.Float64: [0.1, -2.0, 1e300],
    polars.Decimal(10, 2): [decimal.Decimal("12.50"), decimal.Decimal("-0.25")],
    polars.Duration("us"): [datetime.timedelta(seconds=1)],
    polars.Time: [datetime.time(1, 2, 3)],
    polars.List(polars.Int64): [[BIG], []],
    polars.Struct({"a": polars.Int64}): [{"a": BIG}],
    polars.Enum(TEXTS): TEXTS,
    polars.Null: [None, None],
}


@pytest.mark.parametrize("kind", POLARS_VALUES, ids=str)
def test_columns_of_polars_keep_values_and_types(kind):
    values = POLARS_VALUES[kind]
    column = polars.Series(values, dtype=kind)
    ours = polars.DataFrame({"id": range(len(values)), "x": column})
    result = both("union", ours, polars.DataFrame({"id": [99]}), on="id", **SEMI_HONEST)
    assert result["x"].to_list() == [*values, None] and result["x"].dtype == column.dtype
    if kind in POLARS:
        one, other = polars.DataFrame({"id": column[:-1]}), polars.DataFrame({"id": column[1:]})
        result = both("union", one, other, on="id", **SEMI_HONEST)["id"]
        assert result.to_list() == values and (result.dtype == column.dtype or kind == polars.Categorical)
        given = both("union", polars.DataFrame({"id": [99]}), ours, on="id", their_payload="x", **SEMI_HONEST)
        assert given[1:].sort("id")["x"].to_list() == values and given["x"][0] is None


ARROW = {
    **{getattr(pyarrow, name)(): values for name, values in integers("{sign}{bits}").items()},
    **{kind: TEXTS for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())},
    pyarrow.dictionary(pyarrow.int32(), pyarrow.string()): TEXTS,
    pyarrow.bool_(): [True, False],
    pyarrow.date32(): DAYS,
    pyarrow.date64(): DAYS,
    **{pyarrow.timestamp(unit): TIMES for unit in ("ms", "us", "ns")},
    pyarrow.timestamp("us", "UTC"): ZONED,
    pyarrow.timestamp("us", "Europe/Brussels"): ZONED,
    **{kind: [b"\x00", b"\xff"] for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary(1))},
}
ARROW_VALUES = {
    **ARROW,
    pyarrow.float64(): [0.1, 1e300],
    pyarrow.decimal128(10, 2): [decimal.Decimal("12.50"), decimal.Decimal("-0.25")],
    pyarrow.time64("us"): [datetime.time(1, 2, 3)],
    pyarrow.duration("us"): [datetime.timedelta(seconds=1)],
    pyarrow.list_(pyarrow.int64()): [[BIG], []],
    pyarrow.struct({"a": pyarrow.int64()}): [{"a": BIG}],
    pyarrow.null(): [None],
}


@pytest.mark.parametrize("kind", ARROW_VALUES, ids=str)
def test_columns_of_pyarrow_keep_values_and_types(kind):
    values = ARROW_VALUES[kind]
    column = pyarrow.array(values, pyarrow.string()).dictionary_encode() if "dictionary" in str(kind) else pyarrow.array(values, kind)
    ours = pyarrow.table({"id": range(len(values)), "x": column})
    read = column.to_pylist()
    result = both("union", ours, pyarrow.table({"id": [99]}), on="id", **SEMI_HONEST)
    assert result["x"].to_pylist() == [*read, None] and result.schema.field("x").type == kind
    if kind in ARROW:
        one, other = pyarrow.table({"id": column[:-1]}), pyarrow.table({"id": column[1:]})
        result = both("union", one, other, on="id", **SEMI_HONEST)["id"]
        assert result.to_pylist() == read
        given = both("union", pyarrow.table({"id": [99]}), ours, on="id", their_payload="x", **SEMI_HONEST)
        assert [row["x"] for row in sorted(given.slice(1).to_pylist(), key=lambda row: row["id"])] == read
        assert given["x"][0].as_py() is None


def test_an_enumeration_of_duckdb_is_text_where_the_partner_has_other_values():
    ours = duckdb.sql("SELECT 'a'::ENUM('a', 'b') AS k, 'x'::ENUM('x') AS e, 1::HUGEINT AS h")
    result = both("union", ours, ["z"], our_on="k", **SEMI_HONEST)
    assert [str(kind) for kind in result.types] == ["VARCHAR", "ENUM('x')", "HUGEINT"]
    assert result.fetchall() == [("a", "x", 1), ("z", None, None)]

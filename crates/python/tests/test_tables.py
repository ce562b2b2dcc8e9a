"""Each kind of table against a join of its own library: rows, order, types, labels, and the partner's columns."""

from __future__ import annotations

import datetime
import decimal
import zoneinfo

import duckdb
import pandas
import polars
import polars.testing
import pyarrow
import pytest
from conftest import SEMI_HONEST, both, columns

import vesica

SIZES = [1, 2, 700]


def pandas_table(table: dict[str, list]) -> pandas.DataFrame:
    """With integers that can be missing: floats are no keys."""
    return pandas.DataFrame(table).convert_dtypes()


def unique(table: dict[str, list], key: str) -> dict[str, list]:
    """The first row of each key, since a payload has one value for each."""
    first = {}
    for place, value in enumerate(table[key]):
        if value is not None:
            first.setdefault(value, place)
    return {name: [column[place] for place in first.values()] for name, column in table.items()}


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("join", ["inner", "difference"])
def test_pandas_rows_keep_their_index_and_types(rows, join):
    ours, theirs = pandas.DataFrame(columns(rows, 1)), pandas.DataFrame(columns(rows, 2))
    ours["id"], theirs["id"] = ours["id"].astype("Int64"), theirs["id"].astype("Int64")
    ours["seen"] = pandas.Timestamp("2026-01-01", tz="Europe/Brussels")
    ours["kind"] = pandas.Categorical(["a"] * rows)
    ours["things"] = [object() if row % 2 else row for row in range(rows)]
    ours.index = [f"row {row}" for row in range(rows)]
    result = both("intersect", ours, theirs, on="id", our_join=join)
    is_common = ours["id"].isin(theirs["id"].dropna()) & ours["id"].notna()
    pandas.testing.assert_frame_equal(result, ours[is_common if join == "inner" else ~is_common])


@pytest.mark.parametrize("rows", SIZES)
def test_pandas_payload_is_that_of_a_merge(rows):
    ours, theirs = pandas.DataFrame(columns(rows, 3)), pandas.DataFrame(unique(columns(rows, 4), "email"))
    theirs = theirs[["email", "amount", "city"]].rename(columns={"email": "mail"})
    result = both("intersect", ours, theirs, our_on="email", their_on="mail", their_payload=["amount", "city"])
    expected = ours.merge(theirs, left_on="email", right_on="mail", how="inner", suffixes=("", "_theirs"))
    assert len(result) == len(expected)
    assert list(result.columns) == [*ours.columns, "partner_amount", "partner_city"]
    assert result["email"].tolist() == expected["email"].tolist()
    assert result["partner_amount"].tolist() == expected["amount_theirs"].tolist()
    assert result["partner_city"].fillna("").tolist() == expected["city_theirs"].fillna("").tolist()


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("as_given", [pandas_table, polars.DataFrame, pyarrow.table])
def test_a_left_join_is_that_of_duckdb(rows, as_given):
    """Rows without a key and keys that repeat among them. No number is rounded where others are missing."""
    ours = pyarrow.table({"place": list(range(rows)), **columns(rows, 3)})
    distinct = unique(columns(rows, 4), "id")
    exact = [2**60 + amount for amount in distinct["amount"]]
    theirs = pyarrow.table({"key": distinct["id"], "exact": exact, "town": distinct["city"]})
    result = both(
        "intersect", as_given(ours.to_pydict()), as_given(theirs.to_pydict()),
        our_on="id", their_on="key", their_payload=["exact", "town"], our_join="left",
    )
    given = pyarrow.Table.from_pandas(result, preserve_index=False) if as_given is pandas_table else result
    read = "SELECT place, id, email, exact::BIGINT AS exact, town FROM"
    expected = duckdb.sql(f"{read} ours LEFT JOIN theirs ON ours.id = theirs.key ORDER BY place").fetchall()
    assert duckdb.sql(f"{read} given").fetchall() == expected
    assert len(expected) == rows


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("is_lazy", [False, True])
def test_polars_rows_are_those_of_a_join(rows, is_lazy):
    schema = {"id": polars.Int64, "email": polars.String, "amount": polars.Int32, "city": polars.String}
    ours, theirs = polars.DataFrame(columns(rows, 5), schema), polars.DataFrame(unique(columns(rows, 6), "id"), schema)
    table = ours.lazy() if is_lazy else ours
    result = both("intersect", table, theirs, on="id", their_payload=["email", "amount"])
    assert isinstance(result, polars.LazyFrame if is_lazy else polars.DataFrame)
    expected = ours.join(
        theirs.select("id", partner_email="email", partner_amount="amount"), on="id", maintain_order="left"
    )
    polars.testing.assert_frame_equal(result.lazy().collect(), expected)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", ["table", "batch", "reader", "chunks"])
def test_pyarrow_rows_are_those_of_a_join(rows, kind):
    schema = pyarrow.schema({"id": "int64", "email": "string", "amount": "int32", "city": "string"})
    ours = pyarrow.table(columns(rows, 7), schema=schema)
    theirs = pyarrow.table(unique(columns(rows, 8), "id"), schema=schema)
    given = {
        "table": lambda: ours,
        "batch": lambda: pyarrow.RecordBatch.from_pylist(ours.to_pylist(), schema=schema),
        "reader": lambda: ours.to_reader(max_chunksize=100),
        "chunks": lambda: pyarrow.concat_tables([ours.slice(0, rows // 3), ours.slice(rows // 3)]),
    }[kind]()
    result = both("intersect", given, theirs, on="id", their_payload="city")
    assert isinstance(result, pyarrow.RecordBatch if kind == "batch" else pyarrow.Table)
    city = dict(zip(theirs["id"].to_pylist(), theirs["city"].to_pylist()))
    common = [row for row in ours.to_pylist() if row["id"] in city]
    assert result.to_pylist() == [{**row, "partner_city": city[row["id"]]} for row in common]
    assert result.schema.field("amount").type == pyarrow.int32()


@pytest.mark.parametrize("rows", [1, 2, 700])
def test_duckdb_relations_come_back_on_their_own_connection(rows):
    connection = duckdb.connect()
    ours, theirs = pandas.DataFrame(columns(rows, 9)), pandas.DataFrame(unique(columns(rows, 10), "email"))
    connection.execute("CREATE TABLE ours AS SELECT * FROM ours")
    connection.execute("CREATE TABLE theirs AS SELECT * FROM theirs")
    result = both("intersect", connection.table("ours"), connection.table("theirs"), on="email", their_payload="amount")
    assert type(result).__name__ == "DuckDBPyRelation"
    expected = connection.sql(
        "SELECT ours.*, theirs.amount AS partner_amount FROM ours JOIN theirs USING (email) ORDER BY ALL"
    )
    assert result.order("ALL").fetchall() == expected.fetchall()
    # It lives on after the table is gone, and queries can go on from it.
    assert result.aggregate("count(*)").fetchall() == [(len(expected.fetchall()),)]


def test_any_arrow_object_will_do():
    class Stream:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    ours = Stream(pyarrow.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    theirs = Stream(pyarrow.table({"id": [3, 1], "points": [30, 10]}))
    result = both("intersect", ours, theirs, on="id", their_payload="points")
    assert pyarrow.table(result).to_pylist() == [
        {"id": 1, "name": "a", "points": 10},
        {"id": 3, "name": "c", "points": 30},
    ]


def test_lists_dictionaries_and_keys():
    theirs = [{"mail": "b", "n": 1}, {"mail": "c", "n": 2}]
    assert both("intersect", ["a", "b", None, "b"], ["b", "c"]) == ["b", "b"]
    assert both("intersect", iter([("a", 1), ("b", 2), None]), [("b", 2), ("a", 2)]) == [("b", 2)]
    rows = [{"email": "c", "x": object()}, {"email": "a"}, {"email": None}]
    assert both("intersect", rows, theirs, our_on="email", their_on="mail") == [rows[0]]
    with_numbers = both("intersect", rows, theirs, our_on="email", their_on="mail", their_payload="n")
    assert with_numbers == [{**rows[0], "n": 2}]
    assert both("intersect", {"email": ["a", "c"], "x": [1, 2]}, theirs, our_on="email", their_on="mail") == {
        "email": ["c"],
        "x": [2],
    }
    assert both("intersect", ["c"], theirs, their_on="mail", their_payload="n") == [{"key": "c", "n": 2}]


def test_values_of_lists_have_the_types_of_other_tables():
    day = datetime.date(2026, 11, 28)
    utc = datetime.datetime(2026, 11, 28, 12, 30, 0, 5000, tzinfo=datetime.timezone.utc)
    west = utc.astimezone(datetime.timezone(datetime.timedelta(hours=-5)))
    for values, others in [
        ([day, day + datetime.timedelta(1)], pyarrow.table({"key": [day]})),
        ([west, None], pyarrow.table({"key": pyarrow.array([utc], pyarrow.timestamp("ms", "UTC"))})),
        ([utc.replace(tzinfo=None)], pyarrow.table({"key": [utc.replace(tzinfo=None)]})),
        ([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)], pandas.DataFrame({"key": [datetime.date(1, 1, 1)]})),
        ([2**64 - 1, 3], pyarrow.table({"key": pyarrow.array([2**64 - 1], pyarrow.uint64())})),
        ([-(2**63), 3], [-(2**63)]),
        ([b"\x00\xff", b""], pyarrow.table({"key": [b"\x00\xff"]})),
        ([True, False], polars.DataFrame({"key": [True]})),
    ]:
        their_on = "key" if not isinstance(others, list) else None
        assert both("intersect", values, others, their_on=their_on) == values[:1]


def test_payload_of_every_type_reaches_lists():
    utc = datetime.timezone.utc
    row = {
        "text": "Århus, \"x\"",
        "whole": -5,
        "truth": True,
        "ratio": 0.25,
        "bytes": b"\x00\x01",
        "day": datetime.date(1999, 12, 31),
        "price": decimal.Decimal("12.50"),
        "when": datetime.datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=utc),
        "local": datetime.datetime(2026, 1, 2, 3, 4, 5),
        "nothing": None,
        "there": datetime.datetime(2026, 7, 2, 3, 4, 5, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
    }
    schema = pyarrow.Table.from_pylist([row]).schema.set(9, pyarrow.field("nothing", pyarrow.string()))
    theirs = pyarrow.Table.from_pylist([row], schema=schema).append_column("id", [[7]])
    result = both("intersect", {"id": [7]}, theirs, on="id", their_payload=list(row))
    assert {name: values[0] for name, values in result.items()} == {"id": 7, **row}
    # Equal times may be written in other zones.
    assert [result[name][0].isoformat() for name in ("when", "there")] == [row[name].isoformat() for name in ("when", "there")]


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame, pyarrow.table, dict])
def test_a_union_has_all_own_rows_and_one_for_each_new_key(kind):
    ours, theirs = {"id": [3, 1, None], "name": ["c", "a", "z"]}, {"id": [1, 4, 5], "points": [10, 40, 50]}
    ours, theirs = kind(ours), kind(theirs)
    if kind is pandas.DataFrame:
        ours["id"] = ours["id"].astype("Int64")
    result = both("union", ours, theirs, on="id", their_payload="points", **SEMI_HONEST)
    rows = result.to_dicts() if kind is polars.DataFrame else pyarrow.table(result).to_pylist()
    if kind is pandas.DataFrame:
        rows = [{name: None if value != value else value for name, value in row.items()} for row in rows]
    assert [(row["id"], row["name"]) for row in rows[:3]] == [(3, "c"), (1, "a"), (None, "z")]
    assert sorted((row["id"], row["name"], row["points"]) for row in rows[3:]) == [(4, None, 40), (5, None, 50)]
    assert isinstance(result, kind if kind is not pyarrow.table else pyarrow.Table)


def test_a_union_of_keys_is_a_list_of_keys():
    assert sorted(both("union", [3, 4], [1, 3], **SEMI_HONEST)) == [1, 3, 4]
    assert sorted(both("union", [("a", 1)], [("b", 2), ("a", 1)], **SEMI_HONEST)) == [("a", 1), ("b", 2)]
    rows = both("union", [{"id": 1, "x": 2}], [{"id": 5}], on="id", **SEMI_HONEST)
    assert rows == [{"id": 1, "x": 2}, {"id": 5}]


def test_columns_that_a_run_does_not_need_are_not_read():
    ours = pandas.DataFrame({"id": [1, 2], 7: [object(), "x"], "list": [[1], {2}]})
    result = both("intersect", ours, [{"id": 2}], on="id")
    pandas.testing.assert_frame_equal(result, ours.iloc[[1]])


def test_categories_and_views_are_keys_as_their_values_are():
    ours = pandas.DataFrame({"id": pandas.Categorical(["b", "a", "b"])})
    theirs = polars.DataFrame({"id": ["b"]}, {"id": polars.Categorical})
    assert both("intersect", ours, theirs, on="id").index.tolist() == [0, 2]
    assert both("intersect", polars.DataFrame({"id": ["b", "x"]}), ours, on="id")["id"].to_list() == ["b"]


def test_no_value_is_lost_on_the_way_to_pandas_and_lists():
    big = 2**62 + 1
    theirs = pyarrow.table(
        {
            "id": [1, 2, 3],
            "big": [big, None, 5],
            "day": pyarrow.array([2932897, 0, None], pyarrow.date32()),
            "when": pyarrow.array([1, None, 2], pyarrow.timestamp("ns")),
        }
    )
    settings = {"on": "id", "their_payload": ["big", "day", "when"]}
    frame = both("intersect", pandas.DataFrame({"id": [1, 2]}), theirs, **settings)
    assert frame["big"].tolist()[0] == big and frame["big"].isna().tolist() == [False, True]
    assert pyarrow.array(frame["day"].array).cast("int32").to_pylist() == [2932897, 0]
    lists = both("intersect", {"id": [1, 2]}, theirs, **settings)
    assert lists["big"] == [big, None] and lists["day"][1] == datetime.date(1970, 1, 1)
    assert lists["when"] == ["1970-01-01T00:00:00.000000001", None] and "10000" in str(lists["day"][0])


def test_a_union_in_pandas_rounds_no_own_number():
    ours = pandas.DataFrame({"id": [1], "big": [2**62 + 1], "flag": [True]})
    result = both("union", ours, pandas.DataFrame({"id": [2]}), on="id", **SEMI_HONEST)
    assert result["big"].tolist()[0] == 2**62 + 1 and result["flag"].tolist()[0] is True
    assert result["big"].isna().tolist() == [False, True]


def test_a_table_of_the_caller_cannot_stand_in_for_a_result_of_duckdb():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE vesica_result AS SELECT 'a' AS k")
    for key in ("a", "b"):
        result = both("intersect", connection.sql("SELECT unnest(['a', 'b']) AS k"), [key], our_on="k")
        assert result.fetchall() == [(key,)]


def test_types_and_names_of_duckdb_come_back():
    query = "SELECT 1::HUGEINT AS h, 'a' AS k, uuid() AS u, 'x'::ENUM('x', 'y') AS e, 5 AS \"P\""
    result = both("intersect", duckdb.sql(query), {"k": ["a"], "p": [7]}, on="k", their_payload="p")
    assert [str(kind) for kind in result.types[:5]] == ["HUGEINT", "VARCHAR", "UUID", "ENUM('x', 'y')", "INTEGER"]
    assert result.columns == ["h", "k", "u", "e", "P", "partner_p"] and result.fetchall()[0][-1] == 7


def test_both_sides_may_be_relations_of_one_connection():
    connection = duckdb.connect()
    for _ in range(5):
        ours, theirs = connection.sql("SELECT range AS k FROM range(9)"), connection.sql("SELECT 4 AS k")
        assert both("intersect", ours, theirs, on="k", both_learn=True, their_progress=False).fetchall() == [(4,)]


def test_labels_of_pandas_that_are_no_text():
    ours = pandas.DataFrame([["a", 1], ["b", 2]])
    for on in (0, [0], "0"):
        result = both("union", ours, {"m": ["b", "z"]}, our_on=on, their_on="m", **SEMI_HONEST)
        assert result[0].tolist() == ["a", "b", "z"] and list(result.columns) == [0, 1]
    assert both("intersect", ours, {"m": ["b"]}, our_on=0, their_on="m", our_normalise={0: "lower"}, their_normalise={"m": "lower"}).index.tolist() == [1]
    given = both("sum", ["a", "b"], ours, their_on=0, their_payload=[1], their_scale={1: 0}, their_clamp={1: (0, 9)}, **SEMI_HONEST)
    assert given[0]["1"] == 3
    twice = pandas.DataFrame([["a", 1, 2]], columns=["k", "x", "x"])
    assert both("intersect", twice, ["a"], our_on="k").shape == (1, 3)
    with pytest.raises(vesica.InputError, match="a name of its own"):
        vesica.union(twice, on="k", role="receiver", connect="127.0.0.1:1", insecure_plaintext=True, wait=1)
    # A label and a text that read alike are two columns.
    alike = pandas.DataFrame({0: ["a", "b"], "0": ["x", "y"]})
    assert both("intersect", alike, ["b"], our_on=0).index.tolist() == [1]
    assert both("intersect", alike, ["x"], our_on="0").index.tolist() == [0]


def test_tuples_are_labels_where_pandas_has_them_and_else_several_columns():
    levels = pandas.DataFrame([["a", 1], ["b", 2]], columns=pandas.MultiIndex.from_tuples([("who", "mail"), ("who", "n")]))
    result = both("intersect", levels, ["b"], our_on=("who", "mail"))
    pandas.testing.assert_frame_equal(result, levels.iloc[[1]])
    assert both("intersect", levels, [("b", 2)], our_on=[("who", "mail"), ("who", "n")]).index.tolist() == [1]
    plain = pandas.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    for table in (plain, polars.DataFrame(plain), plain.to_dict("list"), plain.to_dict("records")):
        assert len(both("intersect", table, [("y", 2)], our_on=("a", "b"))) in (1, 2)


def test_levels_of_an_index_are_columns():
    ours = pandas.DataFrame({"n": [1, 2, 3]}, index=pandas.Index(["a", "b", "c"], name="id"))
    result = both("intersect", ours, {"id": ["c", "a"], "n": [30, 10]}, on="id", their_payload="n")
    assert result.index.equals(ours.index[[0, 2]]) and result["n"].tolist() == [1, 3]
    assert result["partner_n"].tolist() == [10, 30]
    deep = ours.set_index("n", append=True).assign(x="y")
    assert both("intersect", deep, [("b", 2)], our_on=["id", "n"])["x"].tolist() == ["y"]
    assert both("intersect", deep, [2], our_on="n").index.tolist() == [("b", 2)]
    # A column of that name goes first.
    shadowed = ours.assign(id=["x", "y", "z"])
    assert both("intersect", shadowed, ["y"], our_on="id")["n"].tolist() == [2]
    with pytest.raises(vesica.InputError, match="its columns are `n`, `id`"):
        vesica.check(ours, on="no such")


@pytest.mark.parametrize("name", ["id", None])
def test_a_column_alone_is_a_list_of_keys(name):
    series = pandas.Series(["a", "b", "c"], index=[7, 8, 9], name=name)
    result = both("intersect", series, ["c", "a"])
    pandas.testing.assert_series_equal(result, series.iloc[[0, 2]])
    with_payload = both("intersect", series, {"k": ["b"], "p": [5]}, their_on="k", their_payload="p")
    assert isinstance(with_payload, pandas.DataFrame) and with_payload.index.tolist() == [8] and with_payload["p"].tolist() == [5]
    added = both("union", series, pandas.Index(["z"]), **SEMI_HONEST)
    assert isinstance(added, pandas.Series) and added.tolist() == ["a", "b", "c", "z"] and added.name == name
    index = both("intersect", pandas.Index(["a", "b"], name=name), ["b"])
    assert isinstance(index, pandas.Index) and index.tolist() == ["b"] and index.name == name
    column = polars.Series(name, ["a", "b"])
    polars.testing.assert_series_equal(both("intersect", column, series), column)
    polars.testing.assert_series_equal(both("union", column, ["z"], **SEMI_HONEST), polars.Series(name, ["a", "b", "z"]))
    for array in (pyarrow.array(["a", "x"]), pyarrow.chunked_array([["a"], ["x"]])):
        found = both("intersect", array, series)
        assert type(found) is type(array) and found.to_pylist() == ["a"]
    if name is not None:
        assert both("intersect", series, ["a"], our_on=name).tolist() == ["a"]
    assert both("cardinality", series, series, **SEMI_HONEST) == 3


def test_scalars_of_other_libraries_and_missing_values_in_lists():
    import numpy

    assert both("intersect", {"k": numpy.array([1, 2])}, [2], our_on="k") == {"k": [2]}
    assert both("intersect", [numpy.int64(1), numpy.int64(2)], [pyarrow.scalar(2)]) == [2]
    records = pandas.DataFrame({"k": ["a", None, float("nan")]}).to_dict("records")
    assert both("intersect", records, ["a"], our_on="k") == [{"k": "a"}]
    assert both("intersect", [pandas.NaT, pandas.NA, pandas.Timestamp(0)], [datetime.datetime(1970, 1, 1)]) == [
        pandas.Timestamp(0)
    ]
    prices = {"k": [1, 2, 3], "price": [decimal.Decimal("12.5"), decimal.Decimal("-3"), None]}
    assert both("intersect", [1, 2, 3], prices, their_on="k", their_payload="price")[1] == {"key": 2, "price": -3}
    objects = pandas.DataFrame({"k": pandas.Series(["a", pandas.NA, numpy.str_("b")], dtype=object)})
    assert both("intersect", objects, ["b"], our_on="k").index.tolist() == [2]


def test_views_of_pyarrow_and_subclasses_of_pandas():
    views = pyarrow.table({"k": pyarrow.array(["a", "b"], pyarrow.string_view())})
    assert both("intersect", views, ["b"], our_on="k").to_pylist() == [{"k": "b"}]

    class Mine(pandas.DataFrame):
        pass

    assert both("intersect", Mine({"k": ["a", "b"]}), ["b"], our_on="k").index.tolist() == [1]


def test_several_columns_of_or_on_are_one_key():
    ours = [{"id": 1, "first": "a", "last": "b"}, {"id": 2, "first": "a", "last": "c"}]
    theirs = [{"id": 9, "first": "a", "last": "c"}, {"id": 8, "first": "q", "last": "b"}]
    assert both("intersect", ours, theirs, on="id", or_on=["first", "last"]) == ours[1:]
    assert both("intersect", ours, theirs, on="id", or_on=[["first", "last"], ["last"]]) == ours

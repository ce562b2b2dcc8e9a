"""Every type that DuckDB, pyarrow and polars write to a file, through every output: what DuckDB and pyarrow read of the
result is what they read of the source, or the run is refused by the name of the column before a partner is asked."""

from __future__ import annotations

import datetime
import decimal
import re
import subprocess
import sys
import uuid

import duckdb
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

COMMAND = [sys.executable, "-m", "vesica"]

# Expressions of DuckDB, and whether a column of that type can be text.
DUCKDB = {
    "choice": ("'x'::ENUM('x', 'y')", True),
    "json": ("'{\"a\": 1}'::JSON", True),
    "in_utc": ("'10:00:00.5+02'::TIMETZ", True),
    "time": ("TIME '10:00:00.5'", True),
    "fine_time": ("'10:00:00.000000001'::TIME_NS", True),
    "span": ("INTERVAL '14 months 3 days 2 seconds'", True),
    "uuid": ("'78dde6e5-fd29-f057-ce73-018173b720d4'::UUID", True),
    "bits": ("'0101'::BIT", True),
    "big": ("123456789012345678901234567890::BIGNUM", True),
    "huge": ("5::HUGEINT", True),
    "tiny": ("(-128)::TINYINT", True),
    "whole": ("18446744073709551615::UBIGINT", True),
    "real": ("0.1::FLOAT", True),
    "double": ("0.1::DOUBLE", True),
    "cents": ("(-1.25)::DECIMAL(4, 2)", True),
    "many_cents": ("(-1.25)::DECIMAL(38, 2)", True),
    "blob": ("'\\xAA\\x00'::BLOB", True),
    "truth": ("true", True),
    "day": ("DATE '9999-12-31'", True),
    "seconds": ("'2024-01-31 10:00:00'::TIMESTAMP_S", True),
    "milliseconds": ("'2024-01-31 10:00:00.5'::TIMESTAMP_MS", True),
    "stamp": ("'0001-01-01 10:00:00.000001'::TIMESTAMP", True),
    "fine": ("'2024-01-31 10:00:00.000000001'::TIMESTAMP_NS", True),
    "instant": ("'2024-01-31 10:00:00+00'::TIMESTAMPTZ", True),
    "variant": ("42::VARIANT", False),
    "place": ("'POINT(1 2)'::GEOMETRY", False),
    "either": ("union_value(num := 2)", False),
    "list": ("[1, 2]", False),
    "array": ("[1, 2]::INT[2]", False),
    "map": ("map {'a': 1}", False),
    "struct": ("{'a': 1, 'b': [uuid()], 'c': INTERVAL 2 MONTH}", False),
}


def by_duckdb(path) -> dict[str, bool]:
    columns = ", ".join(f"CASE WHEN id <> 2 THEN {made} END AS {name}" for name, (made, _) in DUCKDB.items())
    duckdb.connect().execute(f"COPY (SELECT id, {columns} FROM range(1, 4) AS r(id)) TO '{path}'")
    return {name: is_text for name, (_, is_text) in DUCKDB.items()}


def arrow_columns() -> dict:
    """Columns of pyarrow, and whether they can be text."""
    stamp = datetime.datetime(2024, 1, 31, 10, 0, 0)
    number = decimal.Decimal("-1.25")
    of = {
        "text": ("a,\"b\"", pyarrow.string()),
        "large_text": ("ä", pyarrow.large_string()),
        "bytes": (b"\xff\x00", pyarrow.binary()),
        "fixed": (b"ab", pyarrow.binary(2)),
        "half": (0.5, pyarrow.float16()),
        "day": (stamp.date(), pyarrow.date32()),
        "long_day": (stamp.date(), pyarrow.date64()),
        "seconds": (stamp, pyarrow.timestamp("s")),
        "fine": (stamp, pyarrow.timestamp("ns", "Europe/Berlin")),
        "time": (stamp.time(), pyarrow.time32("ms")),
        "fine_time": (stamp.time(), pyarrow.time64("ns")),
        "duration": (datetime.timedelta(seconds=90), pyarrow.duration("us")),
        "cents": (number, pyarrow.decimal128(9, 2)),
        "many_cents": (number, pyarrow.decimal256(50, 2)),
        "category": ("a", pyarrow.dictionary(pyarrow.int8(), pyarrow.string())),
        "uuid": (uuid.UUID("78dde6e5-fd29-f057-ce73-018173b720d4").bytes, pyarrow.uuid()),
        "json": ('{"a": 1}', pyarrow.json_()),
    }
    nested = {
        "list": ([1, None], pyarrow.list_(pyarrow.int16())),
        "stamps": ([stamp], pyarrow.list_(pyarrow.timestamp("us"))),
        "fixed_list": ([1, 2], pyarrow.list_(pyarrow.int8(), 2)),
        "struct": ({"a": 1}, pyarrow.struct({"a": pyarrow.int64()})),
        "map": ([("a", 1)], pyarrow.map_(pyarrow.string(), pyarrow.int32())),
        "truth": (1, pyarrow.bool8()),
    }
    return {name: (*made, name in of) for name, made in {**of, **nested}.items()}


def column(value, kind):
    if isinstance(kind, pyarrow.BaseExtensionType):
        return pyarrow.ExtensionArray.from_storage(kind, pyarrow.array([value, None, value], kind.storage_type))
    if pyarrow.types.is_dictionary(kind):
        return pyarrow.array([value, None, value]).dictionary_encode().cast(kind)
    return pyarrow.array([value, None, value], kind)


def by_pyarrow(path) -> dict[str, bool]:
    columns = {name: column(value, kind) for name, (value, kind, _) in arrow_columns().items()}
    table = pyarrow.table({"id": [1, 2, 3], **columns})
    pyarrow.parquet.write_table(table, path, write_page_checksum=True)
    return {name: is_text for name, (_, _, is_text) in arrow_columns().items()}


def polars_table():
    stamp = datetime.datetime(2024, 1, 31, 10, 0, 0, 5)
    of = {
        "category": (["a", None, "b"], polars.Categorical, True),
        "choice": (["a", None, "b"], polars.Enum(["a", "b"]), True),
        "text": (["ä", None, ""], polars.String, True),
        "bytes": ([b"\xff", None, b""], polars.Binary, True),
        "cents": ([decimal.Decimal("1.25"), None, decimal.Decimal(0)], polars.Decimal(10, 2), True),
        "stamp": ([stamp, None, stamp], polars.Datetime("us"), True),
        "fine": ([stamp, None, stamp], polars.Datetime("ns", "UTC"), True),
        "time": ([stamp.time(), None, stamp.time()], polars.Time, True),
        "duration": ([datetime.timedelta(1), None, datetime.timedelta(0)], polars.Duration("ms"), True),
        "truth": ([True, None, False], polars.Boolean, True),
        "small": ([255, None, 0], polars.UInt8, True),
        "list": ([[1], None, []], polars.List(polars.Int64), False),
        "array": ([[1, 2], None, [3, 4]], polars.Array(polars.Int8, 2), False),
        "struct": ([{"a": 1}, None, {"a": 2}], polars.Struct({"a": polars.Int32}), False),
        "categories": ([["a"], None, ["b", "a"]], polars.List(polars.Categorical), False),
    }
    frame = polars.DataFrame({"id": [1, 2, 3], **{name: polars.Series(v, dtype=kind) for name, (v, kind, _) in of.items()}})
    return frame, {name: is_text for name, (_, _, is_text) in of.items()}


def by_polars(path) -> dict[str, bool]:
    frame, text = polars_table()
    frame.write_parquet(path)
    return text


def by_polars_into_arrow(path) -> dict[str, bool]:
    frame, text = polars_table()
    frame.write_ipc(path)
    return text


WRITERS = [
    (by_duckdb, "in.parquet"),
    (by_pyarrow, "in.parquet"),
    (by_polars, "in.parquet"),
    (by_polars_into_arrow, "in.arrow"),
]


def receive(folder, source, output, sent="ids.csv", *normalise):
    """Joins a file with another one by `id`."""
    shared = ["--insecure-plaintext", "--force"]
    options = {"cwd": folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    (folder / "ids.csv").write_text("id\n1\n2\n3\n")
    listening = [*COMMAND, "send", "--input", sent, "--key", "id", *normalise, "--listen", "127.0.0.1:0", "--insecure-plaintext"]
    sender = subprocess.Popen(listening, **options)
    for line in sender.stderr:
        if found := re.search(r"listening on (\S+)", line):
            break
    ours = ["receive", "--input", source, "--key", "id", "--output", output, "--connect", found.group(1), *shared, *normalise]
    ran = subprocess.run([*COMMAND, *ours], **options)
    sender.stderr.read()
    assert (ran.returncode, sender.wait(60)) == (0, 0), ran.stderr


def refused(folder, source, output):
    """The error of a run that does not come to a partner."""
    ours = ["receive", "--input", source, "--key", "id", "--output", output, "--connect", "127.0.0.1:1", "--force"]
    ran = subprocess.run([*COMMAND, *ours, "--insecure-plaintext"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 4, ran.stderr
    return ran.stderr


def read_arrow(path):
    if path.suffix == ".parquet":
        names = pyarrow.parquet.read_schema(path).names
        columns = {name: read_column(path, name) for name in names}
        return pyarrow.table({name: column for name, column in columns.items() if column is not None})
    opened = pyarrow.ipc.open_file if path.suffix == ".arrow" else pyarrow.ipc.open_stream
    return opened(path).read_all()


def read_column(path, name):
    """A column of Parquet; none where this release of pyarrow cannot read what DuckDB wrote."""
    try:
        return pyarrow.parquet.read_table(path, columns=[name])[name]
    except pyarrow.ArrowInvalid:
        return None


def plain(kind):
    """A type without what a reader may choose: offsets, views, names of items."""
    text = str(kind).replace("large_", "").replace("_view", "").replace("element:", "item:").replace("date64[ms]", "date32[day]")
    text = re.sub(r" \('\w+'\)", "", text)
    found = re.fullmatch(r"dictionary<values=(\w+), .*>", text)
    return found.group(1) if found else re.sub(r"dictionary<values=(\w+), indices=\w+, ordered=\d>", r"\1", text)


OUTPUTS = ["out.csv", "out.jsonl", "out.parquet", "out.arrow", "out.arrows"]
# What one writer's types come to in JSON lines and in streams is what another's come to.
RUNS = [(*writer, output) for writer in WRITERS for output in OUTPUTS if writer in WRITERS[:1] or output in ("out.csv", "out.parquet", "out.arrow")]


@pytest.mark.parametrize("write, name, output", RUNS, ids=[f"{write.__name__}-{output}" for write, _, output in RUNS])
def test_what_is_read_of_the_result_is_what_is_read_of_the_source(tmp_path, write, name, output):
    is_text = write(tmp_path / name)
    source = name
    if output in ("out.csv", "out.jsonl"):
        unfit = [name for name, fits in is_text.items() if not fits]
        told = refused(tmp_path, name, output)
        assert f"`{unfit[0]}`" in told, told
        source = some_of(tmp_path, write, name, [name for name, fits in is_text.items() if fits])
    if output == "out.parquet" and name == "in.arrow":
        assert "`duration`" in refused(tmp_path, name, output)
        source = some_of(tmp_path, write, name, [name for name in is_text if name != "duration"])
    receive(tmp_path, source, output)
    ours, result = tmp_path / source, tmp_path / output
    before = read_arrow(ours)
    if output in ("out.csv", "out.jsonl"):
        compare_text(before, ours, result)
        return
    after = read_arrow(result)
    assert set(before.column_names) <= set(after.column_names)
    for field in before.schema:
        one, other = before[field.name], after[field.name]
        if field.name == "span" and output != "out.parquet":
            # DuckDB's interval, of which pyarrow shows the bytes where it comes from Parquet.
            assert other.to_pylist() == [(14, 3, 2_000_000_000), None, (14, 3, 2_000_000_000)]
            continue
        assert plain(other.type) == plain(field.type), field.name
        assert other.to_pylist() == one.to_pylist(), field.name
    if output == "out.parquet" and ours.suffix == ".parquet":
        connection = duckdb.connect()
        one, other = (connection.sql(f"SELECT * FROM '{path}' ORDER BY id") for path in (ours, result))
        assert dict(zip(other.columns, map(str, other.types))) == dict(zip(one.columns, map(str, one.types)))
        assert other.fetchall() == one.fetchall()


def some_of(folder, write, name, columns):
    """A file of the same writer with these columns alone."""
    path = folder / f"some{(folder / name).suffix}"
    if write is by_duckdb:
        names = ", ".join(f"CASE WHEN id <> 2 THEN {DUCKDB[name][0]} END AS {name}" for name in columns)
        duckdb.connect().execute(f"COPY (SELECT id, {names} FROM range(1, 4) AS r(id)) TO '{path}'")
    elif write is by_pyarrow:
        table = pyarrow.parquet.read_table(folder / name).select(["id", *columns])
        pyarrow.parquet.write_table(table, path, write_page_checksum=True)
    else:
        frame = polars_table()[0].select("id", *columns)
        frame.write_ipc(path) if path.suffix == ".arrow" else frame.write_parquet(path)
    return path.name


def compare_text(before, ours, result):
    """Each cell of a text is one that DuckDB casts to the value of the source."""
    connection = duckdb.connect()
    if ours.suffix == ".parquet":
        connection.execute(f"CREATE TABLE ours AS SELECT * FROM '{ours}'")
    else:
        connection.register("frame", before)
        connection.execute("CREATE TABLE ours AS SELECT * FROM frame")
    reader = f"read_csv('{result}', all_varchar=true, header=true, allow_quoted_nulls=false)"
    if result.suffix == ".jsonl":
        kinds = ", ".join(f"'{name}': 'VARCHAR'" for name in before.column_names)
        reader = f"read_json('{result}', format='newline_delimited', columns={{{kinds}}})"
    connection.execute(f"CREATE TABLE theirs AS SELECT * FROM {reader}")
    for name, kind in zip(*(lambda table: (table.columns, table.types))(connection.table("ours"))):
        value = f'"{name}"'
        if name == "duration":
            continue
        cast = {"BLOB": f"unhex({value})"}.get(str(kind), f"CAST({value} AS {kind})")
        if str(kind) == "TIME WITH TIME ZONE":
            cast = f"CAST({value} || '+00' AS {kind})"
        wrong = connection.sql(
            f"SELECT ours.id, ours.{value}, theirs.{value} FROM ours JOIN theirs ON ours.id = theirs.id::INTEGER "
            f"WHERE ours.{value} IS DISTINCT FROM (SELECT {cast} FROM (SELECT theirs.{value}))"
        ).fetchall()
        assert wrong == [], name


def test_an_integer_of_128_bits_is_refused_by_its_name(tmp_path):
    frame = polars.DataFrame({"id": [1], "i": polars.Series([2**100], dtype=polars.Int128)})
    frame.write_parquet(tmp_path / "in.parquet")
    frame.write_ipc(tmp_path / "in.arrow")
    for name in ("in.parquet", "in.arrow"):
        ours = ["receive", "--input", name, "--key", "id", "--output", "out.csv", "--connect", "127.0.0.1:1"]
        # For as long the partner would be told.
        ours += ["--insecure-plaintext", "--wait", "1"]
        ran = subprocess.run([*COMMAND, *ours], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 3 and "`i`" in ran.stderr and "Int128" in ran.stderr, ran.stderr


def test_uuids_of_every_writer_are_one_key(tmp_path):
    value = "78dde6e5-fd29-f057-ce73-018173b720d4"
    duckdb.connect().execute(f"COPY (SELECT '{value}'::UUID AS id) TO '{tmp_path / 'duckdb.parquet'}'")
    ids = column(uuid.UUID(value).bytes, pyarrow.uuid())
    pyarrow.parquet.write_table(pyarrow.table({"id": ids}), tmp_path / "pyarrow.parquet")
    (tmp_path / "text.csv").write_text(f"id\n{value}\n")
    (tmp_path / "loose.csv").write_text(f"id\n{{{value.upper()}}}\n")
    for name in ("duckdb.parquet", "pyarrow.parquet"):
        receive(tmp_path, name, "out.csv", "text.csv")
        assert set((tmp_path / "out.csv").read_text().split()) == {"id", value}
    receive(tmp_path, "loose.csv", "out.csv", "duckdb.parquet", "--normalise", "id=uuid")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "loose.csv").read_text()

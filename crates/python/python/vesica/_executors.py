"""What the machines of a cluster do. Every function here runs in a task, of whatever system.

`vesica::cluster::keys` has the picture of the files that tasks leave for each other in the folder of the run. A task may be
done twice: where others are to find its file, it is put in place whole, and has the same content each time; where not, it
has a name of its own, which the driver program hears.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator
from typing import Any, Callable

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from vesica import _folder, _vesica
from vesica._errors import Error, LinkError, PeerAbsent, PeerMisbehaved
from vesica._flags import Flag

# Whoever waited so many seconds for the partner's worker in vain does not wait for it again in this task.
LONG_WAIT = 60.0

# Bytes of keys and rows that a task holds before it writes them.
_HELD = 64 << 20

# Rows that are read at a time for the result.
_ROWS_AT_A_TIME = 1 << 16


def tickets(wave: int, number: int) -> str:
    """The file with the tickets of a worker: nobody else needs them, and no plan or log of the system shall have them."""
    return f"tickets/{wave}-{number}.json"


# In the place of an outcome: the driver program has given up.
_IS_OVER = [LinkError.exit_code, "the wave is over", "nothing"]

# The file with the places of each part's groups among those of the table.
GROUPS = "parts/groups.json"

# The file with all that is needed to read what matched.
MATCHED = "tickets/matched.json"


def scan(
    folder: str, key: list[Flag], needed: list[str], beside: str, shares: int, keeps_rows: bool,
    batches: Iterator[pa.RecordBatch],
) -> dict[str, Any]:
    """Keeps the keys of rows, and the rows themselves if they can become a result."""
    _folder.check(folder)
    part = _vesica.KeyPart(key, beside, shares)
    files: list[str] = []
    name = uuid.uuid4().hex
    # Read once, by us.
    rows = _Rows(folder, f"rows/{name}.parquet", "lz4") if keeps_rows else None
    types: list[str] = []
    with rows or contextlib.nullcontext():
        for batch in batches:
            if batch.num_rows:
                types = [_plain(batch.schema.field(name).type) for name in needed]
                part.add(batch.select(needed))
                if rows is not None:
                    rows.add(batch)
            if part.bytes() > _HELD:
                files.append(_sections(folder, f"parts/{name}-{len(files)}", part.take_sections()))
    count, counts, payload = part.counts()
    if count:
        files.append(_sections(folder, f"parts/{name}-{len(files)}", part.take_sections()))
    categories = part.categories()
    return {
        "name": name, "rows": count, "parts": files, "counts": counts, "payload": payload, "types": types,
        "categories": categories,
    }


def _plain(kind: pa.DataType) -> str:
    """The name of a type, however its values are laid out."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return str(values).removeprefix("large_").removesuffix("_view")


def merge(
    folder: str, key: list[Flag], beside: str, shares: int, parts: list[tuple[int, str]], has_groups: bool,
    keeps_rows: bool, share: int,
) -> dict[str, Any]:
    """Puts the keys of a share together."""
    _folder.check(folder)
    sections = [(file, _folder.section(folder, name, shares, share)) for file, name in parts]
    places = json.loads(_folder.read(folder, GROUPS)) if has_groups else []
    keys, rows, counts = _vesica.merge_share(key, beside, places, sections)
    _folder.write(folder, f"shares/{share}.keys", keys)
    if keeps_rows:
        _folder.write(folder, f"shares/{share}.rows", rows)
    return {"share": share, "counts": counts}


def divide(folder: str, division: str, beside: str, widths: tuple[int, int], share: int) -> dict[str, Any]:
    """Divides the keys of a share into buckets."""
    _folder.check(folder)
    sections = _vesica.divide_share(division, beside, widths, _folder.read(folder, f"shares/{share}.keys"))
    _sections(folder, f"buckets/{share}", sections)
    return {"share": share, "keys": [len(section) // (32 + sum(widths)) for section in sections]}


def run(folder: str, wave: int, cores: int, shares: int, buckets: int, number: int) -> dict[str, Any]:
    """Runs the tickets of this worker, one after the other."""
    _folder.check(folder)
    outcomes: list[dict[str, Any]] = []
    # Why the tickets that follow are not run.
    given_up: list[Any] | None = None
    for bucket, attempt, left_by, ticket in json.loads(_folder.read(folder, tickets(wave, number))):
        outcome: dict[str, Any] = {"bucket": bucket, "attempt": attempt, "failure": given_up}
        outcomes.append(outcome)
        if given_up is None and not _folder.is_there(folder, tickets(wave, number)):
            # A task that was cancelled is not always told.
            given_up = outcome["failure"] = _IS_OVER
        if given_up is not None:
            continue
        began = time.monotonic()
        try:
            keys = [_folder.section(folder, f"buckets/{share}", buckets, bucket) for share in range(shares)]
            state = None if left_by is None else _folder.read(folder, _state(bucket, left_by))
            transcript, learned, matched, state = _vesica.run_ticket(ticket, keys, state, cores)
        except Error as error:
            # No failure of the task: it would run the same tickets again, each of which is good for one run.
            outcome["failure"] = [error.exit_code, error.fault, error.mend]
            has_waited = isinstance(error, PeerAbsent) and time.monotonic() - began > LONG_WAIT
            # A partner that cheats gets no second try in the same wave.
            if has_waited or isinstance(error, PeerMisbehaved):
                given_up = outcome["failure"]
            continue
        outcome.update(transcript=transcript, learned=None if learned is None else learned.hex())
        # As long whatever matched, and kept before the driver program signs that it is.
        if matched is not None:
            _folder.write_sections(folder, _matches(bucket, attempt), matched, is_durable=True)
        if state is not None:
            _folder.write(folder, _state(bucket, attempt), state, is_durable=True)
    return {"outcomes": outcomes}


def find(folder: str, shares: int, files: int, share: int) -> dict[str, Any]:
    """Finds the rows of a share's keys that matched."""
    _folder.check(folder)
    said = json.loads(_folder.read(folder, MATCHED))

    def matched(bucket: int) -> tuple[str, bytes]:
        attempt, key = said["attempts"][str(bucket)]
        return key, _folder.section(folder, _matches(bucket, attempt), shares, share)

    keys, rows = (_folder.read(folder, f"shares/{share}.{kind}") for kind in ("keys", "rows"))
    terms = (said["division"], said["beside"], said["received"])
    _sections(folder, f"found/{share}", _vesica.find_rows(terms, (share, keys, rows), files, matched))
    return {}


def keep(
    folder: str, join: str, received: str | None, shares: int, files: list[str],
    readable: Callable[[pa.Table, int], pa.Table], file: int,
) -> dict[str, Any]:
    """Writes the rows of a file that are the result."""
    _folder.check(folder)
    sections = [_folder.section(folder, f"found/{share}", len(files), file) for share in range(shares)]
    found = _vesica.FoundRows(join, received, sections)
    with _rows_of(folder, files[file]) as rows, _Rows(folder, _part(file), "zstd") as result:
        for batch in rows.iter_batches(batch_size=_ROWS_AT_A_TIME):
            _add(result, found.keep(batch), readable, batch.schema)
        return {"own": len(rows.schema_arrow)}


def keep_all(
    folder: str, key: list[Flag], received: str, files: list[str], plain: Callable[[pa.RecordBatch], pa.RecordBatch],
    readable: Callable[[pa.Table, int], pa.Table], file: int,
) -> dict[str, Any]:
    """Writes the rows of a file as they are in a union."""
    _folder.check(folder)
    with _rows_of(folder, files[file]) as rows, _Rows(folder, _part(file), "zstd") as result:
        for batch in map(plain, rows.iter_batches(batch_size=_ROWS_AT_A_TIME)):
            _add(result, _vesica.own_rows(key, received, batch), readable, batch.schema)
        return {"own": len(plain(_no_rows(rows.schema_arrow)).schema)}


def add_new(
    folder: str, key: list[Flag], received: str, like: str, files: int, plain: Callable[[pa.RecordBatch], pa.RecordBatch],
    readable: Callable[[pa.Table, int], pa.Table], bucket: int,
) -> dict[str, Any]:
    """Writes a row for each new key of a bucket, with the columns of the file `like`."""
    _folder.check(folder)
    attempt, seal = json.loads(_folder.read(folder, MATCHED))["attempts"][str(bucket)]
    section = _folder.section(folder, _matches(bucket, attempt), 1, 0)
    with _rows_of(folder, like) as rows:
        own = plain(_no_rows(rows.schema_arrow))
    found = pa.table(_vesica.new_rows(key, received, own, (seal, section)))
    if found.num_rows:
        with _Rows(folder, _part(files + bucket), "zstd") as result:
            _add(result, found, readable, own.schema)
    return {}


def _part(number: int) -> str:
    return f"result/part-{number:05}.parquet"


@contextlib.contextmanager
def _rows_of(folder: str, name: str) -> Iterator[pyarrow.parquet.ParquetFile]:
    """The rows that a task kept."""
    source, path = _folder.filesystem(f"{folder}/rows/{name}.parquet")
    with source.open_input_file(path) as opened:
        yield pyarrow.parquet.ParquetFile(opened)


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _add(result: _Rows, found: Any, readable: Callable[[pa.Table, int], pa.Table], own: pa.Schema) -> None:
    """Adds rows that have these columns, and the partner's behind them."""
    table = readable(pa.table(found), len(own)).replace_schema_metadata(own.metadata)
    result.begin(table.schema)
    for kept in table.to_batches():
        result.add(kept)


class _Rows:
    """A file of rows that is being written. It is put in place when all is well, if anything came."""

    def __init__(self, folder: str, name: str, compression: str) -> None:
        self._compression = compression
        self._made = _folder.create(folder, name)
        self._writer: Any = None
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0

    def begin(self, schema: pa.Schema) -> None:
        """Fixes the columns, also where no row comes."""
        if self._writer is None:
            self._writer = pyarrow.parquet.ParquetWriter(self._made.open(), schema, compression=self._compression)

    def add(self, batch: pa.RecordBatch) -> None:
        self.begin(batch.schema)
        self._held.append(batch)
        self._bytes += batch.nbytes
        if self._bytes > _HELD:
            self._write()

    def _write(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held))
        self._held, self._bytes = [], 0

    def __enter__(self) -> _Rows:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._writer is None:
            return
        if error is None:
            self._write()
            self._writer.close()
        self._made.close(is_whole=error is None)


def _matches(bucket: int, attempt: int) -> str:
    return f"matches/{bucket}-{attempt}"


def _state(bucket: int, attempt: int) -> str:
    """What the worker of a pass leaves for that of the next, encrypted."""
    return f"states/{bucket}-{attempt}"


def _sections(folder: str, name: str, sections: list[bytes]) -> str:
    _folder.write_sections(folder, name, sections)
    return name

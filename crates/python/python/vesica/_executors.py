"""What executors do. Every function here runs in a task of Spark, on batches of Arrow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.fs

from vesica import _folder, _vesica
from vesica._errors import Error, OutputError, PeerAbsent
from vesica._flags import Flag

# Columns that vesica adds to the rows of a run.
DIGEST = "__vesica_digest"
COUNTS = "__vesica_counts"


def value(place: int) -> str:
    """The name of the column of values at this place among those that a side computes with."""
    return f"__vesica_value_{place}"


# Whoever waited so many seconds for the partner's worker in vain does not wait for it again in this task.
LONG_WAIT = 60.0

# What a task of a wave returns.
OUTCOMES = "bucket int, attempt int, transcript string, learned binary, failure string"

_OUTCOMES = pa.schema(
    [
        ("bucket", pa.int32()),
        ("attempt", pa.int32()),
        ("transcript", pa.string()),
        ("learned", pa.binary()),
        ("failure", pa.string()),
    ]
)


def with_digests(
    folder: str, key: list[Flag], on: list[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Rows with the digest of their key, and with counts in the last row of each batch."""
    _folder.check(folder)
    for batch in batches:
        if batch.num_rows:
            table, counts = _vesica.key_digests(key, None, batch.select(on))
            (digests,) = _columns(table)
            yield batch.append_column(DIGEST, digests).append_column(COUNTS, _told(counts, batch.num_rows))


def only_digests(
    folder: str, key: list[Flag], needed: list[str], values: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The digest of the key of each row, its values, and counts in the last row of each batch; nothing else of rows."""
    _folder.check(folder)
    for batch in batches:
        if batch.num_rows:
            table, counts = _vesica.key_digests(key, values, batch.select(needed))
            digests, *columns = _columns(table)
            names = [DIGEST, COUNTS, *(value(place) for place in range(len(columns)))]
            yield pa.record_batch([digests, _told(counts, batch.num_rows), *columns], names=names)


def with_buckets(folder: str, division: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Digests, and what stands beside them, with their buckets."""
    _folder.check(folder)
    for batch in batches:
        if batch.num_rows:
            (buckets,) = _columns(_vesica.bucket_numbers(division, batch.select([DIGEST])))
            yield batch.append_column("bucket", buckets)


def tickets(wave: int, number: int) -> str:
    """The file with the tickets of a worker: nobody else needs them, and no plan or log of Spark shall have them."""
    return f"tickets/{wave}-{number}.json"


def run(folder: str, wave: int, cores: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs the tickets of the worker whose number comes in, of which there is one in each task."""
    _folder.check(folder)
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        ran: list[tuple[dict[str, Any], _vesica.RanTicket | None]] = []
        absent: str | None = None
        for bucket, attempt, ticket in json.loads(_folder.read(folder, tickets(wave, number))):
            outcome: dict[str, Any] = {"bucket": bucket, "attempt": attempt, "failure": absent}
            done = None
            began = time.monotonic()
            try:
                if absent is None:
                    done = _vesica.run_ticket(ticket, keys_of(folder, bucket), cores)
            except Error as error:
                # No failure of the task: Spark would run the same tickets again, each of which is good for one run.
                outcome["failure"] = json.dumps([error.exit_code, error.fault, error.mend])
                if isinstance(error, PeerAbsent) and time.monotonic() - began > LONG_WAIT:
                    absent = outcome["failure"]
            ran.append((outcome, done))
        # Only now is looked at what matched: a partner could time when the next bucket begins.
        for outcome, done in ran:
            if done is not None:
                outcome["transcript"], outcome["learned"] = done.open()
            yield pa.RecordBatch.from_pylist([outcome], schema=_OUTCOMES)


def matches(folder: str, attempts: dict[int, int], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The digests that matched in the buckets whose numbers come in."""
    _folder.check(folder)
    for bucket in (bucket for batch in batches for bucket in batch.column(0).to_pylist()):
        bits = _folder.read(folder, f"matches/{bucket}-{attempts[bucket]}.bits")
        digests = keys_of(folder, bucket).column(DIGEST)
        # From the lowest bit of each byte, as Arrow has them.
        matched = pa.Array.from_buffers(pa.bool_(), len(digests), [None, pa.py_buffer(bits)])
        yield from pa.table({DIGEST: digests.filter(matched)}).to_batches()


def keys_of(folder: str, bucket: int) -> pa.Table:
    """The digests of a bucket with their values, in ascending order: the same one whenever they are read."""
    tables = [file.read() for file in _folder.parquet_files(f"{folder}/buckets/bucket={bucket}")]
    return pa.concat_tables(tables).sort_by(DIGEST) if tables else pa.table({DIGEST: pa.array([], pa.binary())})


def count_rows(folder: str, names: list[str]) -> list[int]:
    """How many rows each of these tables of the run has, by the footers of its files."""

    def count(name: str) -> int:
        return sum(file.metadata.num_rows for file in _folder.parquet_files(f"{folder}/{name}"))

    files, path = _folder.filesystem(folder)
    if files.get_file_info(path).type != pyarrow.fs.FileType.Directory:
        fault = f"this program does not see what the executors wrote to {folder}"
        raise OutputError(fault, "name a directory with work= that it and all executors read and write")

    # Files of a store far away take their time.
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(count, names))


def _told(counts: str, rows: int) -> pa.Array:
    return pa.array([None] * (rows - 1) + [counts], pa.string())


def _columns(table: Any) -> list[pa.Array]:
    columns = pa.table(table).columns
    return [column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column for column in columns]

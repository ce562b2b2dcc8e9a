"""What executors do. Every function here runs in a task of Spark, on batches of Arrow."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from vesica import _vesica
from vesica._errors import Error
from vesica._flags import Flag

# Columns that vesica adds to the rows of a run.
DIGEST = "__vesica_digest"
COUNTS = "__vesica_counts"

# What a task of a wave returns.
OUTCOMES = "bucket int, attempt int, transcript string, bits binary, failure string"

_OUTCOMES = pa.schema(
    [
        ("bucket", pa.int32()),
        ("attempt", pa.int32()),
        ("transcript", pa.string()),
        ("bits", pa.binary()),
        ("failure", pa.string()),
    ]
)


def with_digests(key: list[Flag], on: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with the digest of their key, and with counts in the last row of each batch."""
    for batch in batches:
        if batch.num_rows == 0:
            continue
        table, counts = _vesica.key_digests(key, batch.select(on))
        digests = _only_column(table)
        told = pa.array([None] * (batch.num_rows - 1) + [counts], pa.string())
        yield batch.append_column(DIGEST, digests).append_column(COUNTS, told)


def with_buckets(division: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Digests with their buckets."""
    for batch in batches:
        if batch.num_rows:
            buckets = _only_column(_vesica.bucket_numbers(division, batch))
            yield pa.record_batch([batch.column(0), buckets], names=[DIGEST, "bucket"])


def run(
    tickets: list[tuple[int, int, str]], folder: str, cores: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Runs the tickets whose numbers come in, of which there is one in each task."""
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        bucket, attempt, ticket = tickets[number]
        outcome: dict[str, Any] = {"bucket": bucket, "attempt": attempt}
        try:
            transcript, bits = _vesica.run_ticket(ticket, digests_of(folder, bucket), cores)
            outcome.update(transcript=transcript, bits=bits)
        except Error as error:
            # No failure of the task: Spark would run the same ticket again, which is good for one run.
            outcome.update(failure=json.dumps([error.exit_code, error.fault, error.mend]))
        yield pa.RecordBatch.from_pylist([outcome], schema=_OUTCOMES)


def matches(folder: str, attempts: dict[int, int], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The digests that matched in the buckets whose numbers come in."""
    for bucket in (bucket for batch in batches for bucket in batch.column(0).to_pylist()):
        bits = read(folder, f"matches/{bucket}-{attempts[bucket]}.bits")
        digests = digests_of(folder, bucket).column(0)
        # From the lowest bit of each byte, as Arrow has them.
        matched = pa.Array.from_buffers(pa.bool_(), len(digests), [None, pa.py_buffer(bits)])
        yield from pa.table({DIGEST: digests.filter(matched)}).to_batches()


def digests_of(folder: str, bucket: int) -> pa.Table:
    """The digests of a bucket in ascending order: the same one whenever they are read."""
    files, path = _filesystem(f"{folder}/buckets/bucket={bucket}")
    selector = pyarrow.fs.FileSelector(path, allow_not_found=True)
    names = sorted(info.path for info in files.get_file_info(selector) if info.path.endswith(".parquet"))
    tables = [pyarrow.parquet.ParquetFile(files.open_input_file(name)).read([DIGEST]) for name in names]
    return pa.concat_tables(tables).sort_by(DIGEST) if tables else pa.table({DIGEST: pa.array([], pa.binary())})


def read(folder: str, name: str) -> bytes:
    """A small file of the run."""
    files, path = _filesystem(f"{folder}/{name}")
    with files.open_input_file(path) as file:
        return bytes(file.readall())


def write(folder: str, name: str, content: bytes) -> None:
    """Writes a small file of the run: whole, or not at all under this name."""
    files, path = _filesystem(f"{folder}/{name}")
    files.create_dir(path.rpartition("/")[0], recursive=True)
    with files.open_output_stream(f"{path}.part") as stream:
        stream.write(content)
    if isinstance(files, pyarrow.fs.LocalFileSystem):
        with open(f"{path}.part", "rb") as file:
            os.fsync(file.fileno())
    files.move(f"{path}.part", path)


def _filesystem(uri: str) -> tuple[Any, str]:
    # Hadoop's name of the same store.
    for theirs, ours in (("s3a://", "s3://"), ("s3n://", "s3://")):
        if uri.startswith(theirs):
            uri = ours + uri[len(theirs) :]
    found: tuple[Any, str] = pyarrow.fs.FileSystem.from_uri(uri)
    return found


def _only_column(table: Any) -> pa.Array:
    column = pa.table(table).column(0)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

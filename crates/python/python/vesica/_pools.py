"""What the engine needs of a system that runs tasks on many machines, such as Spark or Dask."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable

from vesica._errors import Error

if TYPE_CHECKING:
    import pyarrow as pa

# Reads a part of the table batch by batch, and says what came of it.
Scan = Callable[[Iterator["pa.RecordBatch"]], "dict[str, Any]"]
# Does the work of this number, and says what came of it.
Work = Callable[[int], "dict[str, Any]"]


class Pool:
    """A table on many machines, and these machines.

    Work is a function that can be pickled. A system may do it twice, at the same time or one after the other, if a machine
    is lost or slow: all work of ours is written so that this makes no difference.
    """

    # What users call the table.
    table_name: str
    # What they call the system.
    name: str

    # The names of all columns.
    columns: list[str]

    def refuse_open_link(self) -> None:
        """Refuses a link to the machines that everybody on the way can read and change."""

    def refuse_columns(self) -> None:
        """Refuses names of columns that the system could not tell apart in a result."""

    def schema(self, needed: Sequence[str]) -> pa.Schema:
        """The types of these columns, as tasks see them."""
        raise NotImplementedError

    def slots(self) -> int:
        """How many tasks run at once."""
        raise NotImplementedError

    def cores(self) -> int:
        """How many cores a task has."""
        raise NotImplementedError

    def driver_host(self) -> str:
        """The host of this program as the machines know it."""
        raise NotImplementedError

    def make_folder(self, folder: str) -> None:
        """Makes the folder of a run."""
        raise NotImplementedError

    def job(self) -> contextlib.AbstractContextManager[Any]:
        """What stands around the tasks of a job, in the thread that starts them."""
        return contextlib.nullcontext()

    def scan(self, needed: Sequence[str] | None, work: Scan) -> list[dict[str, Any]]:
        """Does this work on each part of the table; with these columns, or with all of them."""
        raise NotImplementedError

    def each(self, numbers: int, at_once: int, work: Work) -> list[dict[str, Any]]:
        """Does this work for each of `range(numbers)`, in so many tasks."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Ends what runs."""
        raise NotImplementedError

    def readable(self) -> Callable[[pa.Table, int], pa.Table]:
        """Brings the partner's columns, which stand behind so many own ones, to types and names that this system reads."""
        raise NotImplementedError

    def plain(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Brings own rows to what they are in a union."""
        return _as_it_is

    def result(self, uri: str, own: int, keys: Sequence[str] | None = None) -> Any:
        """The table in the Parquet files there: so many own columns, and the partner's behind them.

        In a union, own columns but those of `keys` may miss values that they had not missed before.
        """
        raise NotImplementedError

    def numbers(self, table: pa.Table) -> Any:
        """A small table of numbers."""
        raise NotImplementedError

    def said_by(self, error: BaseException) -> Error | None:
        """Our own error that a task has raised, where the system has made another one of it."""
        return error if isinstance(error, Error) else None


def _as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch

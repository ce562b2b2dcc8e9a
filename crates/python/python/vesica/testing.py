"""The other side of a run in this process, so that a notebook or a test can try both alone."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from vesica import _vesica
from vesica._tasks import _run

__all__ = ["Partner", "partner"]


class _Ended(Exception):
    """The block of a partner ended before its run."""


class Partner(Mapping[str, str]):
    """A side that runs in the background. As a mapping it is what your side needs to reach it: `**them`.

    `result` and `report` are there when the block has ended without an error.
    """

    def __init__(self, table: Any, on: Any, role: str, task: str, settings: dict[str, Any]) -> None:
        self.result: Any = None
        self.report: dict[str, Any] | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="vesica-"))
        ours, theirs = (str(self._folder / name) for name in ("ours.key", "theirs.key"))
        self._reach = {"peer": _vesica.new_identity(theirs), "identity": ours}
        settings = {"progress": False, **settings, "with_report": True, "listen": "127.0.0.1:0"}
        settings.update(peer=_vesica.new_identity(ours), identity=theirs)
        settings["progress"] = self._watch(settings["progress"])
        self._error: BaseException | None = None
        self._has_ended = False
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._play, args=(task, table, on, role, settings), daemon=True)

    def _watch(self, progress: Any) -> Any:
        def watch(value: dict[str, Any]) -> None:
            if self._has_ended:
                raise _Ended
            if callable(progress):
                progress(value)

        return watch

    def _play(self, task: str, table: Any, on: Any, role: str, settings: dict[str, Any]) -> None:
        try:
            if type(table).__module__.startswith("pyspark.sql"):
                from vesica import spark

                self.result, self.report = spark.run(task, table, on, role, settings, self._tell)
            elif type(table).__module__.startswith("dask."):
                from vesica import dask

                self.result, self.report = dask.run(task, table, on, role, settings, self._tell)
            else:
                self.result, self.report = _run(task, table, on, role, settings, self._tell)
        except BaseException as error:
            self._error = error
        finally:
            self._listening.set()

    def _tell(self, address: str) -> None:
        self._reach["connect"] = address
        self._listening.set()

    def __getitem__(self, name: str) -> str:
        return self._reach[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._reach)

    def __len__(self) -> int:
        return len(self._reach)

    def __enter__(self) -> Partner:
        self._thread.start()
        self._listening.wait()
        if self._error is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise self._error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A run that nobody joins ends when `wait` has passed; after an error, nobody will join it.
        self._has_ended = error is not None
        self._thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)
        if error is None and self._error is not None:
            raise self._error
        if error is not None and self._error is not None and not isinstance(self._error, _Ended):
            # What went wrong over there is told here by its class alone, and nobody else sees the rest.
            error.__cause__ = error.__cause__ or self._error


def partner(table: Any, *, on: Any = None, role: str, task: str = "intersect", **settings: Any) -> Partner:
    """The other side of a run, over TLS on the loopback interface, with throw-away identities. `table` may be a DataFrame of
    Spark or Dask, as `vesica.spark.intersect` and `vesica.dask.intersect` take it.

    Use it as a context: what it yields gives your side the arguments `connect`, `peer` and `identity`.

    >>> import vesica
    >>> with partner(["b", "c"], role="receiver") as them:
    ...     vesica.intersect(["a", "b"], role="sender", **them)
    >>> them.result
    ['b']
    """
    return Partner(table, on, role, task, settings)

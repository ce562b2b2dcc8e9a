"""Runs that go on in a thread while a program of asyncio does something else."""

from __future__ import annotations

import contextlib
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


async def to_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls one of vesica's functions in a thread of its own, as asyncio.to_thread does::

        matches = await vesica.to_thread(vesica.intersect, df, on="email", role="receiver", ...)

    When the task that awaits it is cancelled, the run ends, and the partner is told.
    """
    # It takes as long to import as the rest of vesica, and few need it.
    import asyncio

    cancel: Any = kwargs.setdefault("cancel", threading.Event())
    threads = ThreadPoolExecutor(1, "vesica")
    run = asyncio.get_running_loop().run_in_executor(threads, functools.partial(function, *args, **kwargs))
    try:
        return await asyncio.shield(run)
    except asyncio.CancelledError:
        cancel.set()
        # Why the run ended is known.
        with contextlib.suppress(Exception):
            await run
        raise
    finally:
        threads.shutdown(wait=False)

"""The functions of vesica for programs of asyncio: each is awaited, and the loop goes on while it runs.

>>> import asyncio
>>> from vesica import aio
>>> from vesica.testing import partner
>>> async def main():
...     with partner(["b@x.org", "c@x.org"], role="sender") as them:
...         return await aio.intersect(["a@x.org", "b@x.org"], role="receiver", **them)
>>> asyncio.run(main())
['b@x.org']

When the task that awaits a run is cancelled, the run ends, and the partner is told. Several runs may go on side by side, each in a
thread of its own.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import vesica
from vesica._threads import to_thread

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from typing_extensions import ParamSpec, Unpack

    from vesica._settings import QuerySettings

    P = ParamSpec("P")

T = TypeVar("T")

__all__ = [
    "Client",
    "cardinality",
    "intersect",
    "join_and_compute",
    "shares",
    "sum",
    "union",
    "union_cardinality",
    "union_sum",
]


def _awaited(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    @functools.wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await to_thread(function, *args, **kwargs)

    return run


cardinality = _awaited(vesica.cardinality)
intersect = _awaited(vesica.intersect)
join_and_compute = _awaited(vesica.join_and_compute)
shares = _awaited(vesica.shares)
sum = _awaited(vesica.sum)
union = _awaited(vesica.union)
union_cardinality = _awaited(vesica.union_cardinality)
union_sum = _awaited(vesica.union_sum)


class Client:
    """Asks a server which rows of a small table have a key that its table has too, as vesica.Client does."""

    def __init__(self, **settings: Unpack[QuerySettings]) -> None:
        self._client = vesica.Client(**settings)

    async def query(self, table: Any, **settings: Any) -> Any:
        """The rows whose key the server has, as vesica.Client.query gives them."""
        return await to_thread(self._client.query, table, **settings)

"""The recurrent service: a server that keeps answering clients about one table."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from vesica import _vesica
from vesica._errors import at_the_call
from vesica._events import Progress, Teller, heard
from vesica._flags import described, flags, key_flags, refuse_unknown, with_names
from vesica._frames import adapt
from vesica._look import key_columns, needed

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from vesica._settings import QuerySettings, ServeSettings


class Server:
    """Keeps answering many clients about a table, on threads of its own, until it is stopped.

    `table`, `on` and `normalise` are as for a run. Other arguments are flags of `vesica serve`, such as `listen`,
    `clients`, `identity`, `payload`, `quota`, `state`. `quota` and `state` must be given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     settings = {"listen": "127.0.0.1:0", "quota": "1000/day", "state": folder + "/deny.state"}
    ...     with Server([1, 2, 3], insecure_plaintext=True, **settings) as server:
    ...         Client(connect=server.address, insecure_plaintext=True).query([3, 4])
    [3]
    """

    @at_the_call
    @described("serve")
    def __init__(self, table: Any, *, on: Any = None, normalise: Any = None, **settings: Unpack[ServeSettings]) -> None:
        refuse_unknown(settings, "serve")
        frame = adapt(table, on)
        self._on = on
        keys, named = key_columns(frame, on), with_names(settings, "serve", frame.named)
        self._needed = needed(frame, keys, None, named)
        given = [*key_flags(keys, None, normalise, frame.named), *flags(named)]
        self._server = _vesica.Server.start(given, frame.native(self._needed), Teller(progress=False))

    @property
    def address(self) -> str:
        """The address at which it listens."""
        return self._server.address

    @property
    def metrics(self) -> str | None:
        """The address of the metrics page."""
        return self._server.metrics

    @property
    def protocol(self) -> str:
        """The protocol's id."""
        return self._server.protocol

    @property
    def is_running(self) -> bool:
        """Whether it still answers."""
        return self._server.is_running

    @at_the_call
    def reload(self, table: Any) -> tuple[int, int]:
        """Serves these rows from now on. Returns how many keys there were before, and are now.

        Clients fetch what has changed. If the table does not fit what they were told of it, an error is raised, and
        the rows before are still served.
        """
        return self._server.reload(adapt(table, self._on).native(self._needed))

    @at_the_call
    def rotate(self) -> None:
        """Prepares the table under a new secret key."""
        self._server.rotate()

    def stop(self) -> None:
        """Stops it. Clients that are waiting for an answer get it first."""
        self._server.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Client:
    """Asks a server which rows of a small table have a key that its table has too.

    Arguments are flags of `vesica query`, such as `connect`, `peer`, `identity`, `state`, `trust_server`.
    """

    @at_the_call
    @described("query")
    def __init__(self, **settings: Unpack[QuerySettings]) -> None:
        refuse_unknown(settings, "query")
        self._settings = settings

    @at_the_call
    @described("query")
    def query(
        self,
        table: Any,
        *,
        on: Any = None,
        normalise: Any = None,
        progress: Progress = None,
        with_report: bool = False,
        cancel: threading.Event | None = None,
        **settings: Unpack[QuerySettings],
    ) -> Any:
        """The rows whose key the server has, with the columns that it gives. Each call is a query of its own."""
        refuse_unknown(settings, "query")
        frame = adapt(table, on)
        on = key_columns(frame, on)
        teller = Teller(progress, cancel=cancel)
        given = [*key_flags(on, None, normalise, frame.named), *flags({**self._settings, **settings})]
        native = frame.native(on)
        outcome, report = heard(lambda tell: _vesica.query(given, native, tell), teller)
        return (frame.rows(outcome), report) if with_report else frame.rows(outcome)

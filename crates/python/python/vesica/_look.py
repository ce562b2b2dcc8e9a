"""What needs no partner: plans, the list of protocols, and a look at a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vesica import _vesica
from vesica._errors import UsageError
from vesica._events import Teller
from vesica._flags import columns, flags, key_flags, keys
from vesica._frames import Frame, adapt

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from vesica._settings import CheckSettings, PlanSettings


def key_columns(frame: Frame, on: Any) -> list[str]:
    """The columns of the key."""
    names = columns(on) if frame.on is None else frame.on
    if not names:
        raise UsageError("no key column is named", 'say on="COLUMN", or on=["COLUMN", "COLUMN"]')
    return names


def needed(on: list[str], or_on: Any, settings: Mapping[str, Any]) -> list[str]:
    """The columns that a run reads, if the table has them."""
    others = [name for key in keys(or_on) for name in key]
    return [*on, *others, *columns(settings.get("payload")), *columns(settings.get("group_by"))]


def plan(
    *, sender_items: float, receiver_items: float, task: str = "intersect", **settings: Unpack[PlanSettings]
) -> dict[str, Any]:
    """Predicts time, traffic, memory and price of a run for each protocol, and which one is chosen.

    Other arguments are flags of `vesica plan`, such as `link="100mbit,40ms"`, `security`, `payload_bytes`.

    >>> plan(sender_items=1e6, receiver_items=1e6, link="1gbit,10ms")["choice"]
    'vole-fast'
    """
    what = {"task": task.replace("_", "-"), "sender_items": sender_items, "receiver_items": receiver_items}
    found: dict[str, Any] = json.loads(_vesica.plan(flags({**what, **settings}), Teller(progress=False)))
    return found


def protocols(name: str | None = None) -> list[dict[str, Any]]:
    """All protocols with their security, assumptions and leakage; or those of a name, paper or task.

    >>> [protocol["id"] for protocol in protocols("KKRT16")]
    ['kkrt16', 'oprf-kkrt16']
    """
    found: list[dict[str, Any]] = json.loads(_vesica.protocols(name))
    return found


def check(
    table: Any, *, on: Any = None, or_on: Any = None, normalise: Any = None, **settings: Unpack[CheckSettings]
) -> dict[str, Any]:
    """Inspects the key columns of a table: nulls, duplicates, and what normalisers make of the keys. Sends nothing.

    Other arguments are flags of `vesica check`, such as `task`, `side`, `payload`, `show_keys`.

    >>> profile = check([{"email": "A@x.org "}, {"email": None}], on="email", normalise={"email": "email"})
    >>> profile["keys"]["distinct"], profile["keys"]["null_rows"]
    (1, 1)
    """
    frame = adapt(table, on)
    on = key_columns(frame, on)
    native = frame.native(needed(on, or_on, settings))
    found: dict[str, Any] = json.loads(_vesica.check([*key_flags(on, or_on, normalise), *flags(settings)], native))
    return found

"""What needs no partner: plans, the list of protocols, and a look at a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vesica import _vesica
from vesica._errors import UsageError, at_the_call
from vesica._events import Teller
from vesica._flags import columns, described, flags, key_flags, keys, refuse_unknown, with_names
from vesica._frames import Frame, adapt

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from vesica._settings import CheckSettings, PlanSettings


def key_columns(frame: Frame, on: Any) -> list[str]:
    """The columns of the key."""
    names = columns(on, frame.named) if frame.on is None else frame.on
    if not names:
        raise UsageError("no key column is named", 'say on="COLUMN", or on=["COLUMN", "COLUMN"]')
    return names


def needed(frame: Frame, on: list[str], or_on: Any, settings: Mapping[str, Any]) -> list[str]:
    """The columns that a run reads, if the table has them."""
    others = [name for key in keys(or_on, frame.named) for name in key]
    return [*on, *others, *columns(settings.get("payload")), *columns(settings.get("group_by"))]


@at_the_call
@described("plan")
def plan(
    *, sender_items: float, receiver_items: float, task: str = "intersect", **settings: Unpack[PlanSettings]
) -> dict[str, Any]:
    """Predicts time, traffic, memory and price of a run for each protocol, and which one is chosen.

    Other arguments are flags of `vesica plan`, such as `link="100mbit,40ms"`, `security`, `payload_bytes`.

    >>> plan(sender_items=1e6, receiver_items=1e6, security="semi-honest", link="1gbit,10ms")["choice"]
    'vole-fast'
    """
    refuse_unknown(settings, "plan")
    what = {"task": task.replace("_", "-"), "sender_items": sender_items, "receiver_items": receiver_items}
    found: dict[str, Any] = json.loads(_vesica.plan(flags({**what, **settings}), Teller(progress=False)))
    return found


@at_the_call
def protocols(name: str | None = None) -> list[dict[str, Any]]:
    """All protocols with their security, assumptions and leakage; or those of a name, paper or task.

    >>> [protocol["id"] for protocol in protocols("CGT12")]
    ['ecdh-ca-cgt12']
    """
    found: list[dict[str, Any]] = json.loads(_vesica.protocols(name))
    return found


@at_the_call
@described("check")
def check(
    table: Any, *, on: Any = None, or_on: Any = None, normalise: Any = None, **settings: Unpack[CheckSettings]
) -> dict[str, Any]:
    """Inspects the key columns of a table: nulls, duplicates, and what normalisers make of the keys. Sends nothing.

    Other arguments are flags of `vesica check`, such as `task`, `side`, `payload`, `show_keys`.

    >>> profile = check([{"email": "A@x.org "}, {"email": None}], on="email", normalise={"email": "email"})
    >>> profile["keys"]["distinct"], profile["keys"]["null_rows"]
    (1, 1)
    """
    refuse_unknown(settings, "check")
    frame = adapt(table, on)
    on, named = key_columns(frame, on), with_names(settings, "check", frame.named)
    native = frame.native(needed(frame, on, or_on, named))
    given = [*key_flags(on, or_on, normalise, frame.named), *flags(named)]
    found: dict[str, Any] = json.loads(_vesica.check(given, native))
    return found


@at_the_call
def receipt(file: Any, *, peer: Any = None, commits: Any = None) -> dict[str, Any]:
    """Reads a receipt that either side of a run has written, and checks its two signatures.

    Returns the receipt as a dictionary, as `vesica receipt --json` prints it. A receipt that is not valid raises a
    `vesica.IdentityError`.

    `file`: the file that `receipt=` of a run named.
    `peer`: a public key that the receipt must name: a partner's name in your file of partners, a `.pub` file, or its line.
    `commits`: of a run on a cluster, the folder `commits` in the folder of the run: what both sides signed of its waves.
    """
    found: dict[str, Any] = json.loads(_vesica.receipt(file, flags({"peer": peer, "commits": commits})))
    return found


@at_the_call
def show_identity(path: Any = None, passphrase_file: Any = None, *, peer: Any = None) -> dict[str, Any]:
    """What there is to say of a key, as `vesica identity show --json` prints it: the public line and its fingerprint,
    whether the private key is encrypted, which keys it replaces and which replace it, and which of them are revoked.

    `path`: the private key, by default your own, which is made on first use. The public line of an encrypted one is
    taken from the `.pub` file beside it, unless `passphrase_file` names a file whose first line opens it.
    `peer`: your partner instead: a name in your file of partners, a `.pub` file, or its line.
    """
    found: dict[str, Any] = json.loads(_vesica.show_identity(path, passphrase_file, peer))
    return found

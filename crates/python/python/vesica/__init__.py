"""Private set operations between two tables that stay where they are.

Each side calls the same function on its own table. The receiver learns the result, and the sender nothing but how
many keys the receiver has:

>>> import vesica
>>> from vesica.testing import partner
>>> with partner([{"mail": "b@x.org"}, {"mail": "c@x.org"}], on="mail", role="sender") as them:
...     vesica.intersect([{"email": "a@x.org"}, {"email": "b@x.org"}], on="email", role="receiver", **them)
[{'email': 'b@x.org'}]

`partner` stands for the other organisation here, in this process. With a real one, name its key and its address::

    vesica.intersect(df, on="email", role="receiver", peer="them.pub", connect="partner.example:7400")

A table is a pandas, polars or pyarrow table, a DuckDB relation, any other object of the Arrow PyCapsule interface,
a dictionary of lists, a list of dictionaries, or a list of keys. The result is of the same type, in the order of its
rows.
"""

from vesica._errors import (
    Cancelled,
    Error,
    IdentityError,
    InputError,
    InternalError,
    LinkError,
    OutputError,
    PeerAbsent,
    PeerFailed,
    PeerMisbehaved,
    Refused,
    SettingsDiffer,
    UsageError,
    VesicaWarning,
)
from vesica._look import check, plan, protocols, receipt, show_identity
from vesica._service import Client, Server
from vesica._tasks import (
    cardinality,
    dry_run,
    intersect,
    join_and_compute,
    shares,
    sum,
    union,
    union_cardinality,
    union_sum,
)
from vesica._threads import to_thread
from vesica._vesica import (
    __version__,
    accept_identity,
    change_passphrase,
    new_identity,
    own_identity,
    revoke_identity,
    rotate_identity,
)

__all__ = [
    "Cancelled",
    "Client",
    "Error",
    "IdentityError",
    "InputError",
    "InternalError",
    "LinkError",
    "OutputError",
    "PeerAbsent",
    "PeerFailed",
    "PeerMisbehaved",
    "Refused",
    "Server",
    "SettingsDiffer",
    "UsageError",
    "VesicaWarning",
    "__version__",
    "accept_identity",
    "cardinality",
    "change_passphrase",
    "check",
    "dry_run",
    "intersect",
    "join_and_compute",
    "new_identity",
    "own_identity",
    "plan",
    "protocols",
    "receipt",
    "revoke_identity",
    "rotate_identity",
    "shares",
    "show_identity",
    "sum",
    "to_thread",
    "union",
    "union_cardinality",
    "union_sum",
]

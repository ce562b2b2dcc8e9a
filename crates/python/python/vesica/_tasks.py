"""One function for each task."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from vesica._errors import UsageError, at_the_call
from vesica._events import Progress, Teller, heard
from vesica._flags import SIDES, described, flags, key_flags, refuse_unknown, with_names
from vesica._frames import Frame, adapt
from vesica._look import key_columns, needed
from vesica._vesica import Outcome, join

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from vesica._settings import Role, RunSettings

F = TypeVar("F", bound=Callable[..., Any])

_COMMON = """
    Arguments of all tasks:

    `table`: a pandas, polars or pyarrow table, a DuckDB relation, any other object of the Arrow PyCapsule interface,
    a dictionary of lists, a list of dictionaries, or (without `on`) a list of keys.
    `on`: the key column, or a list of them in the same order as the partner's; names may differ.
    `or_on`: another key, as `on` names one, or a list of such lists: rows match by either.
    `role`: "receiver" or "sender".
    `peer`: the partner: its name in your file of partners, or its public key (the `.pub` file, or its line).
    `normalise`: what brings the values of a key column to one form, such as {"email": "email"}; docs/keys.md.

    Settings have the names of the command line's flags, with `_` for `-`; `vesica receive --help` and
    `vesica send --help` say more of each. Lists of names are lists, and `COLUMN=VALUE` is a dictionary:
    scale={"amount": 2}, clamp={"amount": (0, 500)}.

    Failures raise a `vesica.Error`.
"""


def _documented(function: F) -> F:
    function.__doc__ = (function.__doc__ or "").rstrip() + "\n" + _COMMON
    return at_the_call(described(*SIDES.values())(function))


def refuse_role(role: Any) -> None:
    """Refuses a role that there is not."""
    if role not in SIDES:
        near = get_close_matches(str(role), SIDES, 1)
        mend = f'did you mean "{near[0]}"?' if near else 'say role="receiver" or role="sender"'
        raise UsageError(f"there is no role {role!r}", mend)


@_documented
def intersect(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Tells the receiver which rows of its table have a key that the sender has too.

    Returns the receiver's rows, in their order, with the columns that the sender gives (`payload`) behind them; and
    `None` on the sender's side, unless both say `both_learn=True`. join="left" gives all rows of the receiver, with
    nulls where the sender does not have the key; join="difference" gives the rows that the sender does not have.

    >>> from vesica.testing import partner
    >>> theirs = {"mail": ["b@x.org", "c@x.org"], "segment": ["gold", "silver"]}
    >>> with partner(theirs, on="mail", role="sender", payload=["segment"]) as them:
    ...     intersect({"email": ["a@x.org", "b@x.org"]}, on="email", role="receiver", **them)
    {'email': ['b@x.org'], 'segment': ['gold']}
    """
    return _run("intersect", table, on, role, settings)


@_documented
def union(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Gives the receiver all its rows, and a row for each key that only the sender has.

    >>> from vesica.testing import partner
    >>> with partner([1, 2, 3], role="sender", task="union", security="semi-honest") as them:
    ...     sorted(union([3, 4], role="receiver", security="semi-honest", **them))
    [1, 2, 3, 4]
    """
    return _run("union", table, on, role, settings)


@_documented
def cardinality(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Tells the receiver how many keys both sides have.

    Returns an integer; with `group_by`, a table with a row for each value of that column of the receiver.

    >>> from vesica.testing import partner
    >>> with partner(range(0, 100, 2), role="sender", task="cardinality", security="semi-honest") as them:
    ...     cardinality(range(0, 100, 3), role="receiver", security="semi-honest", **them)
    17
    """
    return _run("cardinality", table, on, role, settings)


@_documented
def sum(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Tells the receiver the sum of each column of the sender's `payload` over the keys that both sides have.

    Returns a table of one row; with `group_by`, of a row for each value of that column of the receiver.

    >>> from vesica.testing import partner
    >>> theirs = {"id": [1, 2, 3], "amount": [10, 20, 30]}
    >>> with partner(theirs, on="id", role="sender", task="sum", payload=["amount"], security="semi-honest") as them:
    ...     sum({"id": [2, 3, 4]}, on="id", role="receiver", security="semi-honest", **them)["amount"]
    [50]
    """
    return _run("sum", table, on, role, settings)


@_documented
def join_and_compute(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Tells the receiver the sum, over the keys that both sides have, of its column times each of the sender's.

    Each side names its columns with `payload`: the receiver one, the sender one or more. Returns a table of one row;
    with `group_by`, of a row for each value of that column of the receiver.
    """
    return _run("join-and-compute", table, on, role, settings)


@_documented
def union_cardinality(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Tells the receiver how many different keys the two tables have together. Returns an integer.

    >>> from vesica.testing import partner
    >>> with partner([1, 2, 3], role="sender", task="union-cardinality", security="semi-honest") as them:
    ...     union_cardinality([3, 4], role="receiver", security="semi-honest", **them)
    4
    """
    return _run("union-cardinality", table, on, role, settings)


@_documented
def union_sum(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Tells the receiver sums over the keys of both tables, in which each key counts once.

    Returns a table of one row, with a sum for each pair of columns that the two sides name with `payload`.
    """
    return _run("union-sum", table, on, role, settings)


@_documented
def shares(table: Any, *, on: Any = None, role: Role, **settings: Unpack[RunSettings]) -> Any:
    """Gives each side one half of a secret sharing of the join: which keys are common, and the columns of `payload`.

    Returns the bytes of a file of shares, which docs/shares-format.md describes. One half says nothing.
    """
    return _run("shares", table, on, role, settings)


@_documented
def dry_run(
    table: Any, *, on: Any = None, role: Role, task: str = "intersect", **settings: Unpack[RunSettings]
) -> dict[str, Any]:
    """Tries all of a run up to the exchange of sizes, if the partner does so too.

    Returns a dictionary: `ok`, the faults of the table, an estimate of time and bytes for `expect_peer_items` keys of
    the partner, and what a run would reveal.
    """
    found: dict[str, Any] = _run(task, table, on, role, {**settings, "dry_run": True})
    return found


def _run(
    task: str,
    table: Any,
    on: Any,
    role: str,
    given: Mapping[str, Any],
    listening: Callable[[str], None] | None = None,
) -> Any:
    settings = dict(given)
    with_report = settings.pop("with_report", False)
    progress: Progress = settings.pop("progress", None)
    cancel = settings.pop("cancel", None)
    or_on, normalise = settings.pop("or_on", None), settings.pop("normalise", None)
    refuse_role(role)
    refuse_unknown(settings, SIDES[role])
    frame = adapt(table, on)
    task = task.replace("_", "-")
    frame.check(task)
    on, settings = key_columns(frame, on), with_names(settings, SIDES[role], frame.named)
    group_by = settings.get("group_by")
    native = frame.native(needed(frame, on, or_on, settings))
    teller = Teller(progress, listening, cancel)
    spoken = [("task", task), *key_flags(on, or_on, normalise, frame.named), *flags(settings)]
    outcome, report = heard(lambda tell: join(SIDES[role], spoken, native, tell), teller)
    if outcome.is_dry_run:
        return (report, report) if with_report else report
    result = _result(task, frame, outcome, on, has_groups=group_by is not None)
    return (result, report) if with_report else result


def _result(task: str, frame: Frame, outcome: Outcome, on: list[str], has_groups: bool) -> Any:
    if outcome.kind is None:
        return None
    if outcome.kind == "shares":
        return outcome.shares
    if outcome.kind == "rows":
        return frame.union(outcome, on) if task == "union" else frame.rows(outcome)
    if task in ("cardinality", "union-cardinality") and not has_groups:
        (counts,) = outcome.lists(0).values()
        return counts[0]
    return frame.numbers(outcome)

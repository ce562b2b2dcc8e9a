"""Shared by the tests: two sides of a run in one process, and the tables that they join."""

from __future__ import annotations

import os
import random
import tempfile
from typing import Any

import pytest

import vesica
from vesica.testing import partner

# Runs are logged in a folder of the tests, and not in the user's own.
_STATE = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = _STATE.name

# Tasks that no protocol of the registry computes against a malicious partner.
SEMI_HONEST = {"security": "semi-honest"}


def both(task: str, ours: Any, theirs: Any, **arguments: Any) -> Any:
    """The receiver's result. Arguments that begin with `their_` or `our_` are of one side."""
    sides = {"our_": {}, "their_": {}}
    shared = {}
    for name, value in arguments.items():
        side = next((side for side in sides if name.startswith(side)), None)
        if side is None:
            shared[name] = value
        else:
            sides[side][name[len(side) :]] = value
    function = getattr(vesica, task.replace("-", "_"))
    with partner(theirs, role="sender", task=task, **shared, **sides["their_"]) as them:
        return function(ours, role="receiver", progress=False, **shared, **sides["our_"], **them)


@pytest.fixture
def identities(tmp_path):
    """Two identities: arguments for our side and for the partner's."""
    lines = {name: vesica.new_identity(tmp_path / f"{name}.key") for name in ("us", "them")}
    us = {"identity": tmp_path / "us.key", "peer": lines["them"]}
    them = {"identity": tmp_path / "them.key", "peer": lines["us"]}
    return us, them


def columns(rows: int, seed: int) -> dict[str, list]:
    """A table with repeated keys, keys without a value, numbers and text."""
    source = random.Random(seed)
    return {
        "id": [source.choice([None, *range(rows)]) if row else 0 for row in range(rows)],
        "email": [f"user{source.randrange(rows)}@example.org" for _ in range(rows)],
        "amount": [source.randrange(-1000, 1000) for _ in range(rows)],
        "city": [source.choice(["Bonn", "Gent", "Århus", None]) for _ in range(rows)],
    }

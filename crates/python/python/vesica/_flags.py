"""Arguments of Python as flags of the command line, which say what they mean and what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from datetime import timedelta
from typing import Any, Optional, Tuple

from vesica._errors import UsageError

# A name, and a value or nothing.
Flag = Tuple[str, Optional[str]]


def columns(names: Any) -> list[str]:
    """Names of columns: of one, or of several in an order."""
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    has_order = isinstance(names, Iterable) and not isinstance(names, (bytes, Set, Mapping))
    several = list(names) if has_order else [names]
    for name in several:
        if not isinstance(name, str):
            raise UsageError(f"a {type(name).__name__} names no column", "give a str, or a list of them")
    return several


def keys(or_on: Any) -> list[list[str]]:
    """Further keys: one, as `on` names it, or a list of several, each of them a list."""
    if or_on is None:
        return []
    if not isinstance(or_on, str) and isinstance(or_on, Iterable):
        several = list(or_on)
        if several and all(not isinstance(key, str) for key in several):
            return [columns(key) for key in several]
        or_on = several
    return [columns(or_on)]


def flags(settings: Mapping[str, Any]) -> list[Flag]:
    """The flags of these settings. `None` and `False` are no flag, and `True` is a switch."""
    given: list[Flag] = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if hasattr(value, "item"):
            value = value.item()  # a number or truth value of numpy
        if value is None or value is False:
            continue
        if value is True:
            given.append((flag, None))
        else:
            given.extend((flag, text) for text in _values(name, value))
    return given


def key_flags(on: Any, or_on: Any, normalise: Any) -> list[Flag]:
    """The flags of a key."""
    given: list[Flag] = [("key", column) for column in columns(on)]
    given.extend(("or-key", _list(key)) for key in keys(or_on))
    if not isinstance(normalise, (Mapping, type(None))):
        raise UsageError("normalise= is no dictionary", 'say for which column, as in {"email": "trim,lower"}')
    for column, names in (normalise or {}).items():
        given.append(("normalise", f"{column}={','.join(columns(names))}"))
    return given


def _values(name: str, value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        return [f"{column}={_text(each)}" for column, each in value.items()]
    if name == "payload" or isinstance(value, (list, tuple)):
        names = columns(value)
        return [_list(names)] if names else []
    return [_text(value)]


def _list(names: Iterable[Any]) -> str:
    """Names with commas between them; one that has a comma or begins with a quote stands in quotes."""
    return ",".join(_quoted(str(name)) for name in names)


def _quoted(name: str) -> str:
    if "," not in name and not name.startswith('"'):
        return name
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str:
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return f"{value[0]}..{value[1]}"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)

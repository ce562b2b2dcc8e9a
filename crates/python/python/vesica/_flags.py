"""Arguments of Python as flags of the command line, which say what they mean and what is wrong with them."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Iterable, Mapping, Set
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, Callable, Literal, Optional, Tuple, TypeVar

from vesica import _vesica
from vesica._errors import UsageError, argument, in_python

F = TypeVar("F", bound=Callable[..., Any])

# A name, and a value or nothing.
Flag = Tuple[str, Optional[str]]

# Gives the text by which the engine knows the column that the caller names so, if it is not that text itself.
Named = Callable[[Any], Optional[str]]

# The commands of the two sides.
SIDES = {"receiver": "receive", "sender": "send"}

# Arguments that are Python's own.
_OWN = {
    "progress": "A function that hears how far the run is; True for a bar of tqdm, False for nothing.",
    "with_report": "Return a pair of the result and the report, a dictionary.",
    "cancel": "A threading.Event: when it is set, the run ends with vesica.Cancelled.",
}


@functools.lru_cache(None)
def known(command: str) -> dict[str, dict[str, Any]]:
    """The settings of a command by the names of their arguments, from the command line's own list."""
    return {argument(setting["name"]): setting for setting in json.loads(_vesica.settings(command))}


def refuse_unknown(settings: Iterable[str], command: str) -> None:
    """Refuses arguments that the command has no flag for."""
    for name in settings:
        if name in known(command):
            continue
        other = {"receive": "send", "send": "receive"}.get(command)
        if other is not None and name in known(other):
            role = next(role for role, named in SIDES.items() if named == other)
            raise UsageError(f"{name}= is for the {role}", f"omit it, or have the {role} say it")
        near = get_close_matches(name, [*known(command), *_OWN], 1)
        mend = f"did you mean {near[0]}=?" if near else "help() of the function lists all arguments"
        raise UsageError(f"there is no argument {name}=", mend)


def described(*commands: str) -> Callable[[F], F]:
    """Has a function show the settings of these commands as its arguments, to editors and to `help`."""

    def describe(function: F) -> F:
        signature = inspect.signature(function)
        shown = [given for given in signature.parameters.values() if given.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {given.name for given in shown}
        documented = (function.__doc__ or "").rstrip()
        texts = {}
        # What the first command says of a setting counts.
        settings = {name: setting for command in reversed(commands) for name, setting in known(command).items()}
        is_run = commands == tuple(SIDES.values())
        for name, setting in settings.items():
            if name not in names and name != "on" and not (is_run and name in ("task", "dry_run")):
                shown.append(_parameter(name, setting))
                texts[name] = _first_sentence(setting)
        if is_run:
            shown.extend(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _OWN)
            texts.update(_OWN)
        function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        listed = [f"    `{name}`: {text}\n" for name, text in texts.items() if f"`{name}`:" not in documented]
        function.__doc__ = f"{documented}\n\n    Settings:\n\n{''.join(listed)}    "
        return function

    return describe


def _parameter(name: str, setting: dict[str, Any]) -> inspect.Parameter:
    default: Any = setting["default"]
    if setting["takes"] is None:
        default = False
    elif default is not None and default.isdigit():
        default = int(default)
    kind: Any = inspect.Parameter.empty
    if setting["values"]:
        kind = Literal[tuple(setting["values"])]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _first_sentence(setting: dict[str, Any]) -> str:
    text = in_python(setting["help"]).partition(". ")[0].partition(" [default: ")[0].rstrip(".")
    values = ", ".join(f'"{value}"' for value in setting["values"])
    return f"{text} ({values})." if values else f"{text}."


def columns(names: Any, named: Named | None = None) -> list[str]:
    """Names of columns: of one, or of several in an order."""
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    # A tuple may be the name of one column.
    if named is not None and (one := named(names)) is not None:
        return [one]
    has_order = isinstance(names, Iterable) and not isinstance(names, (bytes, Set, Mapping))
    return [column(name, named) for name in (names if has_order else [names])]


def column(name: Any, named: Named | None = None) -> str:
    """The name of a column."""
    found = name if isinstance(name, str) else None if named is None else named(name)
    if found is None:
        raise UsageError(f"{_shown(name)} names no column", "give a column's name, or a list of them")
    return found


def _shown(name: Any) -> str:
    """A label in an error. Values of other types may be cells of the table."""
    return repr(name) if isinstance(name, int) else f"a {type(name).__name__}"


def keys(or_on: Any, named: Named | None = None) -> list[list[str]]:
    """Further keys: one, as `on` names it, or a list of several, each of them a list."""
    if or_on is None:
        return []
    if not isinstance(or_on, str) and isinstance(or_on, Iterable) and not (named is not None and named(or_on) is not None):
        several = list(or_on)
        is_list = [not isinstance(key, str) and isinstance(key, Iterable) for key in several]
        if several and all(is_list):
            return [columns(key, named) for key in several]
        or_on = several
    return [columns(or_on, named)]


def with_names(settings: Mapping[str, Any], command: str, named: Named) -> dict[str, Any]:
    """The settings of a command with the engine's names of columns, where they name columns."""
    found = dict(settings)
    for name, value in settings.items():
        takes = known(command)[name]["takes"] or ""
        if value is None or not takes.startswith("COLUMN"):
            continue
        if isinstance(value, Mapping):
            found[name] = {column(label, named): each for label, each in value.items()}
        elif takes == "COLUMN":
            found[name] = column(value, named)
        elif not takes.startswith("COLUMN="):
            found[name] = columns(value, named)
    return found


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


def key_flags(on: Any, or_on: Any, normalise: Any, named: Named | None = None) -> list[Flag]:
    """The flags of a key."""
    given: list[Flag] = [("key", name) for name in columns(on, named)]
    given.extend(("or-key", _list(key)) for key in keys(or_on, named))
    if not isinstance(normalise, (Mapping, type(None))):
        raise UsageError("normalise= is no dictionary", 'say for which column, as in {"email": "trim,lower"}')
    for label, names in (normalise or {}).items():
        given.append(("normalise", f"{column(label, named)}={','.join(columns(names))}"))
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

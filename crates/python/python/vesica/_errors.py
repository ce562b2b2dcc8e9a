"""Exceptions: one class for each exit code of the command line."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, Callable, TypeVar, cast

from vesica import _vesica

F = TypeVar("F", bound=Callable[..., Any])


class VesicaWarning(UserWarning):
    """Something that you should act on, though the run goes on."""


class Error(Exception):
    """Why a call failed.

    `fault` says what went wrong, `mend` what to do about it, and `exit_code` is that of the command line. None of the
    texts holds a key of a table.
    """

    exit_code = 70

    def __init__(self, fault: str, mend: str, exit_code: int | None = None) -> None:
        super().__init__(f"{fault}; {mend}")
        self.fault = fault
        self.mend = mend
        if exit_code is not None:
            self.exit_code = exit_code

    def __reduce__(self) -> tuple[type, tuple[str, str, int]]:
        return type(self), (self.fault, self.mend, self.exit_code)


class UsageError(Error, ValueError):
    """An argument is wrong."""

    exit_code = 2


class InputError(Error, ValueError):
    """The table is missing a column, or has values that do not serve."""

    exit_code = 3


class OutputError(Error):
    """The result cannot be delivered, or the receipt cannot be written."""

    exit_code = 4


class PeerAbsent(Error, ConnectionError):
    """The partner did not come in time."""

    exit_code = 5


class IdentityError(Error):
    """An identity is missing or unreadable, or the partner has another one than you named."""

    exit_code = 6


class SettingsDiffer(Error):
    """The two sides say different things where they must say the same."""

    exit_code = 7


class PeerMisbehaved(Error):
    """The partner sent what no honest partner sends."""

    exit_code = 8


class PeerFailed(Error):
    """The partner ended the run because of a failure of its own."""

    exit_code = 9


class LinkError(Error, ConnectionError):
    """The connection broke, or a time limit passed."""

    exit_code = 10


class Refused(Error):
    """What you ask for is not possible, or not safe."""

    exit_code = 11


class Cancelled(Error):
    """You cancelled the run, with the event that you gave it as `cancel`, or by cancelling the task that awaits it."""

    exit_code = 130


class InternalError(Error):
    """A defect of vesica."""

    exit_code = 70


_CLASSES = {
    kind.exit_code: kind
    for kind in (
        UsageError,
        InputError,
        OutputError,
        PeerAbsent,
        IdentityError,
        SettingsDiffer,
        PeerMisbehaved,
        PeerFailed,
        LinkError,
        Refused,
        Cancelled,
        InternalError,
    )
}


def of(exit_code: int, fault: str, mend: str) -> Error:
    """The exception for an exit code of the command line."""
    kind = _CLASSES.get(exit_code, Error)
    return kind(in_python(fault), in_python(mend), exit_code)


def at_the_call(function: F) -> F:
    """Has errors end at the call: what goes on inside of vesica does not help who reads the traceback."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except InternalError:
            raise
        except Error as error:
            raise error.with_traceback(None) from error.__cause__

    return cast(F, call)


# Flags whose arguments have another name.
_RENAMED = {"key": "on", "or-key": "or_on"}

# Flags that are no arguments: tables are in memory. `progress` is one of Python's own.
NO_ARGUMENTS = frozenset(_vesica.no_arguments()) - {"progress"}

_TASKS = "|".join(_vesica.tasks())

_SETTINGS = [setting for command in ("receive", "send") for setting in json.loads(_vesica.settings(command))]

# The words that values of flags are.
_WORDS = "|".join(sorted({"auto", "none"}.union(*(setting["values"] for setting in _SETTINGS))))

# A flag in a text of the command line: quoted by the parser of flags; with the values that follow it; or alone.
_FLAG = re.compile(
    rf"""'--(?P<quoted>[a-z][a-z-]*)(?:\ <[^>]*>(?:\.\.\.)?)?'
    |(?<![\w-])--(?P<name>[a-z][a-z-]*)
    (?:[ =](?:
        '?(?P<column>[^\s='(]+)=(?P<of_column>[^\s';)]+(?<![,.;:]))'?
        |(?P<value>[0-9][0-9_.]*(?:e[0-9]+)?(?![\w/]|\s*[KMGT]i?B)(?<!\.)|(?:{_WORDS})\b)
        |(?P<task>(?:{_TASKS})\b(?!-))
    ))?""",
    re.VERBOSE,
)


def argument(flag: str) -> str:
    """The argument for a flag, given without dashes."""
    return _RENAMED.get(flag, flag.replace("-", "_"))


def in_python(text: str) -> str:
    """A text of the command line as Python's users read it: `security="semi-honest"` for `--security semi-honest`."""
    text = re.sub(r"`vesica [a-z]+ --help` lists all flags and what they take", "help() lists all arguments and what they take", text)
    # Commands that are quoted whole are meant as they are: the package has the command, too.
    parts = re.split(r"(`vesica [^`]*`)", text)
    return "".join(part if place % 2 else _FLAG.sub(_in_python, part) for place, part in enumerate(parts))


def _in_python(found: re.Match[str]) -> str:
    flag = found["quoted"] or found["name"]
    if flag in NO_ARGUMENTS:
        return found[0]
    name = argument(flag)
    if flag == "task" and (task := found["task"] or found["value"]):
        return f"vesica.{task.replace('-', '_')}"
    if found["column"] is not None:
        return f'{name}={{"{found["column"]}": {_value(found["of_column"])}}}'
    value = found["value"] or found["task"]
    return f"{name}=" if value is None else f"{name}={_value(value)}"


def _value(text: str) -> str:
    if ".." in text:
        return "({}, {})".format(*text.split("..", 1))
    return text if re.fullmatch(r"[0-9][0-9_.]*(e[0-9]+)?|[A-Z]+", text) else f'"{text}"'

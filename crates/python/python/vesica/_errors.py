"""Exceptions: one class for each exit code of the command line."""

from __future__ import annotations


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
        InternalError,
    )
}


def of(exit_code: int, fault: str, mend: str) -> Error:
    """The exception for an exit code of the command line."""
    kind = _CLASSES.get(exit_code, Error)
    return kind(fault, mend, exit_code)

"""What happens while a run goes on: warnings, a log, and progress."""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from importlib.util import find_spec
from typing import Any, Callable, Dict, Union

from vesica import _vesica
from vesica._errors import Cancelled, UsageError, VesicaWarning, in_python

log = logging.getLogger("vesica")

Progress = Union[bool, Callable[[Dict[str, Any]], None], None]


class Teller:
    """Hears what a run tells.

    Warnings become `VesicaWarning`s, notices go to the log `vesica`. `progress` is a function, which is called with a
    dictionary a few times a second; or true for a bar of tqdm, false for nothing. By default there is a bar if tqdm
    is installed and standard error is a terminal, or in a notebook. When `cancel` is set, the run ends.
    """

    def __init__(
        self,
        progress: Progress = None,
        listening: Callable[[str], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._listening = listening
        if cancel is not None and not hasattr(cancel, "is_set"):
            raise UsageError(f"cancel={cancel!r} is no event", "give a threading.Event, and set it to end the run")
        self._cancel = cancel
        self._bar: Any = None
        self._callback: Callable[[dict[str, Any]], None] | None = None
        self._warned: set[str] = set()
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise UsageError(f"progress={progress!r} is no way to show it", "give a function, True, False or None")
        if callable(progress):
            self._callback = progress
        elif progress or (progress is None and _is_watched()):
            self._bar = _bar(is_wanted=bool(progress))

    def __call__(self, kind: str, value: Any) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled("the run was cancelled", "start again when you are ready")
        if kind == "look":
            return
        if kind == "warning":
            self.warn(value)
        elif kind in ("notice", "info"):
            log.info(in_python(value))
        elif kind == "listening":
            log.info("listening on %s", value)
            if self._listening is not None:
                self._listening(value)
        elif kind == "connected":
            log.info("the partner is connected")
        elif self._callback is not None:
            self._callback({"event": kind, **value})
        elif self._bar is not None:
            self._show(kind, value)

    def warn(self, text: str) -> None:
        """Warns once of each text."""
        text = in_python(text)
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, VesicaWarning, stacklevel=_level_of_caller())

    def close(self, is_done: bool = False) -> None:
        """Removes the bar. Where all is done it is full before: a notebook goes on to show it."""
        if self._bar is None:
            return
        if is_done:
            self._bar.n = self._bar.total
            self._bar.set_postfix_str("")
        self._bar.close()

    def _show(self, kind: str, value: dict[str, Any]) -> None:
        bar = self._bar
        if kind == "stage":
            bar.reset(total=100)
            bar.set_description_str(value["text"])
            return
        if value["fraction"] is not None:
            bar.n = int(100 * value["fraction"])
        megabytes = (value["sent_bytes"] + value["received_bytes"]) / 1e6
        bar.set_postfix_str(f"{megabytes:.1f} MB")


def heard(call: Callable[[Teller], _vesica.Outcome], teller: Teller) -> tuple[_vesica.Outcome, dict[str, Any]]:
    """What a call of the engine gives, and its report. The warnings in it are told as those of the run are."""
    is_done = False
    try:
        outcome = call(teller)
        is_done = True
    finally:
        teller.close(is_done)
    report: dict[str, Any] = json.loads(outcome.report)
    for warning in report["warnings"]:
        teller.warn(warning)
    return outcome, report


def _level_of_caller() -> int:
    """The place of the caller's code among the frames above a warning, so that it names the caller's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "vesica":
        frame, level = frame.f_back, level + 1
    return level


def _is_watched() -> bool:
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        return True
    return sys.stderr is not None and sys.stderr.isatty()


def _bar(is_wanted: bool) -> Any:
    try:
        # In notebooks, tqdm's own choice needs ipywidgets, and complains without it.
        if find_spec("ipywidgets") is None:
            from tqdm import tqdm
        else:
            from tqdm.auto import tqdm
    except ImportError:
        if is_wanted:
            raise ImportError("a progress bar needs tqdm: pip install tqdm, or give a function to progress=") from None
        return None
    return tqdm(total=100, leave=False, bar_format="{desc} {bar} {percentage:3.0f} % {postfix}")

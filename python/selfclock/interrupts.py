"""Signals that end the command line: each ends it cleanly, at any time.

While the command line is being imported nothing has been written, and a signal may end the process
at once; this module imports almost nothing, so that it can be loaded first. From then on SIGINT,
SIGTERM and SIGHUP raise an exception in the main thread, whose handlers remove everything
half-written. An import is finished first: Python and libraries convert or drop an exception that is
raised in the middle of one (`__set_name__` makes it a `RuntimeError`).
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

#: Signals of a closed terminal and of a system shutdown.
ENDING: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP came."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def status(error: KeyboardInterrupt) -> int:
    """Return the exit status after an interruption, as shells have it."""
    return 128 + (error.number if isinstance(error, Terminated) else signal.SIGINT)


def is_command_line() -> bool:
    """Tell whether the package is being imported by its own command, `selfclock` or `python -m selfclock`."""
    started = sys.argv[0].replace("\\", "/").rpartition("/")[2] if sys.argv else ""
    if started == "-m":
        words = sys.orig_argv[1:]
        return any(words[at : at + 2] == ["-m", "selfclock"] for at in range(len(words)))
    return started in {"selfclock", "selfclock.exe"}


#: Ctrl-C still ends the process directly.
_silent: list[bool] = []


def end_silently() -> None:
    """Let Ctrl-C end the process without a traceback, until `raise_exceptions`.

    Not the system's default: polars, once imported, passes signals only to Python.
    """
    if is_command_line() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
        _silent.append(True)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(128 + signal.SIGINT)


def raise_exceptions() -> None:
    """Let the ending signals raise exceptions; ignored ones, as under `nohup`, stay ignored."""
    if _silent or signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _raise)
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _raise)


#: Seconds that a signal waits for an import, at most: a user's module may never end.
LONGEST_IMPORT_S = 5.0

#: The signal that waits for an import, and until when.
_waiting: list[tuple[int, float]] = []


def _raise(number: int, frame: FrameType | None) -> None:
    if not _waiting:
        _waiting.append((number, time.monotonic() + LONGEST_IMPORT_S))
    number, until = _waiting[0]
    # Never SIGINT: the second one ends the process.
    carrier = next((each for each in ENDING if signal.getsignal(each) is _raise), None)
    if carrier is not None and _is_importing(frame) and time.monotonic() < until:
        _thread.start_new_thread(_come_again, (carrier,))
        return
    _waiting.clear()
    # A second one during the handling of the first ends the process at once.
    if number == signal.SIGINT:
        signal.signal(number, signal.default_int_handler)
        raise KeyboardInterrupt
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _come_again(carrier: signal.Signals) -> None:
    time.sleep(0.01)
    if _waiting:
        _thread.interrupt_main(carrier)

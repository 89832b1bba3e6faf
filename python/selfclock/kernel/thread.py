"""A thread of the compiled part: begun at once, ended with a `with` block."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

#: Progress of the work.
Report = TypeVar("Report")


class Running(ABC, Generic[Report]):
    """Something that runs in a thread until it is stopped.

    The thread is Python's: one that Python did not start would need a new thread state for every
    call of an algorithm in Python.
    """

    def __init__(self, run: Callable[[], None], stop: Callable[[], None], name: str) -> None:
        """Begin to run. `stop` lets `run` return."""
        self._end = stop
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._guarded, args=[run], name=name, daemon=True)
        self._thread.start()

    def _guarded(self, run: Callable[[], None]) -> None:
        try:
            run()
        except OSError as error:
            self._error = error

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether it has ended neither by itself nor by `stop`."""
        return self._thread.is_alive()

    @abstractmethod
    def status(self) -> Report:
        """Return the progress so far."""

    def stop(self) -> Report:
        """End it, and return the progress."""
        self._end()
        self._thread.join()
        return self.status()

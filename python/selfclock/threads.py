"""The number of threads that a user requests."""

from __future__ import annotations

from selfclock._core import ScenarioError

#: More than the cores of any machine; each thread takes memory for its stack.
MOST_THREADS = 1024


def check_threads(threads: int | None) -> None:
    """Refuse more threads than any machine has cores for."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ScenarioError(f"threads: {threads:,} is out of range; allowed: 1 to {MOST_THREADS:,}")

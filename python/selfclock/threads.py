"""The number of threads that a user requests."""

from __future__ import annotations

from selfclock.arguments import whole

#: More than the cores of any machine; each thread takes memory for its stack.
MOST_THREADS = 1024


def check_threads(threads: int | None) -> None:
    """Refuse more threads than any machine has cores for."""
    if threads is not None:
        whole(threads, "threads", 1, MOST_THREADS)

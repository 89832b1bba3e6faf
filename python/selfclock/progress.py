"""A progress bar on standard error, for terminals only."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Work shorter than this shows no bar.
PATIENCE_S = 1.0

#: More frequent redraws would cost more than short runs.
REDRAW_S = 0.1


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[..., None]]:
    """Yield a function to call with the fraction done and optionally a note.

    It draws a bar with the remaining time once the work has lasted a second. Meanwhile the output
    of user-defined algorithms goes to standard error: standard output is for the document or table
    that follows.
    """
    with redirect_stdout(sys.stderr):
        yield from _progress_bar(title)


def _progress_bar(title: str) -> Iterator[Callable[..., None]]:
    if not sys.stderr.isatty():
        yield lambda _fraction, _note="": None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    begun = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, disable=False, auto_refresh=False) as bar:
        task = bar.add_task(title, total=1.0, visible=False)

        drawn = begun

        def update(fraction: float, note: str = "") -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - begun > PATIENCE_S and now - drawn > REDRAW_S:
                drawn = now
                described = f"{title}: {note}" if note else title
                bar.update(task, completed=fraction, description=described, visible=True, refresh=True)

        yield update

"""A progress bar on standard error, for people only."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Work shorter than this shows no bar.
PATIENCE_S = 1.0


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None]]:
    """Give a function to call with the fraction done; it draws a bar once the work has lasted a second."""
    if not sys.stderr.isatty():
        yield lambda _fraction: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    begun = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, disable=False, auto_refresh=False) as bar:
        task = bar.add_task(title, total=1.0, visible=False)

        def update(fraction: float) -> None:
            late = time.monotonic() - begun > PATIENCE_S
            bar.update(task, completed=fraction, visible=late, refresh=late)

        yield update

"""The live line of an emulation: the bottleneck's state and the lateness, on the last row of a terminal."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from selfclock.units import RATES, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from selfclock.scenario import Scenario

#: How often it is drawn.
REDRAW_S = 0.25

#: A smaller terminal has no spare row; one without a size has none.
LEAST_ROWS = 4

#: Commands with their own prompts, which a changing line would disturb.
SHELLS = {"sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh"}


class LiveLine:
    """A status row below the output of commands.

    The rows above it are the terminal's scrolling region, so that lines of commands scroll by. Each
    drawing is one write that puts the cursor back.
    """

    def __init__(self, scenario: Scenario, *, wanted: bool, to: TextIO | None = None) -> None:
        self._to = to or sys.stderr
        self._shown = wanted and self._to.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._link = scenario.network.tightest().name
        self._drawn, self._rows = 0.0, 0

    def __enter__(self) -> LiveLine:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the row."""
        if self._rows:
            self._write(f"\0337\033[r\033[{self._rows};1H\033[2K\0338")

    def update(self, status: Callable[[], str]) -> None:
        """Redraw the line if it is time, from the JSON text that `status` returns."""
        now = time.monotonic()
        if not self._shown or now < self._drawn + REDRAW_S:
            return
        self._drawn = now
        columns, rows = os.get_terminal_size(self._to.fileno())
        if rows < LEAST_ROWS:
            return
        text = self.text(json.loads(status()))[: columns - 1]
        region = ""
        if rows != self._rows:
            # A line feed first: the cursor may be on the row being taken.
            region = f"\n\033[A\0337\033[1;{rows - 1}r\0338"
            self._rows = rows
        self._write(f"{region}\0337\033[{rows};1H\033[2K\033[7m{text}\033[m\0338")

    def text(self, status: Mapping[str, Any]) -> str:
        """Return the line: rate of the last tenth of a second, queue, drops, marks, lateness."""
        link = next(link for link in status["links"] if link["name"] == self._link)
        late = status["lateness"]
        return (
            f" {status['time_s']:.1f} s  {self._link} {written(link['rate_bps'], RATES)}  "
            f"queue {link['queue_packets']:,} ({link['queue_s'] * 1e3:.1f} ms)  drops {link['drops']:,}  "
            f"CE {link['ce_marks']:,}  late 99 % {late['p99_s'] * 1e3:.2f}, worst {late['worst_s'] * 1e3:.2f} ms "
        )

    def _write(self, text: str) -> None:
        self._to.write(text)
        self._to.flush()

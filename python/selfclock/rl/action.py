"""An agent's actions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from gymnasium import spaces

from selfclock._core import ScenarioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["window-factor", "rate-factor", "window", "rate"]

#: A window that limits nothing, because the pacing rate does: the largest possible.
NO_WINDOW_SEGMENTS = 1e9


@dataclass(frozen=True)
class Action:
    """The meaning of an action, a number from -1 to 1, as a window or a pacing rate.

    * `"window-factor"`: the window is multiplied by `step ** action`.
    * `"rate-factor"`: the pacing rate is multiplied by `step ** action`.
    * `"window"`: the window itself, on a logarithmic scale between its bounds.
    * `"rate"`: the pacing rate itself, likewise.

    With a window, ACKs are the clock; with a rate, segments are paced and no window limits them.
    The bounds hold for all four.
    """

    kind: Kind = "window-factor"
    #: Largest factor of a step; the smallest is its inverse.
    step: float = 2.0
    #: Bounds of the window, segments.
    window_bounds_segments: tuple[float, float] = (1.0, 1e5)
    #: Bounds of the pacing rate on the wire, bit/s.
    rate_bounds_bps: tuple[float, float] = (1e4, 1e11)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ScenarioError(f"action: {self.kind!r}; allowed: {', '.join(get_args(Kind))}")
        if not 1 < self.step <= 100:
            raise ScenarioError(f"step: {self.step}; allowed: above 1, up to 100")
        for name, (low, high), least in (
            ("window_bounds_segments", self.window_bounds_segments, 1.0),
            ("rate_bounds_bps", self.rate_bounds_bps, 1.0),
        ):
            if not least <= low < high < math.inf:
                raise ScenarioError(f"{name}: {low}, {high}; allowed: two numbers from {least:g}, the smaller first")

    @property
    def sets_rate(self) -> bool:
        """Whether actions set the pacing rate."""
        return self.kind in {"rate-factor", "rate"}

    @property
    def space(self) -> spaces.Box:
        """One number from -1 to 1."""
        return spaces.Box(-1.0, 1.0, (1,), np.float32)

    def apply(self, action: NDArray[np.float64], present: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the next windows (segments) or rates (bit/s), given the present ones."""
        low, high = self.rate_bounds_bps if self.sets_rate else self.window_bounds_segments
        if self.kind in {"window-factor", "rate-factor"}:
            wanted = present * self.step**action
        else:
            wanted = low * (high / low) ** ((action + 1) / 2)
        return np.minimum(np.maximum(wanted, low), high)

"""Means over seeds with their 95 % intervals."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.confidence import half_width

if TYPE_CHECKING:
    from collections.abc import Iterable

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """Mean of an ensemble and half the width of its interval, which is infinite for a single value."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half

    def text(self, digits: int = 3) -> str:
        """Return mean and half width, such as `0.720 ± 0.030`."""
        mean = f"{self.mean:.{digits}f}"
        return f"{mean} ± {self.half:.{digits}f}" if math.isfinite(self.half) else mean

    def __format__(self, form: str) -> str:
        """Return `text` with the digits of a form such as `.4f`."""
        return self.text(int(form.strip(".f"))) if form else str(self)

    def __str__(self) -> str:
        """Return `text` with three digits."""
        return self.text(2)


def of_mean(mean: float, deviation: float, count: int) -> Interval:
    """Return a mean with its t-interval."""
    half = half_width(deviation, count, CONFIDENCE)
    return Interval(mean, math.inf if half is None else half)


def interval(values: Iterable[float]) -> Interval:
    """Return the 95 % t-interval of the mean."""
    held = list(values)
    return of_mean(statistics.mean(held), statistics.stdev(held) if len(held) > 1 else 0.0, len(held))

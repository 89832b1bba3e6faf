"""Medians and their intervals over runs with different seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Number of seeds of every ensemble.
RUNS = 50

#: The 95 % interval of the median of fifty values runs from the 18th to the 33rd in order, for any
#: distribution: the number of runs below the true median is binomial, and lies between 18 and 32
#: with a probability of 0.967.
_INTERVAL = (17, 32)


@dataclass(frozen=True)
class Spread:
    """Fifty values in ascending order."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of one value per run."""
        ordered = tuple(sorted(float(value) for value in values))
        if len(ordered) != RUNS:
            raise ValueError(f"{len(ordered)} runs; the interval of the median holds for {RUNS}")
        return cls(ordered)

    @property
    def mean(self) -> float:
        """The mean."""
        return sum(self.values) / RUNS

    @property
    def median(self) -> float:
        """The median."""
        return self.quantile(0.5)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % interval of the median."""
        low, high = _INTERVAL
        return self.values[low], self.values[high]

    @property
    def low(self) -> float:
        """The lower end of that interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """The upper end of it."""
        return self.interval[1]

    @property
    def lower(self) -> float:
        """The lower quartile."""
        return self.quantile(0.25)

    @property
    def upper(self) -> float:
        """The upper quartile."""
        return self.quantile(0.75)

    @property
    def positive(self) -> int:
        """Number of runs above 0."""
        return sum(value > 0 for value in self.values)

    def quantile(self, share: float) -> float:
        """Return a quantile, interpolated between the two nearest values."""
        place = share * (RUNS - 1)
        below = int(place)
        above = min(below + 1, RUNS - 1)
        return self.values[below] + (place - below) * (self.values[above] - self.values[below])

    def cell(self) -> str:
        """Return the median and quartiles as a table cell."""
        return f"{self.median:+.1f} ({self.quantile(0.25):+.1f} to {self.quantile(0.75):+.1f})"

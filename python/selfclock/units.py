"""Units that keep the numbers of a figure or a table short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.catalogue import sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import ArrayLike
else:
    from selfclock.lazy import np


@dataclass(frozen=True)
class Unit:
    """A unit and its size: a value in base units divided by `size` is in this unit."""

    size: float
    name: str

    def of(self, value: float) -> float:
        """Return a value in base units in this one."""
        return value / self.size if self.size >= 1.0 else value * (1.0 / self.size)


def _figures(dimension: str, base: str) -> tuple[Unit, ...]:
    """Return the units that tables and figures have, with the base unit of size 1."""
    own = sizes(dimension, "figures")
    return tuple(Unit(size / own[base], name) for name, size in own.items())


#: From the smallest to the largest.
RATES, SIZES, TIMES = _figures("a rate", "bit/s"), _figures("a size", "B"), _figures("a time", "s")

_NAMED = {unit.name: unit for unit in (*RATES, *SIZES, *TIMES, Unit(0.01, "%"))}


def named(name: str) -> Unit:
    """Return the unit of this name; one that only counts, such as "packets", has size 1."""
    return _NAMED.get(name) or Unit(1.0, name)


#: A unit is chosen if the largest value is at least this many of it; otherwise the next smaller
#: one.
LEAST = 2.0


def fitting(units: tuple[Unit, ...], values: Iterable[ArrayLike], *, usual: str) -> Unit:
    """Return the largest unit of which the largest value is `LEAST` or more; without values the usual one.

    >>> fitting(RATES, [[4e10, 1e9]], usual="Mbit/s").name
    'Gbit/s'
    """
    largest = 0.0
    for each in values:
        array = np.asarray(each, dtype=np.float64)
        known = array[np.isfinite(array)]
        largest = max(largest, float(known.max(initial=0.0)))
    if largest <= 0.0:
        return next(unit for unit in units if unit.name == usual)
    return next((unit for unit in reversed(units) if largest >= LEAST * unit.size), units[0])


def written(value: float, units: tuple[Unit, ...]) -> str:
    """Return a value with four digits in the unit in which it is short.

    >>> written(1e10, RATES)
    '10 Gbit/s'
    """
    unit = next((unit for unit in reversed(units) if abs(value) >= unit.size), units[0])
    return f"{value / unit.size:.4g} {unit.name}"

"""Units that keep the numbers of a figure or a table short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


#: From the smallest to the largest.
RATES = (Unit(1.0, "bit/s"), Unit(1e3, "kbit/s"), Unit(1e6, "Mbit/s"), Unit(1e9, "Gbit/s"), Unit(1e12, "Tbit/s"))
SIZES = (Unit(1.0, "B"), Unit(1e3, "kB"), Unit(1e6, "MB"), Unit(1e9, "GB"), Unit(1e12, "TB"))
TIMES = (Unit(1e-9, "ns"), Unit(1e-6, "us"), Unit(1e-3, "ms"), Unit(1.0, "s"))

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

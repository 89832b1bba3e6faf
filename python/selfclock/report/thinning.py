"""Fewer points that draw the same picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfclock.figure import Values

#: A longer series is thinned to the minimum and maximum in this many bins: more than the pixel
#: columns of a wide screen.
BINS = 1500


def thin(x: Values, y: Values, *, connected: bool, bins: int = BINS) -> NDArray[np.intp] | None:
    """Return the indices of fewer points that draw the same picture; `None` if all are needed.

    A line keeps the first, minimum, maximum and last point of each of `bins` bins in x. Single
    points keep one for each position that a screen can resolve.
    """
    finite = np.isfinite(x)
    if len(x) <= 4 * bins or not finite.any():
        return None
    low, high = x[finite].min(), x[finite].max()
    if high == low:
        return None
    part = np.where(finite, (np.where(finite, x, low) - low) / (high - low) * (bins - 1), -1.0).astype(np.int64)
    kept = _of_line(x, y, finite, part) if connected else _of_points(y, part, bins)
    return None if kept is None or len(kept) == len(x) else kept


def _of_points(y: Values, part: NDArray[np.int64], bins: int) -> NDArray[np.intp]:
    known = np.isfinite(y)
    if not known.any():
        return np.arange(0)
    low = y[known].min()
    span = y[known].max() - low or 1.0
    rows = np.where(known, (np.where(known, y, low) - low) / span * (bins - 1), -1.0).astype(np.int64)
    _, kept = np.unique(part * (bins + 1) + rows, return_index=True)
    return np.sort(kept)


def _of_line(x: Values, y: Values, finite: NDArray[np.bool_], part: NDArray[np.int64]) -> NDArray[np.intp] | None:
    if np.any(np.diff(x[finite]) < 0):
        return None
    starts = np.flatnonzero(np.r_[True, np.diff(part) != 0])
    ends = np.r_[starts[1:], len(x)]
    least = np.where(np.isfinite(y), y, np.inf)
    greatest = np.where(np.isfinite(y), y, -np.inf)
    extremes = [
        _first(values == np.repeat(reduced.reduceat(values, starts), ends - starts), starts)
        for values, reduced in ((least, np.minimum), (greatest, np.maximum))
    ]
    return np.unique(np.concatenate([starts, ends - 1, *extremes]))


def _first(true: NDArray[np.bool_], starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the first true index at or after each start; every stretch has one."""
    found = np.flatnonzero(true)
    return found[np.searchsorted(found, starts)]

"""Means over seeds, with confidence intervals."""

from __future__ import annotations

from typing import TypedDict

from selfclock.confidence import half_width


class Estimate(TypedDict):
    """A measure over the seeds."""

    #: Mean.
    mean: float
    #: Half the width of the confidence interval; None with one seed, or if all runs are one run.
    half_width: float | None
    #: Runs in which it was measurable.
    runs: int


def estimate(
    mean: float, deviation: float | None, count: int, confidence: float, *, independent: bool = True
) -> Estimate:
    """Return a mean with its interval; `deviation` is that of the values, None for a single one.

    Runs that are not `independent`, as copies of one run, have no interval.
    """
    half = half_width(deviation or 0.0, count, confidence) if independent else None
    return Estimate(mean=mean, half_width=half, runs=count)

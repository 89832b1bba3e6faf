"""Figures 1 and 2: the model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.reproduce import Claim, Illustration
from selfclock.species import limit, populations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The second species joins 10 s after the first; of ten, our choice, one every 10 s.
TWO = ([0.0, 10.0], 100.0)
TEN = ([10.0 * number for number in range(10)], 600.0)
#: The series of figures need no finer steps; the limits do not depend on them.
STEP_S = 0.05


def findings() -> tuple[list[Claim], list[Illustration]]:
    """Judge both figures."""
    claims, figures = [], []
    for number, what, (joins, seconds) in ((1, "two", TWO), (2, "ten", TEN)):
        times, series = populations(joins, seconds=seconds, step_s=STEP_S)
        last = [values[-1] for values in series]
        wanted = limit(len(joins))
        worst = max((abs(value - wanted), value) for value in last)[1]
        claims.append(
            Claim(
                PAPER,
                f"figure-{number}",
                f"section 2.1.2, figure {number}",
                f"the populations of {what} species converge to one value",
                round(wanted, 2),
                round(worst, 2),
                verdicts.within(worst, wanted, 0.01),
                f"K / (1 + gamma (n - 1)); the species farthest from it after {seconds:g} s. Within 1 %.",
            )
        )
        figures.append(
            Illustration(
                f"Figure {number}",
                f"{what.capitalize()} species join one after another; K 100, epsilon 1.95, gamma 0.9.",
                _figure(times, series, number),
            )
        )
    return claims, figures


@style.house()
def _figure(times: list[float], series: list[list[float]], number: int) -> Figure:
    figure, (axes,) = style.figure()
    for index, values in enumerate(series):
        axes.plot(times, values, color=str(0.7 * index / len(series)), label=f"species {index + 1}")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("population")
    axes.set_title(f"Figure {number}: the Lotka-Volterra model")
    axes.set_ylim(bottom=0)
    return figure

"""Figures 1 and 2: the model alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from selfclock.figure import Figure
from selfclock.lotka_volterra import limit, populations
from selfclock.page_parts import Illustration
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import COLOURS, along, dashes
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.network import EPSILON, GAMMA

if TYPE_CHECKING:
    from selfclock.claims import Claim

#: The second species joins after 10 s; of ten species, one joins every 10 s (our choice).
TWO = ([0.0, 10.0], 100.0)
TEN = ([10.0 * number for number in range(10)], 600.0)
#: The figures' series need no finer steps; the limits do not depend on the step.
STEP_S = 0.05
#: "The same value": within this fraction.
SAME = 0.05
#: From 1 to 95 % of K for a single species: ln(99 * 19) / epsilon = 3.9 s.
ALONE_S = math.log(99 * 19) / EPSILON
#: "Quickly" means at most this many times as long. Chosen when the time constant of two species,
#: 9.7 s, was already known.
QUICKLY = 3.0
#: A gamma above 1, with which species die out according to the thesis.
BEYOND = 1.1
MODEL = "the model alone; K = 100, epsilon = 1.95, gamma = 0.9"


def converged_s(times: list[float], series: list[list[float]], wanted: float, joined_s: float) -> float:
    """Time from the last join until every species stays within `SAME` of the limit; infinite if it never does."""
    outside = [
        time
        for time, *values in zip(times, *series, strict=True)
        if time >= joined_s and any(abs(value - wanted) > SAME * wanted for value in values)
    ]
    last = outside[-1] if outside else joined_s
    return float("inf") if last >= times[-1] else last - joined_s


def findings(gamma: float = GAMMA) -> tuple[list[Claim], list[Illustration]]:
    """Judge both figures, with a coefficient of competition."""
    claims, figures = [], []
    for number, what, (joins, seconds) in ((1, "two", TWO), (2, "ten", TEN)):
        times, series = populations(joins, seconds=seconds, step_s=STEP_S, gamma=gamma)
        last = [values[-1] for values in series]
        wanted = limit(len(joins))
        worst = max((abs(value - wanted), value) for value in last)[1]
        claims += [_quickly(times, series) if number == 1 else _survival(wanted, last)]
        claims.append(
            CLAIMS(
                f"figure-{number}-limit",
                Ran(MODEL),
                seconds=seconds,
                printed=round(wanted, 2),
                wanted=wanted,
                worst=worst,
            )
        )
        figures.append(
            Illustration(
                f"Figure {number}",
                f"{what.capitalize()} species join one after another; K 100, epsilon 1.95, gamma 0.9. Dashed: the "
                "last joins. Marks: K / {1 + gamma (n - 1)}.",
                _figure(times, series, joins[-1], wanted, number),
                id=f"figure-{number}",
            )
        )
    return claims, figures


def _quickly(times: list[float], series: list[list[float]]) -> Claim:
    joins, _ = TWO
    needed = converged_s(times, series, limit(2), joins[-1])
    constant = (1 + GAMMA) / (EPSILON * (1 - GAMMA))
    return CLAIMS(
        "figure-1",
        Ran(f"{MODEL}; each joins with 1"),
        constant=constant,
        alone_s=ALONE_S,
        allowed=QUICKLY * ALONE_S,
        twice_allowed=2 * QUICKLY * ALONE_S,
        needed=needed,
    )


def _survival(wanted: float, last: list[float]) -> Claim:
    """Whether ten species coexist for a gamma below 1, and do not above."""
    joins, seconds = TEN
    _, beyond = populations(joins, seconds=seconds, step_s=STEP_S, gamma=BEYOND)
    left = sum(values[-1] >= 1 for values in beyond)
    spread = max(abs(value / wanted - 1) for value in last)
    return CLAIMS(
        "figure-2",
        Ran(f"{MODEL}; each joins with 1"),
        seconds=seconds,
        spread=spread,
        left=left,
    )


def _figure(times: list[float], series: list[list[float]], joined_s: float, wanted: float, number: int) -> Figure:
    figure = Figure(title=f"Figure {number}: the Lotka-Volterra model", x="time (s)", y="population", height=3.4)
    panel = figure.panel
    panel.rule("x", joined_s, colour="#999999", dash="--", width=0.6)
    for index, values in enumerate(series):
        panel.line(
            times[::10],
            values[::10],
            dash="-" if index < len(COLOURS) else "--",
            colour=COLOURS[index % len(COLOURS)],
            label=f"species {index + 1}",
        )
    later = [time for time in along(times[-1]) if time >= joined_s]
    dashes(panel, later, [wanted] * len(later), "limit of equation 7")
    panel.y.low = 0.0
    return figure

"""Figures of a comparison: a column an algorithm, and goodput against delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from selfclock import panels, style, units
from selfclock.catalogue import measures
from selfclock.compare.measures import ESTIMATED
from selfclock.errors import BadInputError
from selfclock.figure import Band, Figure, Line, Rule
from selfclock.names import unknown
from selfclock.traces import Traces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.compare.measures import Measures
    from selfclock.figure import Axis, Panel, Values
    from selfclock.result import Result
    from selfclock.units import Unit

#: Number of algorithms beyond which columns wrap.
MOST_COLUMNS = 4

#: Number of algorithms beyond which only the scatter's legend names them.
MOST_NAMES = 10

#: Window, goodput, delay, queue.
ROWS = 4

#: Two points have a line, not an ellipse.
FEWEST_RUNS = 3

#: An axis of the scatter spans at least this fraction of its greatest value.
LEAST_SPREAD = 0.25

#: Corners of the outline of an ellipse.
CORNERS = 72


def columns(title: str, results: dict[str, Result], link: str, flows: Sequence[str]) -> Figure:
    """Return window, goodput, round-trip time and queue under each algorithm: a column each, one scale a row."""
    wide = min(len(results), MOST_COLUMNS)
    blocks = -(-len(results) // wide)
    figure = Figure(ROWS * blocks, wide, title=title, width=max(6.4, 1.2 + 2.3 * wide), height=6.8 * blocks,
                    same_x=True, same_scale=True)  # fmt: skip
    looks = style.looks(results)
    traces = [Traces(result, look=looks[label], flows=flows) for label, result in results.items()]
    rate, delay = _rate_unit(traces), _delay_unit(traces)
    notes: dict[str, None] = {}
    for number, (label, each) in enumerate(zip(results, traces, strict=True)):
        row, column = ROWS * (number // wide), number % wide
        window, goodput, rtt, queue = (figure.panels[row + step][column] for step in range(ROWS))
        window.title = label
        panels.window(window, each, named=False)
        panels.rate(goodput, each, named=False, unit=rate)
        panels.rtt(rtt, each, named=False, unit=delay)
        said = panels.queue(queue, each.result, only=[link], colour=looks[label].colour, named=False)
        notes |= {f"{label}: {said}" if said else "": None, each.note: None}
        if len(each.flows) > 1 and not each.many:
            notes[
                "Flows of one algorithm differ in dash and shade, the first is solid; dash-dot-dot lines are ssthresh."
            ] = None
    figure.notes += [note for note in notes if note]
    _complete(figure, traces[0].result.scenario.duration_s, len(results))
    return figure


def _complete(figure: Figure, duration_s: float, algorithms: int) -> None:
    """Give the panels of a quantity one scale, and each row and column the labels of its axes."""
    for row, line in enumerate(figure.panels):
        same = [panel for other in figure.panels[row % ROWS :: ROWS] for panel in other]
        high = max(_highest(panel) for panel in same)
        for column, panel in enumerate(line):
            panel.x.low, panel.x.high = 0.0, duration_s
            panel.y.low, panel.y.high = 0.0, high * 1.05 or 1.0
            if column > 0:
                panel.y.label = ""
            # The last panel of a column is not the figure's last if the algorithms do not fill the
            # last block.
            below = (row // ROWS + 1) * len(line) + column
            panel.x.label = "time (s)" if row % ROWS == ROWS - 1 and below >= algorithms else ""


def _highest(panel: Panel) -> float:
    """The greatest value that a panel must show."""
    tops = [
        element.y if isinstance(element, Line) else element.high if isinstance(element, Band) else element.value
        for element in panel.elements
        if isinstance(element, Line | Band | Rule)
    ]
    return max((float(np.nanmax(top, initial=0.0)) for top in tops), default=0.0)


def _rate_unit(traces: Sequence[Traces]) -> Unit:
    largest = [max((flow["goodput_bps"] for flow in each.result.summary["flows"]), default=0.0) for each in traces]
    return units.fitting(units.RATES, [largest], usual="Mbit/s")


def _delay_unit(traces: Sequence[Traces]) -> Unit:
    return units.fitting(units.TIMES, [each.samples["srtt_s"] for each in traces], usual="ms")


def scatter(title: str, rows: Sequence[Measures]) -> Figure:
    """Return goodput against the 95th percentile of the RTT: each run, and the mean of each algorithm.

    From three seeds on there is the ellipse of one standard deviation about the mean, by the
    maximum-likelihood covariance (divided by the number of runs), as in Pantheon (Yan et al.,
    USENIX ATC 2018).
    """
    figure = Figure(title=title, width=6.4, height=4.2)
    panel = figure.panel
    known = [row for row in rows if row["rtt_p95_s"] is not None]
    delay = units.fitting(units.TIMES, [[row["rtt_p95_s"] or 0.0 for row in known]], usual="ms")
    rate = units.fitting(units.RATES, [[row["goodput_bps"] for row in known]], usual="Mbit/s")
    panel.x.label, panel.y.label = f"95th percentile of the RTT ({delay.name})", f"goodput ({rate.name})"
    looks = style.looks(row["algorithm"] for row in rows)
    for number, (label, look) in enumerate(looks.items()):
        own = [row for row in known if row["algorithm"] == label]
        if not own:
            figure.notes.append(f"{label}: no RTT was measured.")
            continue
        x = np.array([row["rtt_p95_s"] or 0.0 for row in own]) / delay.size
        y = np.array([row["goodput_bps"] for row in own]) / rate.size
        _runs(panel, x, y, look, label)
        if len(looks) <= MOST_NAMES:
            panel.text(
                float(x.mean()), float(y.mean()), label, shift=(6.0, 6.0 - 13.0 * (number % 2)), colour=look.colour
            )
    _room(panel.x, [(row["rtt_p95_s"] or 0.0) / delay.size for row in known])
    _room(panel.y, [row["goodput_bps"] / rate.size for row in known])
    return figure


def distribution(title: str, rows: Sequence[Measures], measure: str) -> Figure:
    """Return the empirical distribution of a measure over the seeds: for each algorithm the share of runs up to it."""
    if measure not in ESTIMATED:
        raise BadInputError(unknown("measure", measure, list(ESTIMATED)))
    total = measures()[measure]
    unit = units.named(total.unit)
    known = [(row["algorithm"], row[measure]) for row in rows if row[measure] is not None]  # type: ignore[literal-required]
    for fitted in (units.RATES, units.TIMES):
        unit = units.fitting(fitted, [[value for _, value in known]], usual=unit.name) if unit in fitted else unit
    figure = Figure(
        title=title, x=f"{total.word} ({unit.name})" if unit.name else total.word, y="share of the runs", height=3.6
    )
    panel = figure.panel
    panel.y.low, panel.y.high = 0.0, 1.0
    for label, look in style.looks(row["algorithm"] for row in rows).items():
        values = np.sort([value for algorithm, value in known if algorithm == label]) / unit.size
        if len(values):
            shares = np.arange(len(values) + 1) / len(values)
            panel.line(np.concatenate([values[:1], values]), shares, colour=look.colour, dash=look.line, step="after",
                       label=label)  # fmt: skip
    return figure


def _runs(panel: Panel, x: Values, y: Values, look: style.Look, label: str) -> None:
    """Draw the runs of an algorithm: each, their ellipse and their mean."""
    if len(x) > 1:
        panel.points(x, y, colour=look.colour, marker=".", size=3.0, opacity=0.6)
    if len(x) >= FEWEST_RUNS:
        panel.shape(*ellipse(x, y), colour=look.colour, opacity=0.2)
    panel.points([x.mean()], [y.mean()], colour=look.colour, marker=look.marker, size=7.0, label=label)


def _room(axis: Axis, values: Sequence[float]) -> None:
    """Leave room beside the points, for the name of the last one; nearby points stay near."""
    if values:
        low, high = min(values), max(values)
        room = max(high - low, LEAST_SPREAD * high)
        axis.low, axis.high = max(0.0, low - 0.15 * room), high + 0.25 * room


def ellipse(x: Values, y: Values) -> tuple[Values, Values]:
    """Return the outline of one standard deviation about the mean of points: (p - m)' C^-1 (p - m) = 1."""
    covariance = np.cov(x, y, bias=True)
    spread, axes = np.linalg.eigh(covariance)
    angle = np.linspace(0.0, 2 * np.pi, CORNERS)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    outline = axes @ (np.sqrt(np.maximum(spread, 0.0))[:, None] * circle)
    return outline[0] + x.mean(), outline[1] + y.mean()

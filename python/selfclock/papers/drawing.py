"""Elements shared by figures of several papers: printed values, medians with quartiles, bars side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

from selfclock.diagram import box_chart, packet_format
from selfclock.figure import BLACK
from selfclock.page_parts import Scheme
from selfclock.sketch import NARROW, WIDE, sketch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from selfclock.diagram import Arrow, Box
    from selfclock.figure import Dash, Figure, Panel
    from selfclock.scenario import Scenario
    from selfclock.style import Look

#: Colours distinguishable side by side.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00")


class Held(Protocol):
    """A mean and its confidence interval."""

    @property
    def mean(self) -> float:
        """Mean."""

    @property
    def low(self) -> float:
        """Lower end of the interval."""

    @property
    def high(self) -> float:
        """Upper end of the interval."""


#: A line printed in the paper.
PRINTED_LINE: dict[str, Any] = {"colour": BLACK, "dash": ":", "width": 0.9}

#: Default positions of the dashes along an axis.
_DASHES = 20


def along(end: float, count: int = _DASHES) -> list[float]:
    """Return this many positions from 0 to `end`, each in the middle of its part."""
    return [end * (step + 0.5) / count for step in range(count)]


def dashes(panel: Panel, x: ArrayLike, y: ArrayLike, label: str, colour: str = BLACK) -> None:
    """Mark a curve's expected values by dashes that leave the curve visible."""
    panel.points(x, y, marker="_", size=7, colour=colour, label=label)


def quartiles(
    panel: Panel, x: ArrayLike, low: ArrayLike, middle: ArrayLike, high: ArrayLike, label: str, colour: str, dash: Dash
) -> None:
    """Draw the median of an ensemble, and its quartiles as a band."""
    panel.band(x, low, high, colour=colour, label=f"{label}: quartiles")
    panel.line(x, middle, colour=colour, dash=dash, width=1.4, label=f"{label}: median")


def runs(panel: Panel, place: float, values: Sequence[float], held: Held, look: Look, label: str) -> None:
    """Draw every run of an ensemble in one place, with its mean and the mean's confidence interval."""
    panel.points([place] * len(values), values, colour=look.colour, marker=".", opacity=0.4)
    mean(panel, [place], [held], look, label)


def mean(panel: Panel, places: Sequence[float], held: Sequence[Held], look: Look, label: str) -> None:
    """Draw means and their confidence intervals."""
    panel.intervals(places, [one.low for one in held], [one.high for one in held], colour=look.colour)
    panel.points(places, [one.mean for one in held], colour=look.colour, marker=look.marker, size=6, label=label)


def bars(panel: Panel, series: Mapping[str, tuple[str, Sequence[float]]], first: int = 0) -> None:
    """Draw bars of several series side by side at `first`, `first` + 1, and so on; each with its colour and heights."""
    width = 0.8 / len(series)
    panel.y.low = 0.0
    for place, (label, (colour, heights)) in enumerate(series.items()):
        shift = first + (place - (len(series) - 1) / 2) * width
        panel.bars([number + shift for number in range(len(heights))], heights, width=width, colour=colour, label=label)


def levels(panel: Panel, values: Sequence[float], width: float, label: str, colour: str) -> None:
    """Draw a level stroke at 0, 1, 2, and so on."""
    ends = [end for place in range(len(values)) for end in (place - width / 2, place + width / 2, math.nan)]
    panel.line(ends, [level for value in values for level in (value, value, math.nan)], colour=colour, label=label)


def label_sides(figure: Figure, x: str, y: str) -> None:
    """Write the quantity of the y axes at the first column, and that of the x axes at the last row."""
    for row in figure.panels:
        for panel in row:
            panel.x.label, panel.y.label = "", ""
        row[0].y.label = y
    for panel in figure.panels[-1]:
        panel.x.label = x


def network_of(scenario: Scenario, title: str, caption: str, name: str) -> Scheme:
    """Draw the network of a run."""
    wide, narrow = (sketch(scenario.network, width).svg for width in (WIDE, NARROW))
    return Scheme(title, caption, wide, narrow=narrow, id=name)


def format_of(rows: Sequence[Sequence[tuple[str, int]]], title: str, caption: str, name: str) -> Scheme:
    """Draw the format of a packet or an option."""
    return Scheme(title, caption, packet_format(rows, title), id=name)


def chart_of(boxes: Mapping[str, Box], arrows: Sequence[Arrow], title: str, caption: str, name: str) -> Scheme:
    """Draw a chart of boxes and arrows."""
    return Scheme(title, caption, box_chart(boxes, arrows, title), id=name)

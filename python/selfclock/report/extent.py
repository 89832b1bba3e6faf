"""The range that an axis shows, the same for a chart and a drawing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from selfclock.figure import Band, Bars, Cells, Intervals, Line, Points, Rule, Shape, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from selfclock.figure import Axis, Element, Figure, Panel, Values

Which = Literal["x", "y"]

#: Room beyond the data, as a part of the range: lines go to the edge in x, markers need a little.
MARGIN_X, MARGIN_MARKED, MARGIN_Y = 0.01, 0.03, 0.05


def sharing(figure: Figure, row: int, column: int, which: Which) -> list[Panel]:
    """Return the panels that have one range with this one, itself among them."""
    if which == "y" and not figure.same_y:
        return figure.panels[row] if figure.same_scale else [figure.panels[row][column]]
    if which == "x" and not figure.linked:
        return [figure.panels[row][column]]
    if which == "y" or figure.same_x:
        return [panel for line in figure.panels for panel in line]
    return [line[column] for line in figure.panels]


def extent(panels: Sequence[Panel], which: Which) -> tuple[float, float]:
    """Return the first and the last value of the axis that these panels share; the first is greater if it is turned."""
    axes = [getattr(panel, which) for panel in panels]
    log = any(axis.log for axis in axes)
    low, high = _bounds(panels, which, log=log)
    margin = MARGIN_Y if which == "y" else MARGIN_MARKED if _marked(panels) else MARGIN_X
    if any(isinstance(element, Cells) for panel in panels for element in panel.elements):
        margin = 0.0
    if log:
        stretch = (high / low) ** margin if high > low else 2.0
        low, high = low / stretch, high * stretch
    else:
        stretch = (high - low) * margin if high > low else abs(low) * 0.1 or 1.0
        low, high = low - stretch, high + stretch
    return _fixed(axes, "low", low), _fixed(axes, "high", high)


def _fixed(axes: Iterable[Axis], name: str, fitted: float) -> float:
    return next((value for axis in axes if (value := getattr(axis, name)) is not None), fitted)


def _bounds(panels: Iterable[Panel], which: Which, *, log: bool) -> tuple[float, float]:
    low, high = math.inf, -math.inf
    for panel in panels:
        for element in panel.elements:
            for values in _values(element, which):
                known = values[np.isfinite(values) & ((values > 0) | (not log))]
                if known.size:
                    low, high = min(low, float(known.min())), max(high, float(known.max()))
    if low > high:
        return (1.0, 10.0) if log else (0.0, 1.0)
    return low, high


def _values(element: Element, which: Which) -> Iterator[Values]:
    """Yield what of an element an axis must show; texts and arrows adapt to the rest."""
    match element:
        case Line() | Points() | Shape():
            yield element.x if which == "x" else element.y
        case Band() | Intervals():
            yield from [element.x] if which == "x" else [element.low, element.high]
        case Bars() if which == "x":
            yield from (element.x - element.width / 2, element.x + element.width / 2)
        case Bars():
            yield from (element.base + element.heights, np.array([element.base]))
        case Rule() if element.axis == which:
            yield np.array([element.value])
        case Span() if element.axis == which:
            yield np.array([element.low, element.high])
        case Cells():
            yield np.array([-0.5, element.values.shape[1 if which == "x" else 0] - 0.5])
        case _:
            return


def _marked(panels: Iterable[Panel]) -> bool:
    return any(
        isinstance(element, Points | Intervals | Bars) or (isinstance(element, Line) and element.marker != "")
        for panel in panels
        for element in panel.elements
    )

"""Properties of every figure: axes with quantities and units, series that are visible and distinguishable."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from selfclock.figure import Band, Bars, Intervals, Line, Points, Rule, Shape, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfclock.figure import Axis, Element, Figure, Panel
    from selfclock.page_parts import Illustration

#: Quantities without a unit, because they are counts, fractions or ratios; and names of settings.
WITHOUT_UNIT = {
    "TCP's part of its fair share": "a ratio",
    "smaller throughput over larger": "a ratio",
    "second flow's over the first's": "a ratio",
    "throughput ratio, first over second": "a ratio",
    "exponent of the round-trip time": "an exponent",
    "estimated over true rate of the link": "a ratio",
    "part of the seeds": "a part of 1",
    "runs": "a count",
    "measured / true": "a ratio",
    "goodput / (C/N)": "a ratio",
    "use of the link": "a part of 1",
    "Jain's index": "an index",
    "share of the segments": "a part of 1",
    "population": "a number of the model",
    "packets waiting": "a count",
    "segments sent": "a count",
    "segments since": "a count",
    "data packets dropped": "a count",
    "segments that leave at one instant": "a count",
    "flows that start together": "a count",
    "flow": "a number that names",
    "reading of Table 1": "names",
}


def faults(illustrations: Sequence[Illustration], *, short: bool = False) -> list[str]:
    """List what a reader of these figures would miss; figures of `short` runs may be empty."""
    found = [f"{each.id}: {fault}" for each in illustrations for fault in figure_faults(each.figure)]
    return [fault for fault in found if not (short and fault.endswith("shows nothing"))]


def figure_faults(figure: Figure) -> Iterator[str]:
    """List what a reader of a figure would miss."""
    by_label: dict[str, set[tuple[object, ...]]] = {}
    for row in figure.panels:
        for column, panel in enumerate(row):
            beside = row[0] if figure.same_scale else panel
            below = figure.panels[-1][column] if figure.linked else panel
            yield from _axis_faults(below.x)
            yield from _axis_faults(beside.y)
            yield from _series_faults(panel, by_label)
    yield from (f"{label!r} has several looks" for label, looks in by_label.items() if len(looks) > 1)


def _axis_faults(axis: Axis) -> Iterator[str]:
    label = " ".join(axis.label.split())
    known = any(label.startswith(quantity) for quantity in WITHOUT_UNIT)
    if not axis.names and not known and not re.search(r"\([^()]+\)$", label):
        yield f"axis {label!r} without a unit"


def _series_faults(panel: Panel, by_label: dict[str, set[tuple[object, ...]]]) -> Iterator[str]:
    by_look: dict[tuple[object, ...], set[str]] = {}
    for element in panel.elements:
        for values in _values(element):
            if not np.isfinite(values).any():
                yield f"{type(element).__name__} {getattr(element, 'label', '')!r} shows nothing"
        look = look_of(element)
        if look is None:
            continue
        # An element without a label belongs to the series with its look.
        if element.label:  # type: ignore[union-attr]
            by_look.setdefault(look, set()).add(element.label)  # type: ignore[union-attr]
            by_label.setdefault(element.label, set()).add(look)  # type: ignore[union-attr]
    yield from (f"{sorted(labels)} look alike" for labels in by_look.values() if len(labels) > 1)


def _values(element: Element) -> Iterator[np.ndarray]:
    match element:
        case Line() | Points() | Shape():
            yield from (element.x, element.y)
        case Band() | Intervals():
            yield from (element.x, element.low, element.high)
        case Bars():
            yield from (element.x, element.heights)


def look_of(element: Element) -> tuple[object, ...] | None:
    """Return the properties that distinguish an element; `None` if there are none."""
    match element:
        case Line():
            return "line", element.colour, element.dash, element.marker
        case Points():
            return "points", str(element.colour), element.marker, element.hollow
        case Bars() | Band() | Span() | Shape():
            return type(element).__name__, element.colour
        case Rule():
            return "rule", element.colour, element.dash, element.axis
    return None

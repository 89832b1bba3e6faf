"""The small figure of a row: the algorithm and its baselines on one pair of axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import Figure, Line
from selfclock.page_parts import Illustration

if TYPE_CHECKING:
    from selfclock.evaluate.row import Row
    from selfclock.evaluate.scorecard import RowResult, Scorecard
    from selfclock.figure import Panel

#: With more places than this, ticks are at round numbers.
_TICKS = 15


def figure(line: RowResult, card: Scorecard) -> Illustration:
    """Draw it. The algorithm's own line is the thick one."""
    row = line.row
    drawn = Figure(height=3.0)
    drawn.panels = [[replace(row.panel, elements=list(row.panel.elements))]]
    others = [each for each in card.baselines if each.label in line.baselines and each.label != card.algorithm]
    for subject in [*others, card.subject]:
        look = style.look(subject.label)
        drawn.panel.elements += [
            replace(
                curve, colour=look.colour, dash=look.line, marker=look.marker if row.points else "",
                width=2.0 if subject.label == card.algorithm else 0.9, label=subject.label,
            )
            for curve in row.lines(card.lab, subject)
        ]  # fmt: skip
    _mark_places(drawn.panel, row)
    return Illustration(
        f"{row.id}, {row.title}", "The thick line is the algorithm's; dotted lines are thresholds.", drawn
    )


def _mark_places(panel: Panel, row: Row) -> None:
    """Put ticks at cases, seeds and numbers of flows, not between them."""
    places = sorted({float(place) for element in panel.elements if isinstance(element, Line) for place in element.x})
    if row.points and not panel.x.names and len(places) <= _TICKS and all(map(float.is_integer, places)):
        panel.x.names = {place: f"{place:g}" for place in places}

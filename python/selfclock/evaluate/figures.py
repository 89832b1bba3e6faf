"""The small figure of a row: the algorithm and its baselines on one pair of axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import Figure
from selfclock.parts import Illustration

if TYPE_CHECKING:
    from selfclock.evaluate.scorecard import Line, Scorecard


def figure(line: Line, card: Scorecard) -> Illustration:
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
    return Illustration(f"{row.id}, {row.title}", "The thick line is the algorithm's; dotted lines are marks.", drawn)

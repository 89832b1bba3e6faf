"""The small figure of a row: the algorithm and its baselines on one pair of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.parts import Illustration

if TYPE_CHECKING:
    from selfclock.evaluate.scorecard import Line, Scorecard


def figure(line: Line, card: Scorecard) -> Illustration:
    """Draw it. The algorithm's own line is the thick one; dotted lines are marks."""
    row, panel = line.row, line.row.panel
    with style.house():
        drawn, (axes,) = style.figure(height=2.6)
        for mark in panel.marks:
            axes.axhline(mark, color="#666666", linestyle=":", linewidth=0.9)
        others = [each for each in card.baselines if each.label in line.baselines and each.label != card.algorithm]
        for subject in [*others, card.subject]:
            own = subject.label == card.algorithm
            look = style.look(subject.label)
            for number, curve in enumerate(row.lines(card.lab, subject)):
                axes.plot(
                    curve.x, curve.y, look.line,
                    color=look.colour, marker=look.marker if panel.points else None,
                    linewidth=2.0 if own else 0.9, label=subject.label if number == 0 else None,
                )  # fmt: skip
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        if panel.names:
            axes.set_xticks(range(len(panel.names)), panel.names)
        if panel.log_x:
            axes.set_xscale("log")
        if panel.log_y:
            axes.set_yscale("log")
        if axes.lines:
            axes.legend(loc="best")
    return Illustration(f"{row.id}, {row.title}", "The thick line is the algorithm's; dotted lines are marks.", drawn)

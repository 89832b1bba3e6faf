"""A figure with every kind of element, and one whose series have explicit colours."""

from __future__ import annotations

import numpy as np

from selfclock.figure import Figure


def everything() -> Figure:
    """Every kind of element and axis."""
    figure = Figure(2, 2, title="Everything", x="time (s)", y="window (segments)", width=8, height=6)
    left, right = figure.panels[0]
    left.title, right.title = "Left\nin two lines", "Right"
    left.line([0, 1, 2], [1, np.nan, 3], colour="#0072B2", dash="--", step="after", label="line")
    left.points([0, 1], [2, 3], colour=["#D55E00", "#009E73"], marker="x", label="points")
    left.points([0, 1], [3, 3], marker="s", hollow=True)
    left.band([0, 1, 2], 1, [2, 2, 3], colour="#56B4E9", label="band")
    left.band([0, 1, 2], 1, [2, np.nan, 3], step="before")
    left.intervals([0, 1], [1, 2], [2, 3], label="intervals")
    right.rule("y", 2, label="rule")
    right.rule("x", 1)
    right.span("x", 0, 1, label="span")
    right.shape([0, 1, 1], [0, 0, 1], label="shape")
    right.arrow(0, 0, 1, 1)
    for frame in ("data", "fraction", "x-fraction", "y-fraction"):
        right.text(0.5, 0.5, f"in {frame} $^$ \\$5", frame=frame, shift=(3, 3))
    low, cells = figure.panels[1]
    low.y.log = True
    low.bars([0, 1], [10, 100], base=1, colour="#CC79A7", label="bars")
    cells.cells([[0, 0.5], [np.nan, 1]], low=0, high=1, texts=[["0", "half"], ["", "1"]])
    cells.x.name("a", "b")
    cells.y.low, cells.y.high = 1.5, -0.5
    figure.linked = False
    return figure


def coloured() -> Figure:
    """A series of every kind that a legend can name, each in its own colour."""
    figure = Figure(x="time (s)", y="goodput (Mbit/s)")
    panel = figure.panel
    panel.points([0, 1], [0, 1], colour="#0072B2", marker=".", size=2.5, label="points")
    panel.points([0, 1], [1, 2], colour="#D55E00", hollow=True, label="rings")
    panel.line([0, 1], [2, 3], colour="#009E73", marker="s", label="line with marks")
    panel.line([0, 1], [3, 4], colour="#CC79A7", dash="--", label="line")
    panel.bars([0, 1], [1, 1], colour="#56B4E9", label="bars")
    panel.rule("y", 2.5, colour="#E69F00", label="rule")
    return figure


#: The colour of each label.
COLOURS = {"points": "#0072b2", "rings": "#d55e00", "line with marks": "#009e73", "line": "#cc79a7", "bars": "#56b4e9",
           "rule": "#e69f00"}  # fmt: skip

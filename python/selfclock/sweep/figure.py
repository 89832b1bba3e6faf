"""The figure of a sweep: what changes along the longest path of the grid, a line for each of the other settings."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from selfclock import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from selfclock.sweep.run import PointSummary, Sweep

#: Measures that are drawn, each with its axis and the factor to its unit.
DRAWN = {
    "goodput_bps": ("goodput (Mbit/s)", 1e-6),
    "utilization": ("busy (%)", 100.0),
    "rtt_mean_s": ("mean RTT (ms)", 1e3),
    "queue_mean_packets": ("queue (packets)", 1.0),
}

#: With more points than this, some are drawn and the title says so.
MOST_DRAWN = 20_000

#: With more lines than this nobody could tell them apart: points are then drawn alike.
MOST_LINES = 12

_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
_MARKERS = ["o", "s", "^", "D", "v", "P"]


@style.house()
def figure(found: Sweep) -> Figure:
    """Means over the seeds with their confidence intervals."""
    rows, axes = style.figure(len(DRAWN), height=8.5)
    points = [point for point in found.points[:MOST_DRAWN] if point["measures"]]
    if not found.grid.paths or not points:
        return rows
    places, axis = _along(found)
    lines = _lines(points, axis)
    for panel, (name, (label, factor)) in zip(axes, DRAWN.items(), strict=True):
        for number, (line, members) in enumerate(lines.items()):
            _draw(panel, name, factor, [(places[point["point"]], point) for point in members], number, line)
        panel.set_ylabel(label)
        panel.margins(y=0.1)
        panel.set_ylim(bottom=0)
    if len(found.points) > MOST_DRAWN:
        axes[0].set_title(f"the first {MOST_DRAWN:,} of {len(found.points):,} points", loc="right", fontsize=8)
    _mark_places(axes[-1], found, axis, places)
    if any(lines):
        axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.02), ncols=3, borderaxespad=0)
    return rows


def _along(found: Sweep) -> tuple[dict[int, float], str]:
    """Return the place of every point on the axis, and the path that the axis is: that of numbers with most values."""
    columns = found.grid.columns()
    numeric = {
        path: column
        for path in found.grid.paths
        for column in columns.columns
        if (column == path or column.startswith(f"{path} [")) and columns[column].dtype.is_numeric()
    }
    paths = list(numeric) or found.grid.paths
    axis = max(paths, key=lambda path: columns[path].n_unique())
    if axis in numeric:
        values = columns[numeric[axis]].to_list()
    else:
        order = {value: number for number, value in enumerate(dict.fromkeys(columns[axis].to_list()))}
        values = [order[value] for value in columns[axis].to_list()]
    return dict(zip(columns["point"].to_list(), map(float, values), strict=True)), axis


def _lines(points: Sequence[PointSummary], axis: str) -> dict[str, list[PointSummary]]:
    lines: dict[str, list[PointSummary]] = {}
    for point in points:
        settings = point["settings"]
        others = [
            f"{value}" if isinstance(value, str) else f"{path.rsplit('.', 1)[-1]} {value}"
            for path, value in settings.items()
            if path != axis
        ]
        lines.setdefault(", ".join(others), []).append(point)
    return lines if len(lines) <= MOST_LINES else {"": list(points)}


def _draw(
    panel: Axes, name: str, factor: float, members: list[tuple[float, PointSummary]], number: int, label: str
) -> None:
    known = sorted(
        (place, point["measures"][name]["mean"] * factor, (point["measures"][name]["half_width"] or 0.0) * factor)
        for place, point in members
        if name in point["measures"]
    )
    if not known:
        return
    at, means, halves = (np.array(column) for column in zip(*known, strict=True))
    look = style.LOOKS.get(label)
    colour = look.colour if look else _COLOURS[number % len(_COLOURS)]
    marker = look.marker if look else _MARKERS[number // len(_COLOURS) % len(_MARKERS)]
    # Points that are drawn alike belong to no line.
    joined = "-" if len(np.unique(at)) == len(at) else ""
    panel.plot(at, means, f"{joined}{marker}", color=colour, label=label)
    panel.vlines(at, means - halves, means + halves, color=colour, linewidth=1)


def _mark_places(panel: Axes, found: Sweep, axis: str, places: dict[int, float]) -> None:
    columns = found.grid.columns()
    column = next((name for name in columns.columns if name.startswith(f"{axis} [")), axis)
    short = axis.rsplit(".", 1)[-1]
    if columns[column].dtype.is_numeric():
        unit = column.removeprefix(axis).strip(" []")
        panel.set_xlabel(f"{short} ({unit})" if unit else short)
        ordered = sorted(set(places.values()))
        # Values that grow by factors stand evenly on a logarithmic axis.
        if ordered[0] > 0 and len(ordered) > 2 and ordered[-1] / ordered[0] >= 10 and _grows_by_factors(ordered):
            panel.set_xscale("log")
    else:
        panel.set_xlabel(short)
        names = dict.fromkeys(map(str, columns[axis].to_list()))
        panel.set_xticks(range(len(names)), list(names))


def _grows_by_factors(ordered: Sequence[float]) -> bool:
    def unevenness(values: Sequence[float]) -> float:
        steps = [high - low for low, high in itertools.pairwise(values)]
        return max(steps) / min(steps)

    return unevenness([math.log(value) for value in ordered]) < unevenness(ordered)

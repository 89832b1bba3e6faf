"""The figure of a sweep: measures along the longest path of the grid, a line for each other setting."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import Figure, Intervals, Line, Points
from selfclock.style import Look
from selfclock.sweep.measures import MEASURES
from selfclock.sweep.table import sharers, short_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selfclock.estimate import Estimate
    from selfclock.figure import Axis, Panel
    from selfclock.sweep.run import PointSummary, Sweep

    Members = list[tuple[float, PointSummary]]
    Measured = Callable[[PointSummary], Estimate | None]

#: With more points than this, only some are drawn, and the title says so.
MOST_DRAWN = 20_000

#: Looks of lines: no two share colour and marker, and the second six are also dashed.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_SERIES = [Look(colour, marker) for colour, marker in zip(_COLOURS, "os^DvP", strict=True)]
_SERIES += [Look(colour, marker, "--") for colour, marker in zip(_COLOURS, "X<>dhp", strict=True)]

#: With more lines than this, settings are separated by columns; with more columns than this, all
#: points look alike.
MOST_LINES, MOST_COLUMNS = len(_SERIES), 4

#: Minimum distance between ticks, as a fraction of the axis.
_APART = 0.06

#: Distance of the intervals of two lines at one place, as a fraction of the axis.
_ASIDE = 0.006


@dataclass(frozen=True)
class _Series:
    """A line's name and look; points that look alike belong to no line."""

    label: str
    look: Look
    joined: bool
    #: The place of a point's interval, by that of the point.
    beside: Callable[[float], float]


@dataclass(frozen=True)
class _Column:
    """One column of panels: points by line."""

    title: str
    lines: dict[str, list[PointSummary]]
    joined: bool = True


def figure(found: Sweep) -> Figure:
    """Return means over the seeds with their confidence intervals; with several flows also their shares."""
    measures = {name: MEASURES[name] for name in found.shown}
    points = [point for point in found.points[:MOST_DRAWN] if point["measures"]]
    if not found.grid.paths or not points:
        return Figure(len(measures), height=8.5)
    places, axis, numeric = _along(found)
    columns, notes = _columns(points, axis)
    labels = list(dict.fromkeys(label for column in columns for label in column.lines))
    who = sharers(points)
    # With one line, all flows share a panel; with several lines, each flow has its own.
    shares = [who] if len(labels) == 1 and who else [[name] for name in who]
    rows = len(measures) + len(shares)
    drawn = Figure(rows, len(columns), height=2.0 * rows + 0.5, width=max(6.4, 2.6 * len(columns)),
                   same_x=True, same_scale=True)  # fmt: skip
    looks = _looks(labels)
    of_who = _looks(who, [name.rpartition("(")[2].rstrip(")") for name in who])
    for place, column in enumerate(columns):
        panels = [row[place] for row in drawn.panels]
        panels[0].title = column.title
        for nth, (label, members) in enumerate(column.lines.items()):
            beside = _beside(nth, len(column.lines), places, repeated=len(found.grid.seeds) > 1)
            at = [(places[point["point"]], point) for point in members]
            # Names have no order for a line to follow.
            series = _Series(label, looks[label], column.joined and numeric, beside)
            for panel, (name, measure) in zip(panels, measures.items(), strict=False):
                _draw(panel, series, at, _measure(name), measure.factor)
            for panel, names in zip(panels[len(measures) :], shares, strict=True):
                for name in names:
                    own = replace(series, label=name, look=of_who[name]) if len(labels) == 1 else series
                    _draw(panel, own, at, _share(name), 1e-6)
        _mark_places(panels[-1].x, found, axis, places)
    _name_rows(drawn, [measure.axis for measure in measures.values()], shares)
    if len(found.points) > MOST_DRAWN:
        notes.append(f"The first {MOST_DRAWN:,} of {len(found.points):,} points are drawn.")
    drawn.notes, drawn.title = notes, " ".join(notes)
    return drawn


def _beside(number: int, count: int, places: Mapping[int, float], *, repeated: bool) -> Callable[[float], float]:
    """Return the places of a line's intervals: those of several lines stand side by side."""
    if not repeated or count < 2:
        return lambda place: place
    ordered = sorted(set(places.values()))
    shift = (number - (count - 1) / 2) * _ASIDE
    if _is_logarithmic(ordered):
        factor = (ordered[-1] / ordered[0]) ** shift
        return lambda place: place * factor
    width = (ordered[-1] - ordered[0]) or 1.0
    return lambda place: place + shift * width


def _is_logarithmic(ordered: Sequence[float]) -> bool:
    """Whether values grow by factors: they are evenly spaced on a logarithmic axis."""
    return ordered[0] > 0 and len(ordered) > 2 and ordered[-1] / ordered[0] >= 10 and _grows_by_factors(ordered)


def _name_rows(drawn: Figure, labels: Sequence[str], shares: Sequence[Sequence[str]]) -> None:
    """Label each row, and keep wide intervals from compressing the means."""
    whose = ["each flow" if len(names) > 1 else names[0].replace(" (", ", ").rstrip(")") for names in shares]
    for row, label in zip(drawn.panels, [*labels, *(f"goodput, {who}\n(Mbit/s)" for who in whose)], strict=True):
        row[0].y.label = label
        elements = [element for panel in row for element in panel.elements]
        most = max((element.y.max() for element in elements if isinstance(element, Line | Points)), default=0.0)
        highest = max((element.high.max() for element in elements if isinstance(element, Intervals)), default=most)
        for panel in row:
            panel.y.low = 0.0
            if most > 0:
                top = float(max(most, min(highest, 1.4 * most)))
                # No share of a whole is above it.
                panel.y.high = 1.05 * (min(top, 100.0) if label.endswith("(%)") else top)


def _along(found: Sweep) -> tuple[dict[int, float], str, bool]:
    """Return the position of every point on the axis, the path that the axis shows, and whether it is numeric.

    The path is the numeric one with the most values.
    """
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
    return dict(zip(columns["point"].to_list(), map(float, values), strict=True)), axis, axis in numeric


def _columns(points: Sequence[PointSummary], axis: str) -> tuple[list[_Column], list[str]]:
    """Sort the points into lines, and into columns if there are too many lines; also return notes for the reader."""
    lines = _lines(points, {axis})
    if len(lines) <= MOST_LINES:
        return [_Column("", lines)], []
    values = {path: {point["settings"][path] for point in points} for path in points[0]["settings"] if path != axis}
    for path in sorted(values, key=lambda path: len(values[path])):
        if 1 < len(values[path]) <= MOST_COLUMNS and len(_lines(points, {axis, path})) <= MOST_LINES:
            by_value: dict[object, list[PointSummary]] = {}
            for point in points:
                by_value.setdefault(point["settings"][path], []).append(point)
            return [
                _Column(_setting(path, value), _lines(members, {axis, path})) for value, members in by_value.items()
            ], []
    note = f"{len(lines):,} settings are too many to distinguish, so their points look alike."
    return [_Column("", {"": list(points)}, joined=False)], [note]


def _lines(points: Sequence[PointSummary], without: set[str]) -> dict[str, list[PointSummary]]:
    lines: dict[str, list[PointSummary]] = {}
    for point in points:
        others = [_setting(path, value) for path, value in point["settings"].items() if path not in without]
        lines.setdefault(", ".join(others), []).append(point)
    return lines


def _setting(path: str, value: object) -> str:
    return value if isinstance(value, str) else f"{path.rsplit('.', 1)[-1]} {value}"


def _looks(labels: Sequence[str], algorithms: Sequence[str] = ()) -> dict[str, Look]:
    """Return the looks of lines: those of their algorithms if each has one, and no two equal."""
    names = algorithms or labels
    own = [style.look(name) for name in names]
    if any(name in style.LOOKS for name in names) and len({(look.colour, look.line) for look in own}) == len(own):
        return dict(zip(labels, own, strict=True))
    return dict(zip(labels, _SERIES, strict=False))


def _measure(name: str) -> Measured:
    return lambda point: point["measures"].get(name)


def _share(name: str) -> Measured:
    return lambda point: point["shares"].get(name, {}).get("goodput_bps")


def _draw(panel: Panel, series: _Series, at: Members, measured: Measured, factor: float) -> None:
    known = sorted(
        (place, found["mean"] * factor, (found["half_width"] or 0.0) * factor)
        for place, point in at
        if (found := measured(point)) is not None
    )
    if not known:
        return
    places, means, halves = map(list, zip(*known, strict=True))
    look = series.look
    if series.joined:
        panel.line(places, means, colour=look.colour, marker=look.marker, dash=look.line, label=series.label)
    else:
        panel.points(places, means, colour=look.colour, marker=look.marker, label=series.label)
    if any(halves):
        ends = list(zip(means, halves, strict=True))
        aside = [series.beside(place) for place in places]
        panel.intervals(aside, [mean - half for mean, half in ends], [mean + half for mean, half in ends],
                        colour=look.colour)  # fmt: skip


def _mark_places(along: Axis, found: Sweep, path: str, places: dict[int, float]) -> None:
    columns = found.grid.columns()
    column = next((name for name in columns.columns if name.startswith(f"{path} [")), path)
    short = short_path(path)
    if not columns[column].dtype.is_numeric():
        along.label = short
        along.name(*dict.fromkeys(map(str, columns[path].to_list())))
        return
    unit = column.removeprefix(path).strip(" []")
    along.label = f"{short} ({unit})" if unit else short
    ordered = sorted(set(places.values()))
    along.log = _is_logarithmic(ordered)
    along.names = {value: f"{value:.4g}" for value in _ticks(ordered, log=along.log)}


def _ticks(ordered: Sequence[float], *, log: bool) -> list[float]:
    """Return the positions of points, without those whose names would overlap others; empty if hardly any remain."""
    scaled = [math.log(value) for value in ordered] if log else list(ordered)
    least = _APART * (scaled[-1] - scaled[0])
    kept: list[int] = []
    for number, value in enumerate(scaled):
        if not kept or value - scaled[kept[-1]] >= least:
            kept.append(number)
    # Randomly drawn values are unsuitable as ticks.
    return [ordered[number] for number in kept] if 2 * len(kept) > len(ordered) else []


def _grows_by_factors(ordered: Sequence[float]) -> bool:
    def unevenness(values: Sequence[float]) -> float:
        steps = [high - low for low, high in itertools.pairwise(values)]
        return max(steps) / min(steps)

    return unevenness([math.log(value) for value in ordered]) < unevenness(ordered)

"""From matplotlib figures to charts that a browser can zoom and read value by value.

A figure is drawn once, with matplotlib, for print and for the screen: its lines, markers, bars, areas, texts and axes
are translated into the description that Plotly draws. What has no translation raises `UntranslatableError`, and the
page shows the drawing itself.
"""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import collections, colors, container, lines, patches, text, ticker

from selfclock import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

#: A longer series is thinned to the least and the greatest value in so many parts of its extent: more than a wide
#: screen has columns of pixels.
BINS = 1500

#: Pixels for a typographic point and for an inch of a figure.
POINT, INCH = 96 / 72, 100

_DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
_STEPS = {"steps-post": "hv", "steps-pre": "vh", "steps": "vh", "steps-mid": "hvh"}
_SYMBOLS = {
    "o": "circle", ".": "circle", ",": "circle", "s": "square", "^": "triangle-up", "v": "triangle-down",
    "<": "triangle-left", ">": "triangle-right", "D": "diamond", "d": "diamond-tall", "P": "cross", "X": "x",
    "x": "x-thin-open", "+": "cross-thin-open", "*": "star", "p": "pentagon", "h": "hexagon", "H": "hexagon2",
    "8": "octagon", "1": "y-down-open", "2": "y-up-open", "3": "y-left-open", "4": "y-right-open",
    "|": "line-ns-open", "_": "line-ew-open",
}  # fmt: skip
_GREEK = {r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\delta": "δ", r"\lambda": "λ", r"\mu": "µ", r"\rho": "ρ",
          r"\tau": "τ", r"\times": "×", r"\cdot": "·", r"\approx": "≈", r"\leq": "≤", r"\geq": "≥", r"\pm": "±",
          r"\infty": "∞", r"\sqrt": "√"}  # fmt: skip


class UntranslatableError(Exception):
    """A figure has something that the chart library draws otherwise or not at all."""


@dataclass
class Chart:
    """A figure for the browser."""

    traces: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)
    #: Least width in which it can be read, in pixels.
    width: int = 0
    #: Something was thinned.
    thinned: bool = False


def translate(figure: Figure) -> Chart:
    """Return the chart of a figure."""
    with style.house():
        # Places the axes, and makes the texts of their ticks.
        figure.draw_without_rendering()
    chart = Chart(layout={"annotations": [], "shapes": []})
    panels = [axes for axes in figure.axes if axes.get_visible()]
    if not panels or figure.subfigs:
        raise UntranslatableError("no axes, or figures in figures")
    places = _Places(panels)
    legend = _legend(figure, panels)
    for axes in panels:
        _Panel(chart, axes, places, legend).translate()
    for label, handle in legend.items():
        if not any(trace.get("showlegend") and trace["name"] == _text(label) for trace in chart.traces):
            chart.traces.append(_key(label, handle))
    title = figure.get_suptitle()
    shown = any(trace.get("showlegend") for trace in chart.traces)
    left_out = 14 * sum(axes.get_title(loc=loc).count("\n") for axes in panels[:1] for loc in ("left", "center"))
    chart.width = 190 * places.columns if places.columns > 1 else 0
    chart.layout |= {
        "height": round(figure.get_figheight() * INCH) + (40 if shown else 0),
        "margin": {"l": 56, "r": 16, "t": (64 if title else 36) + left_out, "b": 48, "autoexpand": True},
        "showlegend": shown,
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0.5,
            "xanchor": "center",
            # However small the points of a series are, its entry can be seen.
            "itemsizing": "constant",
        },
        "barmode": "overlay",
        "hovermode": "x unified" if places.stacked else "closest",
        "hoversubplots": "axis",
    }
    if title:
        chart.layout["title"] = {"text": _text(title), "font": {"size": 14}, "x": 0.01, "xanchor": "left"}
    return chart


class _Places:
    """Which axes of the chart each axes of the figure uses, and where they are."""

    def __init__(self, panels: list[Axes]) -> None:
        boxes = [axes.get_position() for axes in panels]
        left, right = min(box.x0 for box in boxes), max(box.x1 for box in boxes)
        low, high = min(box.y0 for box in boxes), max(box.y1 for box in boxes)
        self.x: dict[Axes, int] = {}
        self.y: dict[Axes, int] = {}
        self.domain: dict[Axes, tuple[list[float], list[float]]] = {}
        self.twin: dict[Axes, Axes] = {}
        #: The lowest axes of those that use an x axis: there its ticks are.
        self.foot: dict[int, Axes] = {}
        for number, (axes, box) in enumerate(zip(panels, boxes, strict=True), 1):
            self.domain[axes] = (
                [_clip((box.x0 - left) / (right - left)), _clip((box.x1 - left) / (right - left))],
                [_clip((box.y0 - low) / (high - low)), _clip((box.y1 - low) / (high - low))],
            )
            self.y[axes] = self.x[axes] = number
            siblings = axes.get_shared_x_axes()
            for earlier in panels[: number - 1]:
                if not siblings.joined(axes, earlier):
                    continue
                # Stacked above each other they have one x axis: zoomed together, read together.
                if self.domain[earlier][0] == self.domain[axes][0]:
                    self.x[axes] = self.x[earlier]
                if self.domain[earlier] == self.domain[axes]:
                    self.twin[axes] = earlier
            foot = self.foot.setdefault(self.x[axes], axes)
            if self.domain[axes][1][0] < self.domain[foot][1][0]:
                self.foot[self.x[axes]] = axes
        self.columns = len({tuple(domain[0]) for domain in self.domain.values()})
        uses = list(self.x.values())
        self.stacked = self.columns == 1 and len(panels) > 1 and len(set(uses)) == 1


class _Panel:
    """One pair of axes."""

    def __init__(self, chart: Chart, axes: Axes, places: _Places, legend: dict[str, Any]) -> None:
        if axes.name != "rectilinear" or axes.images or axes.tables or axes.child_axes:
            raise UntranslatableError("a kind of axes or picture")
        self._chart, self._axes, self._places, self._legend = chart, axes, places, legend
        self._x, self._y = _ref("x", places.x[axes]), _ref("y", places.y[axes])

    def translate(self) -> None:
        """Add what the axes show to the chart."""
        self._artists()
        axes = self._axes
        for words in axes.texts:
            if words.get_visible() and words.get_text().strip():
                self._words(words)
        for loc in ("left", "center", "right"):
            if title := axes.get_title(loc=loc):
                self._title(title, loc)
        self._axis("x", axes.xaxis)
        self._axis("y", axes.yaxis)

    def _artists(self) -> None:
        axes = self._axes
        bars = [held for held in axes.containers if isinstance(held, container.BarContainer)]
        in_bars = {id(patch) for held in bars for patch in held.patches}
        for held in bars:
            self._bars(held)
        for artist in sorted([*axes.collections, *axes.patches, *axes.lines], key=lambda artist: artist.get_zorder()):
            if not artist.get_visible() or id(artist) in in_bars:
                continue
            match artist:
                case lines.Line2D():
                    self._line(artist)
                case collections.PathCollection():
                    self._scatter(artist)
                case collections.LineCollection():
                    self._segments(artist)
                case collections.PolyCollection():
                    self._areas(artist)
                case patches.Rectangle() if not self._in_data(artist):
                    self._span(artist)
                case patches.Rectangle() | patches.Polygon():
                    self._patch(artist)
                case _:
                    raise UntranslatableError(type(artist).__name__)

    def _add(self, kind: str, label: str, **rest: Any) -> None:  # noqa: ANN401
        named = not label.startswith("_")
        shown = named and label in self._legend
        first = not any(trace.get("showlegend") and trace["name"] == _text(label) for trace in self._chart.traces)
        self._chart.traces.append(
            {
                "type": kind,
                "xaxis": self._x,
                "yaxis": self._y,
                "name": _text(label) if named else "",
                "legendgroup": _text(label) if shown else "",
                "showlegend": shown and first,
                **rest,
            }
        )

    def _in_data(self, artist: Any) -> bool:  # noqa: ANN401
        return bool(artist.get_transform().contains_branch(self._axes.transData)) and not self._blended(artist)

    def _blended(self, artist: Any) -> str:  # noqa: ANN401
        """Tell which direction is in fractions of the axes: x, y, or neither."""
        along_x, along_y = artist.get_transform().contains_branch_seperately(self._axes.transData)
        return "" if along_x and along_y else "y" if along_x else "x" if along_y else "xy"

    def _line(self, line: lines.Line2D) -> None:
        label, alpha = str(line.get_label()), line.get_alpha() or 1.0
        dash, marker = str(line.get_linestyle()), str(line.get_marker())
        if isinstance(line, lines.AxLine):
            self._slope(line)
            return
        x, y = _numbers(line.get_xdata(orig=False)), _numbers(line.get_ydata(orig=False))
        drawn = dash not in {"None", "none", "", " "}
        stroke = {
            "color": _colour(line.get_color()),
            "width": round(line.get_linewidth() * POINT, 2),
            "dash": _DASHES.get(dash, "dash"),
            "shape": _STEPS.get(str(line.get_drawstyle()), "linear"),
        }
        if blended := self._blended(line):
            if blended == "xy" or len(x) != 2:
                raise UntranslatableError("a line in fractions of the axes")
            self._shape("line", x, y, blended, {"line": {**stroke, "shape": None}, "opacity": alpha})
            return
        if marker not in {"None", "none", "", " "}:
            every = line.get_markevery()
            at_x, at_y = (x[::every], y[::every]) if isinstance(every, int) else (x, y)
            style_of = {"marker": _marker(line, marker), "opacity": alpha}
            if drawn:
                self._series(x, y, label, mode="lines", line=stroke, opacity=alpha)
                label = "_"
            self._series(at_x, at_y, label, mode="markers", **style_of)
        elif drawn:
            self._series(x, y, label, mode="lines", line=stroke, opacity=alpha)

    def _series(self, x: Points, y: Points, label: str, **rest: Any) -> None:  # noqa: ANN401
        x, y, thinned = thin(x, y, connected=rest["mode"] == "lines")
        self._chart.thinned |= thinned
        self._add("scatter", label, x=_values(x), y=_values(y), **rest)

    def _slope(self, line: lines.AxLine) -> None:
        start, slope = line.get_xy1(), line.get_slope()
        if "log" in {self._axes.get_xscale(), self._axes.get_yscale()} or slope is None or start is None:
            raise UntranslatableError("an endless line")
        x0, y0 = start
        x = np.array(self._axes.get_xlim())
        stroke = {
            "color": _colour(line.get_color()),
            "width": line.get_linewidth() * POINT,
            "dash": _DASHES.get(str(line.get_linestyle()), "dash"),
        }
        self._series(x, y0 + slope * (x - x0), str(line.get_label()), mode="lines", line=stroke)

    def _scatter(self, points: collections.PathCollection) -> None:
        at = _numbers(np.ma.filled(points.get_offsets(), np.nan)).reshape(-1, 2)
        if not len(at):
            return
        fills, edges = _array(points.get_facecolor()), _array(points.get_edgecolor())
        chosen = fills if len(fills) else edges
        colour: Any = [_colour(one) for one in chosen]
        if len(colour) == 1:
            colour = colour[0]
        elif len(colour) != len(at):
            raise UntranslatableError("colours that repeat")
        sizes = [round(math.sqrt(size) * POINT, 1) for size in points.get_sizes()]
        size: Any = sizes if len(sizes) == len(at) > 1 else sizes[0]
        marker = {"symbol": "circle" if len(fills) else "circle-open", "color": colour, "size": size}
        label = str(points.get_label())
        if isinstance(colour, str) and not isinstance(size, list):
            self._series(at[:, 0], at[:, 1], label, mode="markers", marker=marker, opacity=points.get_alpha() or 1.0)
        else:
            self._add("scatter", label, x=_values(at[:, 0]), y=_values(at[:, 1]), mode="markers", marker=marker)

    def _segments(self, held: collections.LineCollection) -> None:
        if not self._in_data(held):
            raise UntranslatableError("lines in fractions of the axes")
        gap = np.array([[np.nan, np.nan]])
        parts = [part for segment in held.get_segments() for part in (_numbers(segment), gap)]
        if not parts:
            return
        at = np.concatenate(parts)
        stroke = {
            "color": _colour(_array(held.get_color())[0]),
            "width": float(_array(held.get_linewidth())[0]) * POINT,
            "dash": "solid" if _dashes(held) is None else "dash",
        }
        self._add(
            "scatter",
            str(held.get_label()),
            x=_values(at[:, 0]),
            y=_values(at[:, 1]),
            mode="lines",
            line=stroke,
            hoverinfo="skip",
        )

    def _areas(self, held: collections.PolyCollection) -> None:
        if not self._in_data(held):
            raise UntranslatableError("an area in fractions of the axes")
        paths = held.get_paths()
        fills: Any = held.get_facecolor()
        for path, colour in zip(paths, np.resize(fills, (len(paths), 4)), strict=True):
            at = _numbers(path.vertices)
            self._add(
                "scatter",
                str(held.get_label()),
                x=_values(at[:, 0]),
                y=_values(at[:, 1]),
                mode="lines",
                fill="toself",
                fillcolor=_colour(colour, keep_alpha=True),
                line={"width": 0},
                hoverinfo="skip",
            )

    def _bars(self, held: container.BarContainer) -> None:
        across = held.orientation == "horizontal"
        boxes = [(bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()) for bar in held.patches]
        if across:
            at, base = [y + height / 2 for _, y, _, height in boxes], [x for x, *_ in boxes]
            length, width = [width for _, _, width, _ in boxes], [height for *_, height in boxes]
        else:
            at, base = [x + width / 2 for x, _, width, _ in boxes], [y for _, y, *_ in boxes]
            length, width = [height for *_, height in boxes], [width for _, _, width, _ in boxes]
        colour = [_colour(bar.get_facecolor(), keep_alpha=True) for bar in held.patches]
        along, value = ("y", "x") if across else ("x", "y")
        rest = {
            along: _values(_numbers(at)),
            value: _values(_numbers(length)),
            "base": _values(_numbers(base)),
            "width": _values(_numbers(width)),
            "orientation": "h" if across else "v",
        }
        self._add("bar", str(held.get_label()), marker={"color": colour}, **rest)

    def _span(self, box: patches.Rectangle) -> None:
        corners = box.get_bbox()
        self._shape(
            "rect",
            np.array([corners.x0, corners.x1]),
            np.array([corners.y0, corners.y1]),
            self._blended(box),
            {"fillcolor": _colour(box.get_facecolor(), keep_alpha=True), "line": {"width": 0}, "layer": "below"},
        )

    def _patch(self, patch: patches.Patch) -> None:
        if not self._in_data(patch):
            raise UntranslatableError("a shape in fractions of the axes")
        at = _numbers(patch.get_patch_transform().transform(patch.get_path().vertices))
        edge = {"color": _colour(patch.get_edgecolor()), "width": patch.get_linewidth() * POINT}
        filled = patch.get_fill() and colors.to_rgba(patch.get_facecolor())[3] > 0
        self._add(
            "scatter",
            str(patch.get_label()),
            x=_values(at[:, 0]),
            y=_values(at[:, 1]),
            mode="lines",
            line=edge,
            hoverinfo="skip",
            **({"fill": "toself", "fillcolor": _colour(patch.get_facecolor(), keep_alpha=True)} if filled else {}),
        )

    def _shape(self, kind: str, x: Points, y: Points, blended: str, rest: dict[str, Any]) -> None:
        across, up = self._refs(blended)
        self._chart.layout["shapes"].append(
            {
                "type": kind,
                "xref": across,
                "yref": up,
                "x0": float(x[0]),
                "x1": float(x[-1]),
                "y0": float(y[0]),
                "y1": float(y[-1]),
                **rest,
            }
        )

    def _refs(self, blended: str) -> tuple[str, str]:
        """Return the axes to place something by, in fractions where it is so."""
        return (
            self._x + " domain" if "x" in blended else self._x,
            self._y + " domain" if "y" in blended else self._y,
        )

    def _words(self, words: text.Text) -> None:
        x, y = (float(value) for value in words.get_position())
        shift: tuple[float, float] = (0, 0)
        pointed: dict[str, Any] = {"showarrow": False}
        blended = ""
        if isinstance(words, text.Annotation):
            coordinates = words.xycoords
            if words.anncoords == "offset points":
                shift, (x, y) = (x * POINT, y * POINT), words.xy
            elif words.anncoords != coordinates:
                raise UntranslatableError("a text in other coordinates than its arrow")
            if coordinates == "axes fraction":
                blended = "xy"
            elif coordinates != "data":
                raise UntranslatableError(f"a text in {coordinates}")
            if words.arrowprops:
                pointed = {
                    "showarrow": True,
                    "arrowhead": 2,
                    "arrowsize": 0.8,
                    "ax": x,
                    "ay": y,
                    "axref": self._x,
                    "ayref": self._y,
                }
                if shift != (0, 0):
                    pointed |= {"ax": shift[0], "ay": -shift[1], "axref": "pixel", "ayref": "pixel"}
                    shift = (0, 0)
                x, y = words.xy
        else:
            blended = self._blended(words)
        across, up = self._refs(blended)
        if "x" not in blended:
            x = self._place(self._axes.get_xscale(), x)
        if "y" not in blended:
            y = self._place(self._axes.get_yscale(), y)
        vertical = {"center": "middle", "center_baseline": "middle", "baseline": "bottom"}
        self._chart.layout["annotations"].append(
            {
                "x": x,
                "y": y,
                "xref": across,
                "yref": up,
                "text": _text(words.get_text()),
                "xshift": shift[0],
                "yshift": shift[1],
                "xanchor": words.get_horizontalalignment(),
                "yanchor": vertical.get(words.get_verticalalignment(), words.get_verticalalignment()),
                "font": {"size": round(float(words.get_fontsize()) * POINT * 0.9, 1)},
                "align": "left",
                "textangle": -float(words.get_rotation()),
                **pointed,
            }
        )

    @staticmethod
    def _place(scale: str, value: float) -> float:
        """Annotations stand on a logarithmic axis at the logarithm."""
        return math.log10(value) if scale == "log" and value > 0 else value

    def _title(self, title: str, loc: str) -> None:
        at = {"left": 0.0, "center": 0.5, "right": 1.0}[loc]
        self._chart.layout["annotations"].append(
            {
                "x": at,
                "y": 1,
                "xref": self._x + " domain",
                "yref": self._y + " domain",
                "text": f"<b>{_text(title)}</b>",
                "xanchor": loc,
                "yanchor": "bottom",
                "yshift": 4,
                "showarrow": False,
                "align": "left",
                "font": {"size": 13},
            }
        )

    def _axis(self, which: str, axis: Axis) -> None:
        axes, places = self._axes, self._places
        number = (places.x if which == "x" else places.y)[axes]
        name = f"{which}axis" if number == 1 else f"{which}axis{number}"
        if which == "x" and places.foot[places.x[axes]] is not axes:
            return
        domain = places.domain[axes][0 if which == "x" else 1]
        low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
        scale = axis.get_scale()
        if scale not in {"linear", "log"}:
            raise UntranslatableError(f"a {scale} axis")
        if scale == "log":
            low, high = math.log10(low), math.log10(high)
        shown = bool(axis.get_tick_params(which="major").get("labelbottom" if which == "x" else "labelleft", True))
        twin = places.twin.get(axes)
        said: dict[str, Any] = {
            "type": scale,
            "range": [_short(low), _short(high)],
            "domain": domain,
            "title": {"text": _text(axis.get_label_text()), "standoff": 6},
            "anchor": self._y if which == "x" else self._x,
            "showticklabels": shown or which == "x",
            "showgrid": any(line.get_visible() for line in axis.get_gridlines()) and twin is None,
            "visible": bool(axes.axison and axis.get_visible()),
            "zeroline": False,
            "automargin": True,
            "hoverformat": ".6~g",
            "exponentformat": "power",
        }
        if scale == "log":
            said["dtick"] = 1 if high - low > 1 else "D1"
        if which == "x":
            said |= {
                "showspikes": True,
                "spikemode": "across",
                "spikethickness": 1,
                "spikedash": "dot",
                "spikesnap": "cursor",
            }
        if twin is not None and which == "y":
            said |= {"overlaying": _ref("y", places.y[twin]), "side": "right"}
            del said["domain"]
        leader = self._leader(which)
        if leader is not None:
            said["matches"] = leader
        if not isinstance(axis.get_major_formatter(), ticker.ScalarFormatter | ticker.LogFormatter):
            ticks = [(tick.get_loc(), tick.label1.get_text()) for tick in axis.get_major_ticks()]
            said |= {"tickvals": [float(at) for at, _ in ticks], "ticktext": [_text(words) for _, words in ticks]}
        self._chart.layout[name] = said

    def _leader(self, which: str) -> str | None:
        """Return the first axis of those that zoom together, unless it is this one."""
        axes, places = self._axes, self._places
        shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
        numbers = places.x if which == "x" else places.y
        bearing = places.foot.values() if which == "x" else numbers
        first = min(numbers[other] for other in bearing if other is axes or shared.joined(axes, other))
        return None if first == numbers[axes] else _ref(which, first)


def thin(x: Points, y: Points, *, connected: bool) -> tuple[Points, Points, bool]:
    """Return fewer points that draw the same picture, and whether there are fewer.

    Of a line: first, least, greatest and last of each of `BINS` parts of its extent in x. Of single points: one for
    each place that a screen can tell apart.
    """
    if len(x) <= 4 * BINS:
        return x, y, False
    low, high = np.nanmin(x), np.nanmax(x)
    if not np.isfinite(high - low) or high == low:
        return x, y, False
    bins = np.nan_to_num((x - low) / (high - low) * (BINS - 1), nan=-1).astype(np.int64)
    if not connected:
        span = np.nanmax(y) - np.nanmin(y) or 1.0
        rows = np.nan_to_num((y - np.nanmin(y)) / span * (BINS - 1), nan=-1).astype(np.int64)
        _, kept = np.unique(bins * (BINS + 1) + rows, return_index=True)
        kept.sort()
        return x[kept], y[kept], len(kept) < len(x)
    if np.any(np.diff(x[np.isfinite(x)]) < 0):
        return x, y, False
    starts = np.flatnonzero(np.r_[True, np.diff(bins) != 0])
    ends = np.r_[starts[1:], len(x)]
    chosen: list[int] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        part = y[start:end]
        known = np.flatnonzero(np.isfinite(part))
        inner = (
            []
            if not len(known)
            else [start + int(known[np.argmin(part[known])]), start + int(known[np.argmax(part[known])])]
        )
        chosen += sorted({start, *inner, end - 1})
    return x[chosen], y[chosen], True


def _legend(figure: Figure, panels: Sequence[Axes]) -> dict[str, Any]:
    """Return the labels that a legend shows, and what they stand for."""
    shown: dict[str, Any] = {}
    for legend in [*figure.legends, *(axes.get_legend() for axes in panels)]:
        if legend is not None:
            for words, handle in zip(legend.get_texts(), legend.legend_handles, strict=False):
                shown.setdefault(words.get_text(), handle)
    return shown


def _key(label: str, handle: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an entry of the legend that no series has."""
    entry: dict[str, Any] = {"type": "scatter", "x": [None], "y": [None], "name": _text(label), "showlegend": True}
    if isinstance(handle, lines.Line2D):
        drawn, marker = str(handle.get_linestyle()) in _DASHES, str(handle.get_marker())
        marked = marker not in {"None", "none", "", " "}
        entry["mode"] = "+".join((["lines"] if drawn else []) + (["markers"] if marked else [])) or "markers"
        entry["line"] = {
            "color": _colour(handle.get_color()),
            "dash": _DASHES.get(str(handle.get_linestyle()), "solid"),
        }
        if marked:
            entry["marker"] = _marker(handle, marker)
    elif isinstance(handle, patches.Patch):
        # A band is faint in the figure, so its key is, too; the outline keeps it visible.
        face = handle.get_facecolor()
        entry |= {
            "mode": "markers",
            "marker": {
                "symbol": "square",
                "size": 10,
                "color": _colour(face, keep_alpha=True),
                "line": {"width": 1, "color": _colour(face)},
            },
        }
    else:
        raise UntranslatableError("a legend of its own")
    return entry


def _marker(line: lines.Line2D, marker: str) -> dict[str, Any]:
    symbol = _SYMBOLS.get(marker)
    if symbol is None:
        raise UntranslatableError(f"the marker {marker}")
    hollow = line.get_fillstyle() == "none" or str(line.get_markerfacecolor()) == "none"
    if hollow and not symbol.endswith("-open"):
        symbol += "-open"
    size = line.get_markersize() * POINT * {".": 0.6, ",": 0.3}.get(marker, 1.0)
    chosen = line.get_markeredgecolor() if hollow else line.get_markerfacecolor()
    colour = _colour(chosen if str(chosen) != "none" else line.get_color())
    # Without a colour of its own Plotly draws the outline grey, and of a small marker there is little else.
    return {"symbol": symbol, "size": round(size, 1), "color": colour, "line": {"width": 1.2, "color": colour}}


def _colour(colour: Any, *, keep_alpha: bool = False) -> str:  # noqa: ANN401
    red, green, blue, alpha = colors.to_rgba(colour)
    if keep_alpha and alpha < 1:
        return f"rgba({round(red * 255)},{round(green * 255)},{round(blue * 255)},{alpha:.3g})"
    return colors.to_hex((red, green, blue))


def _dashes(held: collections.LineCollection) -> object:
    first: Any = held.get_linestyle()[0]
    return first[1]


def _array(values: Any) -> Any:  # noqa: ANN401 matplotlib says less than it returns
    return np.asarray(values)


def _numbers(values: Any) -> Points:  # noqa: ANN401
    return np.asarray(np.ma.filled(np.ma.asarray(values, dtype=float), np.nan), dtype=float)


def _values(values: Points) -> list[float | None]:
    """Six significant digits are more than a screen shows; what is not a number is a gap."""
    return [_short(value) if math.isfinite(value) else None for value in values.tolist()]


def _short(value: float) -> float:
    short = float(f"{value:.7g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _clip(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 4)


def _ref(which: str, number: int) -> str:
    return which if number == 1 else f"{which}{number}"


def _text(words: str) -> str:
    """Return text as the chart library takes it; of TeX only what a label may have."""
    if words.count("$") >= 2:
        words = words.replace("$", "")
        for name, letter in _GREEK.items():
            words = words.replace(name, letter)
        words = re.sub(r"\\(?:mathrm|text|mathit)\{([^}]*)\}", r"\1", words)
        words = html.escape(words, quote=False)
        words = re.sub(r"_\{([^}]*)\}|_(\w)", lambda found: f"<sub>{found[1] or found[2]}</sub>", words)
        words = re.sub(r"\^\{([^}]*)\}|\^(\w)", lambda found: f"<sup>{found[1] or found[2]}</sup>", words)
        return words.replace("{", "").replace("}", "").replace("\\", "").replace("\n", "<br>")
    return html.escape(words, quote=False).replace("\n", "<br>")

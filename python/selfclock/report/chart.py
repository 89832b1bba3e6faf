"""Figures as charts that a browser can zoom and read value by value: input for Plotly, as data."""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from selfclock.figure import Arrow, Band, Bars, Cells, Intervals, Line, Points, Rule, Shape, Span, Text
from selfclock.report.colours import faint, six_digits
from selfclock.report.thinning import BINS, thin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfclock.figure import Axis, Element, Figure, Panel, Values

#: Pixels for a typographic point and for an inch of a figure.
POINT, INCH = 96 / 72, 100

#: Up to this many series per panel, each has all its columns; more series share them, down to the
#: columns of a phone's screen.
FULL_SERIES, FEWEST_BINS = 12, 400

#: With more series than this, showing all values at one time would cover the page: one is then read
#: at a time.
MOST_READ = 24

#: Pixels for a cell with words, and for the names of the rows.
CELL, NAME = 40, 170

_DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot", "-..": "8px,2px,2px,2px,2px,2px"}
_STEPS = {"": "linear", "after": "hv", "before": "vh"}
_SYMBOLS = {
    "o": "circle", ".": "circle", ",": "circle", "s": "square", "^": "triangle-up", "v": "triangle-down",
    "<": "triangle-left", ">": "triangle-right", "D": "diamond", "d": "diamond-tall", "P": "cross", "X": "x",
    "x": "x-thin-open", "+": "cross-thin-open", "*": "star", "p": "pentagon", "h": "hexagon", "H": "hexagon2",
    "8": "octagon", "1": "y-down-open", "2": "y-up-open", "3": "y-left-open", "4": "y-right-open",
    "|": "line-ns-open", "_": "line-ew-open", "$T$": "triangle-ne", "$h$": "hourglass", "$x$": "bowtie",
    "$V$": "star-triangle-down", "$i$": "diamond-wide", "$m$": "star-diamond", "$c$": "hexagram",
    "$o$": "circle-cross", "$u$": "square-cross", "$n$": "diamond-cross", "$y$": "circle-x",
}  # fmt: skip
#: Size of matplotlib's dot and pixel relative to other markers.
_SIZES = {".": 0.6, ",": 0.3}


@dataclass
class Chart:
    """A figure for the browser; numeric arrays are NumPy's."""

    traces: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)
    #: Minimum legible width, in pixels.
    width: int = 0
    #: The fewest columns to which a series was thinned; 0 if none was.
    bins: int = 0


def chart(figure: Figure, *, titled: bool = True) -> Chart:
    """Return the chart of a figure; `titled` is false if the page has the title as its heading."""
    titled = titled and bool(figure.title)
    made = Chart(layout={"annotations": [], "shapes": []})
    rows, columns = len(figure.panels), len(figure.panels[0])
    places = _Places(figure, titled=titled)
    for row, line in enumerate(figure.panels):
        for column, panel in enumerate(line):
            _Panel(made, figure, places, row, column).fill(panel)
    shown = any(part.get("showlegend") for part in [*made.traces, *made.layout["shapes"]])
    # With stacked panels all values at one time are read together; single points are read one by
    # one.
    read = max((sum(trace["hoverinfo"] != "skip" for trace in made.traces if trace["xaxis"] == _ref("x", number))
                for number in range(1, rows * columns + 1)), default=0)  # fmt: skip
    together = figure.linked and rows > 1 and read <= MOST_READ
    if not together:
        for trace in made.traces:
            if place := trace.pop("_place", ""):
                trace["hovertemplate"] = place + trace["hovertemplate"]
    for trace in made.traces:
        trace.pop("_place", None)
    # Words in cells of this width do not touch.
    every = [element for line in figure.panels for panel in line for element in panel.elements]
    of_cells = [NAME + CELL * element.values.shape[1] for element in every if isinstance(element, Cells)]
    made.width = max([240 * columns if columns > 1 else 0, *of_cells])
    made.layout |= {
        "height": places.height + (40 if shown else 0),
        "margin": {"l": 56, "r": 16, "t": places.top, "b": 48 + (40 if shown else 0), "autoexpand": True},
        "showlegend": shown,
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0.5,
            "xanchor": "center",
            # Legend entries stay visible however small the points of a series are.
            "itemsizing": "constant",
        },
        "barmode": "overlay",
        "hovermode": "x unified" if together else "closest",
        "hoversubplots": "axis",
    }
    if titled:
        title = {"text": text(figure.title), "font": {"size": 14}, "x": 0.01, "xanchor": "left"}
        made.layout["title"] = {**title, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 8}}
    return made


class _Places:
    """Positions of a figure's panels, as fractions of the area inside the margins."""

    def __init__(self, figure: Figure, *, titled: bool) -> None:
        rows, columns = len(figure.panels), len(figure.panels[0])
        headed = [any(panel.title for panel in line) for line in figure.panels]
        lines = [max(panel.title.count("\n") for panel in line) for line in figure.panels]
        # Each row has its title above it; rows that are not linked also have the upper row's axis
        # between them.
        gaps = [
            (18 + 14 * lines[row] if headed[row] else 0)
            + (14 if figure.linked else 30)
            + (18 if any(panel.x.label for panel in figure.panels[row - 1]) else 0)
            for row in range(rows)
        ]
        self.top = 14 + (26 if titled else 0) + (18 + 14 * lines[0] if headed[0] else 12)
        self.height = round(figure.height * INCH)
        inner = max(80.0 * rows, self.height - self.top - 48 - sum(gaps[1:]))
        self.height = round(inner + self.top + 48 + sum(gaps[1:]))
        whole = inner + sum(gaps[1:])
        self.rows: list[list[float]] = []
        top = whole
        for row in range(rows):
            tall = inner * figure.ratios[row] / sum(figure.ratios)
            self.rows.append([max(0.0, round((top - tall) / whole, 5)), round(top / whole, 5)])
            top -= tall + (gaps[row + 1] if row + 1 < rows else 0)
        gap = (0.025 if figure.same_scale else 0.09) if columns > 1 else 0.0
        wide = (1 - gap * (columns - 1)) / columns
        self.columns = [
            [round(column * (wide + gap), 5), round(column * (wide + gap) + wide, 5)] for column in range(columns)
        ]


class _Panel:
    """Adds a panel to a chart."""

    def __init__(self, made: Chart, figure: Figure, places: _Places, row: int, column: int) -> None:
        self._chart, self._figure, self._places, self._row, self._column = made, figure, places, row, column
        rows, columns = len(figure.panels), len(figure.panels[0])
        number = row * columns + column + 1
        # Stacked panels share one x axis: they are zoomed and read together.
        self._foot = (not figure.linked) or row == rows - 1
        self._x = _ref("x", column + 1 if figure.linked else number)
        self._y = _ref("y", number)
        self._bottom = _ref("y", (rows - 1) * columns + column + 1) if figure.linked else self._y

    def fill(self, panel: Panel) -> None:
        """Add the panel's elements."""
        figure, row, column = self._figure, self._row, self._column
        below = figure.panels[-1][column] if figure.linked else panel
        self._panel = panel
        self._along = _Quantity(below.x)
        self._up = _Quantity(panel.y if panel.y.label or not figure.same_scale else figure.panels[row][0].y)
        series = sum(isinstance(element, Line | Points) for element in panel.elements)
        self._bins = max(FEWEST_BINS, min(BINS, BINS * FULL_SERIES // max(1, series)))
        for element in panel.elements:
            self._element(element)
        if panel.title:
            self._title(panel.title)
        if self._foot:
            self._axis("x", below.x, figure.limits(row, column, "x"))
        self._axis("y", panel.y, figure.limits(row, column, "y"))

    def _element(self, element: Element) -> None:
        match element:
            case Line():
                self._line(element)
            case Points():
                self._points(element)
            case Band():
                self._band(element)
            case Bars():
                self._add("bar", element.label, x=element.x, y=element.heights, base=element.base,
                          width=np.full(len(element.x), element.width), opacity=element.opacity,
                          marker={"color": six_digits(element.colour)}, read=True)  # fmt: skip
            case Intervals():
                gap = np.full(len(element.x), np.nan)
                self._add("scatter", element.label, x=np.repeat(element.x, 3), mode="lines",
                          y=np.stack([element.low, element.high, gap], axis=1).ravel(),
                          line=_stroke(element))  # fmt: skip
            case Shape():
                self._area(element.label, element.x, element.y, element)
            case Rule():
                self._across(element, element.value, element.value, "line", {"line": _stroke(element)})
            case Span():
                fill = {"fillcolor": faint(element.colour, element.opacity), "line": {"width": 0}, "layer": "below"}
                self._across(element, element.low, element.high, "rect", fill)
            case Text():
                self._text(element)
            case Arrow():
                self._arrow(element)
            case Cells():
                self._cells(element)

    def _line(self, line: Line) -> None:
        kept = self._thinned(line.x, line.y, connected=True)
        stroke = {**_stroke(line), "shape": _STEPS[line.step]}
        marked: dict[str, Any] = {"marker": _marker(line.colour, line)} if line.marker else {}
        self._add("scatter", line.label, x=line.x[kept], y=line.y[kept], line=stroke, opacity=line.opacity,
                  mode="lines+markers" if marked else "lines", read=True, **marked)  # fmt: skip

    def _points(self, points: Points) -> None:
        if isinstance(points.colour, str):
            kept = self._thinned(points.x, points.y, connected=False)
            colour: str | list[str] = points.colour
        else:
            kept, colour = slice(None), list(points.colour)
        self._add("scatter", points.label, x=points.x[kept], y=points.y[kept], mode="markers",
                  marker=_marker(colour, points), opacity=points.opacity, read=True)  # fmt: skip

    def _thinned(self, x: Values, y: Values, *, connected: bool) -> Any:  # noqa: ANN401
        kept = thin(x, y, connected=connected, bins=self._bins)
        if kept is None:
            return slice(None)
        self._chart.bins = min(self._chart.bins or BINS, self._bins)
        return kept

    def _band(self, band: Band) -> None:
        kept = [index for edge in (band.low, band.high) if (index := thin(band.x, edge, connected=True)) is not None]
        which = np.unique(np.concatenate(kept)) if kept else slice(None)
        x, low, high = band.x[which], band.low[which], band.high[which]
        if kept:
            self._chart.bins = min(self._chart.bins or BINS, BINS)
        if band.step:
            # A step has two points: at the same x, first with the previous value, then with the new
            # one.
            x = np.repeat(x, 2)
            low, high = np.repeat(low, 2), np.repeat(high, 2)
            x, low, high = (x[1:], low[:-1], high[:-1]) if band.step == "after" else (x[:-1], low[1:], high[1:])
        known = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        edges = np.flatnonzero(np.diff(np.r_[False, known, False]))
        outline_x: list[Values] = []
        outline_y: list[Values] = []
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            outline_x += [x[begin:end], x[begin:end][::-1], np.array([np.nan])]
            outline_y += [low[begin:end], high[begin:end][::-1], np.array([np.nan])]
        if outline_x:
            self._area(band.label, np.concatenate(outline_x), np.concatenate(outline_y), band)

    def _area(self, label: str, x: Values, y: Values, look: Band | Shape) -> None:
        self._add("scatter", label, x=x, y=y, mode="lines", fill="toself", line={"width": 0},
                  fillcolor=faint(look.colour, look.opacity))  # fmt: skip

    def _add(self, kind: str, label: str, *, read: bool = False, **rest: Any) -> None:  # noqa: ANN401
        """Add a trace; `read` enables its values on hover."""
        name = text(label)
        trace = {"type": kind, "xaxis": self._x, "yaxis": self._y, "name": name, **self._entry(name), **rest}
        if not read:
            trace["hoverinfo"] = "skip"
        else:
            trace |= {"hoverinfo": "all", "_place": self._along.says("x", rest["x"], trace) + "<br>"}
            trace["hovertemplate"] = f"{self._up.says('y', rest['y'], trace)}<extra>{name}</extra>"
        self._chart.traces.append(trace)

    def _entry(self, name: str) -> dict[str, Any]:
        """Return the key of a legend entry, shared by all traces of this name."""
        drawn = [*self._chart.traces, *self._chart.layout["shapes"]]
        first = not any(part.get("showlegend") and part["name"] == name for part in drawn)
        return {"legendgroup": name, "showlegend": bool(name) and first}

    def _across(self, element: Rule | Span, low: float, high: float, kind: str, look: dict[str, Any]) -> None:
        """Add a shape that crosses the whole panel."""
        name = text(element.label)
        ends = {"x0": low, "x1": high, "y0": 0, "y1": 1, "xref": self._x, "yref": f"{self._y} domain"}
        if element.axis == "y":
            ends = {"x0": 0, "x1": 1, "y0": low, "y1": high, "xref": f"{self._x} domain", "yref": self._y}
        self._chart.layout["shapes"].append({"type": kind, "name": name, **self._entry(name), **ends, **look})

    def _text(self, words: Text) -> None:
        across, up = words.frame in {"fraction", "x-fraction"}, words.frame in {"fraction", "y-fraction"}
        self._chart.layout["annotations"].append(
            {
                "x": words.x if across else self._at("x", words.x),
                "y": words.y if up else self._at("y", words.y),
                "xref": f"{self._x} domain" if across else self._x,
                "yref": f"{self._y} domain" if up else self._y,
                "text": text(words.words),
                "xshift": words.shift[0] * POINT,
                "yshift": words.shift[1] * POINT,
                "xanchor": words.horizontal,
                "yanchor": "middle" if words.vertical == "center" else words.vertical,
                "font": {"size": round(words.size * POINT, 1), "color": six_digits(words.colour)},
                "align": "left",
                "showarrow": False,
            }
        )

    def _arrow(self, arrow: Arrow) -> None:
        self._chart.layout["annotations"].append(
            {
                "x": self._at("x", arrow.to_x),
                "y": self._at("y", arrow.to_y),
                "ax": self._at("x", arrow.x),
                "ay": self._at("y", arrow.y),
                "xref": self._x, "yref": self._y, "axref": self._x, "ayref": self._y,
                "text": "",
                "showarrow": True,
                "arrowhead": 2,
                "arrowsize": 0.9,
                "arrowwidth": max(1.0, round(arrow.width * POINT, 2)),
                "arrowcolor": six_digits(arrow.colour),
            }
        )  # fmt: skip

    def _cells(self, cells: Cells) -> None:
        # Colours as rgb(...), which the page does not invert in dark mode.
        rows, columns = cells.values.shape
        for row in range(rows):
            for column in range(columns):
                value = float(cells.values[row, column])
                if math.isfinite(value):
                    square = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
                    self._chart.layout["shapes"].append(
                        {"type": "rect", "xref": self._x, "yref": self._y, "line": {"width": 0}, "layer": "below",
                         "fillcolor": f"rgb{cells.shade(value)}", **square}
                    )  # fmt: skip
        for row, texts in enumerate(cells.texts):
            for column, words in enumerate(texts):
                self._text(Text(column, row, words, horizontal="center"))
                if math.isfinite(value := float(cells.values[row, column])):
                    ink = "rgb(255, 255, 255)" if cells.is_dark(value) else "rgb(0, 0, 0)"
                    self._chart.layout["annotations"][-1]["font"]["color"] = ink
        # Invisible points carry the values.
        at = [(column, row) for row in range(rows) for column in range(columns)]
        along, up = self._panel.x.names, self._panel.y.names
        said = [
            f"{text(up.get(row, str(row)))}, {text(along.get(column, str(column)))}: {cells.values[row, column]:.6g}"
            for column, row in at
        ]
        self._chart.traces.append(
            {"type": "scatter", "xaxis": self._x, "yaxis": self._y, "name": "", "showlegend": False, "mode": "markers",
             "x": np.array([place[0] for place in at], dtype=float),
             "y": np.array([place[1] for place in at], dtype=float),
             "marker": {"opacity": 0, "size": 16}, "text": said, "hoverinfo": "text"}
        )  # fmt: skip

    def _at(self, which: str, value: float) -> float:
        """Return the coordinate of a text: on a logarithmic axis, the logarithm."""
        axis: Axis = getattr(self._panel, which)
        if which == "x" and self._figure.linked:
            axis = self._figure.panels[-1][self._column].x
        return math.log10(value) if axis.log and value > 0 else value

    def _title(self, title: str) -> None:
        self._chart.layout["annotations"].append(
            {
                "x": 0,
                "y": 1,
                "xref": f"{self._x} domain",
                "yref": f"{self._y} domain",
                "text": f"<b>{text(title)}</b>",
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 4,
                "showarrow": False,
                "align": "left",
                "font": {"size": 13},
            }
        )

    def _axis(self, which: str, axis: Axis, limits: tuple[float, float]) -> None:
        reference = self._x if which == "x" else self._y
        low, high = (math.log10(limit) for limit in limits) if axis.log else limits
        said: dict[str, Any] = {
            "type": "log" if axis.log else "linear",
            "range": [_short(low), _short(high)],
            "domain": self._places.columns[self._column] if which == "x" else self._places.rows[self._row],
            "title": {"text": text(axis.label), "standoff": 6},
            "anchor": self._bottom if which == "x" else self._x,
            "showgrid": not any(isinstance(element, Cells) for element in self._panel.elements),
            "zeroline": False,
            "automargin": True,
            "hoverformat": ",.5~g",
            "separatethousands": True,
            "exponentformat": "power",
            "minexponent": 6,
        }
        if axis.log and abs(high - low) >= 2:
            said["dtick"] = 1
        elif axis.log and abs(high - low) > 0.7:
            # So few powers of ten do not give enough ticks.
            powers = range(math.floor(min(low, high)), math.ceil(max(low, high)))
            ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
            said |= {"tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}
        if axis.names:
            said |= {"tickvals": list(axis.names), "ticktext": [text(name) for name in axis.names.values()],
                     "autotickangles": [0, -40, -90]}  # fmt: skip
        if which == "y":
            said["showspikes"] = False
        else:
            said |= {"showspikes": True, "spikemode": "across", "spikethickness": 1, "spikedash": "dot",
                     "spikesnap": "cursor", "unifiedhovertitle": {"text": self._along.says("x", (), {})}}  # fmt: skip
        figure = self._figure
        if which == "x" and figure.linked and figure.same_x and self._column > 0:
            said["matches"] = "x"
        first = 1 if figure.same_y else self._row * len(figure.panels[0]) + 1
        if which == "y" and figure.same_scale and self._y != _ref("y", first):
            said |= {"matches": _ref("y", first), "showticklabels": self._column == 0}
        self._chart.layout[reference[0] + "axis" + reference[1:]] = said


class _Quantity:
    """Quantity of an axis: for "queue (packets; crosses: drops)", the queue in packets."""

    def __init__(self, axis: Axis) -> None:
        found = re.match(r"(.*?)\s*(?:\(([^();]*)[^()]*\))?\s*(?:\n.*)?$", axis.label, re.DOTALL)
        self.quantity, self.unit = (text((part or "").strip()) for part in (found.groups() if found else ("", "")))
        self._names = {value: text(name) for value, name in axis.names.items()}

    def says(self, which: str, values: Iterable[float], trace: dict[str, Any]) -> str:
        """Return the template that names quantity, value and unit."""
        if self._names:
            key = "text" if which == "x" else "customdata"
            trace[key] = [self._names.get(float(value), "") for value in values]
            if trace.get("type") == "bar":
                trace["textposition"] = "none"
            return f"{self.quantity} %{{{key}}}".strip()
        value = "%{" + which + ":,.5~g}"
        if self.unit == "%":
            return f"{self.quantity} {value} %".strip()
        return f"{self.quantity} {value} {self.unit}".strip()


def _stroke(element: Line | Rule | Intervals) -> dict[str, Any]:
    return {
        "color": six_digits(element.colour),
        "width": round(element.width * POINT, 2),
        "dash": _DASHES[element.dash],
    }


def _marker(colour: str | list[str], element: Line | Points) -> dict[str, Any]:
    symbol = _SYMBOLS.get(element.marker, "circle")
    if element.hollow and not symbol.endswith("-open"):
        symbol += "-open"
    size = element.size * POINT * _SIZES.get(element.marker, 1.0)
    shade = six_digits(colour) if isinstance(colour, str) else [six_digits(each) for each in colour]
    # Without an explicit colour Plotly draws a grey outline, which is nearly all of a small marker.
    return {"symbol": symbol, "size": round(size, 1), "color": shade, "line": {"width": 1.2, "color": shade}}


def _short(value: float) -> float:
    return float(f"{value:.7g}")


def _ref(which: str, number: int) -> str:
    return which if number == 1 else f"{which}{number}"


def text(words: str) -> str:
    """Return words for the chart library, as they are."""
    return html.escape(words, quote=False).replace("\n", "<br>")

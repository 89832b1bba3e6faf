"""Figures as data: panels with lines, points, bands, bars, rules and texts, and axes with units.

A figure is declared once and rendered twice: as a chart for a page (`selfclock.report.chart`) and
as a drawing by matplotlib (`selfclock.report.drawing`), which is only imported when a file is
requested.
"""

from __future__ import annotations

import copy
import math
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from selfclock.errors import BadInputError
from selfclock.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]
else:
    from selfclock.lazy import np

Which = Literal["x", "y"]

#: Place of the legend.
Legend = Literal["below", "right", "inside", "none"]

#: Solid, dashed, dotted, dash-dotted; a dash and two dots are for thresholds.
Dash = Literal["-", "--", ":", "-.", "-.."]

#: Path from one point to the next: straight, or as a step after or before it.
Step = Literal["", "after", "before"]

#: Position of a text relative to its point.
Horizontal = Literal["left", "center", "right"]
Vertical = Literal["top", "center", "bottom"]

#: Units of a position: both axes, or fractions of the panel along x, y or both.
Frame = Literal["data", "fraction", "x-fraction", "y-fraction"]

BLACK, GREY = "#000000", "#666666"

#: Inches.
LARGEST = 100


@dataclass
class Axis:
    """An axis: its quantity with the unit, as "time (s)", and its scale."""

    label: str = ""
    _: KW_ONLY
    log: bool = False
    #: Values at the axis's beginning (left, bottom) and end; `None` fits the data. With `low` above
    #: `high` it is reversed, as for time downwards or the first row of `Cells` on top.
    low: float | None = None
    high: float | None = None
    #: Texts at values, in place of numbers.
    names: Mapping[float, str] = field(default_factory=dict)

    def name(self, *names: str) -> None:
        """Write these names at 0, 1, 2, and so on, with half a place of room at both ends unless limits are set."""
        self.names = {float(place): name for place, name in enumerate(names)}
        if names and self.low is None and self.high is None:
            self.low, self.high = -0.5, len(names) - 0.5


@dataclass(frozen=True)
class Line:
    """Points joined by a line; a non-finite value leaves a gap."""

    x: Values
    y: Values
    _: KW_ONLY
    colour: str = BLACK
    dash: Dash = "-"
    #: Points (1/72 inch).
    width: float = 1.2
    opacity: float = 1.0
    step: Step = ""
    #: Marker at each point, by matplotlib's letter; none if empty.
    marker: str = ""
    #: Diameter of the marker, in points.
    size: float = 4.0
    hollow: bool = False
    #: Entry of the legend; elements with the same label share an entry. Empty for none.
    label: str = ""


@dataclass(frozen=True)
class Points:
    """Markers without a line."""

    x: Values
    y: Values
    _: KW_ONLY
    #: One colour for all, or one per point.
    colour: str | Sequence[str] = BLACK
    #: By matplotlib's letter.
    marker: str = "o"
    #: Diameter in points.
    size: float = 4.0
    hollow: bool = False
    opacity: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class Band:
    """The area between two lines."""

    x: Values
    low: Values
    high: Values
    _: KW_ONLY
    colour: str = GREY
    opacity: float = 0.2
    step: Step = ""
    label: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars that begin at `base`."""

    x: Values
    heights: Values
    _: KW_ONLY
    #: In units of the x axis.
    width: float = 0.8
    base: float = 0.0
    colour: str = BLACK
    opacity: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class Intervals:
    """Vertical strokes, such as confidence intervals."""

    x: Values
    low: Values
    high: Values
    _: KW_ONLY
    colour: str = BLACK
    dash: Dash = "-"
    width: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class Rule:
    """A straight line across the panel: at one value of an axis."""

    axis: Literal["x", "y"]
    value: float
    _: KW_ONLY
    colour: str = GREY
    dash: Dash = ":"
    width: float = 0.9
    label: str = ""


@dataclass(frozen=True)
class Span:
    """A strip across the panel: between two values of an axis."""

    axis: Literal["x", "y"]
    low: float
    high: float
    _: KW_ONLY
    colour: str = GREY
    opacity: float = 0.15
    label: str = ""


@dataclass(frozen=True)
class Shape:
    """A closed outline, filled."""

    x: Values
    y: Values
    _: KW_ONLY
    colour: str = GREY
    opacity: float = 0.2
    label: str = ""


@dataclass(frozen=True)
class Text:
    """Words at a place."""

    x: float
    y: float
    words: str
    _: KW_ONLY
    frame: Frame = "data"
    horizontal: Horizontal = "left"
    vertical: Vertical = "center"
    #: Shift to the right and up, in points.
    shift: tuple[float, float] = (0.0, 0.0)
    #: Height of the letters, in points.
    size: float = 8.0
    colour: str = BLACK


@dataclass(frozen=True)
class Arrow:
    """An arrow between two places."""

    x: float
    y: float
    to_x: float
    to_y: float
    _: KW_ONLY
    colour: str = BLACK
    width: float = 1.0


@dataclass(frozen=True)
class Cells:
    """A matrix in colours: the value of row r, column c fills the square about (c, r)."""

    values: Values
    _: KW_ONLY
    #: Colours from the least value to the greatest, evenly.
    colours: Sequence[str] = ("#0072B2", "#FFFFFF", "#D55E00")
    low: float
    high: float
    #: Written into the squares; empty for none.
    texts: Sequence[Sequence[str]] = ()

    def shade(self, value: float) -> tuple[int, int, int]:
        """Return red, green and blue of a value, 0 to 255; white if it is not finite."""
        if not np.isfinite(value):
            return 255, 255, 255
        steps = len(self.colours) - 1
        at = min(1.0, max(0.0, (value - self.low) / (self.high - self.low or 1.0))) * steps
        left = min(int(at), steps - 1)
        ends = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in self.colours[left : left + 2]]
        red, green, blue = (round(low + (high - low) * (at - left)) for low, high in zip(*ends, strict=True))
        return red, green, blue

    def is_dark(self, value: float) -> bool:
        """Whether white text is more legible than black on the colour of a value."""
        red, green, blue = self.shade(value)
        # Luma of ITU-R BT.601.
        return 0.299 * red + 0.587 * green + 0.114 * blue < 128


Element = Line | Points | Band | Bars | Intervals | Rule | Span | Shape | Text | Arrow | Cells


#: Room beyond the data, as a fraction of the range: lines extend to the edge in x, markers need a
#: little.
MARGIN_X, MARGIN_MARKED, MARGIN_Y = 0.01, 0.03, 0.05


@dataclass
class Panel:
    """One pair of axes and their elements; later elements cover earlier ones."""

    x: Axis
    y: Axis
    _: KW_ONLY
    title: str = ""
    elements: list[Element] = field(default_factory=list)

    def axis(self, which: Which) -> Axis:
        """Return the axis of this name."""
        return self.x if which == "x" else self.y

    def line(self, x: ArrayLike, y: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add a `Line`; keywords are its fields."""
        self.elements.append(Line(_values(x), _values(y), **look))

    def points(self, x: ArrayLike, y: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add `Points`; keywords are its fields."""
        self.elements.append(Points(_values(x), _values(y), **look))

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add a `Band`; keywords are its fields. One number for `low` or `high` is a straight edge."""
        along = _values(x)
        self.elements.append(
            Band(along, np.broadcast_to(_values(low), along.shape), np.broadcast_to(_values(high), along.shape), **look)
        )

    def bars(self, x: ArrayLike, heights: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add `Bars`; keywords are its fields."""
        self.elements.append(Bars(_values(x), _values(heights), **look))

    def intervals(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add `Intervals`; keywords are its fields."""
        self.elements.append(Intervals(_values(x), _values(low), _values(high), **look))

    def rule(self, axis: Literal["x", "y"], value: float, **look: Any) -> None:  # noqa: ANN401
        """Add a `Rule`; keywords are its fields."""
        self.elements.append(Rule(axis, float(value), **look))

    def span(self, axis: Literal["x", "y"], low: float, high: float, **look: Any) -> None:  # noqa: ANN401
        """Add a `Span`; keywords are its fields."""
        self.elements.append(Span(axis, float(low), float(high), **look))

    def shape(self, x: ArrayLike, y: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add a `Shape`; keywords are its fields."""
        self.elements.append(Shape(_values(x), _values(y), **look))

    def text(self, x: float, y: float, words: str, **look: Any) -> None:  # noqa: ANN401
        """Add a `Text`; keywords are its fields."""
        self.elements.append(Text(float(x), float(y), words, **look))

    def arrow(self, x: float, y: float, to_x: float, to_y: float, **look: Any) -> None:  # noqa: ANN401
        """Add an `Arrow`; keywords are its fields."""
        self.elements.append(Arrow(float(x), float(y), float(to_x), float(to_y), **look))

    def cells(self, values: ArrayLike, **look: Any) -> None:  # noqa: ANN401
        """Add `Cells`; keywords are its fields."""
        self.elements.append(Cells(_values(values), **look))


class Figure:
    """Panels in rows and columns.

    Panels of one column share the x axis if `linked`: they zoom together, and hovering reads all of
    them. With `same_x` all columns do. All panels of a row share the scale of the y axis if
    `same_scale`, all of the figure if `same_y`.

    >>> from selfclock.figure import Figure
    >>> figure = Figure(x="time (s)", y="window (segments)")
    >>> figure.panel.line([0, 1, 2], [1, 2, 4], label="cwnd")
    """

    def __init__(
        self,
        rows: int = 1,
        columns: int = 1,
        *,
        title: str = "",
        x: str = "",
        y: str = "",
        width: float = 6.4,
        height: float = 3.2,
        ratios: Sequence[float] = (),
        linked: bool = True,
        same_x: bool = False,
        same_scale: bool = False,
        same_y: bool = False,
        legend: Legend = "below",
    ) -> None:
        self.title = title
        self.legend = legend
        #: Inches.
        self.width, self.height = width, height
        #: Heights of the rows relative to each other; equal if empty.
        self.ratios = ratios or (1.0,) * rows
        self.linked, self.same_x = linked, same_x
        self.same_scale, self.same_y = same_scale or same_y, same_y
        #: Row by row.
        self.panels = [[Panel(Axis(x if row == rows - 1 else ""), Axis(y)) for _ in range(columns)]
                       for row in range(rows)]  # fmt: skip
        #: Remarks below the figure: thinning, omissions.
        self.notes: list[str] = []

    @property
    def panel(self) -> Panel:
        """The first panel, usually the only one."""
        return self.panels[0][0]

    @property
    def column(self) -> list[Panel]:
        """The panels of the first column, from the top."""
        return [row[0] for row in self.panels]

    def limits(self, row: int, column: int, which: Which) -> tuple[float, float]:
        """Return the first and the last value on an axis of a panel; the first is greater on a reversed axis."""
        panels = self._sharing(row, column, which)
        axes = [panel.axis(which) for panel in panels]
        log = any(axis.log for axis in axes)
        low, high = _bounds(panels, which, log=log)
        margin = MARGIN_Y if which == "y" else MARGIN_MARKED if any(map(_is_marked, panels)) else MARGIN_X
        if any(isinstance(element, Cells) for panel in panels for element in panel.elements):
            margin = 0.0
        if log:
            stretch = (high / low) ** margin if high > low else 2.0
            low, high = low / stretch, high * stretch
        else:
            stretch = (high - low) * margin if high > low else abs(low) * 0.1 or 1.0
            low, high = low - stretch, high + stretch
        return (
            next((axis.low for axis in axes if axis.low is not None), low),
            next((axis.high for axis in axes if axis.high is not None), high),
        )

    def _sharing(self, row: int, column: int, which: Which) -> list[Panel]:
        """Return the panels that share a range with this one, including itself."""
        if (which == "x" and self.linked and self.same_x) or (which == "y" and self.same_y):
            return [panel for line in self.panels for panel in line]
        if which == "x" and self.linked:
            return [line[column] for line in self.panels]
        if which == "y" and self.same_scale:
            return self.panels[row]
        return [self.panels[row][column]]

    def sized(
        self,
        width: float | None = None,
        height: float | None = None,
        *,
        legend: Legend | None = None,
        title: str | None = None,
    ) -> Figure:
        """Return the same figure with another width and height in inches, place of the legend, or title.

        >>> from selfclock.figure import Figure
        >>> Figure(title="Window").sized(3.4, 2.2, legend="none", title="").width
        3.4
        """
        for argument, inches in (("width", width), ("height", height)):
            if inches is not None and not 0.5 <= inches <= LARGEST:
                raise BadInputError(f"{argument}: {inches!r}; allowed: 0.5 to {LARGEST} inches")
        if legend is not None and legend not in get_args(Legend):
            raise BadInputError(f"legend: {unknown('place', legend, get_args(Legend))}")
        other = copy.copy(self)
        other.width, other.height = width or self.width, height or self.height
        other.legend = self.legend if legend is None else legend
        other.title = self.title if title is None else title
        return other

    def matplotlib(
        self, ax: Axes | Iterable[Axes] | None = None, *, settings: Mapping[str, Any] | None = None
    ) -> Drawing:
        """Return the drawing of matplotlib, for display or changes.

        With `ax` the panels are drawn there, in the style of those axes and without title and
        legend: one for a figure of one panel, or as many as it has, row by row; `ax.legend()` names
        the lines. Without, a new drawing has the house style; matplotlib's `settings`, such as
        {"font.size": 8}, come before it.
        """
        from selfclock.report import drawing  # noqa: PLC0415

        if ax is None:
            return drawing.draw(self, settings)
        return drawing.draw_on(self, ax)

    def savefig(
        self,
        path: str | PathLike[str],
        *,
        settings: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Write a file in the format of its extension.

        `settings` are matplotlib's, such as {"font.size": 8, "font.family": "serif"}; the other
        options are those of its `savefig`.
        """
        from selfclock.report import drawing  # noqa: PLC0415

        drawing.save(self, path, settings=settings, **options)

    def __repr__(self) -> str:
        rows, columns = len(self.panels), len(self.panels[0])
        return f"<Figure {self.title!r}: {rows} x {columns} panels, {self.width:g} x {self.height:g} inches>"

    def _repr_png_(self) -> bytes:
        """Show the figure in a notebook."""
        from selfclock.report import drawing  # noqa: PLC0415

        return drawing.png(self)


def _bounds(panels: Iterable[Panel], which: Which, *, log: bool) -> tuple[float, float]:
    low, high = math.inf, -math.inf
    for panel in panels:
        for element in panel.elements:
            for values in _shown(element, which):
                known = values[np.isfinite(values) & ((values > 0) | (not log))]
                if known.size:
                    low, high = min(low, float(known.min())), max(high, float(known.max()))
    if low > high:
        return (1.0, 10.0) if log else (0.0, 1.0)
    return low, high


def _shown(element: Element, which: Which) -> Iterator[Values]:
    """Yield the values of an element that an axis must include; texts and arrows adapt to the rest."""
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


def _is_marked(panel: Panel) -> bool:
    return any(
        isinstance(element, Points | Intervals | Bars) or (isinstance(element, Line) and element.marker != "")
        for element in panel.elements
    )


def _values(of: ArrayLike) -> Values:
    """Return numbers as an array; missing ones are NaN."""
    if hasattr(of, "to_numpy"):
        return np.asarray(of.to_numpy(), dtype=np.float64)
    return np.asarray([np.nan if value is None else value for value in of] if isinstance(of, list | tuple) and any(
        value is None for value in of) else of, dtype=np.float64)  # fmt: skip

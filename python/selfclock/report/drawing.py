"""Drawings of figures by matplotlib, for files and notebooks: the only module that imports it."""

from __future__ import annotations

import io
import textwrap
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import colors, ticker
from matplotlib import figure as drawn
from matplotlib.axes import Axes as AnyAxes
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from selfclock.errors import BadInputError
from selfclock.figure import (
    Arrow,
    Band,
    Bars,
    Cells,
    Intervals,
    Line,
    Points,
    Rule,
    Shape,
    Span,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from matplotlib.axes import Axes

    from selfclock.figure import Axis, Element, Figure, Panel

STYLE: dict[str, Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "font.size": 9,
    # The first comes with matplotlib. Glyphs that it lacks are taken from the first installed one
    # of the others.
    "font.sans-serif": [
        "DejaVu Sans",
        "Noto Sans",
        "Noto Sans CJK JP",
        "Noto Sans CJK SC",
        "Noto Sans CJK KR",
        "Hiragino Sans",
        "PingFang SC",
        "Yu Gothic",
        "Microsoft YaHei",
        "Malgun Gothic",
        "Arial Unicode MS",
        "Noto Emoji",
        "Segoe UI Symbol",
        "Apple Symbols",
    ],
    "figure.titlesize": 10,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 6),
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    # Embedded TrueType: publishers' checks refuse the default, Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    # The same figure gives the same file.
    "svg.hashsalt": "selfclock",
}

#: Figures narrower than this, in inches, stand in one column of a paper.
NARROW = 4.5

#: Their settings in place of those above.
COLUMN: dict[str, Any] = {
    "font.size": 8,
    "figure.titlesize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 6.5,
    "legend.handlelength": 1.5,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.0,
    "legend.labelspacing": 0.3,
    "lines.linewidth": 1.0,
}

#: Points of line and gap for dashes without a name in matplotlib.
_DASHES: dict[str, Any] = {"-..": (0, (6, 2, 1, 2, 1, 2))}
_STEPS = {"": "default", "after": "steps-post", "before": "steps-pre"}
_FILLS = {"": None, "after": "post", "before": "pre"}
_COORDINATES: dict[str, Any] = {
    "data": "data",
    "fraction": "axes fraction",
    "x-fraction": ("axes fraction", "data"),
    "y-fraction": ("data", "axes fraction"),
}

#: Width of a letter relative to the font size.
_LETTER = 0.58

#: Width of a letter in a legend's row, with its share of the spaces between columns.
_LEGEND_LETTER = 0.64

#: Characters that a handle and the space before the next entry take in a legend's row, and the most
#: entries in one.
_HANDLE, _MOST_ENTRIES = 6, 4

#: Rows of a narrow figure lower than this, in inches, have no room for a quantity and its unit on
#: one line.
_LOW = 2.5

#: Letters that the sizes of `Text` are relative to.
_BODY = 9.0


@contextmanager
def house(settings: Mapping[str, Any] | None = None, width: float = 6.4) -> Iterator[None]:
    """Draw in the house style, where the user's own settings are those that matplotlib comes with.

    What a user has set, in `rcParams`, a style or a matplotlibrc, stays; `settings` come before
    both.
    """
    style = {**STYLE, **(COLUMN if width < NARROW else {})}
    own: Any = mpl.rcParams
    usual: Any = mpl.rcParamsDefault
    unset = {key: value for key, value in style.items() if own[key] == usual[key]}
    chosen: Any = {**unset, **(settings or {})}
    with mpl.rc_context(chosen), warnings.catch_warnings():
        # Glyphs that the font lacks are drawn as boxes; a warning for each would flood the
        # terminal.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def save(
    figure: Figure,
    path: str | PathLike[str] | io.BytesIO,
    *,
    settings: Mapping[str, Any] | None = None,
    **options: Any,  # noqa: ANN401
) -> None:
    """Write a figure as a file; the same figure gives the same bytes.

    `settings` are as for `house`; options are those of matplotlib's `savefig`.
    """
    kind = str(options.get("format") or str(path).rpartition(".")[2]).lower()
    if undated := {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind):
        options.setdefault("metadata", undated)
    with house(settings, figure.width):
        draw(figure, settings).savefig(path, **options)


def png(figure: Figure) -> bytes:
    """Return a figure as an image of a given size, for a notebook."""
    buffer = io.BytesIO()
    save(figure, buffer, format="png", dpi=STYLE["figure.dpi"])
    return buffer.getvalue()


def draw(figure: Figure, settings: Mapping[str, Any] | None = None) -> drawn.Figure:
    """Return the drawing of a figure, in no display or global list, so that its last reference frees it."""
    with house(settings, figure.width):
        new = drawn.Figure(figsize=(figure.width, figure.height), layout="constrained")
        panels = figure.panels
        places = new.subplots(
            len(panels), len(panels[0]), squeeze=False, height_ratios=list(figure.ratios),
            sharex=(True if figure.same_x else "col") if figure.linked else False,
            sharey=True if figure.same_y else "row" if figure.same_scale else False,
        )  # fmt: skip
        for row, line in enumerate(panels):
            for column, panel in enumerate(line):
                _place(places[row, column], figure, row, column, panel)
        if figure.title:
            new.suptitle(_plain(_wrapped(figure.title, figure.width)), x=0.01, ha="left")
        _legend(new, figure)
        if figure.width < NARROW and figure.height / len(panels) < _LOW:
            _break_labels(new)
        return new


def draw_on(figure: Figure, axes: Axes | Iterable[Axes]) -> drawn.Figure:
    """Draw the panels of a figure on these axes, in the user's own style, without title and legend."""
    panels = [(row, column, panel) for row, line in enumerate(figure.panels) for column, panel in enumerate(line)]
    places = [axes] if isinstance(axes, AnyAxes) else list(np.asarray(axes, dtype=object).flat)
    for place in places:
        if not isinstance(place, AnyAxes):
            raise BadInputError(f"ax: {place!r} is no Axes of matplotlib; write ax=plt.gca(), or a list of them")
    if len(places) != len(panels):
        raise BadInputError(f"ax: {len(places)} given; the figure has {len(panels)} panels, and each needs one")
    for place, (row, column, panel) in zip(places, panels, strict=True):
        _place(place, figure, row, column, panel)
    found = places[0].get_figure(root=True)
    assert found is not None, "axes are in a figure"
    return found


def _place(axes: Axes, figure: Figure, row: int, column: int, panel: Panel) -> None:
    _panel(axes, panel)
    _axis(axes, "x", panel.x, figure.limits(row, column, "x"))
    _axis(axes, "y", panel.y, figure.limits(row, column, "y"))


def _plain(words: str) -> str:
    """Return words as they are: matplotlib takes what is between two dollars for TeX."""
    return words.replace("$", r"\$")


def _wrapped(title: str, width: float) -> str:
    """Return a title in lines that fit a figure."""
    letters = int(width * 72 / (_size("figure.titlesize") * _LETTER))
    return "\n".join(part for line in title.split("\n") for part in textwrap.wrap(line, letters) or [""])


def _break_labels(new: drawn.Figure) -> None:
    """Put the units of low panels on a second line: "window" above "(segments)"."""
    for axes in new.axes:
        axes.set_ylabel(axes.get_ylabel().replace(" (", "\n("))


def _size(name: str) -> float:
    """Return a size of `rcParams` in points; matplotlib has names for some, such as "large"."""
    own: Any = mpl.rcParams
    return float(FontProperties(size=own[name]).get_size_in_points())


def _legend(new: drawn.Figure, figure: Figure) -> None:
    """Name every label once, outside the panels, where the legend covers nothing, or where the figure says."""
    entries: dict[str, Any] = {}
    for axes in new.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if not entries or figure.legend == "none":
        return
    handles, labels = list(entries.values()), list(entries)
    if figure.legend == "inside":
        legend = new.axes[0].legend(handles, labels, loc="best")
    elif figure.legend == "right":
        legend = new.legend(handles, labels, loc="outside right upper")
    else:
        narrow = figure.width < NARROW
        row = int(figure.width * 72 / (_size("legend.fontsize") * (_LETTER if narrow else _LEGEND_LETTER)))
        columns = _columns_of([len(label) for label in entries], row, narrow=narrow)
        legend = new.legend(handles, labels, loc="outside lower center", ncols=columns)
    for entry in legend.legend_handles:
        if isinstance(entry, Line2D):
            # Legend entries stay visible however small the points of a series are.
            entry.set_markersize(max(4.0, entry.get_markersize()))


def _columns_of(lengths: Sequence[int], row: int, *, narrow: bool) -> int:
    """Return the columns of a legend with labels of these lengths; in a narrow one each has its own width."""
    if not narrow:
        return max(1, min(_MOST_ENTRIES, len(lengths), row // (max(lengths) + _HANDLE)))
    for columns in range(min(_MOST_ENTRIES, len(lengths)), 1, -1):
        rows = -(-len(lengths) // columns)
        if sum(max(lengths[at : at + rows]) + _HANDLE - 1 for at in range(0, len(lengths), rows)) <= row:
            return columns
    return 1


def _panel(axes: Axes, panel: Panel) -> None:
    if panel.title:
        axes.set_title(_plain(panel.title))
    axes.set_xlabel(_plain(panel.x.label))
    axes.set_ylabel(_plain(panel.y.label))
    for number, element in enumerate(panel.elements):
        # Later elements cover earlier ones.
        _element(axes, element, 2 + number / 1000)


def _element(axes: Axes, element: Element, order: float) -> None:
    look: dict[str, Any] = {"zorder": order}
    letters = _size("font.size") / _BODY
    if getattr(element, "label", ""):
        look["label"] = _plain(element.label)  # type: ignore[union-attr]
    match element:
        case Line():
            axes.plot(
                element.x, element.y, linestyle=_DASHES.get(element.dash, element.dash), color=element.colour,
                linewidth=element.width, alpha=element.opacity, drawstyle=_STEPS[element.step],
                marker=element.marker or None, markersize=element.size,
                fillstyle="none" if element.hollow else "full", **look,
            )  # fmt: skip
        case Points():
            _points(axes, element, look)
        case Band():
            axes.fill_between(
                element.x, element.low, element.high, step=_FILLS[element.step],  # type: ignore[arg-type]
                color=element.colour, alpha=element.opacity, linewidth=0, **look,
            )  # fmt: skip
        case Bars():
            axes.bar(
                element.x, element.heights, width=element.width, bottom=element.base, color=element.colour,
                alpha=element.opacity, **look,
            )  # fmt: skip
        case Intervals():
            axes.vlines(
                element.x, element.low, element.high, color=element.colour, linewidth=element.width,
                linestyles=_DASHES.get(element.dash, element.dash), **look,
            )  # fmt: skip
        case Rule():
            rule = axes.axvline if element.axis == "x" else axes.axhline
            rule(
                element.value,
                color=element.colour,
                linestyle=_DASHES.get(element.dash, element.dash),
                linewidth=element.width,
                **look,
            )
        case Span():
            span = axes.axvspan if element.axis == "x" else axes.axhspan
            span(element.low, element.high, color=element.colour, alpha=element.opacity, linewidth=0, **look)
        case Shape():
            axes.fill(element.x, element.y, color=element.colour, alpha=element.opacity, linewidth=0, **look)
        case Text():
            axes.annotate(
                _plain(element.words), (element.x, element.y), xycoords=_COORDINATES[element.frame],
                xytext=element.shift, textcoords="offset points", horizontalalignment=element.horizontal,
                verticalalignment=element.vertical, fontsize=element.size * letters, color=element.colour, zorder=order,
            )  # fmt: skip
        case Arrow():
            arrow = {
                "arrowstyle": "-|>",
                "color": element.colour,
                "linewidth": element.width,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            axes.annotate("", (element.to_x, element.to_y), (element.x, element.y), arrowprops=arrow, zorder=order)
        case Cells():
            _cells(axes, element, look)


def _points(axes: Axes, element: Points, look: dict[str, Any]) -> None:
    if isinstance(element.colour, str):
        axes.plot(
            element.x, element.y, linestyle="", color=element.colour, marker=element.marker, markersize=element.size,
            fillstyle="none" if element.hollow else "full", alpha=element.opacity, **look,
        )  # fmt: skip
        return
    colours = list(element.colour)
    # Strokes such as those of x have no face and no edge.
    chosen: Any = {"c": colours}
    if element.hollow:
        chosen = {"facecolors": "none", "edgecolors": colours}
    size = element.size**2
    axes.scatter(element.x, element.y, s=size, marker=element.marker, alpha=element.opacity, **chosen, **look)


def _cells(axes: Axes, element: Cells, look: dict[str, Any]) -> None:
    rows, columns = element.values.shape
    shades = colors.LinearSegmentedColormap.from_list("cells", list(element.colours))
    axes.imshow(
        element.values, cmap=shades, vmin=element.low, vmax=element.high, origin="lower", aspect="auto",
        extent=(-0.5, columns - 0.5, -0.5, rows - 0.5), **look,
    )  # fmt: skip
    axes.grid(visible=False)
    wide, high = _points_across(axes)
    longest = max((len(words) for texts in element.texts for words in texts), default=1)
    size = min(8.0, 0.75 * high / rows, wide / columns / (longest * _LETTER))
    for row, texts in enumerate(element.texts):
        for column, words in enumerate(texts):
            ink = "white" if element.is_dark(element.values[row, column]) else "black"
            axes.text(
                column, row, _plain(words), ha="center", va="center", fontsize=size, color=ink, zorder=look["zorder"]
            )


def _points_across(axes: Axes) -> tuple[float, float]:
    """Return the approximate width and height of a panel, in points."""
    figure, place = axes.get_figure(root=True), axes.get_position()
    return place.width * figure.get_figwidth() * 72, place.height * figure.get_figheight() * 72  # type: ignore[union-attr]


def _axis(axes: Axes, which: str, axis: Axis, limits: tuple[float, float]) -> None:
    own = axes.xaxis if which == "x" else axes.yaxis
    if axis.log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        low, high = sorted(limits)
        # Over less than two decades, powers of ten give too few ticks.
        own.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
        own.set_minor_formatter(ticker.NullFormatter())
        if low >= 1e-3 and high <= 1e5:
            own.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    if axis.names:
        (axes.set_xticks if which == "x" else axes.set_yticks)(
            list(axis.names), [_plain(name) for name in axis.names.values()]
        )  # fmt: skip
        own.set_minor_locator(ticker.NullLocator())
        _fit_names(axes, which, list(axis.names.values()))
    (axes.set_xlim if which == "x" else axes.set_ylim)(*limits)


def _fit_names(axes: Axes, which: str, names: list[str]) -> None:
    """Rotate or shrink names that would overlap."""
    wide, high = _points_across(axes)
    size = _size("font.size")
    if which == "y":
        axes.tick_params("y", labelsize=min(size, 0.8 * high / len(names)))
    elif max(len(line) for name in names for line in name.split("\n")) * size * _LETTER > wide / len(names):
        axes.tick_params("x", labelsize=size - 1)
        for label in axes.get_xticklabels():
            label.set(rotation=40, horizontalalignment="right", rotation_mode="anchor")

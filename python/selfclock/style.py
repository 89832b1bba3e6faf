"""House style of figures: one colour and marker per algorithm, axes with units, legible in print."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Look:
    """How an algorithm looks in every figure."""

    colour: str
    marker: str
    #: Where several algorithms share one pair of axes.
    line: str = "-"


#: The palette of Okabe and Ito, which people with any colour vision tell apart. The yellow is left out: on white
#: paper it cannot be seen.
_BLUE, _VERMILLION, _GREEN, _PURPLE, _SKY, _ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"
_BLACK = "#000000"

#: Six colours are too few, so algorithms of one colour differ in their line. No two markers are alike. What is
#: commonly drawn together has different colours. Grey belongs to what does not react to congestion.
LOOKS = {
    "reno": Look(_BLUE, "o"),
    "packet-pair": Look(_VERMILLION, "s"),
    "cubic": Look(_GREEN, "^"),
    "altcp": Look(_PURPLE, "D"),
    "adaptive": Look(_ORANGE, "P"),
    "fast": Look(_SKY, "v"),
    "highspeed": Look(_VERMILLION, "h", "--"),
    "scalable": Look(_GREEN, "X", "--"),
    "ltcp": Look(_PURPLE, "d", "--"),
    "bic": Look(_ORANGE, "<", "--"),
    "vegas": Look(_SKY, ">", "--"),
    "tri-s": Look(_GREEN, "$T$", "-."),
    "slow-start": Look(_BLUE, ".", ":"),
    "limited": Look(_VERMILLION, "1", ":"),
    "hystart++": Look(_GREEN, "2", ":"),
    "swift-start": Look(_ORANGE, "*", "-."),
    "modified-swift-start": Look(_VERMILLION, "p", "-."),
    "quick-start": Look(_SKY, "8", "-."),
    "hoe": Look(_BLUE, "$h$", "-."),
    "bbr-startup": Look(_SKY, "H", ":"),
    "bbr3": Look(_ORANGE, "3", ":"),
    "prague": Look(_PURPLE, "4", ":"),
    "xcp": Look(_BLUE, "$x$", "--"),
    "lotka-volterra": Look(_BLACK, "$V$", "-"),
    "icim": Look(_BLACK, "$i$", "--"),
    "imtcp": Look(_BLACK, "$m$", ":"),
    "capacity": Look(_BLACK, "$c$", "-."),
    "udp": Look("#666666", "x"),
}

#: For algorithms without an entry above, chosen by name, so that it does not depend on what else is drawn.
_OTHERS = [Look(_VERMILLION, "+", "-."), Look(_GREEN, "|", "-."), Look("#000000", "_", "-.")]

#: Losses look the same everywhere.
DROP = Look("#000000", "x")

#: For several flows with one algorithm.
LINE_STYLES = ["-", "--", ":", "-."]

STYLE: dict[str, Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "svg.fonttype": "path",
    # The same figure is the same file.
    "svg.hashsalt": "selfclock",
}


def look(algorithm: str) -> Look:
    """Colour, marker and line of an algorithm; a window with a start, "cubic+hystart++", looks like the window."""
    return (
        LOOKS.get(algorithm)
        or LOOKS.get(algorithm.split("+", 1)[0])
        or _OTHERS[zlib.crc32(algorithm.encode()) % len(_OTHERS)]
    )


@contextmanager
def house() -> Iterator[None]:
    """Draw in the house style, whatever the user's own settings are; also a decorator: `@style.house()`."""
    import matplotlib as mpl  # noqa: PLC0415

    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        yield


def figure(rows: int = 1, height: float = 3.2, ratios: list[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of axes above each other that share their time axis.

    It belongs to no display and no global list: whoever drops it frees it.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415

    new = Figure(figsize=(6.4, height), layout="constrained")
    axes = new.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=ratios)
    return new, [row[0] for row in axes]

"""House style of figures: one colour and marker per algorithm, axes with units, legible in print."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Look:
    """How an algorithm looks in every figure."""

    colour: str
    marker: str


#: The palette of Okabe and Ito, which people with any colour vision tell apart. The yellow is left out: on white
#: paper it cannot be seen. Grey belongs to what does not react to congestion.
LOOKS = {
    "reno": Look("#0072B2", "o"),
    "packet-pair": Look("#D55E00", "s"),
    "udp": Look("#666666", "x"),
}

#: For algorithms without an entry above, chosen by name, so that it does not depend on what else is drawn.
_OTHERS = [Look("#009E73", "^"), Look("#CC79A7", "D"), Look("#56B4E9", "v"), Look("#E69F00", "P")]

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
    """Colour and marker of an algorithm."""
    return LOOKS.get(algorithm) or _OTHERS[zlib.crc32(algorithm.encode()) % len(_OTHERS)]


@contextmanager
def house() -> Iterator[None]:
    """Draw in the house style, whatever the user's own settings are; also a decorator: `@style.house()`."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        yield


def figure(rows: int = 1, height: float = 3.2, ratios: list[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of axes above each other that share their time axis.

    It belongs to no display and no global list: whoever drops it frees it.
    """
    new = Figure(figsize=(6.4, height), layout="constrained")
    axes = new.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=ratios)
    return new, [row[0] for row in axes]

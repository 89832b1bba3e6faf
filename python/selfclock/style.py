"""House style of figures: one colour and marker per algorithm."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from selfclock.figure import Dash


@dataclass(frozen=True)
class Look:
    """The look of an algorithm, in every figure."""

    colour: str
    marker: str
    #: Line style where several algorithms share a pair of axes.
    line: Dash = "-"


#: The palette of Okabe and Ito, whose colours people with any colour vision can tell apart. It
#: omits the yellow, which is invisible on white.
_BLUE, _VERMILLION, _GREEN, _PURPLE, _SKY, _ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"
_BLACK = "#000000"

#: Six colours are too few, so algorithms of one colour differ in line style. No two markers are
#: equal. Algorithms often drawn together have different colours. Grey belongs to traffic that does
#: not react to congestion.
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
    # For connections of an emulation whose algorithm is unknown.
    "tcp": Look(_BLUE, "$t$"),
}

#: For several flows with one algorithm.
LINE_STYLES: tuple[Dash, ...] = ("-", "--", ":", "-.")

#: For algorithms without an entry above, including user-defined ones: colours that no built-in
#: algorithm has. Chosen by name, so that a look does not depend on the rest of the figure. Solid
#: and dashed, as thresholds and capacities are dotted; markers with an area, as means stand alone.
_OTHERS: list[Look] = [
    Look(colour, marker, line)
    for colour in ("#8833DD", "#B23636", "#4978F2")
    for line, marker in zip(LINE_STYLES[:2] * 2, ("$o$", "$u$", "$n$", "$y$"), strict=True)
]

#: Links, in drawing order: separate colours, so that none is mistaken for an algorithm.
LINKS = ("#5B6770", "#44AA99", "#CC6677", "#999933", "#AA4499", "#6699CC", "#997700", "#994455")

#: Losses and CE marks look the same everywhere.
DROP = Look("#000000", "x")
MARK = Look("#B07D00", "$\\vee$")

#: Thresholds, such as ssthresh: no flow, link or algorithm has this line.
THRESHOLD: Dash = "-.."

#: How far the shades for several flows of one algorithm are from its colour.
_SHADES = (0.0, 0.25, 0.4, 0.12)

#: Markers of further variants of an algorithm.
_VARIANTS = ("$2$", "$3$", "$4$", "$5$", "$6$", "$7$", "$8$", "$9$")

#: Weights of red, green and blue in brightness, and the brightness that separates dark from light.
_WEIGHTS, MIDDLE = (0.299, 0.587, 0.114), 100


def shade(colour: str, number: int) -> str:
    """Return the colour of an algorithm's nth flow: dark colours get lighter, light ones darker."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    towards = 0 if sum(part * weight for part, weight in zip(parts, _WEIGHTS, strict=True)) > MIDDLE else 255
    amount = _SHADES[number % len(_SHADES)]
    return "#" + "".join(f"{round(part + (towards - part) * amount):02X}" for part in parts)


def numbers(colours: Iterable[Hashable]) -> list[int]:
    """Return for each entry how many earlier ones have its colour: the index of its shade."""
    seen: Counter[Hashable] = Counter()
    found = []
    for colour in colours:
        found.append(seen[colour])
        seen[colour] += 1
    return found


def look(algorithm: str) -> Look:
    """Colour, marker and line of an algorithm; "cubic+hystart++:beta=0.8" looks like its window."""
    algorithm = algorithm.split(":", 1)[0]
    return (
        LOOKS.get(algorithm)
        or LOOKS.get(algorithm.split("+", 1)[0])
        or _OTHERS[zlib.crc32(algorithm.encode()) % len(_OTHERS)]
    )


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return a look for each label: variants of one algorithm, as "cubic:beta=0.8", differ in shade and marker."""
    found: dict[str, Look] = {}
    bases = {label: look(label) for label in labels}
    for (label, base), number in zip(bases.items(), numbers(bases.values()), strict=True):
        marker = base.marker if number == 0 else _VARIANTS[(number - 1) % len(_VARIANTS)]
        found[label] = Look(shade(base.colour, number), marker, LINE_STYLES[number % 4] if number else base.line)
    return found

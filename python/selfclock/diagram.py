"""Formats of packets and charts of boxes and arrows, as SVG that a phone shows whole."""

from __future__ import annotations

import textwrap
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from selfclock.svg import LETTER, svg, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Pixels: width of a drawing, height of a line of its text, and the height of a row of a format.
WIDTH, LINE, ROW = 350, 15, 30

_LINE = 'fill="none" stroke="currentColor" stroke-width="1.2"'
_BOX = 'fill="var(--soft, #f4f4f2)" stroke="currentColor" stroke-width="1.2"'


def packet_format(rows: Sequence[Sequence[tuple[str, int]]], title: str) -> str:
    """Draw a format: rows of 32 bits, each a list of fields with their numbers of bits."""
    unit = (WIDTH - 4) / 32
    parts = [text(2 + (bit + 0.5) * unit, 12, str(bit), "middle", font_size="10") for bit in (0, 8, 16, 24, 31)]
    top = 18.0
    for row in rows:
        left = 2.0
        for words, bits in row:
            wide = bits * unit
            lines = textwrap.wrap(words, max(int(wide / LETTER), 4))
            parts.append(f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{ROW}" {_BOX}/>')
            parts += _lines(left + wide / 2, top + ROW / 2, lines[:2])
            left += wide
        top += ROW
    return svg(WIDTH, top + 2, parts, title)


def _lines(x: float, y: float, lines: Sequence[str]) -> list[str]:
    """Write centred lines around a height."""
    first = y + 4 - (len(lines) - 1) * LINE / 2
    return [text(x, first + number * LINE, line, "middle", stroke="none") for number, line in enumerate(lines)]


@dataclass(frozen=True)
class Box:
    """A box of a chart; its place is that of its centre, pixels."""

    x: float
    y: float
    words: str
    _: KW_ONLY
    width: float = 150
    kind: Literal["step", "choice", "end", "words"] = "step"

    @property
    def lines(self) -> list[str]:
        """Its text as it fits."""
        room = self.width * (0.66 if self.kind == "choice" else 0.95)
        return textwrap.wrap(self.words, max(int(room / LETTER), 4))

    @property
    def height(self) -> float:
        """As its text needs."""
        return len(self.lines) * LINE + (34 if self.kind == "choice" else 10)

    def drawn(self) -> list[str]:
        """Return it as SVG."""
        left, top = self.x - self.width / 2, self.y - self.height / 2
        shape = ""
        if self.kind == "choice":
            corners = f"M{self.x} {top}L{left + self.width} {self.y}L{self.x} {top + self.height}L{left} {self.y}Z"
            shape = f'<path d="{corners}" {_BOX}/>'
        elif self.kind != "words":
            round_by = self.height / 2 if self.kind == "end" else 3
            shape = f'<rect x="{left}" y="{top}" width="{self.width}" height="{self.height}" rx="{round_by}" {_BOX}/>'
        return [shape, *_lines(self.x, self.y, self.lines)]


@dataclass(frozen=True)
class Arrow:
    """An arrow from one box to another, down or sideways, with words beside it."""

    source: str
    target: str
    words: str = ""
    #: Pixels to the side of both boxes by which it goes around what is between; 0 is straight.
    around: float = 0.0
    both: bool = False


def box_chart(boxes: Mapping[str, Box], arrows: Sequence[Arrow], title: str) -> str:
    """Draw boxes and the arrows between them."""
    parts = ['<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
             'orient="auto-start-reverse"><path d="M0 0L8 4L0 8Z" fill="currentColor"/></marker></defs>']  # fmt: skip
    for arrow in arrows:
        parts += _arrow(boxes[arrow.source], boxes[arrow.target], arrow)
    for box in boxes.values():
        parts += box.drawn()
    height = max(box.y + box.height / 2 for box in boxes.values()) + 4
    return svg(WIDTH, height, parts, title)


def _arrow(source: Box, target: Box, arrow: Arrow) -> list[str]:
    start = 'marker-start="url(#tip)" ' if arrow.both else ""
    if arrow.around:
        # Out of one side, along, and into the same side.
        side = 1 if arrow.around > 0 else -1
        out = max(one.x * side + one.width / 2 for one in (source, target)) * side + arrow.around
        x1, x2 = source.x + side * source.width / 2, target.x + side * target.width / 2
        path = f"M{x1} {source.y}L{out} {source.y}L{out} {target.y}L{x2} {target.y}"
        spot = (x1 + side * 4, source.y - 5, "start" if side > 0 else "end")
    elif abs(source.y - target.y) < max(source.height, target.height) / 2:
        side = 1 if target.x > source.x else -1
        x1, x2 = source.x + side * source.width / 2, target.x - side * target.width / 2
        path = f"M{x1} {source.y}L{x2} {target.y}"
        spot = ((x1 + x2) / 2, source.y - 5, "middle")
    else:
        side = 1 if target.y > source.y else -1
        y1, y2 = source.y + side * source.height / 2, target.y - side * target.height / 2
        path = f"M{source.x} {y1}L{target.x} {y2}"
        spot = ((source.x + target.x) / 2 + 6, (y1 + y2) / 2 + 4, "start")
    x, y, anchor = spot
    words = [text(x, y, arrow.words, anchor)] if arrow.words else []
    return [f'<path d="{path}" {_LINE} {start}marker-end="url(#tip)"/>', *words]

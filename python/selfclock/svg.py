"""Elements of a drawing as SVG, legible on light and dark paper."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Mean width of a letter and height of a line of text, pixels.
LETTER, LINE = 6.6, 17


def svg(width: float, height: float, parts: Sequence[str], title: str, *, shrinks: bool = True) -> str:
    """Return a drawing of this size; one that does not shrink is scrolled by its page."""
    most = "max-width:100%;height:auto" if shrinks else "max-width:none"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" style="{most}" role="img" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="currentColor"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def text(x: float, y: float, words: str, anchor: str = "start", **look: str) -> str:
    """Write words with a background-coloured halo, so that lines behind them do not cut them."""
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in look.items())
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" stroke="var(--paper, #fff)" stroke-width="3" '
            f'stroke-linejoin="round" paint-order="stroke"{more}>{escape(words)}</text>')  # fmt: skip

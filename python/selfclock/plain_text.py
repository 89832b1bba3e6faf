"""Tables as plain text, for `print` and a Python prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.page_parts import Table

#: Rows of a table; the rest is counted.
MOST_SHOWN = 20


def as_text(title: str, tables: Sequence[Table]) -> str:
    r"""Return tables below a title; a caption stands below its table.

    >>> from selfclock.page_parts import Table
    >>> flows = Table("", "Of one run.", ["flow", "goodput\nMbit/s"], [["a", "9.5"], ["b", "10.1"]], 1)
    >>> print(as_text("Two", [flows]))
    Two
    <BLANKLINE>
    flow  goodput
           Mbit/s
    a         9.5
    b        10.1
    Of one run.
    """
    return "\n\n".join([title, *map(_text, tables)])


def _text(table: Table) -> str:
    headings = [heading.split("\n") for heading in table.columns]
    high = max(map(len, headings), default=0)
    lines = [[heading[at] if at < len(heading) else "" for heading in headings] for at in range(high)]
    lines += table.rows[:MOST_SHOWN]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.columns))]
    shown = [
        "  ".join(
            cell.ljust(width) if number < table.texts else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    more = len(table.rows) - MOST_SHOWN
    return "\n".join([*shown, *([f"… {more:,} more"] if more > 0 else []), *([table.caption] if table.caption else [])])

"""Tables on a terminal: as many columns as fit, and no name broken in two."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from selfclock.page_parts import Table as TableOfTexts

#: Tables are not squeezed below this width: letters stacked vertically are illegible.
NARROWEST, WIDTH_OF_TABLES = 60, 80

#: Spaces between columns.
GAP = 2
#: Letters of a name: columns are omitted to keep the first number, and it never has fewer than the
#: second.
COMFORTABLE, SHORTEST = 16, 8

#: A name is elided in its middle and a text wrapped between words; words and numbers stay whole.
Kind = Literal["name", "text", "word", "number"]


@dataclass(frozen=True)
class Column:
    """A column: its heading, separate lines, its cells, and its priority when there is no room."""

    heading: str
    cells: Sequence[str]
    kind: Kind = "number"
    #: Columns with the highest value are omitted first; those with 0 stay.
    spare: int = 0

    @property
    def width(self) -> int:
        """Letters of its widest line."""
        lines = [line for text in (self.heading, *self.cells) for line in text.split("\n")]
        return max(map(_letters, lines), default=0)

    def least(self, letters: int) -> int:
        """Return the smallest width at which names and texts have at least this many letters."""
        if self.kind in {"word", "number"}:
            return self.width
        return min(self.width, max(letters, *map(_letters, self.heading.split("\n"))))


def _letters(text: str) -> int:
    """Return the terminal columns of a text: two for a wide letter."""
    from rich.cells import cell_len  # noqa: PLC0415  a document needs none of it

    return cell_len(text)


def columns_of(table: TableOfTexts) -> list[Column]:
    """Return the columns of a table; consecutive headings show their common part once."""
    columns: list[Column] = []
    above = None
    for number, heading in enumerate(table.columns):
        first, _, rest = heading.partition("\n")
        shown = f"\n{rest}" if rest and first == above else heading
        above = first
        kind: Kind = "name" if number < table.texts else "number"
        spare = table.spare[number] if table.spare else 0
        columns.append(Column(shown, [row[number] for row in table.rows], kind, spare))
    return columns


def elided(name: str, width: int) -> str:
    """Return a name with an ellipsis in its middle if it is wider.

    >>> elided("web-traffic-from-the-second-site", 14)
    'web-tra…d-site'
    """
    if _letters(name) <= width:
        return name
    begin, end, room = "", "", width - 1
    for number in range(len(name)):
        letter = name[number // 2] if number % 2 == 0 else name[-1 - number // 2]
        room -= _letters(letter)
        if room < 0:
            break
        if number % 2 == 0:
            begin += letter
        else:
            end = letter + end
    return f"{begin}…{end}"


def stacked(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns, with each interval below its mean if they do not fit this width side by side."""
    if _sum([column.width for column in columns]) <= width:
        return list(columns)
    return [replace(column, cells=[cell.replace(" ± ", "\n± ") for cell in column.cells]) for column in columns]


def fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit this width, with elided names."""
    kept = list(columns)
    while _sum([column.least(COMFORTABLE) for column in kept]) > width and (
        spare := max(column.spare for column in kept)
    ):
        kept.remove(next(column for column in reversed(kept) if column.spare == spare))
    widths = [column.width for column in kept]
    while _sum(widths) > width:
        # The widest flexible column shrinks.
        room = [(own, number) for number, own in enumerate(widths) if own > kept[number].least(SHORTEST)]
        if not room:
            break
        widths[max(room)[1]] -= 1
    return [
        replace(column, cells=[elided(cell, own) for cell in column.cells]) if column.kind == "name" else column
        for column, own in zip(kept, widths, strict=True)
    ]


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def console(*, width: int | None = None) -> Console:
    """Return the terminal as `rich` writes to it, of this width or its own."""
    from rich.console import Console  # noqa: PLC0415

    found = Console(width=width)
    return found if found.width >= NARROWEST else Console(width=WIDTH_OF_TABLES)


def print_table(columns: Sequence[Column], screen: Console | None = None) -> None:
    """Print a table, as wide as the terminal at most."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    screen = screen or console()
    shown = fitted(columns, screen.width)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in shown:
        table.add_column(
            column.heading,
            justify="right" if column.kind == "number" else "left",
            no_wrap=column.kind != "text",
            overflow="fold",
        )
    for cells in zip(*(column.cells for column in shown), strict=True):
        # Text, so that a name in brackets is not markup.
        table.add_row(*map(Text, cells))
    with screen.capture() as drawn:
        screen.print(table)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in drawn.get().splitlines())

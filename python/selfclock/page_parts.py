"""Parts of a page: a figure with its caption, a table of texts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfclock.figure import Figure


@dataclass(frozen=True)
class Illustration:
    """A figure and its caption."""

    title: str
    caption: str
    figure: Figure
    _: KW_ONLY
    #: Identifier in links, such as "figure-13"; unique in a paper.
    id: str = ""
    #: Names of the scenarios of its runs.
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scheme:
    """A network, a format or a chart of the paper, drawn once for a wide and once for a narrow screen."""

    title: str
    caption: str
    #: SVG.
    wide: str
    _: KW_ONLY
    #: Empty if the wide one fits.
    narrow: str = ""
    #: Identifier in links; unique in a paper.
    id: str


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    title: str
    caption: str
    columns: list[str]
    rows: list[list[str]]
    #: Number of text columns, from the left; the others are numbers.
    texts: int = 1000
    #: For each column, its priority where there is no room: the highest is omitted first, 0 never.
    spare: tuple[int, ...] = ()

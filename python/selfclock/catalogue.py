"""The names that leave the engine, as it declares them: units, totals, columns of series."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from selfclock import _core

if TYPE_CHECKING:
    from selfclock.units import Unit


@cache
def declared() -> dict[str, Any]:
    """Return everything: `units` by dimension, `totals` by table, `derived` figures, `series`, `phases`."""
    found: dict[str, Any] = json.loads(_core.catalogue())
    return found


def sizes(dimension: str, use: str = "") -> dict[str, int]:
    """Return the units of a dimension such as "a time" with their sizes, in ps, bit/s, B or ones.

    `use` selects those that programs write into scenarios, "text", or those of tables, "figures".
    """
    [own] = [each["units"] for each in declared()["units"] if each["dimension"] == dimension]
    return {unit["name"]: unit["size"] for unit in own if not use or unit[use]}


@dataclass(frozen=True)
class Total:
    """A total of a run, or a figure derived from totals, as tables show it."""

    name: str
    about: str
    #: "text", "count", "real" or a table of totals; whether there are several, and whether it may
    #: be null or is then omitted.
    kind: str
    list: bool
    null: bool
    omitted: bool
    #: Unit in tables.
    unit: str
    #: Name on an axis; headings of a page and of a narrow table, with `{}` for the unit.
    word: str
    heading: str
    short: str
    #: Decimals of a value; `None` for four digits.
    decimals: int | None
    #: Whether its column is omitted if zero or unknown in every row.
    sparse: bool
    #: Columns with the highest value are omitted first where there is no room; 0: never.
    spare: int
    #: How those of several flows or links become one: "sum", "least", "mean", "busiest"; `None` if
    #: they do not.
    combined: str | None
    #: Whether UDP has it, and whether an emulation has it.
    udp: bool
    emulated: bool

    def titled(self, unit: Unit, *, whole: bool) -> str:
        """Return its heading, as long as a page's if `whole`."""
        return (self.heading if whole else self.short).replace("{}", unit.name)


@cache
def totals(table: str) -> tuple[Total, ...]:
    """Return the totals of a table such as "FlowSummary", in the order of JSON."""
    return tuple(Total(**row) for row in declared()["totals"][table])


@cache
def derived() -> tuple[Total, ...]:
    """Return the figures that comparisons and sweeps derive from totals."""
    return tuple(Total(**row) for row in declared()["derived"])


@cache
def measures() -> dict[str, Total]:
    """Return every figure that several flows, links or runs have together: totals that combine, and derived ones."""
    own = [*(each for table in ("FlowSummary", "LinkSummary") for each in totals(table) if each.combined), *derived()]
    run = [each for each in totals("Summary") if each.word]
    return {each.name: each for each in [*own, *run]}

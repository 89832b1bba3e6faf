"""The measures of a sweep's runs, and those that tables and figures show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import catalogue
from selfclock.arguments import items
from selfclock.errors import BadInputError
from selfclock.names import unknown
from selfclock.units import named

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Measure:
    """A total of a run: its name and unit."""

    name: str
    unit: str = ""
    #: Factor from the measure to the displayed unit.
    factor: float = 1.0

    @property
    def heading(self) -> str:
        """Heading of a column, with its unit on a separate line."""
        return f"{self.name}\n{self.unit}".strip()

    @property
    def axis(self) -> str:
        """Label of an axis."""
        return f"{self.name}\n({self.unit})" if self.unit else self.name


#: Totals of a run, each a column of the dataset. Averages over flows are weighted by the data
#: delivered; the totals of links are sums, or those of the busiest one.
MEASURES = {
    name: Measure(total.word, total.unit, 1.0 / named(total.unit).size) for name, total in catalogue.measures().items()
}

#: Measures shown by default.
USUAL = ("goodput_bps", "utilization", "rtt_mean_s", "queue_mean_packets")


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Return the measures to show: those named, or the default ones."""
    found = tuple(dict.fromkeys(items(names, "measures")))
    for name in found:
        if name not in MEASURES:
            raise BadInputError(unknown("measure", name, list(MEASURES)))
    return found or USUAL

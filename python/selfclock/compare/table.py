"""The tables of a comparison, for a terminal and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from selfclock import formatting
from selfclock.catalogue import measures, totals
from selfclock.compare.differences import is_certain
from selfclock.page_parts import Table
from selfclock.units import RATES, fitting, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from selfclock.compare.differences import Differences
    from selfclock.compare.measures import Estimates
    from selfclock.estimate import Estimate
    from selfclock.units import Unit

#: Mark of a difference whose interval does not hold 0.
CERTAIN = "*"


#: Smaller probabilities are not written out.
LEAST_CHANCE = 0.001


class _Column(NamedTuple):
    heading: str
    measure: str
    #: Factor from the measure's unit to the heading's.
    factor: float
    #: Decimals of a value without an interval; `None` for four digits.
    decimals: int | None = None
    #: Whether it is omitted if zero or absent in every row.
    optional: bool = False


#: Columns of the table, of the flows that are not compared, and of the differences.
COLUMNS = ("goodput_bps", "utilization", "jain", "rtt_mean_s", "rtt_p95_s", "retransmitted_segments", "timeouts",
           "ce_marks", "queue_mean_packets", "completion_mean_s")  # fmt: skip
OF_FLOWS = ("goodput_bps", "rtt_mean_s", "rtt_p95_s", "retransmitted_segments", "completion_s")
OF_DIFFERENCES = (*OF_FLOWS, "queue_mean_packets")

#: Left out if zero in every run.
_OPTIONAL = ("timeouts",)

_TOTALS = {each.name: each for each in (*totals("FlowSummary"), *measures().values())}


def _columns(names: Sequence[str], rate: Unit, *, room: bool = False) -> Iterator[_Column]:
    """Yield a column for each measure; with room the heading of a number is not shortened."""
    for name in names:
        total = _TOTALS[name]
        unit = rate if named(total.unit) in RATES else named(total.unit)
        decimals = 0 if total.kind == "count" else total.decimals
        whole = room and total.kind == "count"
        heading = f"{total.word} {total.unit}".strip() if whole else total.titled(unit, whole=False)
        yield _Column(heading, name, 1.0 / unit.size, decimals, total.sparse or name in _OPTIONAL)


def _rate(rows: Sequence[Mapping[str, Estimate]]) -> Unit:
    rates = [abs(own["goodput_bps"]["mean"]) for own in rows if "goodput_bps" in own]
    return fitting(RATES, [rates], usual="Mbit/s")


def _told(columns: Iterable[_Column], measures: Sequence[Mapping[str, Estimate]]) -> list[_Column]:
    """Return the columns with something to tell."""
    return [
        column for column in columns
        if not column.optional or any(own.get(column.measure, _NONE)["mean"] for own in measures)
    ]  # fmt: skip


def table(found: Sequence[Estimates], link: str, *, room: bool = False) -> Table:
    """Return the table; measures of several seeds are means with intervals.

    With `room`, as on a page, headings are long. `link` is the measured link, with what a reader
    must know of it.
    """
    own = [each["measures"] for each in found]
    shown = _told(_columns(COLUMNS, _rate(own), room=room), own)
    rows = [
        [each["algorithm"], *(_cell(each["measures"].get(column.measure), column) for column in shown)]
        for each in found
    ]
    caption = (
        f"Goodput and retransmissions are sums over the compared flows; busy, marks and queue are those of {link}."
    )
    runs = max((estimate["runs"] for measures in own for estimate in measures.values()), default=1)
    if runs > 1:
        caption += (
            f" Means over {runs} seeds, ± half of the interval that has 95 % confidence, if it is seen in four digits."
        )
        if any(all(estimate["half_width"] is None for estimate in measures.values()) for measures in own):
            caption += " Without an interval, the runs of all seeds are one run."
    else:
        caption += " One seed, so that there are no intervals."
    return Table("Algorithms", caption, ["algorithm", *(column.heading for column in shown)], rows, texts=1)


def others(found: Sequence[Estimates]) -> Table:
    """Return the measures of the flows that are not compared, under each algorithm; without rows if there are none."""
    owned = [(each["algorithm"], name, own) for each in found for name, own in each["others"].items()]
    known = [own for _, _, own in owned]
    shown = _told(_columns(OF_FLOWS, _rate(known)), known)
    rows = [
        [algorithm, name, *(_cell(own.get(column.measure), column) for column in shown)]
        for algorithm, name, own in owned
    ]
    caption = "Flows that are not compared, beside each algorithm."
    return Table("Other flows", caption, ["beside", "flow", *(column.heading for column in shown)], rows, texts=2)


def compared(found: Sequence[Differences], seeds: Sequence[int]) -> Table:
    """Return the differences from the first algorithm; without rows if there is one seed or one algorithm."""
    known = found if len(seeds) > 1 else []
    owned = [each["measures"] for each in known]
    shown = [column for column in _columns(OF_DIFFERENCES, _rate(owned)) if any(column.measure in own for own in owned)]
    rows = []
    for each in known:
        cells = []
        for column in shown:
            difference = each["measures"].get(column.measure)
            cell = _cell(difference, column)
            rounded = float(cell.split(" ", 1)[0].replace(",", "")) if difference is not None else 0.0
            mark = f" {CERTAIN}" if difference is not None and is_certain(difference) else ""
            cells.append(f"{'+' if rounded > 0 else ''}{cell}{mark}")
        chance = each["measures"]["goodput_bps"]["p_value"]
        cells.append("-" if chance is None else "< 0.001" if chance < LEAST_CHANCE else f"{chance:.3f}")
        rows.append([f"{each['algorithm']} - {each['against']}", *cells])
    caption = (
        f"Mean of the differences within each of {len(seeds)} seeds, with 95 % confidence (paired t-test); "
        f"{CERTAIN}: the interval does not hold 0. p is the probability of such a difference in goodput by chance."
    )
    headings = ["difference", *(column.heading for column in shown), "p"]
    return Table("Differences", caption, headings, rows, texts=1)


def _cell(estimate: Estimate | None, column: _Column) -> str:
    if estimate is None:
        return "-"
    if estimate["half_width"] is not None:
        return formatting.estimate(estimate, column.factor)
    value = estimate["mean"] * column.factor
    return formatting.digits(value) if column.decimals is None else f"{value:,.{column.decimals}f}"


#: Placeholder for a measure that no run has.
_NONE: Estimate = {"mean": 0.0, "half_width": None, "runs": 0}

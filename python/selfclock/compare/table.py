"""The tables of a comparison, for a terminal and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from selfclock import formatting
from selfclock.compare.differences import is_certain
from selfclock.page_parts import Table
from selfclock.units import RATES, fitting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    #: Long heading; empty if there is only one.
    whole: str = ""


def _columns(rate: Unit) -> Iterator[_Column]:
    yield _Column(f"goodput\n{rate.name}", "goodput_bps", 1 / rate.size)
    yield _Column("busy\n%", "utilization", 1e2, 1)
    yield _Column("Jain", "jain", 1.0, 3)
    yield _Column("RTT ms\nmean", "rtt_mean_s", 1e3)
    yield _Column("RTT ms\n95 %", "rtt_p95_s", 1e3)
    yield _Column("segments\nretr.", "retransmitted_segments", 1.0, 0, whole="retransmitted segments")
    yield _Column("\nRTOs", "timeouts", 1.0, 0, optional=True, whole="timeouts")
    yield _Column("CE\nmarks", "ce_marks", 1.0, 0, optional=True)
    yield _Column("queue\npackets", "queue_mean_packets", 1.0, 1)
    yield _Column("completed\nafter s", "completion_mean_s", 1.0, optional=True)


def _of_flows(rate: Unit) -> Iterator[_Column]:
    """Columns of flows that are not compared, and of differences."""
    shown = {"goodput_bps", "rtt_mean_s", "rtt_p95_s", "retransmitted_segments"}
    yield from (column for column in _columns(rate) if column.measure in shown)
    yield _Column("completed\nafter s", "completion_s", 1.0, optional=True)


def _rate(measures: Sequence[Mapping[str, Estimate]]) -> Unit:
    rates = [abs(own["goodput_bps"]["mean"]) for own in measures if "goodput_bps" in own]
    return fitting(RATES, [rates], usual="Mbit/s")


def _told(columns: Iterator[_Column], measures: Sequence[Mapping[str, Estimate]]) -> list[_Column]:
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
    shown = _told(_columns(_rate(own)), own)
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
    headings = [(room and column.whole) or column.heading for column in shown]
    return Table("Algorithms", caption, ["algorithm", *headings], rows, texts=1)


def others(found: Sequence[Estimates]) -> Table:
    """Return the measures of the flows that are not compared, under each algorithm; without rows if there are none."""
    owned = [(each["algorithm"], name, own) for each in found for name, own in each["others"].items()]
    measures = [own for _, _, own in owned]
    shown = _told(_of_flows(_rate(measures)), measures)
    rows = [
        [algorithm, name, *(_cell(own.get(column.measure), column) for column in shown)]
        for algorithm, name, own in owned
    ]
    caption = "Flows that are not compared, beside each algorithm."
    return Table("Other flows", caption, ["beside", "flow", *(column.heading for column in shown)], rows, texts=2)


def compared(found: Sequence[Differences], seeds: Sequence[int]) -> Table:
    """Return the differences from the first algorithm; without rows if there is one seed or one algorithm."""
    known = found if len(seeds) > 1 else []
    measures = [each["measures"] for each in known]
    shown = [
        *_of_flows(_rate(measures)),
        _Column("queue\npackets", "queue_mean_packets", 1.0, 1),
    ]
    shown = [column for column in shown if any(column.measure in own for own in measures)]
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

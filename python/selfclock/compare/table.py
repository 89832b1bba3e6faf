"""The table of a comparison, for a terminal and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from selfclock import formatting
from selfclock.page_parts import Table
from selfclock.units import RATES, fitting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfclock.compare.measures import Estimates
    from selfclock.estimate import Estimate


class _Column(NamedTuple):
    heading: str
    measure: str
    #: Factor from the measure's unit to the heading's.
    factor: float
    #: Decimals of a value; `None` for four digits.
    decimals: int | None = None
    #: Whether it is shown with an interval over several seeds; all have one in the document.
    interval: bool = False
    #: Whether it is omitted if zero or absent in every row.
    optional: bool = False
    #: Long heading; empty if there is only one.
    whole: str = ""


def _columns(found: Sequence[Estimates]) -> Iterator[_Column]:
    rates = [each["measures"]["goodput_bps"]["mean"] for each in found]
    rate = fitting(RATES, [rates], usual="Mbit/s")
    yield _Column(f"goodput\n{rate.name}", "goodput_bps", 1 / rate.size, interval=True)
    yield _Column("busy\n%", "utilization", 1e2, 1)
    yield _Column("Jain", "jain", 1.0, 3)
    yield _Column("RTT ms\nmean", "rtt_mean_s", 1e3)
    yield _Column("RTT ms\n95 %", "rtt_p95_s", 1e3, interval=True)
    yield _Column("segments\nretr.", "retransmitted_segments", 1.0, 0, whole="retransmitted segments")
    yield _Column("\nRTOs", "timeouts", 1.0, 0, optional=True, whole="timeouts")
    yield _Column("CE\nmarks", "ce_marks", 1.0, 0, optional=True)
    yield _Column("queue\npackets", "queue_mean_packets", 1.0, 1)
    yield _Column("completed\nafter s", "completion_mean_s", 1.0, optional=True)


def table(found: Sequence[Estimates], link: str, *, room: bool = False) -> Table:
    """Return the table; measures of several seeds are means, the most important ones with intervals.

    With `room`, as on a page, headings are long.
    """
    shown = [
        column for column in _columns(found)
        if not column.optional or any(each["measures"].get(column.measure, _NONE)["mean"] for each in found)
    ]  # fmt: skip
    rows = [
        [each["algorithm"], *(_cell(each["measures"].get(column.measure), column) for column in shown)]
        for each in found
    ]
    caption = (
        f"Goodput and retransmissions are sums over the compared flows; busy, marks and queue are those of {link}."
    )
    runs = max((estimate["runs"] for each in found for estimate in each["measures"].values()), default=1)
    if runs > 1:
        caption += f" Means over {runs} seeds; the intervals have 95 % confidence."
        if any(all(estimate["half_width"] is None for estimate in each["measures"].values()) for each in found):
            caption += " Without an interval, the runs of all seeds are one run."
    headings = [(room and column.whole) or column.heading for column in shown]
    return Table("Algorithms", caption, ["algorithm", *headings], rows, texts=1)


def _cell(estimate: Estimate | None, column: _Column) -> str:
    if estimate is None:
        return "-"
    if column.interval and estimate["half_width"] is not None:
        return formatting.estimate(estimate, column.factor)
    value = estimate["mean"] * column.factor
    return formatting.digits(value) if column.decimals is None else f"{value:,.{column.decimals}f}"


#: Placeholder for a measure that no run has.
_NONE: Estimate = {"mean": 0.0, "half_width": None, "runs": 0}

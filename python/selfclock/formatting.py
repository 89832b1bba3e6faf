"""Figures of a run or a comparison as the cells of a table, on a terminal or a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from selfclock.estimate import Estimate
    from selfclock.result import FlowSummary, LinkSummary, Summary


def plural(count: int, what: str) -> str:
    """Return a number with a noun, "1 run" or "1,000 runs"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def digits(value: float) -> str:
    """Return a number to four digits, or all integer digits from ten thousand on: never with an exponent."""
    if abs(value) >= 9999.5:
        return f"{value:,.0f}"
    # Tiny values have leading zeros instead.
    return f"{value:.4g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.7f}".rstrip("0")


def plain(value: float) -> str:
    """Return a number as it is, to a millionth, without an exponent: "1,000,000" or "0.25"."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds, with a resolution of a tenth of a microsecond; "-" without one."""
    return "-" if seconds is None else digits(round(seconds * 1e3, 4))


def of_measure(summary: Summary) -> str:
    """Return a sentence on the time from which rates are measured; "" if that is the beginning."""
    since = summary.get("measure_from_s")
    return "" if since is None else f"Goodput, utilization, mean queue and wait from {plain(since)} s on."


def of_senders(flows: Sequence[FlowSummary]) -> list[str]:
    """Return the node that sent each flow's data; nothing if that is the first in the name of every flow."""
    against = any(flow.get("initiator", flow["from"]) != flow["from"] for flow in flows)
    return [flow["from"] for flow in flows] if against else []


def of_failures(flows: Iterable[FlowSummary]) -> list[str]:
    """Return a sentence for each connection that failed."""
    return [
        f"The connection of {flow['name']} ({flow['algorithm']}) failed at {digits(failure['time_s'])} s: "
        f"{failure['reason'].rstrip('.')}."
        for flow in flows
        if (failure := flow.get("failure")) is not None
    ]


def rate_of(link: LinkSummary, changed: Mapping[str, tuple[int, ...]], write: Callable[[float], str]) -> str:
    """Return a link's rate, and of one whose rate changes the first and the last: "24 to 12", or "24 … 6" of several.

    >>> link = {"name": "bottleneck", "rate_bps": 6_000_000}
    >>> megabits = lambda rate: f"{rate / 1e6:g} Mbit/s"
    >>> rate_of(link, {}, megabits), rate_of(link, {"bottleneck": (24_000_000, 6_000_000)}, megabits)
    ('6 Mbit/s', '24 to 6 Mbit/s')
    """
    rates = changed.get(link["name"])
    if rates is None:
        return write(link["rate_bps"])
    first, last = write(rates[0]), write(rates[-1])
    value, _, unit = first.partition(" ")
    between = " to " if len(rates) == 2 else " … "
    return f"{value if last.partition(' ')[2] == unit else first}{between}{last}"


def estimate(found: Estimate | None, factor: float) -> str:
    """Return the mean with as many decimals as the first digit of its interval requires.

    >>> [estimate({"mean": mean, "half_width": half, "runs": 5}, 1.0) for mean, half in
    ...  ((9.507, 0.08), (0.00038, 0.0003), (89.661, 0.004), (12345.0, 0.0), (-0.004, 2.0))]
    ['9.51 ± 0.08', '0.0004 ± 0.0003', '89.66', '12,345', '0 ± 2']
    """
    if found is None:
        return "-"
    mean, half = found["mean"] * factor, (found["half_width"] or 0.0) * factor
    if half == 0.0:
        return digits(mean)
    decimals = max(0, -math.floor(math.log10(half)))
    significant = decimals + (math.floor(math.log10(abs(mean))) + 1 if mean else 0)
    # An interval beyond the fourth digit is insignificant.
    if significant > 4 and decimals > 1:
        return digits(mean)
    # No mean is minus nothing.
    return f"{round(mean, decimals) + 0.0:,.{decimals}f} ± {half:,.{decimals}f}"


def number(value: float | None, unit: str = "") -> str:
    """Return a number to three digits with its unit, "-" without one."""
    return "-" if value is None else f"{value:.3g} {unit}".rstrip()

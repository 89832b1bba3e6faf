"""Lateness of an emulation's packets, which decides whether the result is valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import formatting
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.units import TIMES, written

if TYPE_CHECKING:
    from selfclock.result import LatenessSummary, Result

#: Start of the first bin, for up to a microsecond, on the logarithmic axis, s.
_BEGINS_S = 5e-7


def complaint(result: Result) -> str | None:
    """Return why an emulation is not valid; None if it is."""
    emulation = result.summary.get("emulation")
    if emulation is None or emulation["lateness"]["valid"]:
        return None
    late = emulation["lateness"]
    p99, bound, worst, worst_bound = (
        written(late[key], TIMES) for key in ("p99_s", "bound_p99_s", "worst_s", "bound_worst_s")
    )
    return (
        f"the run is invalid: packets left up to {p99} (99 %) and {worst} (worst) late; allowed are {bound} and "
        f"{worst_bound}. Give the machine less else to do, or the path a lower rate"
    )


def sentence(late: LatenessSummary) -> str:
    """Summarize the lateness of departures."""
    said = (
        f"Of {late['packets']:,} packets half left up to {formatting.milliseconds(late['p50_s'])} ms late, 99 % up to "
        f"{formatting.milliseconds(late['p99_s'])} ms, the latest {formatting.milliseconds(late['worst_s'])} ms"
    )
    p99, every = (formatting.milliseconds(late[key]) for key in ("bound_p99_s", "bound_worst_s"))
    allowed = f"{p99} ms for 99 % and {every} ms"
    return f"{said}: {'valid' if late['valid'] else 'INVALID'}, as {allowed} for every packet are allowed."


def illustration(late: LatenessSummary) -> Illustration:
    """Return the histogram of lateness for a page."""
    caption = "Share of the packets at least this late; dashed: the bounds."
    return Illustration("Lateness", caption, figure(late), id="lateness")


def figure(late: LatenessSummary) -> Figure:
    """Draw the histogram of lateness, both axes logarithmic, with the bounds."""
    drawn = Figure(x="late by (ms)", y="packets (%)", height=2.4)
    panel = drawn.panel
    panel.x.log = panel.y.log = True
    packets = max(1, late["packets"])
    edges, shares, begin = [], [], _BEGINS_S
    for end, count in late["histogram"]:
        edges.append(begin * 1e3)
        shares.append(count / packets * 100)
        begin = max(late["worst_s"], begin * 2) if end is None else end
    last = max((at for at, share in enumerate(shares) if share), default=0)
    edges, shares = [*edges[: last + 1], [*edges, begin * 1e3][last + 1]], shares[: last + 1]
    # A tenth of the height of one packet: an empty bin has no height.
    floor = 10 / packets
    high = [max(share, floor) for share in (*shares, shares[-1])]
    panel.band(edges, [floor] * len(edges), high, step="after", colour="#1f77b4", opacity=0.6, label="packets")
    panel.y.low, panel.y.high = floor, 200.0
    for value, what in ((late["bound_p99_s"], "99 %"), (late["bound_worst_s"], "worst")):
        panel.rule("x", value * 1e3, dash="--", label=f"{what}: at most {written(value, TIMES)}")
    return drawn

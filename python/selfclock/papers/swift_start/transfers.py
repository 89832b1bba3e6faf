"""The 10 Mbyte file over the paper's paths, with every start-up algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.swift_start.estimates import FORWARDING
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    FILE,
    OC1_MBPS,
    QUICK_START,
    STARTS,
    THINNING,
    TRANSPORT,
    XCP,
    XCP_ROUTER,
    completion_s,
    flow,
    scenario,
)
from selfclock.papers.swift_start.runs import RECEIVE_WINDOW_B

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

_WINDOW = {"receive_window": f"{RECEIVE_WINDOW_B} B"}

#: Name, rate, round-trip time, transport, and the routers' mechanisms.
PATHS: list[tuple[str, float, float, Mapping[str, object], Sequence[Mapping[str, object]]]] = [
    ("470 ms, window 65535 B", OC1_MBPS, 470, _WINDOW, ()),
    ("470 ms", OC1_MBPS, 470, {}, ()),
    ("1.544 Mbit/s, 348 ms", 1.544, 348, {}, ()),
    ("274 ms", OC1_MBPS, 274, {}, ()),
    ("274 ms, delayed ACK", OC1_MBPS, 274, DELAYED_ACK, ()),
    ("274 ms, thinned ACK", OC1_MBPS, 274, DELAYED_ACK, (THINNING,)),
    ("274 ms, delayed ACK, 5000 packets/s", OC1_MBPS, 274, DELAYED_ACK, FORWARDING),
    ("386 ms, delayed ACK", OC1_MBPS, 386, DELAYED_ACK, ()),
    ("486 ms, delayed ACK", OC1_MBPS, 486, DELAYED_ACK, ()),
]


#: Section 2 of the paper also has XCP, whose routers replace those of Quick-Start.
SENDERS = [*STARTS, XCP]


def scenarios() -> list[Scenario]:
    """Return a run for every path and start, paths first."""
    return [
        scenario(f"{path}: {start.label}", rate, rtt, [flow(start, size=FILE)], seconds=120,
                 transport={**TRANSPORT, "initial_window": "rfc6928", **transport},
                 routers=(XCP_ROUTER if start is XCP else QUICK_START, *routers))
        for path, rate, rtt, transport, routers in PATHS
        for start in SENDERS
    ]  # fmt: skip


def findings(results: Sequence[Result]) -> list[Table]:
    """Tabulate transfer times."""
    times = [completion_s(result) for result in results]
    rows = []
    for number, (path, *_) in enumerate(PATHS):
        own = times[number * len(SENDERS) : (number + 1) * len(SENDERS)]
        baseline = own[0]
        rows.append([path, *(_cell(time, baseline) for time in own)])
    caption = (
        "Seconds from the SYN to the last acknowledgement, and in brackets over those of slow start with the initial "
        "window of RFC 6928. 49.5 Mbit/s unless another rate stands there; queues without a limit; all routers "
        "understand Quick-Start, with XCP's sender XCP in its place; Reno follows, except with XCP. The original Swift "
        "Start falls back to slow start where it finds no estimate."
    )
    return [Table("Transfer of 10 MB", caption, ["path", *(start.label for start in SENDERS)], rows)]


def _cell(time: float | None, baseline: float | None) -> str:
    if time is None:
        return "not complete"
    return f"{time:.2f}" if baseline is None else f"{time:.2f} ({time / baseline:.2f})"

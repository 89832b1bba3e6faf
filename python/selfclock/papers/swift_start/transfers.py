"""The 10 Mbyte file over the paper's paths, with every start-up algorithm."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    file_name,
    flow,
    scenario,
)
from selfclock.papers.swift_start.runs import RECEIVE_WINDOW_B

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.paper_runs import Runs
    from selfclock.papers.swift_start.network import Start
    from selfclock.scenario import Scenario

_WINDOW = {"receive_window": f"{RECEIVE_WINDOW_B} B"}


@dataclass(frozen=True)
class Path:
    """A path of the paper."""

    label: str
    rate_mbps: float
    rtt_ms: float
    transport: Mapping[str, object] = field(default_factory=dict)
    #: Mechanisms of its routers.
    routers: Sequence[Mapping[str, object]] = ()


PATHS = [
    Path("470 ms, window 65535 B", OC1_MBPS, 470, _WINDOW),
    Path("470 ms", OC1_MBPS, 470),
    Path("1.544 Mbit/s, 348 ms", 1.544, 348),
    Path("274 ms", OC1_MBPS, 274),
    Path("274 ms, delayed ACK", OC1_MBPS, 274, DELAYED_ACK),
    Path("274 ms, thinned ACK", OC1_MBPS, 274, DELAYED_ACK, (THINNING,)),
    Path("274 ms, delayed ACK, 5000 packets/s", OC1_MBPS, 274, DELAYED_ACK, FORWARDING),
    Path("386 ms, delayed ACK", OC1_MBPS, 386, DELAYED_ACK),
    Path("486 ms, delayed ACK", OC1_MBPS, 486, DELAYED_ACK),
]


#: Section 2 of the paper also has XCP, whose routers replace those of Quick-Start.
SENDERS = [*STARTS, XCP]


def _name(path: Path, start: Start) -> str:
    return file_name(f"{path.label}: {start.label}")


def scenarios() -> list[Scenario]:
    """Return a run for every path and start, paths first."""
    return [
        scenario(
            _name(path, start),
            path.rate_mbps,
            path.rtt_ms,
            [flow(start, size=FILE)],
            seconds=120,
            transport={**TRANSPORT, "initial_window": "rfc6928", **path.transport},
            routers=(XCP_ROUTER if start is XCP else QUICK_START, *path.routers),
        )
        for path in PATHS
        for start in SENDERS
    ]


def findings(runs: Runs) -> list[Table]:
    """Tabulate transfer times."""
    rows = []
    for path in PATHS:
        times = [completion_s(runs[_name(path, start)]) for start in SENDERS]
        rows.append([path.label, *(_cell(time, times[0]) for time in times)])
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

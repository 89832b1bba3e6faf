"""Two flows on 1 Gbit/s, compared with ns-2.35."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.network import DELAYED_ACK, control, scenario, sender, throughputs_mbps
from selfclock.papers.declared import Ran

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS, BUFFER = 1000.0, 120.0, "10000 packets"
SECONDS, SKIPPED_S = 300.0, 100.0

#: Its queue counts the packet in service, and its timer times one segment per round trip, in ticks.
TRANSPORT: dict[str, object] = {
    **DELAYED_ACK,
    "timer": {
        "arithmetic": "bsd",
        "samples": "one-at-a-time",
        "granularity": "10 ms",
        "initial": "3 s",
        "minimum": "200 ms",
        "maximum": "60 s",
    },
}

#: Both flows start at time 0, as in ns-2; those of SACK with 240 ms also with random starts within
#: this.
JITTER_S = 1.0


@dataclass(frozen=True)
class Row:
    """A run of ns-2.35."""

    algorithm: str
    label: str
    rtt_ms: float
    mbps: tuple[float, float]
    drops: int
    cuts: tuple[int, int]
    timeouts: tuple[int, int]

    @property
    def share(self) -> float:
        """Part of the first flow; ns-2's rates are on the wire, ours are of payload."""
        return self.mbps[0] / sum(self.mbps)

    @property
    def ratio(self) -> float:
        """First flow over second."""
        return self.mbps[0] / self.mbps[1]


ROWS = [
    Row("reno", "SACK", 240.0, (825.7, 27.2), 9873, (2, 1), (1, 0)),
    Row("highspeed", "HighSpeed", 240.0, (960.5, 39.5), 10013, (7, 6), (1, 0)),
    Row("scalable", "Scalable", 240.0, (996.9, 3.1), 13757, (44, 39), (1, 0)),
    Row("reno", "SACK", 120.0, (529.6, 470.4), 10001, (1, 1), (0, 0)),
    Row("highspeed", "HighSpeed", 120.0, (522.2, 477.8), 10250, (9, 9), (0, 0)),
    Row("scalable", "Scalable", 120.0, (529.6, 470.4), 14458, (45, 45), (0, 0)),
]


def _name(row: Row, jitter_s: float) -> str:
    return f"ns2-{row.algorithm}-{row.rtt_ms:g}" + ("-random-starts" if jitter_s else "")


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the runs, row by row."""
    return [
        scenario(
            _name(row, jitter),
            RATE_MBPS,
            [sender(control(row.algorithm), rtt, jitter_s=jitter * scale) for rtt in (RTT_MS, row.rtt_ms)],
            seconds=SECONDS * scale,
            buffer=BUFFER,
            queue_counts="in-system",
            transport=TRANSPORT,
            samples_s=1.0 * scale,
        )
        for row in ROWS
        for jitter in ((0.0, JITTER_S) if row == ROWS[0] else (0.0,))
    ]


@dataclass(frozen=True)
class Own:
    """Our run's values for a row."""

    mbps: tuple[float, float]
    drops: int
    cuts: tuple[int, int]
    timeouts: tuple[int, int]

    @property
    def share(self) -> float:
        """Part of the first flow; ns-2's rates are on the wire, ours are of payload."""
        return self.mbps[0] / sum(self.mbps)

    @property
    def ratio(self) -> float:
        """First flow over second."""
        return self.mbps[0] / max(self.mbps[1], 1e-9)


def measure(result: Result, scale: float) -> Own:
    """Extract the values of ns-2's rows from a run."""
    first, second = throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale)
    summary = result.summary
    one, other = summary["flows"]
    return Own(
        (first, second),
        sum(link["drops"] for link in summary["links"]),
        (one["fast_retransmits"] + one["timeouts"], other["fast_retransmits"] + other["timeouts"]),
        (one["timeouts"], other["timeouts"]),
    )


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Compare run by run."""
    claims, rows, every = [], [], []
    for row in ROWS:
        own = measure(runs[_name(row, 0.0)], scale)
        other = f"{measure(runs[_name(row, JITTER_S)], scale).ratio:.3g}" if row == ROWS[0] else "-"
        every.append(own)
        claims.append(_claim(row, own, other))
        rows.append(
            [
                row.label,
                f"{row.rtt_ms:g}",
                f"{row.ratio:.3g}",
                f"{own.ratio:.3g}",
                other,
                f"{row.drops:,}",
                f"{own.drops:,}",
                _pair(row.cuts),
                _pair(own.cuts),
                _pair(row.timeouts),
                _pair(own.timeouts),
            ]
        )
    grid = Table(
        "Two flows beside ns-2.35",
        "1 Gbit/s, buffer 10000 packets, 120 ms and the second flow's round-trip time, delayed acknowledgements, 300 s "
        "without the first 100 s. Cuts: reductions of the window, timeouts included.",
        [
            "algorithm",
            "RTT ms",
            "ratio, ns-2",
            "ratio",
            "random starts",
            "drops, ns-2",
            "drops",
            "cuts, ns-2",
            "cuts",
            "timeouts, ns-2",
            "timeouts",
        ],
        rows,
    )
    return claims, [_figure(every)], [grid]


def _figure(measured: Sequence[Own]) -> Illustration:
    figure = Figure(
        title="Two flows on 1 Gbit/s, 120 ms and the second's round-trip time",
        y="throughput ratio, first over second",
        height=3.4,
    )
    panel, ours, printed = figure.panel, style.look("altcp"), style.look("reno")
    places = range(len(ROWS))
    panel.points(
        places, [own.ratio for own in measured], marker=ours.marker, colour=ours.colour, size=6, label="selfclock"
    )
    panel.points(
        places,
        [row.ratio for row in ROWS],
        marker=printed.marker,
        colour=printed.colour,
        hollow=True,
        size=9,
        label="printed by ns-2.35",
    )
    panel.y.log = True
    panel.x.name(*(f"{row.label}\n{row.rtt_ms:g} ms" for row in ROWS))
    return Illustration(
        "Two flows beside ns-2.35",
        "One run each: nothing is random.",
        figure,
        id="ns-2",
        scenarios=tuple(_name(row, 0.0) for row in ROWS),
    )


def _claim(row: Row, own: Own, other: str) -> Claim:
    jittered = other != "-"
    variant = (
        f"{_VARIANTS[row.algorithm]}; queue in-system, BSD timer of 10 ms ticks with one sample per round trip, "
        "delayed ACKs, as ns-2's agents"
    )
    return CLAIMS(
        f"ns2-{row.algorithm}-{row.rtt_ms:g}-ms",
        Ran(variant, (_name(row, 0.0), *((_name(row, JITTER_S),) if jittered else ()))),
        printed=round(row.ratio, 3),
        own=own,
        theirs=row,
        same_flow=(own.mbps[0] - own.mbps[1]) * (row.mbps[0] - row.mbps[1]) > 0,
        as_many_cuts=own.cuts == row.cuts,
        as_many_timeouts=own.timeouts == row.timeouts,
        other=other,
        jittered=jittered,
    )


_VARIANTS = {
    "reno": "reno: halved = window",
    "highspeed": "highspeed: slow_start_loss = half",
    "scalable": "scalable: slow_start_loss = half",
}


def _pair(counts: tuple[int, int]) -> str:
    return f"{counts[0]}/{counts[1]}"

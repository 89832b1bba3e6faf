"""Two flows on 1 Gbit/s, beside what ns-2.35 gives for the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.papers.adaptive_layered.network import DELAYED_ACK, Flow, control, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import PAPER, RATIO_TOLERANCE, ratio_verdict
from selfclock.reproduce import Claim, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS, BUFFER = 1000.0, 120.0, "10000 packets"
SECONDS, SKIPPED_S = 300.0, 100.0

#: Its queue counts the packet on the wire, and its timer looks at one segment in a round trip, in ticks.
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

#: Both flows start at time 0, as there; those of SACK with 240 ms once more with random starts within this.
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


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the runs, row by row."""
    return [
        scenario(
            f"ns2-{row.algorithm}-{row.rtt_ms:g}",
            RATE_MBPS,
            [Flow(control(row.algorithm), rtt, jitter_s=jitter * scale) for rtt in (RTT_MS, row.rtt_ms)],
            seconds=SECONDS * scale,
            buffer=BUFFER,
            queue_counts="in-system",
            transport=TRANSPORT,
            samples_s=1.0 * scale,
        )
        for row in ROWS
        for jitter in ((0.0, JITTER_S) if row == ROWS[0] else (0.0,))
    ]


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Grid]]:
    """Compare ratio by ratio."""
    claims, rows = [], []
    measured = iter(results)
    for row in ROWS:
        together = next(measured)
        other = f"{_ratio(next(measured), scale):.3g}" if row == ROWS[0] else "-"
        first, second = throughputs_mbps(together, SKIPPED_S * scale, SECONDS * scale)
        ratio = first / max(second, 1e-9)
        summary = together.summary
        drops = sum(link["drops"] for link in summary["links"])
        cuts = "/".join(str(flow["fast_retransmits"] + flow["timeouts"]) for flow in summary["flows"])
        timeouts = "/".join(str(flow["timeouts"]) for flow in summary["flows"])
        claims.append(
            Claim(PAPER, f"ns2-{row.algorithm}-{row.rtt_ms:g}-ms", "ns-2.35, not in the paper",
                  f"{row.label}, 120 and {row.rtt_ms:g} ms: throughput of the first flow over the second's",
                  round(row.ratio, 3), round(ratio, 3), ratio_verdict(ratio, row.ratio),
                  f"{first:.1f} and {second:.1f} Mbit/s against {row.mbps[0]} and {row.mbps[1]}. Same winner "
                  f"and within a factor of {RATIO_TOLERANCE}: reproduced; same winner: direction."
                  + (f" With random starts within {JITTER_S:g} s: {other}." if other != "-" else ""))
        )  # fmt: skip
        rows.append([
            row.label, f"{row.rtt_ms:g}", f"{row.ratio:.3g}", f"{ratio:.3g}", other, f"{row.drops:,}",
            f"{drops:,}", "{}/{}".format(*row.cuts), cuts, "{}/{}".format(*row.timeouts), timeouts,
        ])  # fmt: skip
    grid = Grid(
        "Two flows beside ns-2.35",
        "1 Gbit/s, buffer 10000 packets, 120 ms and the second flow's round-trip time, delayed acknowledgements, 300 s "
        "without the first 100 s. Cuts: reductions of the window, timeouts included.",
        ["algorithm", "RTT ms", "ratio, ns-2", "ratio", "random starts", "drops, ns-2", "drops", "cuts, ns-2", "cuts",
         "timeouts, ns-2", "timeouts"],
        rows,
    )  # fmt: skip
    return claims, [grid]


def _ratio(result: Result, scale: float) -> float:
    first, second = throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale)
    return first / max(second, 1e-9)

"""Reno, HighSpeed and Scalable of figures 6 and 7 beside ns-2.35."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.declared import Ran
from selfclock.papers.inline_measurement.behaviour import name_of
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.mechanisms import MECHANISMS
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    FIGURE_7,
    RATE_GBPS,
    SECONDS,
    drops,
    goodput_gbps,
    periods,
    scenario,
    sender,
    udp_at,
)
from selfclock.series import flow_series, link_series, mean_between

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Row:
    """One run of ns-2.35: goodput of each period in Mbit/s, and numbers of cuts and drops, and the mean queue."""

    algorithm: str
    udp: bool
    mbps: tuple[float, ...]
    cuts: int
    drops: int
    mean_queue: float

    @property
    def scenario(self) -> str:
        """The name of our scenario: one with UDP of its own, or that of figure 6."""
        return f"ns2-{self.algorithm}-udp" if self.udp else name_of(6, _MECHANISMS[self.algorithm])


_MECHANISMS = {mechanism.algorithm: mechanism for mechanism in MECHANISMS}

ROWS = [
    Row("reno", udp=False, mbps=(4853, 5000, 5000, 5000), cuts=0, drops=0, mean_queue=803),
    Row("highspeed", udp=False, mbps=(4853, 5000, 5000, 5000), cuts=3, drops=189, mean_queue=14668),
    Row("scalable", udp=False, mbps=(4853, 5000, 5000, 5000), cuts=51, drops=25551, mean_queue=20548),
    Row("reno", udp=True, mbps=(2919, 3997, 3009, 2008), cuts=1, drops=7858, mean_queue=11619),
    Row("scalable", udp=True, mbps=(2921, 3990, 3032, 2023), cuts=56, drops=51714, mean_queue=21187),
]


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the two rows with UDP, in packets of 1500 B; the others are those of figure 6."""
    rates = tuple((time * scale, RATE_GBPS - free) for time, free in FIGURE_7)
    return [
        scenario(
            row.scenario,
            [sender(_MECHANISMS[row.algorithm].control)],
            seconds=SECONDS * scale,
            samples_s=0.1 * scale,
            udp=udp_at(rates, packet="1500 B"),
            ssthresh=BDP_PACKETS,
            coalescing="0 s",
        )
        for row in ROWS
        if row.udp
    ]


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Table]]:
    """Compare row by row."""
    claims, lines = [], []
    for row in ROWS:
        own = _measured(row, runs[row.scenario], scale)
        claims += _claims(row, own)
        lines.append(
            [
                f"{row.algorithm}, {'beside UDP' if row.udp else 'alone'}",
                " / ".join(f"{value:g}" for value in row.mbps),
                " / ".join(f"{value:.0f}" for value in own.mbps),
                str(row.cuts),
                str(own.cuts),
                f"{row.drops:,}",
                f"{own.drops:,}",
                f"{row.mean_queue:,.0f}",
                f"{own.mean_queue:,.0f}",
            ]
        )
    grid = Table(
        "Baselines beside ns-2.35",
        "5 Gbit/s, 60 ms, buffer 25000 packets, initial ssthresh at the product, no coalescing; UDP in packets of "
        "1500 B. Goodput in Mbit/s over 0-30, 30-70, 70-85 and 85-100 s.",
        [
            "",
            "goodput, ns-2",
            "goodput",
            "cuts, ns-2",
            "cuts",
            "drops, ns-2",
            "drops",
            "mean queue, ns-2",
            "mean queue",
        ],
        lines,
    )
    return claims, [grid]


def _measured(row: Row, result: Result, scale: float) -> Row:
    """Return the same figures of a run here."""
    series = flow_series(result)
    # The first sample has no rate.
    spans = [(max(begin, 0.1 * scale), end, end - begin) for begin, end, _ in periods(scale)]
    mbps = [1000 * goodput_gbps(series, begin, end) * (end - begin) / whole for begin, end, whole in spans]
    flow = result.summary["flows"][0]
    return replace(
        row,
        mbps=tuple(mbps),
        cuts=flow["fast_retransmits"] + flow["timeouts"],
        drops=drops(result),
        mean_queue=mean_between(link_series(result), "queue_packets", 0.0, SECONDS * scale),
    )


def _claims(row: Row, own: Row) -> list[Claim]:
    name = f"{row.algorithm}{'-udp' if row.udp else ''}"
    udp = "; UDP of 1500 B" if row.udp else ""
    variant = f"{_MECHANISMS[row.algorithm].variant}; no coalescing; buffer counted in packets{udp}"
    ran = Ran(variant, (row.scenario,))
    return [
        CLAIMS(
            f"ns2-{name}-goodput",
            ran,
            mbps=own.mbps,
            theirs=row.mbps,
            off=max(abs(mine / theirs - 1) for mine, theirs in zip(own.mbps, row.mbps, strict=True)),
        ),
        CLAIMS(
            f"ns2-{name}-queue",
            ran,
            printed=row.mean_queue,
            queue=own.mean_queue,
            off=abs(own.mean_queue / row.mean_queue - 1),
        ),
        CLAIMS(f"ns2-{name}-cuts", ran, printed=row.cuts, cuts=own.cuts, theirs=row, drops=own.drops),
    ]

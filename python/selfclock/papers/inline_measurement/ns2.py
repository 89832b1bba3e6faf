"""Reno, HighSpeed and Scalable of figures 6 and 7 beside ns-2.35."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.page_parts import Table
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.behaviour import name_of
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
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.series import flow_series, link_series, mean_between

if TYPE_CHECKING:
    from selfclock.papers.inline_measurement.behaviour import Runs
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Row:
    """One run of ns-2.35: goodput of each period in Mbit/s, and numbers of cuts and drops, and the mean queue."""

    algorithm: str
    udp: bool
    mbps: tuple[float, float, float, float]
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
        result = runs[row.scenario]
        series = flow_series(result)
        mbps = [
            1000 * goodput_gbps(series, max(begin, 0.1 * scale), end) * (end - max(begin, 0.1 * scale)) / (end - begin)
            for begin, end, _ in periods(scale)
        ]
        flow = result.summary["flows"][0]
        cuts = flow["fast_retransmits"] + flow["timeouts"]
        mean_queue = mean_between(link_series(result), "queue_packets", 0.0, SECONDS * scale)
        off = max(abs(own / theirs - 1) for own, theirs in zip(mbps, row.mbps, strict=True))
        queue_off = abs(mean_queue / row.mean_queue - 1)
        name = f"{row.algorithm}{'-udp' if row.udp else ''}"
        says = f"{row.algorithm}, {'beside UDP' if row.udp else 'alone'}"
        variant = (
            f"{_MECHANISMS[row.algorithm].variant}; no coalescing; buffer counted in "
            f"packets{'; UDP of 1500 B' if row.udp else ''}"
        )
        where = "ns-2.35, not in the thesis"
        claims += [
            Claim(
                PAPER,
                f"ns2-{name}-goodput",
                where,
                says=f"{says}: goodput of each period",
                printed=" / ".join(f"{value:g}" for value in row.mbps),
                measured=" / ".join(f"{value:.0f}" for value in mbps),
                verdict=verdicts.at_most(off, verdicts.GOODPUT_TOLERANCE),
                note=f"Mbit/s. The largest difference is {off:.1%}.",
                of="oracle",
                criterion="2 % in every period; direction 4 %. A recovery in which nothing new is sent for two round "
                "trips is 0.2 s of a period of 15 s, 1.3 %",
                variant=variant,
                figure="" if row.udp else "figure-6a",
                scenarios=(row.scenario,),
            ),
            Claim(
                PAPER,
                f"ns2-{name}-queue",
                where,
                says=f"{says}: mean queue",
                printed=row.mean_queue,
                measured=round(mean_queue),
                verdict=verdicts.at_most(queue_off, verdicts.MEAN_QUEUE_TOLERANCE),
                note=f"{queue_off:.1%} apart.",
                unit="packets",
                of="oracle",
                criterion="10 %; direction 20 %. Less than one cut takes from the window: an eighth with Scalable, a "
                "half with the others",
                variant=variant,
                figure="" if row.udp else "figure-6c",
                scenarios=(row.scenario,),
            ),
            Claim(
                PAPER,
                f"ns2-{name}-cuts",
                where,
                says=f"{says}: cuts of the window",
                printed=row.cuts,
                measured=cuts,
                verdict="reproduced" if abs(cuts - row.cuts) <= verdicts.CUTS_TOLERANCE else "not reproduced",
                note=f"Fast retransmits and timeouts; {row.drops} and {drops(result)} drops.",
                of="oracle",
                criterion="one more or less: the end of the run may fall before or after a cut",
                variant=variant,
                figure="" if row.udp else "figure-6b",
                scenarios=(row.scenario,),
            ),
        ]
        lines.append(
            [
                says,
                " / ".join(f"{value:g}" for value in row.mbps),
                " / ".join(f"{value:.0f}" for value in mbps),
                str(row.cuts),
                str(cuts),
                f"{row.drops:,}",
                f"{drops(result):,}",
                f"{row.mean_queue:,.0f}",
                f"{mean_queue:,.0f}",
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

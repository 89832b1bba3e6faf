"""Reno, HighSpeed and Scalable of figures 6 and 7 beside ns-2.35."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.behaviour import SECONDS, drops, periods
from selfclock.papers.inline_measurement.mechanisms import MECHANISMS
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    FIGURE_7,
    RATE_GBPS,
    Background,
    Flow,
    flow_series,
    goodput_gbps,
    link_series,
    mean_between,
    scenario,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.reproduce import Claim, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Row:
    """A run of ns-2.35: goodput of each period, Mbit/s; cuts, drops and mean queue."""

    algorithm: str
    udp: bool
    mbps: tuple[float, float, float, float]
    cuts: int
    drops: int
    mean_queue: float


ROWS = [
    Row("reno", udp=False, mbps=(4853, 5000, 5000, 5000), cuts=0, drops=0, mean_queue=803),
    Row("highspeed", udp=False, mbps=(4853, 5000, 5000, 5000), cuts=3, drops=189, mean_queue=14668),
    Row("scalable", udp=False, mbps=(4853, 5000, 5000, 5000), cuts=51, drops=25551, mean_queue=20548),
    Row("reno", udp=True, mbps=(2919, 3997, 3009, 2008), cuts=1, drops=7858, mean_queue=11619),
    Row("scalable", udp=True, mbps=(2921, 3990, 3032, 2023), cuts=56, drops=51714, mean_queue=21187),
]


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the two rows beside UDP, in packets of 1500 B; the others are figure 6."""
    rates = tuple((time * scale, RATE_GBPS - free) for time, free in FIGURE_7)
    controls = {mechanism.algorithm: mechanism.control for mechanism in MECHANISMS}
    return [
        scenario(
            f"ns2-{row.algorithm}-udp",
            [Flow(controls[row.algorithm])],
            seconds=SECONDS * scale,
            samples_s=0.1 * scale,
            udp=Background(rates, packet="1500 B"),
            ssthresh=BDP_PACKETS,
            coalescing="0 s",
        )
        for row in ROWS
        if row.udp
    ]


def findings(results: Sequence[Result], alone: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Grid]]:
    """Compare row by row; `alone` are the runs of figure 6, in the order of the mechanisms."""
    idle = {mechanism.algorithm: result for mechanism, result in zip(MECHANISMS, alone, strict=True)}
    loaded = iter(results)
    claims, lines = [], []
    for row in ROWS:
        result = next(loaded) if row.udp else idle[row.algorithm]
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
        where = "ns-2.35, not in the thesis"
        claims += [
            Claim(
                PAPER,
                f"ns2-{name}-goodput",
                where,
                f"{says}: goodput of each period",
                " / ".join(f"{value:g}" for value in row.mbps),
                " / ".join(f"{value:.0f}" for value in mbps),
                verdicts.at_most(off, verdicts.GOODPUT_TOLERANCE),
                f"Mbit/s. The largest difference is {off:.1%}; 2 % or less agrees.",
                "",
            ),
            Claim(
                PAPER,
                f"ns2-{name}-queue",
                where,
                f"{says}: mean queue",
                row.mean_queue,
                round(mean_queue),
                verdicts.at_most(queue_off, verdicts.MEAN_QUEUE_TOLERANCE),
                f"{queue_off:.1%} apart; 10 % or less agrees.",
                "packets",
            ),
            Claim(
                PAPER,
                f"ns2-{name}-cuts",
                where,
                f"{says}: cuts of the window",
                row.cuts,
                cuts,
                "reproduced" if abs(cuts - row.cuts) <= verdicts.CUTS_TOLERANCE else "not reproduced",
                "One more or less agrees.",
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
    grid = Grid(
        "Baselines beside ns-2.35",
        "5 Gbit/s, 60 ms, buffer 25000 packets, initial ssthresh at the product, no coalescing; UDP in packets "
        "of 1500 B. Goodput in "
        "Mbit/s over 0-30, 30-70, 70-85 and 85-100 s.",
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

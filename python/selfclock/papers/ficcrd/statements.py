"""The paper's statements on FICCRD, judged under one combination of readings."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.papers.ficcrd import ambiguities
from selfclock.papers.ficcrd.mechanisms import SEEDS, SEND_DELAY_MS
from selfclock.papers.ficcrd.network import FLOWS, PAPER, SECONDS
from selfclock.papers.ficcrd.readings import STARTED_S, paired
from selfclock.papers.ficcrd.verdicts import (
    FAIR,
    NEAR_RULE,
    REGULAR,
    SIGNIFICANT,
    fair_verdict,
    gain_verdict,
    near_verdict,
    no_drop_verdict,
    regular_verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Reading

RANDOM = f"random send delays below {SEND_DELAY_MS:g} ms, seeds {SEEDS[0]} to {SEEDS[-1]}"

STARTS = {
    ambiguities.AT_ONCE: "all start at once",
    ambiguities.RANDOM: RANDOM,
    ambiguities.APART: "starts 0.1 and 1 s apart",
}
_RATES = {ambiguities.FAST: 10.0, ambiguities.SLOW: 1.5}


@dataclass(frozen=True)
class Runs:
    """A mechanism, and the names of its runs."""

    mechanism: Mechanism
    #: Starting at once; empty if there is none.
    at_once: tuple[str, ...]
    random: tuple[str, ...]


@dataclass(frozen=True)
class Tails:
    """The same under tail drop: the run of the figure if there is one, and the seeds."""

    at_once: Reading | None
    random: Sequence[Reading]


def claims(runs: Runs, own: Reading | None, seeds: list[Reading], tail: Tails, bottleneck: str) -> list[Claim]:
    """Judge figures 3 to 6: with all sources at once, if there is such a run, and with random send delays."""
    judged = []
    if own is not None and tail.at_once is not None:
        judged += of_runs(runs, [own], [tail.at_once], (ambiguities.AT_ONCE, bottleneck))
    judged += of_runs(runs, seeds, tail.random, (ambiguities.RANDOM, bottleneck))
    return [*judged, *_of_pairs(runs, seeds, tail.random, bottleneck)]


def of_runs(runs: Runs, own: list[Reading], tails: Sequence[Reading], readings: tuple[str, str]) -> list[Claim]:
    """Judge figures 3, 5 and 6 in the worst or median of some runs; `readings` are those of start and bottleneck."""
    mechanism, (start, bottleneck) = runs.mechanism, readings
    under = (*mechanism.readings, *readings, *mechanism.settled)
    fair_share = _RATES[bottleneck] / FLOWS
    many = len(own) > 1
    names = runs.at_once if start == ambiguities.AT_ONCE else runs.random
    variant = f"{mechanism.variant}, {STARTS[start]}, {bottleneck.replace('-', ' ')}"
    drops, early = max((one.drops, one.early_drops) for one in own)
    tail_drops = statistics.fmean(one.drops for one in tails)
    worst = min(own, key=lambda one: one.jain)
    near = [one.near for one in own]
    middle = statistics.median_low(near)
    return [
        Claim(
            PAPER,
            "figure-6",
            "section 3.2, figure 6",
            says="no packet is dropped at the bottleneck",
            printed='"no packets dropping"',
            measured=f"{drops} drops" + (f", {early} of them before {STARTED_S:g} s" if drops else ""),
            verdict=no_drop_verdict(drops, round(tail_drops)),
            note=f"Data and RD packets, 0 to {SECONDS:g} s{', the worst run' if many else ''}. Tail drop: "
            f"{tail_drops:.0f}{' in the mean' if many else ''}."
            + (
                " Ten windows of 32 packets meet 200 places before any rate is known."
                if {ambiguities.one_in(32), ambiguities.COUNTED} <= set(under) and drops
                else ""
            ),
            criterion="our criterion: no drop in 0 to 200 s, in any run; direction: below a tenth of tail drop's",
            variant=variant,
            readings=under,
            figure="figure-6",
            scenarios=names,
        ),
        Claim(
            PAPER,
            "figure-5",
            "section 3.2, figure 5",
            says="the queue oscillates at its target of 100 packets with narrow range",
            printed='"at our target queue length with narrow range"',
            measured=f"near it {middle:.1%} of the time" + (f" ({min(near):.1%} to {max(near):.1%})" if many else ""),
            verdict=near_verdict(middle),
            note=f"50 to 200 s{', median and range of the runs' if many else ''}, all packets counted; mean queue "
            f"{min(one.queue_mean for one in own):.0f} to {max(one.queue_mean for one in own):.0f}."
            + (
                " Two segments of 4 KB, the smallest window, times the a = 1.15 of an empty queue are 2.3: TCP sends "
                "whole segments, so windows below 1 / 0.15 = 7 segments never grow, and a queue that was ever empty "
                "stays so. See whole-segments."
                if middle < 0.5
                else ""
            ),
            criterion=NEAR_RULE,
            variant=variant,
            readings=under,
            figure="figure-5-random" if many else "figure-5",
            scenarios=names,
        ),
        Claim(
            PAPER,
            "figure-3",
            "section 3.2, figure 3",
            says="goodput is shared equally although one flow has 2.5 times the round-trip time",
            printed='"fairly distributed among connections"',
            measured=f"Jain's index {worst.jain:.4f}",
            verdict=fair_verdict(worst.jain, min(one.jain for one in tails)),
            note=f"50 to 200 s{', the worst run' if many else ''}; flow 0 has "
            f"{worst.goodputs[0] / fair_share:.3f} of its share C/N, the others "
            f"{min(worst.goodputs[1:]) / fair_share:.3f} to {max(worst.goodputs[1:]) / fair_share:.3f}. Tail drop: "
            f"{min(one.jain for one in tails):.4f}.",
            criterion=f"our criterion: Jain's index above {FAIR}, in every run; direction: above tail drop's",
            variant=variant,
            readings=under,
            figure="figure-3",
            scenarios=names,
        ),
    ]


def _of_pairs(runs: Runs, seeds: list[Reading], tails: Sequence[Reading], bottleneck: str) -> list[Claim]:
    mechanism = runs.mechanism
    gain, rough = paired(seeds, tails, lambda one: one.total), paired(seeds, tails, lambda one: one.roughness)
    busy = statistics.fmean(one.use for one in tails)
    under, variant = (*mechanism.readings, bottleneck), f"{mechanism.variant}, {RANDOM}, {bottleneck.replace('-', ' ')}"
    return [
        Claim(
            PAPER,
            "figure-3-gain",
            "sections 3.2 and 4",
            says="goodput is higher than under tail drop",
            printed='"significantly improve in throughput"',
            measured=f"{gain.text(4)} times",
            verdict=gain_verdict(gain),
            note=f"Cannot be attained here: tail drop with 200 places keeps the link busy (use {busy:.4f}), and its "
            "drops are retransmitted over links that are idle, so that no mechanism gains more than "
            f"{1 / busy - 1:.2%}. RD packets cost what they take of the link, and an empty queue idles.",
            criterion=f"our criterion: 95 % t-interval of the ratio over ten paired seeds from {SIGNIFICANT} on; "
            "direction: from 1 on",
            variant=variant,
            readings=under,
            figure="figure-3",
            scenarios=runs.random,
        ),
        Claim(
            PAPER,
            "figure-4",
            "section 3.2, figure 4",
            says="the sending rate is more regular than under tail drop",
            printed='"more regulated than in Droptail"',
            measured=f"{rough.text()} of tail drop's roughness",
            verdict=regular_verdict(rough),
            note="Roughness: standard deviation over mean of what a flow sends in a second, 50 to 200 s.",
            criterion=f"our criterion: 95 % t-interval of the ratio over ten paired seeds below {REGULAR}; direction: "
            "below 1",
            variant=variant,
            readings=under,
            figure="figure-4",
            scenarios=runs.random,
        ),
    ]

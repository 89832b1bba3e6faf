"""The paper's statements on FICCRD, judged under one combination of readings."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.papers.declared import Ran
from selfclock.papers.ficcrd import ambiguities
from selfclock.papers.ficcrd.declared import CLAIMS
from selfclock.papers.ficcrd.mechanisms import SEEDS, SEND_DELAY_MS
from selfclock.papers.ficcrd.network import FLOWS
from selfclock.papers.ficcrd.readings import paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.papers.ficcrd.mechanisms import Mechanism
    from selfclock.papers.ficcrd.readings import Reading

RANDOM = f"random send delays below {SEND_DELAY_MS:g} ms, seeds {SEEDS[0]} to {SEEDS[-1]}"

STARTS = {
    ambiguities.AT_ONCE: "all start at once",
    ambiguities.RANDOM: RANDOM,
    ambiguities.APART: "starts 0.1 and 1 s apart",
}
_RATES = {ambiguities.FAST: 10.0, ambiguities.SLOW: 1.5}

#: Until an RD packet follows the 32nd data packet no rate is known.
_UNSEEN = {ambiguities.one_in(32), ambiguities.COUNTED}


@dataclass(frozen=True)
class Group:
    """Runs of one mechanism that are judged together, by one rule of the starts and on one bottleneck."""

    mechanism: Mechanism
    names: tuple[str, ...]
    found: Sequence[Reading]
    #: Tail drop in the same setting.
    tails: Sequence[Reading]
    start: str
    bottleneck: str

    @property
    def many(self) -> bool:
        """Whether several runs are judged by the worst or the median."""
        return len(self.found) > 1

    @property
    def variant(self) -> str:
        """Text of the claims' variant."""
        return f"{self.mechanism.variant}, {STARTS[self.start]}, {self.bottleneck.replace('-', ' ')}"


def of_runs(group: Group) -> list[Claim]:
    """Judge figures 3, 5 and 6 in the worst or median of some runs."""
    mechanism, own = group.mechanism, group.found
    ran = Ran(
        group.variant,
        group.names,
        (*mechanism.readings, group.start, group.bottleneck, *mechanism.settled),
    )
    fair_share = _RATES[group.bottleneck] / FLOWS
    drops, early = max((one.drops, one.early_drops) for one in own)
    tail_drops = statistics.fmean(one.drops for one in group.tails)
    worst = min(own, key=lambda one: one.jain)
    near = [one.near for one in own]
    queues = [one.queue_mean for one in own]
    first, *others = (rate / fair_share for rate in worst.goodputs)
    return [
        CLAIMS(
            "figure-6",
            ran,
            many=group.many,
            drops=drops,
            early=early,
            tail_drops=tail_drops,
            tenth_of_tail_drop=round(tail_drops) / 10,
            unseen=bool(drops) and set(ran.readings) >= _UNSEEN,
        ),
        CLAIMS(
            "figure-5",
            ran,
            many=group.many,
            near=statistics.median_low(near),
            least=min(near),
            most=max(near),
            shortest=min(queues),
            longest=max(queues),
        ),
        CLAIMS(
            "figure-3",
            ran,
            many=group.many,
            index=worst.jain,
            tail_drop=min(one.jain for one in group.tails),
            first=first,
            least=min(others),
            most=max(others),
        ),
    ]


def of_pairs(group: Group) -> list[Claim]:
    """Judge figures 3 and 4 by ratios to tail drop, seed by seed."""
    busy = statistics.fmean(one.use for one in group.tails)
    ran = Ran(group.variant, group.names, (*group.mechanism.readings, group.bottleneck))
    gain = paired(group.found, group.tails, lambda one: one.total)
    roughness = paired(group.found, group.tails, lambda one: one.roughness)
    return [
        CLAIMS("figure-3-gain", ran, gain=gain, use=busy, idle=1 / busy - 1),
        CLAIMS("figure-4", ran, roughness=roughness),
    ]

"""The values printed in section 5 of the paper, and what was measured for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from selfclock.papers.declared import Ran
from selfclock.papers.packet_pair import variants
from selfclock.papers.packet_pair.declared import CLAIMS
from selfclock.papers.packet_pair.ensemble import (
    BASELINE,
    EXPERIMENTS,
    Ensemble,
    Under,
    control_names,
    gain_percent,
    names,
    segments_sent,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.result import Result

_EXPERIMENTS = {experiment.figure: experiment for experiment in EXPERIMENTS}

#: Segments sent, as printed in section 5.
PRINTED_COUNTS = {figure: CLAIMS.printed(f"figure-{figure}-count") for figure in _EXPERIMENTS}


@dataclass(frozen=True)
class Section5:
    """Runs of section 5 under a combination of readings, by figure."""

    reading: Under
    own: Ensemble
    #: Reno with the timer of the new TCP.
    control: Mapping[int, Sequence[int]]
    #: The runs from time 0.
    single: Mapping[int, Result]
    #: Segments sent in figure 13 with d = 2.
    unthinned: Sequence[int]

    def claims(self) -> list[Claim]:
        """Judge what no combination before this one has judged under the same readings."""
        counts = {
            figure: self._count for figure in PRINTED_COUNTS if self.reading.is_first_for(self.reading.of(figure))
        }
        gains = {figure: self._gain for figure in BASELINE if figure in counts}
        both = [self._bounds(), self._order()] if self.reading.is_first_for(self.reading.of_both) else []
        return [
            *(judge(figure) for figure, judge in counts.items()),
            *(judge(figure) for figure, judge in gains.items()),
            *both,
        ]

    def _ran(self, variant: str, readings: tuple[str, ...], *figures: int) -> Ran:
        setting = self.own.setting
        return Ran(f"{variant} {setting.randomness}", names(setting, *figures), readings)

    def _alone(self, figure: int) -> int:
        """Segments of the run from time 0."""
        return segments_sent(self.single[figure], _EXPERIMENTS[figure].seconds)

    def _count(self, figure: int) -> Claim:
        counts = self.own.count(figure)
        ran = self._ran(variants.OF_FIGURE[figure], self.reading.of(figure), figure)
        name = f"figure-{figure}-count"
        return CLAIMS(name, ran, counts=counts, mean=round(counts.mean, 1), alone=self._alone(figure))

    def _gain(self, figure: int) -> Claim:
        baseline = BASELINE[figure]
        ran = self._ran(variants.OF_FIGURE[figure], self.reading.of(figure), figure, baseline)
        alone, baseline_alone = self._alone(figure), self._alone(baseline)
        return CLAIMS(
            f"figure-{figure}-gain",
            replace(ran, scenarios=(*ran.scenarios, *control_names(self.reading, baseline))),
            gains=self.own.gain_percent(figure),
            control=gain_percent(self.own.counts[figure], self.control[baseline]),
            alone=alone,
            baseline=baseline_alone,
            gain_alone=100 * (alone / baseline_alone - 1),
            timeouts=_timeouts(self.single[figure]),
            baseline_timeouts=_timeouts(self.single[baseline]),
        )

    def _bounds(self) -> Claim:
        both = variants.BOTH_SIDES.replace("probing = both-sides", "probing = sender-only and both-sides")
        return CLAIMS(
            "over-20-30-40",
            self._ran(both, self.reading.of_both, *PRINTED_COUNTS),
            sender_symmetric=self.own.gain_percent(9),
            sender=self.own.gain_percent(12),
            both=self.own.gain_percent(13),
        )

    def _order(self) -> Claim:
        return CLAIMS(
            "order",
            self._ran(variants.BOTH_SIDES, self.reading.of_both, 11, 12, 13),
            both=self.own.gain_percent(13, baseline=12),
            sender=self.own.gain_percent(12),
            unthinned=gain_percent(self.unthinned, self.own.counts[12]),
        )


def _timeouts(result: Result) -> int:
    return result.summary["flows"][0]["timeouts"]

"""Claims of sections 4.2.1 and 5.1 on the course of a connection: slow start, its end, bursts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from selfclock.papers.declared import Ran
from selfclock.papers.packet_pair import variants
from selfclock.papers.packet_pair.declared import CLAIMS
from selfclock.papers.packet_pair.ensemble import (
    ASYMMETRIC,
    BOTH_SIDES,
    EXPERIMENTS,
    HEADLINE,
    READ,
    Experiment,
    Run,
    Setting,
    Under,
    courses,
    names,
    scenario,
    scenario_name,
    with_seeds,
)
from selfclock.papers.packet_pair.spread import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.scenario import Scenario

#: On the network of figure 7, both are silent by then, after the first slow start.
SLOW_START_OVER_S = 3.0

#: Only an RTO, of at least 1 s, silences a sender for this long: a round trip takes 0.24 s, and
#: 0.33 s with a full queue.
SILENCE_S = 1.0

#: More segments at one instant than the pair, which the new TCP sends deliberately, are a burst.
BURST = 3

#: Normal TCP with an ACK for every fourth segment, and the new TCP with and without d.
NORMAL, WITH_D, WITHOUT_D = "reno-ack-every-4", "both-sides-d", "both-sides-ack-every-2"
AGGREGATED = {
    NORMAL: Experiment(
        10, ASYMMETRIC, 20, "Reno, an ACK for four segments", overrides=["transport.delayed_ack.every=4"]
    ),
    WITH_D: Experiment(10, ASYMMETRIC, 20, "both sides, d", BOTH_SIDES, fine_timer=True),
    WITHOUT_D: Experiment(
        10, ASYMMETRIC, 20, "both sides, d = 2", f'{BOTH_SIDES}, ack_ratio = "rfc4782"', fine_timer=True
    ),
}

#: Figures 8 and 9 with an ACK for every segment.
UNDELAYED = {experiment.figure: experiment for experiment in EXPERIMENTS if experiment.figure in {8, 9}}


def _suffix(reading: Under) -> str:
    return "" if READ[reading] is HEADLINE else f"-{reading.randomness}{reading.suffix}"


def _aggregated(reading: Under, name: str) -> Setting:
    return replace(READ[reading], name=f"{name}{_suffix(reading)}")


def _undelayed(reading: Under) -> Setting:
    name = f"every-segment-acknowledged{_suffix(reading)}"
    return replace(READ[reading], name=name, overrides=["transport.delayed_ack=off"])


def scenarios() -> list[Scenario]:
    """Return the runs with aggregated ACKs, and those with an ACK for every segment, with every seed."""
    made = []
    for reading in READ:
        made += [scenario(experiment, _aggregated(reading, name)) for name, experiment in AGGREGATED.items()]
        made += [scenario(experiment, _undelayed(reading)) for experiment in UNDELAYED.values()]
    return [run for one in made for run in with_seeds(one)]


def aggregated_name(reading: Under, name: str) -> str:
    """Return the name of the scenario with aggregated ACKs."""
    return scenario_name(AGGREGATED[name], _aggregated(reading, name))


def claims(reading: Under, runs: Runs) -> list[Claim]:
    """Judge the course of a connection under a combination of readings, unless one before it has."""
    found = []
    if reading.is_first_for(reading.of_sender):
        own = courses(runs, reading)
        undelayed = [runs.seeds(scenario_name(experiment, _undelayed(reading))) for experiment in UNDELAYED.values()]
        setting = READ[reading]
        ran = Ran(f"{variants.SENDER_ONLY} {setting.randomness}", names(setting, 8, 9), reading.of_sender)
        found += [_slower(ran, own[8], own[9], undelayed), _smooth(ran, own[8], own[9])]
    if reading.is_first_for(reading.of_both):
        found += [_bursts(reading, runs), _unaffected(reading, runs)]
    return found


def slow_start_percent(reno: Run, new: Run) -> float:
    """Excess of the new TCP over Reno in data sent before either loses a segment, percent of Reno's."""
    end = min([*reno.drops[:1], *new.drops[:1]], default=min(reno.sent[-1], new.sent[-1]))
    return sent_percent(reno, new, end)


def sent_percent(reno: Run, new: Run, time: float) -> float:
    """Excess of the new TCP over Reno in data sent before a time, percent of Reno's."""
    return 100 * (bisect_left(new.sent, time) / bisect_left(reno.sent, time) - 1)


def _slower(ran: Ran, reno: Sequence[Run], new: Sequence[Run], undelayed: Sequence[Sequence[Run]]) -> Claim:
    later = Spread.of(sent_percent(*pair, SLOW_START_OVER_S) for pair in zip(reno, new, strict=True))
    return CLAIMS(
        "slow-start-slower",
        ran,
        difference=Spread.of(slow_start_percent(*pair) for pair in zip(reno, new, strict=True)),
        undelayed=Spread.of(slow_start_percent(*pair) for pair in zip(*undelayed, strict=True)),
        later=later,
        otherwise="direction" if later.high < 0 else "not reproduced",
    )


def longest_silence(run: Run) -> float:
    """The longest time without a transmission, s."""
    return max(after - before for before, after in pairwise([*run.transmissions, run.seconds]))


def _smooth(ran: Ran, reno: Sequence[Run], new: Sequence[Run]) -> Claim:
    silences = [Spread.of(map(longest_silence, runs)) for runs in (reno, new)]
    smooth = [sum(silence < SILENCE_S for silence in spread.values) for spread in silences]
    drops = [Spread.of(len(run.drops) for run in runs).mean for runs in (reno, new)]
    return CLAIMS(
        "smooth-transition",
        ran,
        new=smooth[1],
        reno=smooth[0],
        more=smooth[1] - smooth[0],
        silence_s=silences[1].median,
        reno_silence_s=silences[0].median,
        drops=drops[1],
        reno_drops=drops[0],
    )


def burst_share(run: Run) -> float:
    """The share of new segments that leave in bursts."""
    bursts = [len(list(group)) for _, group in groupby(run.sent)]
    return sum(size for size in bursts if size >= BURST) / len(run.sent)


def _bursts(reading: Under, runs: Runs) -> Claim:
    scenarios_of = tuple(aggregated_name(reading, name) for name in (NORMAL, WITH_D))
    normal, new = (runs.seeds(name) for name in scenarios_of)
    reno = Spread.of(map(burst_share, normal))
    variant = f"{variants.BOTH_SIDES} {READ[reading].randomness} Reno with delayed_ack.every = 4."
    return CLAIMS(
        "aggregated-ack-bursts",
        Ran(variant, scenarios_of, reading.of_both),
        new=Spread.of(map(burst_share, new)),
        reno=reno,
        half=reno.median / 2,
        largest=_largest_burst(new),
        reno_largest=_largest_burst(normal),
    )


def _largest_burst(runs: Sequence[Run]) -> int:
    return max(len(list(group)) for run in runs for _, group in groupby(run.sent))


def _unaffected(reading: Under, runs: Runs) -> Claim:
    scenarios_of = tuple(aggregated_name(reading, name) for name in (WITH_D, WITHOUT_D))
    pairs = zip(*(runs.seeds(name) for name in scenarios_of), strict=True)
    variant = (
        f"{variants.BOTH_SIDES} {READ[reading].randomness} The other: ack_ratio = rfc4782, which is 2 on this path."
    )
    return CLAIMS(
        "aggregated-ack-segments",
        Ran(variant, scenarios_of, reading.of_both),
        difference=Spread.of(100 * (len(run.sent) / len(other.sent) - 1) for run, other in pairs),
    )

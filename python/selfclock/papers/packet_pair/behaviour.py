"""Claims of sections 4.2.1 and 5.1 on the course of a connection: slow start, its end, bursts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from selfclock.claims import Claim, Verdict
from selfclock.papers.packet_pair import variants
from selfclock.papers.packet_pair.claims import PAPER
from selfclock.papers.packet_pair.ensemble import (
    ASYMMETRIC,
    BOTH_SIDES,
    EXPERIMENTS,
    HEADLINE,
    READ,
    SEEDS,
    Experiment,
    Run,
    Setting,
    Under,
    names,
    scenario,
    scenario_name,
    with_seeds,
)
from selfclock.papers.packet_pair.spread import RUNS, Spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.scenario import Scenario

#: "More slowly" means at least 5 % fewer segments: one in twenty, when some twenty have been sent.
SLOWER_PERCENT = -5.0

#: On the network of figure 7, both are silent by then, after the first slow start.
SLOW_START_OVER_S = 3.0

#: Only an RTO, of at least 1 s, silences a sender for this long: a round trip takes 0.24 s, and
#: 0.33 s with a full queue.
SILENCE_S = 1.0

#: More segments at one instant than the pair, which the new TCP sends deliberately, are a burst.
BURST = 3

#: "Not affected": at most one segment in twenty leaves in a burst.
UNAFFECTED_SHARE = 0.05

#: Normal TCP with an ACK for every fourth segment, and the new TCP with and without d.
AGGREGATED = [
    ("reno-ack-every-4", Experiment(10, ASYMMETRIC, 20, "Reno, an ACK for four segments",
                                    overrides=["transport.delayed_ack.every=4"])),
    ("both-sides-d", Experiment(10, ASYMMETRIC, 20, "both sides, d", BOTH_SIDES, fine_timer=True)),
    ("both-sides-ack-every-2",
     Experiment(10, ASYMMETRIC, 20, "both sides, d = 2", f'{BOTH_SIDES}, ack_ratio = "rfc4782"', fine_timer=True)),
]  # fmt: skip


def _experiments(reading: Under) -> list[tuple[Setting, Experiment]]:
    """Those with aggregated ACKs, and figures 8 and 9 with an ACK for every segment."""
    read = READ[reading]
    suffix = "" if read is HEADLINE else f"-{reading.randomness}{reading.suffix}"
    undelayed = replace(read, name=f"every-segment-acknowledged{suffix}", overrides=["transport.delayed_ack=off"])
    return [
        *((replace(read, name=f"{name}{suffix}"), experiment) for name, experiment in AGGREGATED),
        *((undelayed, experiment) for experiment in EXPERIMENTS[:2]),
    ]


def scenarios() -> list[Scenario]:
    """Return the runs with aggregated ACKs, then those with an ACK for every segment; by reading, with every seed."""
    return [
        run
        for reading in READ
        for setting, experiment in _experiments(reading)
        for run in with_seeds(scenario(experiment, setting))
    ]


def sorted_runs(runs: Sequence[Run]) -> dict[Under, list[list[Run]]]:
    """Sort the runs of `scenarios` by reading and experiment."""
    rest = iter(runs)
    return {reading: [[next(rest) for _ in SEEDS] for _ in _experiments(reading)] for reading in READ}


def claims(reading: Under, courses: Mapping[int, Sequence[Run]], others: Sequence[Sequence[Run]]) -> list[Claim]:
    """Return the claims on the course of a connection under a reading; `others` are its runs of `scenarios`."""
    setting = READ[reading]
    with_aggregated, undelayed = others[: len(AGGREGATED)], others[len(AGGREGATED) :]
    scenarios_of = tuple(scenario_name(experiment, own) for own, experiment in _experiments(reading))
    found = [
        _slower(setting, courses[8], courses[9], undelayed),
        _smooth(setting, courses[8], courses[9]),
        replace(_bursts(setting, *with_aggregated[:2]), scenarios=scenarios_of[:2]),
        replace(_unaffected(setting, *with_aggregated[1:]), scenarios=scenarios_of[1:3]),
    ]
    bearing = (reading.of_sender, reading.of_sender, reading.of_both, reading.of_both)
    judged = [replace(claim, readings=readings) for claim, readings in zip(found, bearing, strict=True)]
    return [claim for claim in judged if reading.is_first_for(claim.readings)]


def slow_start_percent(reno: Run, new: Run) -> float:
    """Excess of the new TCP over Reno in data sent before either loses a segment, percent of Reno's."""
    end = min([*reno.drops[:1], *new.drops[:1]], default=min(reno.sent[-1], new.sent[-1]))
    return sent_percent(reno, new, end)


def sent_percent(reno: Run, new: Run, time: float) -> float:
    """Excess of the new TCP over Reno in data sent before a time, percent of Reno's."""
    return 100 * (bisect_left(new.sent, time) / bisect_left(reno.sent, time) - 1)


def slower_verdict(difference: Spread) -> Verdict:
    """The whole interval is slower by the margin, or at least slower."""
    low, high = difference.interval
    if high <= SLOWER_PERCENT:
        return "reproduced"
    return "direction" if low < 0 and high < 0 else "not reproduced"


def _slower(setting: Setting, reno: Sequence[Run], new: Sequence[Run], undelayed: Sequence[Sequence[Run]]) -> Claim:
    difference = Spread.of(slow_start_percent(*pair) for pair in zip(reno, new, strict=True))
    without = Spread.of(slow_start_percent(*pair) for pair in zip(*undelayed, strict=True))
    later = Spread.of(sent_percent(*pair, SLOW_START_OVER_S) for pair in zip(reno, new, strict=True))
    return Claim(
        PAPER,
        "slow-start-slower",
        "section 5.1",
        says="using the new TCP, the sequence number is increased slowly in slow start rather than with normal TCP",
        printed="sequence number is increased slowly in slow-start phase rather than normal TCP algorithm",
        measured=round(difference.median, 1),
        verdict=slower_verdict(difference),
        note=f"Segments sent until the first of the two loses one, against Reno's: median over {RUNS} pairs of runs "
        f"with the same seed, {difference.quartiles()}, {difference.interval_text()}. The second segment of a pair is "
        "acknowledged at once, where Reno's receiver may wait 200 ms, and so the window of the new TCP grows "
        f"earlier; where every segment is acknowledged, the median is {without.median:+.1f} %, "
        f"{without.interval_text()}. At {SLOW_START_OVER_S:g} s, when the first slow start of both is over, the new "
        f"TCP has sent {later.median:+.1f} % ({later.interval_text()}), and that reading of the sentence would be "
        f"judged: {slower_verdict(later)}.",
        unit="%",
        of="paper",
        criterion=f"Our criterion: the 95 % interval of the median is at or below {SLOWER_PERCENT:g} %; direction "
        "if it is below 0.",
        variant=f"{variants.SENDER_ONLY} {setting.randomness}",
        figure="comparison-symmetric",
        scenarios=names(setting, 8, 9),
    )


def longest_silence(run: Run) -> float:
    """The longest time without a transmission, s."""
    return max(after - before for before, after in pairwise([*run.transmissions, run.seconds]))


def smooth_verdict(*, new: int, reno: int) -> Verdict:
    """Most runs of the new TCP are never silent, and fewer of Reno's; or a tenth of all runs more than Reno's."""
    more = new - reno >= RUNS / 10
    if more and new > RUNS / 2:
        return "reproduced"
    return "direction" if more else "not reproduced"


def _smooth(setting: Setting, reno: Sequence[Run], new: Sequence[Run]) -> Claim:
    silences = [Spread.of(map(longest_silence, runs)) for runs in (reno, new)]
    smooth = [sum(silence < SILENCE_S for silence in spread.values) for spread in silences]
    drops = [Spread.of(len(run.drops) for run in runs).mean for runs in (reno, new)]
    return Claim(
        PAPER,
        "smooth-transition",
        "section 5.1",
        says="traffic shaping leads to a smooth transition from slow start to congestion avoidance",
        printed="smooth transition from slow-start and congestion avoidance",
        measured=f"{smooth[1]} of {RUNS} runs without a silence of {SILENCE_S:g} s; Reno {smooth[0]}",
        verdict=smooth_verdict(new=smooth[1], reno=smooth[0]),
        note=f"Longest silence of the sender, median: {silences[1].median:.2f} s against Reno's "
        f"{silences[0].median:.2f} s; segments dropped in 10 s, mean: {drops[1]:.1f} against {drops[0]:.1f}.",
        of="paper",
        criterion="Our criterion: more than half of the runs of the new TCP pass without the silence of a "
        "retransmission timeout (1 s), and at least a tenth of the runs more than of Reno's; direction if only the "
        "latter.",
        variant=f"{variants.SENDER_ONLY} {setting.randomness}",
        figure="figure-9",
        scenarios=names(setting, 8, 9),
    )


def burst_share(run: Run) -> float:
    """The share of new segments that leave in bursts."""
    bursts = [len(list(group)) for _, group in groupby(run.sent)]
    return sum(size for size in bursts if size >= BURST) / len(run.sent)


def burst_verdict(*, new: float, normal: float) -> Verdict:
    """None of normal TCP's bursts, or at most half of them."""
    if normal < 2 * UNAFFECTED_SHARE:
        return "not reproduced"
    if new <= UNAFFECTED_SHARE:
        return "reproduced"
    return "direction" if new <= normal / 2 else "not reproduced"


def _bursts(setting: Setting, normal: Sequence[Run], new: Sequence[Run]) -> Claim:
    shares = [Spread.of(map(burst_share, runs)) for runs in (normal, new)]
    largest = [max(len(list(group)) for run in runs for _, group in groupby(run.sent)) for runs in (normal, new)]
    return Claim(
        PAPER,
        "aggregated-ack-bursts",
        "section 4.2.1",
        says="aggregated acknowledgements cause bursts in normal TCP, and none in the new TCP, which shapes its "
        "traffic",
        printed="causes bursty data transmission in normal TCP. However, the new TCP has traffic shaping function",
        measured=f"{shares[1].median:.0%} of the segments in bursts; Reno {shares[0].median:.0%}",
        verdict=burst_verdict(new=shares[1].median, normal=shares[0].median),
        note=f"Share of the new segments that leave {BURST} or more at one instant, medians of {RUNS} runs on figure "
        f"10's network; new TCP {shares[1].quartiles('.2f')}, Reno {shares[0].quartiles('.2f')}; largest burst "
        f"{largest[1]} and {largest[0]}. Shaped are slow start and safe-transmit. In congestion avoidance, which the "
        "new TCP does not modify (section 4.2.3), an ACK of four segments lets four go at once.",
        of="paper",
        criterion=f"Our criterion: at most {UNAFFECTED_SHARE:.0%} of the new TCP's segments leave in bursts, and at "
        f"least {2 * UNAFFECTED_SHARE:.0%} of Reno's; direction if at most half as many as of Reno's.",
        variant=f"{variants.BOTH_SIDES} {setting.randomness} Reno with delayed_ack.every = 4.",
        figure="bursts",
    )


def unaffected_verdict(difference: Spread) -> Verdict:
    """No run in the interval loses a twentieth."""
    low, high = difference.interval
    if low >= SLOWER_PERCENT:
        return "reproduced"
    return "direction" if high >= SLOWER_PERCENT else "not reproduced"


def _unaffected(setting: Setting, aggregated_runs: Sequence[Run], others: Sequence[Run]) -> Claim:
    difference = Spread.of(
        100 * (len(run.sent) / len(other.sent) - 1) for run, other in zip(aggregated_runs, others, strict=True)
    )
    return Claim(
        PAPER,
        "aggregated-ack-segments",
        "section 4.2.1",
        says="the new TCP is not affected by aggregated acknowledgement",
        printed="the new TCP is not affected by aggregated acknowledgement",
        measured=round(difference.median, 1),
        verdict=unaffected_verdict(difference),
        note=f"Segments sent in 20 s with d, against an ACK for every second segment: median over {RUNS} pairs of runs "
        f"with the same seed, {difference.quartiles()}, {difference.interval_text()}. The window grows by the number "
        "of ACKs (section 1), so that one ACK for four segments opens it half as much as two for two.",
        unit="%",
        of="paper",
        criterion=f"Our criterion: the 95 % interval of the median is at or above {SLOWER_PERCENT:g} %; direction "
        "if part of it is.",
        variant=f"{variants.BOTH_SIDES} {setting.randomness} The other: ack_ratio = rfc4782, which is 2 on this path.",
        figure="bursts",
    )

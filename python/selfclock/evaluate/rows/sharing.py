"""Fairness and harm: S5, S6, S7, S8."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Case, Judged, Samples, Thresholds, case, of_cases
from selfclock.evaluate.network import Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject
from selfclock.series import jain

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.figure import Line
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import np

SEEDS = (1, 2, 3)

# S5. A flow joins every two seconds; their rates are compared after two minutes.
EQUAL, COUNTS, JOINS_EVERY_S, EQUAL_BEGIN_S, EQUAL_END_S = Path(50, 40), (2, 3, 5, 10), 2.0, 120.0, 180.0


def _equal(subject: Subject) -> dict[tuple[int, int], Scenario]:
    return {
        (count, seed): scenario(
            f"{count} flows", EQUAL,
            [flow(subject, start_s=JOINS_EVERY_S * number, jitter_s=1) for number in range(count)],
            seconds=EQUAL_END_S, queue=EQUAL.buffer(1), seed=seed, routers=subject.routers,
        )
        for count in COUNTS
        for seed in SEEDS
    }  # fmt: skip


def _read_equal(reading: Reading, _key: object) -> float:
    return jain(reading.rates_bps(EQUAL_BEGIN_S, EQUAL_END_S)) or 0.0


EQUAL_FLOWS = Experiment("equal flows", _equal, _read_equal)
JAIN_THRESHOLDS = Thresholds(0.95, 0.9, larger_is_better=True)


def _judge_equal(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(EQUAL_FLOWS, subject)
    cases = [
        case(f"{count} flows", Samples.of(own[count, seed] for seed in SEEDS), JAIN_THRESHOLDS) for count in COUNTS
    ]
    return of_cases(cases, larger_is_better=True)


def _equal_lines(lab: Lab, subject: Subject) -> list[Line]:
    own = lab.readings(EQUAL_FLOWS, subject)
    return [curve(COUNTS, [Samples.of(own[count, seed] for seed in SEEDS).mean for count in COUNTS])]


INTRA = Row(
    id="S5",
    title="intra-protocol fairness: 2 to 10 flows, same RTT",
    measure="Jain's index from 120 s to 180 s; the worst case, mean of three seeds",
    unit="",
    passes="at least 0.95",
    warns="at least 0.9",
    source="RFC 9743 section 5.1 and RFC 5166, fairness",
    experiments=(EQUAL_FLOWS,),
    judge=_judge_equal,
    panel=panel("flows", "Jain's index", thresholds=(0.95, 0.9)),
    points=True,
    lines=_equal_lines,
)

# S6. Two flows, 160 ms against one of these; a queue of a quarter of the BDP at 160 ms.
UNEQUAL, LONG_MS, SHORT_MS, UNEQUAL_BDP = Path(20, 160), 160, (10, 20, 40, 80, 160), 0.25
UNEQUAL_BEGIN_S, UNEQUAL_END_S = 100.0, 400.0


@dataclass(frozen=True)
class Unequal:
    """Two flows: the ratio of the one with the shorter RTT to the other."""

    #: Of the throughputs.
    ratio: float
    #: Inverse ratio of the flows' mean RTTs, queue included: 1 or more.
    rtt_ratio: float


def _unequal(subject: Subject) -> dict[tuple[int, int], Scenario]:
    return {
        (short, seed): scenario(
            f"{short} ms against {LONG_MS} ms", UNEQUAL,
            [flow(subject, rtt_ms=short, jitter_s=2), flow(subject, rtt_ms=LONG_MS, jitter_s=2)],
            seconds=UNEQUAL_END_S, queue=UNEQUAL.buffer(UNEQUAL_BDP), seed=seed, routers=subject.routers,
        )
        for short in SHORT_MS
        for seed in SEEDS
    }  # fmt: skip


def _read_unequal(reading: Reading, _key: object) -> Unequal:
    # A flow that got nothing got less than a bit per second.
    short, long = (max(1.0, rate) for rate in reading.rates_bps(UNEQUAL_BEGIN_S, UNEQUAL_END_S))
    times = reading.times
    steady = times >= UNEQUAL_BEGIN_S
    rtts = [float(np.nanmean(reading.flow(name, "srtt_s")[steady])) for name in reading.tcp]
    return Unequal(short / long, rtts[1] / rtts[0])


UNEQUAL_RTTS = Experiment("unequal round-trip times", _unequal, _read_unequal)
RTT_THRESHOLDS = Thresholds(1.0, 2.0)


def exponent(points: Iterable[tuple[float, float]]) -> float:
    """Return alpha of throughput ~ RTT^-alpha by least squares: a line through the origin of the logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    squares = sum(x * x for x, _ in logs)
    return sum(x * y for x, y in logs) / squares if squares > 0 else 0.0


def _judge_unequal(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(UNEQUAL_RTTS, subject)
    fits = Samples.of(
        exponent((own[short, seed].rtt_ratio, own[short, seed].ratio) for short in SHORT_MS[:-1]) for seed in SEEDS
    )
    base = Samples.of(exponent((LONG_MS / short, own[short, seed].ratio) for short in SHORT_MS[:-1]) for seed in SEEDS)
    verdict = RTT_THRESHOLDS.verdict(abs(fits.mean))
    cases = [
        Case("exponent", fits.mean, verdict, fits.spread),
        Case("exponent by the RTTs of the empty path", base.mean, "report", base.spread),
        *(
            case(f"throughput, {short} ms over {LONG_MS} ms", Samples.of(own[short, seed].ratio for seed in SEEDS))
            for short in SHORT_MS
        ),
    ]
    return Judged(fits.mean, verdict, tuple(cases), "negative: the flow with the longer RTT has more")


def _unequal_lines(lab: Lab, subject: Subject) -> list[Line]:
    own = lab.readings(UNEQUAL_RTTS, subject)
    ratios = [math.exp(Samples.of(math.log(own[short, seed].ratio) for seed in SEEDS).mean) for short in SHORT_MS]
    return [curve([LONG_MS / short for short in SHORT_MS], ratios)]


RTT = Row(
    id="S6",
    title="RTT fairness: 10 to 80 ms against 160 ms",
    measure="absolute exponent of the ratio of throughputs over the ratio of mean RTTs",
    unit="",
    passes="at most 1",
    warns="at most 2 (Reno)",
    source="draft-irtf-iccrg-tcpeval-01 and RFC 7928, round-trip time fairness",
    experiments=(UNEQUAL_RTTS,),
    judge=_judge_unequal,
    panel=panel("ratio of base RTTs", "ratio of throughputs", log_x=True, log_y=True),
    points=True,
    lines=_unequal_lines,
)

# S7 and S8. Flows under test beside flows of deployed algorithms.
SHARED, SHARED_BUFFERS_BDP, SHARED_COUNTS = Path(50, 40), (0.25, 1.0), (1, 5)
SHARED_BEGIN_S, SHARED_END_S, ANY_S = 30.0, 150.0, 60.0
DEPLOYED = ("reno", "cubic")
METRICS = ("rate", "p95 RTT", "loss")


@dataclass(frozen=True)
class Shared:
    """Results of the deployed flows, in the order of `METRICS`, and the least share of any flow over 60 s."""

    measures: tuple[float, float, float]
    least_share: float
    #: Goodput share of the flows under test.
    share: float


def _measures(reading: Reading, count: int) -> tuple[float, float, float]:
    names, totals = reading.tcp[:count], reading.flows[:count]
    rate = sum(reading.rate_bps(name, SHARED_BEGIN_S, SHARED_END_S) for name in names) / count
    delays = [each["rtt_p95_s"] for each in totals if each["rtt_p95_s"] is not None]
    sent = sum(each["sent_segments"] for each in totals)
    again = sum(each["retransmitted_segments"] for each in totals)
    return rate, sum(delays) / len(delays) if delays else math.inf, again / sent if sent else 0.0


def _solo(subject: Subject) -> dict[tuple[float, int, int], Scenario]:
    return {
        (buffer, count, seed): scenario(
            f"{count} alone, {buffer:g} BDP", SHARED, [flow(subject, jitter_s=2)] * count,
            seconds=SHARED_END_S, queue=SHARED.buffer(buffer), seed=seed, routers=subject.routers,
        )
        for buffer in SHARED_BUFFERS_BDP
        for count in SHARED_COUNTS
        for seed in SEEDS
    }  # fmt: skip


SOLO = Experiment("alone", _solo, lambda reading, key: _measures(reading, key[1]))


def _mixed(subject: Subject) -> dict[tuple[str, float, int, int], Scenario]:
    return {
        (deployed, buffer, count, seed): scenario(
            f"{count} beside {count} of {deployed}, {buffer:g} BDP", SHARED,
            [flow(Subject.named(deployed), jitter_s=2)] * count + [flow(subject, jitter_s=2)] * count,
            seconds=SHARED_END_S, queue=SHARED.buffer(buffer), seed=seed, routers=subject.routers,
        )
        for deployed in DEPLOYED
        for buffer in SHARED_BUFFERS_BDP
        for count in SHARED_COUNTS
        for seed in SEEDS
    }  # fmt: skip


def _read_mixed(reading: Reading, key: tuple[str, float, int, int]) -> Shared:
    count = key[2]
    rates = reading.rates_bps(SHARED_BEGIN_S, SHARED_END_S)
    fair = SHARED.goodput_bps / len(rates)
    starts = np.arange(SHARED_BEGIN_S, SHARED_END_S - ANY_S + 1)
    totals = [8 * reading.flow(name, "acknowledged_bytes") for name in reading.tcp]
    windows = [np.interp(starts + ANY_S, reading.times, total) - np.interp(starts, reading.times, total)
               for total in totals]  # fmt: skip
    least = min(float(window.min()) for window in windows) / ANY_S / fair
    return Shared(_measures(reading, count), least, sum(rates[count:]) / max(1.0, sum(rates)))


MIXED = Experiment("beside what is deployed", _mixed, _read_mixed)


def harm(metric: str, alone: float, beside: float) -> float:
    """Return the harm of Ware et al. (HotNets 2019): the fraction of a measure that is lost, from 0 to 1."""
    if metric == "rate":
        lost = (alone - beside) / alone if alone > 0 else 0.0
    else:
        lost = (beside - alone) / beside if beside > 0 else 0.0
    return min(1.0, max(0.0, lost))


HARM_THRESHOLDS, SHARE_THRESHOLDS = Thresholds(0.05, 0.2), Thresholds(0.2, 0.1, larger_is_better=True)


@dataclass(frozen=True)
class _Setting:
    """The competitor, the number of flows of each, and the queue."""

    deployed: str
    buffer: float
    count: int

    def excess(self, lab: Lab, subject: Subject, index: int) -> Samples:
        """The algorithm's harm by one measure, minus the harm of deployed algorithms to their own kind."""
        legacy = Subject.named(self.deployed)
        alone, among = lab.readings(SOLO, legacy), lab.readings(MIXED, legacy)
        beside = lab.readings(MIXED, subject)
        values = []
        for seed in SEEDS:
            before, key = alone[self.buffer, self.count, seed][index], (self.deployed, self.buffer, self.count, seed)
            by_it, by_own = (runs[key].measures[index] for runs in (beside, among))
            values.append(harm(METRICS[index], before, by_it) - harm(METRICS[index], before, by_own))
        return Samples.of(values)

    def text(self) -> str:
        return f"{self.count}+{self.count}, {self.buffer:g} BDP"


_SETTINGS = [
    _Setting(deployed, buffer, count)
    for deployed in DEPLOYED
    for buffer in SHARED_BUFFERS_BDP
    for count in SHARED_COUNTS
]


def _judge_harm(lab: Lab, subject: Subject) -> Judged:
    return of_cases(
        [
            case(f"{metric} of {each.deployed}, {each.text()}", each.excess(lab, subject, index), HARM_THRESHOLDS)
            for each in _SETTINGS
            for index, metric in enumerate(METRICS)
        ]
    )


def _runs(lab: Lab, subject: Subject, each: _Setting) -> list[Shared]:
    own = lab.readings(MIXED, subject)
    return [own[each.deployed, each.buffer, each.count, seed] for seed in SEEDS]


def _judge_starvation(lab: Lab, subject: Subject) -> Judged:
    cases, shares = [], []
    for each in _SETTINGS:
        runs, where = _runs(lab, subject, each), f"{each.text()}, with {each.deployed}"
        cases.append(case(where, Samples.of(run.least_share for run in runs), SHARE_THRESHOLDS))
        shares.append(case(f"its share of the goodput, {where}", Samples.of(run.share for run in runs)))
    judged = of_cases(cases, larger_is_better=True)
    return Judged(judged.value, judged.verdict, (*judged.cases, *shares))


def _share_lines(lab: Lab, subject: Subject) -> list[Line]:
    shares = [Samples.of(run.share for run in _runs(lab, subject, each)).mean for each in _SETTINGS]
    return [curve(list(range(1, len(shares) + 1)), shares)]


def _harm_lines(lab: Lab, subject: Subject) -> list[Line]:
    values = [each.value for each in _judge_harm(lab, subject).cases if each.value is not None]
    return [curve(list(range(1, len(values) + 1)), values)]


HARM = Row(
    id="S7",
    title="harm: beside Reno and CUBIC, 1+1 and 5+5 flows, queue of 0.25 and 1 BDP",
    measure="harm to them less the harm they do to their own kind, by rate, p95 RTT, loss; the worst case",
    unit="",
    passes="at most 0.05",
    warns="at most 0.2",
    source="Ware et al., HotNets 2019; RFC 9743 section 5.2",
    experiments=(MIXED,),
    references=DEPLOYED,
    reference_experiments=(SOLO,),
    judge=_judge_harm,
    panel=panel("case, in the order of the table", "excess harm", thresholds=(0.05, 0.2)),
    points=True,
    lines=_harm_lines,
)
STARVATION = Row(
    id="S8",
    title="starvation: the same runs",
    measure="lowest rate of any flow over any 60 s, over its fair share; the worst case, mean of three seeds",
    unit="",
    passes="at least 0.2",
    warns="at least 0.1",
    source="RFC 9743 section 5.2, starvation",
    experiments=(MIXED,),
    judge=_judge_starvation,
    panel=panel("case, in the order of the table", "its share of the goodput", thresholds=(0.5,)),
    points=True,
    lines=_share_lines,
)

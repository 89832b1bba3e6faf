"""A changing path: another flow, a burst of cross traffic, another route, a radio link. S10, S11, S12, S17."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Case, Judged, Samples, Thresholds, case, of_cases, worst
from selfclock.evaluate.measure import thin
from selfclock.evaluate.network import PACKET_B, Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject
from selfclock.scenario.flow import Background
from selfclock.scenario.link import Change, Link
from selfclock.scenario.quantity import mbps, ms, s

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.figure import Line
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import np


def _moving(times: NDArray[np.float64], total: NDArray[np.float64], span_s: float) -> NDArray[np.float64]:
    """Growth of a running total over the period that begins at each time, per second; NaN if the run ends before."""
    ahead = np.interp(times + span_s, times, total, right=np.nan)
    return np.asarray((ahead - total) / span_s)


# S10. The second flow joins at some point of the first one's cycle, in congestion avoidance from
# its initial window on, as in the ramp-up tests of the evaluation suite. After slow start both
# would be equal at once, because both reduce their windows in its overshoot: Reno's median is
# 0.36 s.
JOINED, JOIN_S, JOIN_JITTER_S, JOIN_END_S = Path(20, 40), 30.0, 5.0, 215.0
JOIN_SEEDS = (1, 2, 3, 4, 5)
WITHIN, ROUNDS = 0.2, 10


@dataclass(frozen=True)
class Joined:
    """Convergence of a second flow."""

    #: From its start until both are within 20 % of half of the path, averaged over ten round trips;
    #: or infinite.
    seconds: float
    #: Its share of the total, averaged over a second.
    series: Line


def _join(subject: Subject) -> dict[int, Scenario]:
    joining = flow(subject, start_s=JOIN_S, jitter_s=JOIN_JITTER_S, initial_ssthresh="10 segments")
    return {
        seed: scenario(
            "a flow joins", JOINED,
            [flow(subject), joining],
            seconds=JOIN_END_S, queue=JOINED.buffer(1), seed=seed, samples_s=0.04, routers=subject.routers,
        )
        for seed in JOIN_SEEDS
    }  # fmt: skip


def _read_join(reading: Reading, _key: object) -> Joined:
    times = reading.times
    totals = [8 * reading.flow(name, "acknowledged_bytes") for name in reading.tcp]
    begin = float(times[np.argmax(reading.flow(reading.tcp[1], "sent_bytes") > 0)])
    fair = JOINED.goodput_bps / 2
    rates = [_moving(times, total, ROUNDS * JOINED.rtt_s) for total in totals]
    near = np.all([np.abs(rate / fair - 1) <= WITHIN for rate in rates], axis=0) & (times >= begin)
    seconds = float(times[np.argmax(near)]) - begin if near.any() else math.inf
    first, second = (_moving(times, total, 1.0) for total in totals)
    part = second / np.maximum(1.0, first + second)
    shown = (times >= begin - 2) & ~np.isnan(part)
    return Joined(seconds, curve(*thin(times[shown] - begin, part[shown])))


JOIN = Experiment("a flow joins", _join, _read_join)


def _judge_join(lab: Lab, subject: Subject) -> Judged:
    def times(of: Subject) -> Samples:
        return Samples.of(run.seconds for run in lab.readings(JOIN, of).values())

    reno = times(Subject.named("reno")).median
    found = case("time to a fair share", times(subject), Thresholds(2 * reno, 4 * reno), median=True)
    note = f"Reno: {reno:.3g} s, the median of {len(JOIN_SEEDS)} seeds"
    if found.value is not None and math.isinf(found.value):
        return Judged(None, "fail", (), f"not within {JOIN_END_S - JOIN_S - JOIN_JITTER_S:g} s; {note}")
    return Judged(found.value, found.verdict, (found,), note)


CONVERGENCE = Row(
    id="S10",
    title="convergence: a second flow joins, without slow start",
    measure="time until both are within 20 % of half the link for ten round trips; median of five seeds",
    unit="s",
    passes="at most twice Reno's",
    warns="at most 4 times Reno's",
    source="RFC 5166, convergence times",
    experiments=(JOIN,),
    references=("reno",),
    judge=_judge_join,
    panel=panel("time since it joined (s)", "its share of the goodput", thresholds=(0.4, 0.6)),
    lines=lambda lab, subject: [lab.readings(JOIN, subject)[JOIN_SEEDS[0]].series],
)

# S11. The path of the evaluation suite, 100 Mbit/s and 100 ms, with a queue of a quarter of the
# BDP. With the suite's 1024 packets a flow with a quarter of the rate already has a window of up
# to 0.56 of the BDP, with a quarter 0.32.
TRANSIENT_PATH, TRANSIENT_BDP, OTHER_MBPS = Path(100, 100), 0.25, 75.0
TRANSIENT_S, RELEASE_S, ONSET_S = 60.0, 200.0, 100.0
NEARLY_ALL = 0.9
TRANSIENT_SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Transient:
    """Effect of a burst of cross traffic, and its losses."""

    #: Time to 90 % of the path after it has gone, s; or packets that it lost in 100 s.
    number: float
    series: Line


def _transient(subject: Subject) -> dict[tuple[str, int], Scenario]:
    rate, then = mbps(OTHER_MBPS), s(TRANSIENT_S)
    others = {
        "gone": (Background(rate, steps=[(then, "0 bps")], name="other"), RELEASE_S),
        "come": (Background(rate, start=then, name="other"), ONSET_S),
    }
    return {
        (what, seed): scenario(
            f"other traffic has {what}", TRANSIENT_PATH,
            [flow(subject, jitter_s=1), other],
            seconds=TRANSIENT_S + after, queue=TRANSIENT_PATH.buffer(TRANSIENT_BDP), seed=seed, samples_s=0.1,
            routers=subject.routers,
        )
        for what, (other, after) in others.items()
        for seed in TRANSIENT_SEEDS
    }  # fmt: skip


def _read_transient(reading: Reading, key: tuple[str, int]) -> Transient:
    times = reading.times
    rate = _moving(times, 8 * reading.flow("flow1", "acknowledged_bytes"), 1.0)
    delivered = _moving(times, 8 * reading.flow("flow1", "delivered_bytes"), 1.0)
    shown = ~np.isnan(delivered)
    series = curve(*thin(times[shown] - TRANSIENT_S, delivered[shown] / 1e6))
    if key[0] == "come":
        (other,) = (each for each in reading.flows if each["name"] == "other")
        return Transient(float(other["sent_segments"] - other["delivered_segments"]), series)
    there = (times >= TRANSIENT_S) & (rate >= NEARLY_ALL * TRANSIENT_PATH.goodput_bps)
    return Transient(float(times[np.argmax(there)]) - TRANSIENT_S if there.any() else math.inf, series)


TRANSIENTS = Experiment("transients", _transient, _read_transient)
TRANSIENT_CASES = {"gone": "time to 90 % of the link after 75 Mbit/s stop",
                   "come": "packets that 75 Mbit/s lose in 100 s after they start"}  # fmt: skip


def _judge_transient(lab: Lab, subject: Subject) -> Judged:
    own, reno = lab.readings(TRANSIENTS, subject), lab.readings(TRANSIENTS, Subject.named("reno"))
    cases, ratios = [], []
    for what, name in TRANSIENT_CASES.items():
        numbers = Samples.of(own[what, seed].number for seed in TRANSIENT_SEEDS)
        base = Samples.of(reno[what, seed].number for seed in TRANSIENT_SEEDS).mean
        found = case(name, numbers, Thresholds(base, 2 * base))
        # JSON has no infinity: "never" is a case without a number.
        finite = found.value is not None and math.isfinite(found.value)
        cases.append(found if finite else Case(f"{name}: never", None, found.verdict))
        ratios.append(numbers.mean / base if base > 0 else math.nan if numbers.mean > 0 else 1.0)
    known = [ratio for ratio in ratios if math.isfinite(ratio)]
    value = max(known) if len(known) == len(ratios) else None
    return Judged(value, worst(each.verdict for each in cases), tuple(cases))


TRANSIENT = Row(
    id="S11",
    title="transient: 75 Mbit/s of other traffic stop, or start",
    measure="time to 90 % of the link, and loss of the other traffic, over Reno's; the worse, means of three seeds",
    unit="of Reno's",
    passes="at most Reno's",
    warns="at most twice Reno's",
    source="draft-irtf-iccrg-tcpeval-01 and RFC 9743 section 7, transients",
    experiments=(TRANSIENTS,),
    references=("reno",),
    judge=_judge_transient,
    panel=panel("time since the other traffic stopped (s)", "goodput (Mbit/s)"),
    lines=lambda lab, subject: [lab.readings(TRANSIENTS, subject)["gone", TRANSIENT_SEEDS[0]].series],
)

# S12.
CHANGED, CHANGE_S, CHANGE_END_S, SETTLED_S = Path(20, 40), 40.0, 170.0, 10.0
RECOVERED_USE, RECOVERED_LOSS = 0.8, 0.05
CHANGES = {"RTT × 2": (1.0, 2.0), "RTT × 0.5": (1.0, 0.5), "rate × 0.1": (0.1, 1.0)}
CHANGE_SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Changed:
    """Response of a flow to a change of its path."""

    seconds: float
    series: Line


def _changed(subject: Subject) -> dict[tuple[str, int], Scenario]:
    scenarios = {}
    for name, (rate, rtt) in CHANGES.items():
        # The bottleneck has 12 ms of the 20 ms one way, and takes the whole change.
        delay = ms(0.3 * CHANGED.rtt_ms + (rtt - 1) * CHANGED.rtt_ms / 2)
        link = Link(changes=[Change(s(CHANGE_S), mbps(rate * CHANGED.rate_mbps), delay)])
        for seed in CHANGE_SEEDS:
            scenarios[name, seed] = scenario(
                name, CHANGED, [flow(subject, jitter_s=2)], seconds=CHANGE_END_S, queue=CHANGED.buffer(1), seed=seed,
                samples_s=0.1, link=link, reverse=link, routers=subject.routers,
            )  # fmt: skip
    return scenarios


def _read_changed(reading: Reading, key: tuple[str, int]) -> Changed:
    rate_bps = CHANGES[key[0]][0] * CHANGED.rate_mbps * 1e6
    times, sent, drops = reading.times, reading.link("bytes"), reading.link("drops")
    use = 8 * _moving(times, sent, SETTLED_S) / rate_bps
    lost = _moving(times, drops, SETTLED_S)
    loss = lost / np.maximum(1e-9, lost + _moving(times, sent, SETTLED_S) / PACKET_B)
    settled = (times >= CHANGE_S) & (use >= RECOVERED_USE) & (loss <= RECOVERED_LOSS)
    seconds = float(times[np.argmax(settled)]) - CHANGE_S if settled.any() else math.inf
    shown = times >= CHANGE_S - 10
    second = 8 * _moving(times, sent, 1.0) / rate_bps
    shown &= ~np.isnan(second) & (times >= CHANGE_S)
    return Changed(seconds, curve(*thin(times[shown] - CHANGE_S, second[shown])))


PATH_CHANGES = Experiment("path changes", _changed, _read_changed)
CHANGE_THRESHOLDS = Thresholds(30.0, 120.0)


def _judge_changed(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(PATH_CHANGES, subject)
    cases = [
        case(name, Samples.of(own[name, seed].seconds for seed in CHANGE_SEEDS), CHANGE_THRESHOLDS, median=True)
        for name in CHANGES
    ]
    stuck = [each.name for each in cases if each.value is not None and math.isinf(each.value)]
    finite = [Case(each.name, None, "fail") if each.name in stuck else each for each in cases]
    judged = of_cases(finite)
    return Judged(None if stuck else judged.value, judged.verdict, judged.cases,
                  f"not within 120 s: {', '.join(stuck)}" if stuck else "")  # fmt: skip


PATH_CHANGE = Row(
    id="S12",
    title="path change: RTT doubled, halved; rate to a tenth",
    measure="time until 10 s have 0.8 utilization and at most 5 % loss; the worst case, median of three seeds",
    unit="s",
    passes="at most 30 s",
    warns="at most 120 s",
    source="RFC 9743 section 7, changes of the path",
    experiments=(PATH_CHANGES,),
    judge=_judge_changed,
    panel=panel("time since the RTT doubled (s)", "utilization over 1 s", thresholds=(0.8,)),
    lines=lambda lab, subject: [lab.readings(PATH_CHANGES, subject)["RTT × 2", CHANGE_SEEDS[0]].series],
)

# S17.
RADIO, RADIO_WARM_S, RADIO_END_S, JITTER_MS, STEP_S = Path(20, 40), 20.0, 120.0, 20.0, 5.0
RADIO_STEPS_MBPS = (20.0, 10.0, 5.0, 15.0)
RADIO_FLOWS = (1, 10)


def _radio_rate_mbps(time_s: float) -> float:
    return RADIO_STEPS_MBPS[int(time_s / STEP_S) % len(RADIO_STEPS_MBPS)]


def _radio(subject: Subject) -> dict[int, Scenario]:
    times_s = [STEP_S * step for step in range(1, int(RADIO_END_S / STEP_S))]
    changes = [Change(s(time), mbps(_radio_rate_mbps(time)), ms(0.3 * RADIO.rtt_ms)) for time in times_s]
    return {
        count: scenario(
            f"radio, {count} flows", RADIO, [flow(subject, jitter_s=1)] * count, seconds=RADIO_END_S,
            queue=RADIO.buffer(1), samples_s=0.5, link=Link(changes=changes, jitter=ms(JITTER_MS)),
            routers=subject.routers,
        )
        for count in RADIO_FLOWS
    }  # fmt: skip


def _read_radio(reading: Reading, _key: object) -> tuple[float, Line]:
    steps = np.arange(RADIO_WARM_S, RADIO_END_S, STEP_S)
    capacity = sum(_radio_rate_mbps(time) for time in steps) / len(steps) * 1e6
    times = reading.times
    rate = _moving(times, 8 * reading.link("bytes"), 0.5) / 1e6
    shown = (times >= RADIO_WARM_S) & (times <= RADIO_WARM_S + 40) & ~np.isnan(rate)
    return reading.link_bps(RADIO_WARM_S, RADIO_END_S) / capacity, curve(*thin(times[shown], rate[shown]))


RADIO_LINK = Experiment("radio link", _radio, _read_radio)
RADIO_THRESHOLDS = Thresholds(0.7, 0.5, larger_is_better=True)


def _judge_radio(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(RADIO_LINK, subject)
    cases = [case(f"{count} flow{'s' if count > 1 else ''}", own[count][0], RADIO_THRESHOLDS) for count in RADIO_FLOWS]
    return of_cases(cases, larger_is_better=True)


WIRELESS = Row(
    id="S17",
    title="wireless: ± 10 ms of jitter, a new rate every 5 s",
    measure="share of the capacity used; the worse of 1 and 10 flows",
    unit="",
    passes="at least 0.7",
    warns="at least 0.5",
    source="RFC 9743 section 6, wireless, and 7, varying delay",
    experiments=(RADIO_LINK,),
    judge=_judge_radio,
    panel=panel("time (s)", "rate, one flow (Mbit/s)"),
    lines=lambda lab, subject: [lab.readings(RADIO_LINK, subject)[1][1]],
)

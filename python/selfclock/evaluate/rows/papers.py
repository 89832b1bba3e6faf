"""Tests of single mechanisms, for the algorithms that have them: packet pairs, starts, Lotka-Volterra, ALTCP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Judged, Samples, Thresholds, case, of_cases
from selfclock.evaluate.network import PACKET_B, REVERSE, SEGMENT_B, Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.rows.queues import UTILIZATION_THRESHOLDS
from selfclock.evaluate.rows.sharing import RTT_THRESHOLDS
from selfclock.evaluate.rows.short import THRESHOLDS as TRANSFER_THRESHOLDS
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject
from selfclock.scenario.flow import Background
from selfclock.scenario.quantity import mbps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.figure import Line
    from selfclock.scenario import Scenario

PATH, SIZE, END_S = Path(20, 40), "1 MB", 60.0
#: A packet of 1500 B takes 0.12 ms there, which a clock of 10 ms cannot resolve.
FAST_PATH = Path(100, 40)
SEEDS = (1, 2, 3, 4, 5)

#: The starts of the Swift Start paper.
SWIFT = {"swift-start", "modified-swift-start", "quick-start"}


def _only(*starts: str) -> Callable[[Subject], str | None]:
    return lambda subject: None if subject.part("start") in starts else "it has another start"


def _window_only(window: str) -> Callable[[Subject], str | None]:
    return lambda subject: None if subject.part("window") == window else f"it is not {window}"


def _completion(reading: Reading, _key: object) -> float:
    """Mean time of the transfers, seconds; an incomplete one counts with the whole run."""
    sized = [each for each in reading.flows if each["algorithm"] != "udp"]
    times = [END_S if each["completion_s"] is None else each["completion_s"] for each in sized]
    return sum(times) / len(times)


def _transfers(
    row: str,
    title: str,
    measure: str,
    source: str,
    conditions: Mapping[str, Callable[[Subject, int], Scenario]],
    excludes: Callable[[Subject], str | None],
) -> Row:
    """Return a row of completion times over those of slow start under the same conditions."""

    def scenarios(subject: Subject) -> dict[tuple[str, bool, int], Scenario]:
        if excludes(subject) is not None:
            return {}
        return {
            (name, plain, seed): build(subject.plain() if plain else subject, seed)
            for name, build in conditions.items()
            for plain in (False, True)
            for seed in SEEDS
        }

    experiment = Experiment(title, scenarios, _completion)

    def judge(lab: Lab, subject: Subject) -> Judged:
        own = lab.readings(experiment, subject)

        def mean(name: str, plain: bool) -> float:
            return Samples.of(own[name, plain, seed] for seed in SEEDS).mean

        cases = [case(name, mean(name, False) / mean(name, True), TRANSFER_THRESHOLDS) for name in conditions]
        return of_cases(cases)

    def lines(lab: Lab, subject: Subject) -> list[Line]:
        values = [each.value for each in judge(lab, subject).cases if each.value is not None]
        return [curve(list(range(1, len(values) + 1)), values)]

    return Row(
        id=row, title=title, measure=measure, unit="", passes="at most 1.1", warns="at most 1.5", source=source,
        experiments=(experiment,), judge=judge, excludes=excludes, lines=lines,
        panel=panel("case, in the order of the table", "ratio of completion times", thresholds=(1.1, 1.5)),
    points=True,
    )  # fmt: skip


_OVER_SLOW_START = "completion time of 1 MB over that of slow start; the worst case, means of five seeds"


def _one(
    path: Path = PATH,
    *,
    transport: Mapping[str, object] | None = None,
    routers: Sequence[Mapping[str, object]] = (),
    others: Sequence[Background] = (),
    parameters: Mapping[str, object] | None = None,
    flows: int = 1,
) -> Callable[[Subject, int], Scenario]:
    def build(subject: Subject, seed: int) -> Scenario:
        # The plain one has no parameters of another start.
        has_start = subject.part("start") != "slow-start"
        tested = subject.with_parameters(**(parameters or {})) if has_start else subject
        tested = Subject(tested.label, tested.control, {**tested.transport, **(transport or {})}, tested.routers)
        transfers = [flow(tested, SIZE, start_s=1.0, jitter_s=0.05) for _ in range(flows)]
        return scenario(
            subject.label, path, [*transfers, *others], seconds=END_S, queue=path.buffer(1), seed=seed,
            routers=[*routers, *subject.routers],
        )  # fmt: skip

    return build


def _delayed(every: int, parameters: Mapping[str, object] | None = None) -> Callable[[Subject, int], Scenario]:
    # The receivers of the papers acknowledge no segment at once; with Linux's quick ACKs the first
    # segments would have an ACK each, whatever `every` is.
    return _one(transport={"delayed_ack": {"every": every, "quick": False}}, parameters=parameters)


ZERO_TICKS = _transfers(
    "PP1", "packet pair: an interval of 0 ticks, on 100 Mbit/s", _OVER_SLOW_START, "Nishida et al., section 4",
    {"clock of 10 ms": _one(FAST_PATH), "clock of 1 ms": _one(FAST_PATH, parameters={"tick": "1 ms"}),
     "exact": _one(FAST_PATH, parameters={"timer_rounding": "exact"})},
    _only("packet-pair"),
)  # fmt: skip
WRONG_D = _transfers(
    "PP2", "packet pair: receivers that acknowledge every segment, every second, every fourth", _OVER_SLOW_START,
    "Nishida et al., section 4.2.1",
    {f"every {every}": _delayed(every) for every in (1, 2, 4)},
    _only("packet-pair"),
)  # fmt: skip
_ACKS_LOST: dict[str, object] = {"mechanism": "loss", "links": [REVERSE], "kinds": ["ack"]}
REPLY_LOSS = _transfers(
    "PP3", "packet pair: 1 % and 10 % of the ACKs, with their replies, are lost", _OVER_SLOW_START,
    "Nishida et al., section 4",
    {f"{part:.0%} lost": _one(routers=[{**_ACKS_LOST, "probability": part}]) for part in (0.01, 0.1)},
    _only("packet-pair"),
)  # fmt: skip

SIMULTANEOUS = _transfers(
    "SW1", "starts: 2, 4, 8, 16 flows start within 50 ms", _OVER_SLOW_START, "Khalil et al., section 4",
    {f"{flows} flows": _one(flows=flows) for flows in (2, 4, 8, 16)},
    _only(*SWIFT),
)  # fmt: skip
DELAYED = _transfers(
    "SW2", "starts: delayed ACKs", _OVER_SLOW_START, "Khalil et al., section 4.2",
    {f"every {every}": _delayed(every) for every in (1, 2, 4)},
    _only(*SWIFT),
)  # fmt: skip
FROZEN = _transfers(
    "SW3", "Swift Start as printed: without an estimate its window stays constant", _OVER_SLOW_START,
    "Khalil et al., section 4.2: \"sends only 4 segments each RTT\"",
    {f"every {every}": _delayed(every, {"no_estimate": "freeze"}) for every in (1, 2, 4)},
    _only("swift-start"),
)  # fmt: skip
THINNED = _transfers(
    "SW4", "starts: a router that thins ACKs", _OVER_SLOW_START, "Khalil et al., section 3.1",
    {f"within {interval}": _one(routers=[{"mechanism": "ack-thinning", "links": [REVERSE], "interval": interval}])
     for interval in ("1 ms", "5 ms")},
    _only(*SWIFT),
)  # fmt: skip


def _cross(load: float) -> Background:
    return Background(mbps(load * PATH.rate_mbps), arrivals="poisson", name="cross")


CROSSED = _transfers(
    "SW5", "starts: other traffic between the packets of the pair", _OVER_SLOW_START, "Khalil et al., section 3",
    {f"{load:.0%} of the link": _one(others=[_cross(load)]) for load in (0.2, 0.5, 0.8)},
    _only(*SWIFT),
)  # fmt: skip

# Lotka-Volterra.
LV_BEGIN_S, LV_END_S, ERRORS = 30.0, 90.0, (0.8, 1.0, 1.2)
#: K of the thesis is a rate on the wire. A = K: no cross traffic.
_not_lv = _window_only("lotka-volterra")


def _told_k(subject: Subject) -> dict[float, Scenario]:
    if _not_lv(subject) is not None:
        return {}
    runs = {}
    for error in ERRORS:
        rate = f"{error * PATH.rate_mbps:g} Mbps"
        told = subject.with_parameters(physical="oracle", available="oracle", physical_rate=rate, available_rate=rate)
        runs[error] = scenario(f"K × {error:g}", PATH, [flow(told)], seconds=LV_END_S, queue=PATH.buffer(1),
                               samples_s=0.1, routers=subject.routers)  # fmt: skip
    return runs


def _use(reading: Reading, _key: object) -> float:
    return reading.link_bps(LV_BEGIN_S, LV_END_S) / (PATH.rate_mbps * 1e6)


TOLD_K = Experiment("error in K", _told_k, _use)


def _judge_k(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(TOLD_K, subject)
    return of_cases(
        [case(f"K × {error:g}", own[error], UTILIZATION_THRESHOLDS) for error in ERRORS], larger_is_better=True
    )


WRONG_K = Row(
    id="LV1",
    title="Lotka-Volterra: an error of 20 % in the physical bandwidth K",
    measure="utilization; the worst case",
    unit="",
    passes="at least 0.9",
    warns="at least 0.8",
    source="Matsuura 2006, section 2; the thresholds of S4",
    experiments=(TOLD_K,),
    judge=_judge_k,
    panel=panel("assumed K over K", "utilization", thresholds=(0.9, 0.8)),
    points=True,
    lines=lambda lab, subject: [curve(ERRORS, list(lab.readings(TOLD_K, subject).values()))],
    excludes=_not_lv,
)


NOISES = (0.1, 0.3, 0.5)


def _noisy(subject: Subject) -> dict[float, Scenario]:
    if _not_lv(subject) is not None:
        return {}
    return {
        load: scenario(f"noise {load:g}", PATH, [flow(subject), _cross(load)], seconds=LV_END_S, queue=PATH.buffer(1),
                       samples_s=0.1, routers=subject.routers)
        for load in NOISES
    }  # fmt: skip


NOISE = Experiment("noise in A", _noisy, _use)


def _judge_noise(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(NOISE, subject)
    return of_cases(
        [case(f"Poisson traffic of {load:.0%}", own[load], UTILIZATION_THRESHOLDS) for load in NOISES],
        larger_is_better=True,
    )


NOISY_A = Row(
    id="LV2",
    title="Lotka-Volterra: noise in the available bandwidth A, from Poisson traffic",
    measure="utilization, the other traffic included; the worst case",
    unit="",
    passes="at least 0.9",
    warns="at least 0.8",
    source="Matsuura 2006, section 2.2; the thresholds of S4",
    experiments=(NOISE,),
    judge=_judge_noise,
    panel=panel("other traffic over the link's rate", "utilization", thresholds=(0.9, 0.8)),
    points=True,
    lines=lambda lab, subject: [curve(NOISES, list(lab.readings(NOISE, subject).values()))],
    excludes=_not_lv,
)

#: Wide enough that each of ten flows has the window of 50 segments that measurements need.
WIDE_PATH, WIDE_BEGIN_S, WIDE_END_S = Path(200, 100), 60.0, 120.0
SPECIES = (1, 2, 5, 10)
#: n species with gamma = 0.9 together have n / (1 + 0.9 (n - 1)) of K, less than 1 / 0.9.
SUM_THRESHOLDS = Thresholds(1 / 0.9, 1.5)


def _species(subject: Subject) -> dict[int, Scenario]:
    if _not_lv(subject) is not None:
        return {}
    return {
        count: scenario(
            f"{count} species", WIDE_PATH, [flow(subject, start_s=2.0 * number, jitter_s=1) for number in range(count)],
            seconds=WIDE_END_S, queue=WIDE_PATH.buffer(1), samples_s=0.1, routers=subject.routers,
        )
        for count in SPECIES
    }  # fmt: skip


def _sum_of_windows(reading: Reading, _key: object) -> float:
    """Mean sum of the windows over the bandwidth-delay product, each window at its full size on the wire."""
    steady = reading.times >= WIDE_BEGIN_S
    windows = sum(float(reading.flow(name, "cwnd_bytes")[steady].mean()) for name in reading.tcp)
    return windows * PACKET_B / SEGMENT_B / (WIDE_PATH.rate_mbps * 1e6 * WIDE_PATH.rtt_s / 8)


WINDOWS = Experiment("sum of windows", _species, _sum_of_windows)


def _judge_sum(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(WINDOWS, subject)
    return of_cases(
        [
            case(f"{count} flows (the model: {count / (1 + 0.9 * (count - 1)):.3f})", own[count], SUM_THRESHOLDS)
            for count in SPECIES
        ]
    )


SUM = Row(
    id="LV3",
    title="Lotka-Volterra: the windows of 1, 2, 5, 10 flows on 200 Mbit/s, 100 ms",
    measure="sum of the windows over the BDP; the worst case",
    unit="",
    passes="at most 1.11",
    warns="at most 1.5",
    source="the limit of the model, 1 / gamma",
    experiments=(WINDOWS,),
    judge=_judge_sum,
    panel=panel("flows", "sum of windows (BDP)", thresholds=(1 / 0.9,)),
    points=True,
    lines=lambda lab, subject: [curve(SPECIES, list(lab.readings(WINDOWS, subject).values()))],
    excludes=_not_lv,
)

# ALTCP.
PAIR_PATH, PAIR_BEGIN_S, PAIR_END_S, PAIR_SEEDS = Path(100, 160), 100.0, 400.0, (1, 2, 3)
SHORT_MS = 40.0
_not_altcp = _window_only("altcp")


def _pair(subject: Subject) -> dict[int, Scenario]:
    if _not_altcp(subject) is not None:
        return {}
    return {
        seed: scenario(
            "1 to 4", PAIR_PATH, [flow(subject, rtt_ms=SHORT_MS, jitter_s=2), flow(subject, jitter_s=2)],
            seconds=PAIR_END_S, queue=PAIR_PATH.buffer(0.25), seed=seed, routers=subject.routers,
        )
        for seed in PAIR_SEEDS
    }  # fmt: skip


def _pair_exponent(reading: Reading, _key: object) -> float:
    short, long = (max(1.0, rate) for rate in reading.rates_bps(PAIR_BEGIN_S, PAIR_END_S))
    return math.log(short / long) / math.log(PAIR_PATH.rtt_ms / SHORT_MS)


PAIR = Experiment("ALTCP 1 to 4", _pair, _pair_exponent)


def _judge_pair(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(PAIR, subject)
    return of_cases([case("exponent", Samples.of(own[seed] for seed in PAIR_SEEDS), RTT_THRESHOLDS)])


ONE_TO_FOUR = Row(
    id="AL1",
    title="ALTCP: two flows, RTTs 1 to 4, 100 Mbit/s",
    measure="exponent of the ratio of throughputs over the ratio of base RTTs, mean of three seeds",
    unit="",
    passes="at most 1",
    warns="at most 2 (Reno)",
    source="Kavidha and Sadasivam; the thresholds of S6",
    experiments=(PAIR,),
    judge=_judge_pair,
    panel=panel("seed", "exponent", thresholds=(1.0, 2.0)),
    points=True,
    lines=lambda lab, subject: [curve(PAIR_SEEDS, list(lab.readings(PAIR, subject).values()))],
    excludes=_not_altcp,
)

ROWS = [
    ZERO_TICKS, WRONG_D, REPLY_LOSS, SIMULTANEOUS, DELAYED, FROZEN, THINNED, CROSSED, WRONG_K, NOISY_A, SUM, ONE_TO_FOUR
]  # fmt: skip

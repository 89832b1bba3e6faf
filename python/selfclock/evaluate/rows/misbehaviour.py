"""Partners that cheat, and partners that are not there: S18, S19."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.evaluate.judge import Case, Judged, Marks, Samples, case, of_cases
from selfclock.evaluate.network import Path, flow, scenario
from selfclock.evaluate.row import Line, Panel, Row
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject

if TYPE_CHECKING:
    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.scenario import Scenario

PATH = Path(20, 40)

# S18. Transfers to a receiver that cheats, beside a CUBIC flow that does not; and a long flow in its place.
SIZE, BEGIN_S, EVERY_S, REPEATS, END_S = "1 MB", 15.0, 5.0, 10, 75.0
LONG_END_S, LONG_BEGIN_S = 80.0, 20.0
SEEDS = (1, 2)
HONEST = "honest"

#: A tenth of the interval that it has measured, ten times the rate.
LIE = {"reported_interval_factor": 0.1}


def _cheats(subject: Subject) -> dict[str, Subject]:
    """What a receiver can do, each as the flow that results; what does not concern the algorithm is left out."""
    cheats = {HONEST: subject}
    if subject.part("start") == "modified-swift-start":
        cheats["reports a tenth of the interval"] = subject.with_parameters(**LIE)
    return cheats


def _cheating(subject: Subject) -> dict[tuple[str, str, int], Scenario]:
    cheats = _cheats(subject)
    if len(cheats) == 1:
        return {}
    bulk = flow(Subject.named("cubic"))
    runs: dict[tuple[str, str, int], Scenario] = {}
    for name, cheat in cheats.items():
        short = [flow(cheat, SIZE, start_s=BEGIN_S + EVERY_S * number, jitter_s=1) for number in range(REPEATS)]
        common: dict[str, Any] = {"queue": PATH.buffer(1), "routers": subject.routers}
        for seed in SEEDS:
            runs[name, "short", seed] = scenario(name, PATH, [bulk, *short], seconds=END_S, seed=seed, **common)
            both = [flow(subject, jitter_s=1), flow(cheat, jitter_s=1)]
            runs[name, "long", seed] = scenario(name, PATH, both, seconds=LONG_END_S, seed=seed, **common)
    return runs


def _read_cheating(reading: Reading, key: tuple[str, str, int]) -> float:
    """Rate of the receiver that may cheat, bit/s."""
    if key[1] == "long":
        return reading.rate_bps("flow2", LONG_BEGIN_S, LONG_END_S)
    given = [END_S - BEGIN_S - EVERY_S * number for number in range(REPEATS)]
    times = [limit if each["completion_s"] is None else each["completion_s"]
             for each, limit in zip(reading.flows[1:], given, strict=True)]  # fmt: skip
    return 8e6 * REPEATS / sum(times)


CHEATING = Experiment("cheating receivers", _cheating, _read_cheating)
GAIN_MARKS = Marks(1.1, 2.0)


def _judge_cheating(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(CHEATING, subject)
    cases = [
        case(
            f"{cheat}: {'transfers of ' + SIZE if which == 'short' else 'a long flow'}",
            Samples.of(own[cheat, which, seed] / max(1.0, own[HONEST, which, seed]) for seed in SEEDS),
            GAIN_MARKS,
        )
        for cheat in _cheats(subject)
        if cheat != HONEST
        for which in ("short", "long")
    ]
    return of_cases(cases)


def _cheating_lines(lab: Lab, subject: Subject) -> list[Line]:
    values = [each.value for each in _judge_cheating(lab, subject).cases if each.value is not None]
    return [Line(list(range(1, len(values) + 1)), values)]


MISBEHAVIOUR = Row(
    id="S18",
    title="misbehaviour: a receiver that cheats",
    measure="rate of the cheater over its rate when it is honest; the worst case, mean of two seeds",
    unit="",
    passes="at most 1.1",
    warns="at most 2",
    source="RFC 9743 7.6",
    experiments=(CHEATING,),
    judge=_judge_cheating,
    panel=Panel("case, in the order of the table", "gain", marks=(1.1, 2.0), points=True),
    lines=_cheating_lines,
    excludes=lambda subject: None if len(_cheats(subject)) > 1 else "it takes nothing from its receiver to lie about",
)

# S19.
ABSENT_SIZES, ABSENT_END_S = ("100 kB", "1 MB", "10 MB"), 60.0
WITH, WITHOUT, PLAIN = "with its partner", "without its partner", "plain"


def _absence(subject: Subject) -> dict[tuple[str, str], Scenario]:
    absent = subject.absent()
    if absent is None:
        return {}
    ways = {WITH: subject, WITHOUT: absent, PLAIN: subject.plain()}
    return {
        (way, size): scenario(
            f"{size} {way}", PATH, [flow(each, size)], seconds=ABSENT_END_S, queue=PATH.buffer(1), routers=each.routers
        )
        for way, each in ways.items()
        for size in ABSENT_SIZES
    }


def _read_absence(reading: Reading, _key: object) -> float:
    (transfer,) = reading.flows
    return ABSENT_END_S if transfer["completion_s"] is None else transfer["completion_s"]


ABSENT = Experiment("absent partners", _absence, _read_absence)


def _judge_absence(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(ABSENT, subject)
    plain = f"{subject.part('window', 'reno')} after slow start"
    cases = [
        case(f"{size}: rate without its partner over {plain}, difference from 1",
             abs(own[PLAIN, size] / own[WITHOUT, size] - 1), Marks(0.05))
        for size in ABSENT_SIZES
    ]  # fmt: skip
    gains = [
        Case(f"{size}: time without its partner over the time with it", own[WITHOUT, size] / own[WITH, size])
        for size in ABSENT_SIZES
    ]
    judged = of_cases(cases)
    return Judged(judged.value, judged.verdict, (*judged.cases, *gains))


def _absence_lines(lab: Lab, subject: Subject) -> list[Line]:
    own = lab.readings(ABSENT, subject)
    return [Line([0, 1, 2], [own[way, "1 MB"] for way in (PLAIN, WITHOUT, WITH)])]


ABSENCE = Row(
    id="S19",
    title="absence of the partner: the peer or the routers ignore it",
    measure="difference of its rate from that of its window after slow start, 100 kB to 10 MB; the worst case",
    unit="",
    passes="at most 0.05",
    warns="",
    source="RFC 9743 5.3.2",
    experiments=(ABSENT,),
    judge=_judge_absence,
    panel=Panel("plain, without its partner, with it", "time of 1 MB (s)", points=True),
    lines=_absence_lines,
    excludes=lambda subject: None if subject.needs_partner else "it needs no partner",
)

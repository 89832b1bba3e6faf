"""Short flows, alone and beside a long one: S9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Judged, Thresholds, case, of_cases
from selfclock.evaluate.network import Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject

if TYPE_CHECKING:
    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.scenario import Scenario

PATH = Path(20, 40)
SIZES_KB = (10, 100, 1000)

#: A short flow begins every five seconds beside a CUBIC flow that has settled.
BEGIN_S, EVERY_S, REPEATS, JITTER_S, END_S = 15.0, 5.0, 10, 1.0, 75.0
ALONE_S = 20.0
SEEDS = (1, 2)
ALONE, BESIDE = "alone", "beside CUBIC"

#: The baseline is slow start with an initial window of ten segments.
THRESHOLDS = Thresholds(1.1, 1.5)


def _scenarios(subject: Subject) -> dict[tuple[str, int, int], Scenario]:
    runs = {
        (ALONE, size, 1): scenario(f"{size} kB alone", PATH, [flow(subject, f"{size} kB")], seconds=ALONE_S,
                                   queue=PATH.buffer(1), routers=subject.routers)
        for size in SIZES_KB
    }  # fmt: skip
    bulk = flow(Subject.named("cubic"))
    for size in SIZES_KB:
        short = [
            flow(subject, f"{size} kB", start_s=BEGIN_S + EVERY_S * number, jitter_s=JITTER_S)
            for number in range(REPEATS)
        ]
        for seed in SEEDS:
            runs[BESIDE, size, seed] = scenario(
                f"{size} kB beside CUBIC", PATH, [bulk, *short], seconds=END_S, queue=PATH.buffer(1), seed=seed,
                routers=subject.routers,
            )  # fmt: skip
    return runs


def _read(reading: Reading, key: tuple[str, int, int]) -> float:
    """Mean completion time, seconds; an incomplete flow counts with the time available to it."""
    alone = key[0] == ALONE
    short = reading.flows if alone else reading.flows[1:]
    given = [ALONE_S] if alone else [END_S - BEGIN_S - EVERY_S * number for number in range(REPEATS)]
    times = [limit if each["completion_s"] is None else each["completion_s"]
             for each, limit in zip(short, given, strict=True)]  # fmt: skip
    return sum(times) / len(times)


TRANSFERS = Experiment("short flows", _scenarios, _read)


def _mean(lab: Lab, subject: Subject, where: str, size: int) -> float:
    own = lab.readings(TRANSFERS, subject)
    times = [own[where, size, seed] for seed in (SEEDS if where == BESIDE else (1,))]
    return sum(times) / len(times)


_CASES = [(where, size) for where in (ALONE, BESIDE) for size in SIZES_KB]


def _name(each: tuple[str, int]) -> str:
    where, size = each
    return f"{size} kB {where}"


def _ratios(lab: Lab, subject: Subject) -> dict[tuple[str, int], float]:
    plain = Subject.named("reno")
    return {(where, size): _mean(lab, subject, where, size) / _mean(lab, plain, where, size) for where, size in _CASES}


def _judge(lab: Lab, subject: Subject) -> Judged:
    ratios = _ratios(lab, subject)
    times = [case(f"time of {size} kB {where}, s", _mean(lab, subject, where, size)) for where, size in ratios]
    judged = of_cases([case(_name(each), ratio, THRESHOLDS) for each, ratio in ratios.items()])
    return Judged(judged.value, judged.verdict, (*judged.cases, *times))


SHORT_FLOWS = Row(
    id="S9",
    title="short flows: 10 kB, 100 kB, 1 MB, alone and beside a CUBIC flow",
    measure="completion time over that of slow start with an initial window of 10; the worst case, means of 20 flows",
    unit="",
    passes="at most 1.1",
    warns="at most 1.5",
    source="RFC 9743 section 5.1, short flows",
    experiments=(TRANSFERS,),
    references=("reno",),
    judge=_judge,
    panel=panel("", "ratio of completion times", thresholds=(1.1, 1.5), names=tuple(map(_name, _CASES))),
    points=True,
    lines=lambda lab, subject: [curve(range(len(_CASES)), list(_ratios(lab, subject).values()))],
)

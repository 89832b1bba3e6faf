"""Cheating and absent partners: S18, S19."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Case, Judged, Samples, Thresholds, case, of_cases
from selfclock.evaluate.network import Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.figure import Line
    from selfclock.scenario import Scenario

PATH = Path(20, 40)

# S18. Transfers to a cheating receiver, beside an honest CUBIC flow; and a long flow in its place.
SIZE, BEGIN_S, EVERY_S, REPEATS, END_S = "1 MB", 15.0, 5.0, 10, 75.0
LONG_END_S, LONG_BEGIN_S = 80.0, 20.0
SEEDS = (1, 2)

#: Savage et al. 1999: ten ACKs in place of one. A receiver may acknowledge every segment, so the
#: honest one does, too.
PARTS = 10
#: A tenth of the measured interval, ten times the rate.
LIE = 0.1

#: Algorithms whose receivers report more than arrivals.
_TOLD = {"packet-pair", "modified-swift-start", "quick-start", "xcp"}


@dataclass(frozen=True)
class Cheat:
    """A receiver's misbehaviour, and its honest baseline."""

    name: str
    misbehaviour: Mapping[str, object]
    honest: Mapping[str, object] = field(default_factory=dict)


DIVIDES = Cheat(f"divides ACKs by {PARTS}", {"ack_parts": PARTS}, {"delayed_ack": "off"})
LIES = Cheat("reports a tenth of the interval, ten times the rate", {"interval_factor": LIE})


def _cheats(subject: Subject) -> list[Cheat]:
    """The misbehaviours available to a receiver of the algorithm."""
    return [DIVIDES, *([LIES] if _TOLD & set(map(str, subject.control.values())) else [])]


#: Cheat, whether it is active, kind of flow, seed.
Key = tuple[str, bool, str, int]


def _cheating(subject: Subject) -> dict[Key, Scenario]:
    bulk = flow(Subject.named("cubic"))
    runs: dict[Key, Scenario] = {}
    for cheat in _cheats(subject):
        honest = replace(subject, transport={**subject.transport, **cheat.honest})
        liar = replace(honest, transport={**honest.transport, "misbehaviour": dict(cheat.misbehaviour)})
        for cheats, receiver in ((False, honest), (True, liar)):
            short = [flow(receiver, SIZE, start_s=BEGIN_S + EVERY_S * number, jitter_s=1) for number in range(REPEATS)]
            both = [flow(subject, jitter_s=1), flow(receiver, jitter_s=1)]
            for kind, flows, seconds in (("short", [bulk, *short], END_S), ("long", both, LONG_END_S)):
                for seed in SEEDS:
                    runs[cheat.name, cheats, kind, seed] = scenario(
                        cheat.name, PATH, flows, seconds=seconds, queue=PATH.buffer(1), seed=seed,
                        routers=subject.routers,
                    )  # fmt: skip
    return runs


def _read_cheating(reading: Reading, key: Key) -> float:
    """Rate of the possibly cheating receiver, bit/s."""
    if key[2] == "long":
        return reading.rate_bps("flow2", LONG_BEGIN_S, LONG_END_S)
    given = [END_S - BEGIN_S - EVERY_S * number for number in range(REPEATS)]
    times = [limit if each["completion_s"] is None else each["completion_s"]
             for each, limit in zip(reading.flows[1:], given, strict=True)]  # fmt: skip
    return 8e6 * REPEATS / sum(times)


CHEATING = Experiment("cheating receivers", _cheating, _read_cheating)
GAIN_THRESHOLDS = Thresholds(1.1, 2.0)


def _judge_cheating(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(CHEATING, subject)

    def gain(cheat: Cheat, kind: str) -> Samples:
        """Of the means: a long flow beside another of its kind varies from seed to seed."""
        honest, cheating = (
            Samples.of(own[cheat.name, cheats, kind, seed] for seed in SEEDS) for cheats in (False, True)
        )
        return Samples.of(rate / max(1.0, honest.mean) for rate in cheating.values)

    cases = [
        case(
            f"{cheat.name}: {'transfers of ' + SIZE if kind == 'short' else 'a long flow'}",
            gain(cheat, kind),
            GAIN_THRESHOLDS,
        )
        for cheat in _cheats(subject)
        for kind in ("short", "long")
    ]
    return of_cases(cases)


def _cheating_lines(lab: Lab, subject: Subject) -> list[Line]:
    values = [each.value for each in _judge_cheating(lab, subject).cases if each.value is not None]
    return [curve(list(range(1, len(values) + 1)), values)]


MISBEHAVIOUR = Row(
    id="S18",
    title="misbehaviour: a receiver that cheats",
    measure="rate of the cheater over its honest rate; the worst case, mean of two seeds",
    unit="",
    passes="at most 1.1",
    warns="at most 2",
    source="RFC 9743 section 7, misbehaving nodes",
    experiments=(CHEATING,),
    judge=_judge_cheating,
    panel=panel("case, in the order of the table", "gain", thresholds=(1.1, 2.0)),
    points=True,
    lines=_cheating_lines,
)

# S19. The second path is as slow as that of the packet-pair paper: intervals there are a few ticks
# of its clock.
SLOW_PATH = Path(0.5, 220)
ABSENT_TRANSFERS = (("100 kB", PATH), ("1 MB", PATH), ("10 MB", PATH), ("100 kB", SLOW_PATH), ("1 MB", SLOW_PATH))
ABSENT_END_S = 60.0
WITH, WITHOUT, PLAIN = "with its partner", "without its partner", "plain"


def _transfer(size: str, path: Path) -> str:
    return f"{size} at {path.rate_mbps:g} Mbit/s"


def _absence(subject: Subject) -> dict[tuple[str, str], Scenario]:
    absent = subject.absent()
    if absent is None:
        return {}
    ways = {WITH: subject, WITHOUT: absent, PLAIN: subject.plain()}
    return {
        (way, _transfer(size, path)): scenario(
            f"{size} {way}", path, [flow(each, size)], seconds=ABSENT_END_S, queue=path.buffer(1), routers=each.routers
        )
        for way, each in ways.items()
        for size, path in ABSENT_TRANSFERS
    }


def _read_absence(reading: Reading, _key: object) -> float:
    (transfer,) = reading.flows
    return ABSENT_END_S if transfer["completion_s"] is None else transfer["completion_s"]


ABSENT = Experiment("absent partners", _absence, _read_absence)


def _judge_absence(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(ABSENT, subject)
    transfers = [_transfer(size, path) for size, path in ABSENT_TRANSFERS]
    plain = f"{subject.part('window', 'reno')} after slow start"
    cases = [
        case(f"{each}: rate without its partner over {plain}, difference from 1",
             abs(own[PLAIN, each] / own[WITHOUT, each] - 1), Thresholds(0.05))
        for each in transfers
    ]  # fmt: skip
    gains = [
        Case(f"{each}: time without its partner over the time with it", own[WITHOUT, each] / own[WITH, each])
        for each in transfers
    ]
    judged = of_cases(cases)
    return Judged(judged.value, judged.verdict, (*judged.cases, *gains))


def _absence_lines(lab: Lab, subject: Subject) -> list[Line]:
    own = lab.readings(ABSENT, subject)
    return [curve([0, 1, 2], [own[way, _transfer("1 MB", PATH)] for way in (PLAIN, WITHOUT, WITH)])]


ABSENCE = Row(
    id="S19",
    title="absence of the partner: the peer or the routers ignore it",
    measure="difference of its rate from that of the same window after slow start, 100 kB to 10 MB; the worst case",
    unit="",
    passes="at most 0.05",
    warns="",
    source="RFC 9743 section 5.3, incremental deployment",
    experiments=(ABSENT,),
    judge=_judge_absence,
    panel=panel("", "time of 1 MB (s)", names=(PLAIN, WITHOUT, WITH)),
    points=True,
    lines=_absence_lines,
    excludes=lambda subject: None if subject.needs_partner else "it needs no partner",
)

"""Active queues: S13 with drops, S14 with marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock._core import ScenarioError
from selfclock.evaluate.judge import Judged, Samples, Thresholds, case, not_applicable, worst
from selfclock.evaluate.measure import thin
from selfclock.evaluate.network import Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.rows.queues import UTILIZATION_THRESHOLDS, Use, loss_thresholds
from selfclock.evaluate.rows.sharing import JAIN_THRESHOLDS
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject
from selfclock.scenario.link import Queue
from selfclock.series import jain

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.figure import Line
    from selfclock.scenario import Scenario
    from selfclock.scenario.table import Setting
else:
    from selfclock.lazy import np, pl

PATH, LIMIT_BDP, BEGIN_S, END_S = Path(50, 40), 2.0, 90.0, 150.0
COUNTS, SEEDS = (1, 2, 10), (1, 2)

#: RED as configured by Floyd, Gummadi and Shenker (Adaptive RED, 2001): a minimum of half of 5 ms
#: at the link's rate, here 10 packets, and an average over about a second of packets. The others
#: have the defaults of their RFCs.
DISCIPLINES: dict[str, dict[str, Setting]] = {
    "red": {"adaptive": True, "minimum": "10 packets", "weight": 0.00024},
    "codel": {},
    "pie": {},
    "fq-codel": {},
}


def _scenarios(subject: Subject) -> dict[tuple[str, int, int], Scenario]:
    return {
        (name, count, seed): scenario(
            f"{name}, {count} flows", PATH, [flow(subject, jitter_s=2)] * count, seconds=END_S,
            queue=Queue(name, PATH.buffer(LIMIT_BDP), **settings), seed=seed, routers=subject.routers,
        )
        for name, settings in DISCIPLINES.items()
        for count in COUNTS
        for seed in SEEDS
    }  # fmt: skip


def _read(reading: Reading, _key: object) -> tuple[Use, float]:
    use = Use(reading.loss(BEGIN_S, END_S), reading.link_bps(BEGIN_S, END_S) / (PATH.rate_mbps * 1e6))
    return use, jain(reading.rates_bps(BEGIN_S, END_S)) or 0.0


ACTIVE = Experiment("active queues", _scenarios, _read)


def _judge(lab: Lab, subject: Subject) -> Judged:
    own, cubic = lab.readings(ACTIVE, subject), lab.readings(ACTIVE, Subject.named("cubic"))
    cases = []
    for name in DISCIPLINES:
        for count in COUNTS:
            runs = [own[name, count, seed] for seed in SEEDS]
            base = Samples.of(cubic[name, count, seed][0].loss for seed in SEEDS).mean
            where = f"{name}, {count} flow{'s' if count > 1 else ''}"
            cases.append(case(f"loss, {where}", Samples.of(use.loss for use, _ in runs), loss_thresholds(base)))
            cases.append(case(f"utilization, {where}", Samples.of(use.utilization for use, _ in runs),
                              UTILIZATION_THRESHOLDS))  # fmt: skip
            if count > 1:
                cases.append(case(f"Jain's index, {where}", Samples.of(index for _, index in runs), JAIN_THRESHOLDS))
    passed = sum(each.verdict == "pass" for each in cases)
    short = [each.name for each in cases if each.verdict == "fail"]
    return Judged(passed / len(cases), worst(each.verdict for each in cases), tuple(cases),
                  f"fails: {'; '.join(short)}" if short else "")  # fmt: skip


def _lines(lab: Lab, subject: Subject) -> list[Line]:
    own = lab.readings(ACTIVE, subject)
    keys = [(name, count) for name in DISCIPLINES for count in COUNTS]
    used = [Samples.of(own[*key, seed][0].utilization for seed in SEEDS).mean for key in keys]
    return [curve(list(range(1, len(keys) + 1)), used)]


AQM = Row(
    id="S13",
    title="active queues: RED, CoDel, PIE, FQ-CoDel; 1, 2, 10 flows",
    measure="share of the 32 checks by the thresholds of S3, S4 and S5 that pass; the verdict is the worst",
    unit="",
    passes="all of them pass",
    warns="none fails",
    source="RFC 9743 section 7, active queue management; RFC 7928",
    experiments=(ACTIVE,),
    references=("cubic",),
    judge=_judge,
    panel=panel("queue (RED, CoDel, PIE, FQ-CoDel) by 1, 2, 10 flows", "utilization", thresholds=(0.9, 0.8)),
    points=True,
    lines=_lines,
)

# S14. A queue of four BDP that marks above a quarter of a BDP.
MARKED, MARK_BDP, MARKED_BDP, MARKED_WARM_S, MARKED_END_S = Path(10, 40), 0.25, 4.0, 5.0, 30.0
#: Minimum cut of the window in a round trip in which a mark arrives, as a fraction.
CUT = 0.01


def _marked(subject: Subject) -> dict[int, Scenario]:
    told = Subject(subject.label, subject.control, {"ecn": "classic", **subject.transport}, subject.routers)
    queue = Queue("drop-tail", MARKED.buffer(MARKED_BDP), mark_above=MARKED.buffer(MARK_BDP))
    try:
        return {0: scenario("marks", MARKED, [flow(told)], seconds=MARKED_END_S, queue=queue, samples_s=0.002,
                            routers=subject.routers, packets=True)}  # fmt: skip
    except ScenarioError:
        # An algorithm without a response to marks is not allowed on the network with ECN.
        return {}


def cuts(
    marks: NDArray[np.float64], times: NDArray[np.float64], window: NDArray[np.float64], rtt: NDArray[np.float64]
) -> tuple[int, int]:
    """Return the number of round trips that began with a mark, and of those in which the window was cut.

    A mark is echoed and answered within two round trips. After a cut, earlier marks do not require
    another one for a round trip (RFC 3168, section 6.1.2).
    """
    rounds = answered = 0
    ready = -1.0
    for mark in marks:
        if mark < ready:
            continue
        round_s = float(np.interp(mark, times, rtt))
        if mark + 2 * round_s > times[-1]:
            break
        rounds += 1
        within = (times >= mark) & (times <= mark + 2 * round_s)
        at, seen = times[within], window[within]
        highest = np.maximum.accumulate(seen)
        cut = seen <= (1 - CUT) * highest
        answered += bool(cut.any())
        ready = (float(at[np.argmax(cut)]) if cut.any() else mark) + round_s
    return rounds, answered


def _read_marked(reading: Reading, _key: object) -> tuple[int, int, Line]:
    packets = pl.DataFrame(reading.result.packets).lazy()
    marked = packets.filter(
        (pl.col("event").cast(pl.String) == "mark") & (pl.col("time_s") > MARKED_WARM_S)
    ).collect()["time_s"].to_numpy()  # fmt: skip
    times, window = reading.times, reading.flow("flow1", "cwnd_bytes")
    rounds, answered = cuts(marked, times, window, np.nan_to_num(reading.flow("flow1", "srtt_s"), nan=MARKED.rtt_s))
    shown = (times > MARKED_WARM_S) & (times < MARKED_WARM_S + 5)
    return rounds, answered, curve(*thin(times[shown], window[shown] / 1e3))


MARKS_SEEN = Experiment("marks", _marked, _read_marked)


def _judge_marked(lab: Lab, subject: Subject) -> Judged:
    runs = lab.readings(MARKS_SEEN, subject)
    if not runs:
        return not_applicable("it does not respond to marks, and ECN is not negotiated for it")
    rounds, answered, _ = runs[0]
    if rounds == 0:
        return not_applicable("nothing was marked: its queue stays below 0.25 BDP")
    found = case(
        "round trips with a mark in which the window is reduced",
        answered / rounds,
        Thresholds(1.0, larger_is_better=True),
    )
    return Judged(found.value, found.verdict, (found,), f"{answered} of {rounds} round trips")


ECN = Row(
    id="S14",
    title="ECN: a queue that marks",
    measure="share of the round trips with a mark in which the window is reduced by at least 1 %",
    unit="",
    passes="all",
    warns="",
    source="RFC 3168 section 6.1.2",
    experiments=(MARKS_SEEN,),
    judge=_judge_marked,
    panel=panel("time (s)", "window (kB)"),
    lines=lambda lab, subject: [run[2] for run in lab.readings(MARKS_SEEN, subject).values()],
)

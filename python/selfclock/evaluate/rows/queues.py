"""Queue, loss and utilization of one bottleneck: S2, S3, S4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Case, Judged, Thresholds, case, of_cases
from selfclock.evaluate.measure import thin
from selfclock.evaluate.network import PACKET_B, Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment
from selfclock.evaluate.subject import Subject

if TYPE_CHECKING:
    import numpy as np

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.figure import Line
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import np

# S2: long enough for several of Reno's cycles, of about a minute at a window of up to five BDP.
DEEP, DEEP_BDP, DEEP_WARM_S, DEEP_END_S = Path(20, 40), 4.0, 60.0, 300.0


@dataclass(frozen=True)
class Queue:
    """Queueing delay over the base round-trip time."""

    p95: float
    mean: float
    series: Line


def _deep(subject: Subject) -> dict[int, Scenario]:
    return {0: scenario("bufferbloat", DEEP, [flow(subject)], seconds=DEEP_END_S, queue=DEEP.buffer(DEEP_BDP),
                        samples_s=0.02, routers=subject.routers)}  # fmt: skip


def _read_deep(reading: Reading, _key: object) -> Queue:
    times, packets = reading.times, reading.link("queue_packets")
    delay = packets * PACKET_B * 8 / (DEEP.rate_mbps * 1e6) / DEEP.rtt_s
    steady = delay[times >= DEEP_WARM_S]
    return Queue(float(np.quantile(steady, 0.95)), float(steady.mean()), curve(*thin(times, delay)))


DEEP_QUEUE = Experiment("deep queue", _deep, _read_deep)


def _judge_deep(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(DEEP_QUEUE, subject)[0]
    reno = lab.readings(DEEP_QUEUE, Subject.named("reno"))[0]
    cases = [
        case("95th percentile", own.p95, Thresholds(reno.p95, 1.1 * reno.p95)),
        Case("mean", own.mean),
    ]
    return of_cases(cases, note=f"Reno: {reno.p95:.3g}, on average {reno.mean:.3g}")


BUFFERBLOAT = Row(
    id="S2",
    title="bufferbloat: one flow, queue of 4 BDP",
    measure="95th percentile of the queueing delay over the base round-trip time",
    unit="RTT",
    passes="at most Reno's",
    warns="at most 1.1 times Reno's",
    source="RFC 9743 section 5.1, bufferbloat",
    experiments=(DEEP_QUEUE,),
    references=("reno",),
    judge=_judge_deep,
    panel=panel("time (s)", "queueing delay (RTT)"),
    lines=lambda lab, subject: [lab.readings(DEEP_QUEUE, subject)[0].series],
)

# S3 and S4. The path of the access scenario of the evaluation suite, without its 100 ms of buffer.
GRID, GRID_WARM_S, GRID_END_S = Path(100, 40), 30.0, 90.0
FLOWS, BUFFERS_BDP = (1, 2, 10, 50), (0.1, 0.5, 1.0, 2.0)
#: Flows start in turn within a second.
START_JITTER_S = 1.0


@dataclass(frozen=True)
class Use:
    """Throughput and losses of a bottleneck in the steady state."""

    loss: float
    utilization: float


def _grid(subject: Subject) -> dict[tuple[int, float], Scenario]:
    return {
        (count, buffer): scenario(
            f"{count} flows, {buffer:g} BDP", GRID, [flow(subject, jitter_s=START_JITTER_S)] * count,
            seconds=GRID_END_S, queue=GRID.buffer(buffer), routers=subject.routers,
        )
        for count in FLOWS
        for buffer in BUFFERS_BDP
    }  # fmt: skip


def _read_grid(reading: Reading, _key: object) -> Use:
    carried = reading.link_bps(GRID_WARM_S, GRID_END_S)
    return Use(reading.loss(GRID_WARM_S, GRID_END_S), carried / (GRID.rate_mbps * 1e6))


DROP_TAIL = Experiment("drop-tail", _grid, _read_grid)

LOSS_BELOW, LOSS_OF_CUBIC, LOSS_WARNS = 0.01, 2.0, 0.05


def loss_thresholds(cubic: float) -> Thresholds:
    """Return the thresholds of a loss rate, given CUBIC's."""
    return Thresholds(max(LOSS_BELOW, LOSS_OF_CUBIC * cubic), max(LOSS_WARNS, LOSS_OF_CUBIC * cubic))


UTILIZATION_THRESHOLDS = Thresholds(0.9, 0.8, larger_is_better=True)


def _name(count: int, buffer: float) -> str:
    return f"{count} flow{'s' if count > 1 else ''}, {buffer:g} BDP"


def _judge_loss(lab: Lab, subject: Subject) -> Judged:
    own, cubic = lab.readings(DROP_TAIL, subject), lab.readings(DROP_TAIL, Subject.named("cubic"))
    cases = [case(_name(*key), own[key].loss, loss_thresholds(cubic[key].loss)) for key in own]
    return of_cases(cases)


def _judge_utilization(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(DROP_TAIL, subject)
    cases = [
        case(_name(count, buffer), use.utilization, UTILIZATION_THRESHOLDS if buffer >= 1 else None)
        for (count, buffer), use in own.items()
    ]
    return of_cases(cases, larger_is_better=True)


def _over_buffers(lab: Lab, subject: Subject, measure: str) -> list[Line]:
    own = lab.readings(DROP_TAIL, subject)
    pick = max if measure == "loss" else min
    return [
        curve(BUFFERS_BDP, [pick(getattr(own[count, buffer], measure) for count in FLOWS) for buffer in BUFFERS_BDP])
    ]


LOSS = Row(
    id="S3",
    title="loss: 1, 2, 10, 50 flows, queue of 0.1 to 2 BDP",
    measure="share of packets dropped at the bottleneck; the worst case",
    unit="",
    passes="below 1 % or at most twice CUBIC's",
    warns="at most 5 %",
    source="RFC 9743 section 5.1, high packet loss",
    experiments=(DROP_TAIL,),
    references=("cubic",),
    judge=_judge_loss,
    panel=panel("queue (BDP)", "largest loss", log_x=True, thresholds=(LOSS_BELOW, LOSS_WARNS)),
    points=True,
    lines=lambda lab, subject: _over_buffers(lab, subject, "loss"),
)
UTILIZATION = Row(
    id="S4",
    title="utilization: the same runs",
    measure="utilization of the bottleneck; the worst case with at least 1 BDP of queue",
    unit="",
    passes="at least 0.9",
    warns="at least 0.8",
    source="RFC 5166, throughput",
    experiments=(DROP_TAIL,),
    judge=_judge_utilization,
    panel=panel("queue (BDP)", "lowest utilization", log_x=True, thresholds=(0.9, 0.8)),
    points=True,
    lines=lambda lab, subject: _over_buffers(lab, subject, "utilization"),
)

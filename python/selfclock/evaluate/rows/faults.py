"""Network faults: an outage, reordering, random loss. S1, S15, S16."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Case, Judged, Samples, Thresholds, case
from selfclock.evaluate.measure import thin
from selfclock.evaluate.network import (
    BOTTLENECK,
    PACKET_B,
    QUIC_KINDS,
    REVERSE,
    SEGMENT_B,
    TCP_KINDS,
    Path,
    flow,
    scenario,
)
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment
from selfclock.scenario.link import Link
from selfclock.series import packet_record

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.evaluate.subject import Subject
    from selfclock.figure import Line
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import np, pl

# S1.
CUT_OFF, OUTAGE_S, OUTAGE_END_S, AFTER_S = Path(5, 40), 5.0, 35.0, 60.0
#: The flight, the tail loss probe and the first RTO are over by then.
FIRST_S = 1.0
#: A factor of two, with a margin: our choice.
DOUBLING = Thresholds(1.95, larger_is_better=True)


@dataclass(frozen=True)
class Outage:
    """A sender's behaviour during an outage."""

    #: Smallest ratio of an interval between two packets to the one before it.
    ratio: float
    packets: int
    #: From the end of the outage until data is acknowledged, seconds; infinite for never.
    back_s: float
    series: Line


def _outage(subject: Subject) -> dict[int, Scenario]:
    kinds = QUIC_KINDS if subject.in_stack else TCP_KINDS
    dead = {"mechanism": "loss", "links": [BOTTLENECK, REVERSE], "kinds": kinds, "probability": 1,
            "from": f"{OUTAGE_S:g} s", "until": f"{OUTAGE_END_S:g} s"}  # fmt: skip
    return {0: scenario("outage", CUT_OFF, [flow(subject)], seconds=AFTER_S, queue=CUT_OFF.buffer(1), samples_s=0.05,
                        routers=[dead, *subject.routers], packets=True)}  # fmt: skip


def _read_outage(reading: Reading, _key: object) -> Outage:
    sent = packet_record(reading.result, "time_s", "event", "kind")
    times = sent.filter((pl.col("event") == "send") & pl.col("kind").is_in(["data", "datagram"]))["time_s"].to_numpy()
    # QUIC may send two probes at a time (RFC 9002, section 6.2.4): they are one attempt.
    during = np.unique(times[(times >= OUTAGE_S + FIRST_S) & (times <= OUTAGE_END_S)])
    gaps = np.diff(during)
    ratio = float((gaps[1:] / np.maximum(gaps[:-1], 1e-12)).min()) if len(gaps) > 1 else math.inf
    acknowledged = reading.flow("flow1", "acknowledged_bytes")
    moved = (reading.times > OUTAGE_END_S) & (acknowledged > np.interp(OUTAGE_END_S, reading.times, acknowledged))
    back = float(reading.times[np.argmax(moved)]) - OUTAGE_END_S if moved.any() else math.inf
    shown = times[times >= OUTAGE_S]
    rank = np.arange(1, len(shown) + 1, dtype=float)
    early = shown <= OUTAGE_END_S + 10
    return Outage(ratio, len(during), back, curve(*thin(shown[early] - OUTAGE_S, rank[early])))


DEAD_PATH = Experiment("outage", _outage, _read_outage)


def _judge_outage(lab: Lab, subject: Subject) -> Judged:
    found = lab.readings(DEAD_PATH, subject)[0]
    counted = Case(f"packets from {FIRST_S:g} s after its start", float(found.packets))
    if math.isinf(found.ratio):
        # Fewer than three packets in 29 s: hardly any load.
        return Judged(None, "pass", (counted,), "too few packets for a ratio")
    cases = (case("ratio of intervals", found.ratio, DOUBLING), counted)
    back = "never" if math.isinf(found.back_s) else f"{found.back_s:.1f} s"
    return Judged(found.ratio, cases[0].verdict, cases, f"data is acknowledged again {back} after its end")


OUTAGE = Row(
    id="S1",
    title="full backoff: an outage of 30 s",
    measure="smallest ratio of an interval between two packets to the previous one, from 1 s on",
    unit="",
    passes="at least 1.95: one packet per timeout, at doubling intervals",
    warns="",
    source="RFC 9743 section 5.1, congestion collapse; RFC 6298 section 5.5",
    experiments=(DEAD_PATH,),
    judge=_judge_outage,
    panel=panel("time since its start (s)", "packets sent", log_y=True),
    points=True,
    lines=lambda lab, subject: [lab.readings(DEAD_PATH, subject)[0].series],
)

# S15.
REORDERED, REORDERED_WARM_S, REORDERED_END_S, PART, LATE = Path(20, 40), 10.0, 90.0, 0.01, 0.2
SEEDS = (1, 2)


def _reordering(subject: Subject) -> dict[tuple[bool, int], Scenario]:
    mixed = {"mechanism": "reordering", "links": [BOTTLENECK], "probability": PART,
             "delay": f"{LATE * REORDERED.rtt_ms:g} ms"}  # fmt: skip
    return {
        (reordered, seed): scenario(
            "reordering" if reordered else "in order", REORDERED, [flow(subject, jitter_s=1)],
            seconds=REORDERED_END_S, queue=REORDERED.buffer(1), seed=seed,
            routers=[*([mixed] if reordered else []), *subject.routers],
        )
        for reordered in (False, True)
        for seed in SEEDS
    }  # fmt: skip


def _read_goodput(reading: Reading, _key: object) -> tuple[float, int]:
    again = sum(each["retransmitted_segments"] for each in reading.flows)
    return reading.rate_bps("flow1", REORDERED_WARM_S, REORDERED_END_S), again


OUT_OF_ORDER = Experiment("reordering", _reordering, _read_goodput)


def _judge_reordering(lab: Lab, subject: Subject) -> Judged:
    own = lab.readings(OUT_OF_ORDER, subject)
    ratio = Samples.of(own[True, seed][0] / max(1.0, own[False, seed][0]) for seed in SEEDS)
    found = case("goodput over goodput in order", ratio, Thresholds(0.9, 0.7, larger_is_better=True))
    again = Case("segments retransmitted", Samples.of(own[True, seed][1] for seed in SEEDS).mean)
    in_order = Case("segments retransmitted in order", Samples.of(own[False, seed][1] for seed in SEEDS).mean)
    return Judged(found.value, found.verdict, (found, again, in_order))


REORDERING = Row(
    id="S15",
    title="reordering: 1 % of the packets late by 20 % of a round trip",
    measure="goodput over goodput in order, mean of two seeds",
    unit="",
    passes="at least 0.9",
    warns="at least 0.7",
    source="RFC 9743 section 7, reordering",
    experiments=(OUT_OF_ORDER,),
    judge=_judge_reordering,
    panel=panel("", "goodput (Mbit/s)", names=("in order", "reordered")),
    points=True,
    lines=lambda lab, subject: [
        curve([0, 1], [lab.readings(OUT_OF_ORDER, subject)[late, SEEDS[0]][0] / 1e6 for late in (False, True)])
    ],
)

# S16.
LOSSY, LOSSY_WARM_S, LOSSY_END_S, PROBABILITIES = Path(100, 40), 20.0, 120.0, (1e-5, 1e-4, 1e-3, 1e-2)
#: From here on the link limits it, not the loss.
FULL = 0.8


def _lossy(subject: Subject) -> dict[tuple[float, int], Scenario]:
    return {
        (probability, seed): scenario(
            f"loss {probability:g}", LOSSY, [flow(subject, jitter_s=1)], seconds=LOSSY_END_S,
            queue=LOSSY.buffer(1), seed=seed, link=Link(loss=probability), routers=subject.routers,
        )
        for probability in PROBABILITIES
        for seed in SEEDS
    }  # fmt: skip


RANDOM = Experiment(
    "random loss", _lossy, lambda reading, _key: reading.rate_bps("flow1", LOSSY_WARM_S, LOSSY_END_S) / 1e6
)


def _goodputs(lab: Lab, subject: Subject) -> dict[float, Samples]:
    own = lab.readings(RANDOM, subject)
    return {probability: Samples.of(own[probability, seed] for seed in SEEDS) for probability in PROBABILITIES}


def _reno_mbps(probability: float) -> float:
    """Reno's response function where acknowledged bytes count, sqrt(3/2p) segments per round trip.

    Mathis et al. 1997 with b = 1: in the profile `modern` a delayed ACK counts for what it covers
    (RFC 3465).
    """
    return math.sqrt(1.5 / probability) * SEGMENT_B * 8 / LOSSY.rtt_s / 1e6


def _judge_random(lab: Lab, subject: Subject) -> Judged:
    goodputs = _goodputs(lab, subject)
    most = LOSSY.rate_mbps * SEGMENT_B / PACKET_B
    free = [(p, found.mean) for p, found in goodputs.items() if 0 < found.mean < FULL * most]
    value, note = None, "the link, not loss, limits it at all probabilities but at most one"
    if len(free) > 1:
        x, y = np.log([p for p, _ in free]), np.log([mbps for _, mbps in free])
        value = -float(np.polyfit(x, y, 1)[0])
        note = f"from p = {free[0][0]:g} to {free[-1][0]:g}; Reno's is 0.5 by its response function"
    cases = [case(f"goodput at p = {p:g}, Mbit/s", found) for p, found in goodputs.items()]
    over = [
        Case(f"over Reno's response function, p = {p:g}", found.mean / min(most, _reno_mbps(p)))
        for p, found in goodputs.items()
    ]
    return Judged(value, "report", (*cases, *over), note)


RANDOM_LOSS = Row(
    id="S16",
    title="random loss, 0.001 % to 1 %",
    measure="exponent d of the response function, goodput ~ p^-d, where loss limits it",
    unit="",
    passes="reported",
    warns="",
    source="RFC 9743 section 6, wireless; RFC 5166",
    experiments=(RANDOM,),
    judge=_judge_random,
    panel=panel("probability of loss", "goodput (Mbit/s)", log_x=True, log_y=True),
    points=True,
    lines=lambda lab, subject: [curve(PROBABILITIES, [found.mean for found in _goodputs(lab, subject).values()])],
)

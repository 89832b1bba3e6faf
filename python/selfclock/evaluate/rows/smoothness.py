"""How far a rate falls at regular losses, how fast in congestion, how fast it rises (RFC 5166). S20."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.evaluate.judge import Case, Judged
from selfclock.evaluate.measure import thin
from selfclock.evaluate.network import BOTTLENECK, SEGMENT_B, Path, flow, scenario
from selfclock.evaluate.row import Row, curve, panel
from selfclock.evaluate.runs import Experiment

if TYPE_CHECKING:
    import numpy as np

    from selfclock.evaluate.measure import Reading
    from selfclock.evaluate.runs import Lab
    from selfclock.evaluate.subject import Subject
    from selfclock.figure import Line
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import np

#: Wide enough that regular losses limit it, not the link.
PATH = Path(100, 40)
#: One packet in a thousand is lost until `PERSISTENT_S`, then one in every round trip until
#: `FREE_S`, then none.
EVERY, WARM_S, PERSISTENT_S, FREE_S, END_S = 1000, 15.0, 50.0, 60.0, 66.0
#: Recovery from the last of the losses is over.
FREE_WARM_S = 1.0


@dataclass(frozen=True)
class Triple:
    """The three measures, and the window of the run."""

    #: Largest fraction of its rate that it gives up from one round trip to the next.
    cut: float
    #: Round trips with one loss each until its rate is halved; infinite for never.
    rounds: float
    #: Largest growth of its window in a round trip without loss, segments.
    growth: float
    series: Line


def _scenarios(subject: Subject) -> dict[int, Scenario]:
    def losses(**which: object) -> dict[str, object]:
        return {"mechanism": "loss", "links": [BOTTLENECK], "kinds": ["data"], **which}

    regular = losses(every=EVERY, until=f"{PERSISTENT_S:g} s")
    persistent = losses(spacing=f"{PATH.rtt_ms:g} ms", **{"from": f"{PERSISTENT_S:g} s", "until": f"{FREE_S:g} s"})
    return {0: scenario("regular losses", PATH, [flow(subject)], seconds=END_S, queue=PATH.buffer(1),
                        samples_s=PATH.rtt_s, routers=[regular, persistent, *subject.routers])}  # fmt: skip


def _read(reading: Reading, _key: object) -> Triple:
    times = reading.times
    window = reading.flow("flow1", "cwnd_bytes") / SEGMENT_B
    rate = np.diff(reading.flow("flow1", "sent_bytes"), prepend=0.0)

    def between(begin: float, end: float) -> slice:
        return slice(*np.searchsorted(times, [begin - 1e-6, end - 1e-6]))

    steady = rate[between(WARM_S, PERSISTENT_S)]
    cut = float((1 - steady[1:] / np.maximum(1.0, steady[:-1])).max())
    usual = steady[-250:].mean()
    # The mean of three round trips: the bursts of an unpaced sender fall into one or the other.
    after = np.convolve(rate[between(PERSISTENT_S, FREE_S)], np.ones(3) / 3, "valid")
    rounds = float(np.argmax(after <= usual / 2)) + 2 if (after <= usual / 2).any() else math.inf
    free = window[between(FREE_S + FREE_WARM_S, END_S)]
    shown = times >= 30
    return Triple(cut, rounds, float(np.diff(free).max()), curve(*thin(times[shown], window[shown], 1000)))


REGULAR = Experiment("regular losses", _scenarios, _read)


def _judge(lab: Lab, subject: Subject) -> Judged:
    found = lab.readings(REGULAR, subject)[0]
    never = math.isinf(found.rounds)
    responsiveness = "responsiveness: round trips with one loss each until the rate is halved"
    cases = (
        Case("smoothness: largest reduction of the rate from one round trip to the next", found.cut),
        Case(f"{responsiveness}{': not within 10 s' if never else ''}", None if never else found.rounds),
        Case("aggressiveness: largest growth of the window in a round trip, segments", found.growth),
    )
    rounds = "never" if never else f"{found.rounds:.0f}"
    return Judged(found.cut, "report", cases,
                  f"half the rate after {rounds} round trips; {found.growth:.3g} segments per round trip")  # fmt: skip


SMOOTHNESS = Row(
    id="S20",
    title="smoothness, responsiveness, aggressiveness: every 1000th packet lost, then one per round trip, then none",
    measure="largest reduction of the rate from one round trip to the next; the other two in the table of cases",
    unit="",
    passes="reported",
    warns="",
    source="RFC 5166, response to changes",
    experiments=(REGULAR,),
    judge=_judge,
    panel=panel("time (s)", "window (segments)"),
    lines=lambda lab, subject: [lab.readings(REGULAR, subject)[0].series],
)

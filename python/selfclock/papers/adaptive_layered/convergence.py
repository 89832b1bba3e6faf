"""Equations 1 and 3 in whole runs: the reduction at a loss of each of two ALTCP flows, over its growth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.adaptive_layered.comparison import SAME, evenness
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.network import control, scenario, sender, throughputs_mbps
from selfclock.papers.declared import Ran
from selfclock.papers.intervals import Interval, interval
from selfclock.series import flow_series

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS = 250.0

#: One RTT for both flows: the paper's convergence is that of two flows on one path.
DELAYS_MS = (20.0, 60.0, 120.0)
SEEDS = range(1, 11)

#: The second flow finds the first one using the whole link.
SECOND_STARTS_S, JITTER_S, SECONDS = 30.0, 5.0, 200.0

#: Measured when they have had time to converge.
LATE_S = 150.0
SAMPLES_S = 0.01

#: Growth over five round trips, two after the cut, when recovery is over.
AFTER_RTTS, OVER_RTTS = 2, 5

MSS = 1460.0
W_T = 50.0

#: The states of the paper, by whether K_R is on in the higher flow and in the lower one. It names
#: A, C and D.
STATES = {
    (False, False): "both off",
    (True, True): "both on",
    (False, True): "off in the higher, on in the lower (C)",
    (True, False): "on in the higher, off in the lower",
}
STATE_C = (False, True)

VARIANT = "altcp: beta = 0.15, W_T = 50 (Layered TCP's), compensation = paper, K_R off in layer 1; buffer 1 BDP"


@dataclass(frozen=True)
class Loss:
    """A loss of one flow."""

    time_s: float
    #: Window before it, reduction, and growth per round trip then; in segments.
    window: float
    taken: float
    growth: float
    #: Layer of its growth, and K_R stored.
    layer: int
    stored: float

    @property
    def round_trips(self) -> float:
        """W_R/(K_R K): the round trips needed to recover the reduction."""
        return self.taken / max(self.growth, 1e-9)

    @property
    def compensated(self) -> bool:
        """Whether K_R, the growth over the layer, is closer to the stored one than to 1."""
        return self.layer > 1 and self.growth / self.layer > (1 + self.stored) / 2


@dataclass(frozen=True)
class Joint:
    """A loss of both flows within a round trip: of the one with the larger window, and of the other."""

    higher: Loss
    lower: Loss

    @property
    def holds(self) -> bool:
        """Equation 1."""
        return self.higher.round_trips > self.lower.round_trips

    @property
    def state(self) -> tuple[bool, bool]:
        """Whether K_R is on in each."""
        return self.higher.compensated, self.lower.compensated

    @property
    def same_layer(self) -> bool:
        """Whether both grow by one K."""
        return self.higher.layer == self.lower.layer


def _name(delay_ms: float, seed: int) -> str:
    return f"convergence-{delay_ms:g}-{seed}"


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return two ALTCP flows on one path, the second 30 s after the first."""
    altcp = control("altcp")
    return [
        scenario(
            _name(delay, seed),
            RATE_MBPS,
            [
                sender(altcp, delay, jitter_s=JITTER_S * scale),
                sender(altcp, delay, start_s=SECOND_STARTS_S * scale, jitter_s=JITTER_S * scale),
            ],
            seconds=SECONDS * scale,
            seed=seed,
            samples_s=SAMPLES_S,
            jittered=True,
        )
        for delay in DELAYS_MS
        for seed in SEEDS
    ]


def layer_of(window: float) -> int:
    """Layer of a window in segments: the largest K with W_K = W_T K (K + 1)(K - 1)/6 below it."""
    layer = 1
    while window > W_T * (layer + 1) * (layer + 2) * layer / 6:
        layer += 1
    return layer


def losses(result: Result, flow: str, rtt_ms: float) -> list[Loss]:
    """Return the losses of a flow in congestion avoidance whose subsequent growth is measurable."""
    frame = flow_series(result, flow)
    times, windows, thresholds, srtt = (
        frame[column].to_numpy() for column in ("time_s", "cwnd_bytes", "ssthresh_bytes", "srtt_s")
    )
    stored = max(0.5 * math.cbrt(rtt_ms), 1.0)
    found = []
    for at in np.flatnonzero(thresholds[1:] != thresholds[:-1]) + 1:
        if not np.isfinite(thresholds[at - 1]):
            continue
        step = SAMPLES_S
        begin = at + math.ceil(AFTER_RTTS * srtt[at] / step)
        end = begin + math.ceil(OVER_RTTS * srtt[at] / step)
        # Another loss, or a timeout, within these round trips: not measurable.
        if end >= len(times) or (np.diff(windows[begin : end + 1]) < 0).any() or windows[begin] < thresholds[at]:
            continue
        growth = (windows[end] - windows[begin]) / (times[end] - times[begin]) * srtt[begin]
        before, after = windows[at - 1] / MSS, thresholds[at] / MSS
        layer = layer_of(windows[begin] / MSS)
        found.append(Loss(float(times[at]), before, before - after, growth / MSS, layer, stored))
    return found


def joint_losses(result: Result, rtt_ms: float) -> list[Joint]:
    """Return the losses of both flows within a round trip, queueing included, at unequal windows."""
    first, second = (losses(result, flow, rtt_ms) for flow in ("flow1", "flow2"))
    pairs = [(one, other) for one in first for other in second if abs(one.time_s - other.time_s) <= 2 * rtt_ms / 1000]
    return [
        Joint(*sorted(pair, key=lambda loss: -loss.window))
        for pair in pairs
        if evenness(pair[0].window, pair[1].window) < SAME
    ]


def findings(found: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge the equations and that the flows converge."""
    runs: dict[tuple[float, int], Result] = {
        (delay, seed): found[_name(delay, seed)] for delay in DELAYS_MS for seed in SEEDS
    }
    joint = {key: joint_losses(run, key[0]) for key, run in runs.items()}
    every = [loss for held in joint.values() for loss in held]
    late = {
        delay: [evenness(*throughputs_mbps(runs[delay, seed], LATE_S * scale, SECONDS * scale)) for seed in SEEDS]
        for delay in DELAYS_MS
    }
    in_c = {key: [loss for loss in held if loss.state == STATE_C] for key, held in joint.items()}
    claims = [
        _equation("equation-1", joint, _where(every)),
        _equation("equation-3", in_c, "Losses in state C alone. "),
        _converge(late),
    ]
    return claims, [_figure(every)], [_grid(every)]


def _where(every: list[Joint]) -> str:
    near = [loss for loss in every if not loss.holds]
    wrong = sum(loss.state == (True, False) for loss in near)
    return (
        f"Of the {len(near)} exceptions {wrong} have K_R on in the higher flow and off in the lower, a state that the "
        f"paper does not name; {sum(not loss.same_layer for loss in near)} have the flows in different layers. "
        "With one K_R W/K itself is not monotone: at a window of W_K it is W_K/(K - 1) below and W_K/K above. "
    )


_RAN = Ran(VARIANT, tuple(_name(delay, seed) for delay in DELAYS_MS for seed in SEEDS))


def _equation(identity: str, joint: dict[tuple[float, int], list[Joint]], where: str) -> Claim:
    parts = [sum(loss.holds for loss in held) / len(held) for held in joint.values() if held]
    return CLAIMS(
        identity,
        _RAN,
        holding=sum(loss.holds for held in joint.values() for loss in held),
        count=sum(map(len, joint.values())),
        part=interval(parts) if parts else Interval(0.0, math.inf),
        runs=len(parts),
        where=where,
    )


def _converge(late: dict[float, list[float]]) -> Claim:
    means = {delay: interval(values) for delay, values in late.items()}
    return CLAIMS(
        "equation-1-convergence",
        _RAN,
        told=[f"{delay:g} ms {held}" for delay, held in means.items()],
        means=[held.mean for held in means.values()],
    )


def _grid(every: Iterable[Joint]) -> Table:
    held = list(every)
    rows = []
    for state, text in STATES.items():
        own = [loss for loss in held if loss.state == state]
        alike = [loss for loss in own if loss.same_layer]
        apart = [loss for loss in own if not loss.same_layer]
        rows.append([text, *(f"{sum(loss.holds for loss in part)} of {len(part)}" for part in (alike, apart, own))])
    return Table(
        "Equations 1 and 3: at how many losses they hold",
        "Losses that both flows have within a round trip, with windows more than 5 % apart, by whether K_R is on. "
        "Layers: those in which the windows grow after the loss.",
        ["K_R", "same layer", "different layers", "all"],
        rows,
    )


def _figure(every: list[Joint]) -> Illustration:
    figure = Figure(
        title="Two ALTCP flows, 250 Mbit/s: what a loss takes over the growth per round trip",
        x="W_R/(K_R K), smaller window (round trips)",
        y="W_R/(K_R K), larger window (round trips)",
        height=4.8,
    )
    panel = figure.panel
    panel.x.log = panel.y.log = True
    for (state, text), name in zip(STATES.items(), ("altcp", "adaptive", "cubic", "highspeed"), strict=True):
        own, look = [loss for loss in every if loss.state == state], style.look(name)
        if own:
            panel.points(
                [loss.lower.round_trips for loss in own],
                [loss.higher.round_trips for loss in own],
                marker=look.marker,
                colour=look.colour,
                label=f"K_R {text}",
            )
    ends = [1.0, 300.0]
    panel.line(ends, ends, width=0.8, label="printed: above this line")
    caption = (
        "A point is a loss that both flows have within a round trip. Above the line the flow with the larger window "
        "needs longer to have it back, and the two converge."
    )
    return Illustration(
        "Equations 1 and 3 in whole runs",
        caption,
        figure,
        id="equation-1",
        scenarios=tuple(_name(delay, seed) for delay in DELAYS_MS for seed in SEEDS),
    )

"""Figure 3: Adaptive TCP, then 100 s of it beside TCP; and that k = 1 is TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.papers.adaptive_layered.network import DELAYED_ACK, TCP, Flow, control, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import PAPER, median, share_verdict
from selfclock.reproduce import Claim, Illustration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS, BUFFER = 622.0, 50.0, "0.2 bdp"

#: The first flow has the link for 100 s, then both for 100 s, then the second for 100 s.
FIRST_STOPS_S, SECOND_STARTS_S, END_S = 200.0, 100.0, 300.0
SEEDS = range(1, 4)
JITTER_S = 0.5

#: Before and after the overlap, for the gain of being alone.
ALONE_S = (30.0, 100.0)
IDENTITY_S = 60.0

#: Another reading of how long the detector's finding holds: ten round trips.
BRIEF: dict[str, object] = {"window": "adaptive", "competition_hold": "round-trips"}


def _pair(first: dict[str, object], seed: int, scale: float) -> Scenario:
    name = str(first["window"])
    # What TCP has alone afterwards is only drawn, once.
    drawn = first == control("adaptive") and seed == SEEDS[0]
    return scenario(
        f"overlap-{name}-{seed}",
        RATE_MBPS,
        [
            Flow(first, RTT_MS, jitter_s=JITTER_S * scale, stop_s=FIRST_STOPS_S * scale),
            Flow(TCP, RTT_MS, start_s=SECOND_STARTS_S * scale, jitter_s=JITTER_S * scale),
        ],
        seconds=(END_S if drawn else FIRST_STOPS_S) * scale,
        buffer=BUFFER,
        seed=seed,
        transport=DELAYED_ACK,
        samples_s=0.25 * scale,
    )


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return A-TCP beside TCP, TCP beside TCP, and the two runs of the identity."""
    made = [_pair(first, seed, scale) for first in (control("adaptive"), TCP, BRIEF) for seed in SEEDS]
    for name, first in (("k1", {"window": "adaptive", "maximum_k": 1}), ("reno", {"window": "reno"})):
        flows = [Flow(first, RTT_MS), Flow(first, 2 * RTT_MS, start_s=1 * scale)]
        made.append(
            scenario(f"identity-{name}", RATE_MBPS, flows, seconds=IDENTITY_S * scale, buffer=BUFFER,
                     transport=DELAYED_ACK, samples_s=0.01 * scale)
        )  # fmt: skip
    return made


def alone_mbps(results: Sequence[Result], scale: float) -> dict[str, float]:
    """Return what each first flow has before the second one starts, medians: A-TCP, TCP, A-TCP that holds briefly."""
    interval = (ALONE_S[0] * scale, ALONE_S[1] * scale)
    rates = [throughputs_mbps(result, *interval)[0] for result in results[: 3 * len(SEEDS)]]
    parts = (rates[first : first + len(SEEDS)] for first in range(0, len(rates), len(SEEDS)))
    return dict(zip(("adaptive", "reno", "brief"), map(median, parts), strict=True))


def identical(first: Result, second: Result) -> tuple[bool, int]:
    """Tell whether every sample of two runs agrees, and how many there are."""
    columns = ["time_s", "flow", "cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "sent_bytes", "acknowledged_bytes"]
    one, other = (pl.DataFrame(result.flows).select(columns) for result in (first, second))
    return one.equals(other), len(one)


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the overlap and the identity."""
    count = len(SEEDS)
    adaptive, tcp, brief = (results[count * part : count * (part + 1)] for part in range(3))
    with_k, reno = results[count * 3 :]
    interval = (SECOND_STARTS_S * scale, FIRST_STOPS_S * scale)
    shares = [throughputs_mbps(result, *interval) for result in adaptive]
    baseline = [throughputs_mbps(result, *interval) for result in tcp]
    fair = median(min(pair) / max(pair) for pair in shares)
    fair_tcp = median(min(pair) / max(pair) for pair in baseline)
    fair_brief = median(min(pair) / max(pair) for pair in (throughputs_mbps(run, *interval) for run in brief))
    first, second = (median(pair[side] for pair in shares) for side in (0, 1))
    alone = alone_mbps(results, scale)
    same, samples = identical(with_k, reno)
    claims = [
        Claim(PAPER, "figure-3-shares", "section 6, figure 3",
              "Adaptive TCP shares the bandwidth fairly with TCP during the overlapping 100 s", "fairly: 0.8 or more",
              round(fair, 3), share_verdict(fair),
              f"Smaller over larger throughput, median of {count} runs with random starts; A-TCP {first:.0f}, TCP "
              f"{second:.0f} Mbit/s. TCP in the place of A-TCP: {fair_tcp:.3f}. A-TCP that believes in "
              f"competition for 10 round trips, not until the queue drains without a loss: {fair_brief:.3f}."),
        Claim(PAPER, "figure-3-alone", "section 7", "Adaptive TCP is faster than TCP in utilizing the link",
              "more than TCP", f"{alone['adaptive']:.0f} against {alone['reno']:.0f} Mbit/s",
              "reproduced" if alone["adaptive"] > alone["reno"] else "not reproduced",
              f"Alone, {ALONE_S[0]:g} to {ALONE_S[1]:g} s, medians of {count} runs. "
              f"A-TCP that holds competition for 10 round "
              f"trips: {alone['brief']:.0f} Mbit/s."),
        Claim(PAPER, "k-1-is-tcp", "section 3", "Adaptive TCP is identical to standard TCP when its strength k = 1",
              "identical", "identical" if same else "different", "reproduced" if same else "not reproduced",
              f"Two flows with 50 and 100 ms for {IDENTITY_S:g} s, once A-TCP with k at most 1, once Reno: windows, "
              f"thresholds, segments sent and acknowledged in {samples:,} samples, exactly."),
    ]  # fmt: skip
    return claims, [_figure(adaptive[0])]


@style.house()
def _figure(result: Result) -> Illustration:
    figure, (axes,) = style.figure()
    frame = pl.DataFrame(result.flows).with_columns(pl.col("flow").cast(pl.String))
    active = {"adaptive": ("flow1", "A-TCP", 0.0, FIRST_STOPS_S), "reno": ("flow2", "TCP", SECOND_STARTS_S, END_S)}
    for name, (flow, label, begin, end) in active.items():
        look = style.look(name)
        series = frame.filter((pl.col("flow") == flow) & pl.col("time_s").is_between(begin, end))
        axes.plot(series["time_s"], series["cwnd_bytes"] / 1460, look.line, color=look.colour, label=label)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("window (segments)")
    axes.set_ylim(bottom=0)
    axes.set_title("622 Mbit/s, 50 ms, buffer a fifth of the product")
    axes.legend(loc="upper right")
    caption = "A-TCP has data until 200 s, TCP from 100 s on."
    return Illustration("Figure 3, Adaptive TCP beside TCP", caption, figure)

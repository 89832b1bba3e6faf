"""Figure 3: Adaptive TCP, then 100 s of it beside TCP; and that k = 1 is TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.claims import Claim
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.network import DELAYED_ACK, TCP, control, scenario, sender, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import (
    MARGIN,
    PAPER,
    difference,
    evenness,
    is_more,
    not_less_verdict,
    quartiles,
)
from selfclock.papers.intervals import interval
from selfclock.series import between, flow_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Verdict
    from selfclock.figure import Panel
    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS, BUFFER = 622.0, 50.0, "0.2 bdp"

#: Readings of `competition_hold`.
HOLDS = {"drain": ambiguities.UNTIL_DRAINED, "round-trips": ambiguities.TEN_ROUND_TRIPS}

#: The first flow has the link for 100 s, then both for 100 s, then the second for 100 s.
FIRST_STOPS_S, SECOND_STARTS_S, END_S = 200.0, 100.0, 300.0
SEEDS = range(1, 11)
JITTER_S = 0.5

#: Before the overlap, for the gain of being alone.
ALONE_S = (30.0, 100.0)
IDENTITY_S = 60.0

#: Duration of the detector's verdict of competition: until the queue drains without a loss, the
#: default, or for ten round trips; and TCP in place of A-TCP.
FIRST: dict[str, dict[str, object]] = {
    "drain": control("adaptive"),
    "round-trips": {"window": "adaptive", "competition_hold": "round-trips"},
    "tcp": TCP,
}
VARIANTS = {
    "drain": "adaptive: competition_hold = drain, chosen after the results of both settings had been seen",
    "round-trips": "adaptive: competition_hold = round-trips (10), not the default",
}
DELAYED = "delayed ACKs, as printed; TCP: Reno, halved = window"


def _pair(first: str, seed: int, scale: float) -> Scenario:
    # TCP alone afterwards is only drawn, once.
    drawn = first == "drain" and seed == SEEDS[0]
    return scenario(
        f"overlap-{first}-{seed}",
        RATE_MBPS,
        [
            sender(FIRST[first], RTT_MS, jitter_s=JITTER_S * scale, stop_s=FIRST_STOPS_S * scale),
            sender(TCP, RTT_MS, start_s=SECOND_STARTS_S * scale, jitter_s=JITTER_S * scale),
        ],
        seconds=(END_S if drawn else FIRST_STOPS_S) * scale,
        buffer=BUFFER,
        seed=seed,
        transport=DELAYED_ACK,
        samples_s=0.5 * scale,
    )


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return A-TCP beside TCP, held in two ways, TCP beside TCP, and the two runs of the identity."""
    made = [_pair(first, seed, scale) for first in FIRST for seed in SEEDS]
    for name, first in (("k1", {"window": "adaptive", "maximum_k": 1}), ("reno", {"window": "reno"})):
        flows = [sender(first, RTT_MS), sender(first, 2 * RTT_MS, start_s=1 * scale)]
        made.append(
            scenario(f"identity-{name}", RATE_MBPS, flows, seconds=IDENTITY_S * scale, buffer=BUFFER,
                     transport=DELAYED_ACK, samples_s=0.01 * scale)
        )  # fmt: skip
    return made


def _by_first(results: Sequence[Result]) -> dict[str, Sequence[Result]]:
    count = len(SEEDS)
    return {first: results[count * part : count * (part + 1)] for part, first in enumerate(FIRST)}


def alone_mbps(results: Sequence[Result], scale: float) -> dict[str, list[float]]:
    """Return each first flow's rate before the second one starts, seed by seed."""
    span = (ALONE_S[0] * scale, ALONE_S[1] * scale)
    return {
        first: [throughputs_mbps(result, *span)[0] for result in runs] for first, runs in _by_first(results).items()
    }


def identical(first: Result, second: Result) -> tuple[bool, int]:
    """Tell whether every sample of two runs agrees, and their number."""
    columns = ["time_s", "flow", "cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "sent_bytes", "acknowledged_bytes"]
    one, other = (pl.DataFrame(result.flows).select(columns) for result in (first, second))
    return one.equals(other), len(one)


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the overlap, being alone, and the identity."""
    runs = _by_first(results)
    span = (SECOND_STARTS_S * scale, FIRST_STOPS_S * scale)
    rates = {first: [throughputs_mbps(result, *span) for result in own] for first, own in runs.items()}
    shares = {first: [evenness(*pair) for pair in pairs] for first, pairs in rates.items()}
    alone = alone_mbps(results, scale)
    claims = [_shares(hold, rates[hold], shares) for hold in VARIANTS]
    claims += [_alone(hold, alone) for hold in VARIANTS]
    claims.append(_identity(*results[len(FIRST) * len(SEEDS) :]))
    return claims, [_figure(runs)]


def _names(*firsts: str) -> tuple[str, ...]:
    return tuple(f"overlap-{first}-{seed}" for first in firsts for seed in SEEDS)


def _shares(hold: str, rates: list[list[float]], shares: dict[str, list[float]]) -> Claim:
    apart = difference(shares[hold], shares["tcp"])
    first, second = (interval(pair[side] for pair in rates) for side in (0, 1))
    return Claim(
        PAPER,
        "figure-3-shares",
        "section 6, figure 3",
        says="Adaptive TCP shares the bandwidth fairly during the overlapping 100 seconds",
        printed="fairly",
        measured=f"{interval(shares[hold])}; TCP in its place {interval(shares['tcp'])}",
        verdict=not_less_verdict(apart),
        note=f"Smaller throughput over larger during the overlap, {len(SEEDS)} runs with random starts within "
        f"{JITTER_S:g} s. Difference from TCP in the place of A-TCP, seed by seed: {apart}. "
        f"A-TCP {first.mean:.0f}, TCP {second.mean:.0f} Mbit/s. TCP itself does not even out in 100 s, some "
        "two of its cycles from loss to loss."
        + (
            " Each loss halves both windows and empties this queue; without a queue nothing is detected, and k grows "
            "by one per round trip, to 64 within 3.2 s, while TCP adds one segment."
            if hold == "round-trips"
            else ""
        ),
        criterion="Our criterion: as fair as TCP is in its place. Reproduced if the 95 % t-interval of the paired "
        f"difference lies above -{MARGIN:.2f}, direction if it reaches above.",
        variant=f"{VARIANTS[hold]}; {DELAYED}",
        readings=(HOLDS[hold],),
        figure="figure-3",
        scenarios=_names(hold, "tcp"),
    )


def _alone(hold: str, alone: dict[str, list[float]]) -> Claim:
    gain = [own / max(tcp, 1e-9) for own, tcp in zip(alone[hold], alone["tcp"], strict=True)]
    verdict: Verdict = "reproduced" if is_more(gain, [1.0] * len(gain)) else "not reproduced"
    own, tcp = interval(alone[hold]), interval(alone["tcp"])
    return Claim(
        PAPER, "figure-3-alone", "section 7",
        says="Adaptive TCP has faster magnitude than TCP in utilizing high bandwidth links", printed=None,
        measured=f"{interval(gain)} times: {own.mean:.0f} against {tcp.mean:.0f} Mbit/s", verdict=verdict,
        note=f"Alone, {ALONE_S[0]:g} to {ALONE_S[1]:g} s, before the overlap; {len(SEEDS)} runs.",
        criterion=f"Our criterion: the mean ratio of throughputs by seed is above {1 + MARGIN:.2f} and the "
        "whole 95 % t-interval above 1.",
        variant=f"{VARIANTS[hold]}; {DELAYED}", readings=(HOLDS[hold],), figure="figure-3",
        scenarios=_names(hold, "tcp"),
    )  # fmt: skip


def _identity(with_k: Result, reno: Result) -> Claim:
    same, samples = identical(with_k, reno)
    return Claim(
        PAPER,
        "k-1-is-tcp",
        "section 3",
        says="Adaptive TCP is identical to standard TCP when its strength k = 1",
        printed=None,
        measured="identical" if same else "different",
        verdict="reproduced" if same else "not reproduced",
        note=f"Two flows with 50 and 100 ms for {IDENTITY_S:g} s, once A-TCP with k at most 1, once Reno: windows, "
        f"thresholds, segments sent and acknowledged in {samples:,} samples. True by construction as long as nothing "
        "else of A-TCP acts: at k = 1 both call the same Reno.",
        of="own",
        criterion="Our test: every sample is equal. It fails as soon as the detector or the strength changes a window "
        "at k = 1.",
        variant="adaptive: maximum_k = 1; reno",
        scenarios=("identity-k1", "identity-reno"),
    )


def _figure(runs: dict[str, Sequence[Result]]) -> Illustration:
    figure = Figure(3, x="time (s)", y="window (segments)", height=7.2)
    titles = {
        "drain": "A-TCP that believes in competition until the queue drains",
        "round-trips": "A-TCP that believes in it for ten round trips",
        "tcp": "TCP in the place of A-TCP",
    }
    for panel, (first, title) in zip(figure.column, titles.items(), strict=True):
        panel.span("x", SECOND_STARTS_S, FIRST_STOPS_S, colour="#EEEEEE", opacity=1.0,
                   label="printed: the overlapping 100 seconds")  # fmt: skip
        label = "the first flow, TCP" if first == "tcp" else "A-TCP"
        _flow(panel, runs[first], "flow1", label, "highspeed" if first == "tcp" else "adaptive", (0.0, FIRST_STOPS_S))
        _flow(panel, runs[first], "flow2", "TCP", "reno", (SECOND_STARTS_S, END_S))
        panel.title, panel.y.low = title, 0.0
    caption = (
        f"622 Mbit/s, 50 ms, buffer a fifth of the product. Means and quartiles of {len(SEEDS)} runs with random "
        "starts; from 200 s on one run, TCP alone."
    )
    return Illustration("Figure 3, Adaptive TCP beside TCP", caption, figure, id="figure-3", scenarios=_names(*FIRST))


def _flow(
    panel: Panel, runs: Sequence[Result], flow: str, label: str, looks_like: str, active: tuple[float, float]
) -> None:
    begin, end = active
    held: dict[float, list[float]] = {}
    for result in runs:
        own = between(flow_series(result, flow), begin, end)
        for time, cwnd in zip(own["time_s"], own["cwnd_bytes"], strict=True):
            held.setdefault(round(time, 6), []).append(cwnd / 1460)
    # A flow has no window before its random start: the ensemble begins when all have one, and ends
    # with the last.
    whole = [time for time, values in held.items() if len(values) == len(runs)]
    rest = [time for time in held if whole and time > whole[-1]]
    colour = style.look(looks_like).colour
    times = [*whole, *rest]
    low, high = ([quartiles(held[time])[side] for time in whole] for side in (0, 1))
    panel.band(whole, low, high, colour=colour, opacity=0.25, label=f"{label}, quartiles")
    panel.line(times, [sum(held[time]) / len(held[time]) for time in times], colour=colour, label=label)

"""Figure 3: Adaptive TCP, then 100 s of it beside TCP; and that k = 1 is TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.comparison import (
    difference,
    evenness,
    quartiles,
)
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.network import DELAYED_ACK, TCP, control, scenario, sender, throughputs_mbps
from selfclock.papers.declared import Ran
from selfclock.papers.intervals import interval
from selfclock.series import between, flow_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.figure import Panel
    from selfclock.paper_runs import Runs
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
_IDENTITY = ("identity-k1", "identity-reno")

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
    controls: tuple[dict[str, object], ...] = ({"window": "adaptive", "maximum_k": 1}, {"window": "reno"})
    for name, first in zip(_IDENTITY, controls, strict=True):
        flows = [sender(first, RTT_MS), sender(first, 2 * RTT_MS, start_s=1 * scale)]
        made.append(
            scenario(
                name,
                RATE_MBPS,
                flows,
                seconds=IDENTITY_S * scale,
                buffer=BUFFER,
                transport=DELAYED_ACK,
                samples_s=0.01 * scale,
            )
        )
    return made


def _by_first(runs: Runs) -> dict[str, Sequence[Result]]:
    return {first: runs.each(_names(first)) for first in FIRST}


def alone_mbps(runs: Runs, scale: float) -> dict[str, list[float]]:
    """Return each first flow's rate before the second one starts, seed by seed."""
    span = (ALONE_S[0] * scale, ALONE_S[1] * scale)
    return {first: [throughputs_mbps(result, *span)[0] for result in own] for first, own in _by_first(runs).items()}


def identical(first: Result, second: Result) -> tuple[bool, int]:
    """Tell whether every sample of two runs agrees, and their number."""
    columns = ["time_s", "flow", "cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "sent_bytes", "acknowledged_bytes"]
    one, other = (pl.DataFrame(result.flows).select(columns) for result in (first, second))
    return one.equals(other), len(one)


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the overlap, being alone, and the identity."""
    by_first = _by_first(runs)
    span = (SECOND_STARTS_S * scale, FIRST_STOPS_S * scale)
    rates = {first: [throughputs_mbps(result, *span) for result in own] for first, own in by_first.items()}
    shares = {first: [evenness(*pair) for pair in pairs] for first, pairs in rates.items()}
    alone = alone_mbps(runs, scale)
    claims = [_shares(hold, rates[hold], shares) for hold in VARIANTS]
    claims += [_alone(hold, alone) for hold in VARIANTS]
    claims.append(_identity(*runs.each(_IDENTITY)))
    return claims, [_figure(by_first)]


def _names(*firsts: str) -> tuple[str, ...]:
    return tuple(f"overlap-{first}-{seed}" for first in firsts for seed in SEEDS)


def _shares(hold: str, rates: list[list[float]], shares: dict[str, list[float]]) -> Claim:
    apart = difference(shares[hold], shares["tcp"])
    first, second = (interval(pair[side] for pair in rates) for side in (0, 1))
    return CLAIMS(
        "figure-3-shares",
        Ran(f"{VARIANTS[hold]}; {DELAYED}", _names(hold, "tcp"), (HOLDS[hold],)),
        shares=interval(shares[hold]),
        tcp_shares=interval(shares["tcp"]),
        apart=apart,
        own=first.mean,
        tcp=second.mean,
        emptied=hold == "round-trips",
    )


def _alone(hold: str, alone: dict[str, list[float]]) -> Claim:
    gain = [own / max(tcp, 1e-9) for own, tcp in zip(alone[hold], alone["tcp"], strict=True)]
    own, tcp = interval(alone[hold]), interval(alone["tcp"])
    return CLAIMS(
        "figure-3-alone",
        Ran(f"{VARIANTS[hold]}; {DELAYED}", _names(hold, "tcp"), (HOLDS[hold],)),
        gain=interval(gain),
        own=own.mean,
        tcp=tcp.mean,
    )


def _identity(with_k: Result, reno: Result) -> Claim:
    same, samples = identical(with_k, reno)
    return CLAIMS(
        "k-1-is-tcp",
        Ran("adaptive: maximum_k = 1; reno", _IDENTITY),
        same=same,
        samples=samples,
    )


def _figure(runs: dict[str, Sequence[Result]]) -> Illustration:
    figure = Figure(3, x="time (s)", y="window (segments)", height=7.2)
    titles = {
        "drain": "A-TCP that believes in competition until the queue drains",
        "round-trips": "A-TCP that believes in it for ten round trips",
        "tcp": "TCP in the place of A-TCP",
    }
    for panel, (first, title) in zip(figure.column, titles.items(), strict=True):
        panel.span(
            "x",
            SECOND_STARTS_S,
            FIRST_STOPS_S,
            colour="#EEEEEE",
            opacity=1.0,
            label="printed: the overlapping 100 seconds",
        )
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

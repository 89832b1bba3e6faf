"""Figures 6 and 7: the proposed mechanism alone, and beside UDP at changing rates; with both forms of ICIM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.declared import Ran
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.mechanisms import (
    BUFFERS,
    CORRECTED,
    JUDGED,
    MECHANISMS,
    ONE_WAY,
    PACKETS,
    PROPOSED,
    RENO,
    Buffer,
    Estimator,
    Mechanism,
    Variant,
    variants,
)
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    COALESCED_RTT_S,
    COALESCING,
    FIGURE_7,
    PACKET_B,
    RATE_GBPS,
    RTT_MS,
    SECONDS,
    SENDER_COALESCED_RTT_S,
    STARTED_S,
    background,
    drops,
    goodput_gbps,
    limit_packets,
    loss_rate,
    part_of_available,
    periods,
    scenario,
    sender,
    worst_second,
)
from selfclock.series import flow_series, link_series, mean_between

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: Without a threshold that fits the path, and with the bandwidth of the first period.
SHORT_S = 20.0


def name_of(
    figure: int,
    mechanism: Mechanism,
    estimator: Estimator = CORRECTED,
    buffer: Buffer = PACKETS,
    *,
    threshold: bool = True,
    low: bool = False,
) -> str:
    """Return the name of a scenario of figure 6 or 7."""
    free = "-low-threshold" if low else "" if threshold else "-no-threshold"
    return f"figure-{figure}{free}-{mechanism.algorithm}{estimator.suffix}{buffer.suffix}"


def _scenario(
    figure: int,
    mechanism: Mechanism,
    scale: float,
    estimator: Estimator = CORRECTED,
    buffer: Buffer = PACKETS,
    *,
    threshold: bool = True,
    low: bool = False,
    seed: int = 1,
) -> Scenario:
    # Only the proposed mechanism has coalescing cards, for which it is made. The others run on the
    # hosts of the thesis's simulator, which also makes them comparable with ns-2.
    own = mechanism is PROPOSED
    return scenario(
        name_of(figure, mechanism, estimator, buffer, threshold=threshold, low=low)
        + (f"-seed-{seed}" if seed > 1 else ""),
        [sender(estimator.control if own else mechanism.control)],
        seconds=(SECONDS if threshold and not low else SHORT_S) * scale,
        udp=background([(time * scale, free) for time, free in FIGURE_7]) if figure == 7 else None,
        buffer=buffer.limit(BDP_PACKETS),
        ssthresh=BDP_PACKETS // 2 if low else BDP_PACKETS if threshold else None,
        coalescing=COALESCING if own else "0 s",
        receiver_coalescing="0 s" if own and estimator.exact else None,
        samples_s=0.1 * scale,
        seed=seed,
    )


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return figure 7 before both buffers, figure 6, and both without the threshold for 20 s.

    Figure 6 has one buffer: without UDP every packet at the bottleneck has 1500 B, so that both
    interpretations agree.
    """
    made = []
    for mechanism in MECHANISMS:
        for estimator in JUDGED if mechanism is PROPOSED else [CORRECTED]:
            made += [_scenario(7, mechanism, scale, estimator, buffer) for buffer in _buffers(estimator)]
            made += [_scenario(6, mechanism, scale, estimator, threshold=free) for free in (True, False)]
            if mechanism is PROPOSED:
                made.append(_scenario(7, mechanism, scale, estimator, threshold=False))
    made += [
        _scenario(6, RENO, scale, buffer=buffer, threshold=False, low=low)
        for buffer, low in LUCK
        if low or buffer is ONE_WAY
    ]
    return made


#: Buffer, and whether the threshold is low, of Reno without its luck.
LUCK = [(buffer, low) for buffer in (PACKETS, ONE_WAY) for low in (False, True)]


def _buffers(estimator: Estimator) -> tuple[Buffer, ...]:
    """The buffers of figure 7: the third one for the others, and for ICIM corrected."""
    return (*BUFFERS, ONE_WAY) if estimator is CORRECTED else BUFFERS


def findings(runs: Runs, scale: float = 1.0) -> list[Claim]:
    """Judge the runs of the proposed mechanism."""
    claims = []
    for estimator in JUDGED:
        claims += _figure_6(runs, estimator, scale)
    for variant in (*variants(), Variant(CORRECTED, ONE_WAY)):
        claims += _figure_7(runs, variant, scale)
    for estimator in JUDGED:
        claims.append(_no_threshold(runs, estimator, scale))
    return claims


def empty_rtt_s(estimator: Estimator) -> float:
    """Return the round-trip time without a queue, with its cards."""
    return SENDER_COALESCED_RTT_S if estimator.exact else COALESCED_RTT_S


def own_queue(
    series: pl.DataFrame, available: float, begin_s: float, end_s: float, empty_s: float = COALESCED_RTT_S
) -> float:
    """Return the connection's own packets in the bottleneck's queue: its rate times the queueing delay."""
    delay = mean_between(series, "srtt_s", begin_s, end_s) - empty_s
    return delay * available * 1e9 / (8 * PACKET_B)


def _figure_6(runs: Runs, estimator: Estimator, scale: float) -> list[Claim]:
    name = name_of(6, PROPOSED, estimator)
    run = runs[name]
    begin, end = STARTED_S * scale, SECONDS * scale
    series = flow_series(run)
    part = goodput_gbps(series, begin, end) / RATE_GBPS
    window = mean_between(series, "cwnd_bytes", begin, end) / 1460
    queue = mean_between(link_series(run), "queue_packets", begin, end) / BDP_PACKETS
    variant = f"lotka-volterra, {estimator.text}; {estimator.cards}; initial ssthresh 25000 segments"
    return [
        CLAIMS(
            "figure-6-throughput",
            Ran(variant, (name,), (estimator.reading,)),
            part=part,
        ),
        CLAIMS(
            "figure-6-window",
            Ran(variant, (name,), (estimator.reading,)),
            window=window,
        ),
        CLAIMS(
            "figure-6-queue",
            Ran(variant, (name,), (estimator.reading,)),
            queue=queue,
            part=part,
        ),
        CLAIMS(
            "figure-6-loss",
            Ran(variant, (name,), (estimator.reading,)),
            part=part,
            loss=loss_rate(run),
            drops=drops(run),
        ),
    ]


def _figure_7(runs: Runs, variant: Variant, scale: float) -> list[Claim]:
    name = name_of(7, PROPOSED, variant.estimator, variant.buffer)
    run = runs[name]
    series, empty = flow_series(run), empty_rtt_s(variant.estimator)
    worst, used = worst_second(series, scale), part_of_available(series, scale)
    queues = []
    for begin, end, free in periods(scale):
        last = min(10.0 * scale, (end - begin) / 2)
        queues.append(
            (
                own_queue(series, free, end - last, end, empty),
                limit_packets(free) - free * 1e9 * 0.06 / (8 * PACKET_B),
            )
        )
    off = max(abs(queue / wanted - 1) for queue, wanted in queues)
    drained, peaks = _drained(run, scale, empty)
    ran = f"{variant.text}; initial ssthresh 25000 segments"
    return [
        CLAIMS(
            "figure-7-throughput",
            Ran(ran, (name,), variant.readings),
            worst=worst,
        ),
        CLAIMS(
            "figure-7-queue",
            Ran(ran, (name,), variant.readings),
            off=off,
            queues=[queue for queue, _ in queues],
            wanted=[limit for _, limit in queues],
        ),
        CLAIMS(
            "figure-7-drained",
            Ran(ran, (name,), variant.readings),
            peaks=peaks,
            drained=drained,
            shown=["never" if time is None else f"{time:.1f} s" for time in drained],
        ),
        CLAIMS(
            "figure-7-loss",
            Ran(ran, (name,), variant.readings),
            loss=loss_rate(run),
            drops=drops(run),
            used=used,
        ),
    ]


def _drained(run: Result, scale: float, empty_s: float) -> tuple[list[float | None], list[float]]:
    """After the two changes that leave less: how long the delay exceeds 1.5 times its limit; the longest queue."""
    series, link = flow_series(run), link_series(run)
    times: list[float | None] = []
    peaks = []
    for begin, end, free in periods(scale)[2:]:
        limit = limit_packets(free) * 8 * PACKET_B / (free * 1e9) - RTT_MS / 1e3
        later = series.filter(pl.col("time_s").is_between(begin, end))
        high = later.filter(pl.col("srtt_s") - empty_s > 1.5 * limit)
        last = float(high["time_s"][-1]) if len(high) else begin
        times.append((last - begin) / scale if last < end - scale else None)
        peak = link.filter(pl.col("time_s").is_between(begin, end))["queue_packets"].cast(pl.Float64).max()
        peaks.append(float(str(peak)))
    return times, peaks


def _no_threshold(runs: Runs, estimator: Estimator, scale: float) -> Claim:
    names = tuple(name_of(figure, PROPOSED, estimator, threshold=False) for figure in (6, 7))
    alone, loaded = (runs[name] for name in names)
    part = goodput_gbps(flow_series(alone), STARTED_S * scale, SHORT_S * scale) / RATE_GBPS
    other = goodput_gbps(flow_series(loaded), STARTED_S * scale, SHORT_S * scale) / FIGURE_7[0][1]
    worst = min(part, other)
    return CLAIMS(
        "no-threshold",
        Ran(
            f"lotka-volterra, {estimator.text}; buffer counted in packets; no initial ssthresh",
            names,
            (estimator.reading,),
        ),
        part=part,
        other=other,
        drops_alone=drops(alone),
        drops_loaded=drops(loaded),
        worst=worst,
    )

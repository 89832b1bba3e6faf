"""Figures 6 and 7: the proposed mechanism alone, and beside UDP at changing rates; with both forms of ICIM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock.claims import Claim
from selfclock.papers.inline_measurement import verdicts
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
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.series import flow_series, link_series, mean_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.result import Result
    from selfclock.scenario import Scenario

    Runs = Mapping[str, Result]

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
    where = "section 4.1, figure 6"
    variant = f"lotka-volterra, {estimator.text}; {estimator.cards}; initial ssthresh 25000 segments"
    return [
        Claim(
            PAPER,
            "figure-6-throughput",
            where,
            says="it fully utilizes the physical bandwidth",
            printed="fully utilizes the physical bandwidth",
            measured=round(part, 4),
            verdict=verdicts.at_least(part, verdicts.FULL),
            note="Goodput from 5 s on, headers counted, over the link's rate. K and A are measured.",
            unit="of the link",
            criterion=f"our criterion: {verdicts.FULL:g} of the link or more; direction from 0.98",
            readings=(estimator.reading,),
            variant=variant,
            figure="figure-6a",
            scenarios=(name,),
        ),
        Claim(
            PAPER,
            "figure-6-window",
            where,
            says="the window is regulated to the bandwidth-delay product",
            printed="regulated to bandwidth-delay product (5 Gbit/s times 60 ms: 25000 packets)",
            measured=round(window),
            verdict=verdicts.within(window, BDP_PACKETS, verdicts.WINDOW_TOLERANCE),
            note="Mean from 5 s on.",
            unit="packets",
            criterion="our criterion: within 2 % of the product; direction within 4 %",
            readings=(estimator.reading,),
            variant=variant,
            figure="figure-6b",
            scenarios=(name,),
        ),
        Claim(
            PAPER,
            "figure-6-queue",
            where,
            says="it keeps the queue very small",
            printed="keeps the queue length of the bottleneck link very small",
            measured=f"{queue:.2%} of the buffer",
            verdict=verdicts.if_full(part, verdicts.at_most(queue, verdicts.SMALL_QUEUE)),
            note=f"Mean from 5 s on; {part:.1%} of the link are used.",
            criterion="our criterion: mean below 2 % of the buffer, on a link that is full (0.98); direction below 4 %",
            readings=(estimator.reading,),
            variant=variant,
            figure="figure-6c",
            scenarios=(name,),
        ),
        Claim(
            PAPER,
            "figure-6-loss",
            "section 5; figure 6",
            says="almost no packet is lost, alone",
            printed="almost no packet loss occurs",
            measured=drops(run),
            verdict=verdicts.if_full(part, verdicts.at_most(loss_rate(run), verdicts.ALMOST_NO_LOSS)),
            note=f"Initial ssthresh at the product, as in the thesis; {part:.1%} of the link are used.",
            unit="drops",
            criterion="our criterion: loss rate below 1e-4, on a link that is full (0.98); direction below 2e-4",
            readings=(estimator.reading,),
            variant=variant,
            figure="figure-6c",
            scenarios=(name,),
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
    shown = ", ".join(f"{queue:.0f}" for queue, _ in queues)
    drained, peaks = _drained(run, scale, empty)
    where = "section 4.1, figure 7"
    ran = f"{variant.text}; initial ssthresh 25000 segments"
    return [
        Claim(
            PAPER,
            "figure-7-throughput",
            where,
            says="good adaptability to the change in the available bandwidth",
            printed="quite a good adaptability to the change in the available bandwidth",
            measured=f"{worst:.1%}",
            verdict=verdicts.at_most(worst, verdicts.ADAPTED),
            note="The largest difference of any second from what is available, from 3 s after each change on.",
            criterion="our criterion: 5 % or less; direction up to 10 %",
            figure="figure-7a",
            readings=variant.readings,
            variant=ran,
            scenarios=(name,),
        ),
        Claim(
            PAPER,
            "figure-7-queue",
            "section 4.1, figure 7; equation 14",
            says="the queue is kept small: it settles at (1 - gamma) (K - A) tau",
            printed=f"{', '.join(f'{wanted:.0f}' for _, wanted in queues)} packets, from equation 14",
            measured=f"{shown} packets",
            verdict=verdicts.at_most(off, verdicts.QUEUE_TOLERANCE),
            note=f"Own packets at the end of each period, from the delay; the largest difference is {off:.0%}.",
            criterion="our criterion: every period within 20 % of equation 14; direction within 40 %",
            figure="figure-7c",
            readings=variant.readings,
            variant=ran,
            scenarios=(name,),
        ),
        Claim(
            PAPER,
            "figure-7-drained",
            where,
            says="when less becomes available the queue becomes large, but small again in a short time",
            printed="the queue length becomes large, but ... becomes small in a short time",
            measured=", ".join("never" if time is None else f"{time:.1f} s" for time in drained),
            verdict=verdicts.all_of(*(time is not None and time <= verdicts.ADAPTED_AFTER_S for time in drained)),
            note="Until the queueing delay of the connection stays within 1.5 times that of equation 14, after 70 and "
            f"after 85 s; the queue's peaks are {' and '.join(f'{peak:.0f}' for peak in peaks)} packets.",
            criterion="our criterion: 3 s or less after both changes; direction after one",
            figure="figure-7c",
            readings=variant.readings,
            variant=ran,
            scenarios=(name,),
        ),
        Claim(
            PAPER,
            "figure-7-loss",
            "section 5",
            says="almost no packet loss, beside UDP",
            printed="almost no packet loss occurs",
            measured=f"{loss_rate(run):.1e}",
            verdict=verdicts.if_full(used, verdicts.at_most(loss_rate(run), verdicts.ALMOST_NO_LOSS)),
            note=f"{drops(run)} drops at the bottleneck, UDP's among them; {used:.1%} of what is available are used.",
            criterion="our criterion: loss rate below 1e-4, and 0.98 of what is available used; direction below 2e-4",
            figure="figure-7c",
            readings=variant.readings,
            variant=ran,
            scenarios=(name,),
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
    return Claim(
        PAPER,
        "no-threshold",
        "section 4.1, of Reno",
        says="the mechanism needs no initial ssthresh that fits the path",
        printed=None,
        measured=round(worst, 4),
        verdict=verdicts.at_least(worst, verdicts.FULL),
        note=f"Without a threshold: {part:.4f} of the link alone and {other:.4f} of what is available beside UDP, from "
        f"5 to 20 s; {drops(alone)} and {drops(loaded)} drops. The thesis calls Reno lucky because of its threshold, "
        "and does not say how the mechanism does without.",
        unit="of what is available",
        of="own",
        criterion="0.99 or more in both; direction from 0.98",
        readings=(estimator.reading,),
        variant=f"lotka-volterra, {estimator.text}; buffer counted in packets; no initial ssthresh",
        figure="figure-6-no-threshold",
        scenarios=names,
    )

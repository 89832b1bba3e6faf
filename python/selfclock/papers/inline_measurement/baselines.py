"""Claims of the text on the other five mechanisms in figures 6 and 7."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock.papers.declared import Ran
from selfclock.papers.inline_measurement import ambiguities
from selfclock.papers.inline_measurement.behaviour import LUCK, SHORT_S, name_of
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.mechanisms import (
    BIC,
    BUFFERS,
    FAST,
    HIGHSPEED,
    ONE_WAY,
    PACKETS,
    RENO,
    SCALABLE,
    Buffer,
    Mechanism,
)
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    RATE_GBPS,
    RTT_MS,
    SECONDS,
    STARTED_S,
    drops,
    goodput_gbps,
    part_of_available,
    periods,
    worst_second,
)
from selfclock.series import flow_series, link_series, mean_between

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result

#: "Increase congestion window until the router buffer becomes fully utilized": as far as visible
#: with samples every 0.1 s.
FULL_BUFFER = 0.98


def findings(runs: Runs, scale: float = 1.0) -> list[Claim]:
    """Judge every statement of section 4.1 about the five."""
    claims = _alone(runs, scale)
    for buffer in (*BUFFERS, ONE_WAY):
        claims += _loaded(runs, buffer, scale)
    return claims


def _timeouts(run: Result) -> int:
    return int(run.summary["flows"][0]["timeouts"])


def _cuts(run: Result) -> int:
    return int(run.summary["flows"][0]["fast_retransmits"]) + _timeouts(run)


def _longest(run: Result, begin_s: float, end_s: float) -> float:
    """Longest queue between two times, in packets."""
    values = link_series(run).filter(pl.col("time_s").is_between(begin_s, end_s))["queue_packets"].to_list()
    return float(max(values, default=0))


def _alone(runs: Runs, scale: float) -> list[Claim]:
    begin, end = STARTED_S * scale, SECONDS * scale
    names = {mechanism.label: name_of(6, mechanism) for mechanism in (RENO, HIGHSPEED, SCALABLE, FAST, BIC)}

    def part(mechanism: Mechanism) -> float:
        return goodput_gbps(flow_series(runs[names[mechanism.label]]), begin, end) / RATE_GBPS

    def ran(*mechanisms: Mechanism, also: str = "") -> Ran:
        variants = "; ".join(mechanism.variant for mechanism in mechanisms)
        return Ran(f"{variants}; no coalescing{also}", tuple(names[mechanism.label] for mechanism in mechanisms))

    fast, bic = runs[names[FAST.label]], runs[names[BIC.label]]
    pair = [runs[names[mechanism.label]] for mechanism in (HIGHSPEED, SCALABLE)]
    peaks = [_longest(run, begin, end) / BDP_PACKETS for run in pair]
    cuts = [_cuts(run) for run in pair]
    peak = _longest(bic, begin, end) / BDP_PACKETS
    return [
        CLAIMS("figure-6-reno", ran(RENO, also="; initial ssthresh 25000 segments"), part=part(RENO)),
        *(_luck(runs, buffer, scale, low=low) for buffer, low in LUCK),
        CLAIMS(
            "figure-6-periodic-loss",
            ran(HIGHSPEED, SCALABLE),
            cuts=cuts,
            peaks=peaks,
            periodic=[cut >= 3 and top >= FULL_BUFFER for cut, top in zip(cuts, peaks, strict=True)],
        ),
        CLAIMS(
            "figure-6-slow-start",
            ran(HIGHSPEED, SCALABLE),
            timeouts=[_timeouts(run) for run in pair],
            drops=[drops(run) for run in pair],
        ),
        CLAIMS("figure-6-fast-throughput", ran(FAST), part=part(FAST)),
        CLAIMS(
            "figure-6-fast-window",
            ran(FAST),
            window=mean_between(flow_series(fast), "cwnd_bytes", begin, end) / 1460 / BDP_PACKETS,
        ),
        CLAIMS(
            "figure-6-bic",
            ran(BIC),
            part=part(BIC),
            peak=peak,
            drops=drops(bic),
            full=peak >= FULL_BUFFER and drops(bic) > 0,
        ),
    ]


def _luck(runs: Runs, buffer: Buffer, scale: float, *, low: bool) -> Claim:
    name = name_of(6, RENO, buffer=buffer, threshold=False, low=low)
    run = runs[name]
    without = goodput_gbps(flow_series(run), STARTED_S * scale, SHORT_S * scale) / RATE_GBPS
    threshold = "initial ssthresh 12500 segments" if low else "no initial ssthresh"
    return CLAIMS(
        "figure-6-reno-luck",
        Ran(
            f"{RENO.variant}; {buffer.text}; no coalescing; {threshold}",
            (name,),
            (ambiguities.HALF if low else ambiguities.NO_THRESHOLD, buffer.reading),
        ),
        part=without,
        drops=drops(run),
        product=buffer is PACKETS and not low,
        low=low,
        small=buffer is not PACKETS and not low,
    )


def _loaded(runs: Runs, buffer: Buffer, scale: float) -> list[Claim]:
    names = {
        mechanism.label: name_of(7, mechanism, buffer=buffer) for mechanism in (RENO, HIGHSPEED, SCALABLE, FAST, BIC)
    }
    of: dict[str, Result] = {label: runs[name] for label, name in names.items()}
    parts = {label: part_of_available(flow_series(run), scale) for label, run in of.items()}

    def ran(*mechanisms: Mechanism) -> Ran:
        variants = "; ".join(mechanism.variant for mechanism in mechanisms)
        scenarios = tuple(names[mechanism.label] for mechanism in mechanisms)
        return Ran(f"{variants}; {buffer.text}; no coalescing", scenarios, (buffer.reading,))

    timeouts = {label: _timeouts(run) for label, run in of.items()}
    pair = (HIGHSPEED.label, SCALABLE.label)
    begin, end = STARTED_S * scale, SECONDS * scale
    delay = (mean_between(flow_series(of[BIC.label]), "srtt_s", begin, end) - RTT_MS / 1e3) / (RTT_MS / 1e3)
    both = ran(HIGHSPEED, SCALABLE)
    return [
        CLAIMS("figure-7-reno-bad", ran(RENO), counts_packets=buffer is PACKETS, part=parts[RENO.label]),
        CLAIMS("figure-7-reno-recovery", ran(RENO), **_recovery(of[RENO.label], scale)),
        CLAIMS(
            "figure-7-slow-start",
            both,
            timeouts=[timeouts[label] for label in pair],
            drops=[drops(of[label]) for label in pair],
            reno=timeouts[RENO.label],
            bic=timeouts[BIC.label],
            fast=timeouts[FAST.label],
        ),
        CLAIMS(
            "figure-7-superior",
            replace(both, variant=f"{both.variant}; {RENO.variant}", scenarios=(*both.scenarios, names[RENO.label])),
            gains=[parts[label] / parts[RENO.label] - 1 for label in pair],
            parts=[parts[label] for label in pair],
            reno=parts[RENO.label],
        ),
        *_fast(of[FAST.label], ran(FAST), scale),
        CLAIMS("figure-7-bic", ran(BIC), part=parts[BIC.label], delay=delay, timeouts=timeouts[BIC.label]),
    ]


def _fast(run: Result, ran: Ran, scale: float) -> list[Claim]:
    """Judge FAST's throughput and queue as what is available changes."""
    settled = [_mean_queue(run, stop - 10 * scale, stop) for _, stop, _ in periods(scale)]
    less = periods(scale)[2:]
    peaks = [_longest(run, at, at + 5 * scale) for at, _, _ in less]
    jumps = [peak / max(before, 1.0) for peak, before in zip(peaks, settled[1:3], strict=True)]
    calm = [_longest(run, stop - 5 * scale, stop) <= peak / 2 for (_, stop, _), peak in zip(less, peaks, strict=True)]
    return [
        CLAIMS("figure-7-fast-throughput", ran, worst=worst_second(flow_series(run), scale)),
        # With 1, 2 and 3 Gbit/s of UDP.
        CLAIMS("figure-7-fast-queue", ran, queues=[settled[1], (settled[0] + settled[2]) / 2, settled[3]]),
        CLAIMS(
            "figure-7-fast-jump",
            ran,
            jumps=jumps,
            jump_70=jumps[0],
            jump_85=jumps[1],
            calm_70=calm[0],
            calm_85=calm[1],
        ),
    ]


def _mean_queue(run: Result, begin_s: float, end_s: float) -> float:
    return mean_between(link_series(run), "queue_packets", begin_s, end_s)


def _recovery(run: Result, scale: float) -> dict[str, Any]:
    """Measure the first cut: when, how long until the window is restored, and how fast it grows."""
    series = flow_series(run)
    windows = (series["cwnd_bytes"].cast(pl.Float64) / 1460).to_list()
    times = series["time_s"].to_list()
    cut = next((i for i in range(1, len(windows)) if windows[i] < 0.8 * windows[i - 1]), None)
    if cut is None:
        return {"cut": False, "told": "no cut", "needed": None}
    before = windows[cut - 1]
    lowest = min(range(cut, min(cut + 20, len(windows))), key=windows.__getitem__)
    again = next((i for i in range(lowest, len(windows)) if windows[i] >= before), None)
    later = min(lowest + 50, len(windows) - 1)
    needed = math.inf if again is None else (times[again] - times[cut]) / scale
    return {
        "cut": True,
        "cut_s": times[cut] / scale,
        # Segments per second.
        "slope": (windows[later] - windows[lowest]) / max(times[later] - times[lowest], 1e-9) * scale,
        "needed": needed,
        "told": "not within the run" if again is None else f"{needed:.0f} s",
    }

"""Difficult paths: aggregation, tiny BDP, changes of the rate, a policer, spurious losses."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.evaluate.network import BOTTLENECK, SEGMENT_B, Path
from selfclock.evaluate.suites.bbr_startup import PATH, milliseconds
from selfclock.evaluate.suites.suite import NotApplicableError, Test
from selfclock.scenario.link import Change
from selfclock.scenario.quantity import kbps, mbps, packets, s

if TYPE_CHECKING:
    import numpy as np

    from selfclock.evaluate.suites.bench import Bench, Trace
    from selfclock.evaluate.suites.suite import Checks
else:
    from selfclock.lazy import np

#: ACKs come every 20 ms, half a round trip: "a cellular link".
AGGREGATION_MS = 20
#: A path of less than one packet: 64 kbit/s and 40 ms are 320 B.
TINY, TINY_S = Path(0.064, 40), 120.0
SLOW, FAST, CHANGE_S = Path(10, 40), Path(100, 40), 10.0
#: More than 3 s before a ProbeRTT, which would end the short-term bounds.
DOWN_S = 6.5
POLICED_MBPS, BURST = 10, "100 kB"


def _aggregated(bench: Bench) -> Trace:
    # The sender's NIC hands over all ACKs of 20 ms at once.
    return bench.trace("aggregation", PATH, 10.0, PATH.buffer(5), coalescing=f"{AGGREGATION_MS} ms")


def _aggregation_startup(bench: Bench, checks: Checks) -> None:
    trace = _aggregated(bench)
    startup = trace.first("startup")
    end = startup.end if startup is not None and startup.then else 2.0
    if startup is not None:
        # The allowance of Startup is that of one round trip; what one batch brings is 20 ms of the
        # path.
        extra = float(trace.over("extra_acked_bytes", 0, end).max()) / (PATH.goodput_bps / 8 * AGGREGATION_MS / 1e3)
        checks.that(0.5 <= extra <= 2.5, f"extra_acked up to {extra:.2f} of what 20 ms bring")
        bdp = PATH.goodput_bps / 8 * PATH.rtt_s
        window = float(trace.over("cwnd_bytes", 0, end).max()) / bdp
        checks.that(window > 2, f"cwnd up to {window:.2f} BDP")
        found = trace.at("max_bw_bps", end) / PATH.goodput_bps
        checks.that(0.98 <= found <= 1.05, f"max_bw {found:.3f} of the bandwidth as Startup ends at {end:.2f} s")
    rate = trace.goodput_bps(end + 0.5, end + 2) / PATH.goodput_bps
    checks.that(rate > 0.95, f"{rate:.1%} of the path afterwards")


def _aggregation_cruise(bench: Bench, checks: Checks) -> None:
    trace = _aggregated(bench)
    cruises = [span for span in trace.all("probe cruise") if span.end - span.begin > 0.5]
    if not cruises:
        rate = trace.goodput_bps(3, 10) / PATH.goodput_bps
        checks.that(rate > 0.95, f"{rate:.1%} of the path from 3 s on")
        return
    cruise = cruises[0]
    middle = (cruise.begin + cruise.end) / 2
    extra, window = trace.at("extra_acked_bytes", middle), trace.at("cwnd_bytes", middle)
    bdp = trace.bdp_bytes(middle)
    checks.that(extra > 0, f"extra_acked {extra / SEGMENT_B:.0f} segments")
    # CRUISE has a window of 2 BDP and the allowance, unless inflight_longterm bounds it.
    bound = trace.at("inflight_longterm_bytes", middle)
    checks.that(
        window >= min(2 * bdp + extra, bound) * 0.98,
        f"cwnd {window / bdp:.2f} BDP, of which {extra / bdp:.2f} for aggregation",
    )
    rate = trace.goodput_bps(cruise.begin + 0.1, cruise.end) / PATH.goodput_bps
    checks.that(rate > 0.95, f"{rate:.1%} of the path in CRUISE")


def _tiny(bench: Bench, checks: Checks) -> None:
    trace = bench.trace("a BDP below one packet", TINY, TINY_S, packets(20), samples_s=0.02)
    begin = 0.0
    spans = [span for span in trace.spans if span.phase == "probe cruise"]
    if spans:
        begin = spans[0].begin
        checks.note(f"ProbeBW from {begin:.0f} s on")
        windows = trace.over("cwnd_bytes", begin, TINY_S) / SEGMENT_B
        checks.that(float(windows.min()) >= 4 - 1e-9, f"cwnd at least {windows.min():.1f} segments")
        pacing = float(np.mean(trace.over("pacing_bps", begin, TINY_S))) / 64e3
        # Gains of 0.9 to 1.25 less the margin, in a cycle that is mostly CRUISE.
        checks.that(0.9 <= pacing <= 1.1, f"paced at {pacing:.2f} of the rate on average")
    else:
        begin = TINY_S / 2
    rate = trace.goodput_bps(begin, TINY_S) / TINY.goodput_bps
    checks.that(rate > 0.95, f"{rate:.1%} of the path")


def _tenfold_up(bench: Bench, checks: Checks) -> None:
    rises = [Change(s(CHANGE_S), rate=mbps(FAST.rate_mbps))]
    trace = bench.trace("ten times the rate", SLOW, 25.0, packets(172), changes=rises)
    times = np.arange(CHANGE_S, 24.0, 0.05)
    rates = np.array([trace.goodput_bps(float(time), float(time) + 0.1) for time in times])
    there = np.flatnonzero(rates > 0.9 * FAST.goodput_bps)
    if not checks.that(
        len(there) > 0, "the tenfold rate" + (" is reached" if len(there) else " is not reached in 14 s")
    ):
        return
    reached = float(times[there[0]])
    probe = trace.first("probe up", CHANGE_S)
    since = CHANGE_S if probe is None or probe.begin > reached else probe.begin
    # O(log(BDP)): a probe grows by 1.25 a round trip, log 10 / log 1.25 = 10.3 of them, and may end
    # once before; twice that is allowed.
    rounds = trace.rounds(since, reached)
    most = 2 * math.log(10) / math.log(1.25)
    checks.that(
        rounds <= most, f"90 % of it {reached - CHANGE_S:.2f} s later, {rounds:.1f} round trips after probing begins"
    )


def _steps_double(bench: Bench, checks: Checks) -> None:
    """The same with a bound: inflight_longterm grows by steps that double."""
    _tenfold_up(bench, checks)
    steady = bench.trace("steady", PATH, 12.0, PATH.buffer(2))
    first = steady.first("probe up")
    if first is None:
        return
    begin = first.begin + 1.5 * PATH.rtt_s
    losses = bench.losses(20, begin, begin + PATH.rtt_s)
    bounded = bench.trace("a loss in UP", PATH, 12.0, PATH.buffer(2), routers=[losses])
    up = bounded.first("probe up", begin + 0.5)
    if up is None:
        raise NotApplicableError("it does not probe a second time")
    rises = [Change(s(up.begin - 0.02), rate=mbps(10 * PATH.rate_mbps))]
    trace = bench.trace("ten times the rate, bounded", PATH, 12.0, PATH.buffer(2), routers=[losses], changes=rises)
    stay = trace.first("probe up", up.begin - 0.05)
    if stay is None:
        raise NotApplicableError("it does not probe a second time")
    bound = trace.over("inflight_longterm_bytes", stay.begin, min(stay.end, stay.begin + 8 * PATH.rtt_s)) / SEGMENT_B
    by_round = bound[:: round(PATH.rtt_s / 0.001)]
    growth = np.diff(by_round)
    shown = ", ".join(f"{each:.0f}" for each in growth)
    grows = [each for each in growth if each > 0]
    # Steps of 1, 2, 4, ... segments; a sample in the middle of a round trip blurs each by its
    # neighbours.
    doubles = len(grows) >= 4 and all(1.5 <= b / a <= 2.7 for a, b in pairwise(grows[1:]))
    checks.that(doubles, f"with a bound, inflight_longterm grows by {shown} segments in the round trips of UP")


def _tenfold_down(bench: Bench, checks: Checks) -> None:
    falls = [Change(s(DOWN_S), rate=mbps(SLOW.rate_mbps))]
    trace = bench.trace("a tenth of the rate", FAST, 40.0, FAST.buffer(1), changes=falls)
    down = trace.flow("max_bw_bps") <= 1.02 * SLOW.goodput_bps
    later = trace.times > DOWN_S
    if not math.isnan(trace.at("max_bw_bps", DOWN_S)):
        short = trace.flow("bw_shortterm_bps") < 2 * SLOW.goodput_bps
        low = np.flatnonzero(short & later)
        # Beta is 0.7 a round trip with losses: log 5 / log (1 / 0.7) = 4.5 of them to a fifth, and
        # the one in progress.
        rounds = trace.rounds(DOWN_S, float(trace.times[low[0]])) if len(low) else math.inf
        text = f"{rounds:.1f} round trips later" if len(low) else "never"
        checks.that(rounds <= 6, f"bw_shortterm is below twice the new rate {text}")
        place = np.flatnonzero(down & later)
        if checks.that(len(place) > 0, "max_bw " + ("adapts" if len(place) else "never adapts")):
            time = float(trace.times[place[0]])
            cycles = sum(DOWN_S <= span.end <= time + 1e-3 for span in trace.all("probe up"))
            checks.that(cycles <= 3, f"{time - DOWN_S:.1f} s and {cycles} probes later")
    rate = trace.goodput_bps(DOWN_S + 12, 40) / SLOW.goodput_bps
    lost = trace.lost(DOWN_S + 12, 40)
    queue = float(np.mean(trace.link("queue_packets")[trace.times > DOWN_S + 12])) / (
        SLOW.goodput_bps / 8 * 0.04 / SEGMENT_B
    )
    checks.that(rate > 0.9 and lost < 0.02, f"from 12 s on {rate:.0%} of the path, {lost:.1%} lost")
    checks.note(f"queue {queue:.2f} BDP")


#: The mean queue a time after a fall of the rate, and the length of the average, s.
FALLS, FALL_S, AFTER_S, MEAN_S = (0.3, 0.2), 15.0, 45.0, 5.0
#: At a constant rate a flow keeps a quarter of a BDP at most; twice that is allowed, in BDP of the
#: new rate.
LEFT_BDP = 0.5


def _falls(bench: Bench, checks: Checks) -> None:
    end = FALL_S + AFTER_S + MEAN_S
    for part in FALLS:
        for limit in ("5 BDP", "no end"):
            falls = [Change(s(FALL_S), rate=mbps(PATH.rate_mbps * part))]
            queue = PATH.buffer(5) if limit == "5 BDP" else packets(1_000_000)
            trace = bench.trace("the rate falls", PATH, end, queue, changes=falls, samples_s=0.01)
            waiting = trace.link("queue_packets")[trace.times > FALL_S + AFTER_S]
            left = float(np.mean(waiting)) * SEGMENT_B / (part * PATH.goodput_bps / 8 * PATH.rtt_s)
            checks.that(left <= LEFT_BDP, f"to {part:g} before a queue of {limit}: {left:.2f} BDP")


def _policer(bench: Bench, checks: Checks) -> None:
    policer = {"mechanism": "policer", "links": [BOTTLENECK], "rate": f"{POLICED_MBPS} Mbps", "burst": BURST}
    trace = bench.trace("a policer", FAST, 40.0, FAST.buffer(1), routers=[policer], samples_s=0.004)
    rate = trace.goodput_bps(15, 40) / SLOW.goodput_bps
    lost = trace.lost(15, 40)
    checks.that(rate > 0.9, f"{rate:.1%} of the token rate from 15 s on")
    # "without excessive continuous packet loss": the threshold of the scorecard's row S3 to warn.
    checks.that(lost <= 0.05, f"{lost:.1%} lost")
    short = trace.flow("inflight_shortterm_bytes")
    if not bool(np.isnan(short).all()):
        bandwidth = trace.flow("bw_shortterm_bps")
        checks.that(
            bool(np.isfinite(short).any() and np.isfinite(bandwidth).any()),
            "inflight_shortterm and bw_shortterm are set" if np.isfinite(short).any() else "no short-term bound is set",
        )


def _unbounded(trace: Trace, checks: Checks, begin: float, end: float) -> None:
    """Verify that a bound set by a spurious loss lasts for two round trips at most."""
    for column in ("bw_shortterm_bps", "inflight_shortterm_bytes", "inflight_longterm_bytes"):
        bounds = trace.over(column, begin, end)
        if np.isnan(bounds).all():
            continue
        edges = np.flatnonzero(np.diff(np.concatenate(([False], np.isfinite(bounds), [False])).astype(int)))
        longest = float(max(edges[1::2] - edges[::2], default=0)) * 1e-3
        name = column.rsplit("_", 1)[0]
        checks.that(longest <= 2 * PATH.rtt_s, f"{name} bounded for {milliseconds(longest)} at most")


#: Timestamps show that a loss was spurious (Eifel, RFC 3522).
UNDO = {"undo": True}
#: Before the first ProbeRTT.
BEFORE_PROBE_RTT_S = 5.0


def _spurious_recovery(bench: Bench, checks: Checks) -> None:
    # More than RACK's reordering window can become, the RTT of 40 ms; and little enough that the
    # original arrives before its retransmission, without which timestamps tell nothing.
    late = {"mechanism": "reordering", "links": [BOTTLENECK], "probability": 0.01, "delay": "45 ms"}
    traces = [
        bench.trace("reordering", PATH, BEFORE_PROBE_RTT_S, PATH.buffer(5), routers=routers, transport=_undo(bench))
        for routers in ([late], [])
    ]
    resent = int(traces[0].result.summary["flows"][0]["fast_retransmits"])
    checks.that(resent > 0, f"{resent} fast retransmits")
    _unbounded(traces[0], checks, 1.0, BEFORE_PROBE_RTT_S)
    late_bps, in_order_bps = (trace.goodput_bps(1.0, BEFORE_PROBE_RTT_S) for trace in traces)
    checks.that(late_bps > 0.95 * in_order_bps, f"goodput {late_bps / in_order_bps:.0%} of that in order")


def _spurious_timeout(bench: Bench, checks: Checks) -> None:
    at, pause = 2.0, 0.6
    stops = [Change(s(at), rate=kbps(10)), Change(s(at + pause), rate=mbps(PATH.rate_mbps))]
    trace = bench.trace("the path pauses", PATH, 6.0, PATH.buffer(5), changes=stops, transport=_undo(bench))
    timeouts = int(trace.result.summary["flows"][0]["timeouts"])
    checks.that(timeouts > 0, f"{timeouts} timeouts in a pause of {milliseconds(pause)}")
    # A packet in transmission takes 1.2 s at 10 kbit/s.
    again = at + 1.3
    _unbounded(trace, checks, again, again + 1.0)
    was, now = trace.goodput_bps(at - 0.5, at), trace.goodput_bps(again + 0.2, again + 0.7)
    checks.that(now > 0.9 * was, f"goodput {now / was:.0%} of that before")


def _undo(bench: Bench) -> dict[str, object]:
    return {} if bench.subject.in_stack else dict(UNDO)


TESTS = (
    Test(
        "B12", "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
        "bulk on 50 Mbit/s, 40 ms; ACKs come every 20 ms; a queue of 5 BDP",
        "extra_acked is about what 20 ms bring, cwnd exceeds 2 BDP, and the bandwidth is found",
        _aggregation_startup, needs_phases=False,
    ),
    Test(
        "B13", "Achieving Expected Cruise Bandwidth on a Link With Aggregation", "as B12",
        "in CRUISE cwnd is increased by extra_acked, and at least 95 % of the path are used",
        _aggregation_cruise, needs_phases=False,
    ),
    Test(
        "B14", "Correctly Managing Sub-Packet BDPs", "bulk on 64 kbit/s, 40 ms, 320 B; a queue of 20 packets; 120 s",
        "cwnd at least 4 segments, pacing at the rate of the path, at least 95 % of it used",
        _tiny, needs_phases=False,
    ),
    Test(
        "B15", "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
        "10 Mbit/s, 40 ms, a queue of 172 packets; from 10 s on 100 Mbit/s; and 50 to 500 Mbit/s with a bound",
        "90 % of it within 20.6 round trips of probing, and inflight_longterm grows by steps that double",
        _steps_double, needs_phases=False,
    ),
    Test(
        "B16", "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
        "100 Mbit/s, 40 ms, a queue of 1 BDP; from 6.5 s on 10 Mbit/s",
        "bw_shortterm falls below twice the new rate in 6 round trips, max_bw within 2 cycles and the one in progress",
        _tenfold_down, needs_phases=False,
    ),
    Test(
        "B17", "Handling Token Bucket Policers", "bulk on 100 Mbit/s, 40 ms, with a policer of 10 Mbit/s and 100 kB",
        "the short-term bounds are set; at least 90 % of the token rate with at most 5 % lost",
        _policer, needs_phases=False,
    ),
    Test(
        "B18", "Handling Spurious Fast Recovery",
        "bulk on 50 Mbit/s, 40 ms; one packet in 100 is late by 45 ms; undo by timestamps",
        "a bound lasts for two round trips at most; at least 95 % of the goodput in order",
        _spurious_recovery, needs_phases=False,
    ),
    Test(
        "B19", "Handling Spurious RTO Recovery",
        "the same in order, with a path that pauses for 600 ms at 2 s",
        "a timeout; a bound lasts for two round trips at most, and the former goodput returns",
        _spurious_timeout, needs_phases=False,
    ),
    Test(
        "X1", "Not in the draft: the rate falls to a fifth",
        "bulk on 50 Mbit/s, 40 ms; at 15 s the rate falls to 0.3 and to 0.2; a queue of 5 BDP, and one without end",
        "from 45 s to 50 s after that the queue is at most 0.5 BDP of the new rate",
        _falls, needs_phases=False,
    ),
)  # fmt: skip

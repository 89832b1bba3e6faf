"""The phases of ProbeBW, and ProbeRTT."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from selfclock.evaluate.network import SEGMENT_B
from selfclock.evaluate.suites.bbr_startup import EVERY, PATH, PROBE_BW, SAMPLED, due, milliseconds, needs
from selfclock.evaluate.suites.bench import WIRE
from selfclock.evaluate.suites.suite import NotApplicableError, Test
from selfclock.scenario.link import Change
from selfclock.scenario.quantity import mbps, s

if TYPE_CHECKING:
    from selfclock.evaluate.suites.bench import Bench, Span, Trace
    from selfclock.evaluate.suites.suite import Checks

END_S = 12.0
#: A queue that holds the quarter of a BDP of a probe, so that nothing is lost.
QUEUE_BDP = 2.0
#: A sample is up to 1 ms before the ACK that ends a phase: 4 segments at 50 Mbit/s, and one that is
#: being sent.
SAMPLE_B = 5 * SEGMENT_B


def _steady(bench: Bench) -> Trace:
    return bench.trace("steady", PATH, END_S, PATH.buffer(QUEUE_BDP))


def _probes(trace: Trace) -> list[Span]:
    found = [span for span in trace.all("probe up") if span.then != "probe RTT"]
    if not found:
        raise NotApplicableError("it does not reach the phase probe up")
    return found


def _up_plateau(bench: Bench, checks: Checks) -> None:
    trace = _steady(bench)
    probes = _probes(trace)
    rounds = [trace.rounds(span.begin, span.end) for span in probes]
    checks.that(all(span.then == "probe down" for span in probes), f"{len(probes)} probes, each followed by DOWN")
    checks.that(
        all(3 - SAMPLED <= each <= 5 for each in rounds),
        f"after {min(rounds):.1f} to {max(rounds):.1f} round trips",
    )
    checks.that(trace.lost(0, END_S) == 0, "no loss")
    most = max(float(trace.over("in_flight_bytes", each.begin, each.end).max()) for each in probes)
    checks.note(f"at most {most / trace.bdp_bytes(END_S):.2f} BDP in flight")


def _up_loss_limited(bench: Bench, checks: Checks) -> None:
    up = needs(_steady(bench), "probe up")
    # The rate of the application is that of half the path, so that no queue is left.
    lossy_s = up.begin + 2 * PATH.rtt_s
    trace = bench.trace(
        "loss in UP, application-limited", PATH, END_S, PATH.buffer(QUEUE_BDP),
        steps=[(f"{up.begin:.6f} s", "30 Mbps")],
        routers=[bench.losses(EVERY, lossy_s, lossy_s + 1)],
    )  # fmt: skip
    stay = needs(trace, "probe up", up.begin)
    rounds = trace.rounds(lossy_s, stay.end)
    checks.that(
        stay.then in PROBE_BW and lossy_s < stay.end and rounds <= 3,
        f"UP, then {stay.then}, {rounds:.1f} round trips after the first loss",
    )
    bound = trace.at("inflight_longterm_bytes", stay.end + 1e-3)
    checks.note(
        "inflight_longterm stays unbounded (HandleInflightTooHigh sets it only without RS.is_app_limited)"
        if math.isinf(bound)
        else f"inflight_longterm {bound / trace.bdp_bytes(stay.end):.2f} BDP"
    )


def _down(trace: Trace) -> list[Span]:
    found = [span for span in trace.all("probe down") if span.then != "probe RTT"]
    if not found:
        raise NotApplicableError("it does not reach the phase probe down")
    return found


def _down_inflight(bench: Bench, checks: Checks) -> None:
    trace = _steady(bench)
    stays = _down(trace)
    checks.that(all(stay.then == "probe cruise" for stay in stays), f"{len(stays)} times, followed by {stays[0].then}")
    parts = [trace.at("in_flight_bytes", stay.end) / trace.bdp_bytes(stay.end) for stay in stays]
    slack = SAMPLE_B / trace.bdp_bytes(END_S)
    checks.that(max(parts) <= 1 + slack, f"with at most {max(parts):.2f} BDP in flight")
    middle = [(stay.begin + stay.end) / 2 for stay in stays if stay.end - stay.begin > 4e-3]
    gains = [trace.at("pacing_bps", time) / (trace.at("max_bw_bps", time) * WIRE) for time in middle]
    checks.that(
        bool(gains) and all(abs(gain - 0.9 * 0.99) < 0.01 for gain in gains),
        f"pacing at {gains[0] if gains else math.nan:.3f} of max_bw (0.90 less a margin of 1 %)",
    )


#: Seeds of the waits between probes, of which one leaves a DOWN of 3 s before the next ProbeRTT.
SEEDS = range(1, 9)


def _down_time(bench: Bench, checks: Checks) -> None:
    # Of 90 % of the rate, which the draft names, DOWN's 90 % less the pacing margin of 1 % leaves 1
    # % to empty the queue; of 80 % nothing.
    for part in (0.9, 0.8):
        stay, inflight = _uninterrupted(bench, part)
        lasted = stay.end - stay.begin
        text = (
            f"at {part:.0%} of the rate {stay.then or 'the end'} after {lasted:.2f} s with {inflight:.2f} BDP in flight"
        )
        checks.that(stay.then == "probe refill" and 2 <= lasted <= 3.2, text)


def _uninterrupted(bench: Bench, part: float) -> tuple[Span, float]:
    """Return a stay in DOWN, from the begin of which on the rate has fallen, and the flight at its end, in BDP.

    The wait is random, and ProbeRTT may come first: then another seed is tried.
    """
    found = None
    for seed in SEEDS:
        steady = bench.trace("steady", PATH, END_S, PATH.buffer(QUEUE_BDP), seed=seed)
        for down in _down(steady):
            probe = steady.first("probe RTT", down.begin)
            if down.begin < 1 or (probe is not None and probe.begin < down.begin + 2.2):
                continue
            falls = [Change(s(down.begin), rate=mbps(PATH.rate_mbps * part))]
            trace = bench.trace("the rate falls in DOWN", PATH, END_S + 4, PATH.buffer(5), changes=falls, seed=seed)
            stay = needs(trace, "probe down", down.begin - 1e-6)
            found = (stay, trace.at("in_flight_bytes", stay.end - 2e-3) / trace.bdp_bytes(stay.end))
            if stay.then != "probe RTT":
                return found
    if found is None:
        raise NotApplicableError("no DOWN is long enough before a ProbeRTT")
    return found


def _probe_rtt(bench: Bench, checks: Checks) -> None:
    trace = _steady(bench)
    probe = needs(trace, "probe RTT")
    due(trace, probe, checks)
    least = float(trace.over("in_flight_bytes", probe.begin, probe.end).min()) / trace.bdp_bytes(probe.end)
    checks.that(least <= 0.5 + SAMPLE_B / trace.bdp_bytes(probe.end), f"at least {least:.2f} BDP in flight")
    # 200 ms and a round trip, after the flight has fallen by a half, for at most two round trips.
    lasted = probe.end - probe.begin
    checks.that(0.2 <= lasted <= 0.2 + 3 * PATH.rtt_s, f"for {milliseconds(lasted)}")
    checks.that(probe.then.startswith("probe "), f"then {probe.then}")
    after = trace.goodput_bps(probe.end + 2 * PATH.rtt_s, probe.end + 2 * PATH.rtt_s + 0.5) / PATH.goodput_bps
    checks.that(after > 0.9, f"{after:.0%} of the path 80 ms later")


def _idle(bench: Bench, checks: Checks) -> None:
    begin, again = 4.0, 10.5
    trace = bench.trace(
        "idle over a ProbeRTT",
        PATH,
        15.0,
        PATH.buffer(QUEUE_BDP),
        steps=[(f"{begin} s", "off"), (f"{again} s", "bulk")],
    )
    needs(trace, "probe cruise")
    empty = float(trace.over("in_flight_bytes", begin + 0.2, again - 0.01).max())
    checks.that(empty == 0, f"no flight from {begin + 0.2:.1f} s to {again:g} s")
    probe = trace.first("probe RTT", begin)
    soon = probe is not None and probe.begin < again + 1
    checks.that(
        not soon, f"no ProbeRTT in the second after that, from {trace.at('max_bw_bps', again) / 1e6:.1f} Mbit/s on"
    )
    rate = trace.goodput_bps(again + 0.5, again + 1.5) / PATH.goodput_bps
    checks.that(rate > 0.9, f"{rate:.0%} of the path")


def _loss_in_up(bench: Bench, checks: Checks) -> None:
    first = needs(_steady(bench), "probe up")
    # A first loss sets inflight_longterm; the second comes in a later probe.
    begin = first.begin + 1.5 * PATH.rtt_s
    once = bench.losses(EVERY, begin, begin + PATH.rtt_s)
    bounded = bench.trace("a loss in UP", PATH, END_S, PATH.buffer(QUEUE_BDP), routers=[once])
    second = needs(bounded, "probe up", begin + 0.5)
    again = second.begin + 1.5 * PATH.rtt_s
    trace = bench.trace(
        "two losses in UP", PATH, END_S, PATH.buffer(QUEUE_BDP),
        routers=[once, bench.losses(EVERY, again, again + PATH.rtt_s)],
    )  # fmt: skip
    stay = needs(trace, "probe up", second.begin - 1e-3)
    bdp = trace.bdp_bytes(stay.begin)
    before, after = (trace.at("inflight_longterm_bytes", time) / bdp for time in (stay.end - 2e-3, stay.end + 1e-3))
    rounds = trace.rounds(again, stay.end)
    checks.that(math.isfinite(before), f"inflight_longterm {before:.2f} BDP")
    checks.that(stay.then == "probe down" and rounds <= 2, f"{stay.then} {rounds:.1f} round trips after the first loss")
    # max(RS.tx_in_flight, 0.7 of the target): no less than 0.7 BDP, and not more than was in
    # flight.
    most = float(trace.over("in_flight_bytes", stay.begin - 2 * PATH.rtt_s, stay.end).max()) / bdp
    checks.that(0.7 * 0.98 <= after <= most + 0.05, f"then inflight_longterm {after:.2f} BDP")


def _refill(bench: Bench, checks: Checks) -> None:
    refill = needs(_steady(bench), "probe refill")
    # Until the flight has been acknowledged and a round trip has passed.
    again = refill.begin + 3 * PATH.rtt_s
    trace = bench.trace(
        "pause in REFILL", PATH, END_S, PATH.buffer(QUEUE_BDP),
        steps=[(f"{refill.begin:.6f} s", "5 Mbps"), (f"{again:.6f} s", "bulk")],
    )  # fmt: skip
    stay = needs(trace, "probe refill", refill.begin - 1e-3)
    samples = trace.over("max_bw_bps", refill.begin - 0.01, stay.end)
    checks.that(
        float(samples.max() - samples.min()) <= 0.001 * float(samples.max()),
        f"max_bw from {samples.min() / 1e6:.2f} to {samples.max() / 1e6:.2f} Mbit/s",
    )
    checks.that(stay.then == "probe up", f"{stay.then} after {trace.rounds(stay.begin, stay.end):.1f} round trips")
    rate = trace.goodput_bps(again + 0.2, again + 1.2) / PATH.goodput_bps
    checks.that(rate > 0.9, f"{rate:.0%} of the path afterwards")


TESTS = (
    Test(
        "B5", "Exiting PROBE_UP on Bandwidth Plateau", "bulk on 50 Mbit/s, 40 ms; a queue of 2 BDP; 12 s",
        "every probe ends in DOWN after 3 to 5 round trips, without loss",
        _up_plateau,
    ),
    Test(
        "B6", "Exiting PROBE_UP on Loss When Application-Limited",
        "the same; at the first UP the application falls to 30 Mbit/s, and 80 ms later every 20th packet is lost",
        "DOWN within 3 round trips of the first loss",
        _up_loss_limited,
    ),
    Test(
        "B8", "Exiting PROBE_DOWN on Inflight", "as B5",
        "pacing at 0.90 of the bandwidth until the flight is at most the BDP, then CRUISE",
        _down_inflight,
    ),
    Test(
        "B9", "Exiting PROBE_DOWN After Max Time", "as B5; the rate falls as DOWN begins, to 90 % and to 80 %",
        "REFILL follows after the wait of 2 to 3 s",
        _down_time,
    ),
    Test(
        "B10", "Entering and Exiting PROBE_RTT", "as B5",
        "ProbeRTT 5 s after the smallest RTT, with half a BDP in flight for 200 ms and a round trip, then ProbeBW",
        _probe_rtt,
    ),
    Test(
        "B11", "Skipping PROBE_RTT Due to Application-Limited Sending",
        "as B5; the application pauses from 4 s to 10.5 s",
        "no ProbeRTT when it resumes, and at once the former rate",
        _idle,
    ),
    Test(
        "B21", "Handling Loss During PROBE_UP After inflight_longterm is Set",
        "as B5; in the first and in the second UP every 20th packet is lost for 40 ms",
        "DOWN within 2 round trips; inflight_longterm falls to the flight at the loss, at least 0.7 of the target",
        _loss_in_up,
    ),
    Test(
        "B22", "Handling Application-Limited Sending During PROBE_REFILL",
        "as B5; as REFILL begins the application falls to 5 Mbit/s, for 120 ms",
        "max_bw stays, UP follows, and the rate of the path is reached",
        _refill,
    ),
)  # fmt: skip

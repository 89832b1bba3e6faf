"""Startup and Drain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.evaluate.network import SEGMENT_B, Path
from selfclock.evaluate.suites.bench import WIRE
from selfclock.evaluate.suites.suite import NotApplicableError, Test
from selfclock.scenario.link import Change
from selfclock.scenario.quantity import mbps, s

if TYPE_CHECKING:
    from selfclock.evaluate.suites.bench import Bench, Span, Trace
    from selfclock.evaluate.suites.suite import Checks

#: The path of most tests, and a queue in which Startup loses nothing: its window is at most 2 BDP
#: and what ACKs bring in the round trip that ends it (draft, section 5.6.1).
PATH, DEEP_BDP, SHORT_S = Path(50, 40), 5.0, 4.0

#: Rates and round-trip times of the first test: "a variety of RTTs and bandwidths".
VARIETY = (Path(1, 100), PATH, Path(1000, 10))
#: "close (i.e., within 2%) to the simulated bandwidth".
CLOSE = 0.02
#: Three round trips without growth, the one in progress when the rate was reached, and the one
#: whose end shows the last.
PLATEAU_ROUNDS = (3, 5)
#: A phase begins and ends up to a sample, a fortieth of a round trip, before it is seen.
SAMPLED = 0.1

#: Phases that can follow Drain within one ACK, if there is nothing to drain: an application-limited
#: flow.
PROBE_BW = ("probe down", "probe cruise")

#: An application that offers a part of the path.
LIMITED_PATH, LIMITED_MBPS, LOSSY_FROM_S = Path(1000, 40), 50, 1.0
#: One in 20 packets is 5 %, more than BBR.LossThresh of 2 %, and 8 a round trip at 50 Mbit/s: more
#: than the 6 of StartupFullLossCnt.
EVERY = 20


def steady(bench: Bench, path: Path = PATH, seconds: float = SHORT_S) -> Trace:
    """A bulk transfer from its beginning, without loss."""
    return bench.trace(f"startup at {path.rate_mbps:g} Mbps", path, seconds, path.buffer(DEEP_BDP))


def needs(trace: Trace, phase: str, after_s: float = 0.0) -> Span:
    """Return the first stay in a phase; without one, the test says nothing about the algorithm."""
    found = trace.first(phase, after_s)
    if found is None:
        raise NotApplicableError(f"it does not reach the phase {phase}")
    return found


def milliseconds(seconds: float) -> str:
    """Write a time."""
    return f"{seconds * 1e3:.0f} ms"


def _plateau(bench: Bench, checks: Checks) -> None:
    for path in VARIETY:
        # 30 round trips at 1 Mbit/s; 2 s at the others.
        trace = steady(bench, path, max(2.0, 40 * path.rtt_s))
        startup = needs(trace, "startup")
        place = f"{path.rate_mbps:g} Mbit/s, {path.rtt_ms:g} ms:"
        if not checks.that(startup.then == "drain", f"{place} Startup is followed by {startup.then or 'nothing'}"):
            continue
        bandwidth = trace.at("max_bw_bps", startup.end) / path.goodput_bps
        checks.that(abs(bandwidth - 1) <= CLOSE, f"max_bw is {bandwidth:.3f} of the bandwidth")
        # From 80 % of the maximum on it cannot grow by 25 % any more.
        grown = trace.times[int((trace.flow("max_bw_bps") > 0.8 * trace.at("max_bw_bps", startup.end)).argmax())]
        rounds = trace.rounds(float(grown), startup.end)
        checks.that(
            PLATEAU_ROUNDS[0] - SAMPLED <= rounds <= PLATEAU_ROUNDS[1] and trace.lost(0, startup.end) == 0,
            f"{rounds:.1f} round trips after it last grew by 25 %",
        )


def _limited(bench: Bench, lossy: bool, seconds: float = 3.0) -> Trace:
    return bench.trace(
        "application-limited", LIMITED_PATH, seconds, LIMITED_PATH.buffer(1), rate=f"{LIMITED_MBPS} Mbps",
        write="10 kB", routers=[bench.losses(EVERY, LOSSY_FROM_S, seconds)] if lossy else [],
    )  # fmt: skip


def _loss(bench: Bench, checks: Checks) -> None:
    trace = _limited(bench, True)
    startup = needs(trace, "startup")
    over = startup.then in ("drain", *PROBE_BW)
    if not checks.that(over, f"Startup, Drain, {startup.then}" if over else f"Startup, {startup.then or 'to the end'}"):
        return
    rounds = trace.rounds(LOSSY_FROM_S, startup.end)
    checks.that(startup.end > LOSSY_FROM_S, f"it ends at {startup.end:.3f} s")
    # The round trip in progress, the first whole one with losses, and the ACK that ends it.
    checks.that(rounds <= 3, f"{rounds:.1f} round trips after the first loss")


def _never(bench: Bench, checks: Checks) -> None:
    trace = _limited(bench, False, 20.0)
    stays = {span.phase for span in trace.spans if span.begin > 0.1}
    checks.that(stays <= {"startup", "probe RTT"}, f"Startup for 20 s; phases: {', '.join(sorted(stays))}")
    bulk = bench.trace("steady", PATH, 12.0, PATH.buffer(2))
    up = needs(bulk, "probe up")
    paused = bench.trace(
        "application-limited in UP", PATH, 12.0, PATH.buffer(2), steps=[(f"{up.begin:.6f} s", "10 Mbps")]
    )
    stay = needs(paused, "probe up", up.begin)
    checks.that(
        stay.then in ("", "probe RTT"),
        f"UP at 10 Mbit/s from {stay.begin:.2f} s until {f'{stay.then}, {stay.end:.2f} s' if stay.then else 'the end'}",
    )


def _drain_gain(checks: Checks, trace: Trace, drain: Span) -> None:
    """Verify that pacing is half of the bandwidth, less the draft's margin of 1 %."""
    gain = trace.at("pacing_bps", drain.end - 2e-3) / (trace.at("max_bw_bps", drain.end - 2e-3) * WIRE)
    checks.that(abs(gain - 0.5 * 0.99) < 0.01, f"pacing at {gain:.3f} of max_bw (0.5 less a margin of 1 %)")


def _drain_by_inflight(bench: Bench, checks: Checks) -> None:
    trace = steady(bench)
    drain = needs(trace, "drain")
    _drain_gain(checks, trace, drain)
    # A sample is at most 1 ms, 4 segments, before the ACK that ends Drain.
    bdp, inflight = trace.bdp_bytes(drain.end), trace.at("in_flight_bytes", drain.end)
    before = trace.over("in_flight_bytes", drain.begin, drain.end - 2e-3)
    checks.that(
        inflight <= bdp + 4 * SEGMENT_B and bool((before > bdp - 4 * SEGMENT_B).all()),
        f"after {milliseconds(drain.end - drain.begin)} it ends with {inflight / bdp:.2f} BDP in flight",
    )
    checks.that(drain.then in PROBE_BW, f"then {drain.then}")


def _drain_by_time(bench: Bench, checks: Checks) -> None:
    drain = needs(steady(bench), "drain")
    # With 90 % of the rate, which the draft names, Drain's 50 % still empties the queue; with 45 %
    # the flight cannot fall.
    for part in (0.9, 0.45):
        falls = [Change(s(drain.begin), rate=mbps(PATH.rate_mbps * part))]
        trace = bench.trace("the rate falls in Drain", PATH, SHORT_S, PATH.buffer(DEEP_BDP), changes=falls)
        stay = needs(trace, "drain")
        inflight, bdp = trace.at("in_flight_bytes", stay.end - 2e-3), trace.bdp_bytes(stay.end)
        rounds = trace.rounds(stay.begin, stay.end)
        text = f"at {part:.0%} of the rate {stay.then} after {rounds:.1f} round trips with {inflight / bdp:.2f} BDP"
        if part == 0.9:
            checks.that(stay.then in PROBE_BW and rounds <= 4, text)
        else:
            checks.that(stay.then in PROBE_BW and 3 - SAMPLED <= rounds <= 5 and inflight > bdp, text)


def due(trace: Trace, probe: Span, checks: Checks) -> None:
    """Verify that a ProbeRTT comes 5 s after the smallest RTT was last measured."""
    smallest = trace.over("min_rtt_s", 0, probe.begin - 2e-3)
    measured = float(trace.times[int((smallest <= smallest[-1]).argmax())])
    # The next ACK after 5 s, which is at most a round trip later.
    waited = probe.begin - measured
    checks.that(5 - 2e-3 <= waited <= 5.1, f"ProbeRTT {waited:.2f} s after the smallest RTT, at {probe.begin:.2f} s")


def _probe_rtt_in_startup(bench: Bench, checks: Checks) -> None:
    trace = _limited(bench, False, 20.0)
    probe = needs(trace, "probe RTT")
    due(trace, probe, checks)
    checks.that(probe.then == "startup", f"for {milliseconds(probe.end - probe.begin)}, then {probe.then}")


TESTS = (
    Test(
        "B1", "Exiting STARTUP on Bandwidth Plateau",
        "bulk on 1 Mbit/s, 100 ms; 50 Mbit/s, 40 ms; 1 Gbit/s, 10 ms; a queue of 5 BDP",
        "Drain follows within 3 to 5 round trips of the last growth by 25 %, without loss, and max_bw is within 2 % "
        "of the bandwidth",
        _plateau,
    ),
    Test(
        "B2", "Exiting STARTUP on Loss When Application-Limited",
        "1 Gbit/s, 40 ms; the application writes 10 kB at a time, 50 Mbit/s; from 1 s on every 20th packet is lost",
        "Startup until the loss, and Drain within 3 round trips of it",
        _loss,
    ),
    Test(
        "B3", "Exiting DRAIN Based on Inflight", "bulk on 50 Mbit/s, 40 ms; a queue of 5 BDP",
        "pacing at half of the bandwidth until the flight is at most the BDP, then ProbeBW",
        _drain_by_inflight,
    ),
    Test(
        "B4", "Exiting DRAIN Based on Time", "the same; the rate falls as Drain begins, to 90 % and to 45 %",
        "ProbeBW after 3 round trips although more than a BDP is in flight",
        _drain_by_time,
    ),
    Test(
        "B7", "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
        "as B2 without loss, for 20 s; and on 50 Mbit/s an application that falls to 10 Mbit/s in UP",
        "no phase but Startup and ProbeRTT; UP until ProbeRTT",
        _never,
    ),
    Test(
        "B20", "Entering and Exiting PROBE_RTT During STARTUP", "as B2 without loss, for 20 s",
        "ProbeRTT 5 s after the smallest RTT, and then Startup again",
        _probe_rtt_in_startup,
    ),
)  # fmt: skip

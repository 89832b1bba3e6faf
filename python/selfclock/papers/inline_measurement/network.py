"""The thesis's network: hosts whose NICs coalesce interrupts, one bottleneck, and UDP that enters at the router."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from selfclock.papers.agents import SACK
from selfclock.papers.inline_measurement.marks import ADAPTED_AFTER_S
from selfclock.scenario.build import Path
from selfclock.scenario.flow import Background, Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import gbps, ms, packets, s, segments
from selfclock.scenario.transport import Record
from selfclock.series import goodput_bps

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.scenario.link import Change, Router

#: Section 3.1. The receiver's access link is not stated; ours equals the sender's.
RATE_GBPS, ACCESS_GBPS, RTT_MS = 5.0, 10.0, 60.0
PACKET_B = 1500
#: The link back.
REVERSE = "bottleneck-reverse"
#: 5 Gbit/s times 60 ms in packets of 1500 B: the buffer, and the window that fills the link.
BDP_PACKETS = 25_000

#: Absolute timer of the network cards. The thesis gives no value; this one is in the range of
#: Intel's defaults.
COALESCING = "100 us"

#: Two coalescing cards: a full timer at the sender, where ACKs arrive closely spaced, and on
#: average half a timer at the receiver.
COALESCED_RTT_S = RTT_MS / 1e3 + 1.5 * 100e-6
#: With the sender's card alone.
SENDER_COALESCED_RTT_S = RTT_MS / 1e3 + 100e-6

EPSILON, GAMMA = 1.95, 0.9

#: Available bandwidth of figure 7: (start in s, rate in Gbit/s).
FIGURE_7 = ((0.0, 3.0), (30.0, 4.0), (70.0, 3.0), (85.0, 2.0))

#: Length of the runs of figures 6 to 11; "after start-up".
SECONDS, STARTED_S = 100.0, 5.0


def sender(
    control: str | Mapping[str, object],
    rtt_ms: float = RTT_MS,
    start_s: float = 0.0,
    transport: Mapping[str, object] | None = None,
) -> Flow:
    """Return a TCP connection with its own access links to the bottleneck."""
    return Flow(control, rtt=ms(rtt_ms), start=s(start_s), transport=transport)


#: Rates as (start in s, rate in Gbit/s).
Rates = Sequence[tuple[float, float]]


def udp_at(rates: Rates, arrivals: Literal["constant", "poisson"] = "constant", packet: str = "imix") -> Background:
    """Return UDP cross traffic that enters and leaves at the routers, so no access link delays or drops it.

    Packet sizes follow the simple IMIX (40, 576 and 1500 B as 7 : 4 : 1), unless `size` is given.
    """
    (_, first), *later = rates
    return Background(
        gbps(max(first, 1e-6)),
        steps=[(s(time), gbps(rate)) for time, rate in later],
        packet=packet,
        arrivals=arrivals,
        name="udp",
        between=("left", "right"),
    )


def background(available: Rates, rate_gbps: float = RATE_GBPS) -> Background:
    """Return the UDP traffic that leaves this much of the bottleneck available."""
    return udp_at([(time, rate_gbps - free) for time, free in available])


def scenario(
    name: str,
    flows: Sequence[Flow],
    *,
    seconds: float,
    rate_gbps: float = RATE_GBPS,
    udp: Background | None = None,
    buffer: str | None = None,
    ssthresh: int | None = None,
    coalescing: str = COALESCING,
    receiver_coalescing: str | None = None,
    transport: Mapping[str, object] | None = None,
    samples_s: float = 0.1,
    seed: int = 1,
    profile: str = "modern",
    changes: Sequence[Change] = (),
    routers: Sequence[Router] = (),
) -> Scenario:
    """Build the network. The bottleneck has 20 ms of the round-trip time; the access links have the rest.

    The receiver's card collects like the sender's unless `receiver_coalescing` says otherwise.
    Without `buffer`, the limit counts packets of any size: as many as full segments fit in the BDP.
    """
    bottleneck = Link(
        gbps(rate_gbps),
        ms(20),
        queue=buffer or packets(round(BDP_PACKETS * rate_gbps / RATE_GBPS)),
        changes=changes or None,
    )
    access = Link(gbps(rate_gbps * ACCESS_GBPS / RATE_GBPS), coalescing=coalescing)
    sink = None if receiver_coalescing is None else replace(access, coalescing=receiver_coalescing)
    path = Path(bottleneck, reverse=replace(bottleneck, name=REVERSE), access=access, sink_access=sink)
    settings = {**SACK, **({} if ssthresh is None else {"initial_ssthresh": segments(ssthresh)}), **(transport or {})}
    return path.scenario(
        [*flows, *([udp] if udp else [])],
        duration=s(seconds),
        name=name,
        seed=seed,
        profile=profile,
        routers=routers,
        transport=settings,
        record=Record(s(samples_s)),
    )


def periods(scale: float = 1.0) -> list[tuple[float, float, float]]:
    """Start, end and available bandwidth of each period of figure 7."""
    ends = [begin for begin, _ in FIGURE_7[1:]] + [SECONDS]
    return [(begin * scale, end * scale, free) for (begin, free), end in zip(FIGURE_7, ends, strict=True)]


def limit_packets(
    available: float, capacity: float = RATE_GBPS, gamma: float = GAMMA, rtt_s: float = RTT_MS / 1e3
) -> float:
    """Equation 14, in packets."""
    return ((1 - gamma) * capacity + gamma * available) * 1e9 * rtt_s / (8 * PACKET_B)


def drops(result: Result) -> int:
    """Packets dropped at the bottleneck, including UDP."""
    return next(link["drops"] for link in result.summary["links"] if link["name"] == "bottleneck")


def loss_rate(result: Result) -> float:
    """Drops divided by the packets that reached the bottleneck."""
    link = next(link for link in result.summary["links"] if link["name"] == "bottleneck")
    return link["drops"] / max(1, link["drops"] + link["packets"])


def goodput_gbps(series: pl.DataFrame, begin_s: float, end_s: float) -> float:
    """Return the acknowledged data rate between two times, with headers."""
    return goodput_bps(series, begin_s, end_s) / 1e9 * PACKET_B / 1460


def part_of_available(series: pl.DataFrame, scale: float) -> float:
    """Return the goodput of figure 7 as a fraction of the available bandwidth, after start-up."""
    spans = [(max(begin, STARTED_S * scale), end, free) for begin, end, free in periods(scale)]
    sent = sum(goodput_gbps(series, begin, end) * (end - begin) for begin, end, _ in spans)
    return sent / sum(free * (end - begin) for begin, end, free in spans)


def worst_second(series: pl.DataFrame, scale: float) -> float:
    """Return the largest difference of a second's goodput from the available bandwidth, 3 s or more after a change."""
    worst = 0.0
    for begin, end, free in periods(scale):
        start = begin + ADAPTED_AFTER_S * scale
        while start + scale <= end + 1e-9:
            worst = max(worst, abs(goodput_gbps(series, start, start + scale) / free - 1))
            start += scale
    return worst

"""The thesis's network: hosts whose cards coalesce interrupts, one bottleneck, and UDP that enters at the router."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.inline_measurement.verdicts import ADAPTED_AFTER_S
from selfclock.scenario import Scenario
from selfclock.scenario.toml import to_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result

#: Section 3.1. The receiver's access link is not stated: as the sender's.
RATE_GBPS, ACCESS_GBPS, RTT_MS = 5.0, 10.0, 60.0
PACKET_B = 1500
#: 5 Gbit/s times 60 ms in packets of 1500 B: the buffer, and the window that fills the link.
BDP_PACKETS = 25_000

#: Absolute timer of the network cards. The thesis gives none; this is within what Intel's cards have by default.
COALESCING = "100 us"

#: Two coalescing cards: one whole timer at the sender, where acknowledgements come close together, and half of one at
#: the
#: receiver on average.
COALESCED_RTT_S = RTT_MS / 1e3 + 1.5 * 100e-6

EPSILON, GAMMA = 1.95, 0.9

#: What the thesis's ns-2 agents have by default, in the terms of a scenario: TCP/Sack1 with a sink that acknowledges
#: every segment.
SACK: dict[str, object] = {
    "recovery": "sack",
    "prr": False,
    "mss": "1460 B",
    "timestamps": False,
    "delayed_ack": "off",
    "initial_window": "2 segments",
    "byte_counting": False,
    "timer": {"minimum": "200 ms", "initial": "3 s", "granularity": "10 ms"},
}

#: Available bandwidth of figure 7, Gbit/s, from a time on, s.
FIGURE_7 = ((0.0, 3.0), (30.0, 4.0), (70.0, 3.0), (85.0, 2.0))

#: Length of the runs of figures 6 to 11; "after start-up".
SECONDS, STARTED_S = 100.0, 5.0


@dataclass(frozen=True)
class Flow:
    """A TCP connection with a path of its own to the bottleneck."""

    control: str | Mapping[str, object]
    rtt_ms: float = RTT_MS
    start_s: float = 0.0
    transport: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Background:
    """UDP on the bottleneck: rates, Gbit/s, each from a time on, s."""

    rates: tuple[tuple[float, float], ...]
    arrivals: str = "constant"
    #: Sizes: the simple IMIX (40, 576 and 1500 B as 7 : 4 : 1), or one size.
    packet: str = "imix"


def background(available: Sequence[tuple[float, float]], rate_gbps: float = RATE_GBPS) -> Background:
    """Return what leaves so much of the bottleneck."""
    return Background(tuple((time, rate_gbps - free) for time, free in available))


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
    transport: Mapping[str, object] | None = None,
    samples_s: float = 0.1,
    seed: int = 1,
    profile: str = "modern",
    changes: Sequence[Mapping[str, object]] = (),
    routers: Sequence[Mapping[str, object]] = (),
) -> Scenario:
    """Build the network. The bottleneck has 20 ms; what is left of a round-trip time is on the access links.

    UDP enters and leaves at the routers: on an access link of its own it would meet nothing. Without `buffer` it holds
    as many packets, of whatever size, as full segments fit in the product.
    """
    access = f"{rate_gbps * ACCESS_GBPS / RATE_GBPS:g} Gbps"
    nodes = ["left", "right"]
    links: list[dict[str, object]] = [
        {
            "from": "left",
            "to": "right",
            "name": "bottleneck",
            "rate": f"{rate_gbps:g} Gbps",
            "delay": "20 ms",
            "queue": buffer or f"{round(BDP_PACKETS * rate_gbps / RATE_GBPS)} packets",
        },
    ]
    if changes:
        links[0]["changes"] = [dict(change) for change in changes]
    senders: list[dict[str, object]] = []
    for number, flow in enumerate(flows, 1):
        delay = f"{(flow.rtt_ms / 2 - 20) / 2:g} ms"
        source, sink = f"source{number}", f"sink{number}"
        nodes += [source, sink]
        links += [
            {"from": a, "to": b, "rate": access, "delay": delay, "queue": "unlimited", "coalescing": coalescing}
            for a, b in ((source, "left"), ("right", sink))
        ]
        sender: dict[str, object] = {
            "name": f"flow{number}",
            "from": source,
            "to": sink,
            "congestion_control": flow.control if isinstance(flow.control, str) else dict(flow.control),
            "start": f"{flow.start_s:g} s",
        }
        senders.append({**sender, "transport": dict(flow.transport)} if flow.transport else sender)
    if udp is not None:
        senders.append(_udp(udp))
    document = {
        "schema": 1,
        "name": name,
        "duration": f"{seconds:g} s",
        "seed": seed,
        "profile": profile,
        "network": {"topology": "graph", "nodes": nodes, "link": links},
        **({"router": [dict(router) for router in routers]} if routers else {}),
        "transport": {
            **SACK,
            **({} if ssthresh is None else {"initial_ssthresh": f"{ssthresh} segments"}),
            **(transport or {}),
        },
        "record": {"interval": f"{samples_s:g} s"},
        "flow": senders,
    }
    return Scenario.parse(to_toml(document), name)


def _udp(udp: Background) -> dict[str, object]:
    (_, first), *later = udp.rates
    traffic: dict[str, object] = {"rate": _mbps(max(first, 1e-6)), "packet": udp.packet, "arrivals": udp.arrivals}
    if later:
        traffic["steps"] = [{"at": f"{time:g} s", "rate": _mbps(rate)} for time, rate in later]
    return {"name": "udp", "from": "left", "to": "right", "protocol": "udp", "traffic": traffic}


def _mbps(gbps: float) -> str:
    return f"{gbps * 1000:.6f} Mbps"


def flow_series(result: Result, name: str = "flow1") -> pl.DataFrame:
    """Return the samples of one flow."""
    return pl.DataFrame(result.flows).filter(pl.col("flow").cast(pl.String) == name)


def link_series(result: Result, name: str = "bottleneck") -> pl.DataFrame:
    """Return the samples of one link."""
    return pl.DataFrame(result.links).filter(pl.col("link").cast(pl.String) == name)


def periods(scale: float = 1.0) -> list[tuple[float, float, float]]:
    """Begin, end and available bandwidth of the periods of figure 7."""
    ends = [begin for begin, _ in FIGURE_7[1:]] + [SECONDS]
    return [(begin * scale, end * scale, free) for (begin, free), end in zip(FIGURE_7, ends, strict=True)]


def limit_packets(
    available: float, capacity: float = RATE_GBPS, gamma: float = GAMMA, rtt_s: float = RTT_MS / 1e3
) -> float:
    """Equation 14, in packets."""
    return ((1 - gamma) * capacity + gamma * available) * 1e9 * rtt_s / (8 * PACKET_B)


def drops(result: Result) -> int:
    """Packets dropped at the bottleneck, UDP's too."""
    return next(link["drops"] for link in result.summary["links"] if link["name"] == "bottleneck")


def loss_rate(result: Result) -> float:
    """Drops over packets that came to the bottleneck."""
    link = next(link for link in result.summary["links"] if link["name"] == "bottleneck")
    return link["drops"] / max(1, link["drops"] + link["packets"])


def mean_between(series: pl.DataFrame, column: str, begin_s: float, end_s: float) -> float:
    """Return the mean of a column between two times; 0 if there is no sample."""
    values = series.filter(pl.col("time_s").is_between(begin_s, end_s))[column].cast(pl.Float64).to_list()
    return sum(values) / len(values) if values else 0.0


def goodput_gbps(series: pl.DataFrame, begin_s: float, end_s: float) -> float:
    """Return what was acknowledged per second between two times, headers counted."""
    frame = series.filter(pl.col("time_s").is_between(begin_s - 1e-9, end_s + 1e-9))
    span = float(frame["time_s"][-1] - frame["time_s"][0])
    payload = float(frame["acknowledged_bytes"][-1] - frame["acknowledged_bytes"][0])
    return payload * 8 / span / 1e9 * PACKET_B / 1460


def part_of_available(series: pl.DataFrame, scale: float) -> float:
    """Return the goodput of figure 7 over what is available, after start-up."""
    spans = [(max(begin, STARTED_S * scale), end, free) for begin, end, free in periods(scale)]
    sent = sum(goodput_gbps(series, begin, end) * (end - begin) for begin, end, _ in spans)
    return sent / sum(free * (end - begin) for begin, end, free in spans)


def worst_second(series: pl.DataFrame, scale: float) -> float:
    """Return the largest difference of a second's goodput from what is available, from 3 s after each change on."""
    worst = 0.0
    for begin, end, free in periods(scale):
        start = begin + ADAPTED_AFTER_S * scale
        while start + scale <= end + 1e-9:
            worst = max(worst, abs(goodput_gbps(series, start, start + scale) / free - 1))
            start += scale
    return worst

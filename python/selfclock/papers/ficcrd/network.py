"""The paper's network, with or without its mechanism, and the results of its flows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from selfclock.scenario.build import Graph
from selfclock.scenario.flow import Background, Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, s
from selfclock.scenario.quantity import packets as places
from selfclock.scenario.transport import Record
from selfclock.series import between, goodputs_bps, link_series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from selfclock.result import Result
    from selfclock.scenario import Scenario

FLOWS = 10
RATE_MBPS = 10.0
BUFFER_PACKETS, TARGET_PACKETS = 200, 100

#: Section 3.1; figure 3 is of the last 150 s.
SECONDS = 200.0
MEASURED_S = (50.0, 200.0)

#: Section 3.1: Reno, packets of 4 KB, a window of 128 KB, a clock of 0.3 s. The rest is ns-2's of
#: 2001 (the paper's references end in 2002): limited transmit, a new recovery only after the last
#: is over, whole segments.
TRANSPORT: dict[str, object] = {
    "mss": "4096 B",
    "receive_window": "32 segments",
    "initial_ssthresh": "32 segments",
    "initial_window": "2 segments",
    "recovery": "reno",
    "limited_transmit": True,
    "handshake": True,
    "delayed_ack": "off",
    "timer": {"granularity": "300 ms", "minimum": "200 ms", "initial": "3 s", "maximum": "60 s"},
}

#: ns-2 halves the window, not the flight.
RENO: dict[str, object] = {"window": "reno", "halved": "window"}

#: The mechanism as the paper describes it, by each of its two kinds of feedback.
WINDOW: dict[str, object] = {"mechanism": "ficcrd", "nodes": ["10", "11", "12", "13"]}
ACK_BUCKET: dict[str, object] = {**WINDOW, "feedback": "ack-bucket"}

#: The bottleneck, and the queues of other routers, which never fill.
BOTTLENECK = "11-12"


def scenario(
    name: str,
    router: Mapping[str, object] | None = None,
    *,
    topology: str = "figure-2",
    flows: int = FLOWS,
    seconds: float = SECONDS,
    seed: int = 1,
    send_delay_ms: float = 0.0,
    apart_s: float = 0.0,
    samples_s: float = 0.1,
    flow_keys: Mapping[int, Mapping[str, Any] | Background] | None = None,
    transport: Mapping[str, object] | None = None,
    more_routers: Sequence[Mapping[str, object]] = (),
    edge_queue: str = "unlimited",
    packets: bool = False,
    rate_mbps: float = RATE_MBPS,
    bottleneck_mbps: float | None = None,
    buffer_packets: int = BUFFER_PACKETS,
) -> Scenario:
    """Build the network.

    Topology "figure-2": our interpretation of the lost figure; flow 0 takes 10, 11, 12, 13 with 10
    ms on each of its own links (120 ms both ways), the others are attached to 11 and 12 with 2 ms
    (48 ms). Topology "a", of the runs with ns-2: every flow is attached to 11 and 12, flow 0 with
    10 ms (80 ms). Topology "b": every flow passes 10 and 13, which are 2 ms away, flow 0 as there.
    `send_delay_ms`: each packet of a source is delayed by a random time below this, as ns-2's
    overhead_ does, without reordering. `bottleneck_mbps`: another rate of the link 11-12 only.
    `flow_keys`: further settings of a flow, by number, or UDP in its place.
    """
    links = _trunk(topology, rate_mbps, bottleneck_mbps or rate_mbps, buffer_packets, edge_queue)
    nodes = ["10", "11", "12", "13"]
    senders: list[Flow | Background] = []
    for number in range(flows):
        ends = f"s{number}", f"d{number}"
        nodes += ends
        links += _access(topology, number, ends, rate_mbps, send_delay_ms)
        own = (flow_keys or {}).get(number, {})
        usual_keys = {"congestion_control": RENO, "start": s(number * apart_s)}
        sender = own if isinstance(own, Background) else Flow(**{**usual_keys, **own})
        senders.append(replace(sender, name=f"flow{number}", between=ends))
    return Graph(links, nodes).scenario(
        senders,
        duration=s(seconds),
        name=name,
        seed=seed,
        profile="classic",
        routers=[*([router] if router else []), *more_routers],
        transport={**TRANSPORT, **(transport or {})},
        record=Record(s(samples_s), packets),
    )


def _trunk(topology: str, rate_mbps: float, bottleneck_mbps: float, buffer_packets: int, edge_queue: str) -> list[Link]:
    """Return the links of the four routers."""
    rate, delay = mbps(rate_mbps), ms(10 if topology == "figure-2" else 2)
    return [
        Link(mbps(bottleneck_mbps), "20 ms", queue=places(buffer_packets), between=("11", "12")),
        Link(rate, delay, queue=edge_queue, between=("10", "11")),
        Link(rate, delay, queue="unlimited", between=("12", "13")),
    ]


def _access(topology: str, number: int, ends: tuple[str, str], rate_mbps: float, send_delay_ms: float) -> list[Link]:
    """Return the links of a flow's source and destination."""
    far = number == 0
    outside = topology == "b" or (topology == "figure-2" and far)
    near, beyond = ("10", "13") if outside else ("11", "12")
    usual = Link(mbps(rate_mbps), ms(10 if far else 2), queue="unlimited")
    return [
        # A jitter on the path from the source only: data, not ACKs.
        replace(usual, between=(ends[0], near), duplex=False, jitter=ms(send_delay_ms)),
        replace(usual, between=(near, ends[0]), duplex=False),
        replace(usual, between=(beyond, ends[1])),
    ]


def goodputs_mbps(result: Result, begin_s: float, end_s: float) -> list[float]:
    """Return what each TCP flow had acknowledged per second between two times."""
    return [rate / 1e6 for rate in goodputs_bps(result, begin_s, end_s)]


def cell(value: object) -> float:
    """Return a cell from polars as a number; null is 0."""
    return float(value) if isinstance(value, (int, float)) else 0.0


def queue(result: Result, begin_s: float, end_s: float, name: str = BOTTLENECK) -> pl.DataFrame:
    """Return the samples of the bottleneck between two times."""
    return between(link_series(result, name), begin_s, end_s)

"""The paper's network, with or without its mechanism, and what its flows get."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock.scenario import Scenario
from selfclock.scenario.toml import to_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result

PAPER = "ficcrd"
FLOWS = 10
RATE_MBPS = 10.0
BUFFER_PACKETS, TARGET_PACKETS = 200, 100

#: Section 3.1; figure 3 is of the last 150 s.
SECONDS = 200.0
MEASURED_S = (50.0, 200.0)

#: Section 3.1: Reno, packets of 4 KB, a window of 128 KB, a clock of 0.3 s. The rest is ns-2's of 2001 (the paper's
#: references end in 2002): limited transmit, a new recovery only after the last is over, whole segments.
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

#: ns-2 halves the window, not what is in flight.
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
    flow_keys: Mapping[int, Mapping[str, object]] | None = None,
    transport: Mapping[str, object] | None = None,
    more_routers: Sequence[Mapping[str, object]] = (),
    edge_queue: str = "unlimited",
    packets: bool = False,
    rate_mbps: float = RATE_MBPS,
    bottleneck_mbps: float | None = None,
    buffer_packets: int = BUFFER_PACKETS,
) -> Scenario:
    """Build the network.

    Topology "figure-2": the lost figure as it is read here; flow 0 goes 10, 11, 12, 13 with 10 ms on each link of its
    own (120 ms both ways), the others are attached to 11 and 12 with 2 ms (48 ms). Topology "a", of the runs with
    ns-2: every flow is attached to 11 and 12, flow 0 with 10 ms (80 ms). Topology "b": every flow passes 10 and 13,
    which are 2 ms away, flow 0 as there. `send_delay_ms`: each packet of a source is delayed by a random time below
    this, as ns-2's overhead_ does, without overtaking. `bottleneck_mbps`: another rate of the link 11-12 alone.
    """
    rate = f"{rate_mbps:g} Mbps"

    def link(a: str, b: str, delay_ms: float, queue: str = "unlimited", **more: object) -> dict[str, object]:
        return {"from": a, "to": b, "rate": rate, "delay": f"{delay_ms:g} ms", "queue": queue, **more}

    nodes = ["10", "11", "12", "13"]
    trunk = 10.0 if topology == "figure-2" else 2.0
    links = [
        {**link("11", "12", 20, f"{buffer_packets} packets"), "rate": f"{bottleneck_mbps or rate_mbps:g} Mbps"},
        link("10", "11", trunk, edge_queue),
        link("12", "13", trunk),
    ]
    senders: list[dict[str, object]] = []
    for number in range(flows):
        source, sink = f"s{number}", f"d{number}"
        nodes += [source, sink]
        far = number == 0
        outside = topology == "b" or (topology == "figure-2" and far)
        ends = ("10", "13") if outside else ("11", "12")
        delay = 10.0 if far else 2.0
        # A jitter on the way from the source only: data, not acknowledgements.
        links.append(link(source, ends[0], delay, duplex=False, jitter=f"{send_delay_ms:g} ms"))
        links.append(link(ends[0], source, delay, duplex=False))
        links.append(link(ends[1], sink, delay))
        sender: dict[str, object] = {
            "name": f"flow{number}",
            "from": source,
            "to": sink,
            "congestion_control": RENO,
            "start": f"{number * apart_s:g} s",
        }
        sender |= (flow_keys or {}).get(number, {})
        senders.append({key: value for key, value in sender.items() if value is not None})
    document: dict[str, object] = {
        "schema": 1,
        "name": name,
        "profile": "classic",
        "duration": f"{seconds:g} s",
        "seed": seed,
        "network": {"topology": "graph", "nodes": nodes, "link": links},
        "transport": {**TRANSPORT, **(transport or {})},
        "record": {"interval": f"{samples_s:g} s", "packets": packets},
        "flow": senders,
    }
    routers = [*([router] if router else []), *more_routers]
    if routers:
        document["router"] = [dict(one) for one in routers]
    return Scenario.parse(to_toml(document), name)


def goodputs_mbps(result: Result, begin_s: float, end_s: float) -> list[float]:
    """Return what each TCP flow had acknowledged per second between two times."""
    series = pl.DataFrame(result.flows).with_columns(pl.col("flow").cast(pl.String))
    rates = []
    for flow in result.summary["flows"]:
        if flow["algorithm"] == "udp":
            continue
        frame = series.filter((pl.col("flow") == flow["name"]) & pl.col("time_s").is_between(begin_s, end_s + 1e-9))
        times, acknowledged = frame["time_s"], frame["acknowledged_bytes"]
        rates.append(float(acknowledged[-1] - acknowledged[0]) * 8 / float(times[-1] - times[0]) / 1e6)
    return rates


def cell(value: object) -> float:
    """Return what polars gives for one cell as a number; nothing is 0."""
    return float(value) if isinstance(value, (int, float)) else 0.0


def jain(rates: Sequence[float]) -> float:
    """Jain's index."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def queue(result: Result, begin_s: float, end_s: float, name: str = BOTTLENECK) -> pl.DataFrame:
    """Return the samples of the bottleneck between two times."""
    series = pl.DataFrame(result.links).with_columns(pl.col("link").cast(pl.String))
    return series.filter((pl.col("link") == name) & pl.col("time_s").is_between(begin_s, end_s))

"""The paper's dumbbell, with paths of any length and cross traffic, and the shares of its flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from selfclock.scenario import Scenario
from selfclock.scenario.toml import to_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result

#: What the paper's ns-2 agents have by default, in the terms of a scenario: TCP/Sack1 with a sink that acknowledges
#: every segment, 1500 B on the wire.
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

#: The algorithms of figures 4 and 5, by the paper's names.
ALGORITHMS = {
    "TCP": "reno",
    "HighSpeed": "highspeed",
    "Scalable": "scalable",
    "FAST": "fast",
    "ALTCP": "altcp",
    "A-TCP": "adaptive",
}

ACCESS_RATE = "2.4 Gbps"

#: Section 5: the bottleneck has a third of the path's propagation delay, 40 ms of 120 ms both ways counted once.
BOTTLENECK_PART = 1 / 3

#: Reno's increase and halving as ns-2 has them: half the window, not half of what is in flight.
TCP: dict[str, object] = {"window": "reno", "halved": "window"}

#: Where ns-2 differs from an algorithm's own paper: whatever a later loss takes, one in slow start takes half.
_AS_IN_NS2: dict[str, dict[str, object]] = {
    "reno": TCP,
    "highspeed": {"window": "highspeed", "slow_start_loss": "half"},
    "scalable": {"window": "scalable", "slow_start_loss": "half"},
}


def control(algorithm: str) -> dict[str, object]:
    """Return the congestion control of an algorithm's name, as ns-2 has it."""
    return _AS_IN_NS2.get(algorithm, {"window": algorithm})


#: A sink that acknowledges every second segment, ns-2's DelAck.
DELAYED_ACK: dict[str, object] = {"delayed_ack": {"every": 2, "timer": "100 ms"}}

#: Full segments and packets of the cross traffic, on the wire.
PACKET_B = 1500


@dataclass(frozen=True)
class Flow:
    """A flow on a path of its own across the bottleneck."""

    control: str | Mapping[str, object]
    rtt_ms: float
    start_s: float = 0.0
    jitter_s: float = 0.0
    stop_s: float | None = None
    count: int = 1
    group: str | None = None


#: Sizes of the web-like connections of the cross traffic. Mean 26 kB; the tail is that of measurements of the 1990s.
WEB: dict[str, object] = {"distribution": "pareto", "minimum": "6 kB", "maximum": "10 MB", "shape": 1.2}


@dataclass(frozen=True)
class Bursts:
    """Bursts of UDP at twice the bottleneck's rate: every flow that sends all the time loses in each of them."""

    period_s: float
    length_s: float


def scenario(
    name: str,
    rate_mbps: float,
    flows: Sequence[Flow],
    *,
    seconds: float,
    buffer: str = "1 bdp",
    queue_counts: str = "waiting",
    seed: int = 1,
    cross_load: float = 0.0,
    transport: Mapping[str, object] | None = None,
    samples_s: float = 1.0,
    jittered: bool = False,
    bursts: Bursts | None = None,
    loss: float = 0.0,
) -> Scenario:
    """Build the network. Without cross traffic, random loss and either jitter nothing is random.

    `loss` is the probability with which the bottleneck loses a packet after its queue. With `jittered` every packet
    meets a random delay of up to a packet's time at the bottleneck on its source's link.
    """
    jitter = f"{8 * PACKET_B / rate_mbps * jittered:.6f} us"
    shortest = min(flow.rtt_ms for flow in flows)
    bottleneck = shortest * BOTTLENECK_PART
    nodes = ["left", "right"]
    links: list[dict[str, object]] = [
        {"from": "left", "to": "right", "name": "bottleneck", "rate": f"{rate_mbps:g} Mbps",
         "delay": _ms(bottleneck), "queue": buffer, "queue_counts": queue_counts,
         **({"loss": {"probability": loss}} if loss else {})},
    ]  # fmt: skip
    senders: list[dict[str, object]] = []
    for number, flow in enumerate(flows, 1):
        delay = _ms((flow.rtt_ms / 2 - bottleneck) / 2)
        links += _access(nodes, number, delay, jitter)
        sender: dict[str, object] = {
            "name": f"flow{number}",
            "from": f"source{number}",
            "to": f"sink{number}",
            "congestion_control": flow.control if isinstance(flow.control, str) else dict(flow.control),
            "start": _s(flow.start_s),
            "start_jitter": _s(flow.jitter_s),
        }
        if flow.stop_s is not None:
            sender["stop"] = _s(flow.stop_s)
        if flow.count > 1:
            sender["count"] = flow.count
        if flow.group is not None:
            sender["group"] = flow.group
        senders.append(sender)
    if cross_load > 0:
        number = len(flows) + 1
        links += _access(nodes, number, _ms(shortest / 12), jitter)
        rate = f"{rate_mbps * cross_load:g} Mbps"
        senders.append({
            "name": "cross",
            "from": f"source{number}",
            "to": f"sink{number}",
            "congestion_control": TCP,
            "traffic": {"load": rate, "size": WEB},
        })  # fmt: skip
    if bursts is not None:
        number = len(flows) + 1
        links += _access(nodes, number, _ms(shortest / 12), jitter)
        for burst in range(1, int(seconds / bursts.period_s)):
            begin = burst * bursts.period_s
            senders.append({
                "name": f"burst{burst}",
                "from": f"source{number}",
                "to": f"sink{number}",
                "protocol": "udp",
                "start": _s(begin),
                "stop": _s(begin + bursts.length_s),
                "traffic": {"rate": f"{2 * rate_mbps:g} Mbps", "packet": f"{PACKET_B} B"},
            })  # fmt: skip
    document = {
        "schema": 1,
        "name": name,
        "duration": _s(seconds),
        "seed": seed,
        "network": {"topology": "graph", "nodes": nodes, "link": links},
        "transport": {**SACK, **(transport or {})},
        "record": {"interval": _s(samples_s)},
        "flow": senders,
    }
    return Scenario.parse(to_toml(document), name)


def throughputs_mbps(result: Result, begin_s: float, end_s: float) -> list[float]:
    """Return what each long TCP flow had acknowledged per second between two times, in the order of the scenario."""
    series = pl.DataFrame(result.flows).with_columns(pl.col("flow").cast(pl.String))
    rates = []
    for flow in result.summary["flows"]:
        if flow["algorithm"] == "udp" or flow["connections"] is not None:
            continue
        frame = series.filter((pl.col("flow") == flow["name"]) & pl.col("time_s").is_between(begin_s, end_s + 1e-9))
        times, acknowledged = frame["time_s"], frame["acknowledged_bytes"]
        span = float(times[-1] - times[0])
        rates.append(float(acknowledged[-1] - acknowledged[0]) * 8 / span / 1e6)
    return rates


def _access(nodes: list[str], number: int, delay: str, jitter: str) -> list[dict[str, object]]:
    source, sink = f"source{number}", f"sink{number}"
    nodes += [source, sink]
    link: dict[str, object] = {"rate": ACCESS_RATE, "delay": delay, "queue": "unlimited"}
    return [{"from": source, "to": "left", **link, "jitter": jitter}, {"from": "right", "to": sink, **link}]


def _ms(value: float) -> str:
    return f"{value:.6f} ms"


def _s(value: float) -> str:
    return f"{value:.9f} s"

"""Random scenarios of every kind of network, queue, router, transport and traffic, with some thousand packets."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from selfclock.scenario.toml import to_toml

#: Approximate maximum number of packets of a run.
PACKETS = 1_500

WINDOWS = (
    "reno", "cubic", "highspeed", "scalable", "fast", "bic", "vegas", "ltcp", "altcp", "adaptive", "lotka-volterra",
    "tri-s", "bbr3",
    "packet-pair", "swift-start", "modified-swift-start", "hystart++", "limited", "bbr-startup", "hoe",
)  # fmt: skip
ANSWER_MARKS = ("reno", "cubic", "prague")


def chance(draw: st.DrawFn, of: int) -> bool:
    """Return true once in `of` times; shrinks to false."""
    return draw(st.integers(0, of - 1)) == of - 1


def milliseconds(draw: st.DrawFn, least: int, most: int) -> str:
    """Return a time, sometimes with a fraction."""
    fraction = draw(st.sampled_from(["", ".5", ".123456789"]))
    return f"{draw(st.integers(least, most))}{fraction} ms"


@st.composite
def queues(draw: st.DrawFn) -> str | dict[str, Any]:
    """Return a value of `queue`."""
    limit = draw(
        st.sampled_from(["5 packets", "1 packet", "20 packets", "1 bdp", "0.3 bdp", "4 bdp", "9 kB", "unlimited"])
    )
    discipline = draw(
        st.sampled_from(["drop-tail", "drop-tail", "codel", "fq-codel", "pie", "fq-pie", "red", "dualpi2", "drr"])
    )
    queue: dict[str, Any] = {"discipline": discipline, "limit": limit}
    if discipline == "drop-tail":
        if not chance(draw, 3):
            return limit
        queue["mark_above"] = draw(st.sampled_from(["3 packets", "5 ms"]))
    if discipline in {"codel", "fq-codel", "pie", "fq-pie", "red"} and chance(draw, 2):
        queue["ecn"] = draw(st.booleans())
    return queue


@st.composite
def traces(draw: st.DrawFn, rate: int) -> dict[str, str]:
    """Return a delivery trace of about this mean rate, kbit/s: steady, bursty, or with long pauses."""
    now, words = 0, []
    for _ in range(draw(st.integers(1, 12))):
        count = draw(st.sampled_from([1, 1, 2, 7]))
        now += max(count * 12_000 // rate, 1) * draw(st.sampled_from([0, 1, 1, 2]))
        words.append(f"{now}x{count}")
    # The end, which must differ from the start.
    words.append(str(now + draw(st.integers(1, 20))))
    return {"opportunities": " ".join(words)}


@st.composite
def wires(draw: st.DrawFn, rate: int, duration_ms: int) -> dict[str, Any]:
    """Return a link of this rate, kbit/s."""
    wire: dict[str, Any] = {"rate": f"{rate} kbps", "delay": milliseconds(draw, 0, 60), "queue": draw(queues())}
    if chance(draw, 4):
        wire["queue_counts"] = draw(st.sampled_from(["waiting", "in-system"]))
    if chance(draw, 4):
        wire["loss"] = draw(
            st.sampled_from([{"probability": 0.02}, {"probability": 0.2}, {"good_to_bad": 0.02, "bad_to_good": 0.3}])
        )
    if chance(draw, 4):
        wire["jitter"] = milliseconds(draw, 0, 20)
    if chance(draw, 6):
        wire["total_limit"] = f"{draw(st.integers(1, 60))} packets"
    if chance(draw, 5):
        del wire["rate"]
        wire["delivery_trace"] = draw(traces(rate))
        if chance(draw, 4):
            wire["changes"] = [{"at": f"{max(duration_ms // 2, 1)} ms", "delay": milliseconds(draw, 0, 40)}]
    elif chance(draw, 6):
        wire["changes"] = [
            {"at": f"{max(duration_ms // 3, 1)} ms", "rate": f"{max(rate // draw(st.integers(1, 4)), 1)} kbps"},
            {"at": f"{max(duration_ms // 3, 1) * 2} ms", "delay": milliseconds(draw, 0, 40)},
        ]
    return wire


@st.composite
def networks(draw: st.DrawFn, rate: int, duration_ms: int) -> tuple[dict[str, Any], list[str], list[tuple[str, str]]]:
    """Return a network, the links where routers are allowed, and the ends of flows (empty for defaults)."""
    access: dict[str, Any] = {
        "rate": f"{rate * draw(st.sampled_from([1, 3, 20]))} kbps",
        "delay": milliseconds(draw, 0, 10),
    }
    if chance(draw, 6):
        access["coalescing"] = "3 ms"
    match draw(st.sampled_from(["dumbbell", "dumbbell", "parking-lot", "graph"])):
        case "dumbbell":
            network = {"topology": "dumbbell", "bottleneck": draw(wires(rate, duration_ms)), "access": access}
            if chance(draw, 3):
                network["reverse"] = draw(wires(max(rate // draw(st.sampled_from([1, 10])), 8), duration_ms))
            if chance(draw, 3):
                network["hosts"] = draw(st.integers(1, 2))
            return network, ["bottleneck", "reverse"], []
        case "parking-lot":
            hops = draw(st.integers(1, 3))
            hop = draw(wires(rate, duration_ms))
            return {"topology": "parking-lot", "hops": hops, "hop": hop, "access": access}, ["hop1"], []
    links = [
        {"from": start, "to": end, **draw(wires(rate, duration_ms))}
        for start, end in (("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"))
    ]
    network = {"topology": "graph", "nodes": ["a", "b", "c", "d"], "link": links}
    return network, ["a-b", "b-c", "c-d"], [("a", "d"), ("b", "d"), ("d", "a"), ("a", "c")]


@st.composite
def transports(draw: st.DrawFn, control: str) -> dict[str, Any]:
    """Return transport settings for an algorithm."""
    transport: dict[str, Any] = {}
    if control in ANSWER_MARKS and chance(draw, 2):
        transport["ecn"] = "accurate" if control == "prague" else "classic"
    choices: dict[str, list[Any]] = {
        "recovery": ["tahoe", "reno", "newreno", "sack", "rack"],
        "prr": [True, False],
        "mss": ["536 B", "1000 B", "1448 B"],
        "limited_transmit": [True, False],
        "initial_window": ["1 segment", "2 segments", "20 segments", "rfc3390"],
        "initial_ssthresh": ["8 segments", "unlimited"],
        "receive_window": ["12 segments", "64 kB", "auto", "unlimited", "3.5 segments"],
        "window_scaling": [True, False],
        "handshake": [True, False],
        "timestamps": [True, False],
        "delayed_ack": [
            "off", {"every": 2, "timer": "200 ms", "clock": "grid"}, {"every": 3, "timer": "25 ms", "clock": "segment"},
            {"quick": False}, {"timer": "7 ms", "quick": True},
        ],
        "timer": [
            {"minimum": "1 s"}, {"granularity": "100 ms", "arithmetic": "bsd"}, {"samples": "one-at-a-time"},
            {"arithmetic": "rfc6298"}, {"linear_syn_timeouts": 0},
        ],
        "pacing_gain": [1.2, "off"],
        "pacing_credit": [True, False],
        "shaper": [{"rate": "2 Mbps", "burst": "6 kB"}, "off"],
        "peer_knows_option": [True, False],
        "encrypted": [True, False],
        "misbehaviour": [
            {"ack_parts": 3}, {"ack_parts": 30}, {"ack_repeats": 2}, {"ack_ahead": 0}, {"ack_ahead": 4},
            {"renege_every": 1}, {"renege_every": 3}, {"interval_factor": 0.1},
            {"ack_parts": 2, "ack_ahead": 1, "ack_repeats": 1, "interval_factor": 3},
        ],
    }  # fmt: skip
    for key, values in choices.items():
        if chance(draw, 4):
            transport[key] = draw(st.sampled_from(values))
    for key in ("dsack", "frto"):
        if chance(draw, 4):
            transport[key] = draw(st.booleans())
    if chance(draw, 4):
        transport["syn_timeouts"] = draw(st.integers(1, 3))
    if transport.get("timestamps") and chance(draw, 2):  # they show what is to be undone
        transport["undo"] = draw(st.booleans())
    return transport


@st.composite
def applications(draw: st.DrawFn, rate: int, duration_ms: int) -> dict[str, Any]:
    """Return the traffic of a TCP flow; empty for bulk."""
    match draw(st.sampled_from(["bulk", "bulk", "size", "rate", "steps", "web"])):
        case "size":
            return {"size": f"{draw(st.integers(1, 200_000))} B"}
        case "rate":
            traffic: dict[str, Any] = {"rate": f"{max(rate // draw(st.integers(1, 4)), 1)} kbps"}
            return traffic | ({"write": f"{draw(st.integers(1, 60_000))} B"} if chance(draw, 2) else {})
        case "steps":
            again = draw(st.sampled_from(["bulk", f"{max(rate // 2, 1)} kbps"]))
            pause = {"at": f"{duration_ms // 3 + 1} ms", "rate": "off"}
            traffic = {"steps": [pause, {"at": f"{duration_ms // 2 + 2} ms", "rate": again}]}
            return traffic | ({"rate": f"{max(rate // 3, 1)} kbps"} if chance(draw, 2) else {})
        case "web":
            size: Any = draw(st.sampled_from(["1 B", "9 kB", {"distribution": "exponential", "mean": "12 kB"}]))
            return {"interval": f"{max(duration_ms // 15, 1)} ms", "size": size}
    return {}


@st.composite
def flows(draw: st.DrawFn, rate: int, duration_ms: int, ends: list[tuple[str, str]]) -> dict[str, Any]:
    """Return a flow."""
    flow: dict[str, Any] = {}
    if ends:
        flow["from"], flow["to"] = draw(st.sampled_from(ends))
    if chance(draw, 3):
        flow["start"] = f"{draw(st.integers(0, duration_ms // 2))} ms"
    if chance(draw, 4):
        flow["start_jitter"] = f"{draw(st.integers(1, max(duration_ms // 4, 1)))} ms"
    if chance(draw, 6):
        flow["overhead"] = draw(st.sampled_from(["1 packet", "3 packets", "70 us"]))
    if chance(draw, 6):
        flow["stop"] = f"{duration_ms * 3 // 4 + 1} ms"
    if chance(draw, 6):
        flow["count"] = 2
    if chance(draw, 5):
        flow["protocol"] = "udp"
        flow["traffic"] = {
            "rate": f"{max(rate // draw(st.integers(1, 8)), 1)} kbps",
            "packet": draw(st.sampled_from(["1500 B", "200 B", "imix"])),
            "arrivals": draw(st.sampled_from(["constant", "poisson"])),
        }
        return flow
    control = draw(st.sampled_from([*WINDOWS, "prague"]))
    flow["congestion_control"] = control
    if control == "packet-pair" and chance(draw, 2):
        flow["congestion_control"] = {
            "start": "packet-pair",
            "window": "reno",
            "probing": "both-sides",
            "ack_ratio": draw(st.sampled_from(["intervals", "rfc4782"])),
            "option_kind": draw(st.sampled_from(["6", "253", "254"])),
        }
    flow["transport"] = draw(transports(control))
    traffic = draw(applications(rate, duration_ms))
    return flow | ({"traffic": traffic} if traffic else {})


@st.composite
def losses(draw: st.DrawFn, duration_ms: int) -> dict[str, Any]:
    """Return random or periodic losses, or an outage."""
    kinds = draw(st.sampled_from([["data", "ack", "syn"], ["data", "datagram"], ["syn-ack"], ["ack"]]))
    pattern = draw(
        st.sampled_from(
            [{"probability": 0.1}, {"probability": 1}, {"every": 7}, {"spacing": f"{duration_ms // 12 + 1} ms"}]
        )
    )
    loss = {"mechanism": "loss", "kinds": kinds, **pattern}
    if pattern == {"probability": 1} or chance(draw, 3):
        loss["from"] = f"{duration_ms // 4} ms"
        loss["until"] = f"{duration_ms // 3 + 1} ms"
    return loss


@st.composite
def tampering(draw: st.DrawFn) -> dict[str, Any]:
    """Return the fields that a router changes although it should only forward."""
    written = draw(
        st.sampled_from(
            [{"receive_window": "0 B"}, {"receive_window": "20 kB"}, {"options": "duplicate"}, {"options": "swap"}]
        )
    )
    return {"mechanism": "tampering", "probability": draw(st.sampled_from([0.3, 1])), **written}


@st.composite
def routers(draw: st.DrawFn, rate: int, links: list[str], duration_ms: int) -> dict[str, Any]:
    """Return a mechanism in a router."""
    where = {"links": [draw(st.sampled_from(links))]}
    choices: list[dict[str, Any]] = [
        {"mechanism": "policer", "rate": f"{max(rate // 2, 1)} kbps", "burst": "8 kB", **where},
        {**draw(losses(duration_ms)), **where},
        {**draw(tampering()), **where},
        {"mechanism": "reordering", "probability": 0.1, "delay": milliseconds(draw, 1, 40), **where},
        {"mechanism": "reordering", "probability": 1, "delay": "0 s", "spread": milliseconds(draw, 1, 40), **where},
        {"mechanism": "ack-thinning", "interval": "8 ms", **where},
        {"mechanism": "csfq", **where},
        {"mechanism": "forwarding-limit", "packets_per_second": 300, "limit": "10 packets", **where},
        {"mechanism": "quick-start"},
        {"mechanism": "xcp", **where},
    ]
    return draw(st.sampled_from(choices))


@st.composite
def scenarios(draw: st.DrawFn) -> str:
    """Return the text of a scenario."""
    rate = draw(st.sampled_from([64, 500, 2_000, 10_000, 80_000]))
    # Packets of 1500 B at the bottleneck's rate in this time.
    duration_ms = min(PACKETS * 12_000 // rate, draw(st.sampled_from([500, 2_000, 10_000])))
    network, links, ends = draw(networks(rate, duration_ms))
    document: dict[str, Any] = {
        "schema": 1,
        "name": "random",
        "duration": f"{duration_ms} ms",
        "seed": draw(st.integers(1, 1000)),
        "network": network,
        "flow": draw(st.lists(flows(rate, duration_ms, ends), min_size=1, max_size=4)),
        "record": {"packets": True, "interval": f"{max(duration_ms // 200, 1)} ms"},
    }
    if chance(draw, 4):
        document["profile"] = "classic"
    if chance(draw, 3):
        document["router"] = [draw(routers(rate, links, duration_ms))]
        if document["router"][0]["mechanism"] == "xcp":
            document["flow"].append({"congestion_control": "xcp", **({} if not ends else {"from": "a", "to": "d"})})
    if chance(draw, 10) and network["topology"] == "dumbbell":
        feedback = draw(st.sampled_from(["window", "ack-bucket", "none"]))
        document.setdefault("router", []).append(
            {"mechanism": "ficcrd", "nodes": ["left", "right"], "feedback": feedback}
        )
    return to_toml(document)

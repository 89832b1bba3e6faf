"""The paper's path, the start-up algorithms, and measurements of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from selfclock.scenario.build import Dumbbell
from selfclock.scenario.flow import Background, Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, nbytes, s
from selfclock.scenario.transport import Record
from selfclock.series import packet_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: The paper's hosts: 1500 B on the wire, a handshake, and where ACKs are delayed, one for every
#: second segment or after at most 200 ms. The paper does not state loss recovery, and loses
#: nothing.
TRANSPORT: dict[str, object] = {
    "recovery": "sack",
    "prr": False,
    "mss": "1460 B",
    "timestamps": False,
    "handshake": True,
    "initial_window": "4 segments",
    "receive_window": "unlimited",
    "byte_counting": False,
    "delayed_ack": "off",
    "timer": {"initial": "3 s", "minimum": "1 s", "granularity": "0 s"},
}
DELAYED_ACK: dict[str, object] = {"delayed_ack": {"every": 2, "timer": "200 ms", "quick": False}}

#: Cases beyond the paper use current hosts: RACK-TLP and PRR, ACKs delayed by 40 ms.
MODERN: dict[str, object] = {
    "recovery": "rack",
    "prr": True,
    "mss": "1460 B",
    "timestamps": False,
    "handshake": True,
    "initial_window": "rfc6928",
    "delayed_ack": {"every": 2, "timer": "40 ms"},
    "timer": {"initial": "1 s", "minimum": "200 ms", "granularity": "1 ms"},
}

SEGMENT_B, PACKET_B = 1460, 1500

#: "OCI" in the paper is OC-1; its file has 10 Mbyte.
OC1_MBPS, FILE = 49.5, "10 MB"

THINNING: dict[str, object] = {"mechanism": "ack-thinning", "links": ["reverse"], "interval": "5 ms"}
QUICK_START: dict[str, object] = {"mechanism": "quick-start"}
XCP_ROUTER: dict[str, object] = {"mechanism": "xcp", "links": ["bottleneck"]}


@dataclass(frozen=True)
class Start:
    """A start-up algorithm, by its name in tables and figures."""

    label: str
    #: Its name in the house style.
    look: str
    control: Mapping[str, object]
    initial_window: str | None = None
    #: Additional transport settings.
    transport: Mapping[str, object] = field(default_factory=dict)


IW10 = Start("IW10 slow start", "slow-start", {"start": "slow-start"})
STARTS = [
    IW10,
    Start("RFC 3390 slow start", "slow-start", {"start": "slow-start"}, "rfc3390"),
    Start("IW1 slow start", "slow-start", {"start": "slow-start"}, "1 segment"),
    Start("limited", "limited", {"start": "limited"}),
    Start("HyStart++", "hystart++", {"start": "hystart++"}),
    Start("packet pair", "packet-pair", {"start": "packet-pair", "timer_rounding": "exact"}),
    Start("Swift Start", "swift-start", {"start": "swift-start"}),
    Start("modified Swift Start", "modified-swift-start", {"start": "modified-swift-start"}),
    Start("Quick-Start", "quick-start", {"start": "quick-start"}),
    Start("BBR's Startup", "bbr-startup", {"start": "bbr-startup"}),
]
#: Routers tell the sender how to change its window; XCP is no start-up algorithm, so it runs only
#: where its routers are.
XCP = Start("XCP", "xcp", {"model": "xcp"})
BY_LABEL = {start.label: start for start in STARTS}


def sender(
    control: Mapping[str, object],
    size: str | None = None,
    start_s: float = 0.0,
    jitter_s: float = 0.0,
    transport: Mapping[str, object] | None = None,
) -> Flow:
    """Return a TCP flow."""
    return Flow(control, size, start=s(start_s), start_jitter=s(jitter_s), transport=transport)


def flow(start: Start, window: str = "reno", size: str | None = None, **more: float) -> Flow:
    """Return a flow with this start-up algorithm."""
    own = {} if start.initial_window is None else {"initial_window": start.initial_window}
    control = start.control if "model" in start.control else {"window": window, **start.control}
    return sender(control, size, transport={**start.transport, **own}, **more)


def file_name(name: str) -> str:
    """Return the name of a run in characters valid in every file system."""
    return re.sub(r"[^a-z0-9.+]+", "-", name.lower()).strip("-")


def scenario(
    name: str,
    rate_mbps: float,
    rtt_ms: float,
    flows: Sequence[Flow],
    *,
    seconds: float,
    buffer: str = "unlimited",
    transport: Mapping[str, object] = TRANSPORT,
    routers: Sequence[Mapping[str, object]] = (),
    load: float = 0.0,
    reverse_load: float = 0.0,
    samples: str = "off",
    packets: bool = False,
    seed: int = 1,
    access_mbps: float | None = None,
) -> Scenario:
    """Build the dumbbell of figure 1; `load` and `reverse_load` are fractions of the link used by Poisson traffic."""
    pair = f"source{len(flows) + 1}", f"sink{len(flows) + 1}"

    def stream(name_of: str, part: float, between: tuple[str, str]) -> Background:
        rate = mbps(rate_mbps * part)
        return Background(rate, packet=nbytes(PACKET_B), arrivals="poisson", name=name_of, between=between)

    others = [
        *([stream("cross", load, pair)] if load > 0 else []),
        *([stream("reverse-cross", reverse_load, (pair[1], pair[0]))] if reverse_load > 0 else []),
    ]
    access = Link(mbps(access_mbps or max(1000.0, 10 * rate_mbps)), ms(0.01 * rtt_ms))
    bottleneck = Link(mbps(rate_mbps), ms(rtt_ms / 2 - 0.02 * rtt_ms), queue=buffer)
    network = Dumbbell(
        bottleneck,
        access,
        reverse=replace(bottleneck, queue="1000 packets" if reverse_load > 0 else "unlimited"),
        hosts=len(flows) + 1,
    )
    return network.scenario(
        [*flows, *others],
        duration=s(seconds).rounded("us"),
        name=file_name(name),
        seed=seed,
        routers=routers,
        transport=transport,
        record=Record(samples, packets),
    )


def completion_s(result: Result, number: int = 1) -> float | None:
    """Return the completion time of a flow's transfer."""
    return result.summary["flows"][number - 1]["completion_s"]


def data_sent(result: Result) -> pl.DataFrame:
    """Return the data segments sent by the first flow: number, and time since the first."""
    packets = packet_record(result, "time_s", "event", "kind", "flow", "sequence")
    sent = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "data") & (pl.col("flow") == "flow1"))
    return sent.select(
        (pl.col("time_s") - pl.col("time_s").first()).alias("time_s"),
        (pl.col("sequence") / SEGMENT_B).alias("segment"),
    )


def round_trip_s(rate_mbps: float, rtt_ms: float) -> float:
    """Return slightly less than the unloaded RTT of a full segment: shorter by half of its transmission time."""
    return rtt_ms / 1e3 + 0.5 * 8 * PACKET_B / rate_mbps / 1e6


def per_round_trip(sent: pl.DataFrame, rate_mbps: float, rtt_ms: float, rounds: int) -> list[int]:
    """Return how many segments of `data_sent` leave in each round trip, from the first."""
    length = round_trip_s(rate_mbps, rtt_ms)
    rows = sent.with_columns((pl.col("time_s") / length).floor().cast(pl.Int64).alias("round"))
    counts = dict(rows.group_by("round").len().iter_rows())
    return [counts.get(number, 0) for number in range(rounds)]


_REPLY = re.compile(r"^(?:01)*fd095357[c-f][0-9a-f]([0-9a-f]{8})$")


def reported_us(result: Result) -> list[int]:
    """Return the intervals reported by the receiver, microseconds."""
    options = (
        packet_record(result, "event", "option").filter(pl.col("event") == "send")["option"].drop_nulls().to_list()
    )
    return [int(match[1], 16) for option in options if (match := _REPLY.match(option))]

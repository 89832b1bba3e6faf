"""The paper's dumbbell, with paths of any length and cross traffic, and the shares of its flows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from selfclock.papers.agents import SACK
from selfclock.scenario.build import Path
from selfclock.scenario.flow import Background, Flow, Pareto
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, nbytes, s, us
from selfclock.scenario.transport import Record
from selfclock.series import goodputs_bps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

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

#: Section 5: the bottleneck has a third of the path's propagation delay, 40 ms of 120 ms both ways
#: counted once.
BOTTLENECK_PART = 1 / 3

#: Reno's increase and halving as in ns-2: half the window, not half of the flight.
TCP: dict[str, object] = {"window": "reno", "halved": "window"}

#: ns-2's differences from an algorithm's own paper: a loss in slow start halves, whatever later
#: losses take.
_AS_IN_NS2: dict[str, dict[str, object]] = {
    "reno": TCP,
    "highspeed": {"window": "highspeed", "slow_start_loss": "half"},
    "scalable": {"window": "scalable", "slow_start_loss": "half"},
}


def control(algorithm: str) -> dict[str, object]:
    """Return the congestion control of an algorithm's name, as in ns-2."""
    return _AS_IN_NS2.get(algorithm, {"window": algorithm})


#: A sink that acknowledges every second segment, ns-2's DelAck.
DELAYED_ACK: dict[str, object] = {"delayed_ack": {"every": 2, "timer": "100 ms", "quick": False}}

#: Full segments and packets of the cross traffic, on the wire.
PACKET_B = 1500


def sender(
    control: str | Mapping[str, object],
    rtt_ms: float,
    start_s: float = 0.0,
    jitter_s: float = 0.0,
    stop_s: float | None = None,
    count: int = 1,
    group: str | None = None,
) -> Flow:
    """Return a flow on its own path across the bottleneck."""
    return Flow(
        control,
        rtt=ms(rtt_ms),
        start=s(start_s),
        start_jitter=s(jitter_s),
        stop=None if stop_s is None else s(stop_s),
        count=count,
        group=group,
    )


#: Sizes of the web-like connections of the cross traffic. Mean 26 kB; the tail is that of
#: measurements of the 1990s.
WEB = Pareto("6 kB", "10 MB", shape=1.2)


@dataclass(frozen=True)
class Bursts:
    """Bursts of UDP at twice the bottleneck's rate: every continuously sending flow has losses in each."""

    period_s: float
    length_s: float

    def flows(self, rate_mbps: float, seconds: float, host: int) -> list[Background]:
        """Return them, all from one host."""
        ends = f"source{host}", f"sink{host}"
        begins = [burst * self.period_s for burst in range(1, int(seconds / self.period_s))]
        return [
            Background(
                mbps(2 * rate_mbps),
                packet=nbytes(PACKET_B),
                name=f"burst{burst}",
                start=s(begin),
                stop=s(begin + self.length_s),
                # The first brings the host.
                between=None if burst == 1 else ends,
            )
            for burst, begin in enumerate(begins, 1)
        ]


def scenario(
    name: str,
    rate_mbps: float,
    flows: Sequence[Flow],
    *,
    seconds: float,
    buffer: str = "1 bdp",
    queue_counts: Literal["waiting", "in-system"] = "waiting",
    seed: int = 1,
    cross_load: float = 0.0,
    transport: Mapping[str, object] | None = None,
    samples_s: float = 1.0,
    jittered: bool = False,
    bursts: Bursts | None = None,
    loss: float = 0.0,
) -> Scenario:
    """Build the network. Without cross traffic, random loss and jitter nothing is random.

    `loss` is the probability with which the bottleneck loses a packet after its queue. With
    `jittered` every packet meets a random delay of up to a packet's time at the bottleneck on its
    source's link.
    """
    bottleneck = Link(mbps(rate_mbps), queue=buffer, queue_counts=queue_counts, loss=loss or None)
    access = Link(ACCESS_RATE, jitter=us(8 * PACKET_B / rate_mbps * jittered))
    reverse = replace(bottleneck, name="bottleneck-reverse")
    path = Path(bottleneck, reverse=reverse, access=access, sink_access=Link(ACCESS_RATE), share=BOTTLENECK_PART)
    others: list[Flow | Background] = []
    if cross_load > 0:
        others.append(Flow(TCP, name="cross", load=mbps(rate_mbps * cross_load), size=WEB))
    if bursts is not None:
        others += bursts.flows(rate_mbps, seconds, len(flows) + 1)
    return path.scenario(
        [*flows, *others],
        duration=s(seconds),
        name=name,
        seed=seed,
        transport={**SACK, **(transport or {})},
        record=Record(s(samples_s)),
    )


def throughputs_mbps(result: Result, begin_s: float, end_s: float) -> list[float]:
    """Return what each long TCP flow had acknowledged per second between two times, in the order of the scenario."""
    return [rate / 1e6 for rate in goodputs_bps(result, begin_s, end_s)]

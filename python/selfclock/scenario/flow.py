"""Flows: TCP connections and their data, and unresponsive UDP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from selfclock._core import ScenarioError
from selfclock.algorithms import control as control_of
from selfclock.scenario.link import check_ends
from selfclock.scenario.quantity import Packets, Rate, Size, Time, one, quantity, s
from selfclock.scenario.table import Kinds, Table, plain

if TYPE_CHECKING:
    from selfclock.scenario.transport import Transport


@dataclass(frozen=True)
class Exponential(Table):
    """Exponentially distributed sizes."""

    mean: Size | str

    QUANTITIES: ClassVar[Kinds] = {"mean": ((Size,), ())}

    def table(self) -> dict[str, object]:
        """Return the table of a scenario file."""
        return {"distribution": "exponential", **super().table()}


@dataclass(frozen=True)
class Pareto(Table):
    """Sizes with a Pareto distribution between two bounds; `shape` is the tail's exponent."""

    minimum: Size | str
    maximum: Size | str
    shape: float

    QUANTITIES: ClassVar[Kinds] = {"minimum": ((Size,), ()), "maximum": ((Size,), ())}

    def table(self) -> dict[str, object]:
        """Return the table of a scenario file."""
        return {"distribution": "pareto", **super().table()}


@dataclass(frozen=True)
class Lognormal(Table):
    """Lognormally distributed sizes; `sigma` is the standard deviation of the logarithm."""

    mean: Size | str
    sigma: float

    QUANTITIES: ClassVar[Kinds] = {"mean": ((Size,), ())}

    def table(self) -> dict[str, object]:
        """Return the table of a scenario file."""
        return {"distribution": "lognormal", **super().table()}


#: The keys of a flow's traffic; all others belong to the flow itself.
_TRAFFIC = ("size", "load", "interval", "rate", "write", "packet", "arrivals", "steps", "ecn")


@dataclass(frozen=True, kw_only=True)
class _Sender(Table):
    """The keys of both kinds of flow."""

    #: Name in records; by default "flow1", "flow2" and so on.
    name: str | None = None
    #: Number of flows like this.
    count: int | None = None
    #: Nodes that send and receive; a network with its own hosts gives each flow a pair.
    between: tuple[str, str] | None = None
    #: Routers that data passes on its way, in order, and ACKs in reverse; by default the path of
    #: least delay.
    route: Sequence[str] | None = None
    #: Start time, plus a uniform random time below `start_jitter`.
    start: Time | str | None = None
    start_jitter: Time | str | None = None
    #: Random processing time of each packet at the sending host, below this and without
    #: overtaking; in packets, transmission times on the slowest link of its path.
    overhead: Time | Packets | str | None = None
    #: Time at which its application stops producing data.
    stop: Time | str | None = None
    #: Differentiated services codepoint, 0 to 63.
    dscp: int | None = None
    #: In a `Path`: round-trip time between its hosts, instead of the path's.
    rtt: Time | str | None = None

    QUANTITIES: ClassVar[Kinds] = {
        **dict.fromkeys(("start", "start_jitter", "stop", "rtt"), ((Time,), ())),
        "overhead": ((Time, Packets), ()),
    }
    APART: ClassVar[tuple[str, ...]] = ("between", "rtt", *_TRAFFIC)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ends(self.between, type(self).__name__)

    def table(self) -> dict[str, object]:
        """Return the keys that are set, as in a scenario file."""
        ends = {} if self.between is None else {"from": self.between[0], "to": self.between[1]}
        traffic = {name: plain(value) for name, value in self._traffic().items() if value is not None}
        return {**super().table(), **ends, **({"traffic": traffic} if traffic else {})}

    def _traffic(self) -> dict[str, object]:
        return {name: getattr(self, name, None) for name in _TRAFFIC}


@dataclass(frozen=True)
class Flow(_Sender):
    """A TCP flow with its congestion control: one connection, or short ones.

    It sends as much as it can; `size` bytes; at the `rate` of its application, which `steps`
    change; or, with a `load` or an `interval`, short connections of a `size` that start at random.

    >>> import selfclock as sc
    >>> web = sc.Flow("cubic", load=sc.mbps(2), size=sc.Pareto("4 kB", "10 MB", shape=1.2))
    >>> web.table()["traffic"]["load"]
    '2 Mbps'
    >>> pause = sc.Flow("bbr3", steps=[("10 s", "off"), ("16 s", "bulk")])
    >>> pause.table()["traffic"]["steps"][1]
    {'at': '16 s', 'rate': 'bulk'}
    """

    #: A name, a label such as "cubic+hystart++", or a table of `window`, `start`, `estimate` or
    #: `model` and parameters; "quinn:bbr" is a stack's own algorithm, "cubic@quinn" one of
    #: selfclock's in a stack.
    congestion_control: str | Mapping[str, object] | None = None
    #: Bytes to send; for short connections, a size or its distribution.
    size: Size | Exponential | Pareto | Lognormal | Mapping[str, object] | str | None = None
    #: Rate at which the application writes.
    rate: Rate | str | None = None
    #: Short connections: offered payload per second.
    load: Rate | str | None = None
    #: Short connections: mean time between starts.
    interval: Time | str | None = None
    #: Flows of "adaptive" between the same nodes that share their knowledge of the path.
    group: str | None = None
    #: Settings of this flow, which override those of all flows.
    transport: Transport | Mapping[str, object] | None = None
    #: A real QUIC stack in place of the simulated TCP, "quinn" or "noq", if it is built in (make
    #: quic).
    stack: str | None = None
    #: With a rate: the amount the application writes at once, such as a video frame; by default one
    #: segment.
    write: Size | str | None = None
    #: New rates of the application, each from a time of the run: a rate, "off" for a pause, or
    #: "bulk" for as much as the connection takes, which it is before the first without a `rate`.
    steps: Sequence[tuple[Time | str, Rate | str]] | None = None

    QUANTITIES: ClassVar[Kinds] = {
        **_Sender.QUANTITIES,
        "rate": ((Rate,), ()),
        "write": ((Size,), ()),
        "load": ((Rate,), ()),
        "interval": ((Time,), ()),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size is not None and not isinstance(self.size, (Table, Mapping)):
            object.__setattr__(self, "size", quantity(self.size, (Size,), "Flow.size"))
        object.__setattr__(self, "steps", _changes(self.steps, "Flow.steps", ("off", "bulk")))

    def table(self) -> dict[str, object]:
        """Return the keys that are set, as in a scenario file."""
        table = super().table()
        control = table.get("congestion_control")
        if isinstance(control, str) and any(sign in control for sign in "+:@"):
            table["congestion_control"] = control_of(control)
        return table

    def _traffic(self) -> dict[str, object]:
        return {**super()._traffic(), "steps": _tables(self.steps)}


@dataclass(frozen=True)
class Background(_Sender):
    """UDP at a fixed rate on the wire, regardless of loss."""

    rate: Rate | str
    #: New rates, each from a time of the run; "off" or "0 bps" is silence.
    steps: Sequence[tuple[Time | str, Rate | str]] | None = None
    #: Wire size, "imix", or sizes with weights.
    packet: Size | str | Sequence[tuple[Size | str, float]] | None = None
    #: Times between packets.
    arrivals: Literal["constant", "poisson"] | None = None
    #: ECN field of its packets: queues mark what is ECN-capable, and the source does not respond.
    ecn: Literal["not-ect", "ect(0)", "ect(1)"] | None = None

    QUANTITIES: ClassVar[Kinds] = {**_Sender.QUANTITIES, "rate": ((Rate,), ())}

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.packet is not None and not isinstance(self.packet, Sequence)) or isinstance(self.packet, str):
            object.__setattr__(self, "packet", quantity(self.packet, (Size,), "Background.packet", ("imix",)))
        object.__setattr__(self, "steps", _changes(self.steps, "Background.steps", ("off",)))

    def table(self) -> dict[str, object]:
        """Return the keys that are set, as in a scenario file."""
        return {"protocol": "udp", **super().table()}

    def _traffic(self) -> dict[str, object]:
        traffic = super()._traffic()
        traffic["steps"] = _tables(self.steps)
        if isinstance(self.packet, Sequence) and not isinstance(self.packet, str):
            traffic["packet"] = [{"size": size, "weight": weight} for size, weight in self.packet]
        return traffic


def _changes(
    steps: Sequence[tuple[Time | str, Rate | str]] | None, where: str, words: tuple[str, ...]
) -> list[tuple[Time, Rate | str]] | None:
    """Return the changes of a rate; an error names the argument."""
    try:
        changes = [
            (one(at, Time, where), str(rate) if rate in words else one(rate, Rate, where)) for at, rate in steps or ()
        ]
    except (TypeError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        message = f'{where}: {steps!r}; write pairs of a time and a rate, such as ("1 s", "off")'
        raise ScenarioError(message) from None
    return changes or None


def _tables(steps: Sequence[tuple[Time | str, Rate | str]] | None) -> list[dict[str, object]] | None:
    return None if steps is None else [{"at": at, "rate": rate} for at, rate in steps]


def on_off(rate: Rate | str, *, on: Time | str, off: Time | str, until: Time | str) -> list[tuple[Time, Rate]]:
    """Return the steps of a source that sends at a rate for the time `on`, is silent for `off`, and so on.

    >>> import selfclock as sc
    >>> bursts = sc.Background("5 Mbps", steps=sc.on_off("5 Mbps", on="1 s", off="3 s", until="6 s"))
    >>> [str(at) for at, _ in bursts.steps]
    ['1 s', '4 s', '5 s']
    """
    times = {"on": on, "off": off, "until": until}
    sent, silent, end = (one(time, Time, f"on_off: {name}") for name, time in times.items())
    speed = one(rate, Rate, "on_off: rate")
    if not (sent > s(0) and silent > s(0)):
        raise ScenarioError(f"on_off: on is {sent} and off is {silent}; both must be above zero")
    steps: list[tuple[Time, Rate]] = []
    at = sent
    while at < end:
        steps += [(at, speed * 0), *([(at + silent, speed)] if at + silent < end else [])]
        at = at + silent + sent
    return steps

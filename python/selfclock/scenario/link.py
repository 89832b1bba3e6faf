"""Links: their properties, queues, losses and changes, and the mechanisms in the routers that send into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from selfclock._core import ScenarioError
from selfclock.scenario.quantity import Bdp, Packets, Rate, Size, Time, quantity
from selfclock.scenario.table import Kinds, Named, Setting, Table, plain

if TYPE_CHECKING:
    from os import PathLike

#: A queue limit.
Limit = Packets | Size | Bdp | str


def read_limit(value: object, where: str) -> Limit:
    """Return a queue limit; an error names the argument."""
    found = quantity(value, (Packets, Size, Bdp), where, ("unlimited",))
    return found if isinstance(found, (Packets, Size, Bdp)) else str(found)


class Queue(Named):
    """A queue discipline with its limit and its settings, as `selfclock.queues()` lists them.

    >>> import selfclock as sc
    >>> sc.Queue("codel", limit=sc.packets(1000), target=sc.ms(5))
    Queue('codel', limit=Packets('1000 packets'), target=Time('5 ms'))
    """

    KEY = "discipline"

    def __init__(self, discipline: str, limit: Limit | None = None, **settings: Setting) -> None:
        held = None if limit is None else read_limit(limit, "Queue.limit")
        super().__init__(discipline, {"limit": held}, settings)


class Router(Named):
    """A mechanism in routers with its settings, as `selfclock.routers()` lists them.

    It stands before `links`; "ficcrd" before all links that leave `nodes`.

    >>> import selfclock as sc
    >>> sc.Router("policer", links=["bottleneck"], rate="5 Mbps", burst="30 kB").table()["rate"]
    '5 Mbps'
    """

    KEY = "mechanism"

    def __init__(
        self,
        mechanism: str,
        links: Sequence[str] | None = None,
        nodes: Sequence[str] | None = None,
        **settings: Setting,
    ) -> None:
        for name, given in (("links", links), ("nodes", nodes)):
            if isinstance(given, str):
                raise ScenarioError(f"Router.{name}: {given!r} is a text; write a list such as [{given!r}]")
        super().__init__(mechanism, {"links": links, "nodes": nodes}, settings)


@dataclass(frozen=True)
class GilbertElliott(Table):
    """Bursty loss: a chain of a good and a bad state with one step per packet; all values are probabilities."""

    good_to_bad: float
    bad_to_good: float
    #: Probability of loss in the good state; 0 by default.
    loss_good: float | None = None
    #: Probability of loss in the bad state; 1 by default.
    loss_bad: float | None = None


@dataclass(frozen=True)
class LossBursts(Table):
    """The same chain in time: exponentially distributed times in both states, whatever is sent.

    >>> import selfclock as sc
    >>> sc.Link("10 Mbps", loss=sc.LossBursts(good="2 s", bad=sc.ms(20))).table()["loss"]
    {'good': '2 s', 'bad': '20 ms'}
    """

    #: Mean time in the good state, in which the link begins.
    good: Time | str
    #: Mean time in the bad state.
    bad: Time | str
    #: Probability of loss in the good state; 0 by default.
    loss_good: float | None = None
    #: Probability of loss in the bad state; 1 by default.
    loss_bad: float | None = None

    QUANTITIES: ClassVar[Kinds] = {"good": ((Time,), ()), "bad": ((Time,), ())}


@dataclass(frozen=True)
class DeliveryTrace(Table):
    """Transmission opportunities: times in whole milliseconds, "1 2x3 5", the last of which is the period."""

    opportunities: str
    name: str | None = None


@dataclass(frozen=True)
class Change(Table):
    """A new rate or delay of a link, or both, from a time of the run."""

    at: Time | str
    rate: Rate | str | None = None
    delay: Time | str | None = None

    QUANTITIES: ClassVar[Kinds] = {"at": ((Time,), ()), "rate": ((Rate,), ()), "delay": ((Time,), ())}


@dataclass(frozen=True)
class Link(Table):
    """A link: rate, propagation delay, queue, and imperfections.

    In a `Graph` it is `between` two nodes, from the first to the second and, unless `duplex` is
    false, back.

    >>> import selfclock as sc
    >>> sc.Link("10 Mbps", sc.ms(12), queue=sc.bdp(1), loss=0.001).table()["loss"]
    {'probability': 0.001}
    """

    #: Rate of the transmitter, unless there is a `delivery_trace`.
    rate: Rate | str | None = None
    #: Propagation delay. A `Path` computes it if omitted.
    delay: Time | str | None = None
    #: The queue limit, "unlimited", or a `Queue` with a discipline; by default that of the
    #: discipline, or else one BDP, and "unlimited" for access links.
    queue: Limit | Queue | Mapping[str, object] | None = None
    #: Whether the limit applies to waiting packets, or also counts the one in service.
    queue_counts: Literal["waiting", "in-system"] | None = None
    #: The most packets on the link, waiting and on the wire: "1000 packets", or "unlimited".
    total_limit: Packets | str | None = None
    #: Probability of loss after the queue, a `GilbertElliott` chain by packets, or `LossBursts` in
    #: time.
    loss: float | GilbertElliott | LossBursts | Mapping[str, object] | None = None
    #: A random extra delay of each packet, below this bound and without reordering.
    jitter: Time | str | None = None
    #: The network cards at its ends deliver packets together, this long after the first of them.
    coalescing: Time | str | None = None
    #: Meaning of the time stamps of those cards: when a packet was delivered, or when it arrived.
    coalescing_stamps: Literal["interrupt", "arrival"] | None = None
    #: New rates and delays, each from a time of the run.
    changes: Sequence[Change | Mapping[str, object]] | None = None
    #: A shaper's token bucket, which fills at the rate: so much leaves at once after a pause.
    burst: Size | str | None = None
    #: Rate at which packets leave that have their tokens; by default all at once.
    peak_rate: Rate | str | None = None
    #: A file in Mahimahi's format, or the trace itself.
    delivery_trace: str | PathLike[str] | DeliveryTrace | Mapping[str, object] | None = None
    #: The nodes that it leaves and enters.
    between: tuple[str, str] | None = None
    #: Name in records; by default its nodes, as "a-b".
    name: str | None = None
    #: Whether an equal link exists in the other direction.
    duplex: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {
        "rate": ((Rate,), ()),
        "delay": ((Time,), ()),
        "jitter": ((Time,), ()),
        "coalescing": ((Time,), ()),
        "total_limit": ((Packets,), ("unlimited",)),
        "burst": ((Size,), ()),
        "peak_rate": ((Rate,), ()),
    }
    APART: ClassVar[tuple[str, ...]] = ("between", "loss")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.queue is not None and not isinstance(self.queue, (Queue, Mapping)):
            object.__setattr__(self, "queue", read_limit(self.queue, "Link.queue"))
        check_ends(self.between, "Link")

    def table(self) -> dict[str, object]:
        """Return the keys that are set, as in a scenario file."""
        ends = {} if self.between is None else {"from": self.between[0], "to": self.between[1]}
        keys = {**ends, **super().table()}
        if self.loss is not None:
            whole = isinstance(self.loss, (GilbertElliott, LossBursts, Mapping))
            keys["loss"] = plain(self.loss) if whole else {"probability": plain(self.loss)}
        return keys


def check_ends(between: object, where: str) -> None:
    """Refuse anything but two node names."""
    if between is not None and not (
        isinstance(between, (tuple, list)) and len(between) == 2 and all(isinstance(end, str) for end in between)
    ):
        raise ScenarioError(f'{where}.between: {between!r}; write the names of two nodes, such as ("left", "right")')

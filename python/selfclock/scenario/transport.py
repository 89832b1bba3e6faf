"""Settings of senders and receivers, and of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from selfclock.scenario.keys import DelayedAck, Misbehaviour, Shaper, Timer, Transport
from selfclock.scenario.quantity import Time
from selfclock.scenario.table import Kinds, Table

__all__ = ["DelayedAck", "Misbehaviour", "Record", "Shaper", "Timer", "Transport"]


@dataclass(frozen=True)
class Record(Table):
    """The records to keep."""

    #: Interval of the sampled series: a time, "auto" or "off".
    interval: Time | str | None = None
    #: Whether every packet is recorded, or a time span in which they are.
    packets: bool | None = None
    packets_from: Time | str | None = None
    packets_until: Time | str | None = None
    #: Payload and TLS secrets of the datagrams of QUIC stacks, for captures.
    payload: bool | None = None

    QUANTITIES: ClassVar[Kinds] = {
        "interval": ((Time,), ("auto", "off")),
        **dict.fromkeys(("packets_from", "packets_until"), ((Time,), ())),
    }

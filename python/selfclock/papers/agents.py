"""Agents of other simulators, in the terms of a scenario."""

from __future__ import annotations

#: Defaults of ns-2's agents: TCP/Sack1 with a sink that acknowledges every segment, 1500 B on the
#: wire.
SACK: dict[str, object] = {
    "recovery": "sack",
    "prr": False,
    "mss": "1460 B",
    "timestamps": False,
    "delayed_ack": "off",
    "initial_window": "2 segments",
    "receive_window": "unlimited",
    "byte_counting": False,
    "timer": {"minimum": "200 ms", "initial": "3 s", "granularity": "10 ms"},
}

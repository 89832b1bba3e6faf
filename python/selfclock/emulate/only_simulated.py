"""Keys of a scenario that act in a simulation alone: an emulation has the kernel's TCP, and programs for traffic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from selfclock.emulate.tun import MTU

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from selfclock.scenario import Scenario

#: Keys of a flow that also act in an emulation: they choose hosts and paths, or change its links.
_OF_FLOW = {"name", "count", "from", "to", "dscp", "overhead", "transport"}

#: Keys of a transport that routers read (`paths::placeholder` of the emulator).
_OF_TRANSPORT = {"encrypted"}

#: Length of an IP header, bytes; of UDP's beside it in `packet`.
_IP_BYTES = 20


def notes(scenario: Scenario, defaults: Mapping[str, str]) -> list[str]:
    """Return what to say about keys of the file that do not act; `defaults` are the hosts' congestion controls."""
    table = scenario.document
    keys = ", ".join(dict.fromkeys(_keys(table)))
    names = " and ".join(dict.fromkeys(defaults.values())) or "unknown"
    said = (
        f"these keys of the scenario act in a simulation alone: {keys}. TCP here is the kernel's, by default {names} "
        "(net.ipv4.tcp_congestion_control, which --sysctl sets); a program may choose another"
    )
    return [said, *_too_large(table)]


def _keys(table: Mapping[str, Any]) -> Iterator[str]:
    yield "duration"
    yield from (key for key in ("measure_from", "measure_delays") if key in table)
    if table["network"].get("routing") == "ecmp" or table["network"]["topology"] in {"fat-tree", "leaf-spine"}:
        yield "network.routing"
    yield from (f"transport.{key}" for key in table.get("transport", {}) if key not in _OF_TRANSPORT)
    for flow in table.get("flow", []):
        yield from (f"flow.{key}" for key in flow if key not in _OF_FLOW)
        yield from (f"flow.transport.{key}" for key in flow.get("transport", {}) if key not in _OF_TRANSPORT)


def _too_large(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for each UDP flow whose packets a host's device does not carry whole."""
    for number, flow in enumerate(table.get("flow", []), 1):
        traffic = flow.get("traffic")
        sizes = _sizes(traffic.get("packet")) if isinstance(traffic, dict) else []
        largest = max(sizes, default=0)
        if largest > MTU:
            # RFC 791: every fragment but the last carries a multiple of 8 bytes.
            pieces = math.ceil((largest - _IP_BYTES) / ((MTU - _IP_BYTES) // 8 * 8))
            name = flow.get("name", f"flow{number}")
            yield (
                f"flow {name!r}: packets of {largest} B: a host's device carries {MTU} B, so a program's datagram of "
                f"that size crosses in {pieces} fragments and is lost with any of them; simulated it is one packet"
            )


def _sizes(packet: object) -> Iterable[int]:
    """Return the sizes of a flow's packets that are written in bytes, all that can exceed the MTU."""
    given = [each.get("size") for each in packet] if isinstance(packet, list) else [packet]
    return [_bytes(text) for text in given if isinstance(text, str)]


def _bytes(text: str) -> int:
    units = {"B": 1, "kB": 1000, "KiB": 1024}
    number, _, unit = text.strip().partition(" ")
    return int(float(number) * units[unit]) if unit in units else 0

"""Scenarios that can have a twin: checked before anything runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from selfclock.scenario import Scenario

#: Payload of a full segment on the hosts of an emulation: an MTU of 1500 bytes, IPv4, timestamps.
PAYLOAD_BYTES = 1448

#: Bytes of the timestamps option, which TCP_MAXSEG counts as payload.
TIMESTAMPS_BYTES = 12

#: The kernel's initial window (RFC 6928), in segments.
INITIAL_WINDOW = 10

#: `net.ipv4.tcp_ecn` of the hosts: 3 asks for accurate ECN (RFC 9768), which Linux has from 6.18
#: on.
ECN_SYSCTL = {"off": "0", "classic": "1", "accurate": "3"}

#: Algorithms of the library whose kernel version has another name.
KERNEL_NAMES = {"bbr3": "bbr", "prague": "dctcp"}

_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


class TwinError(BadInputError):
    """A scenario that cannot have a twin."""


@dataclass(frozen=True)
class Sender:
    """A TCP flow of the scenario, for a program that replaces it on a real host."""

    #: Its index among the flows of the scenario.
    index: int
    name: str
    label: str
    #: Equal for flows with the same algorithm and parameters.
    control: str
    start_s: float
    stop_s: float | None
    bytes: int | None
    rate_bps: int | None
    #: Size of one write at this rate; None: single bytes, as they come.
    write_bytes: int | None
    #: For TCP_MAXSEG; None leaves it to the MTU.
    segment: int | None
    payload_bytes: int
    ecn: str

    def kernels_own(self, available: list[str]) -> str | None:
        """Return the closest kernel algorithm; None if the kernel has none."""
        for part in self.label.split("+"):
            name = KERNEL_NAMES.get(part, part)
            if name in available:
                return name
        return None


def available() -> list[str]:
    """Return the congestion controls that the kernel offers."""
    return _AVAILABLE.read_text(encoding="ascii").split()


def senders(scenario: Scenario) -> tuple[list[Sender], list[str]]:
    """Return the senders of a dumbbell, and notes on the kernel's differences; refuse what cannot have a twin."""
    source = scenario._core.source_name
    topology = scenario.document["network"].get("topology", "graph")
    if topology != "dumbbell":
        raise TwinError(f"{source}: network.topology: a twin needs a dumbbell; this is a {topology}")
    found, notes = [], []
    for index, row in enumerate(json.loads(scenario._core.senders)):
        where = f"{source}: flow {row['name']}"
        _check(where, row)
        full = PAYLOAD_BYTES if row["timestamps"] else PAYLOAD_BYTES + TIMESTAMPS_BYTES
        payload = row["payload_bytes"]
        if payload > full:
            raise TwinError(f"{where}: segments of {payload} bytes do not fit the hosts' MTU; at most {full} bytes do")
        if not row["timestamps"]:
            notes.append(f"{row['name']}: the kernel uses timestamps, the scenario does not")
        if row["initial_window"] != INITIAL_WINDOW:
            begins = f"the scenario with {row['initial_window']:g}"
            notes.append(f"{row['name']}: the kernel begins with {INITIAL_WINDOW} segments, {begins}")
        if row["start_jitter_s"]:
            notes.append(f"{row['name']}: real flows start without the scenario's random delay")
        found.append(
            Sender(
                index, row["name"], row["label"], row["control"], row["start_s"], row["stop_s"], row["bytes"],
                row["rate_bps"], row["write_bytes"],
                payload + TIMESTAMPS_BYTES if payload != PAYLOAD_BYTES else None, payload, row["ecn"],
            )
        )  # fmt: skip
    if len({sender.ecn for sender in found}) > 1:
        raise TwinError(f"{source}: some flows use ECN and others do not, or in another way; a twin has one setting")
    return found, notes


def _check(where: str, row: dict[str, object]) -> None:
    """Refuse a flow that a program cannot replace."""
    refused = {
        "udp": "it is UDP; a twin has TCP flows alone",
        "stack": f"it is QUIC ({row.get('label')}), which the kernel does not have; a twin has TCP flows alone",
        "connections": "it is many short connections; a twin has flows of one connection each",
    }
    kind = row["kind"]
    if kind in refused:
        raise TwinError(f"{where}: {refused[str(kind)]}")
    if row["steps"]:
        raise TwinError(f"{where}: its application has steps; a twin has bulk, a size or one rate")

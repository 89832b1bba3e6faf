"""The simulator's FICCRD router at the edge of a real network: it limits the windows of ACKs that pass a device."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import _core
from selfclock.kernel.machine import KernelError, need_linux
from selfclock.kernel.thread import Running
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A scenario with the device's router; its flow represents all passing ones.
_SCENARIO = """\
schema = 1
name = "edge"
duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = {{ rate = "{rate}", delay = "1 ms", queue = "{buffer}" }}
access = {{ rate = "{rate}", delay = "1 ms" }}
[[router]]
mechanism = "ficcrd"
nodes = ["left", "right"]
[[flow]]
congestion_control = "reno"
"""


@dataclass(frozen=True)
class EdgeFlow:
    """A passing flow, from source to receiver."""

    source: str
    port: int
    receiver: str
    receiver_port: int
    data_bytes: int
    #: ACKs that passed, and those whose window was lowered.
    acks: int
    acks_lowered: int
    #: Window of the last ACK as forwarded.
    window_bytes: int
    #: Rate of its data, and its allowed rate; None before known.
    rate_bps: float | None
    allowed_bps: float | None
    allowed_window_bytes: int | None
    #: Round-trip time through the device, smoothed; None before known.
    rtt_s: float | None


@dataclass(frozen=True)
class EdgeStatus:
    """Counters of a flow that passes."""

    #: The virtual queue: passed bytes, served at the rate.
    queue_bytes: float
    flows: list[EdgeFlow]


def router(rate: str, buffer: str, settings: Sequence[str] = ()) -> Scenario:
    """Return a scenario whose FICCRD router has this rate, this buffer and these settings ("beta=0.1")."""
    overrides = [f"router[0].{setting}" for setting in settings]
    return Scenario.parse(_SCENARIO.format(rate=rate, buffer=buffer), "edge", overrides)


class Edge(Running[EdgeStatus]):
    """The router of a scenario at a device, until the end of a `with` block; then windows pass unchanged."""

    def __init__(self, scenario: Scenario, device: str, *, limits: bool = True) -> None:
        """Attach it to the device that faces the sources. Without `limits` it only computes the windows."""
        need_linux()
        try:
            self._core = _core.KernelEdge(scenario._core, device)
        except (OSError, ValueError) as error:
            raise KernelError(str(error)) from None
        super().__init__(lambda: self._core.run(limits), self._core.stop, "selfclock-edge")

    def status(self) -> EdgeStatus:
        """Return the current flows."""
        document = json.loads(self._core.status())
        return EdgeStatus(document["queue_bytes"], [EdgeFlow(**flow) for flow in document["flows"]])

    def stop(self) -> EdgeStatus:
        """End it, and return the last flows."""
        found = super().stop()
        if self._error is not None:
            raise KernelError(f"the limits cannot be written: {self._error.strerror or self._error}")
        return found

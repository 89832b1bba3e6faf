"""A session: an algorithm registered in the kernel, and the thread that drives its connections."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock import _core
from selfclock.kernel.machine import KernelError, need_linux
from selfclock.kernel.thread import Running

if TYPE_CHECKING:
    from os import PathLike

    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class FlowStatus:
    """A connection, after its last event."""

    id: int
    port: int
    peer: str
    peer_port: int
    age_s: float
    acknowledged_bytes: int
    #: Segments.
    cwnd: int
    ssthresh: int
    srtt_us: int
    mss_bytes: int
    pacing_bytes_per_s: int
    retransmissions: int
    phase: str
    #: Whether Reno controls it because no event was answered in time.
    fallback: bool
    #: Its counters in the kernel part.
    counts: dict[str, int]


@dataclass(frozen=True)
class Status:
    """The progress of a session."""

    flows: list[FlowStatus]
    events: int
    flows_so_far: int
    #: Connections that had started before their first event.
    adopted: int
    #: Number of times an algorithm restarted because events were missing.
    gaps: int
    #: Events of connections that Reno controlled.
    fallback_events: int
    without_slot: int
    lost_events: int
    fallbacks: int
    #: Counters of ended connections, from the kernel part.
    ended: dict[str, int]
    #: Counters of TCP options; `None` without.
    options: dict[str, int] | None
    #: Time from an event to its answer: p50, p99, p99.9 and max; `None` before the first.
    latency_us: dict[str, float | None]
    #: Processor time of the thread, and the share spent on events.
    processor_s: float
    events_s: float
    #: Algorithms that failed: flow, time and reason.
    failures: list[dict[str, Any]]
    record_error: str | None
    realtime_error: str | None
    #: Whether `selfclock kernel unload` ended it.
    asked_to_stop: bool


class Session(Running[Status]):
    """An algorithm in control of real connections, until the end of a `with` block.

    Sockets choose it by name (TCP_CONGESTION). At the end the name is unregistered and connections
    continue under Reno. `selfclock kernel unload` ends it, too.
    """

    def __init__(
        self,
        algorithm: str | tuple[Scenario, int],
        name: str = "selfclock",
        *,
        nap_us: int | None = 200,
        realtime: bool = False,
        record: str | PathLike[str] | None = None,
        sent: str | None = None,
        options: str | PathLike[str] | None = None,
    ) -> None:
        """Register an algorithm such as "cubic+hystart++:beta=0.8", or that of a scenario's flow, by index.

        `nap_us` is the time between two polls for events: 0 polls continuously and occupies a core;
        `None` wakes for every event, which costs the kernel some 15 µs each. `sent` names the
        device of this network namespace that reports each data packet as it takes it; without one
        the algorithm sees packets at the next ACK. `options` is a directory of cgroup v2: new
        connections of its processes carry the algorithm's TCP options.
        """
        need_linux()
        try:
            chosen = algorithm if isinstance(algorithm, str) else (algorithm[0]._core, algorithm[1])
            self._core = _core.KernelSession(chosen, name, nap_us, realtime, record, sent, options)
        except ValueError as error:
            raise KernelError(f"algorithm: {error}") from None
        except OSError as error:
            raise KernelError(str(error)) from None
        #: Connections left behind by an earlier process.
        self.taken_over: int = self._core.taken_over
        super().__init__(self._core.run, self._core.stop, "selfclock-kernel")

    def status(self) -> Status:
        """Return the progress, at most 0.2 s old."""
        document = json.loads(self._core.status())
        return Status(**{**document, "flows": [FlowStatus(**flow) for flow in document["flows"]]})

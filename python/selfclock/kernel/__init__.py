"""Algorithms in control of real Linux TCP connections: a session, its record, and the replay of one."""

from selfclock.kernel.edge import Edge, EdgeFlow, EdgeStatus, router
from selfclock.kernel.machine import Finding, KernelError, Left, check, registered, unload
from selfclock.kernel.record import EVENTS, Replay, read_record, replay
from selfclock.kernel.session import FlowStatus, Session, Status

__all__ = [
    "EVENTS",
    "Edge",
    "EdgeFlow",
    "EdgeStatus",
    "Finding",
    "FlowStatus",
    "KernelError",
    "Left",
    "Replay",
    "Session",
    "Status",
    "check",
    "read_record",
    "registered",
    "replay",
    "router",
    "unload",
]

"""Algorithms in control of real Linux TCP connections: sessions, residents of the kernel, records and their replay."""

from selfclock.kernel.edge import Edge, EdgeFlow, EdgeStatus, router
from selfclock.kernel.machine import Finding, KernelError, Left, check, registered, unload
from selfclock.kernel.record import EVENTS, Replay, read_record, replay
from selfclock.kernel.resident import (
    Object,
    Recorded,
    Recording,
    Resident,
    load,
    load_object,
    make_default,
    objects,
    residents,
    unload_residents,
)
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
    "Object",
    "Recorded",
    "Recording",
    "Replay",
    "Resident",
    "Session",
    "Status",
    "check",
    "load",
    "load_object",
    "make_default",
    "objects",
    "read_record",
    "registered",
    "replay",
    "residents",
    "router",
    "unload",
    "unload_residents",
]

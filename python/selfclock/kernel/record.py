"""Records of real connections: events and answers, and the files made from them at the end of a session."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock import _core
from selfclock.errors import BadInputError, WorkError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
else:
    from selfclock.lazy import pl

#: Events and answers: complete, and while being written.
EVENTS, PARTIAL = "events.log", "events.log.partial"
#: Series of all connections, in the format of simulated flows.
SERIES = "flows.parquet"
#: Command, machine and counters of a session.
SUMMARY = "kernel.json"
#: Time between two samples of a connection.
INTERVAL_S = 0.01


class RecordError(BadInputError):
    """A file is not a record, or is damaged."""


class DifferenceError(WorkError):
    """A replay does not reproduce the recorded answers."""


@dataclass(frozen=True)
class Replay:
    """The extent of a replay."""

    algorithm: str
    #: Where the record was made.
    about: str
    events: int
    #: Answers that were compared, all equal.
    answers: int
    #: TCP options of segments that were compared, all equal.
    options: int
    flows: int
    #: How often the connections went through what: "timeout", "undo" and so on.
    phases: dict[str, int]


def read_record(path: Path) -> bytes:
    """Return the bytes of a record: a file, or the one in a directory."""
    if path.is_dir():
        if not (path / EVENTS).is_file() and (path / PARTIAL).is_file():
            raise RecordError(f"{path}: its record is incomplete: the session was killed; name {PARTIAL} itself")
        path = path / EVENTS
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror or error}") from None


def replay(path: Path, algorithm: str | None = None) -> Replay:
    """Replay a record through its algorithm, or another, and require the recorded answers, bit for bit."""
    log = read_record(path)
    try:
        return Replay(**json.loads(_core.kernel_replay(log, algorithm)))
    except ValueError as error:
        kind = DifferenceError if "on record" in str(error) else RecordError
        raise kind(f"{path}: {error}") from None


def complete(directory: Path, summary: dict[str, Any]) -> Replay:
    """Complete a session's record: replay it, and add a trace of each connection and the series."""
    partial, events = directory / PARTIAL, directory / EVENTS
    done = replay(partial)
    log = read_record(partial)
    for number, port, peer_port, trace in _core.kernel_traces(log):
        (directory / f"flow-{number}-{port}-{peer_port}.trace").write_bytes(trace)
    pl.DataFrame(_core.kernel_series(log, INTERVAL_S)).write_parquet(directory / SERIES)
    (directory / SUMMARY).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    partial.replace(events)
    return done

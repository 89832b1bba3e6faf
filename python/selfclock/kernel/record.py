"""Records of real connections: events and answers, and the files made from them at the end of a session."""

from __future__ import annotations

import io
import json
import subprocess
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


class UnknownAlgorithmError(RecordError):
    """The record is of an algorithm that this process does not know."""


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


def replay(path: Path, algorithm: str | None = None, program: Path | None = None) -> Replay:
    """Replay a record through its algorithm, or another, and require the recorded answers, bit for bit.

    The record of a user's own algorithm is replayed by the program that `selfclock kernel build`
    made of its crate.
    """
    log = read_record(path)
    if program is not None:
        return Replay(**json.loads(_run(program, "replay", path / EVENTS if path.is_dir() else path)))
    try:
        return Replay(**json.loads(_core.kernel_replay(log, algorithm)))
    except ValueError as error:
        raise _refused(path, str(error)) from None


def _refused(path: Path, said: str) -> BadInputError | WorkError:
    if "unknown algorithm" in said:
        return UnknownAlgorithmError(
            f"{path}: {said}; --with names the program that selfclock kernel build made of its crate"
        )
    return (DifferenceError if "on record" in said else RecordError)(f"{path}: {said}")


def _run(program: Path, what: str, record: Path, *rest: str) -> str:
    """Run a program of `selfclock kernel build` on a record, and return its output."""
    try:
        done = subprocess.run(  # noqa: S603  the user names it
            [program.resolve(), what, record, *rest], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise RecordError(f"{program}: {error.strerror or error}") from None
    if done.returncode:
        raise _refused(record, done.stderr.strip())
    return done.stdout


def complete(directory: Path, summary: dict[str, Any], program: Path | None = None) -> Replay:
    """Complete a session's record: replay it, and add a trace of each connection and the series.

    The record of an unknown algorithm is completed without them.
    """
    partial, events = directory / PARTIAL, directory / EVENTS
    (directory / SUMMARY).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    try:
        done = replay(partial, program=program)
    except UnknownAlgorithmError:
        partial.replace(events)
        raise
    if program is not None:
        _run(program, "traces", partial, str(directory))
        table = _run(program, "series", partial, f"{INTERVAL_S * 1e9:.0f}")
        series = pl.read_csv(io.StringIO(table), infer_schema_length=None)
    else:
        log = read_record(partial)
        for number, port, peer_port, trace in _core.kernel_traces(log):
            (directory / f"flow-{number}-{port}-{peer_port}.trace").write_bytes(trace)
        series = pl.DataFrame(_core.kernel_series(log, INTERVAL_S))
    series.write_parquet(directory / SERIES)
    partial.replace(events)
    return done

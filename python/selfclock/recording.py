"""Packet records written during the run, in bounded memory."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from selfclock import _core
from selfclock.save import PACKETS, CaptureKind, UnwritableError, captures, metadata, staged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: A run that records packets stops before the free disk space falls below this, bytes.
LEAST_FREE = 1_000_000_000

#: Seconds between checks of the disk: a fast run writes 0.2 GB in this time.
PATIENCE_S = 0.2


def record(
    scenario: Scenario,
    directory: Path,
    *,
    pcap: Sequence[CaptureKind] = (),
    progress: Callable[[float], object] | None = None,
    threads: int = 1,
) -> Result:
    """Run a scenario and write its packet events, and captures of hosts or links, into an existing directory.

    Records have one order, so they are written by a single one of `threads`; `Result.undivided`
    says so. The files are complete on return. After an exception the directory holds partial files.
    """
    table = directory / PACKETS
    taps = [(kind, name, directory / file) for kind, name, file in captures(scenario, pcap)]
    about = list(metadata(scenario).items())
    outcome = _core.run(scenario._core, _watching(directory, progress), (table, about), taps, threads=threads)
    return scenario._result(outcome, table)


def record_to(
    scenario: Scenario, directory: Path, progress: Callable[[float], object] | None = None, *, threads: int = 1
) -> Result:
    """Run a scenario and write its packet events to `packets.parquet` in a directory, which is created if missing.

    The file gets its name once complete: a run that fails or is interrupted leaves nothing.
    """
    with staged(directory) as aside:
        result = record(scenario, aside, progress=progress, threads=threads)
    return result.moved(directory)


def _watching(directory: Path, progress: Callable[[float], object] | None) -> Callable[[float], None]:
    """Return a progress callback that stops the run before the disk is full."""
    looked = 0.0

    def watch(done: float) -> None:
        nonlocal looked
        if progress is not None:
            progress(done)
        if time.monotonic() < looked + PATIENCE_S:
            return
        looked = time.monotonic()
        free = shutil.disk_usage(directory).free
        if free < LEAST_FREE:
            raise UnwritableError(
                f"cannot write {PACKETS}: the packet record fills the disk: {free / 1e6:,.0f} MB are free, and "
                f"{LEAST_FREE / 1e6:,.0f} MB must stay free, {done:.1%} into the run, of which nothing is kept: "
                "shorten it, or write to another disk"
            )

    return watch

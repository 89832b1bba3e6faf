"""The record of an emulation: its real packets once more, through the simulator's network.

Which programs sent what cannot be checked. That links, queues and routers did to every packet what they do to the same
packets in a simulation can: they are sent again at the recorded times, and each event must come out as it is recorded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from selfclock import _core
from selfclock.verify.promised import SECOND
from selfclock.verify.record import UnreadableError
from selfclock.verify.violation import Findings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def emulated_summary(path: Path) -> str | None:
    """Return the summary of an emulation whose directory this is; none if it is no emulation's."""
    try:
        text = (path / "summary.json").read_text(encoding="utf-8")
        document = json.loads(text)
    except (OSError, ValueError):
        return None
    return text if isinstance(document, dict) and "emulation" in document else None


def verify_emulation(path: Path, summary: str, progress: Callable[[float], object] | None = None) -> Findings:
    """Replay the recorded emulation in a directory, whose summary this is, and compare every event."""
    table = path / "packets.parquet"
    if not table.exists():
        raise UnreadableError(f"{path} holds no packets.parquet: emulate the scenario with --record")
    try:
        about = pl.read_parquet_metadata(table)
        scenario = _core.Scenario.parse(about["selfclock.scenario"], str(path)).with_seed(int(about["selfclock.seed"]))
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError) as error:
        raise UnreadableError(f"{table} is damaged or of another version: {str(error).splitlines()[0]}") from None
    try:
        sent, dropped, marked, differences = _core.replay(scenario, summary, table, progress)
    except _core.EmulationError as error:
        raise UnreadableError(f"{path}: {error}") from None
    findings = Findings()
    findings.count("replay", sent)
    findings.count("drop", dropped)
    findings.count("mark", marked)
    for time_s, what in differences:
        findings.add("replay", round(time_s * SECOND), "network", None, what)
    return findings

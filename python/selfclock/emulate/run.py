"""An emulation from start to end: hosts, commands, and the result in a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.emulate.capture_order import sort
from selfclock.emulate.session import Files, Session
from selfclock.result import Result
from selfclock.save import PACKETS, captures, metadata

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from selfclock.emulate.addresses import EmulatedHost
    from selfclock.emulate.session import Command, Settings
    from selfclock.scenario import Scenario


def emulate(
    scenario: Scenario,
    hosts: Sequence[EmulatedHost],
    commands: Sequence[Command],
    settings: Settings,
    directory: Path | None = None,
) -> tuple[Result, int]:
    """Run commands on the hosts of a scenario; return the result and the exit status of the last command.

    With a directory, which exists, every packet is written there while it goes on, with a capture
    for each host.
    """
    files = Files()
    if directory is not None:
        taps = tuple((node, directory / file) for _, node, file in captures(scenario, ["host"]))
        files = Files((directory / PACKETS, list(metadata(scenario).items())), taps)
    found = Session(scenario, hosts, commands, settings, files).run()
    for _, capture in files.captures:
        if capture.exists():
            sort(capture)
    seen = scenario.emulated(found.outcome)
    return Result(seen, found.outcome, directory and directory / PACKETS), found.status


def recorded_files(scenario: Scenario) -> dict[str, str]:
    """Return the captures that `emulate` writes into a directory, with descriptions."""
    return {file: f"packets that {node} sent and received" for _, node, file in captures(scenario, ["host"])}

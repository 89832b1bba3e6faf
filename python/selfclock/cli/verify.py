"""`selfclock verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from selfclock.cli.messages import FAILED, print_json
from selfclock.cli.options import Json
from selfclock.progress import progress_bar
from selfclock.verify import verify_path

#: Violations that `verify` prints; one fault of an engine breaks a rule for every packet.
MOST_LINES = 1000

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock run examples/one-flow.toml --set record.packets=true",
    "selfclock verify results/one-flow",
)


def command(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="Directory of a run, or its packets.parquet.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """The record is one of a run with record.packets=true. Exit status 1 if a rule is broken."""
    with progress_bar("verify") as progress:
        findings = verify_path(record, progress)
    if as_json:
        print_json(findings.document(str(record)))
    else:
        for violation in findings.violations[:MOST_LINES]:
            sys.stdout.write(f"{violation}\n")
        more = len(findings.violations) - MOST_LINES
        if more > 0:
            sys.stdout.write(f"and {more:,} more: --json lists all\n")
        sys.stdout.write(findings.verdict() + "\n")
    if findings.violations:
        raise typer.Exit(FAILED)

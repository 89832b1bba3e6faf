"""`selfclock verify`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from selfclock.cli.messages import FAILED, print_json
from selfclock.cli.options import PATH, json_option
from selfclock.progress import progress_bar
from selfclock.verify import verify_path

if TYPE_CHECKING:
    from pathlib import Path

#: Maximum number of violations printed; one fault of an engine breaks a rule for every packet.
MOST_LINES = 1000

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock run examples/one-flow.toml --set record.packets=true",
    "selfclock verify results/one-flow",
)


@click.argument("record", type=PATH, metavar="RECORD", help="Directory of a run, or its packets.parquet.")
@json_option
def command(record: Path, as_json: bool) -> None:
    """The run must have record.packets=true. The exit status is 1 if a rule is violated."""
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
        raise Exit(FAILED)

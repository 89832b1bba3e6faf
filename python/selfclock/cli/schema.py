"""`selfclock schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from selfclock.cli.messages import print_json
from selfclock.cli.options import algorithm_option
from selfclock.custom import load_algorithms
from selfclock.scenario import grid_schema, schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock schema > scenario.schema.json",
    "selfclock schema --grid > grid.schema.json",
)


@click.option("--grid", is_flag=True, help="The schema of grid files, for sweeps.")
@algorithm_option
def command(grid: bool, algorithm_files: Sequence[Path]) -> None:
    """Editors use it to complete and check scenario files."""
    load_algorithms(*algorithm_files)
    print_json(grid_schema() if grid else schema())

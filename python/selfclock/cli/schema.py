"""`selfclock schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from selfclock.cli.messages import print_json
from selfclock.cli.options import AlgorithmFiles
from selfclock.own import load_algorithms
from selfclock.scenario import grid_schema, schema

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock schema > scenario.schema.json",
    "selfclock schema --grid > grid.schema.json",
)


def command(
    grid: Annotated[bool, typer.Option("--grid", help="Of grid files, which say what a sweep runs.")] = False,
    algorithm_files: AlgorithmFiles = None,
) -> None:
    """Editors complete and check scenario files with it."""
    load_algorithms(*(algorithm_files or []))
    print_json(grid_schema() if grid else schema())

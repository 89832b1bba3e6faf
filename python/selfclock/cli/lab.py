"""`selfclock lab`."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from selfclock import lab
from selfclock.cli.options import PATH, algorithm_option, set_option
from selfclock.custom import load_algorithms
from selfclock.errors import BadInputError
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock lab",
    "selfclock lab scenario.toml --set 'network.bottleneck.rate=20 Mbps'",
    "selfclock lab --port 8000 --no-browser",
)


@click.argument("file", required=False, type=PATH, metavar="[SCENARIO]", help="Scenario to open in the page.")
@set_option
@algorithm_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of the server on this machine.  [default: any that is free]",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
def command(
    file: Path | None, overrides: Sequence[str], algorithm_files: Sequence[Path], port: int, no_browser: bool
) -> None:
    """The page needs no network: it simulates in the browser, and nothing leaves it. Ctrl-C ends the server."""
    if overrides and file is None:
        raise click.UsageError("--set needs a scenario to change")
    load_algorithms(*algorithm_files)
    fragment = "" if file is None else lab.fragment(_shown(Scenario.load(file, overrides)))
    with lab.server(lab.page(), port) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        sys.stdout.write(f"{address}{fragment}\nCtrl-C ends it.\n")
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address + fragment)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def _shown(scenario: Scenario) -> str:
    """Return the text of a scenario that the page can run."""
    if own := list(scenario.sources):
        raise BadInputError(
            f"{scenario.name}: {', '.join(own)} is Python, and the page runs in a browser, with the built-in "
            "algorithms alone; choose one of these with --set, as flow.0.congestion_control=cubic"
        )
    return scenario.text

"""`selfclock algorithms`."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import click

from selfclock._core import known_elsewhere
from selfclock.algorithms import algorithms, queues, routers
from selfclock.cli.layout import Column, console, print_table
from selfclock.cli.messages import UsageError, print_json
from selfclock.cli.options import algorithm_option, complete_named, json_option
from selfclock.custom import load_algorithms
from selfclock.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: The QUIC stacks, whose controllers are named "quinn:bbr" and so on, built in or not.
STACKS = ("quinn", "noq")

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock algorithms",
    "selfclock algorithms cubic",
    "selfclock algorithms --queues --routers --json",
)


@click.argument(
    "name",
    required=False,
    metavar="[NAME]",
    help="An algorithm, queue discipline or router mechanism.",
    shell_complete=complete_named,
)
@click.option("--queues", "only_queues", is_flag=True, help="Queue disciplines instead of algorithms.")
@click.option("--routers", "only_routers", is_flag=True, help="Router mechanisms instead of algorithms.")
@algorithm_option
@json_option
def command(
    name: str | None, only_queues: bool, only_routers: bool, algorithm_files: Sequence[Path], as_json: bool
) -> None:
    """Without a name, one line each; with a name, all parameters."""
    load_algorithms(*algorithm_files)
    asked = [*(queues() if only_queues else []), *(routers() if only_routers else [])]
    known = asked or [*algorithms(), *([] if name is None else [*queues(), *routers()])]
    chosen = [algorithm for algorithm in known if name in (None, algorithm.name)]
    if not chosen:
        raise UsageError(_unknown(name or "", [each.name for each in known]))
    if as_json:
        print_json({"algorithms": [dataclasses.asdict(algorithm) for algorithm in chosen]})
        return
    if name is None:
        print_table(
            [
                Column("algorithm", [each.name for each in chosen], "name"),
                Column("part", [each.part for each in chosen], "name"),
                Column("what it does", [each.about for each in chosen], "text"),
                Column("source", [each.source for each in chosen], "text"),
            ]
        )
        sys.stdout.write("\nselfclock algorithms NAME shows the parameters of one.\n")
        return
    from rich.padding import Padding  # noqa: PLC0415

    screen = console()
    for algorithm in chosen:
        screen.print(f"[bold]{algorithm.name}[/bold] ({algorithm.part})\n{algorithm.about}\n{algorithm.source}\n")
        if algorithm.recovery:
            idle = f"after a pause longer than the retransmission timeout it {algorithm.after_idle}"
            screen.print(f"In fast recovery the window is {algorithm.recovery}; {idle}.\n", highlight=False)
        for parameter in algorithm.parameters:
            default = f" = {parameter.default}" if parameter.default else ", required"
            default += f" with {parameter.requires}" if parameter.requires else ""
            screen.print(f"[bold]{parameter.name}[/bold]{default}", highlight=False)
            source = f"\nSource: {parameter.source}." if parameter.source else ""
            details = f"{parameter.about}\nAllowed: {parameter.allowed_text}.{source}"
            screen.print(Padding(details, (0, 0, 1, 4)), highlight=False)


def _unknown(name: str, known: Sequence[str]) -> str:
    """Return the message on an unknown name; settings and a stack are not part of a name."""
    own, colon, rest = name.partition(":")
    if answer := known_elsewhere(own):
        return f"no algorithm is named {own!r}; {answer}"
    if colon and own in STACKS:
        return f"{name!r} is the controller {rest!r} of the QUIC stack {own}, which has no parameters here"
    if colon and own in known:
        return f"{name!r} is {own!r} with settings; give the name alone"
    return unknown("algorithm", name, known)

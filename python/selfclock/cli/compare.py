"""`selfclock compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from selfclock import cells
from selfclock.cli import tables
from selfclock.cli.messages import note, print_document
from selfclock.cli.options import AlgorithmFiles, Formats, Json, Out, complete_algorithm
from selfclock.compare import compare
from selfclock.own import load_algorithms
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_comparison
from selfclock.save import check_writable, identity, parse_formats

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock compare reno cubic bbr3",
    "selfclock compare reno cubic+hystart++ --rate 50Mbps --rtt 80ms --buffer 2bdp --flows 2",
)


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM",
            help="Such as reno, packet-pair or cubic+hystart++.",
            show_default=False,
            autocompletion=complete_algorithm,
        ),
    ] = None,
    rate: Annotated[str, typer.Option(help="Rate of the bottleneck.")] = "100Mbps",
    rtt: Annotated[str, typer.Option(help="Round-trip time of the empty network.")] = "40ms",
    buffer: Annotated[str, typer.Option(help="Queue of the bottleneck.")] = "1bdp",
    flows: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of flows.")] = 1,
    duration: Annotated[str, typer.Option(help="Simulated time.")] = "60s",
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the start times.")] = 1,
    out: Out = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """The path is a dumbbell; the default is one flow of 60 s over 100 Mbit/s and 40 ms."""
    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    directory = out or Path("results/compare")
    check_writable(directory)
    with progress_bar("compare") as progress:
        comparison = compare(names or [], rate, rtt, buffer, flows, duration, seed=seed, progress=progress)
    note(*comparison.notes, replaced(directory, "compare.json", identity(comparison.scenarios)))
    written = publish_comparison(comparison, directory, formats=kinds)
    if as_json:
        print_document(directory / "compare.json")
        return
    table = tables.table(
        "algorithm", "goodput\nMbit/s", "busy\n%", "Jain", "RTT ms\nmean", "\n95 %", "segments\nagain",
        "time-\nouts", "queue\npackets", left=1,
    )  # fmt: skip
    for row in comparison.measures:
        table.add_row(*cells.of_algorithm(row))
    console = tables.console()
    console.print(f"{comparison.path}, {duration}\n", highlight=False)
    console.print(table)
    sys.stdout.write(f"\nReport: {written}\n")

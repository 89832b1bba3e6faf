"""`selfclock compare`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from selfclock import hints
from selfclock._core import ScenarioError
from selfclock.algorithms import queues
from selfclock.cli.layout import columns_of, print_table
from selfclock.cli.messages import hinted, note, print_document, print_written
from selfclock.cli.options import (
    AlgorithmFiles,
    Formats,
    JsonOrFiles,
    Out,
    Threads,
    complete_algorithm,
    completed_from,
    destination,
)
from selfclock.compare import MOST_SEEDS, compare
from selfclock.compare.scenarios import BUFFER, DURATION, ECN, FLOWS, RATE, RTT
from selfclock.documents import comparison_document
from selfclock.own import load_algorithms
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_comparison
from selfclock.save import identity, parse_formats
from selfclock.scenario import Scenario

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock compare reno cubic bbr3",
    "selfclock compare reno cubic+hystart++ --rate 50Mbps --rtt 80ms --buffer 2bdp --flows 2",
    "selfclock compare cubic cubic:beta=0.8 --seeds 10",
    "selfclock compare cubic bbr3 prague --queue dualpi2 --ecn auto",
    "selfclock compare reno bbr3 --scenario examples/lte.toml --queue codel:target=10ms",
)


#: Columns that go first from a narrow terminal.
SPARE = {"busy\n%": 2, "Jain": 1}


def _complete_queue(incomplete: str) -> list[str]:
    return completed_from((queue.name for queue in queues()), incomplete)


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM",
            help="Such as reno, cubic+hystart++, or with parameters cubic:beta=0.8.",
            show_default=False,
            autocompletion=complete_algorithm,
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help=f"Rate of the bottleneck.  [default: {RATE}]")
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(metavar="TIME", help=f"Round-trip time of the empty network.  [default: {RTT}]")
    ] = None,
    buffer: Annotated[
        str | None, typer.Option(metavar="SIZE", help=f"Queue of the bottleneck.  [default: {BUFFER}]")
    ] = None,
    flows: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, metavar="N", help=f"Number of flows.  [default: {FLOWS}]")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help=f"Simulated time.  [default: {DURATION}, or that of the scenario]"),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The path and the flows of a scenario file (TOML) in place of a dumbbell."),
    ] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Compare the algorithm of this flow alone; may be repeated."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Another value for a key: --set transport.mss='512 B'."),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="DISCIPLINE",
            help="Of the bottleneck, such as dualpi2 or codel:target=5ms.",
            autocompletion=_complete_queue,
        ),
    ] = None,
    ecn: Annotated[
        str | None, typer.Option(metavar="MODE", help=f"{', '.join(ECN)}: what each algorithm responds to.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, metavar="N", help="Seed of every random stream.")
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Number of seeds: means with 95 % confidence intervals."),
    ] = 1,
    threads: Threads = None,
    out: Out = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: JsonOrFiles = False,
) -> None:
    """The path is that of a scenario, or a dumbbell; the default is one flow of 60 s over 100 Mbit/s and 40 ms."""
    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    directory = destination(out, Path("results/compare"), only_printed=as_json and not kinds)
    loaded = None if scenario is None else _load(scenario)
    with progress_bar("compare") as progress:
        comparison = compare(
            names or [], rate, rtt, buffer, flows, duration, scenario=loaded, overrides=overrides or [],
            flow=flow or [], queue=queue, ecn=ecn, seed=seed, seeds=seeds, threads=threads, progress=progress,
        )  # fmt: skip
    note(*comparison.notes)
    if directory is None:
        print_document(comparison_document(comparison).made())
        return
    note(replaced(directory, "compare.json", identity(comparison.scenarios)))
    written = publish_comparison(comparison, directory, formats=kinds)
    if as_json:
        print_written(directory / "compare.json")
        return
    sys.stdout.write(f"{comparison.path}\n\n")
    columns = columns_of(comparison.table())
    print_table([replace(column, spare=SPARE.get(column.heading, 0)) for column in columns])
    sys.stdout.write(f"\nReport: {written}\n")


def _load(path: Path) -> Scenario:
    try:
        return Scenario.load(path)
    except ScenarioError as error:
        raise hinted(error, hints.for_run(path)) from None

"""`selfclock compare`."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from selfclock import file_hints
from selfclock._core import ScenarioError
from selfclock.algorithms import queues
from selfclock.cli.layout import columns_of, console, print_table, stacked
from selfclock.cli.messages import FAILED, UsageError, hinted, note, print_document, print_written
from selfclock.cli.options import (
    PATH,
    algorithm_option,
    complete_algorithm,
    completing,
    destination,
    format_option,
    json_or_files_option,
    out_option,
    seed_option,
    set_option,
    threads_option,
)
from selfclock.compare import MOST_SEEDS, compare
from selfclock.compare.conditions import Condition, judge, load_baseline
from selfclock.compare.scenarios import BUFFER, DURATION, ECN, FLOWS, RATE, RTT
from selfclock.custom import load_algorithms
from selfclock.documents import comparison_document
from selfclock.formatting import plural
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_comparison
from selfclock.save import identity, parse_formats
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.compare import Comparison

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock compare reno cubic bbr3",
    "selfclock compare reno cubic+hystart++ --rate 50Mbps --rtt 80ms --buffer 2bdp --flows 2",
    "selfclock compare cubic cubic:beta=0.8 --seeds 10",
    "selfclock compare cubic bbr3 prague --queue dualpi2 --ecn auto",
    "selfclock compare reno bbr3 --scenario examples/lte.toml --queue codel:target=10ms",
    "selfclock compare cubic reno --rate 10Mbps --duration 20s --seeds 5 --fail-if 'goodput < 80 %'",
)


#: Columns omitted first on a narrow terminal.
SPARE = {"busy\n%": 2, "Jain": 1}


@click.argument(
    "names",
    nargs=-1,
    metavar="[ALGORITHM]...",
    help="For example reno, cubic+hystart++, or cubic:beta=0.8 with a parameter.",
    shell_complete=complete_algorithm,
)
@click.option("--rate", metavar="RATE", help=f"Rate of the bottleneck.  [default: {RATE}]")
@click.option("--rtt", metavar="TIME", help=f"Round-trip time of the empty network.  [default: {RTT}]")
@click.option("--buffer", metavar="SIZE", help=f"Queue of the bottleneck.  [default: {BUFFER}, or that of --queue]")
@click.option("--flows", type=click.IntRange(1, 1_000_000), metavar="N", help=f"Number of flows.  [default: {FLOWS}]")
@click.option("--duration", metavar="TIME", help=f"Simulated time.  [default: {DURATION}, or that of the scenario]")
@click.option(
    "--measure-from",
    metavar="TIME",
    help="Measure goodput, utilization and mean queue from this time on.  [default: 0 s, or that of the scenario]",
)
@click.option(
    "--scenario",
    type=PATH,
    metavar="FILE",
    help="Take path and flows from a scenario file (TOML) instead of a dumbbell.",
)
@click.option(
    "--flow", multiple=True, metavar="NAME", help="Compare the algorithm of this flow alone; may be repeated."
)
@set_option
@click.option(
    "--queue",
    metavar="DISCIPLINE",
    help="Queue of the bottleneck, such as dualpi2 or codel:target=5ms.",
    shell_complete=completing(lambda: [queue.name for queue in queues()]),
)
@click.option("--ecn", metavar="MODE", help=f"One of {', '.join(ECN)}; auto: what each algorithm supports.")
@seed_option
@click.option(
    "--seeds",
    type=click.IntRange(1, MOST_SEEDS),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of seeds: means with 95 % confidence intervals.",
)
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help='Exit with 1 if a measure is certainly beyond a bound: "goodput < 95 %", "rtt_p95 > 60 ms"; may be repeated. '
    "A percentage is of the first algorithm or of the baseline.",
)
@click.option(
    "--baseline",
    type=PATH,
    metavar="RESULT",
    help="An earlier comparison of the same path: its directory or its compare.json.",
)
@threads_option
@out_option
@format_option
@algorithm_option
@json_or_files_option
def command(
    names: Sequence[str],
    rate: str | None,
    rtt: str | None,
    buffer: str | None,
    flows: int | None,
    duration: str | None,
    measure_from: str | None,
    scenario: Path | None,
    flow: Sequence[str],
    overrides: Sequence[str],
    queue: str | None,
    ecn: str | None,
    seed: int | None,
    seeds: int,
    conditions: Sequence[str],
    baseline: Path | None,
    threads: int | None,
    out: Path | None,
    formats: str,
    algorithm_files: Sequence[Path],
    as_json: bool,
) -> None:
    """The path is a scenario's or a dumbbell; by default one flow of 60 s over 100 Mbit/s and 40 ms."""
    kinds = parse_formats(formats)
    asked = [Condition.parse(each) for each in conditions]
    if baseline is not None and not asked:
        raise UsageError("--baseline: it is compared by --fail-if; give a condition")
    earlier = None if baseline is None else load_baseline(baseline)
    load_algorithms(*algorithm_files)
    directory = destination(out, Path("results/compare"), only_printed=as_json and not kinds)
    loaded = None if scenario is None else _load(scenario)
    with progress_bar("compare") as progress:
        comparison = compare(
            names, rate, rtt, buffer, flows, duration, measure_from=measure_from, scenario=loaded, overrides=overrides,
            flow=flow, queue=queue, ecn=ecn, seed=seed, seeds=seeds, threads=threads, progress=progress,
        )  # fmt: skip
    judged = judge(asked, comparison.measures, comparison.path, earlier) if asked else []
    note(*comparison.notes)
    _print(comparison, directory, kinds, as_json=as_json)
    for each in judged:
        sys.stderr.write(f"{each}\n")
    if any(each.outcome == "holds" for each in judged):
        raise Exit(FAILED)


def _print(comparison: Comparison, directory: Path | None, kinds: Sequence[str], *, as_json: bool) -> None:
    """Print the tables or the document, and write the files."""
    if directory is None:
        print_document(comparison_document(comparison).made())
        return
    note(replaced(directory, "compare.json", identity(comparison.scenarios)))
    written = publish_comparison(comparison, directory, formats=kinds)
    if as_json:
        print_written(directory / "compare.json")
        return
    runs = plural(len(comparison.seeds), "seed")
    sys.stdout.write(f"{comparison.path}, {runs}\n")
    screen = console()
    for each in comparison.tables():
        columns = [replace(column, spare=SPARE.get(column.heading, 0)) for column in columns_of(each)]
        sys.stdout.write("\n")
        print_table(stacked(columns, screen.width), screen)
        sys.stdout.write(f"{textwrap.fill(each.caption, screen.width)}\n")
    sys.stdout.write(f"\nReport: {written}\n")


def _load(path: Path) -> Scenario:
    try:
        return Scenario.load(path)
    except ScenarioError as error:
        raise hinted(error, file_hints.for_run(path)) from None

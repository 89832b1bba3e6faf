"""`selfclock sweep`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock import file_hints
from selfclock._core import ScenarioError
from selfclock.cli.layout import Column, console, print_table
from selfclock.cli.messages import FAILED, fail, hinted, note, print_written
from selfclock.cli.options import (
    PATH,
    algorithm_option,
    completing,
    format_option,
    json_option,
    listed,
    out_option,
    threads_option,
)
from selfclock.cli.tables import MOST_SHOWN, say_more
from selfclock.custom import load_algorithms
from selfclock.formatting import plural
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.report.publish import publish_sweep
from selfclock.save import SWEEP_FILES, check_writable, parse_formats
from selfclock.sweep import Grid, Sweep, sweep
from selfclock.sweep.dataset import EARLIER
from selfclock.sweep.measures import MEASURES, USUAL, chosen
from selfclock.sweep.table import of_point, point_headings, sharers, short_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock sweep examples/buffers.toml",
    "selfclock sweep examples/buffers.toml --threads 4 --format pdf",
    "selfclock sweep examples/buffers.toml --measure goodput_bps,jain,rtt_p95_s",
    "selfclock sweep examples/buffers.toml --on dask://host:8786",
)


@click.argument("grid", type=PATH, metavar="GRID.toml", help="Grid file (TOML).")
@click.option(
    "--on",
    default="local",
    show_default=True,
    metavar="PLACE",
    help="Where to run: local, or a Dask scheduler as dask://host:8786 or tls://host:8786.",
)
@threads_option
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME,...",
    help=f"Columns of the dataset for table and figure.  [default: {','.join(USUAL)}]",
    shell_complete=completing(lambda: MEASURES, several=True),
)
@click.option("--retry", is_flag=True, help="Repeat failed runs.")
@out_option
@format_option
@algorithm_option
@json_option
def command(
    grid: Path,
    on: str,
    threads: int | None,
    measures: Sequence[str],
    retry: bool,
    out: Path | None,
    formats: str,
    algorithm_files: Sequence[Path],
    as_json: bool,
) -> None:
    """An interrupted sweep resumes with the same grid and directory."""
    kinds = parse_formats(formats)
    shown = chosen(listed(measures))
    load_algorithms(*algorithm_files)
    try:
        loaded = Grid.load(grid)
    except ScenarioError as error:
        raise hinted(error, file_hints.for_sweep(grid)) from None
    directory = out or Path("results") / loaded.name
    check_writable(directory, sweep=True)
    # The runs of a sweep stay; any other result there is replaced.
    there = (
        None if any((directory / name).exists() for name in SWEEP_FILES) else replaced(directory, "summary.json", "")
    )
    note(*loaded.notes, there)
    with progress_bar(loaded.name) as progress:
        found = sweep(loaded, directory, on=on, threads=threads, retry=retry, measures=shown, progress=progress)
    if found.set_aside:
        aside = f"{plural(found.set_aside, 'run')} of another grid, scenario, version or algorithm"
        note(f"{directory} held {aside}: now in {EARLIER}")
    note(*found.notes)
    # Runs are always stored, so that the sweep can resume; the page is for humans.
    report = None if as_json and out is None and not kinds else publish_sweep(found, formats=kinds)
    if as_json:
        print_written(directory / "summary.json")
    else:
        _print_sweep(found)
        sys.stdout.write(f"\nRuns, one row each: {found.path}\nReport: {report}\n")
    if found.errors:
        failed = f"{len(found.errors):,} of {plural(loaded.runs, 'run')} failed"
        fail(f"{failed}, the first of them: {found.errors[0]}", FAILED)


def _print_sweep(found: Sweep) -> None:
    grid = found.grid
    sys.stdout.write(
        f"{grid.name}: {plural(grid.points, 'point')}, {plural(len(grid.seeds), 'seed')}, "
        f"{grid.confidence * 100:g} % confidence\n"
        f"{plural(found.done, 'run')} in {found.seconds:.1f} s, {grid.runs - found.done:,} already on record\n\n"
    )
    failed = ["failed"] if found.errors else []
    settings = [Column(path, [], "name") for path in short_paths(grid.paths)]
    who = sharers(found.points)
    # Without room shares are omitted first, then the queue, then the link's utilization.
    spare = {MEASURES["queue_mean_packets"].heading: 2, MEASURES["utilization"].heading: 1}
    spare |= {f"{name}\nMbit/s": 3 for name in who}
    shown = [
        Column(heading, [], spare=spare.get(heading, 0)) for heading in [*failed, *point_headings(found.shown, who)]
    ]
    rows = [of_point(point, found.shown, failed=bool(failed), who=who) for point in found.points[:MOST_SHOWN]]
    by_column = zip(*rows, strict=True)
    # A file has any width.
    print_table(
        [replace(column, cells=list(own)) for column, own in zip([*settings, *shown], by_column, strict=True)],
        console(width=None if sys.stdout.isatty() else 200),
    )
    say_more(len(found.points), "point", found.directory / "summary.json")

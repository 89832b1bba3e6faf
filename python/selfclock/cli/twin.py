"""`selfclock kernel twin`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from selfclock._core import EmulationError
from selfclock.cli.layout import Column, print_table
from selfclock.cli.messages import FAILED, fail, note, print_written
from selfclock.cli.options import (
    PATH,
    algorithm_option,
    json_option,
    lateness_options,
    out_option,
    seed_option,
    set_option,
    span,
)
from selfclock.custom import load_algorithms
from selfclock.kernel.twin import TwinSettings, twin
from selfclock.kernel.twin.tables import apart, cells
from selfclock.provenance import replaced
from selfclock.report.twin import publish_twin
from selfclock.save import check_writable, identity
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.kernel.twin import Twin


@click.argument("scenario", type=PATH, metavar="SCENARIO.toml", help="Dumbbell with TCP flows (TOML).")
@set_option
@seed_option
@click.option("--for", "lasts", metavar="TIME", help="Duration of each run.  [default: the scenario's]")
@click.option(
    "--own", metavar="NAME", help="Kernel algorithm for every flow.  [default: by the name of each flow's algorithm]"
)
@algorithm_option
@click.option("--load", "files", type=PATH, multiple=True, metavar="FILE.py", hidden=True)
@lateness_options
@out_option
@json_option
def twin_command(
    scenario: Path,
    overrides: Sequence[str],
    seed: int | None,
    lasts: str | None,
    own: str | None,
    algorithm_files: Sequence[Path],
    files: Sequence[Path],
    p99: str,
    worst: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a dumbbell in the simulator and on real TCP.

    Real TCP runs under the scenario's algorithm and under the kernel's own.
    """
    # `--load` was its name up to 0.1.
    load_algorithms(*algorithm_files, *files)
    settings = [*overrides, *([] if lasts is None else [f'duration="{lasts}"'])]
    loaded = Scenario.load(scenario, settings)
    loaded = loaded if seed is None else loaded.with_seed(seed)
    directory = out or Path("results") / f"{loaded.name}-twin"
    check_writable(directory)
    how = TwinSettings(own=own, bound_p99_s=span(p99, "--p99"), bound_worst_s=span(worst, "--worst"), tell=_tell)
    note(*loaded.notes, replaced(directory, "twin.json", identity([loaded])))
    try:
        found = twin(loaded, how)
    except EmulationError as error:
        fail(str(error), FAILED)
    page = publish_twin(found, directory)
    note(*found.notes)
    if as_json:
        print_written(directory / "twin.json")
    else:
        _print(found)
        sys.stdout.write(f"Report: {page}\n")
    for complaint in found.complaints:
        sys.stderr.write(f"selfclock: {complaint}\n")
    if found.complaints:
        raise Exit(FAILED)


def _tell(what: str) -> None:
    sys.stderr.write(f"{what} ...\n")
    sys.stderr.flush()


def _print(found: Twin) -> None:
    """Print the results of each flow in each run, and its distance from earlier runs."""
    rows = [
        (sender.name, column.key, column.controls[index], cells(column.measures[index]))
        for index, sender in enumerate(found.senders)
        for column in found.columns
    ]
    headings = ("goodput\nMbit/s", "mean RTT\nms", "mean\nwindow", "retrans-\nmitted", "period\ns")
    print_table(_columns(("flow", "run", "algorithm"), headings, rows))
    sys.stdout.write("\n")
    apart_rows = [
        (sender.name, one.key, other.key, apart(one.measures[index], other.measures[index]))
        for index, sender in enumerate(found.senders)
        for number, one in enumerate(found.columns)
        for other in found.columns[:number]
    ]
    print_table(_columns(("flow", "run", "above"), ("goodput", "RTT", "window", "retransm.", "period"), apart_rows))
    sys.stdout.write("\n")


def _columns(
    names: Sequence[str], numbers: Sequence[str], rows: Sequence[tuple[str, str, str, Sequence[str]]]
) -> list[Column]:
    texts = [Column(name, [str(row[at]) for row in rows], "name") for at, name in enumerate(names)]
    return texts + [Column(name, [row[3][at] for row in rows]) for at, name in enumerate(numbers)]

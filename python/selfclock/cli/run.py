"""`selfclock run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from selfclock import file_hints
from selfclock._core import ScenarioError
from selfclock.alike import unequal
from selfclock.cli.messages import hinted, note, print_document, print_written, remark
from selfclock.cli.options import (
    PATH,
    algorithm_option,
    destination,
    format_option,
    json_or_files_option,
    out_option,
    run_threads_option,
    seed_option,
    set_option,
)
from selfclock.cli.tables import print_summary
from selfclock.custom import load_algorithms
from selfclock.documents import run_document
from selfclock.errors import BadInputError
from selfclock.progress import progress_bar
from selfclock.provenance import replaced
from selfclock.recording import record
from selfclock.report.publish import publish_run, write_run
from selfclock.save import CaptureKind, identity, parse_formats, staged
from selfclock.scenario import Scenario
from selfclock.scenario.quantity import Time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

#: Lines for the end of the help.
EXAMPLES = (
    "selfclock run examples/one-flow.toml",
    "selfclock run examples/one-flow.toml --seed 7 --format svg,pdf --out results/seven",
    "selfclock run examples/one-flow.toml --replay 5s",
    'selfclock run examples/lte.toml --set "duration=10 s" --json',
)


@click.argument("scenario", type=PATH, metavar="SCENARIO.toml", help="Scenario file (TOML).")
@set_option
@seed_option
@out_option
@click.option("--pcap", is_flag=True, help="Record packets, and write a capture of each host with both directions.")
@click.option("--pcap-links", is_flag=True, help="Record packets, and write a capture of each one-way link.")
@click.option(
    "--replay",
    metavar="SPAN",
    help="Add a replay of a time span to the report, such as 5s or 10s..12s.",
)
@format_option
@algorithm_option
@run_threads_option
@json_or_files_option
def command(
    scenario: Path,
    overrides: Sequence[str],
    seed: int | None,
    out: Path | None,
    pcap: bool,
    pcap_links: bool,
    replay: str | None,
    formats: str,
    algorithm_files: Sequence[Path],
    threads: int,
    as_json: bool,
) -> None:
    """Write report.html, summary.json, Parquet tables and, with --format, figures into a directory."""
    kinds = parse_formats(formats)
    chosen: dict[CaptureKind, bool] = {"host": pcap, "link": pcap_links}
    taps = [kind for kind, wanted in chosen.items() if wanted]
    load_algorithms(*algorithm_files)
    settings = [*overrides, *(["record.packets=true"] if taps else []), *recorded(replay)]
    try:
        loaded = Scenario.load(scenario, settings)
    except ScenarioError as error:
        if replay is not None and "record.packets_" in str(error).partition("\n")[0]:
            said = f"--replay: {replay!r} must begin before the end of the run, and end later than it begins"
            raise BadInputError(said) from None
        raise hinted(error, file_hints.for_run(scenario)) from None
    if seed is not None:
        loaded = loaded.with_seed(seed)
    directory = destination(out, Path("results") / loaded.name, only_printed=as_json and not (kinds or taps or replay))
    note(*loaded.notes, replaced(directory, "summary.json", identity([loaded])) if directory else None)
    if directory is None:
        with progress_bar(loaded.name) as progress:
            result = loaded.run(progress, threads=threads)
        remark(undivided(result, threads))
        note(*unequal(result))
        print_document(run_document(result).made())
        return
    if loaded.records_packets:
        with staged(directory) as aside:
            with progress_bar(loaded.name) as progress:
                result = record(loaded, aside, pcap=taps, progress=progress, threads=threads)
            write_run(result, aside, formats=kinds, pcap=taps)
    else:
        with progress_bar(loaded.name) as progress:
            result = loaded.run(progress, threads=threads)
        publish_run(result, directory, formats=kinds)
    remark(undivided(result, threads))
    note(*unequal(result))
    if as_json:
        print_written(directory / "summary.json")
    else:
        print_summary(result.summary, result.scenario, directory / "summary.json")
        sys.stdout.write(f"\nReport: {directory / 'report.html'}\n")


def undivided(result: Result, threads: int) -> str | None:
    """Return why a run with several allowed threads used one."""
    return f"--threads {threads}: one thread, because {result.undivided}" if result.undivided else None


def recorded(replay: str | None) -> list[str]:
    """Return the overrides that record the packets of a period such as "5s" or "10s..12s".

    >>> recorded("10s..12s")
    ['record.packets=true', 'record.packets_from=10s', 'record.packets_until=12s']
    """
    if replay is None:
        return []
    begin, dots, end = replay.partition("..")
    times = [begin, end] if dots else ["0 s", begin]
    try:
        for time in times:
            Time(time)
    except ScenarioError:
        raise BadInputError(
            f"--replay: {replay!r} is not a span; write a length such as 5s, or a span such as 10s..12s"
        ) from None
    return ["record.packets=true", f"record.packets_from={times[0]}", f"record.packets_until={times[1]}"]

"""The command line. Tables and JSON documents go to standard output; messages, notes and progress to standard error."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer
from rich.padding import Padding

from selfclock import cells, hints, interrupts, terminal
from selfclock._core import RunError, ScenarioError, end_at_second_interrupt
from selfclock.algorithms import algorithms, queues, routers
from selfclock.bench import CASES, BenchError, bench, bench_mechanisms
from selfclock.cells import plural
from selfclock.names import unknown
from selfclock.own import AlgorithmError, load_algorithms
from selfclock.progress import progress_bar
from selfclock.provenance import replaced, set_command, version_text
from selfclock.save import (
    FORMATS,
    FormatError,
    UnwritableError,
    check_writable,
    file_stem,
    identity,
    parse_formats,
)
from selfclock.scenario import MOST_THREADS, Scenario, grid_schema, schema
from selfclock.sweep import BusyError, ClusterError, DamagedError
from selfclock.verify.record import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from selfclock.reproduce import PaperReport
    from selfclock.sweep import Sweep

FAILED, BAD_USAGE = 1, 2

#: Violations that `verify` prints; one fault of an engine breaks a rule for every packet.
MOST_LINES = 1000

app = typer.Typer(
    help="A laboratory for congestion control.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

P = ParamSpec("P")


class UsageError(Exception):
    """An argument that means nothing here."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line: these arguments, or those of the process."""
    if arguments is None:
        interrupts.raise_exceptions()
    if arguments is None and not sys.flags.utf8_mode and sys.getfilesystemencoding() == "ascii":
        # In a locale without letters beyond ASCII neither arguments nor names of files could have any.
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606  itself
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Never fail on characters that the terminal cannot encode (Windows code pages).
        sys.stdout.reconfigure(errors="backslashreplace")
    # Where the shell has not told the command to ignore Ctrl-C.
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        end_at_second_interrupt()
    arguments = sys.argv[1:] if arguments is None else arguments
    set_command(arguments)
    _noted.clear()
    try:
        app(list(arguments), prog_name="selfclock")
    except KeyboardInterrupt as error:
        sys.exit(interrupts.status(error))


#: What was noted on standard error, for documents.
_noted: list[str] = []


def _note(*notes: str | None) -> None:
    """Say what may be a mistake, and is none that stops anything."""
    for note in notes:
        if note is not None:
            _noted.append(note)
            sys.stderr.write(f"note: {note}\n")


def _command(work: Callable[P, None]) -> Callable[P, None]:
    """Turn what can go wrong for reasons of the user into one message and an exit status."""

    @functools.wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            work(*args, **kwargs)
        except (
            AlgorithmError,
            BusyError,
            DamagedError,
            FormatError,
            ScenarioError,
            UnreadableError,
            UnwritableError,
            UsageError,
        ) as error:
            _fail(str(error), BAD_USAGE)
        except (RunError, BenchError, ClusterError) as error:
            _fail(f"{_own_traceback(error)}{error}", FAILED)
        except BrokenPipeError:
            # The reader has seen enough; Python would complain once more when it closes the stream.
            sys.stdout = None
            raise typer.Exit(FAILED) from None
        except OSError as error:
            _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", BAD_USAGE)
        except MemoryError:
            _fail("not enough memory: see the limits of the process (ulimit -v) and of its container", FAILED)
        except KeyboardInterrupt as error:
            _fail("interrupted", interrupts.status(error))
        except BaseException as error:
            # What a library in Rust raises that gave up: no Exception, so that nobody goes on by mistake.
            if type(error).__name__ != "PanicException":
                raise
            said = str(error).partition("\n")[0]
            _fail(f"{said}: is there enough memory (ulimit -v), and may there be threads (ulimit -u)?", FAILED)

    return guarded


def _own_traceback(error: Exception) -> str:
    """Where in the user's own algorithm a run ended, if it did there."""
    cause = error.__cause__
    if cause is None or cause.__traceback__ is None:
        return ""
    return "an algorithm ended the run\n" + "".join(traceback.format_exception(cause))


def _fail(message: str, status: int) -> None:
    sys.stderr.write(f"selfclock: {message}\n")
    raise typer.Exit(status) from None


def _print_json(document: object) -> None:
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _print_document(path: Path) -> None:
    """Print the JSON document of a result; its notes are all that were said."""
    document = json.loads(path.read_text(encoding="utf-8"))
    _print_json({**document, "notes": list(_noted)})


def _directory(text: str) -> Path:
    if not text.strip():
        raise typer.BadParameter("is empty; name a directory")
    return Path(text)


Out = Annotated[
    Path | None,
    typer.Option(
        parser=_directory, metavar="DIRECTORY", help="Directory of the results.  [default: results/NAME]",
        show_default=False,
    ),
]  # fmt: skip


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


#: Files of congestion controls written in Python, for every command that names algorithms.
AlgorithmFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--algorithm", metavar="FILE.py", help="Python file that registers congestion controls; may be repeated."
    ),
]


#: Formats of the figures, for every command that writes some.
Formats = Annotated[
    str,
    typer.Option("--format", metavar="FORMATS", help=f"Figures as files: {', '.join(FORMATS)}, several with commas."),
]


def _completed_from(names: Iterable[str], begun: str) -> list[str]:
    return [name for name in names if name.startswith(begun)]


def _complete_algorithm(incomplete: str) -> list[str]:
    return _completed_from((algorithm.name for algorithm in algorithms()), incomplete)


def _complete_named(incomplete: str) -> list[str]:
    return _completed_from((each.name for each in [*algorithms(), *queues(), *routers()]), incomplete)


def _complete_paper(incomplete: str) -> list[str]:
    from selfclock.reproduce import PAPERS  # noqa: PLC0415

    return _completed_from(PAPERS, incomplete)


def _complete_case(incomplete: str) -> list[str]:
    return _completed_from(CASES, incomplete)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"selfclock {version_text()}\n")
        raise typer.Exit


@app.callback()
def _selfclock(
    _version_wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A laboratory for congestion control."""


@app.command()
@_command
def run(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (TOML).", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Another value for a key: --set transport.mss='512 B'."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of every random stream.")] = None,
    out: Out = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Record packets and write one capture per link.")] = False,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """Run one simulation: a summary, figures and Parquet tables."""
    from selfclock.report.publish import publish_run  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    settings = [*(overrides or []), *(["record.packets=true"] if pcap else [])]
    try:
        loaded = Scenario.load(scenario, settings)
    except ScenarioError as error:
        raise _hinted(error, hints.for_run(scenario)) from None
    if seed is not None:
        loaded = loaded.with_seed(seed)
    directory = out or Path("results") / loaded.name
    check_writable(directory)
    _note(*loaded.notes, replaced(directory, "summary.json", identity([loaded])))
    with progress_bar(loaded.name) as progress:
        result = loaded.run(progress)
    publish_run(result, directory, formats=kinds, pcap=pcap)
    if as_json:
        _print_document(directory / "summary.json")
    else:
        terminal.print_summary(result.summary)
        sys.stdout.write(f"\nReport: {directory / 'report.html'}\n")


def _hinted(error: ScenarioError, hint: str | None) -> ScenarioError:
    """Return an error with a hint after it, where there is one."""
    return error if hint is None else ScenarioError(f"{error}\nhint: {hint}")


@app.command("compare")
@_command
def compare_algorithms(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM",
            help="Such as reno, packet-pair or cubic+hystart++.",
            show_default=False,
            autocompletion=_complete_algorithm,
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
    """Run the same path under each algorithm, side by side."""
    from selfclock.compare import compare  # noqa: PLC0415
    from selfclock.report.publish import publish_comparison  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    directory = out or Path("results/compare")
    check_writable(directory)
    with progress_bar("compare") as progress:
        comparison = compare(names or [], rate, rtt, buffer, flows, duration, seed=seed, progress=progress)
    _note(*comparison.notes, replaced(directory, "compare.json", identity(comparison.scenarios)))
    publish_comparison(comparison, directory, formats=kinds)
    if as_json:
        _print_document(directory / "compare.json")
        return
    table = terminal.table(
        "algorithm", "goodput\nMbit/s", "busy\n%", "Jain", "RTT ms\nmean", "\n95 %", "segments\nagain",
        "time-\nouts", "queue\npackets", left=1,
    )  # fmt: skip
    for row in comparison.measures:
        table.add_row(*cells.of_algorithm(row))
    console = terminal.console()
    console.print(f"{comparison.path}, {duration}\n", highlight=False)
    console.print(table)
    sys.stdout.write(f"\nReport: {directory / 'report.html'}\n")


@app.command("reproduce")
@_command
def reproduce_papers(
    papers: Annotated[
        list[str] | None,
        typer.Argument(help="Papers; all if none is named.", show_default=False, autocompletion=_complete_paper),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Run the experiments that take minutes, too; otherwise they are on record.")
    ] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="Run nothing: write every scenario as DIRECTORY/PAPER/NAME.toml, for selfclock run.",
            show_default=False,
        ),
    ] = None,
    out: Out = None,
    formats: Formats = "",
    as_json: Json = False,
) -> None:
    """Run the experiments of papers: a table of claims and every figure, in one HTML report."""
    from selfclock import reproduce as reproduction  # noqa: PLC0415
    from selfclock.report.publish import publish_papers  # noqa: PLC0415

    kinds = parse_formats(formats)
    try:
        chosen = reproduction.find(papers or [])
    except reproduction.UnknownPaperError as error:
        raise UsageError(str(error)) from None
    if scenarios is not None:
        _write_scenarios(chosen, scenarios, full=full, as_json=as_json)
        return
    directory = out or Path("results/reproduction")
    check_writable(directory)
    reports = reproduction.reproduce(chosen, full=full)
    written = publish_papers(reports, directory, formats=kinds)
    if as_json:
        _print_document(directory / "claims.json")
    else:
        _print_reports(reports)
        sys.stdout.write(f"\nReport: {written}\n")
    changed = [line for report in reports for line in report.differences()]
    if changed:
        _fail("verdicts differ from those on record:\n  " + "\n  ".join(changed), FAILED)
    faults = [line for report in reports for line in report.faults()]
    if faults:
        _fail("claims are incomplete:\n  " + "\n  ".join(faults), FAILED)


def _write_scenarios(papers: list[str], directory: Path, *, full: bool, as_json: bool) -> None:
    from selfclock.reproduce import paper_scenarios  # noqa: PLC0415
    from selfclock.scenario_files import AmbiguousNameError, write_scenarios  # noqa: PLC0415

    check_writable(directory)
    written = {}
    for paper in papers:
        try:
            written[paper] = write_scenarios(paper_scenarios(paper, full=full), directory / paper)
        except AmbiguousNameError as error:
            _fail(f"{paper}: {error}", FAILED)
    if as_json:
        _print_json({"scenarios": [f"{paper}/{name}" for paper, names in written.items() for name in names]})
    else:
        sys.stdout.writelines(f"{directory / paper}: {len(names):,} scenarios\n" for paper, names in written.items())


def _print_reports(reports: list[PaperReport]) -> None:
    """Print the claims of each paper, and at the end how many have which verdict."""
    from selfclock.claims import OF, VERDICTS  # noqa: PLC0415

    console = terminal.console()
    for report in reports:
        table = terminal.table("claim", "printed", "measured", "verdict", left=4)
        for column in (0, 3):
            table.columns[column].no_wrap = True
        for claim in report.claims:
            verdict = f"{claim.verdict}{' *' if claim.recorded else ''}"
            table.add_row(claim.id, claim.printed_text or "-", claim.measured_text, verdict)
        console.print(f"{report.name}\n", style="bold", highlight=False)
        console.print(table)
        sys.stdout.write("\n")
    table = terminal.table("paper", "of", *VERDICTS, "all", left=2)
    for report in reports:
        for of, counts in report.summary()["of"].items():
            if total := sum(counts.values()):
                table.add_row(report.name, of, *(str(count or "-") for count in counts.values()), str(total))
    console.print(table)
    sys.stdout.writelines(f"\n{of:6}  {text}" for of, text in OF.items())
    sys.stdout.write("\n")
    if any(claim.recorded for report in reports for claim in report.claims):
        sys.stdout.write("\n* recorded, not run now: selfclock reproduce --full runs them\n")


@app.command("evaluate")
@_command
def evaluate_algorithm(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ALGORITHM",
            help="Such as cubic, packet-pair or cubic+hystart++.",
            show_default=False,
            autocompletion=_complete_algorithm,
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALGORITHM,...", help="Baselines, with commas or one at a time.  [default: cubic,bbr3,reno]"
        ),
    ] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--rows", metavar="ROW,...", help="Only these rows.  [default: all of them]")
    ] = None,
    out: Out = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """The scorecard of an algorithm, after RFC 9743: what is safe, what is not, beside what is deployed."""
    from selfclock.evaluate import BASELINES, evaluate  # noqa: PLC0415
    from selfclock.report.publish import publish_scorecard  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    directory = out or Path("results") / file_stem(f"evaluate-{name}")
    check_writable(directory)
    with progress_bar(f"evaluate {name}") as progress:
        card = evaluate(name, _listed(against) if against else BASELINES, rows=_listed(rows or []), progress=progress)
    _note(replaced(directory, "scorecard.json", identity(card.lab.scenarios)))
    publish_scorecard(card, directory, formats=kinds)
    if as_json:
        _print_document(directory / "scorecard.json")
        return
    table = terminal.table("row", "test", "value", *(each.label for each in card.baselines), "verdict", left=2)
    for line in card.lines:
        others = (line.baselines.get(each.label) for each in card.baselines)
        table.add_row(
            line.row.id,
            line.row.title.split(":")[0],
            cells.number(line.found.value, line.row.unit),
            *("-" if other is None else cells.number(other.value) for other in others),
            line.found.verdict,
        )
    console = terminal.console()
    console.print(f"{card.algorithm}: the marks are this project's, RFC 9743 sets none\n", highlight=False)
    console.print(table)
    sys.stdout.write(f"\nReport: {directory / 'report.html'}\n")


def _listed(written: list[str]) -> list[str]:
    """Take names that are written with commas, one at a time, or both."""
    return [name.strip() for names in written for name in names.split(",")]


#: Points in the table of a sweep; all of them stand in its files.
MOST_LISTED = 60


@app.command("sweep")
@_command
def sweep_grid(
    grid: Annotated[Path, typer.Argument(help="Grid file (TOML).", show_default=False)],
    on: Annotated[str, typer.Option(help="Where to run: local, or a Dask scheduler as dask://host:8786.")] = "local",
    threads: Annotated[
        int | None, typer.Option(min=1, max=MOST_THREADS, help="Runs at the same time.  [default: one per core]")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what failed before.")] = False,
    out: Out = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """Run every point of a grid with every seed; what is there already is not run again."""
    from selfclock.report.publish import publish_sweep  # noqa: PLC0415
    from selfclock.sweep import Grid, sweep  # noqa: PLC0415
    from selfclock.sweep.dataset import EARLIER  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    try:
        loaded = Grid.load(grid)
    except ScenarioError as error:
        raise _hinted(error, hints.for_sweep(grid)) from None
    directory = out or Path("results") / loaded.name
    check_writable(directory, sweep=True)
    _note(*loaded.notes)
    with progress_bar(loaded.name) as progress:
        found = sweep(loaded, directory, on=on, threads=threads, retry=retry, progress=progress)
    if found.set_aside:
        aside = f"{plural(found.set_aside, 'run')} of another grid, scenario, version or algorithm"
        _note(f"{directory} held {aside}: now in {EARLIER}")
    report = publish_sweep(found, formats=kinds)
    if as_json:
        _print_document(directory / "summary.json")
    else:
        _print_sweep(found)
        sys.stdout.write(f"\nRuns, one row each: {found.path}\nReport: {report}\n")
    if found.errors:
        failed = f"{len(found.errors):,} of {plural(loaded.runs, 'run')} failed"
        _fail(f"{failed}, the first of them: {found.errors[0]}", FAILED)


def _print_sweep(found: Sweep) -> None:
    grid = found.grid
    # A file has any width.
    console = terminal.console(width=None if sys.stdout.isatty() else 200)
    console.print(
        f"{grid.name}: {plural(grid.points, 'point')}, {plural(len(grid.seeds), 'seed')}, "
        f"{grid.confidence * 100:g} % confidence\n"
        f"{plural(found.done, 'run')} in {found.seconds:.1f} s, {grid.runs - found.done:,} known before\n",
        highlight=False,
    )
    failed = ["failed"] if found.errors else []
    shown = [heading.replace(" ", "\n") for heading, _, _ in cells.OF_POINT]
    table = terminal.table(*cells.short_paths(grid.paths), *failed, *shown, left=len(grid.paths))
    for column in table.columns[: len(grid.paths)]:
        column.no_wrap = True
    for point in found.points[:MOST_LISTED]:
        table.add_row(*cells.of_point(point, failed=bool(failed)))
    console.print(table)
    if len(found.points) > MOST_LISTED:
        sys.stdout.write(
            f"and {plural(len(found.points) - MOST_LISTED, 'more point')}: {found.directory / 'summary.json'}\n"
        )


@app.command("algorithms")
@_command
def list_algorithms(
    name: Annotated[
        str | None,
        typer.Argument(help="Only this one.", show_default=False, autocompletion=_complete_named),
    ] = None,
    only_queues: Annotated[bool, typer.Option("--queues", help="Queue disciplines instead of algorithms.")] = False,
    only_routers: Annotated[bool, typer.Option("--routers", help="Router mechanisms instead of algorithms.")] = False,
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """List what can be run, with parameters, units, defaults and sources."""
    load_algorithms(*(algorithm_files or []))
    asked = [*(queues() if only_queues else []), *(routers() if only_routers else [])]
    known = asked or [*algorithms(), *([] if name is None else [*queues(), *routers()])]
    chosen = [algorithm for algorithm in known if name in (None, algorithm.name)]
    if not chosen:
        raise UsageError(unknown("algorithm", name or "", [each.name for each in known]))
    if as_json:
        _print_json({"algorithms": [dataclasses.asdict(algorithm) for algorithm in chosen]})
        return
    console = terminal.console()
    if name is None:
        table = terminal.table("algorithm", "part", "what it does", "source", left=4)
        for algorithm in chosen:
            table.add_row(algorithm.name, algorithm.part, algorithm.about, algorithm.source)
        console.print(table)
        sys.stdout.write("\nselfclock algorithms NAME shows the parameters of one.\n")
        return
    for algorithm in chosen:
        console.print(f"[bold]{algorithm.name}[/bold] ({algorithm.part})\n{algorithm.about}\n{algorithm.source}\n")
        for parameter in algorithm.parameters:
            default = f" = {parameter.default}" if parameter.default else ", required"
            default += f" with {parameter.requires}" if parameter.requires else ""
            console.print(f"[bold]{parameter.name}[/bold]{default}", highlight=False)
            source = f"\nSource: {parameter.source}." if parameter.source else ""
            details = f"{parameter.about}\nAllowed: {parameter.allowed_text}.{source}"
            console.print(Padding(details, (0, 0, 1, 4)), highlight=False)


def _whole_or_nothing(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


@app.command("bench")
@_command
def run_bench(
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Cases: {', '.join(CASES)}; all if none is named.", show_default=False, autocompletion=_complete_case
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the speed of the simulator on the standard cases."""
    for case in cases or []:
        if case not in CASES:
            raise UsageError(unknown("case", case, CASES))
    with progress_bar("bench") as progress:
        measured = bench(cases or CASES, progress)
    if not cases:
        with progress_bar("bench: mechanisms") as progress:
            mechanisms = bench_mechanisms(progress)
    else:
        mechanisms = []
    if as_json:
        _print_json({"cases": measured, "mechanisms": mechanisms})
        return
    table = terminal.table(
        "case",
        "million\nhops",
        "events\na packet",
        "CPU s",
        "million\nhops/s",
        "of bare\nloop",
        "peak\nMB",
        "bytes\na flow",
        "bytes a packet\nin flight",
        left=1,
    )
    for row in measured:
        table.add_row(
            row["case"],
            f"{row['packet_hops'] / 1e6:.1f}",
            f"{row['events_per_packet']:.2f}",
            f"{row['cpu_s']:.2f}",
            f"{row['packet_hops_per_cpu_s'] / 1e6:.1f}",
            f"{row['of_bare_loop']:.0%}",
            f"{row['peak_rss_bytes'] / 1e6:.0f}",
            _whole_or_nothing(row["bytes_per_flow"]),
            _whole_or_nothing(row["bytes_per_packet_in_flight"]),
        )
    terminal.console().print(table)
    if mechanisms:
        table = terminal.table("mechanism", "ns a packet", "of drop-tail", "bytes\na flow", left=1)
        for each in mechanisms:
            table.add_row(
                each["mechanism"],
                f"{each['cpu_s_per_packet'] * 1e9:.0f}",
                f"{each['of_drop_tail']:.2f}",
                _whole_or_nothing(each["bytes_per_flow"]),
            )
        terminal.console().print(table)


@app.command()
@_command
def verify(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="Directory of a run, or its packets.parquet.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Check a packet record for what cannot be, without the engine."""
    from selfclock.verify import verify_path  # noqa: PLC0415

    findings = verify_path(record)
    if as_json:
        _print_json(findings.document(str(record)))
    else:
        for violation in findings.violations[:MOST_LINES]:
            sys.stdout.write(f"{violation}\n")
        more = len(findings.violations) - MOST_LINES
        if more > 0:
            sys.stdout.write(f"and {more:,} more: --json lists all\n")
        sys.stdout.write(findings.verdict() + "\n")
    if findings.violations:
        raise typer.Exit(FAILED)


@app.command("schema")
@_command
def print_schema(
    grid: Annotated[bool, typer.Option("--grid", help="Of grid files, which say what a sweep runs.")] = False,
    algorithm_files: AlgorithmFiles = None,
) -> None:
    """Print the JSON Schema of scenario files."""
    load_algorithms(*(algorithm_files or []))
    _print_json(grid_schema() if grid else schema())

"""The command line. Documents go to standard output, everything else to standard error."""

from __future__ import annotations

import functools
import io
import json
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from selfclock import __version__, cells
from selfclock._core import RunError, ScenarioError
from selfclock.algorithms import Algorithm, algorithms
from selfclock.bench import CASES, BenchError, bench, bench_mechanisms
from selfclock.own import AlgorithmError, load_algorithms
from selfclock.progress import progress_bar
from selfclock.save import FORMATS, FormatError, UnwritableError, check_writable, file_stem, parse_formats
from selfclock.scenario import Scenario, grid_schema, schema
from selfclock.sweep import BusyError, ClusterError
from selfclock.verify.record import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from selfclock.result import Summary
    from selfclock.sweep import Sweep

FAILED, BAD_USAGE, INTERRUPTED = 1, 2, 128 + signal.SIGINT

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


def main() -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A letter that the terminal has not got ends no command: Windows has code pages still.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="selfclock")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _command(work: Callable[P, None]) -> Callable[P, None]:
    """Turn what can go wrong for reasons of the user into one message and an exit status."""

    @functools.wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            work(*args, **kwargs)
        except (
            AlgorithmError,
            BusyError,
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
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)

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


def _complete_paper(incomplete: str) -> list[str]:
    from selfclock.reproduce import PAPERS  # noqa: PLC0415

    return _completed_from(PAPERS, incomplete)


def _complete_case(incomplete: str) -> list[str]:
    return _completed_from(CASES, incomplete)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"selfclock {__version__}\n")
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
    out: Annotated[Path | None, typer.Option(help="Directory of the results.  [default: results/NAME]")] = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Record packets and write one capture per link.")] = False,
    formats: Formats = "png",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """Run one simulation: a summary, figures and Parquet tables."""
    from selfclock.save import save  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    settings = [*(overrides or []), *(["record.packets=true"] if pcap else [])]
    loaded = Scenario.load(scenario, settings)
    if seed is not None:
        loaded = loaded.with_seed(seed)
    directory = out or Path("results") / loaded.name
    check_writable(directory)
    with progress_bar(loaded.name) as progress:
        result = loaded.run(progress)
    save(result, directory, pcap=pcap, formats=kinds)
    if as_json:
        _print_json(result.summary)
    else:
        _print_summary(result.summary)
        sys.stdout.write(f"\nTables and figures: {directory}\n")


def _print_summary(summary: Summary) -> None:
    console = Console()
    console.print(
        f"{summary['scenario']}, seed {summary['seed']}: {summary['simulated_s']:g} s simulated, "
        f"{summary['packet_hops']:,} packet-hops and {summary['events']:,} events in {summary['cpu_s']:.3g} s of CPU",
        highlight=False,
    )
    flows = _table(
        "flow", "algorithm", "goodput\nMbit/s", "segments\nsent", "again", "time-\nouts", "fast\nretr.",
        "RTT ms\nmin", "\nmean", "\n95 %", left=2,
    )  # fmt: skip
    for flow in summary["flows"]:
        flows.add_row(*cells.of_flow(flow))
    links = _table(
        "link", "rate\nMbit/s", "busy\n%", "packets", "drops", "queue, packets\nmean", "\nmax", "wait\nms", left=1,
    )  # fmt: skip
    for link in summary["links"]:
        links.add_row(*cells.of_link(link))
    console.print("", flows, "", links, sep="\n")
    if any(flow["connections"] for flow in summary["flows"]):
        console.print("", _connections(summary), sep="\n")


def _connections(summary: Summary) -> Table:
    table = _table(
        "short\nconnections", "size\nup to", "complete", "of", "time, ms\nmean", "\n50 %", "\n95 %", "\n99 %", left=2,
    )  # fmt: skip
    for flow in summary["flows"]:
        connections = flow["connections"]
        if connections is None:
            continue
        table.add_row(flow["name"], "", f"{connections['completed']:,}", f"{connections['started']:,}", "", "", "", "")
        for size in connections["by_size"]:
            largest = size["up_to_bytes"]
            table.add_row(
                "",
                "any" if largest is None else f"{largest / 1e3:,.0f} kB",
                f"{size['completed']:,}",
                "",
                *(cells.milliseconds(size[key]) for key in ("mean_s", "p50_s", "p95_s", "p99_s")),
            )
    return table


def _table(*headings: str, left: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(headings):
        text = number < left
        table.add_column(heading, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return table


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
    out: Annotated[Path, typer.Option(help="Directory of the results.")] = Path("results/compare"),
    formats: Formats = "png",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """Run the same path under each algorithm, side by side."""
    from selfclock.compare import compare  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    check_writable(out)
    with progress_bar("compare") as progress:
        comparison = compare(names or [], rate, rtt, buffer, flows, duration, seed=seed, progress=progress)
    comparison.save(out, formats=kinds)
    if as_json:
        _print_json({"runs": comparison.measures})
        return
    table = _table(
        "algorithm", "goodput\nMbit/s", "busy\n%", "Jain", "RTT ms\nmean", "\n95 %", "segments\nagain",
        "time-\nouts", "queue\npackets", left=1,
    )  # fmt: skip
    for row in comparison.measures:
        table.add_row(*cells.of_algorithm(row))
    console = Console()
    console.print(f"{comparison.path}, {duration}\n", highlight=False)
    console.print(table)
    sys.stdout.write(f"\nTables and figure: {out}\n")


@app.command("reproduce")
@_command
def reproduce_papers(
    papers: Annotated[
        list[str] | None,
        typer.Argument(help="Papers; all if none is named.", show_default=False, autocompletion=_complete_paper),
    ] = None,
    out: Annotated[Path, typer.Option(help="Directory of the report.")] = Path("results/reproduction"),
    formats: Formats = "",
    as_json: Json = False,
) -> None:
    """Run the experiments of papers: a table of claims and every figure, in one HTML report."""
    from selfclock import reproduce as reproduction  # noqa: PLC0415
    from selfclock.report import draw, write_report  # noqa: PLC0415

    kinds = parse_formats(formats)
    try:
        chosen = reproduction.find(papers or [])
    except reproduction.UnknownPaperError as error:
        raise UsageError(str(error)) from None
    check_writable(out)
    reports = reproduction.reproduce(chosen, draw)
    written = write_report(reports, out, formats=kinds)
    claims = [claim for report in reports for claim in report.claims]
    if as_json:
        _print_json({"claims": [claim.row() for claim in claims]})
    else:
        table = _table("paper", "claim", "printed", "measured", "verdict", left=5)
        for claim in claims:
            table.add_row(claim.paper, claim.id, claim.printed_text, claim.measured_text, claim.verdict)
        Console().print(table)
        sys.stdout.write(f"\nReport: {written}\n")
    changed = [line for report in reports for line in report.differences()]
    if changed:
        _fail("verdicts differ from those on record:\n  " + "\n  ".join(changed), FAILED)


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
    out: Annotated[
        Path | None, typer.Option(help="Directory of the report.  [default: results/evaluate-ALGORITHM]")
    ] = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """The scorecard of an algorithm, after RFC 9743: what is safe, what is not, beside what is deployed."""
    from selfclock.evaluate import BASELINES, evaluate  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    directory = out or Path("results") / file_stem(f"evaluate-{name}")
    check_writable(directory)
    with progress_bar(f"evaluate {name}") as progress:
        card = evaluate(name, _listed(against) if against else BASELINES, rows=_listed(rows or []), progress=progress)
    card.save(directory, formats=kinds)
    if as_json:
        _print_json(card.document)
        return
    table = _table("row", "test", "value", *(each.label for each in card.baselines), "verdict", left=2)
    for line in card.lines:
        others = (line.baselines.get(each.label) for each in card.baselines)
        table.add_row(
            line.row.id,
            line.row.title.split(":")[0],
            cells.number(line.found.value, line.row.unit),
            *("-" if other is None else cells.number(other.value) for other in others),
            line.found.verdict,
        )
    console = Console()
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
    threads: Annotated[int | None, typer.Option(min=1, help="Runs at the same time.  [default: one per core]")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what failed before.")] = False,
    out: Annotated[Path | None, typer.Option(help="Directory of the results.  [default: results/NAME]")] = None,
    formats: Formats = "",
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """Run every point of a grid with every seed; what is there already is not run again."""
    from selfclock.sweep import Grid, sweep  # noqa: PLC0415

    kinds = parse_formats(formats)
    load_algorithms(*(algorithm_files or []))
    loaded = Grid.load(grid)
    directory = out or Path("results") / loaded.name
    check_writable(directory)
    with progress_bar(loaded.name) as progress:
        found = sweep(loaded, directory, on=on, threads=threads, retry=retry, progress=progress)
    report = found.write_report(formats=kinds)
    if as_json:
        _print_json(found.document)
    else:
        _print_sweep(found)
        sys.stdout.write(f"\nRuns, one row each: {found.path}\nReport: {report}\n")
    if found.errors:
        _fail(f"{len(found.errors)} of {loaded.runs} runs failed, the first of them: {found.errors[0]}", FAILED)


def _print_sweep(found: Sweep) -> None:
    grid = found.grid
    # A file has any width.
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(
        f"{grid.name}: {grid.points:,} points, {len(grid.seeds):,} seeds, {grid.confidence * 100:g} % confidence\n"
        f"{found.done:,} runs in {found.seconds:.1f} s, {grid.runs - found.done:,} known before\n",
        highlight=False,
    )
    failed = ["failed"] if found.errors else []
    shown = [heading.replace(" ", "\n") for heading, _, _ in cells.OF_POINT]
    table = _table(*cells.short_paths(grid.paths), *failed, *shown, left=len(grid.paths))
    for column in table.columns[: len(grid.paths)]:
        column.no_wrap = True
    for point in found.points[:MOST_LISTED]:
        table.add_row(*cells.of_point(point, failed=bool(failed)))
    console.print(table)
    if len(found.points) > MOST_LISTED:
        sys.stdout.write(f"and {len(found.points) - MOST_LISTED:,} more points: {found.directory / 'summary.json'}\n")


@app.command("algorithms")
@_command
def list_algorithms(
    name: Annotated[
        str | None,
        typer.Argument(help="Only this one.", show_default=False, autocompletion=_complete_algorithm),
    ] = None,
    algorithm_files: AlgorithmFiles = None,
    as_json: Json = False,
) -> None:
    """List what can be run, with parameters, units, defaults and sources."""
    load_algorithms(*(algorithm_files or []))
    known = algorithms()
    chosen = [algorithm for algorithm in known if name in (None, algorithm.name)]
    if not chosen:
        raise UsageError(f"no algorithm is named {name!r}; there are {', '.join(a.name for a in known)}")
    if as_json:
        _print_json({"algorithms": [_algorithm_document(algorithm) for algorithm in chosen]})
        return
    console = Console()
    if name is None:
        table = _table("algorithm", "part", "what it does", "source", left=4)
        for algorithm in chosen:
            table.add_row(algorithm.name, algorithm.part, algorithm.about, algorithm.source)
        console.print(table)
        sys.stdout.write("\nselfclock algorithms NAME shows the parameters of one.\n")
        return
    for algorithm in chosen:
        console.print(f"[bold]{algorithm.name}[/bold] ({algorithm.part})\n{algorithm.about}\n{algorithm.source}\n")
        for parameter in algorithm.parameters:
            console.print(f"[bold]{parameter.name}[/bold] = {parameter.default}", highlight=False)
            details = f"{parameter.about}\nAllowed: {parameter.allowed_text}.\nSource: {parameter.source}."
            console.print(Padding(details, (0, 0, 1, 4)), highlight=False)


def _algorithm_document(algorithm: Algorithm) -> dict[str, Any]:
    return {**vars(algorithm), "parameters": [vars(parameter) for parameter in algorithm.parameters]}


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
            raise UsageError(f"no case is named {case!r}; there are {', '.join(CASES)}")
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
    table = _table(
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
    Console().print(table)
    if mechanisms:
        table = _table("mechanism", "ns a packet", "of drop-tail", "bytes\na flow", left=1)
        for each in mechanisms:
            table.add_row(
                each["mechanism"],
                f"{each['cpu_s_per_packet'] * 1e9:.0f}",
                f"{each['of_drop_tail']:.2f}",
                _whole_or_nothing(each["bytes_per_flow"]),
            )
        Console().print(table)


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

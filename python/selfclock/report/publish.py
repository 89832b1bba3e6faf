"""Results as directories: a page, tables, documents, and optionally figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from selfclock.documents import comparison_document, papers_document, run_document, scorecard_document, write_document
from selfclock.errors import BadInputError
from selfclock.save import (
    PACKETS,
    CaptureKind,
    captures,
    file_stem,
    forget_figures,
    parse_formats,
    staged,
    write_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from selfclock.compare import Comparison
    from selfclock.evaluate import Scorecard
    from selfclock.report.page import Page
    from selfclock.reproduce import PaperReport
    from selfclock.result import Result
    from selfclock.sweep import Sweep

#: Dots per inch of figures as files.
FIGURE_DPI = 200

_TABLES = {"flows": "series of every flow", "links": "series of every link", "connections": "every short connection"}
_DOCUMENT = "the numbers of the tables, with provenance"


def publish(
    result: Result | Comparison | Sweep | Scorecard | list[PaperReport],
    directory: str | PathLike[str],
    *,
    formats: str | Sequence[str] = (),
    pcap: bool = False,
) -> Path:
    """Write a result into a directory and return the path of its page, `report.html`.

    Beside the page there are tables (Parquet), a document (JSON) with the totals and how they were
    made, with `formats` ("png", "svg", "pdf", several with commas) the figures of the page as
    files, and with `pcap` a capture for each host of a run with packets recorded. Nothing
    half-written ever has the name of a result.

    >>> import selfclock as sc
    >>> result = sc.dumbbell(bottleneck="10 Mbps", duration="1 s").run()
    >>> sc.publish(result, "results/short", formats="svg")  # doctest: +SKIP
    """
    from selfclock.result import Result  # noqa: PLC0415

    if not str(directory).strip():
        raise BadInputError("the directory of the results is empty; name one")
    where = Path(directory)
    kinds = parse_formats(formats if isinstance(formats, str) else ",".join(formats), "formats")
    if isinstance(result, Result):
        return publish_run(result, where, formats=kinds, pcap=("host",) if pcap else ())
    if isinstance(result, list):
        return publish_papers(result, where, formats=kinds)
    from selfclock.compare import Comparison  # noqa: PLC0415

    if isinstance(result, Comparison):
        return publish_comparison(result, where, formats=kinds)
    from selfclock.evaluate import Scorecard  # noqa: PLC0415

    if isinstance(result, Scorecard):
        return publish_scorecard(result, where, formats=kinds)
    from selfclock.sweep import Sweep  # noqa: PLC0415

    if isinstance(result, Sweep):
        return publish_sweep(result, where, formats=kinds)
    raise TypeError(f"publish takes what run, compare, evaluate or sweep returns, not {type(result).__name__}")


def publish_run(
    result: Result, directory: Path, *, formats: Sequence[str] = (), pcap: Sequence[CaptureKind] = ()
) -> Path:
    """Write page, summary, tables, figures in these formats and optionally captures of hosts or links."""
    scenario = result.scenario
    if pcap and not scenario.records_packets:
        raise BadInputError("pcap: the run has no packets on record; set record.packets = true in its scenario")
    with staged(directory) as aside:
        if scenario.records_packets:
            write_table(result.packets, aside / PACKETS, scenario)
        for kind, name, file in captures(scenario, pcap):
            write = result.write_host_pcapng if kind == "host" else result.write_pcapng
            write(name, aside / file)
        write_run(result, aside, formats=formats, pcap=pcap)
    return directory / "report.html"


def write_run(
    result: Result,
    aside: Path,
    *,
    formats: Sequence[str] = (),
    pcap: Sequence[CaptureKind] = (),
    also: Mapping[str, str] | None = None,
) -> None:
    """Write the results of a run beside its packet record and captures, which are in the directory already.

    `also` maps the names of further files to their descriptions.
    """
    from selfclock.report.pages import run_page  # noqa: PLC0415

    scenario = result.scenario
    files = {"summary.json": _DOCUMENT}
    for name, what in _TABLES.items():
        table = getattr(result, name)
        if table.num_rows or name != "connections":
            write_table(table, aside / f"{name}.parquet", scenario)
            files[f"{name}.parquet"] = what
    if scenario.records_packets:
        files[PACKETS] = "every packet"
    for kind, place, file in captures(scenario, pcap):
        files[file] = f"packets that {place} sent and received" if kind == "host" else f"packets that crossed {place}"
    files |= also or {}
    _write_page(aside, run_page(result, files), formats)
    write_document(aside, run_document(result))


def publish_comparison(comparison: Comparison, directory: Path, *, formats: Sequence[str] = ()) -> Path:
    """Write page, measures, figure in these formats, and the tables of every run."""
    from selfclock.report.pages import comparison_page  # noqa: PLC0415

    with staged(directory) as aside:
        files = {"compare.json": _DOCUMENT, "runs.csv": "a row for each algorithm, seed and flow"}
        for label, results in comparison.runs.items():
            for number, result in enumerate(results):
                seed = f"-seed-{result.scenario.seed}" if len(results) > 1 else ""
                for name in ("flows", "links"):
                    file = f"{file_stem(label)}{seed}-{name}.parquet"
                    write_table(getattr(result, name), aside / file, result.scenario)
                    if number == 0:
                        files[file] = f"{label}: {_TABLES[name]}" + (", one for each seed" if seed else "")
        _write_page(aside, comparison_page(comparison, files), formats)
        comparison.to_csv(aside / "runs.csv")
        write_document(aside, comparison_document(comparison))
    return directory / "report.html"


def publish_sweep(found: Sweep, directory: Path | None = None, *, formats: Sequence[str] = ()) -> Path:
    """Write the page of a sweep beside its dataset, and its figure in these formats."""
    from selfclock.report.pages import sweep_page  # noqa: PLC0415

    where = directory or found.directory
    with staged(where, sweep=True) as aside:
        files = {found.path.name: "one row per run", "summary.json": _DOCUMENT}
        made = sweep_page(found, {name: what for name, what in files.items() if (where / name).exists()})
        _write_page(aside, made, formats)
        forget_figures(where, made.figures, formats)
    return where / "report.html"


def publish_scorecard(card: Scorecard, directory: Path, *, formats: Sequence[str] = ()) -> Path:
    """Write the scorecard as JSON, the page, and a figure for each row in these formats."""
    from selfclock.report.pages import scorecard_page  # noqa: PLC0415

    with staged(directory) as aside:
        _write_page(aside, scorecard_page(card, {"scorecard.json": _DOCUMENT}), formats)
        write_document(aside, scorecard_document(card))
    return directory / "report.html"


def publish_papers(reports: list[PaperReport], directory: Path, *, formats: Sequence[str] = ()) -> Path:
    """Write the page of reproduced papers, their claims as JSON, and their figures in these formats."""
    from selfclock.report.papers import papers_page  # noqa: PLC0415

    with staged(directory) as aside:
        _write_page(aside, papers_page(reports, {"claims.json": "the rows, with provenance"}), formats)
        write_document(aside, papers_document(reports))
    return directory / "report.html"


def _write_page(aside: Path, page: Page, formats: Sequence[str]) -> None:
    (aside / "report.html").write_text(page.text, encoding="utf-8")
    for name, figure in page.figures.items():
        for kind in formats:
            figure.savefig(aside / f"{name}.{kind}", dpi=FIGURE_DPI)

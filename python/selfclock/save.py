"""Results on disk. Nothing half-written ever has the name of a result: write aside, then rename."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from selfclock._core import VERSION
from selfclock.own import registered, source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from selfclock import _core
    from selfclock.result import Result
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import pl

FIGURE_DPI = 200
FORMATS = ("png", "svg", "pdf")
FIGURES = ("sequence", "window", "queue", "rate", "rtt")


class UnwritableError(Exception):
    """Results cannot be written where they should."""


class FormatError(Exception):
    """No format of figures has this name."""


def parse_formats(names: str) -> tuple[str, ...]:
    """Return the formats in a text such as "png,pdf"; none in an empty one."""
    chosen = tuple(dict.fromkeys(name.strip().lower() for name in names.split(",") if name.strip()))
    for name in chosen:
        if name not in FORMATS:
            raise FormatError(f"--format: {name!r}; allowed: {', '.join(FORMATS)}, several with commas")
    return chosen


def write_figure(figure: Figure, path: Path, formats: Sequence[str]) -> None:
    """Write a figure in these formats; the path has no ending. The same figure gives the same bytes."""
    from selfclock import style  # noqa: PLC0415

    for kind in formats:
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        with style.house():
            figure.savefig(path.with_name(f"{path.name}.{kind}"), dpi=FIGURE_DPI, metadata=undated)


def forget_figures(directory: Path, names: Iterable[str], formats: Sequence[str]) -> None:
    """Take away figures of an earlier run in formats that this one does not write: they would pass for its own."""
    for name in names:
        for kind in set(FORMATS) - set(formats):
            (directory / f"{name}.{kind}").unlink(missing_ok=True)


def check_writable(directory: Path) -> None:
    """Refuse now what could not be written after the run."""
    nearest = next(parent for parent in (directory, *directory.absolute().parents) if parent.exists())
    if not nearest.is_dir():
        raise UnwritableError(f"cannot write results to {directory}: {nearest} is not a directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UnwritableError(f"cannot write results to {directory}: no permission to write in {nearest}")


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """Give an empty directory beside `directory`; what is in it at the end takes its place there.

    If the work fails or is interrupted nothing is left of it. Files that `directory` has and the work has not made
    stay, so it is safe to name a directory that holds other things.
    """
    check_writable(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    aside = directory.parent / f".{directory.name}.{os.getpid()}.partial"
    aside.mkdir()
    try:
        yield aside
        if directory.exists():
            for path in sorted(aside.iterdir()):
                path.replace(directory / path.name)
        else:
            aside.replace(directory)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def metadata(scenario: Scenario) -> dict[str, str]:
    """Return what a table must carry so that it can be had again."""
    own = {name: source(name) for name in sorted(set(scenario.algorithm_names) & registered().keys())}
    return {
        "selfclock.version": VERSION,
        "selfclock.scenario": scenario.text,
        "selfclock.seed": str(scenario.seed),
        **{f"selfclock.algorithm.{name}": text for name, text in own.items()},
    }


def write_table(table: _core.Table, path: Path, scenario: Scenario) -> None:
    """Write a table as Parquet with its provenance. The same scenario and seed give the same bytes."""
    pl.DataFrame(table).write_parquet(path, metadata=metadata(scenario))


def file_stem(name: str) -> str:
    """Return a name in letters that every file system takes."""
    return re.sub(r"[^\w.+-]+", "_", name)


def file_name(link: str) -> str:
    """Return the name of a link's capture."""
    return re.sub(r"[^\w.-]+", "_", link) + ".pcapng"


def save(result: Result, directory: Path, *, pcap: bool = False, formats: Sequence[str] = ("png",)) -> None:
    """Write report, summary, tables, figures in these formats and, if wanted, one capture per link."""
    from selfclock.report import run_page  # noqa: PLC0415

    scenario = result.scenario
    with staged(directory) as aside:
        (aside / "report.html").write_text(run_page(result), encoding="utf-8")
        summary = json.dumps(result.summary, indent=2, allow_nan=False) + "\n"
        (aside / "summary.json").write_text(summary, encoding="utf-8")
        write_table(result.flows, aside / "flows.parquet", scenario)
        write_table(result.links, aside / "links.parquet", scenario)
        if result.connections.num_rows:
            write_table(result.connections, aside / "connections.parquet", scenario)
        if scenario.records_packets:
            write_table(result.packets, aside / "packets.parquet", scenario)
        if pcap:
            for link in scenario.link_names:
                result.write_pcapng(link, aside / file_name(link))
        for name in FIGURES:
            if result.flows.num_rows or name == "sequence":
                write_figure(getattr(result.plot, name)(), aside / name, formats)
        forget_figures(directory, FIGURES, formats)
        # Tables of an earlier run that this one did not record would pass for its own.
        for name, recorded in (
            ("packets", scenario.records_packets),
            ("connections", result.connections.num_rows > 0),
        ):
            if directory.is_dir() and not recorded:
                (directory / f"{name}.parquet").unlink(missing_ok=True)

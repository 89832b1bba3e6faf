"""Running a sweep, and its results."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from selfclock import notebook
from selfclock._core import ScenarioError
from selfclock.documents import Document, write_document
from selfclock.estimate import estimate
from selfclock.export import FLOW, to_latex
from selfclock.formatting import plural
from selfclock.page_parts import Table
from selfclock.plain_text import as_text
from selfclock.repeats import Sameness
from selfclock.save import FORMATS, staged
from selfclock.sweep import repeats
from selfclock.sweep.dataset import JOURNAL, Dataset, readable
from selfclock.sweep.grid import Grid
from selfclock.sweep.measures import MEASURES, USUAL, chosen
from selfclock.sweep.shares import shares
from selfclock.sweep.workers import CLUSTER, LOCAL, SECURE, run_here, run_on_cluster
from selfclock.threads import check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    import polars as pl

    from selfclock.estimate import Estimate
    from selfclock.sweep.grid import Job
    from selfclock.sweep.shares import Shares
    from selfclock.sweep.workers import Row
else:
    from selfclock.lazy import pl


class PointSummary(TypedDict):
    """One point."""

    point: int
    settings: dict[str, str | float | bool]
    runs: int
    failed: int
    measures: dict[str, Estimate]
    #: Measures of each flow, or with many flows of each algorithm; empty with a single flow.
    shares: Shares


@dataclass(frozen=True, repr=False)
class Sweep:
    """A completed sweep."""

    grid: Grid
    directory: Path
    #: The dataset: a row per run.
    path: Path
    #: Runs made by this call; the others existed before.
    done: int
    #: Runs in the directory that are outside this grid, or of an earlier version of an algorithm;
    #: now in earlier.parquet.
    set_aside: int
    #: Damaged lines of the journal: their runs were repeated.
    damaged: int
    #: Digests of the user-defined algorithms, by name.
    algorithms: dict[str, str]
    seconds: float
    #: Names of the measures in table and figure; the dataset has all of them.
    shown: tuple[str, ...] = USUAL

    @cached_property
    def runs(self) -> pl.DataFrame:
        """The dataset."""
        with readable(self.path):
            return pl.read_parquet(self.path)

    @cached_property
    def errors(self) -> list[str]:
        """The errors of failed runs, in the order of the dataset."""
        errors = pl.scan_parquet(self.path).select(pl.col("error").drop_nulls()).collect()
        return errors["error"].to_list()

    @cached_property
    def points(self) -> list[PointSummary]:
        """Means and confidence intervals, one entry per point."""
        measured = [
            of(pl.col(name)).name.suffix(suffix)
            for name in MEASURES
            for suffix, of in (("", pl.Expr.mean), (":std", pl.Expr.std), (":count", pl.Expr.count))
        ]
        totals = pl.scan_parquet(self.path).group_by("point")
        totals_of = totals.agg(pl.len().alias("runs"), pl.col("error").count().alias("failed"), *measured)
        return [self._summarise(row) for row in totals_of.sort("point").collect().iter_rows(named=True)]

    @cached_property
    def _sameness(self) -> dict[int, Sameness]:
        return repeats.of_points(self.path)

    @cached_property
    def notes(self) -> list[str]:
        """Notes on the results: points whose runs are one run, and equal flows with very unequal shares."""
        lines = "1 line" if self.damaged == 1 else f"{self.damaged:,} lines"
        lost = f"{self.directory / JOURNAL}: {lines} had been damaged; what was lost was run again"
        return [
            *([lost] if self.damaged else []),
            *repeats.notes(self._sameness, len(self.grid.seeds)),
            *repeats.unequal(self.grid, self.path),
        ]

    @cached_property
    def _shares(self) -> dict[int, Shares]:
        repeated = {point for point, own in self._sameness.items() if own is not Sameness.DIFFERENT}
        return shares(self.path, self.grid.confidence, repeated)

    def _summarise(self, row: dict[str, Any]) -> PointSummary:
        independent = self._sameness.get(row["point"], Sameness.DIFFERENT) is Sameness.DIFFERENT
        measures = {
            name: estimate(
                row[name], row[f"{name}:std"], row[f"{name}:count"], self.grid.confidence, independent=independent
            )
            for name in MEASURES
            if row[name] is not None
        }
        settings = {setting.path: setting.value for setting in self.grid.settings(row["point"])}
        return PointSummary(
            point=row["point"], settings=settings, runs=row["runs"], failed=row["failed"], measures=measures,
            shares=self._shares.get(row["point"], {}),
        )  # fmt: skip

    def rows(self) -> pl.DataFrame:
        """Return a row for each point, seed and flow, with the settings of the point; numbers in base units."""
        paths = [path for path in self.runs.columns if path.split(" [")[0] in self.grid.paths]
        flows = self.runs.filter(pl.col("error").is_null()).select("point", *paths, "seed", "flows").explode("flows")
        kept = ("name", "algorithm", *FLOW)
        known = [field.name for field in flows.schema["flows"].fields]  # type: ignore[attr-defined]
        values = [pl.col("flows").struct.field(name) for name in kept if name in known]
        return flows.select("point", *paths, "seed", *values).rename({"name": "flow"}).sort("point", "seed", "flow")

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return `rows` as CSV, and write them to a file if one is named."""
        text = self.rows().write_csv()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_latex(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table of the points as LaTeX, a `tabular` with the rules of booktabs, and write it to a file."""
        return to_latex(self.table(), path)

    def table(self) -> Table:
        """Return the points as texts: means over the seeds with their intervals."""
        from selfclock.sweep.table import of_point, point_headings, short_paths  # noqa: PLC0415

        failed = ["failed"] if self.errors else []
        columns = [*short_paths(self.grid.paths), *failed, *point_headings(self.shown)]
        rows = [of_point(point, self.shown, failed=bool(failed)) for point in self.points]
        caption = f"{plural(len(self.grid.seeds), 'seed')} each; ± at {self.grid.confidence * 100:g} % confidence."
        return Table("Points", caption, columns, rows, texts=len(self.grid.paths))

    def __repr__(self) -> str:
        return f"<Sweep of {self.grid!r} in {str(self.directory)!r}: {self.done:,} of {self.grid.runs:,} runs now>"

    def __str__(self) -> str:
        return as_text(self.grid.name, [self.table()])

    def _repr_html_(self) -> str:
        return notebook.shown(self.grid.name, [self.table()])

    @property
    def document(self) -> dict[str, object]:
        """The document of `selfclock sweep --json`."""
        return {
            "sweep": self.grid.name,
            "confidence": self.grid.confidence,
            "runs": self.grid.runs,
            "failed": len(self.errors),
            "done_now": self.done,
            "set_aside": self.set_aside,
            "notes": [*self.grid.notes, *self.notes],
            "seconds": self.seconds,
            "points": self.points,
        }


def sweep(
    grid: Grid | str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    on: str = LOCAL,
    threads: int | None = None,
    retry: bool = False,
    measures: Iterable[str] = (),
    progress: Callable[[float, str], object] | None = None,
) -> Sweep:
    """Run the missing runs of a grid, given as such or as a file; results go to a directory.

    `on` is "local", on all cores or `threads` threads, "dask://host:port", or
    "tls://host:port" with the certificates of Dask's configuration. A run that fails is
    recorded with its error; it is run again only with `retry`. Table and figure show `measures`,
    columns of the dataset such as "jain". `progress` is called with the fraction done and what to
    say of it.

    >>> import selfclock as sc
    >>> grid = sc.Grid.over(sc.dumbbell(duration="1 s"), {"flow.*.congestion_control": ["reno", "cubic"]}, seeds=3)
    >>> found = sc.sweep(grid, "results/two")  # doctest: +SKIP
    >>> found.runs.group_by("flow.*.congestion_control").mean()  # doctest: +SKIP
    >>> sc.publish(found, "results/two")  # doctest: +SKIP
    """
    scheme = f"(?:{CLUSTER}|{SECURE})"
    if on != LOCAL and not re.fullmatch(rf"{scheme}([^/\s:]+|\[[0-9a-fA-F:]+\])(:\d{{1,5}})?", on):
        raise ScenarioError(
            f"--on: {on!r}; allowed: local, or the address of a Dask scheduler as dask://host:8786, "
            "or tls://host:8786 with Dask's own certificates"
        )
    check_threads(threads)
    shown = chosen(measures)
    grid = grid if isinstance(grid, Grid) else Grid.load(grid)
    directory = Path(out) if out is not None else Path("results") / grid.name
    jobs = list(grid.jobs())
    wanted = {job.key: job for job in jobs}
    began = time.monotonic()
    with Dataset(directory, grid, jobs) as dataset:
        ended = failures = 0

        def unknown(*, failed: bool) -> list[Job]:
            known = dataset.keys(failed=failed)
            return [job for key, job in wanted.items() if key not in known]

        def keep(row: Row) -> None:
            nonlocal ended, failures
            dataset.add(row)
            ended += 1
            failures += row.get("error") is not None
            if progress is not None:
                done = len(wanted) - len(missing) + ended
                note = f"{done:,} of {len(wanted):,} runs" + (f", {failures:,} failed" if failures else "")
                progress(min(1.0, ended / len(missing)), note)

        missing = unknown(failed=not retry)
        left = missing
        while left:
            if on == LOCAL:
                run_here(grid, left, keep, threads)
            else:
                run_on_cluster(on, grid, left, keep)
            dataset.fold()
            # Of a line that was damaged before it was merged.
            left = unknown(failed=True)
    used = sorted({one for job in jobs for one in job.algorithms.split(", ") if one})
    algorithms = {name: digest for name, _, digest in (one.rpartition(" ") for one in used)}
    found = Sweep(
        grid, directory, dataset.path, ended, dataset.set_aside, dataset.damaged, algorithms,
        time.monotonic() - began, shown,
    )  # fmt: skip
    run = hashlib.sha256("\n".join(sorted(wanted)).encode()).hexdigest()[:16]
    with staged(directory, sweep=True) as aside:
        figures = [f"sweep.{kind}" for kind in FORMATS]
        document = Document("summary.json", found.document, run, algorithms)
        write_document(aside, document, ["report.html", *figures])
    return found

"""The results of a sweep on disk: one Parquet file, and a journal of the runs completed since.

A row is appended to the journal as soon as its run ends, so that killing the sweep loses only the
runs in progress. Journal lines have checksums, the Parquet files digests.

From time to time the journal is merged into the Parquet file, which is written to
a temporary file and renamed.

A row's key identifies its inputs: the scenario with its settings, the seed, the engine, and the
sources of the user-defined algorithms. Rows whose keys are not in the grid, because they are from
another grid or from an algorithm before an edit, are set aside in a separate file.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from selfclock._core import COMMIT, VERSION
from selfclock.errors import BadInputError
from selfclock.locks import try_lock
from selfclock.save import UnwritableError, check_writable, on_disk, room
from selfclock.sweep import digest, journal
from selfclock.sweep.row import column_types

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    import polars as pl

    from selfclock.sweep.grid import Grid, Job
else:
    from selfclock.lazy import pl

RUNS = "runs.parquet"
#: Runs outside the present grid, from an earlier grid in the same directory.
EARLIER = "earlier.parquet"
JOURNAL = "journal.jsonl"
LOCK = ".lock"
#: The remains after a full disk.
KEPT = "the finished runs are kept, and the same command resumes"

#: Merging takes at most this fraction of the time, and has this minimum interval.
FOLDING_SHARE = 0.05
FOLDING_INTERVAL_S = 10.0

#: More runs than this stay in order of completion: sorting loads all of them into memory.
MOST_SORTED = 200_000


class BusyError(BadInputError):
    """Another sweep is writing to the directory."""


class DamagedError(BadInputError):
    """A file of earlier runs cannot be read."""


class Dataset:
    """The rows of a grid's runs, as a context: leaving it merges the journal, whatever the reason."""

    def __init__(self, directory: Path, grid: Grid, jobs: list[Job]) -> None:
        check_writable(directory, sweep=True)
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        #: Runs that were set aside on entering.
        self.set_aside = 0
        self._metadata = {
            "selfclock.version": VERSION,
            "selfclock.commit": COMMIT,
            "selfclock.algorithms": "; ".join(sorted({job.algorithms for job in jobs} - {""})),
            "selfclock.grid": grid.text,
            "selfclock.scenario": grid.scenario.text,
        }
        keys = pl.DataFrame({"key": [job.key for job in jobs], "point": [job.point for job in jobs]})
        self._points = keys.join(grid.columns(), on="point", how="left")
        #: Damaged lines of the journal: their runs are repeated.
        self.damaged = 0
        self._journal = journal.Journal(directory / JOURNAL)
        self._lock: BinaryIO | None = None
        self._folded_at = 0.0
        self._folding_s = 0.0

    def __enter__(self) -> Dataset:
        self._lock = _lock(self._directory / LOCK)
        try:
            for name in (RUNS, EARLIER):
                # Left by a sweep killed while writing.
                _aside(self._directory / name).unlink(missing_ok=True)
                digest.forget(self._directory / name)
            self._check_files()
            if self._has_foreign_rows():
                self._take_over()
            self.fold()
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.fold()
            self._sort()
        except UnwritableError:
            # The journal keeps the rows. An earlier error, most likely of the same disk, is the one
            # to report.
            if kind is None:
                raise
        finally:
            self._journal.close()
            if self._lock is not None:
                self._lock.close()

    @property
    def path(self) -> Path:
        """The Parquet file."""
        return self._directory / RUNS

    def keys(self, *, failed: bool) -> set[str]:
        """Return the keys of the runs that need not be run, including failed ones if `failed`."""
        rows = pl.scan_parquet(self.path)
        if not failed:
            rows = rows.filter(pl.col("error").is_null())
        return set(rows.select("key").collect()["key"])

    def add(self, row: dict[str, Any]) -> None:
        """Append a row; it has been handed to the disk on return."""
        with on_disk(self._directory / JOURNAL, KEPT):
            self._journal.append(row)
        if time.monotonic() - self._folded_at > max(FOLDING_INTERVAL_S, self._folding_s / FOLDING_SHARE):
            self.fold()

    def fold(self) -> None:
        """Merge the journal's rows into the Parquet file."""
        began = time.monotonic()
        self._journal.close()
        journal, damaged = self._read_journal()
        self.damaged += damaged
        if len(journal) or not self.path.exists():
            rows = self._at_their_points(journal.lazy())
            if self.path.exists():
                # A retried run replaces its earlier row.
                old = pl.scan_parquet(self.path).join(journal.lazy(), on="key", how="anti")
                rows = pl.concat([old, rows])
            self._write(rows)
        (self._directory / JOURNAL).unlink(missing_ok=True)
        self._folded_at = time.monotonic()
        self._folding_s = self._folded_at - began

    def _check_files(self) -> None:
        """Refuse unreadable files before anything is run or written."""
        for path in (self.path, self._directory / EARLIER):
            if path.exists():
                with readable(path, self._points.height if path == self.path else 0):
                    digest.check(path)
                    # Every column, one part at a time: any of them may be damaged.
                    pl.scan_parquet(path).select(pl.all().count()).collect(engine="streaming")
        self._read_journal()

    def _has_foreign_rows(self) -> bool:
        """Return whether there are rows outside the grid, or with settings other than the grid's."""
        keys = [self._read_journal()[0].select("key")]
        if self.path.exists():
            described = pl.read_parquet_metadata(self.path)
            if any(described.get(name) != value for name, value in self._metadata.items()):
                return True
            keys.append(pl.scan_parquet(self.path).select("key").collect())
        return pl.concat(keys).join(self._points, on="key", how="anti").height > 0

    def _take_over(self) -> None:
        """Set aside rows outside the present grid, and take back those inside."""
        stored = [_stored(self.path)] if self.path.exists() else []
        rows, self.damaged = self._read_journal()
        there = pl.concat([*stored, rows.lazy()]).unique("key", keep="last").collect()
        earlier_path = self._directory / EARLIER
        earlier = _stored(earlier_path).collect() if earlier_path.exists() else pl.DataFrame(schema=column_types())
        strange = there.join(self._points, on="key", how="anti")
        self.set_aside = strange.height
        back = earlier.join(there, on="key", how="anti")
        # Rows are never removed from this file, so that each row exists somewhere at any moment.
        kept = pl.concat([earlier.join(strange, on="key", how="anti"), strange])
        if len(kept):
            with self._written(earlier_path) as aside:
                kept.write_parquet(aside)
        self._write(self._at_their_points(pl.concat([there, back]).lazy()))
        (self._directory / JOURNAL).unlink(missing_ok=True)

    def _at_their_points(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Join points and settings with the measurements; a run shared by two equal points becomes two rows."""
        settings = [name for name in self._points.columns if name not in {"key", "point"}]
        measured = [name for name in column_types() if name not in {"key", "seed"}]
        joined = rows.join(self._points.lazy(), on="key", how="inner")
        return joined.select("key", "point", "seed", *settings, *measured)

    def _write(self, rows: pl.LazyFrame) -> None:
        with self._written(self.path) as aside:
            rows.sink_parquet(aside, metadata=self._metadata)

    @contextmanager
    def _written(self, path: Path) -> Iterator[Path]:
        """Yield the file to write; on leaving, it gets its name. A failure leaves the earlier file."""
        aside = _aside(path)
        try:
            with on_disk(path, KEPT):
                # As root, not through a link of another user.
                aside.unlink(missing_ok=True)
                yield aside
                digest.put(aside, path)
        except pl.exceptions.PolarsError as error:
            # Polars hides the system's error: "Invalid thrift: transport error" is a full disk.
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise UnwritableError(f"cannot write {path}: {said}{room(path)}; {KEPT}") from None
        finally:
            aside.unlink(missing_ok=True)

    def _sort(self) -> None:
        """Sort the rows in the order of the grid, unless there are too many."""
        rows = pl.scan_parquet(self.path)
        if self._points.height <= MOST_SORTED:
            order = rows.select("point", "seed").collect()
            if not order.equals(order.sort("point", "seed")):
                self._write(rows.sort("point", "seed"))

    def _read_journal(self) -> tuple[pl.DataFrame, int]:
        """Return the rows of the journal, and the number of damaged lines."""
        path = self._directory / JOURNAL
        with readable(path):
            return journal.read(path.read_bytes() if path.exists() else b"")


@contextmanager
def readable(path: Path, runs: int = 0) -> Iterator[None]:
    """Turn a library's report of a damaged file into one message, which says that at most this many runs are lost."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        if path.is_dir():
            raise DamagedError(f"{path}: is a directory, and a sweep keeps its runs there: move it away") from None
        said = (str(error).splitlines() or [type(error).__name__])[0]
        lost = f", and up to {runs:,} runs are repeated" if runs else ""
        raise DamagedError(f"{path}: is damaged ({said}): remove it{lost}") from None


def _stored(path: Path) -> pl.LazyFrame:
    """Return the measurements, each run once; columns unknown to the version that wrote them are empty."""
    rows = pl.scan_parquet(path)
    present = rows.collect_schema()
    columns = [
        (pl.col(name) if present.get(name) == kind else pl.lit(None, kind)).alias(name)
        for name, kind in column_types().items()
    ]
    return rows.select(columns).unique("key", keep="any")


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _lock(path: Path) -> BinaryIO:
    """Lock the directory. The operating system releases the lock when the process ends, however it ends."""
    file = path.open("ab")
    try:
        free = try_lock(file)
    except OSError:
        file.close()
        raise
    if not free:
        file.close()
        raise BusyError(f"{path.parent}: another sweep writes there; wait for it, or choose another --out")
    return file

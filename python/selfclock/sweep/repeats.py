"""Points whose runs are one run, and points whose equal flows get very unequal shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import alike
from selfclock.formatting import plural
from selfclock.repeats import Sameness, Trace, note, sameness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from selfclock.sweep.grid import Grid
else:
    from selfclock.lazy import pl

#: With more runs than this, all of their flows are not read into memory at once.
MOST_RUNS = 200_000

#: Equal flows are looked for at this many points with unequal ones.
MOST_POINTS = 100

#: Totals that no clock measures, and that depend on the drops and delays of every packet.
TOTALS = ("packet_hops", "sent_segments", "retransmitted_segments", "rtt_mean_s", "drops", "queue_mean_s")


def of_points(path: Path) -> dict[int, Sameness]:
    """Return what the runs of each point of a dataset have in common, for points with several."""
    traces: dict[int, list[Trace]] = {}
    for row in _rows(path).iter_rows(named=True):
        own = Trace(tuple(row["goodputs"] or ()), tuple(row[name] for name in TOTALS))
        traces.setdefault(row["point"], []).append(own)
    return {point: sameness(own) for point, own in traces.items() if len(own) > 1}


def notes(found: Mapping[int, Sameness], seeds: int) -> list[str]:
    """Return a sentence for each kind of points whose runs are one run."""
    said = []
    for kind in (Sameness.EQUAL, Sameness.EXCHANGED):
        points = [point for point, own in found.items() if own is kind]
        if points:
            where = "at every point" if len(points) == len(found) else f"at {plural(len(points), 'point')}"
            said.append(f"{where} {note(kind, seeds)}")
    return said


def unequal(grid: Grid, path: Path) -> list[str]:
    """Return a note on the first point whose equal flows get very unequal shares, with the number of such points."""
    noted: list[str] = []
    for row in _rows(path).unique("point", keep="first", maintain_order=True).iter_rows(named=True):
        rates = [rate for rate in row["goodputs"] or () if rate is not None]
        if len(rates) < 2 or min(rates) >= alike.UNEQUAL * max(rates):
            continue
        going = [name for name, end in zip(row["names"], row["ends"], strict=True) if end is None]
        by_name = {name: rate for name, rate in zip(row["names"], row["goodputs"], strict=True) if name in going}
        noted += alike.shares(grid.scenario_at(row["point"]), by_name)[:1]
        if len(noted) >= MOST_POINTS:
            break
    return [_counted(noted)] if noted else []


def _counted(noted: Sequence[str]) -> str:
    more = len(noted) - 1
    return noted[0] + (f"; so at {plural(more, 'other point')}" if more else "")


def _rows(path: Path) -> pl.DataFrame:
    """Return a row for each run that did not fail, in the order of points and seeds."""
    flow = pl.col("flows").list
    rows = (
        pl.scan_parquet(path)
        .filter(pl.col("error").is_null())
        .select(
            "point",
            "seed",
            *TOTALS,
            goodputs=flow.eval(pl.element().struct.field("goodput_bps")),
            names=flow.eval(pl.element().struct.field("name")),
            ends=flow.eval(pl.element().struct.field("completion_s")),
        )
        .sort("point", "seed")
    )
    return rows.head(MOST_RUNS).collect()

"""Shares: the measures of each flow, or with many flows of each algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.estimate import estimate

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    import polars as pl

    from selfclock.estimate import Estimate
else:
    from selfclock.lazy import pl

#: With more flows than this in a run, those of one algorithm are averaged.
MOST_FLOWS = 4

#: With more algorithms than this there are no shares.
MOST_ALGORITHMS = 6

#: Measures of each.
MEASURES = ("goodput_bps", "rtt_mean_s")

#: Estimates by measure, then by owner: "flow1 (cubic)" or "cubic".
Shares = dict[str, dict[str, "Estimate"]]


def shares(path: Path, confidence: float, repeated: Container[int] = ()) -> dict[int, Shares]:
    """Return the shares at each point of a dataset; empty if all runs have a single flow, or too many algorithms.

    At a `repeated` point all runs are one run, and shares have no interval.
    """
    flows = _flows(path)
    if flows.is_empty() or flows.group_by("point", "seed").len()["len"].max() == 1:
        return {}
    told_apart = _named(flows)
    if told_apart is None:
        return {}
    means = told_apart.group_by("point", "seed", "who", maintain_order=True).agg(pl.col(MEASURES).mean())
    columns = [pl.col("point"), pl.col("who")]
    found = means.group_by(columns, maintain_order=True).agg(
        *(expression.name.suffix(suffix) for suffix, expression in (
            (":mean", pl.col(MEASURES).mean()), (":std", pl.col(MEASURES).std()), (":count", pl.col(MEASURES).count())
        ))
    )  # fmt: skip
    by_point: dict[int, Shares] = {}
    for row in found.iter_rows(named=True):
        by_point.setdefault(row["point"], {})[row["who"]] = {
            name: estimate(
                row[f"{name}:mean"], row[f"{name}:std"], row[f"{name}:count"], confidence,
                independent=row["point"] not in repeated,
            )
            for name in MEASURES
            if row[f"{name}:mean"] is not None
        }  # fmt: skip
    return by_point


def _flows(path: Path) -> pl.DataFrame:
    """Return a row for each flow of each run."""
    kept = ("name", "algorithm", *MEASURES)
    return (
        pl.scan_parquet(path)
        .select("point", "seed", "flows")
        .sort("point", "seed", maintain_order=True)
        .explode("flows")
        .select("point", "seed", *(pl.col("flows").struct.field(name) for name in kept))
        .drop_nulls("name")
        .collect()
    )


def _named(flows: pl.DataFrame) -> pl.DataFrame | None:
    """Add the owner of each row: the flow, or its algorithm; `None` if there are too many of both."""
    algorithms = flows.group_by("name").agg(pl.col("algorithm").n_unique().alias("algorithms"))
    if len(algorithms) <= MOST_FLOWS:
        own = pl.format("{} ({})", "name", "algorithm")
        named = flows.join(algorithms, on="name", how="left", maintain_order="left")
        return named.with_columns(who=pl.when(pl.col("algorithms") == 1).then(own).otherwise("name"))
    if 1 < flows["algorithm"].n_unique() <= MOST_ALGORITHMS:
        return flows.with_columns(who="algorithm")
    return None

"""A sweep's record of a run: one row."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints, is_typeddict

from selfclock._core import VERSION
from selfclock.catalogue import totals
from selfclock.series import jain, weighted_mean
from selfclock.summaries import LinkSummary, RunFlow
from selfclock.sweep.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from selfclock.result import Summary
    from selfclock.sweep.grid import Job
else:
    from selfclock.lazy import pl


def _column_type(hint: object) -> pl.DataType:
    """Return the column type of a summary's value."""
    simple: dict[object, pl.DataType] = {str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()}
    if hint in simple:
        return simple[hint]
    if is_typeddict(hint):
        return pl.Struct({name: _column_type(inner) for name, inner in get_type_hints(hint).items()})
    (inner,) = (argument for argument in get_args(hint) if argument is not type(None))
    return pl.List(_column_type(inner)) if get_origin(hint) is list else _column_type(inner)


@functools.cache
def column_types() -> dict[str, pl.DataType]:
    """Return the columns of the dataset other than the point and its settings."""
    return {
        "key": pl.String(),
        "seed": pl.Int64(),
        "version": pl.String(),
        "algorithms": pl.String(),
        "error": pl.String(),
        "busiest_link": pl.String(),
        **dict.fromkeys(MEASURES, pl.Float64()),
        "flows": _column_type(list[RunFlow]),
        "links": _column_type(list[LinkSummary]),
    }


def finished(job: Job, summary: Summary) -> dict[str, Any]:
    """Return the row of a completed run."""
    return {**_identity(job), **_measure(summary)}


def failed(job: Job, error: object) -> dict[str, Any]:
    """Return the row of a failed run."""
    return {**_identity(job), "error": str(error) or type(error).__name__}


def _identity(job: Job) -> dict[str, Any]:
    """Return the provenance of a run; `algorithms` lists user-defined ones with their digests, or is empty."""
    return {"key": job.key, "seed": job.seed, "version": VERSION, "algorithms": job.algorithms or None}


def _measure(summary: Mapping[str, Any]) -> dict[str, Any]:
    flows, links = summary["flows"], summary["links"]
    busiest = max(links, key=lambda link: link["utilization"])
    completions = [flow["completion_s"] for flow in flows if flow["completion_s"] is not None]

    combine: dict[str, Callable[[str, list[dict[str, Any]]], float | None]] = {
        "sum": lambda name, rows: sum(row[name] for row in rows),
        "least": lambda name, rows: min((row[name] for row in rows if row[name] is not None), default=None),
        "mean": lambda name, rows: weighted_mean([(row[name], row["delivered_bytes"]) for row in rows]),
        "busiest": lambda name, _: busiest[name],
    }
    return {
        "busiest_link": busiest["name"],
        **{
            each.name: combine[each.combined](each.name, rows)
            for table, rows in (("FlowSummary", flows), ("LinkSummary", links))
            for each in totals(table)
            if each.combined
        },
        "jain": jain([flow["goodput_bps"] for flow in flows]),
        "completed_flows": len(completions),
        "completion_mean_s": sum(completions) / len(completions) if completions else None,
        "cpu_s": summary["cpu_s"],
        **{each.name: summary[each.name] for each in totals("Summary") if each.word},
        "flows": flows,
        "links": links,
    }

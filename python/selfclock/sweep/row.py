"""A sweep's record of a run: one row."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints, is_typeddict

from selfclock._core import VERSION
from selfclock.result import FlowSummary, LinkSummary, Summary
from selfclock.series import jain, weighted_mean
from selfclock.sweep.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from selfclock.sweep.grid import Job
else:
    from selfclock.lazy import pl


#: Entries of a summary that only an emulation has, and so no sweep.
_EMULATED = {"initiator", "addresses", "algorithm_seen"}


def _column_type(hint: object) -> pl.DataType:
    """Return the column type of a summary's value."""
    simple: dict[object, pl.DataType] = {str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()}
    if hint in simple:
        return simple[hint]
    if is_typeddict(hint):
        known = {name: inner for name, inner in get_type_hints(hint).items() if name not in _EMULATED}
        return pl.Struct({name: _column_type(inner) for name, inner in known.items()})
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
        "flows": _column_type(list[FlowSummary]),
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

    def total(rows: list[dict[str, Any]], name: str) -> float:
        values: list[float] = [row[name] for row in rows]
        return sum(values)

    def mean(name: str) -> float | None:
        return weighted_mean([(flow[name], flow["delivered_bytes"]) for flow in flows])

    return {
        "busiest_link": busiest["name"],
        **{name: total(flows, name) for name in ("goodput_bps", "throughput_bps", "sent_segments",
                                                 "retransmitted_segments", "timeouts", "fast_retransmits")},
        "jain": jain([flow["goodput_bps"] for flow in flows]),
        "rtt_min_s": min((flow["rtt_min_s"] for flow in flows if flow["rtt_min_s"] is not None), default=None),
        "rtt_mean_s": mean("rtt_mean_s"),
        "rtt_p95_s": mean("rtt_p95_s"),
        "completed_flows": len(completions),
        "completion_mean_s": sum(completions) / len(completions) if completions else None,
        **{name: busiest[name] for name in ("utilization", "queue_mean_packets", "queue_max_packets", "queue_mean_s")},
        **{name: total(links, name) for name in ("drops", "ce_marks")},
        **{name: summary[name] for name in ("simulated_s", "events", "packet_hops", "cpu_s")},
        "flows": flows,
        "links": links,
    }  # fmt: skip

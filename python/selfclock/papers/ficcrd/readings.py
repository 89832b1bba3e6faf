"""Measurements of a run, so that its records can be freed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock.papers.ficcrd.network import (
    BOTTLENECK,
    FLOWS,
    MEASURED_S,
    SECONDS,
    TARGET_PACKETS,
    cell,
    goodputs_mbps,
    queue,
)
from selfclock.papers.intervals import Interval, interval
from selfclock.series import all_flows, between, flow_series, jain, packet_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.result import Result

#: "At the target": within a fifth of it.
NEAR = (0.8, 1.2)

#: End of a run's start-up, s.
STARTED_S = 5.0


@dataclass(frozen=True)
class Reading:
    """The result of a run."""

    #: Over the measured interval, Mbit/s.
    goodputs: tuple[float, ...]
    #: Packets of every kind dropped by the bottleneck queue: in the whole run, and until
    #: `STARTED_S`.
    drops: int
    early_drops: int
    #: Seconds of the measured interval in which the bottleneck dropped.
    lossy_seconds: int
    #: Fraction of the time in which the queue is near its target.
    near: float
    queue_mean: float
    queue_max: int
    #: Fraction of the time in which the bottleneck sends.
    use: float
    timeouts: int
    #: Standard deviation over mean of a flow's data per second, averaged over all flows but the
    #: first.
    roughness: float
    #: Dropped data of each flow in the whole run, and of all of them after `STARTED_S`; only with
    #: packet records.
    by_flow: tuple[int, ...] = ()
    late_data: int = 0

    @property
    def total(self) -> float:
        """Goodput of all flows, Mbit/s."""
        return sum(self.goodputs)

    @property
    def jain(self) -> float:
        """Jain's index of the goodputs."""
        return jain(self.goodputs) or 0.0

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        return [
            f"{self.total:.3f}",
            f"{self.jain:.4f}",
            str(self.drops),
            str(self.early_drops),
            f"{self.near:.3f}",
            f"{self.queue_mean:.0f}",
            str(self.queue_max),
            str(self.timeouts),
        ]


#: Headings of `Reading.cells`.
COLUMNS = [
    "goodput Mbit/s",
    "Jain",
    "drops",
    "of them before 5 s",
    "queue near target",
    "mean queue",
    "longest queue",
    "timeouts",
]


@dataclass(frozen=True)
class Drawn(Reading):
    """A reading with the drawn series."""

    #: Sample times, and packets waiting at the bottleneck.
    queue: tuple[list[float], list[int]] = field(default=([], []), repr=False)
    #: Sample times and segments sent, by flow.
    sent: tuple[tuple[list[float], list[float]], ...] = field(default=(), repr=False)


def read(
    result: Result,
    scale: float = 1.0,
    span_s: tuple[float, float] = MEASURED_S,
    target: float = TARGET_PACKETS,
) -> Reading:
    """Measure a run over an interval, drops over all of it."""
    return Reading(**_measures(result, scale, span_s, target))


def draw(result: Result, scale: float = 1.0) -> Drawn:
    """Measure a run, and keep its drawn series."""
    samples = queue(result, 0, SECONDS * scale)
    return Drawn(
        **_measures(result, scale, MEASURED_S, TARGET_PACKETS),
        queue=(samples["time_s"].to_list(), samples["queue_packets"].to_list()),
        sent=tuple(_sent_segments(result, f"flow{number}") for number in range(FLOWS)),
    )


def _measures(result: Result, scale: float, span_s: tuple[float, float], target: float) -> dict[str, Any]:
    begin, end = span_s[0] * scale, span_s[1] * scale
    samples = queue(result, begin, end)
    packets = samples["queue_packets"]
    lossy = samples.with_columns(pl.col("time_s").floor(), pl.col("drops").diff()).filter(pl.col("drops") > 0)
    return {
        "goodputs": tuple(goodputs_mbps(result, begin, end)),
        "drops": next(link for link in result.summary["links"] if link["name"] == BOTTLENECK)["drops"],
        "early_drops": int(cell(queue(result, 0, STARTED_S * scale)["drops"].max())),
        "lossy_seconds": lossy["time_s"].n_unique(),
        "near": cell(packets.is_between(NEAR[0] * target, NEAR[1] * target).mean()),
        "queue_mean": cell(packets.mean()),
        "queue_max": int(cell(packets.max())),
        "use": cell(samples["utilization"].mean()),
        "timeouts": sum(flow["timeouts"] for flow in result.summary["flows"]),
        "roughness": _roughness(result, begin, end),
        **_lost_data(result, STARTED_S * scale),
    }


def _lost_data(result: Result, started_s: float) -> dict[str, Any]:
    if not result.scenario.records_packets:
        return {}
    data = (pl.col("event") == "drop") & (pl.col("kind") == "data")
    lost = packet_record(result, "time_s", "event", "kind", "flow", where=data)
    counts = dict(lost.group_by("flow").len().iter_rows())
    return {
        "by_flow": tuple(int(counts.get(f"flow{number}", 0)) for number in range(FLOWS)),
        "late_data": lost.filter(pl.col("time_s") > started_s).height,
    }


def _roughness(result: Result, begin_s: float, end_s: float) -> float:
    series = between(all_flows(result), begin_s, end_s).with_columns(second=pl.col("time_s").floor())
    sent = (
        series.filter(pl.col("flow") != "flow0")
        .group_by("flow", "second")
        .agg(pl.col("sent_bytes").max())
        .sort("flow", "second")
    )
    sent = sent.with_columns(pl.col("sent_bytes").diff().over("flow")).drop_nulls()
    # A flow that sends nothing counts as even.
    each = sent.group_by("flow").agg(
        (pl.col("sent_bytes").std() / pl.col("sent_bytes").mean()).fill_nan(0.0).alias("part")
    )
    return cell(each["part"].mean())


def _sent_segments(result: Result, name: str) -> tuple[list[float], list[float]]:
    series = flow_series(result, name)
    return series["time_s"].to_list(), (series["sent_bytes"] / 4096).to_list()


def paired(own: Sequence[Reading], other: Sequence[Reading], measure: Callable[[Reading], float]) -> Interval:
    """Return the ratios of two mechanisms seed by seed; 0/0 is 1."""
    pairs = [(measure(a), measure(b)) for a, b in zip(own, other, strict=True)]
    return interval([1.0 if a == b else a / b if b else float(a > 0) * 1e9 for a, b in pairs])

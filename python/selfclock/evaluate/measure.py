"""Measurements of a run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from selfclock.evaluate.network import BOTTLENECK, PACKET_B
from selfclock.series import by_flow, link_series

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from selfclock.result import FlowSummary, Result

    Numbers = NDArray[np.float64]
else:
    from selfclock.lazy import np, pl


class Reading:
    """The series of a run as arrays: of the bottleneck, and of each flow."""

    def __init__(self, result: Result) -> None:
        self.result = result

    @cached_property
    def flows(self) -> list[FlowSummary]:
        """Totals of the flows."""
        return self.result.summary["flows"]

    @cached_property
    def _link(self) -> pl.DataFrame:
        return link_series(self.result, BOTTLENECK)

    @cached_property
    def _flows(self) -> dict[str, pl.DataFrame]:
        return by_flow(self.result)

    @cached_property
    def times(self) -> Numbers:
        """Sample times, seconds."""
        return self._link["time_s"].to_numpy()

    def link(self, column: str) -> Numbers:
        """Return a series of the bottleneck."""
        return self._link[column].cast(pl.Float64).to_numpy()

    def flow(self, name: str, column: str) -> Numbers:
        """Return a series of a flow."""
        return self._flows[name][column].cast(pl.Float64).to_numpy()

    @cached_property
    def tcp(self) -> list[str]:
        """Names of the TCP flows."""
        return [each["name"] for each in self.flows if each["algorithm"] != "udp"]

    def over(self, series: Numbers, begin_s: float, end_s: float) -> float:
        """Return the growth of a running total between two times, per second."""
        at = np.interp([begin_s, end_s], self.times, series)
        return float(at[1] - at[0]) / (end_s - begin_s)

    def rate_bps(self, name: str, begin_s: float, end_s: float) -> float:
        """Return the rate at which data of a flow was acknowledged between two times."""
        return 8 * self.over(self.flow(name, "acknowledged_bytes"), begin_s, end_s)

    def rates_bps(self, begin_s: float, end_s: float) -> list[float]:
        """Return the rate of every TCP flow."""
        return [self.rate_bps(name, begin_s, end_s) for name in self.tcp]

    def link_bps(self, begin_s: float, end_s: float) -> float:
        """Return the rate that the bottleneck carried."""
        return 8 * self.over(self.link("bytes"), begin_s, end_s)

    def loss(self, begin_s: float, end_s: float) -> float:
        """Return the fraction of packets dropped at the bottleneck."""
        drops = self.over(self.link("drops"), begin_s, end_s)
        sent = self.over(self.link("bytes"), begin_s, end_s) / PACKET_B
        return drops / (drops + sent) if drops + sent > 0 else 0.0


def thin(times: Numbers, values: Numbers, most: int = 400) -> tuple[list[float], list[float]]:
    """Return at most this many points of a series, for a small figure."""
    step = max(1, len(times) // most)
    return [float(time) for time in times[::step]], [float(value) for value in values[::step]]

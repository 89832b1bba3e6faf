"""Reading the series of a run: one flow or link, between two times; and shares and means of flows.

`Samples` holds the raw samples, for figures; the functions return data frames.

Series are sampled running totals and levels. Times are those of the run, in seconds; a sample at
either end counts, even if its time is a rounded sum such as 0.1 + 0.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from selfclock.errors import BadInputError
from selfclock.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from selfclock.result import Result, Table
else:
    from selfclock.lazy import np, pl

#: A sample this little outside a span belongs to it: far below any sampling interval.
SLACK_S = 1e-9


#: Samples that a rate needs.
FEWEST = 2


class Samples:
    """A table of samples of flows or links, one after the other, each at the same times.

    It avoids data frames, whose library takes longer to import than a short run takes.
    """

    def __init__(self, table: Table, owner: Literal["flow", "link"]) -> None:
        self._table = table
        column = table.column(owner)
        places, names = np.asarray(cast("Any", column)), column.names or []
        each = int((places == places[0]).sum()) if len(places) else 0
        #: Names of the flows or links.
        self.names = [names[place] for place in places[::each]] if each else []
        #: Times of the samples, s.
        self.times: NDArray[np.float64] = np.asarray(cast("Any", table.column("time_s")))[:each]

    def __getitem__(self, quantity: str) -> NDArray[np.float64]:
        """Return the samples of a quantity: one row per flow or link."""
        values = np.asarray(cast("Any", self._table.column(quantity)))
        return values.reshape(len(self.names), -1 if len(values) else 0)


def all_flows(result: Result) -> pl.DataFrame:
    """Return the samples of every flow; names and phases are texts."""
    return _texts(pl.DataFrame(result.flows))


def all_links(result: Result) -> pl.DataFrame:
    """Return the samples of every link, whose names are texts."""
    return _texts(pl.DataFrame(result.links))


def flow_series(result: Result, name: str = "flow1") -> pl.DataFrame:
    """Return the samples of one flow."""
    return _of(all_flows(result), "flow", name, result.scenario.flow_names)


def link_series(result: Result, name: str = "bottleneck") -> pl.DataFrame:
    """Return the samples of one link."""
    return _of(all_links(result), "link", name, result.scenario.link_names)


def _of(frame: pl.DataFrame, owner: str, name: str, names: Sequence[str]) -> pl.DataFrame:
    if name not in names:
        raise BadInputError(unknown(owner, name, names))
    return frame.filter(pl.col(owner) == name)


def by_flow(result: Result) -> dict[str, pl.DataFrame]:
    """Return the samples of each flow, by name."""
    return {str(name): frame for (name,), frame in all_flows(result).partition_by("flow", as_dict=True).items()}


def packet_record(result: Result, *columns: str, where: pl.Expr | None = None) -> pl.DataFrame:
    """Return the packet record, or some of its columns; names and kinds are texts.

    `where` filters millions of packets before the remaining ones take memory as texts.
    """
    record = pl.DataFrame(result.packet_columns(*columns) if columns else result.packets)
    return _texts(record if where is None else record.filter(where))


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def between(frame: pl.DataFrame, begin_s: float, end_s: float) -> pl.DataFrame:
    """Return the samples between two times."""
    return frame.filter(pl.col("time_s").is_between(begin_s - SLACK_S, end_s + SLACK_S))


def mean_between(frame: pl.DataFrame, column: str, begin_s: float, end_s: float) -> float:
    """Return the mean of the samples of a level between two times; 0 if there is none."""
    values = between(frame, begin_s, end_s)[column].cast(pl.Float64).to_list()
    return sum(values) / len(values) if values else 0.0


def rate_between(frame: pl.DataFrame, column: str, begin_s: float, end_s: float) -> float:
    """Return the growth per second of a running total from the first to the last sample between two times."""
    part = between(frame, begin_s, end_s)
    if part.height < FEWEST:
        times = frame["time_s"]
        span = f"{times[0]:g} to {times[-1]:g} s" if len(times) else "none"
        raise BadInputError(f"from {begin_s:g} to {end_s:g} s there are not two samples; there are samples of {span}")
    total, times = part[column], part["time_s"]
    return float(total[-1] - total[0]) / float(times[-1] - times[0])


def goodput_bps(frame: pl.DataFrame, begin_s: float, end_s: float) -> float:
    """Return a flow's acknowledged payload between two times, bits per second."""
    return rate_between(frame, "acknowledged_bytes", begin_s, end_s) * 8


def goodputs_bps(result: Result, begin_s: float, end_s: float) -> list[float]:
    """Return the goodput of each TCP connection between two times, in the order of the scenario.

    Short connections have no series, and UDP has no ACKs: their flows are omitted.
    """
    frames = by_flow(result)
    long = [
        each["name"] for each in result.summary["flows"] if each["algorithm"] != "udp" and each["connections"] is None
    ]
    return [goodput_bps(frames[name], begin_s, end_s) for name in long]


def jain(shares: Sequence[float]) -> float | None:
    """Jain's index of fairness; `None` if nothing was delivered."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0 else None


def weighted_mean(values: Iterable[tuple[float | None, int]]) -> float | None:
    """Weighted mean of values; `None` if all weights are zero."""
    known = [(value, weight) for value, weight in values if value is not None and weight > 0]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None

"""The columns of a twin as tables and as a document."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from selfclock.kernel.twin.measures import distance
from selfclock.page_parts import Table

if TYPE_CHECKING:
    from selfclock.kernel.twin.measures import Measures
    from selfclock.kernel.twin.run import Column, Twin

COLUMNS = ("flow", "run", "algorithm", "goodput Mbit/s", "mean RTT ms", "mean window", "retransmissions", "period s")
DISTANCES = ("flow", "of", "from", "goodput", "mean RTT", "mean window", "retransmissions", "period")
COMPARED = ("goodput_bps", "rtt_s", "window_segments", "retransmissions", "period_s")

ABOUT = (
    "Means after the beginning of each flow (a quarter of it, 5 s at most); retransmissions of the whole run. The "
    "period is the mean time between two reductions of the window."
)


def tables(twin: Twin) -> list[Table]:
    """Return the results of each flow in each run, and the distances between runs."""
    rows, distances = [], []
    for index, sender in enumerate(twin.senders):
        found = [(column, column.measures[index]) for column in twin.columns]
        rows += [[sender.name, column.title, column.controls[index], *cells(own)] for column, own in found]
        distances += [
            [sender.name, one.title, other.title, *apart(own, others)]
            for number, (one, own) in enumerate(found)
            for other, others in found[:number]
        ]
    return [
        Table("Side by side", ABOUT, list(COLUMNS), rows, texts=3),
        Table("Distances", "Difference of the first from the second.", list(DISTANCES), distances, texts=3),
        Table("Runs", "", ["run", "drops at the bottleneck", "ACKs under the algorithm", "ACKs under Reno for lack of "
              "a decision", "valid"], [run_cells(column) for column in twin.columns], texts=1),
    ]  # fmt: skip


def cells(measures: Measures) -> list[str]:
    """Return the figures of a flow as texts."""
    return [
        f"{measures.goodput_bps * 1e-6:.2f}",
        "-" if math.isnan(measures.rtt_s) else f"{measures.rtt_s * 1e3:.2f}",
        f"{measures.window_segments:.1f}",
        f"{measures.retransmissions}",
        "-" if measures.period_s is None else f"{measures.period_s:.2f}",
    ]


def apart(one: Measures, other: Measures) -> list[str]:
    """Return the distances of two runs of a flow as texts; of retransmissions it is a number."""
    found = distances(one, other)
    counted = one.retransmissions - other.retransmissions
    texts = {name: "-" if value is None else f"{value:+.1%}" for name, value in found.items()}
    return [f"{counted:+d}" if name == "retransmissions" else texts[name] for name in COMPARED]


def distances(one: Measures, other: Measures) -> dict[str, float | None]:
    """Return the relative excess of each figure of a run over that of another."""
    return {name: distance(getattr(one, name), getattr(other, name)) for name in COMPARED}


def run_cells(column: Column) -> list[str]:
    """Return the figures of a whole run."""
    answered, fallback = map(str, column.answered) if column.answered else ("-", "-")
    return [column.title, f"{column.drops}", answered, fallback, "no" if column.complaint else "yes"]


def document(twin: Twin) -> dict[str, Any]:
    """Return everything as a document, which is JSON."""
    runs = [
        {
            "run": column.key,
            "title": column.title,
            "drops": column.drops,
            "acks_answered": column.answered and column.answered[0],
            "acks_fallback": column.answered and column.answered[1],
            "complaint": column.complaint,
            "flows": [
                {"name": sender.name, "algorithm": control, **_finite(dataclasses.asdict(measures))}
                for sender, control, measures in zip(twin.senders, column.controls, column.measures, strict=True)
            ],
        }
        for column in twin.columns
    ]
    apart = [
        {"flow": sender.name, "of": one.key, "from": other.key,
         **distances(one.measures[index], other.measures[index])}
        for index, sender in enumerate(twin.senders)
        for number, one in enumerate(twin.columns)
        for other in twin.columns[:number]
    ]  # fmt: skip
    return {"runs": runs, "distances": apart, "notes": twin.notes}


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def samples(twin: Twin) -> dict[str, list[Any]]:
    """Return the samples of all flows in all runs as one table, in columns."""
    table: dict[str, list[Any]] = {
        name: [] for name in ("run", "flow", "time_s", "window_segments", "srtt_s", "acknowledged_bytes")
    }
    for column in twin.columns:
        for sender, series in zip(twin.senders, column.flows, strict=True):
            table["run"] += [column.key] * len(series.time_s)
            table["flow"] += [sender.name] * len(series.time_s)
            for name in ("time_s", "window_segments", "srtt_s", "acknowledged_bytes"):
                table[name] += getattr(series, name).tolist()
    return table

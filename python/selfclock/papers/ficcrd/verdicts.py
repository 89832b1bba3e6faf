"""Verdicts from figures alone, and what is measured of every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.ficcrd.network import BOTTLENECK, MEASURED_S, TARGET_PACKETS, cell, goodputs_mbps, jain, queue

if TYPE_CHECKING:
    from selfclock.reproduce import Verdict
    from selfclock.result import Result

#: "At the target": within a fifth of it.
NEAR = (0.8 * TARGET_PACKETS, 1.2 * TARGET_PACKETS)

#: "The queue length will still fluctuate at our target queue length with narrow range": for this part of the time.
NEAR_MOSTLY, NEAR_OFTEN = 0.95, 0.8

#: "Fairly distributed".
FAIR = 0.99

#: "Significantly improve in throughput": by a twentieth at least.
SIGNIFICANT = 1.05

#: After this a run has started up, s.
STARTED_S = 5.0

#: Against Jain's index in ns-2, and a utilisation that a fluid gives.
JAIN_TOLERANCE, USE_TOLERANCE = 0.02, 0.05


@dataclass(frozen=True)
class Measures:
    """What a run comes to."""

    goodputs: list[float]
    drops: int
    #: Part of the time that the queue is near its target.
    near: float
    queue_mean: float
    queue_max: int
    timeouts: int

    @property
    def total(self) -> float:
        """Goodput of all flows, Mbit/s."""
        return sum(self.goodputs)

    @property
    def jain(self) -> float:
        """Jain's index of the goodputs."""
        return jain(self.goodputs)

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        return [
            f"{self.total:.3f}", f"{self.jain:.4f}", str(self.drops), f"{self.near:.3f}", f"{self.queue_mean:.0f}",
            str(self.queue_max), str(self.timeouts),
        ]  # fmt: skip


#: Headings of `Measures.cells`.
COLUMNS = ["goodput Mbit/s", "Jain", "drops after 5 s", "queue near target", "mean queue", "longest queue", "timeouts"]


def measures(result: Result, scale: float = 1.0, span_s: tuple[float, float] = MEASURED_S) -> Measures:
    """Measure a run over the paper's interval."""
    begin, end = span_s[0] * scale, span_s[1] * scale
    samples = queue(result, begin, end)
    drops = queue(result, 0, end)
    before = drops.filter(pl.col("time_s") <= STARTED_S * scale)["drops"].max()
    packets = samples["queue_packets"]
    return Measures(
        goodputs=goodputs_mbps(result, begin, end),
        drops=next(link for link in result.summary["links"] if link["name"] == BOTTLENECK)["drops"] - int(cell(before)),
        near=cell(packets.is_between(*NEAR).mean()),
        queue_mean=cell(packets.mean()),
        queue_max=int(cell(packets.max())),
        timeouts=sum(flow["timeouts"] for flow in result.summary["flows"]),
    )


def no_drop_verdict(drops: int, tail_drop: int) -> Verdict:
    """None; a tenth of tail drop's; or more."""
    if drops == 0:
        return "reproduced"
    return "direction" if drops < tail_drop / 10 else "not reproduced"


def near_verdict(near: float) -> Verdict:
    """Judge the part of the time near the target."""
    if near >= NEAR_MOSTLY:
        return "reproduced"
    return "direction" if near >= NEAR_OFTEN else "not reproduced"


def fair_verdict(index: float, tail_drop: float) -> Verdict:
    """Fair; fairer than tail drop; or neither."""
    if index > FAIR:
        return "reproduced"
    return "direction" if index > tail_drop else "not reproduced"


def gain_verdict(ratio: float) -> Verdict:
    """A significant gain; any; or none."""
    if ratio >= SIGNIFICANT:
        return "reproduced"
    return "direction" if ratio > 1 else "not reproduced"


def close_verdict(measured: float, reference: float, tolerance: float) -> Verdict:
    """Within the tolerance; within three of them; or further off."""
    off = abs(measured - reference)
    if off <= tolerance * (1 + 1e-9):
        return "reproduced"
    return "direction" if off <= 3 * tolerance else "not reproduced"

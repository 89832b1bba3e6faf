"""The bench of a suite: it runs an algorithm alone on a path, and reads phases and state from the series."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.evaluate.network import BOTTLENECK, OVERHEAD, PACKET_B, QUIC_KINDS, SEGMENT_B, TCP_KINDS, Path
from selfclock.scenario import build
from selfclock.scenario.flow import Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, s
from selfclock.scenario.transport import Record
from selfclock.series import flow_series, link_series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from selfclock.evaluate.subject import Subject
    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.scenario.link import Change, Queue
    from selfclock.scenario.quantity import Packets

    Numbers = NDArray[np.float64]
else:
    from selfclock.lazy import np, pl

#: Time between samples, s: a fortieth of the usual round trip.
SAMPLE_S = 0.001

#: Bytes on the wire for each byte of payload.
WIRE = PACKET_B / SEGMENT_B


@dataclass(frozen=True)
class Span:
    """One stay in a phase, in seconds."""

    phase: str
    begin: float
    #: Infinite if the run ended in it.
    end: float
    #: The phase that followed; empty if the run ended.
    then: str


class Trace:
    """A run of one flow."""

    def __init__(self, result: Result, path: Path) -> None:
        self.result = result
        self.path = path
        self._flow = flow_series(result)
        self._link = link_series(result, BOTTLENECK)
        self.times: Numbers = self._flow["time_s"].to_numpy()

    def flow(self, column: str) -> Numbers:
        """Return a series of the flow; NaN for a quantity of models if it has no model."""
        if column not in self._flow.columns:
            return np.full(len(self.times), math.nan)
        return self._flow[column].cast(pl.Float64).to_numpy()

    def link(self, column: str) -> Numbers:
        """Return a series of the bottleneck."""
        return self._link[column].cast(pl.Float64).to_numpy()

    def at(self, column: str, time_s: float) -> float:
        """Return the state of the flow at a time: the last sample up to it."""
        place = int(np.searchsorted(self.times, time_s + 1e-9, side="right")) - 1
        return float(self.flow(column)[max(place, 0)])

    def over(self, column: str, begin_s: float, end_s: float) -> Numbers:
        """Return the samples of the flow between two times."""
        return self.flow(column)[(self.times >= begin_s - 1e-9) & (self.times <= end_s + 1e-9)]

    @cached_property
    def spans(self) -> list[Span]:
        """Every stay in a phase."""
        phases = self._flow["phase"].to_numpy()
        edges = [0, *(int(place) + 1 for place in np.flatnonzero(phases[1:] != phases[:-1])), len(phases)]
        found = []
        for begin, end in pairwise(edges):
            over = end == len(phases)
            found.append(
                Span(
                    str(phases[begin]),
                    float(self.times[begin]),
                    math.inf if over else float(self.times[end]),
                    "" if over else str(phases[end]),
                )
            )
        return found

    def first(self, phase: str, after_s: float = 0.0) -> Span | None:
        """Return the first stay in a phase that begins after this time."""
        return next((span for span in self.spans if span.phase == phase and span.begin >= after_s), None)

    def all(self, phase: str, after_s: float = 0.0) -> list[Span]:
        """Return every complete stay in a phase that begins after this time."""
        return [span for span in self.spans if span.phase == phase and span.begin >= after_s and span.then]

    def rounds(self, begin_s: float, end_s: float) -> float:
        """Return the number of round trips between two times: in each, what was sent at its start is acknowledged."""
        sent, acknowledged = self.flow("sent_bytes"), self.flow("delivered_bytes")
        place, last = (int(np.searchsorted(self.times, time - 1e-9)) for time in (begin_s, min(end_s, self.times[-1])))
        count = 0.0
        while place < last:
            ahead = int(np.searchsorted(acknowledged, sent[place]))
            if ahead <= place:
                ahead = place + 1
            if ahead >= last:
                return count + (last - place) / (ahead - place)
            count, place = count + 1, ahead
        return count

    def goodput_bps(self, begin_s: float, end_s: float) -> float:
        """Return the rate at which data was acknowledged between two times."""
        delivered = np.interp([begin_s, end_s], self.times, self.flow("delivered_bytes"))
        return 8 * float(delivered[1] - delivered[0]) / (end_s - begin_s)

    def lost(self, begin_s: float, end_s: float) -> float:
        """Return the fraction of packets dropped before the bottleneck between two times."""
        drops, sent = (
            float(np.diff(np.interp([begin_s, end_s], self.times, self.link(column)))[0])
            for column in ("drops", "bytes")
        )
        return drops / (drops + sent / PACKET_B) if drops + sent else 0.0

    def bdp_bytes(self, time_s: float) -> float:
        """Return the bandwidth times the round-trip time that the algorithm has measured by a time, in bytes."""
        return self.at("max_bw_bps", time_s) / 8 * self.at("min_rtt_s", time_s)


@dataclass
class Bench:
    """An algorithm under test, and every scenario that was run with it."""

    subject: Subject
    threads: int | None = None
    scenarios: list[Scenario] = field(default_factory=list)
    #: The last run, for a figure.
    last: Trace | None = None
    _traces: dict[str, Trace] = field(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        """The kinds of packets that carry its data."""
        return QUIC_KINDS[:1] if self.subject.in_stack else TCP_KINDS[:1]

    def trace(
        self,
        name: str,
        path: Path,
        seconds: float,
        queue: Packets | Queue,
        *,
        rate: str | None = None,
        write: str | None = None,
        steps: Sequence[tuple[str, str]] = (),
        changes: Sequence[Change] = (),
        routers: Sequence[Mapping[str, object]] = (),
        link: Link | None = None,
        coalescing: str | None = None,
        samples_s: float = SAMPLE_S,
        transport: Mapping[str, object] | None = None,
        seed: int = 1,
    ) -> Trace:
        """Run the algorithm alone on a path; the same run is made only once."""
        sender = Flow(
            self.subject.control,
            rate=rate,
            write=write,
            steps=[*steps] or None,
            transport={**self.subject.transport, **(transport or {})},
            overhead=OVERHEAD,
        )
        rate_of_path = mbps(path.rate_mbps)
        network = build.Path(
            replace(link or Link(), rate=rate_of_path, changes=[*changes] or None), ms(path.rtt_ms), queue=queue,
            reverse=Link(rate_of_path, queue="unlimited"),
            access=Link(rate_of_path * 100, coalescing=coalescing), sink_access=Link(rate_of_path * 100),
        )  # fmt: skip
        made = network.scenario(
            [sender], duration=s(seconds), name=name, seed=seed, routers=[*routers, *self.subject.routers],
            record=Record(s(samples_s)),
        )  # fmt: skip
        key = made.text
        if key not in self._traces:
            self.scenarios.append(made)
            self._traces[key] = Trace(made.run(), path)
        self.last = self._traces[key]
        return self.last

    def losses(self, every: int, from_s: float, until_s: float) -> dict[str, object]:
        """Return a router that loses every Nth packet of data between two times."""
        return {
            "mechanism": "loss", "links": [BOTTLENECK], "kinds": self.kinds, "every": every,
            "from": f"{from_s:.6f} s", "until": f"{until_s:.6f} s",
        }  # fmt: skip

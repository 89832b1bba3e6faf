"""Figures of one run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from selfclock import panels, style, units
from selfclock.figure import Figure
from selfclock.sequence import sequence
from selfclock.series import packet_record
from selfclock.traces import Traces

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from matplotlib.axes import Axes

    from selfclock.figure import Panel
    from selfclock.result import Result
    from selfclock.sketch import Sketch

    AnyAxes = Axes | Iterable[Axes] | None
else:
    from selfclock.lazy import pl

#: Flows whose packets are drawn individually; with more they would overlap.
MOST_SEQUENCES = 4

#: With more packet events than this the sampled series are drawn: points would overlap, and exhaust
#: the memory.
MOST_DRAWN_EVENTS = 1_000_000

TIME = "time (s)"


def _drawn(figure: Figure, ax: AnyAxes) -> Figure:
    if ax is not None:
        figure.matplotlib(ax)
    return figure


class Plot:
    """Figures of one run; each method returns a `selfclock.figure.Figure` to show or save.

    With `ax`, axes of matplotlib, its panels are drawn there as well: one for a figure of one
    panel, or a list of as many as it has.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def sequence(self, ax: AnyAxes = None) -> Figure:
        """Sequence numbers against time: data sent, acknowledged and lost.

        With recorded packets every packet is a point; without, or with more than a million packet
        events, the sampled series are lines.
        """
        figure = self._figure()
        if 0 < self._result.packet_events <= MOST_DRAWN_EVENTS:
            figure.panel.y.label = "sequence number (segments)"
            figure.panel.x.low, figure.panel.x.high = self._result.scenario.recorded_span_s or (0.0, None)
            figure.notes += self._packets(figure.panel)
        else:
            self._bytes(figure.panel)
            figure.notes += [*self._notes, "Thick lines: sent; thin lines: acknowledged."]
        figure.panel.y.low = 0.0
        return _drawn(figure, ax)

    def window(self, ax: AnyAxes = None) -> Figure:
        """Congestion window, slow start threshold and the path's capacity against time, in segments."""
        figure = self._figure()
        panels.window(figure.panel, self._traces)
        figure.notes += [*self._notes, *self._capacity_note]
        return _drawn(figure, ax)

    def queue(self, ax: AnyAxes = None) -> Figure:
        """Queue length, drops and CE marks against time; links that never had a queue are omitted."""
        figure = self._figure()
        note = panels.queue(figure.panel, self._result)
        figure.notes += [note] if note else []
        return _drawn(figure, ax)

    def rate(self, ax: AnyAxes = None) -> Figure:
        """Rate of arriving payload, and the capacity of delivery traces, against time."""
        figure = self._figure()
        panels.rate(figure.panel, self._traces)
        figure.notes += self._notes
        return _drawn(figure, ax)

    def rtt(self, ax: AnyAxes = None) -> Figure:
        """Smoothed round-trip time against time."""
        figure = self._figure()
        panels.rtt(figure.panel, self._traces)
        figure.notes += self._notes
        return _drawn(figure, ax)

    def overview(self, ax: AnyAxes = None) -> Figure:
        """Window, rate, round-trip time and queue stacked over one time axis."""
        figure = self._figure(rows=4, height=8.4)
        window, rate, rtt, queue = figure.column
        panels.window(window, self._traces)
        panels.rate(rate, self._traces)
        panels.rtt(rtt, self._traces)
        note = panels.queue(queue, self._result)
        figure.notes += [*self._notes, *self._capacity_note, *([note] if note else [])]
        return _drawn(figure, ax)

    def path(
        self,
        flow: str | None = None,
        *,
        start_s: float | None = None,
        duration_s: float | None = None,
        ax: AnyAxes = None,
    ) -> Figure:
        """Every packet of a flow in transit: time to the right, the path upwards. Needs a record of packets.

        The defaults are: `flow`, the first TCP flow; `start_s`, its first packet; `duration_s`,
        five round-trip times. See `selfclock.path_diagram.path_diagram`.
        """
        from selfclock.path_diagram import path_diagram  # noqa: PLC0415

        return _drawn(path_diagram(self._result, flow, start_s, duration_s), ax)

    def network(self, width: int = 820) -> Sketch:
        """Return a sketch of the network, this many pixels wide: hosts, routers, links, and the paths of the flows."""
        return self._result.scenario.sketch(width)

    def __repr__(self) -> str:
        drawn = ", ".join(f"{name}()" for name, each in vars(Plot).items() if name[0] != "_" and callable(each))
        return f"<Plot of {self._result.scenario.name!r}: {drawn}>"

    def _figure(self, rows: int = 1, height: float = 3.2) -> Figure:
        scenario = self._result.scenario
        figure = Figure(rows, title=scenario.title or scenario.name, x=TIME, height=height)
        for panel in figure.column:
            panel.x.low, panel.x.high = 0.0, scenario.duration_s
        return figure

    @cached_property
    def _traces(self) -> Traces:
        return Traces(self._result)

    @property
    def _notes(self) -> list[str]:
        return [self._traces.note] if self._traces.note else []

    @property
    def _capacity_note(self) -> list[str]:
        capacity = self._result.scenario.network.capacity()
        if capacity is None or not self._traces.flows:
            return []
        return [
            f"BDP: the rate of {capacity.link.name} times the round-trip propagation delay, in full packets; "
            "the buffer is the limit of its queue."
        ]

    def _bytes(self, panel: Panel) -> None:
        """Data sent and acknowledged, from the sampled series."""
        traces = self._traces
        sent = traces.curves(lambda flow: traces.column(flow, "sent_bytes"))
        acknowledged = traces.curves(lambda flow: traces.column(flow, "acknowledged_bytes"))
        unit = units.fitting(units.SIZES, [curve.y for curve in sent], usual="MB")
        panel.y.label = f"sequence number ({unit.name})"
        for curve in sent:
            curve.draw(panel, unit.size)
        for curve in acknowledged:
            panel.line(curve.x, curve.y / unit.size, colour=curve.colour, dash=curve.dash, width=0.6)

    def _packets(self, panel: Panel) -> list[str]:
        """The packets of the first flows; return remarks."""
        packets = packet_record(
            self._result, "time_s", "event", "kind", "flow", "sequence", "payload_bytes", "retransmission",
            "acknowledgement",
        )  # fmt: skip
        flows = self._result.summary["flows"]
        colours = [style.look(flow["algorithm"]).colour for flow in flows[:MOST_SEQUENCES]]
        for flow, colour, number in zip(flows, colours, style.numbers(colours), strict=False):
            shade = style.shade(colour, number)
            sequence(panel, packets.filter(pl.col("flow") == flow["name"]), shade, flow["name"])
        if len(flows) <= MOST_SEQUENCES:
            return []
        return [f"The first {MOST_SEQUENCES} of {len(flows):,} flows."]

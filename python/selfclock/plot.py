"""Figures of one run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from selfclock import style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from selfclock.result import FlowSummary, Result

#: With more flows than this, names would fill the figure: flows are then told apart by algorithm only.
MOST_NAMED_FLOWS = 8

#: With more packet events than this the sampled series are drawn: points would cover one another, and take all memory.
MOST_DRAWN_EVENTS = 1_000_000

#: With more flows than this, some are drawn and the title says so.
MOST_DRAWN_FLOWS = 100

#: Rates are averages over this fraction of the run: long enough to be smooth, short enough to show a slow start.
RATE_WINDOW = 1 / 60

#: An average of fewer segments could be above the rate of the link: an ACK tells of two at once, and 2 of 64 is less
#: than the 3.5 % of a packet that are headers.
FEWEST_SEGMENTS = 64


class Plot:
    """Figures of one run; each method returns a matplotlib Figure to show, change or save."""

    def __init__(self, result: Result) -> None:
        self._result = result

    @style.house()
    def sequence(self) -> Figure:
        """Sequence numbers against time: what was sent, what was acknowledged, what was lost.

        With packets recorded every packet is a point; without, or with more than a million packet events, the
        sampled series are lines.
        """
        figure, (axes,) = style.figure()
        if 0 < self._result.packet_events <= MOST_DRAWN_EVENTS:
            self._packets(axes)
            _label(axes, "sequence number (segments)")
        else:
            for frame, colour, line, label in self._each_flow():
                axes.plot(frame["time_s"], frame["sent_bytes"] / 1e6, line, color=colour, label=label)
                axes.plot(frame["time_s"], frame["acknowledged_bytes"] / 1e6, line, color=colour, alpha=0.4)
            _label(axes, "sent, and paler acknowledged (MB)")
        self._title(axes, "sequence numbers")
        return figure

    @style.house()
    def window(self) -> Figure:
        """Congestion window and slow start threshold against time."""
        figure, (axes,) = style.figure()
        self._window(axes)
        _label(axes, "window, and dotted ssthresh (kB)")
        self._title(axes, "window")
        return figure

    @style.house()
    def queue(self) -> Figure:
        """Packets that wait, and drops, against time; links that never had a queue are left out."""
        figure, (axes,) = style.figure()
        self._queue(axes)
        _label(axes, "queue (packets; crosses: drops)")
        self._title(axes, "queues")
        return figure

    @style.house()
    def rate(self) -> Figure:
        """Rate at which payload arrived, and what links with a delivery trace offered, against time."""
        figure, (axes,) = style.figure()
        self._rate(axes)
        _label(axes, "goodput (Mbit/s)")
        self._title(axes, "rate")
        return figure

    @style.house()
    def rtt(self) -> Figure:
        """Smoothed round-trip time against time."""
        figure, (axes,) = style.figure()
        self._rtt(axes)
        _label(axes, "smoothed round-trip time (ms)")
        self._title(axes, "round-trip time")
        return figure

    @style.house()
    def overview(self) -> Figure:
        """Window, rate, round-trip time and queue above each other, with one time axis."""
        figure, panels = style.figure(4, height=8.4)
        window, rate, rtt, queue = panels
        self._window(window)
        self._rate(rate)
        self._rtt(rtt)
        self._queue(queue)
        names = ("window (kB)\ndotted: ssthresh", "goodput (Mbit/s)", "RTT (ms)", "queue (packets)\ncrosses: drops")
        for axes, name in zip(panels, names, strict=True):
            axes.set_ylabel(name)
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
        queue.set_xlabel("time (s)")
        handles = [handle for axes in (window, queue) for handle in axes.get_legend_handles_labels()[0]]
        handles += rate.collections
        if handles:
            figure.legend(handles=handles, loc="outside lower center", ncols=3)
        self._title(window, "overview")
        return figure

    def _window(self, axes: Axes) -> None:
        for frame, colour, line, label in self._each_flow():
            axes.plot(frame["time_s"], frame["cwnd_bytes"] / 1e3, line, color=colour, label=label)
            threshold = frame.filter(pl.col("ssthresh_bytes").is_finite())
            axes.plot(threshold["time_s"], threshold["ssthresh_bytes"] / 1e3, ":", color=colour, alpha=0.6)

    def _queue(self, axes: Axes) -> None:
        frame = self._links
        busy = frame.group_by("link", maintain_order=True).agg(pl.col("queue_packets").max(), pl.col("drops").max())
        busy = busy.filter((pl.col("queue_packets") > 0) | (pl.col("drops") > 0)).head(MOST_NAMED_FLOWS)
        for number, link in enumerate(busy["link"].cast(pl.String)):
            series = frame.filter(pl.col("link").cast(pl.String) == link)
            line = style.LINE_STYLES[number % len(style.LINE_STYLES)]
            shade = str(0.4 + 0.4 * number / max(1, len(busy)))
            axes.plot(series["time_s"], series["queue_packets"], line, color=shade, label=link)
            dropped = series.filter(pl.col("drops").diff() > 0)
            axes.plot(
                dropped["time_s"],
                dropped["queue_packets"],
                style.DROP.marker,
                color=style.DROP.colour,
            )

    def _rate(self, axes: Axes) -> None:
        self._offered(axes)
        by_name = {flow["name"]: flow for flow in self._drawn}
        for frame, colour, line, label in self._each_flow():
            axes.plot(frame["time_s"], goodput_mbps(frame, by_name[frame["flow"][0]]), line, color=colour, label=label)

    def _offered(self, axes: Axes) -> None:
        """Draw what delivery traces offered, as areas behind the rest."""
        times: list[float] = self._links["time_s"].unique(maintain_order=True).to_list()
        span = max(1, round(len(times) * RATE_WINDOW))
        scenario = self._result.scenario
        for link in scenario.link_names:
            offered = scenario.offered_bytes(link, times)
            if offered is None or not times:
                continue
            frame = pl.DataFrame(
                {"time_s": times, "bytes": offered}, schema={"time_s": pl.Float64, "bytes": pl.Float64}
            )
            rate = frame["bytes"].diff(span) * 8 / frame["time_s"].diff(span)
            axes.fill_between(
                frame["time_s"], rate / 1e6, step="pre", color="0.5", alpha=0.25, linewidth=0, label=f"{link} offers"
            )

    def _rtt(self, axes: Axes) -> None:
        for frame, colour, line, label in self._each_flow():
            axes.plot(frame["time_s"], frame["srtt_s"] * 1e3, line, color=colour, label=label)

    @cached_property
    def _flows(self) -> pl.DataFrame:
        return pl.DataFrame(self._result.flows)

    @cached_property
    def _links(self) -> pl.DataFrame:
        return pl.DataFrame(self._result.links)

    @cached_property
    def _drawn(self) -> list[FlowSummary]:
        """The flows to draw: all, or as many as still can be told from a mere surface, evenly chosen."""
        flows = self._result.summary["flows"]
        return flows[:: -(-len(flows) // MOST_DRAWN_FLOWS)]

    def _each_flow(self) -> Iterator[tuple[pl.DataFrame, str, str, str | None]]:
        """Samples, colour, line style and label of every TCP flow to draw."""
        flows = [flow for flow in self._drawn if flow["algorithm"] != "udp"]
        names = [flow["name"] for flow in flows]
        series = self._flows.with_columns(pl.col("flow").cast(pl.String)).filter(pl.col("flow").is_in(names))
        frames = {key[0]: frame for key, frame in series.partition_by("flow", as_dict=True).items()}
        named = len(flows) <= MOST_NAMED_FLOWS
        seen: dict[str, int] = {}
        for flow in flows:
            frame, algorithm = frames.get(flow["name"]), flow["algorithm"]
            if frame is None:
                continue
            again = seen.get(algorithm, 0)
            seen[algorithm] = again + 1
            first = style.LINE_STYLES.index(style.look(algorithm).line)
            line = style.LINE_STYLES[(first + again) % len(style.LINE_STYLES)] if named else "-"
            label = f"{flow['name']} ({algorithm})" if named else (algorithm if again == 0 else None)
            yield frame, style.look(algorithm).colour, line, label

    def _packets(self, axes: Axes) -> None:
        packets = pl.DataFrame(self._result.packets)
        packets = packets.with_columns(pl.col("event", "kind", "flow").cast(pl.String))
        for flow in self._drawn[:MOST_NAMED_FLOWS]:
            colour = style.look(flow["algorithm"]).colour
            sequence(axes, packets.filter(pl.col("flow") == flow["name"]), colour, flow["name"])

    def _title(self, axes: Axes, what: str) -> None:
        drawn, flows = len(self._drawn), len(self._result.summary["flows"])
        some = f" ({drawn} of {flows} flows)" if drawn < flows else ""
        axes.set_title(f"{self._result.scenario.name}: {what}{some}")


def goodput_mbps(series: pl.DataFrame, flow: FlowSummary) -> pl.Series:
    """Return the rate at which payload of a flow arrived, averaged over `RATE_WINDOW` of the run or longer.

    Of what is delivered, not of what is acknowledged: that jumps when a loss is repaired, to more than a link carries.
    Without SACK the sender learns late of some of what is delivered, and a jump remains after a timeout.
    At its fastest the flow delivers `FEWEST_SEGMENTS` in an average, if it delivers so many in half of the run.
    """
    delivered = series["delivered_bytes"].cast(pl.Float64)
    segment = flow["delivered_bytes"] / max(1, flow["delivered_segments"])
    span = max(1, round(len(series) * RATE_WINDOW))
    while 2 * span < len(series) // 2 and (delivered.diff(span).max() or 0) < FEWEST_SEGMENTS * segment:  # type: ignore[operator]
        span *= 2
    return delivered.diff(span) * 8e-6 / series["time_s"].diff(span)


def sequence(axes: Axes, packets: pl.DataFrame, colour: str, name: str) -> None:
    """Draw the packets of one flow: data, retransmissions, acknowledgements, losses."""
    segment = packets["payload_bytes"].max() or 1
    data = packets.filter(pl.col("kind").is_in(["data", "datagram"])).with_columns(
        number=pl.col("sequence") / segment + 1
    )
    sent = data.filter(pl.col("event") == "send")
    first, again = sent.filter(~pl.col("retransmission")), sent.filter(pl.col("retransmission"))
    lost = data.filter(pl.col("event").is_in(["drop", "lose"]))
    acknowledged = packets.filter((pl.col("kind") == "ack") & (pl.col("event") == "deliver"))
    axes.plot(first["time_s"], first["number"], ".", color=colour, label=f"{name}: sent")
    axes.plot(again["time_s"], again["number"], "o", color=colour, fillstyle="none", label=f"{name}: sent again")
    axes.plot(
        acknowledged["time_s"],
        acknowledged["acknowledgement"] / segment,
        "-",
        color="#777777",
        linewidth=0.8,
        drawstyle="steps-post",
        label=f"{name}: acknowledged",
    )
    axes.plot(lost["time_s"], lost["number"], style.DROP.marker, color=style.DROP.colour, label=f"{name}: lost")


def _label(axes: Axes, what: str) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(what)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    labels = axes.get_legend_handles_labels()[1]
    if labels:
        # Outside, where it covers nothing; matplotlib's search for a free place takes minutes with many packets.
        # As many columns as the longest label leaves room for: some 90 characters, of which a handle takes 6.
        columns = max(1, min(4, 90 // (max(map(len, labels)) + 6)))
        axes.get_figure(root=True).legend(loc="outside lower center", ncols=columns)  # type: ignore[union-attr]

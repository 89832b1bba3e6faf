"""Panels of a run: window, rate, RTT, queue. Each adds its elements and names its axis with a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from selfclock import style, units
from selfclock.scenario.drops import remarks
from selfclock.series import Samples, all_links, packet_record
from selfclock.traces import RATE_WINDOW, Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from selfclock.figure import Panel, Values
    from selfclock.network import Capacity, NetworkFlow
    from selfclock.result import Result
    from selfclock.traces import Traces
    from selfclock.units import Unit
else:
    from selfclock.lazy import pl

#: Maximum number of flows with a drawn slow start threshold; more would be indistinguishable.
MOST_THRESHOLDS = 4

#: A full queue's window is drawn up to this multiple of the largest window.
MOST_ABOVE = 8

#: Maximum number of drawn queues: the longest ones.
MOST_LINKS = 8

#: Maximum number of packets with individual marks; the samples before and after a drop show its
#: time.
MOST_MARKS = 5_000


def window(panel: Panel, traces: Traces, *, named: bool = True) -> None:
    """Congestion windows in segments, slow start thresholds, and the path's capacity.

    For an emulation the flight replaces the window, which only the sender knows.
    """
    panel.y.label = "window (segments)" if traces.has_windows else "in flight (segments)"
    panel.y.low = 0.0
    largest = 0.0
    for curve in traces.curves(traces.window):
        curve.draw(panel, 1.0, named=named)
        largest = max(largest, float(np.nanmax(curve.y, initial=0.0)))
    if len(traces.flows) <= MOST_THRESHOLDS:
        for flow in traces.flows:
            values = traces.threshold(flow)
            if np.isfinite(values).any():
                label = f"{flow.label}: ssthresh" if len(traces.flows) > 1 else "ssthresh"
                Curve(label, flow.colour, traces.times, values, dash=style.THRESHOLD).draw(
                    panel, 1.0, named=named, width=0.9
                )
    found = traces.result.scenario.network.capacity()
    if found is not None and traces.flows:
        _capacity_rules(panel, found, len(traces.result.scenario.network.tcp()), largest)


def _capacity_rules(panel: Panel, capacity: Capacity, flows: int, largest: float) -> None:
    """Draw a flow's window when the path is full, and when the queue is, too: an equal share of several.

    A queue that no window comes near, as an AQM's usual limit, would flatten the curves.
    """
    shown = f" / {flows:,} flows" if flows > 1 else ""
    levels = [("BDP", capacity.bdp_packets, ":")]
    if capacity.buffer_packets is not None and (
        capacity.bdp_packets + capacity.buffer_packets <= MOST_ABOVE * flows * max(largest, 1.0)
    ):
        levels.append(
            ("(BDP + buffer)" if shown else "BDP + buffer", capacity.bdp_packets + capacity.buffer_packets, "--")
        )
    for name, packets, dash in levels:
        value = packets / flows
        panel.rule("y", value, dash=dash, label=f"{name}{shown}: {value:.4g}")


def rate(panel: Panel, traces: Traces, *, named: bool = True, unit: Unit | None = None) -> None:
    """Rates of arriving payload, of UDP and delivery traces, and of the bottleneck."""
    scenario = traces.result.scenario
    offered = _offered(traces.result)
    curves = [*traces.curves(traces.rate), *_datagrams(traces.result)]
    link = scenario.network.bottleneck()
    drawn = [*(curve.y for curve in curves), *(bps for _, _, bps in offered)]
    unit = unit or units.fitting(units.RATES, drawn, usual="Mbit/s")
    panel.y.label = f"goodput ({unit.name})"
    panel.y.low = 0.0
    for name, times, bps in offered:
        panel.band(times, 0.0, bps / unit.size, colour="#808080", opacity=0.25, step="before", label=f"{name} offers")
    for curve in curves:
        curve.draw(panel, unit.size, named=named)
    if link is not None and link.constant:
        flows = max(1, len(scenario.network.tcp()))
        shown = f" / {flows:,} flows" if flows > 1 else ""
        part = link.rate_bps / flows
        panel.rule("y", part / unit.size, label=f"rate of {link.name}{shown}: {units.written(part, units.RATES)}")


def _offered(result: Result) -> list[tuple[str, Values, Values]]:
    """The rates offered by delivery traces: name, times, bit/s."""
    times = Samples(result.links, "link").times
    span = max(1, round(len(times) * RATE_WINDOW))
    found = []
    for link in result.scenario.network.links:
        offered = None if link.constant else result.scenario.offered_bytes(link.name, times)
        if offered is None or len(times) <= span:
            continue
        sums = np.asarray(offered, dtype=np.float64)
        found.append((link.name, times[span:], (sums[span:] - sums[:-span]) * 8 / (times[span:] - times[:-span])))
    return found


def _datagrams(result: Result) -> list[Curve]:
    """The mean rates of UDP flows: on the wire, as steps."""
    flows = [flow for flow in result.scenario.network.flows if flow.algorithm == "udp" and flow.start_s < flow.stop_s]
    curves = []
    for number, flow in enumerate(flows[:MOST_LINKS]):
        x, y = _steps(flow)
        colour, dash = style.shade(style.look("udp").colour, number), style.LINE_STYLES[number % 4]
        curves.append(Curve(f"{flow.name} (UDP) sends", colour, x, y, dash=dash))
    return curves


def _steps(flow: NetworkFlow) -> tuple[Values, Values]:
    """The corners of the rate of a UDP flow against time."""
    starts = [time_s for time_s, _ in flow.offered if time_s < flow.stop_s]
    rates = [float(bps) for (_, bps), _ in zip(flow.offered, starts, strict=False)]
    ends = [*starts[1:], flow.stop_s]
    x = [starts[0], *(time for pair in zip(starts, ends, strict=True) for time in pair), flow.stop_s]
    y = [0.0, *(bps for bps in rates for _ in range(2)), 0.0]
    return np.asarray(x), np.asarray(y)


def rtt(panel: Panel, traces: Traces, *, named: bool = True, unit: Unit | None = None) -> None:
    """Smoothed round-trip times."""
    curves = traces.curves(traces.rtt)
    unit = unit or units.fitting(units.TIMES, [curve.y for curve in curves], usual="ms")
    panel.y.label = f"smoothed RTT ({unit.name})"
    panel.y.low = 0.0
    for curve in curves:
        curve.draw(panel, unit.size, named=named)


def queue(panel: Panel, result: Result, *, only: Sequence[str] = (), colour: str = "", named: bool = True) -> str:
    """Packets in the queue, drops and CE marks; return remarks. `only` names links, `colour` applies to all."""
    panel.y.label = "queue (packets)"
    panel.y.low = 0.0
    samples = Samples(result.links, "link")
    times, waiting, drops = samples.times, samples["queue_packets"], samples["drops"]
    longest = waiting.max(axis=1, initial=0)
    used = [row for row, link in enumerate(samples.names)
            if (link in only if only else longest[row] or drops[row].any())]  # fmt: skip
    chosen = sorted(sorted(used, key=lambda row: -int(longest[row]))[:MOST_LINKS])
    dropped = [np.diff(drops[row], prepend=0) > 0 for row in chosen]
    for number, row in enumerate(chosen):
        panel.line(
            times, waiting[row], colour=colour or style.LINKS[number], width=0.9 if colour else 1.2,
            label=samples.names[row] if named else "",
        )  # fmt: skip
    if any(some.any() for some in dropped):
        panel.points(
            np.concatenate([times[some] for some in dropped]),
            np.concatenate([waiting[row][some] for row, some in zip(chosen, dropped, strict=True)]),
            colour=style.DROP.colour, marker=style.DROP.marker, label="drops",
        )  # fmt: skip
    left_out = f"Queues of {len(used) - len(chosen)} more links are not shown." if len(used) > len(chosen) else ""
    names = [samples.names[row] for row in chosen]
    marks = _marks(panel, result, names)
    causes = remarks(result.scenario, [link for link in result.summary["links"] if link["name"] in names])
    return " ".join(part for part in (left_out, marks, *causes) if part)


def _marks(panel: Panel, result: Result, links: list[str]) -> str:
    """Draw CE marks individually if packets were recorded; return their number if not all are drawn."""
    marked = {link["name"]: link["ce_marks"] for link in result.summary["links"] if link["name"] in links}
    total = sum(marked.values())
    if not total:
        return ""
    if not result.scenario.records_packets or total > MOST_MARKS:
        said = ", ".join(f"{name} {count:,}" for name, count in marked.items() if count)
        return f"CE marks: {said}" + ("." if total > MOST_MARKS else " (drawn one by one with record.packets = true).")
    packets = packet_record(result, "time_s", "event", "link")
    events = packets.filter((pl.col("event") == "mark") & pl.col("link").is_in(links)).select("time_s", "link")
    series = all_links(result).select("link", "time_s", "queue_packets")
    at = events.sort("time_s").join_asof(
        series.sort("time_s"), on="time_s", by="link", strategy="nearest", check_sortedness=False
    )
    panel.points(
        at["time_s"], at["queue_packets"], colour=style.MARK.colour, marker=style.MARK.marker, label="CE marks"
    )
    return ""

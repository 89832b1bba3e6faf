"""The same path under one algorithm after the other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from selfclock._core import ScenarioError
from selfclock.algorithms import algorithms, label_parts
from selfclock.result import Summary
from selfclock.scenario import run_many
from selfclock.scenario.build import dumbbell
from selfclock.series import all_flows, jain, link_series, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from selfclock.result import Result
    from selfclock.scenario import Scenario
else:
    from selfclock.lazy import pl

BOTTLENECK = "bottleneck"


class Measures(Summary):
    """Summary of the run of one algorithm, and what the table of a comparison shows of it."""

    algorithm: str
    #: Sum over the flows.
    goodput_bps: float
    #: Of the bottleneck.
    utilization: float
    #: Jain's index of the flows' goodputs, between 1 / flows and 1.
    jain: float | None
    #: Means over the flows, weighted by what they delivered.
    rtt_mean_s: float | None
    rtt_p95_s: float | None
    #: Sums over the flows.
    retransmitted_segments: int
    timeouts: int
    #: Of the bottleneck, without the packet in service.
    queue_mean_packets: float


@dataclass(frozen=True)
class Comparison:
    """The runs of a comparison, in the order in which the algorithms were named."""

    #: Title of the figure: the path and the number of flows.
    path: str
    results: dict[str, Result]

    @cached_property
    def measures(self) -> list[Measures]:
        """One row per algorithm."""
        return [_measure(label, result.summary) for label, result in self.results.items()]

    def figure(self) -> Figure:
        """Window, rate and queue, one column per algorithm; every row has one scale."""
        # matplotlib takes half a second to import: only who plots pays for it.
        from matplotlib.figure import Figure  # noqa: PLC0415

        from selfclock import style  # noqa: PLC0415

        columns = len(self.results)
        with style.house():
            drawn = Figure(figsize=(max(6.4, 1.2 + 2.3 * columns), 5.4), layout="constrained")
            grid = drawn.subplots(3, columns, sharex=True, sharey="row", squeeze=False)
            for column, (label, result) in enumerate(self.results.items()):
                _draw(list(grid[:, column]), label, result)
            for axes, what in zip(
                grid[:, 0], ("window (kB)", "goodput (Mbit/s)", "queue (packets;\ncrosses: drops)"), strict=True
            ):
                axes.set_ylabel(what)
                axes.set_ylim(bottom=0)
            for axes in grid[-1]:
                axes.set_xlabel("time (s)")
            drawn.suptitle(self.path, fontsize=10)
        return drawn

    @property
    def scenarios(self) -> list[Scenario]:
        """What was run."""
        return [result.scenario for result in self.results.values()]

    @property
    def notes(self) -> list[str]:
        """What the scenarios cannot mean as they stand."""
        return list(dict.fromkeys(note for scenario in self.scenarios for note in scenario.notes))


def compare(
    names: Iterable[str],
    rate: str = "100 Mbps",
    rtt: str = "40 ms",
    buffer: str = "1 bdp",
    flows: int = 1,
    duration: str = "60 s",
    *,
    seed: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Comparison:
    """Run the same dumbbell under each algorithm.

    A name is a window algorithm, a start, or both as "cubic+hystart++". The flows start at random times within one
    round trip, the same under every algorithm.

    >>> import selfclock as sc
    >>> comparison = sc.compare(["reno", "cubic"], rate="10 Mbps", duration="10 s")
    >>> [row["algorithm"] for row in comparison.measures]
    ['reno', 'cubic']
    """
    if not isinstance(flows, int) or isinstance(flows, bool):
        raise ScenarioError(f"flows: {flows!r} is not a number of flows; write a whole number such as 2")
    if flows < 1:
        raise ScenarioError(f"flows: {flows} is not a number of flows; there must be 1 or more")
    for argument, quantity, example in [("rate", rate, "100 Mbps"), ("rtt", rtt, "40 ms"), ("buffer", buffer, "1 bdp"),
                                        ("duration", duration, "60 s")]:  # fmt: skip
        _check_unit(argument, quantity, example)
    controls = {name: label_parts(name) for name in names}
    if not controls:
        raise ScenarioError(f"no algorithm to compare; there are {', '.join(a.name for a in algorithms())}")
    scenarios = [
        dumbbell(
            rate,
            rtt,
            buffer,
            [{"congestion_control": control, "count": flows, "start_jitter": rtt}],
            duration=duration,
            seed=seed,
            name=name,
        )
        for name, control in controls.items()
    ]
    results = run_many(scenarios, progress=progress)
    path = f"{rate}, {rtt}, buffer {buffer}, {flows} flow{'s' if flows > 1 else ''}"
    return Comparison(path, dict(zip(controls, results, strict=True)))


def _check_unit(argument: str, quantity: str, example: str) -> None:
    if not re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*[^\W\d].*|unlimited", quantity):
        raise ScenarioError(f"{argument}: {quantity!r} is not a number with a unit, such as {example!r}")


def _measure(label: str, summary: Summary) -> Measures:
    flows = summary["flows"]
    (bottleneck,) = (link for link in summary["links"] if link["name"] == BOTTLENECK)
    return Measures(
        algorithm=label,
        goodput_bps=sum(flow["goodput_bps"] for flow in flows),
        utilization=bottleneck["utilization"],
        jain=jain([flow["goodput_bps"] for flow in flows]),
        rtt_mean_s=weighted_mean([(flow["rtt_mean_s"], flow["delivered_bytes"]) for flow in flows]),
        rtt_p95_s=weighted_mean([(flow["rtt_p95_s"], flow["delivered_bytes"]) for flow in flows]),
        retransmitted_segments=sum(flow["retransmitted_segments"] for flow in flows),
        timeouts=sum(flow["timeouts"] for flow in flows),
        queue_mean_packets=bottleneck["queue_mean_packets"],
        **summary,
    )


def _draw(column: Sequence[Axes], label: str, result: Result) -> None:
    from selfclock import style  # noqa: PLC0415
    from selfclock.plot import goodput_mbps  # noqa: PLC0415

    window, rate, queue = column
    window.set_title(label)
    colour = style.look(label).colour
    series = all_flows(result)
    flows = {flow["name"]: flow for flow in result.summary["flows"]}
    frames = series.partition_by("flow", maintain_order=True)
    for number, frame in enumerate(frames):
        # More flows than there are line styles are drawn thin and alike.
        styled = len(frames) <= len(style.LINE_STYLES)
        line = style.LINE_STYLES[number] if styled else "-"
        width = 1.2 if styled else 0.5
        window.plot(frame["time_s"], frame["cwnd_bytes"] / 1e3, line, color=colour, linewidth=width)
        rate.plot(frame["time_s"], goodput_mbps(frame, flows[frame["flow"][0]]), line, color=colour, linewidth=width)
    links = link_series(result, BOTTLENECK)
    queue.plot(links["time_s"], links["queue_packets"], color=colour, linewidth=0.8)
    dropped = links.filter(pl.col("drops").diff() > 0)
    queue.plot(dropped["time_s"], dropped["queue_packets"], style.DROP.marker, color=style.DROP.colour)

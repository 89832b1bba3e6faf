"""The measures of a comparison, per run and over the seeds."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, TypedDict

from selfclock.catalogue import measures
from selfclock.estimate import Estimate, estimate
from selfclock.repeats import Sameness, Trace, sameness
from selfclock.result import Summary
from selfclock.series import jain, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selfclock.result import FlowSummary

#: Probability with which an interval holds the mean.
CONFIDENCE = 0.95


class Measures(Summary):
    """Summary of one run of one algorithm, with the measures of a comparison's table."""

    #: Name of the algorithm, with its parameters.
    algorithm: str
    #: Name of the link that `utilization` and `queue_mean_packets` are of.
    link: str
    #: Sum over the compared flows.
    goodput_bps: float
    #: Of the link.
    utilization: float
    #: Jain's index of the compared flows' goodputs, between 1 / flows and 1.
    jain: float | None
    #: Means over the compared flows, weighted by what they delivered.
    rtt_mean_s: float | None
    rtt_p95_s: float | None
    #: Sums over the compared flows.
    retransmitted_segments: int
    timeouts: int
    #: Of the link, without the packet in service.
    queue_mean_packets: float
    #: Packets lost at the link: in its queue, on its wire, or by a router mechanism before it.
    drops: int
    #: Packets that the link marked.
    ce_marks: int
    #: Mean over completed flows with a size, and completed short connections.
    completion_mean_s: float | None


class Estimates(TypedDict):
    """The measures of one algorithm over the seeds."""

    #: Name of the algorithm, with its parameters.
    algorithm: str
    #: Of the compared flows, by the keys of `runs`.
    measures: dict[str, Estimate]
    #: Of each flow whose algorithm is not compared, by its name.
    others: dict[str, dict[str, Estimate]]


#: Measures estimated over the seeds.
ESTIMATED = tuple(
    name for name in Measures.__annotations__ if name in measures() and name not in Summary.__annotations__
)

#: Measures of the flows that are not compared; UDP has no round-trip times.
OTHERS = ("goodput_bps", "rtt_mean_s", "rtt_p95_s", "retransmitted_segments", "completion_s")


def measure(label: str, summary: Summary, link: str, compared: Sequence[str]) -> Measures:
    """Return the measures of a run; `compared` names the flows that have the algorithm."""
    of = set(compared)
    flows = [flow for flow in summary["flows"] if flow["name"] in of]
    measured = next(each for each in summary["links"] if each["name"] == link)
    return Measures(
        algorithm=label,
        link=link,
        goodput_bps=sum(flow["goodput_bps"] for flow in flows),
        utilization=measured["utilization"],
        jain=jain([flow["goodput_bps"] for flow in flows]),
        rtt_mean_s=weighted_mean([(flow["rtt_mean_s"], flow["delivered_bytes"]) for flow in flows]),
        rtt_p95_s=weighted_mean([(flow["rtt_p95_s"], flow["delivered_bytes"]) for flow in flows]),
        retransmitted_segments=sum(flow["retransmitted_segments"] for flow in flows),
        timeouts=sum(flow["timeouts"] for flow in flows),
        queue_mean_packets=measured["queue_mean_packets"],
        drops=measured["drops"],
        ce_marks=measured["ce_marks"],
        completion_mean_s=weighted_mean([part for flow in flows for part in _completions(flow)]),
        **summary,
    )


def estimates(rows: Iterable[Measures], compared: Sequence[str] = ()) -> list[Estimates]:
    """Return means and intervals over the runs of each algorithm, in the order of the rows.

    All flows but those `compared` are the others; without any, there are none.
    """
    by_algorithm: dict[str, list[Measures]] = {}
    for row in rows:
        by_algorithm.setdefault(row["algorithm"], []).append(row)
    found = []
    for algorithm, own in by_algorithm.items():
        independent = sameness([Trace.of(row) for row in own]) is Sameness.DIFFERENT
        measures = _over_seeds(own, ESTIMATED, independent=independent)
        by_flow: dict[str, list[FlowSummary]] = {}
        for flow in (flow for row in own for flow in row["flows"] if compared and flow["name"] not in compared):
            by_flow.setdefault(flow["name"], []).append(flow)
        others = {name: _over_seeds(flows, OTHERS, independent=independent) for name, flows in by_flow.items()}
        found.append(Estimates(algorithm=algorithm, measures=measures, others=others))
    return found


def _over_seeds(
    runs: Sequence[Measures] | Sequence[FlowSummary], names: Iterable[str], *, independent: bool
) -> dict[str, Estimate]:
    """Return the estimates of the measures that any run has."""
    found = {}
    for name in names:
        values = [float(run[name]) for run in runs if run[name] is not None]  # type: ignore[literal-required]
        if values:
            deviation = stdev(values) if len(values) > 1 else None
            found[name] = estimate(fmean(values), deviation, len(values), CONFIDENCE, independent=independent)
    return found


def _completions(flow: FlowSummary) -> list[tuple[float | None, int]]:
    """Mean completion times of a flow, each with its number of completions."""
    connections = flow["connections"]
    if connections is None:
        return [(flow["completion_s"], 1)]
    return [(size["mean_s"], size["completed"]) for size in connections["by_size"] if size["completed"]]

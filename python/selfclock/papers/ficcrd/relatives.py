"""Present-day alternatives to FICCRD: every algorithm over every queue discipline, and the L4S experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.declared import Ran
from selfclock.papers.ficcrd.declared import CLAIMS
from selfclock.scenario.build import Dumbbell
from selfclock.scenario.flow import Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, s
from selfclock.scenario.transport import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import FlowSummary, LinkSummary, Result, Summary
    from selfclock.scenario import Scenario

#: From dark to light, and from light to dark: matplotlib's viridis and its magma.
_VIRIDIS = ("#440154", "#3B528B", "#21918C", "#5EC962", "#FDE725")
_MAGMA = ("#FCFDBF", "#FC8961", "#B73779", "#51127C", "#000004")

#: Windows, then models; each with a peer of the same kind.
_WINDOWS = ["reno", "cubic", "bic", "highspeed", "scalable", "ltcp", "altcp", "adaptive", "vegas", "fast"]
ALGORITHMS = [*_WINDOWS, "bbr3", "prague"]

#: The feedback that each answers, if not classic ECN: counts of marks, and none.
ECN = {"prague": "accurate", "bbr3": "off"}

#: All with the same limit, and default settings.
DISCIPLINES: dict[str, dict[str, object]] = {
    "drop-tail": {},
    "step mark": {"mark_above": "5 ms"},
    "RED": {"discipline": "red"},
    "adaptive RED": {"discipline": "red", "adaptive": True},
    "CoDel": {"discipline": "codel"},
    "FQ-CoDel": {"discipline": "fq-codel"},
    "PIE": {"discipline": "pie"},
    "DualPI2": {"discipline": "dualpi2"},
    "DRR": {"discipline": "drr"},
}

RATE_MBPS, RTT_MS, SECONDS = 20.0, 40.0, 15.0

#: The L4S experiment: enough rate that one segment is far below a millisecond.
L4S_MBPS, L4S_S = 50.0, 40.0
L4S_QUEUES = ["drop-tail", "CoDel", "FQ-CoDel", "PIE", "DualPI2"]


def _name(algorithms: str, label: str) -> str:
    return f"{algorithms}-over-{label.lower().replace(' ', '-')}"


def _l4s_name(label: str) -> str:
    return _name("prague-and-cubic", label)


def _scenario(name: str, algorithms: Sequence[str], label: str, rate_mbps: float, seconds: float) -> Scenario:
    limited = {"limit": "2 bdp", **DISCIPLINES[label]}
    network = Dumbbell(Link(mbps(rate_mbps), ms(RTT_MS / 4), queue=limited), Link("1 Gbps", ms(RTT_MS / 8)))
    flows = [
        Flow(algorithm, start_jitter="100 ms", transport={"ecn": ECN.get(algorithm, "classic")})
        for algorithm in algorithms
    ]
    return network.scenario(flows, duration=s(seconds), name=name, record=Record("off"))


def parts(scale: float = 1.0) -> list[Part]:
    """Return the matrix and the L4S experiment, of which only the summaries are needed."""
    matrix = [
        _scenario(_name(algorithm, label), [algorithm] * 2, label, RATE_MBPS, SECONDS * scale)
        for algorithm in ALGORITHMS
        for label in DISCIPLINES
    ]
    l4s = [_scenario(_l4s_name(label), ["prague", "cubic"], label, L4S_MBPS, L4S_S * scale) for label in L4S_QUEUES]
    return [Part([*matrix, *l4s], _summary)]


def _wait_ms(flow: FlowSummary) -> float:
    """Mean queueing delay of a flow's packets, from its RTT samples."""
    return 1e3 * ((flow["rtt_mean_s"] or 0.0) - (flow["rtt_min_s"] or 0.0))


def _bottleneck(summary: Summary) -> LinkSummary:
    return summary["links"][0]


def _summary(result: Result) -> Summary:
    return result.summary


def findings(runs: Runs) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Lay out the matrix, and judge the L4S experiment."""
    links = {
        algorithm: [_bottleneck(runs[_name(algorithm, label)]) for label in DISCIPLINES] for algorithm in ALGORITHMS
    }
    grid = Table(
        "Every algorithm over every queue discipline",
        f"Use of the link / mean wait in ms / drops in %. Two flows, {RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, room for two "
        f"bandwidth-delay products, {SECONDS:g} s; classic ECN where the algorithm answers marks, counts of "
        f"marks for prague.",
        ["algorithm", *DISCIPLINES],
        [[algorithm, *map(_cell, own)] for algorithm, own in links.items()],
    )
    l4s = Table(
        "Prague beside CUBIC",
        f"{L4S_MBPS:g} Mbit/s, {RTT_MS:g} ms, {L4S_S:g} s. Waits are mean round-trip times less the smallest.",
        ["queue", "prague Mbit/s", "cubic Mbit/s", "prague waits ms", "cubic waits ms", "marks", "drops", "use"],
        [_l4s_row(label, runs[_l4s_name(label)]) for label in L4S_QUEUES],
    )
    return [_l4s_claim(runs)], [_heat_map(links)], [l4s, grid]


def _cell(link: LinkSummary) -> str:
    lost = 100 * link["drops"] / (link["packets"] + link["drops"])
    return f"{link['utilization']:.2f} / {1e3 * link['queue_mean_s']:.1f} / {lost:.2f}"


def _l4s_row(label: str, result: Summary) -> list[str]:
    link, flows = _bottleneck(result), result["flows"]
    return [
        label,
        *(f"{flow['goodput_bps'] / 1e6:.1f}" for flow in flows),
        *(f"{_wait_ms(flow):.1f}" for flow in flows),
        str(link["ce_marks"]),
        str(link["drops"]),
        f"{link['utilization']:.3f}",
    ]


def _l4s_claim(runs: Runs) -> Claim:
    name = _l4s_name("DualPI2")
    prague, cubic = runs[name]["flows"]
    return CLAIMS(
        "l4s-dualpi2",
        Ran("prague with accurate ECN, cubic with classic ECN, DualPI2 with its defaults", (name,)),
        ratio=prague["goodput_bps"] / max(cubic["goodput_bps"], 1.0),
        wait_ms=_wait_ms(prague),
        cubic_ms=_wait_ms(cubic),
    )


def _heat_map(links: Mapping[str, Sequence[LinkSummary]]) -> Illustration:
    figure = Figure(2, height=8.5)
    uses = [[link["utilization"] for link in own] for own in links.values()]
    delays = [[1e3 * link["queue_mean_s"] for link in own] for own in links.values()]
    for panel, values, title, colours, limits, form in (
        (figure.panels[0][0], uses, "use of the link", _VIRIDIS, (0.5, 1.0), "{:.2f}"),
        (figure.panels[1][0], delays, "mean wait (ms)", _MAGMA, (0.0, 40.0), "{:.0f}"),
    ):
        texts = [list(map(form.format, line)) for line in values]
        panel.cells(values, colours=colours, low=limits[0], high=limits[1], texts=texts)
        panel.x.name(*DISCIPLINES)
        panel.y.name(*links)
        # The first row on top.
        panel.y.low, panel.y.high = len(links) - 0.5, -0.5
        panel.title = title
    names = [_name(algorithm, label) for algorithm in links for label in DISCIPLINES]
    return Illustration(
        "Every algorithm over every queue discipline",
        "The figures are in the table.",
        figure,
        id="disciplines",
        scenarios=(*names, *map(_l4s_name, L4S_QUEUES)),
    )

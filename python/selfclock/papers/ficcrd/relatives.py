"""Present-day alternatives to FICCRD: every algorithm over every queue discipline, and the L4S experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.figure import Figure
from selfclock.page_parts import Illustration, Table
from selfclock.paper_runs import Part
from selfclock.papers.ficcrd.network import PAPER
from selfclock.scenario.build import Dumbbell
from selfclock.scenario.flow import Flow
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import mbps, ms, s
from selfclock.scenario.transport import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import FlowSummary, LinkSummary, Result, Summary
    from selfclock.scenario import Scenario

#: From dark to light, and from light to dark: matplotlib's viridis and its magma.
_VIRIDIS = ("#440154", "#3B528B", "#21918C", "#5EC962", "#FDE725")
_MAGMA = ("#FCFDBF", "#FC8961", "#B73779", "#51127C", "#000004")

#: Windows, then models; each with a peer of the same kind.
ALGORITHMS = [
    "reno", "cubic", "bic", "highspeed", "scalable", "ltcp", "altcp", "adaptive", "vegas", "fast",
    "bbr3", "prague",
]  # fmt: skip

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

#: DualPI2's goals: rates within a factor of two, and a queueing delay of the scalable flow of at
#: most a few milliseconds.
ALIKE, LOW_DELAY_MS = 2.0, 3.0


def _name(algorithms: str, label: str) -> str:
    return f"{algorithms}-over-{label.lower().replace(' ', '-')}"


def _ecn(algorithm: str) -> str:
    return {"prague": "accurate", "bbr3": "off"}.get(algorithm, "classic")


def _scenario(
    name: str, algorithms: Sequence[str], queue: dict[str, object], rate_mbps: float, seconds: float, ecn: Sequence[str]
) -> Scenario:
    limited = {"limit": "2 bdp", **queue}
    network = Dumbbell(Link(mbps(rate_mbps), ms(RTT_MS / 4), queue=limited), Link("1 Gbps", ms(RTT_MS / 8)))
    flows = [
        Flow(algorithm, start_jitter="100 ms", transport={"ecn": mode})
        for algorithm, mode in zip(algorithms, ecn, strict=True)
    ]
    return network.scenario(flows, duration=s(seconds), name=name, record=Record("off"))


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the matrix row by row, then the L4S experiment."""
    matrix = [
        _scenario(_name(algorithm, label), [algorithm] * 2, queue, RATE_MBPS, SECONDS * scale, [_ecn(algorithm)] * 2)
        for algorithm in ALGORITHMS
        for label, queue in DISCIPLINES.items()
    ]
    l4s = [
        _scenario(_name("prague-and-cubic", label), ["prague", "cubic"], DISCIPLINES[label], L4S_MBPS, L4S_S * scale,
                  ["accurate", "classic"])
        for label in L4S_QUEUES
    ]  # fmt: skip
    return [*matrix, *l4s]


def _wait_ms(flow: FlowSummary) -> float:
    """Mean queueing delay of a flow's packets, from its RTT samples."""
    return 1e3 * ((flow["rtt_mean_s"] or 0.0) - (flow["rtt_min_s"] or 0.0))


def _bottleneck(summary: Summary) -> LinkSummary:
    return summary["links"][0]


def parts(scale: float = 1.0) -> list[Part]:
    """Return the runs, of which only the summaries are needed."""
    return [Part(scenarios(scale), _summary)]


def _summary(result: Result) -> Summary:
    return result.summary


def findings(readings: Sequence[list[Summary]]) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Lay out the matrix, and judge the L4S experiment."""
    [results] = readings
    width = len(DISCIPLINES)
    cells = results[: len(ALGORITHMS) * width]
    rows, uses, delays = [], [], []
    for number, algorithm in enumerate(ALGORITHMS):
        links = [_bottleneck(result) for result in cells[number * width : (number + 1) * width]]
        uses.append([link["utilization"] for link in links])
        delays.append([1e3 * link["queue_mean_s"] for link in links])
        rows.append([algorithm, *(
            f"{link['utilization']:.2f} / {1e3 * link['queue_mean_s']:.1f} / "
            f"{100 * link['drops'] / (link['packets'] + link['drops']):.2f}"
            for link in links
        )])  # fmt: skip
    grid = Table(
        "Every algorithm over every queue discipline",
        f"Use of the link / mean wait in ms / drops in %. Two flows, {RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, room for two "
        f"bandwidth-delay products, {SECONDS:g} s; classic ECN where the algorithm answers marks, counts of "
        f"marks for prague.",
        ["algorithm", *DISCIPLINES],
        rows,
    )
    claims, l4s_rows = [], []
    for label, result in zip(L4S_QUEUES, results[len(cells) :], strict=True):
        prague, cubic = result["flows"]
        ratio = prague["goodput_bps"] / max(cubic["goodput_bps"], 1.0)
        link = _bottleneck(result)
        l4s_rows.append([
            label, f"{prague['goodput_bps'] / 1e6:.1f}", f"{cubic['goodput_bps'] / 1e6:.1f}", f"{_wait_ms(prague):.1f}",
            f"{_wait_ms(cubic):.1f}", str(link["ce_marks"]), str(link["drops"]), f"{link['utilization']:.3f}",
        ])  # fmt: skip
        if label == "DualPI2":
            alike, low = 1 / ALIKE <= ratio <= ALIKE, _wait_ms(prague) <= LOW_DELAY_MS
            claims.append(
                Claim(PAPER, "l4s-dualpi2", "RFC 9332, not in the paper",
                      says="Prague beside CUBIC over DualPI2: rates within a factor of two, and what Prague sends "
                      "hardly waits", printed=None, measured=f"{ratio:.2f}, {_wait_ms(prague):.1f} ms",
                      verdict="reproduced" if alike and low else "direction" if alike or low else "not reproduced",
                      note=f"{L4S_MBPS:g} Mbit/s, {RTT_MS:g} ms, {L4S_S:g} s. CUBIC waits {_wait_ms(cubic):.1f} ms; "
                      f"the controller aims at 15 ms.",
                      of="own", criterion=f"our criterion: ratio of goodputs {1 / ALIKE:g} to {ALIKE:g}, and a mean "
                      f"wait of at most {LOW_DELAY_MS:g} ms: reproduced; one of the two: direction",
                      variant="prague with accurate ECN, cubic with classic ECN, DualPI2 with its defaults",
                      figure="disciplines", scenarios=(_name("prague-and-cubic", label),))
            )  # fmt: skip
    l4s = Table(
        "Prague beside CUBIC",
        f"{L4S_MBPS:g} Mbit/s, {RTT_MS:g} ms, {L4S_S:g} s. Waits are mean round-trip times less the smallest.",
        ["queue", "prague Mbit/s", "cubic Mbit/s", "prague waits ms", "cubic waits ms", "marks", "drops", "use"],
        l4s_rows,
    )
    return claims, [_heat_map(uses, delays)], [l4s, grid]


def _heat_map(uses: Sequence[Sequence[float]], delays: Sequence[Sequence[float]]) -> Illustration:
    figure = Figure(2, height=8.5)
    for panel, values, title, colours, limits, form in (
        (figure.panels[0][0], uses, "use of the link", _VIRIDIS, (0.5, 1.0), "{:.2f}"),
        (figure.panels[1][0], delays, "mean wait (ms)", _MAGMA, (0.0, 40.0), "{:.0f}"),
    ):
        texts = [list(map(form.format, line)) for line in values]
        panel.cells(values, colours=colours, low=limits[0], high=limits[1], texts=texts)
        panel.x.name(*DISCIPLINES)
        panel.y.name(*ALGORITHMS)
        # The first row on top.
        panel.y.low, panel.y.high = len(ALGORITHMS) - 0.5, -0.5
        panel.title = title
    return Illustration("Every algorithm over every queue discipline", "The figures are in the table.", figure,
                        id="disciplines", scenarios=tuple(one.name for one in scenarios()))  # fmt: skip

"""Figures 6 and 7 and table 1: one connection alone, and beside UDP that changes its rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.mechanisms import MECHANISMS, ROWS, Mechanism
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    COALESCING,
    FIGURE_7,
    PACKET_B,
    RATE_GBPS,
    RTT_MS,
    Flow,
    background,
    flow_series,
    goodput_gbps,
    link_series,
    mean_between,
    scenario,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.reproduce import Claim, Grid, Illustration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from selfclock.result import Result
    from selfclock.scenario import Scenario

SECONDS = 100.0
#: "After start-up".
STARTED_S = 5.0
#: Without a threshold that fits the path, and with the bandwidth of the first period.
SHORT_S = 20.0

#: Two coalescing cards: one whole timer at the sender, where acknowledgements come close together, and half of one
#: at the
#: receiver on average.
BASE_RTT_S = RTT_MS / 1e3 + 1.5 * 100e-6

GAMMA = 0.9


def _scenario(mechanism: Mechanism, name: str, seconds: float, scale: float, *, udp: bool, ssthresh: bool) -> Scenario:
    # Only the proposed mechanism has cards that coalesce: it is made for them. The others run on the hosts of the
    # thesis's
    # simulator, which also makes them comparable with ns-2.
    return scenario(
        f"{name}-{mechanism.algorithm}",
        [Flow(mechanism.control)],
        seconds=seconds * scale,
        udp=background([(time * scale, free) for time, free in FIGURE_7]) if udp else None,
        ssthresh=BDP_PACKETS if ssthresh else None,
        coalescing=COALESCING if mechanism.algorithm == "lotka-volterra" else "0 s",
        samples_s=0.1 * scale,
    )


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return figure 7, figure 6, and both without the threshold for 20 s; each for the six mechanisms."""
    made = []
    for udp, ssthresh, seconds in ((True, True, SECONDS), (False, True, SECONDS), (False, False, SHORT_S)):
        name = f"figure-{7 if udp else 6}{'' if ssthresh else '-no-threshold'}"
        made += [_scenario(each, name, seconds, scale, udp=udp, ssthresh=ssthresh) for each in MECHANISMS]
    return [*made, _scenario(MECHANISMS[0], "figure-7-no-threshold", SHORT_S, scale, udp=True, ssthresh=False)]


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Grid]]:
    """Judge the runs."""
    count = len(MECHANISMS)
    loaded, alone, free = (list(results[count * i : count * (i + 1)]) for i in range(3))
    loaded_free = results[3 * count]
    claims = [*_figure_6(alone[0], scale), *_figure_7(loaded[0], scale)]
    claims += _no_threshold(free[0], loaded_free, scale)
    table_claims, grid = _table_1(loaded, alone, free, scale)
    figures = [
        _figure(loaded, "Figure 7: beside UDP", _available),
        _figure(alone, "Figure 6: alone", lambda _time: RATE_GBPS),
        _figure(free, "As figure 6, slow start without a threshold", lambda _time: RATE_GBPS),
        _estimates(loaded[0], alone[0]),
    ]
    captions = (
        "Throughput over 1 s on the wire, window, and packets in the bottleneck's queue, where small UDP packets "
        "count as large ones. "
        "Dotted: what is available, and the window of equation 14. Initial ssthresh at the bandwidth-delay product.",
        "Slow start ends at the bandwidth-delay product.",
        "No initial ssthresh: slow start ends with a loss, or with a measurement.",
        "What the connection of figures 7 (above) and 6 (below) measured, beside the truth (dotted).",
    )
    titles = (
        "Figure 7, UDP background",
        "Figure 6, no background",
        "Figure 6 without the threshold",
        "Measured K and A",
    )
    drawn = [
        Illustration(title, caption, figure) for title, caption, figure in zip(titles, captions, figures, strict=True)
    ]
    return [*claims, *table_claims], drawn, [grid]


def _available(time: float) -> float:
    return next(free for begin, free in reversed(FIGURE_7) if time >= begin)


def limit_packets(
    available: float, capacity: float = RATE_GBPS, gamma: float = GAMMA, rtt_s: float = RTT_MS / 1e3
) -> float:
    """Equation 14, in packets."""
    return ((1 - gamma) * capacity + gamma * available) * 1e9 * rtt_s / (8 * PACKET_B)


def own_queue(series: pl.DataFrame, available: float, begin_s: float, end_s: float) -> float:
    """Return the connection's own packets in the bottleneck's queue: its rate times the delay of the queue."""
    delay = mean_between(series, "srtt_s", begin_s, end_s) - BASE_RTT_S
    return delay * available * 1e9 / (8 * PACKET_B)


def drops(result: Result) -> int:
    """Packets dropped at the bottleneck, UDP's too."""
    return next(link["drops"] for link in result.summary["links"] if link["name"] == "bottleneck")


def loss_rate(result: Result) -> float:
    """Drops over packets that came to the bottleneck."""
    link = next(link for link in result.summary["links"] if link["name"] == "bottleneck")
    return link["drops"] / max(1, link["drops"] + link["packets"])


def _figure_6(run: Result, scale: float) -> list[Claim]:
    begin, end = STARTED_S * scale, SECONDS * scale
    series = flow_series(run)
    part = goodput_gbps(series, begin, end) / RATE_GBPS
    window = mean_between(series, "cwnd_bytes", begin, end) / 1460
    queue = mean_between(link_series(run), "queue_packets", begin, end) / BDP_PACKETS
    where = "section 4.1, figure 6"
    return [
        Claim(
            PAPER,
            "figure-6-throughput",
            where,
            "it fully utilizes the physical bandwidth",
            verdicts.FULL,
            round(part, 4),
            verdicts.at_least(part, verdicts.FULL),
            "Goodput from 5 s on, headers counted, over the link's rate. K and A are measured.",
            "of the link",
        ),
        Claim(
            PAPER,
            "figure-6-window",
            where,
            "the window is regulated to the bandwidth-delay product",
            BDP_PACKETS,
            round(window),
            verdicts.within(window, BDP_PACKETS, verdicts.WINDOW_TOLERANCE),
            "Mean from 5 s on. Within 2 %.",
            "packets",
        ),
        Claim(
            PAPER,
            "figure-6-queue",
            where,
            "it keeps the queue very small",
            f"below {verdicts.SMALL_QUEUE:.0%} of the buffer",
            f"{queue:.2%}",
            verdicts.at_most(queue, verdicts.SMALL_QUEUE),
            "Mean from 5 s on.",
        ),
        Claim(
            PAPER,
            "figure-6-loss",
            where,
            "no packet is lost",
            0,
            drops(run),
            "reproduced" if drops(run) == 0 else "not reproduced",
            "Initial ssthresh at the product, as in the thesis.",
            "drops",
        ),
    ]


def periods(scale: float = 1.0) -> list[tuple[float, float, float]]:
    """Begin, end and available bandwidth of the periods of figure 7."""
    ends = [begin for begin, _ in FIGURE_7[1:]] + [SECONDS]
    return [(begin * scale, end * scale, free) for (begin, free), end in zip(FIGURE_7, ends, strict=True)]


def _figure_7(run: Result, scale: float) -> list[Claim]:
    series = flow_series(run)
    worst, queues = 0.0, []
    for begin, end, free in periods(scale):
        second, start = scale, begin + verdicts.ADAPTED_AFTER_S * scale
        while start + second <= end + 1e-9:
            worst = max(worst, abs(goodput_gbps(series, start, start + second) / free - 1))
            start += second
        last = min(10.0 * scale, (end - begin) / 2)
        queues.append(
            (own_queue(series, free, end - last, end), limit_packets(free) - free * 1e9 * 0.06 / (8 * PACKET_B))
        )
    off = max(abs(queue / wanted - 1) for queue, wanted in queues)
    shown = ", ".join(f"{queue:.0f}" for queue, _ in queues)
    where = "section 4.1, figure 7"
    return [
        Claim(
            PAPER,
            "figure-7-throughput",
            where,
            "good adaptability to the change in the available bandwidth",
            f"within {verdicts.ADAPTED:.0%} after 3 s",
            f"{worst:.1%}",
            verdicts.at_most(worst, verdicts.ADAPTED),
            "The largest difference of any second from what is available, from 3 s after each change on.",
        ),
        Claim(
            PAPER,
            "figure-7-queue",
            "section 4.1, figure 7; equation 14",
            "the queue settles at (1 - gamma) (K - A) tau",
            ", ".join(f"{wanted:.0f}" for _, wanted in queues),
            f"{shown} packets",
            verdicts.at_most(off, verdicts.QUEUE_TOLERANCE),
            f"Own packets at the end of each period, from the delay; the largest difference is {off:.0%}.",
        ),
        Claim(
            PAPER,
            "figure-7-loss",
            "section 5",
            "almost no packet loss",
            f"below {verdicts.ALMOST_NO_LOSS:g}",
            f"{loss_rate(run):.1e}",
            verdicts.at_most(loss_rate(run), verdicts.ALMOST_NO_LOSS),
            f"{drops(run)} drops at the bottleneck, UDP's among them.",
        ),
    ]


def _no_threshold(alone: Result, loaded: Result, scale: float) -> list[Claim]:
    part = goodput_gbps(flow_series(alone), STARTED_S * scale, SHORT_S * scale) / RATE_GBPS
    other = goodput_gbps(flow_series(loaded), STARTED_S * scale, SHORT_S * scale) / FIGURE_7[0][1]
    worst = min(part, other)
    return [
        Claim(
            PAPER,
            "no-threshold",
            "section 4.1",
            "Reno's result is lucky, because ssthresh is the product; the mechanism needs no such luck",
            verdicts.FULL,
            round(worst, 4),
            verdicts.at_least(worst, verdicts.FULL),
            f"Without a threshold: {part:.4f} of the link alone and {other:.4f} of what is available beside UDP, "
            f"from 5 to 20 s; "
            f"{drops(alone)} and {drops(loaded)} drops.",
            "of what is available",
        ),
    ]


def response_s(result: Result, scale: float) -> float | None:
    """Time from the increase of figure 7 at 30 s until a second has 95 % of what is then available."""
    begin, end, free = periods(scale)[1]
    series, start = flow_series(result), begin
    while start + scale <= end + 1e-9:
        if goodput_gbps(series, start, start + scale) >= (1 - verdicts.ADAPTED) * free:
            return (start - begin) / scale
        start += scale / 2
    return None


def _table_1(
    loaded: Sequence[Result], alone: Sequence[Result], free: Sequence[Result], scale: float
) -> tuple[list[Claim], Grid]:
    cells: dict[str, list[tuple[str, str]]] = {row: [] for row in ROWS}
    for mechanism, udp, idle, unaided in zip(MECHANISMS, loaded, alone, free, strict=True):
        series = flow_series(udp)
        spans = periods(scale)
        sent = sum(
            goodput_gbps(series, max(begin, STARTED_S * scale), end) * (end - max(begin, STARTED_S * scale))
            for begin, end, _ in spans
        )
        could = sum(free_gbps * (end - max(begin, STARTED_S * scale)) for begin, end, free_gbps in spans)
        lucky = goodput_gbps(flow_series(unaided), STARTED_S * scale, SHORT_S * scale) / RATE_GBPS
        part = min(sent / could, lucky)
        loss = max(loss_rate(udp), loss_rate(idle))
        base = BASE_RTT_S if mechanism.algorithm == "lotka-volterra" else RTT_MS / 1e3
        delays = [
            mean_between(flow_series(run), "srtt_s", STARTED_S * scale, SECONDS * scale) - base for run in (udp, idle)
        ]
        delay = max(delays) / base
        response = response_s(udp, scale)
        measured = (
            (verdicts.mark_throughput(part), f"{part:.3f}"),
            (verdicts.mark_loss(loss), f"{loss:.1e}"),
            (verdicts.mark_parameters(mechanism.path_parameters), f"{mechanism.path_parameters}"),
            (verdicts.mark_delay(delay), f"{delay:.2f}"),
            (verdicts.mark_response(response), "never" if response is None else f"{response:.1f} s"),
        )
        for row, cell in zip(ROWS, measured, strict=True):
            cells[row].append(cell)
    rows, same, total = [], 0, 0
    for number, row in enumerate(ROWS):
        line = [row]
        for mechanism, (mark, figure) in zip(MECHANISMS, cells[row], strict=True):
            printed = mechanism.marks[number]
            same, total = same + (mark == printed), total + 1
            line.append(f"{mark} (thesis {printed}) {figure}")
        rows.append(line)
    grid = Grid(
        "Table 1",
        "Throughput: goodput over what is available, the lower of figure 7 and of figure 6 without a threshold: "
        "from 0.95 ○, from 0.8 △. Loss: "
        "the higher rate of figures 6 and 7: below 1e-5 ○, below 1e-4 △. Parameter settings: how many parameters "
        "are in "
        "segments, and so have to fit the path: none ○, one △. Queueing delay: the higher mean of figures 6 and "
        "7 over the round-trip time: below 0.1 ○, "
        "below 0.25 △. Responsiveness: time until 95 % of the increase at 30 s is used: below 3 s ○, below 20 s "
        "△. Else ×. "
        "The row 'ease of process' is a judgement and has no number here.",
        ["", *(mechanism.label for mechanism in MECHANISMS)],
        rows,
    )
    claim = Claim(
        PAPER,
        "table-1",
        "table 1",
        "marks of six mechanisms",
        f"{total} marks",
        f"{same} the same",
        verdicts.share_of_cells(same, total),
        "The thesis gives no thresholds; those of the table below were set before the runs.",
    )
    best = _best(cells)
    first = Claim(
        PAPER,
        "table-1-best",
        "section 5",
        "it is superior to other existing mechanisms",
        "best or equal in every row",
        f"{best} of {len(ROWS)} rows",
        "reproduced" if best == len(ROWS) else "direction" if best >= len(ROWS) - 1 else "not reproduced",
        "No other mechanism has a better mark.",
    )
    return [claim, first], grid


def _best(cells: dict[str, list[tuple[str, str]]]) -> int:
    rank = {verdicts.GOOD: 0, verdicts.FAIR: 1, verdicts.BAD: 2}
    return sum(rank[row[0][0]] == min(rank[mark] for mark, _ in row) for row in cells.values())


@style.house()
def _figure(results: Sequence[Result], title: str, available: Callable[[float], float]) -> Figure:
    figure, (rate, window, queue) = style.figure(3, height=7.0)
    for mechanism, result in zip(MECHANISMS, results, strict=True):
        look = style.look(mechanism.algorithm)
        series, link = flow_series(result), link_series(result)
        times = series["time_s"]
        step = 10
        gbps = series["acknowledged_bytes"].cast(pl.Float64).diff(step) * 8 / times.diff(step) / 1e9 * PACKET_B / 1460
        width = 1.8 if mechanism is MECHANISMS[0] else 0.9
        line = "-" if mechanism is MECHANISMS[0] else look.line
        rate.plot(times, gbps, line, color=look.colour, label=mechanism.label, linewidth=width)
        window.plot(
            times, series["cwnd_bytes"] / 1.46e6, line, color=look.colour, label=mechanism.label, linewidth=width
        )
        queue.plot(
            link["time_s"], link["queue_packets"] / 1e3, line, color=look.colour, label=mechanism.label, linewidth=width
        )
    samples = link_series(results[0])["time_s"].to_list()
    free = [available(time) for time in samples]
    rate.plot(samples, free, ":", color="black", linewidth=1)
    window.plot(samples, [limit_packets(value) / 1e3 for value in free], ":", color="black", linewidth=1)
    rate.set_title(title)
    rate.set_ylabel("throughput (Gbit/s)")
    window.set_ylabel("window (1000 packets)")
    queue.set_ylabel("queue (1000 packets)")
    queue.set_xlabel("time (s)")
    for axes in (rate, window, queue):
        axes.set_ylim(bottom=0)
    figure.legend(*rate.get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


@style.house()
def _estimates(loaded: Result, alone: Result) -> Figure:
    figure, axes = style.figure(2, height=4.6)
    for each, result, available in ((axes[0], loaded, _available), (axes[1], alone, lambda _time: RATE_GBPS)):
        series = flow_series(result)
        each.plot(series["time_s"], series["capacity_bps"] / 1e9, color="#D55E00", label="K measured")
        each.plot(series["time_s"], series["available_bps"] / 1e9, color="#0072B2", label="A measured")
        each.plot(series["time_s"], [RATE_GBPS] * len(series), ":", color="black", linewidth=1)
        each.plot(series["time_s"], [available(time) for time in series["time_s"]], ":", color="black", linewidth=1)
        each.set_ylabel("Gbit/s")
        each.set_ylim(0, 1.3 * RATE_GBPS)
    axes[0].set_title("Measured physical and available bandwidth")
    axes[0].legend(loc="lower left")
    axes[1].set_xlabel("time (s)")
    return figure

"""Figures 3 to 6: goodput, sequence numbers, queue and drops, for tail drop and both kinds of feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import style
from selfclock.papers.ficcrd.network import (
    ACK_BUCKET,
    FLOWS,
    PAPER,
    RATE_MBPS,
    SECONDS,
    WINDOW,
    cell,
    queue,
    scenario,
)
from selfclock.papers.ficcrd.verdicts import (
    COLUMNS,
    FAIR,
    NEAR_MOSTLY,
    SIGNIFICANT,
    STARTED_S,
    fair_verdict,
    gain_verdict,
    measures,
    near_verdict,
    no_drop_verdict,
)
from selfclock.reproduce import Claim, Grid, Illustration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from selfclock.papers.ficcrd.verdicts import Measures
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: 32 segments in flight, ten of them in the network: a bucket holds the other 22 for 0.7 s.
LONG_HOLD: dict[str, object] = {**ACK_BUCKET, "longest_hold": "1 s"}

#: The runs of the figures: label, mechanism, colour, line.
RUNS: list[tuple[str, dict[str, object] | None, str, str]] = [
    ("tail drop", None, "#888888", "-"),
    ("FICCRD, window", WINDOW, "#0072b2", "-"),
    ("FICCRD, ACK bucket", LONG_HOLD, "#d55e00", "-"),
]

#: Other readings, each a change of one thing.
VARIANTS: list[tuple[str, dict[str, object] | None, dict[str, Any]]] = [
    ("window, starts 0.1 s apart", WINDOW, {"apart_s": 0.1}),
    ("window, starts 1 s apart", WINDOW, {"apart_s": 1.0}),
    ("window, random send delay below 10 ms", WINDOW, {"send_delay_ms": 10.0}),
    ("window, Table 1 literally", {**WINDOW, "rule": "literal"}, {}),
    ("window, Table 1 as ICC", {**WINDOW, "rule": "icc"}, {}),
    ("window of the base round-trip time", {**WINDOW, "rtt": "base"}, {}),
    ("window, RD packets only by number", {**WINDOW, "discovery_interval": "off"}, {}),
    ("window, an RD packet for every packet", {**WINDOW, "packets_per_discovery": 1}, {}),
    ("window, K = 1 s", {**WINDOW, "rate_constant": "1 s"}, {}),
    ("ACK bucket, held for 100 ms at most", ACK_BUCKET, {}),
    ("ACK bucket, held for 500 ms at most", {**ACK_BUCKET, "longest_hold": "500 ms"}, {}),
    ("tail drop, topology A of the ns-2 runs", None, {"topology": "a"}),
    ("window, topology A", WINDOW, {"topology": "a"}),
    ("ACK bucket, topology A", LONG_HOLD, {"topology": "a"}),
    ("tail drop, topology B, queue of 200 at 10-11", None, {"topology": "b", "edge_queue": "200 packets"}),
    ("window, topology B, queue of 200 at 10-11", WINDOW, {"topology": "b", "edge_queue": "200 packets"}),
    ("window, two classes of flows (DSCP)", {**WINDOW, "unit": "class"},
    {"flow_keys": {n: {"dscp": 46} for n in range(5)}}),
]  # fmt: skip


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the runs of the figures, then the variants."""
    shown = [scenario(f"ficcrd-{label}", router, seconds=SECONDS * scale, packets=True) for label, router, _, _ in RUNS]
    others = [scenario(f"ficcrd-{label}", router, seconds=SECONDS * scale, **keys) for label, router, keys in VARIANTS]
    return [*shown, *others]


def drops_by_flow(result: Result) -> list[int]:
    """Count the drops of each flow's data."""
    packets = pl.DataFrame(result.packets).lazy()
    lost = packets.filter((pl.col("event") == "drop") & (pl.col("kind") == "data"))
    counts = dict(lost.group_by(pl.col("flow").cast(pl.String)).len().collect().iter_rows())
    return [int(counts.get(f"flow{number}", 0)) for number in range(FLOWS)]


def roughness(result: Result, begin_s: float, end_s: float) -> float:
    """Return the standard deviation over the mean of what the nine equal flows send in a second, flow by flow."""
    series = pl.DataFrame(result.flows).with_columns(pl.col("flow").cast(pl.String), second=pl.col("time_s").floor())
    series = series.filter(pl.col("time_s").is_between(begin_s, end_s) & (pl.col("flow") != "flow0"))
    sent = series.group_by("flow", "second").agg(pl.col("sent_bytes").max()).sort("flow", "second")
    sent = sent.with_columns(pl.col("sent_bytes").diff().over("flow")).drop_nulls()
    each = sent.group_by("flow").agg((pl.col("sent_bytes").std() / pl.col("sent_bytes").mean()).alias("part"))
    return cell(each["part"].mean())


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Grid]]:
    """Judge figures 3 to 6."""
    shown, others = results[: len(RUNS)], results[len(RUNS) :]
    tail, *mechanisms = [measures(result, scale) for result in shown]
    by_flow = [drops_by_flow(result) for result in shown]
    hit = sum(drops > 0 for drops in by_flow[0])
    fair_share = RATE_MBPS / FLOWS
    claims = [
        Claim(PAPER, "figure-6-tail-drop", "section 3.2, figure 6", "Under tail drop each flow has drops",
              f"{FLOWS} flows", f"{hit} flows", "reproduced" if hit == FLOWS else "direction" if hit else "not "
              "reproduced",
              f"Drops of each flow's data in {SECONDS:g} s, flow 0 first: {', '.join(map(str, by_flow[0]))}."),
    ]  # fmt: skip
    rough = [roughness(result, 50 * scale, SECONDS * scale) for result in shown]
    for (label, _, _, _), found, lost, uneven in zip(RUNS[1:], mechanisms, by_flow[1:], rough[1:], strict=True):
        name = "window" if "window" in label else "ack-bucket"
        ratio = found.total / tail.total
        claims += [
            Claim(PAPER, f"figure-6-{name}", "section 3.2, figure 6",
            f"{label}: no packet is dropped at the bottleneck",
                  0, found.drops, no_drop_verdict(found.drops, tail.drops),
                  f"After {STARTED_S:g} s; {sum(lost)} data packets in all. Tail drop: {tail.drops}."),
            Claim(PAPER, f"figure-5-{name}", "section 3.2, figure 5",
                  f"{label}: the queue stays at its target of 100 packets, within a fifth",
                  f"{NEAR_MOSTLY:.0%} of the time", f"{found.near:.1%}", near_verdict(found.near),
                  f"50 to 200 s, all packets counted; mean {found.queue_mean:.0f}, longest {found.queue_max}. "
                  f"Tail drop: "
                  f"{tail.near:.1%}, mean {tail.queue_mean:.0f}."),
            Claim(PAPER, f"figure-3-{name}", "section 3.2, figure 3",
                  f"{label}: goodput is shared equally although one flow has 2.5 times the round-trip time",
                  f"Jain's index above {FAIR}", round(found.jain, 4), fair_verdict(found.jain, tail.jain),
                  f"50 to 200 s; flow 0 has {found.goodputs[0] / fair_share:.3f} of its share C/N, the others "
                  f"{min(found.goodputs[1:]) / fair_share:.3f} to {max(found.goodputs[1:]) / fair_share:.3f}. "
                  f"Tail drop: "
                  f"{tail.jain:.4f}, flow 0 {tail.goodputs[0] / fair_share:.3f}."),
            Claim(PAPER, f"figure-3-{name}-gain", "sections 3.2 and 4",
                  f"{label}: higher goodput than tail drop, by 5 % or more", f"{SIGNIFICANT} times", round(ratio, 4),
                  gain_verdict(ratio),
                  f"{found.total:.3f} against {tail.total:.3f} Mbit/s. Tail drop with 200 places keeps the link "
                  f"busy all "
                  f"the time, and what it drops is sent again over links that are idle: there is nothing to "
                  f"gain, and the "
                  f"resource discovery packets cost 0.5 %."),
            Claim(PAPER, f"figure-4-{name}", "section 3.2, figure 4",
                  f"{label}: the sending rate is more regular than under tail drop", "less than half as rough",
                  round(uneven / rough[0], 3),
                  "reproduced" if uneven < rough[0] / 2 else "direction" if uneven < rough[0] else "not reproduced",
                  f"Standard deviation over mean of what a flow sends in a second, 50 to 200 s, over tail drop's: "
                  f"{uneven:.3f} against {rough[0]:.3f}."),
        ]  # fmt: skip
    grid = Grid(
        "FICCRD in other readings",
        "10 Mbit/s, 200 packets, ten flows, 50 to 200 s. The first rows are the runs of the figures.",
        ["run", *COLUMNS],
        [
            *([label, *measures(result, scale).cells()] for (label, *_), result in zip(RUNS, shown, strict=True)),
            *([label, *measures(result, scale).cells()] for (label, *_), result in zip(VARIANTS, others, strict=True)),
        ],
    )
    figures = [
        _figure_3([tail, *mechanisms], fair_share),
        _figure_4(shown, scale),
        _figure_5(shown, scale),
        _figure_6(by_flow),
    ]
    return claims, figures, [grid]


def _bars(axes: Axes, values: Sequence[Sequence[float]]) -> None:
    width = 0.8 / len(RUNS)
    for number, ((label, _, colour, _), heights) in enumerate(zip(RUNS, values, strict=True)):
        places = [flow + (number - 1) * width for flow in range(FLOWS)]
        axes.bar(places, list(heights), width, color=colour, label=label)
    axes.set_xticks(range(FLOWS))
    axes.set_xlabel("flow")
    # Room for the legend.
    axes.margins(y=0.4)


@style.house()
def _figure_3(found: Sequence[Measures], fair_share: float) -> Illustration:
    figure, (axes,) = style.figure()
    _bars(axes, [[rate / fair_share for rate in one.goodputs] for one in found])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("goodput / (C/N)")
    axes.set_title("Goodput of each flow, 50 to 200 s")
    axes.legend(loc="upper right")
    caption = "The paper divides by 0.15 Mbit/s, which is not the share of ten flows of 10 Mbit/s; here it is 1 Mbit/s."
    return Illustration("Figure 3, goodput", caption, figure)


@style.house()
def _figure_4(results: Sequence[Result], scale: float) -> Illustration:
    figure, (axes,) = style.figure()
    for (label, _, colour, line), result in zip(RUNS, results, strict=True):
        series = pl.DataFrame(result.flows).with_columns(pl.col("flow").cast(pl.String))
        span = pl.col("time_s").is_between(100 * scale, 120 * scale)
        for number in (0, 1, 2):
            one = series.filter((pl.col("flow") == f"flow{number}") & span)
            first = one["sent_bytes"][0]
            axes.plot(one["time_s"], (one["sent_bytes"] - first) / 4096, line, color=colour, linewidth=1,
                      label=label if number == 0 else None)  # fmt: skip
    axes.set_xlabel("time (s)")
    axes.set_ylabel("segments sent since 100 s")
    axes.set_title("Sequence numbers of flows 0, 1 and 2")
    axes.legend(loc="upper left")
    caption = "Flow 0 has 120 ms of round-trip time, the others 48 ms."
    return Illustration("Figure 4, sequence numbers", caption, figure)


@style.house()
def _figure_5(results: Sequence[Result], scale: float) -> Illustration:
    figure, (axes,) = style.figure()
    for (label, _, colour, line), result in zip(RUNS, results, strict=True):
        samples = queue(result, 0, SECONDS * scale)
        axes.plot(samples["time_s"], samples["queue_packets"], line, color=colour, linewidth=0.8, label=label)
    axes.axhspan(80, 120, color="#0072b2", alpha=0.1)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("packets waiting")
    axes.set_ylim(bottom=0)
    axes.set_title("Queue at the bottleneck, 200 places")
    axes.legend(loc="lower right")
    return Illustration("Figure 5, queue", "The band is a fifth either side of the target.", figure)


@style.house()
def _figure_6(by_flow: Sequence[Sequence[int]]) -> Illustration:
    figure, (axes,) = style.figure()
    _bars(axes, by_flow)
    axes.set_ylabel("data packets dropped in 200 s")
    axes.set_title("Drops of each flow")
    axes.legend(loc="upper right")
    return Illustration("Figure 6, drops", "All of the run, start included.", figure)

"""Figure 2: one flow alone on 1 Gbit/s, ALTCP or TCP."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.papers.adaptive_layered.network import Flow, control, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import PAPER, faster_verdict, median
from selfclock.reproduce import Claim, Illustration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS = 1000.0, 120.0
LABELS = {"reno": "TCP", "altcp": "ALTCP"}

#: Where ns-2's default window of 20 ends the first slow start.
SMALL_THRESHOLD = "20 segments"
PART_OF_LINK = 0.9

#: The printed interval is 1000 s without the first 300 s. ALTCP does the same every 53 s by then: 300 s are enough.
MEASURED_S = {"reno": (300.0, 1000.0), "altcp": (300.0, 600.0)}

#: Reno needs some 1100 s to grow to the path's product from a small window, and some 1800 s from loss to loss.
GROWTH_S = {"reno": 1200.0, "altcp": 600.0}
CYCLE_S = {"reno": 1850.0, "altcp": 200.0}

#: What the overshoot of slow start brings, timeouts included, is over after this.
SETTLED_S = 12.0


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return growth and cycle of TCP, then of ALTCP; `scale` shortens them."""
    made = []
    for name in LABELS:
        flow = [Flow(control(name), RTT_MS)]
        threshold = {"initial_ssthresh": SMALL_THRESHOLD}
        samples_s = min(1.0, 50 * scale)
        made += [
            scenario(f"growth-{name}", RATE_MBPS, flow, seconds=GROWTH_S[name] * scale, transport=threshold,
                     samples_s=samples_s),
            scenario(f"cycle-{name}", RATE_MBPS, flow, seconds=CYCLE_S[name] * scale, samples_s=samples_s),
        ]  # fmt: skip
    return made


def time_to_fill(result: Result, rate_mbps: float = RATE_MBPS, part: float = PART_OF_LINK) -> float | None:
    """Return when the acknowledged rate, over ten samples, first reached a part of the link."""
    frame = pl.DataFrame(result.flows)
    rate = frame["acknowledged_bytes"].cast(pl.Float64).diff(10) * 8 / frame["time_s"].diff(10) / 1e6
    reached = frame.filter(rate >= part * rate_mbps)
    return float(reached["time_s"][0]) if len(reached) else None


def cycle(result: Result) -> float | None:
    """Return the time from a cut of the window to the next loss, the median if there are several.

    The first cut that counts is the last one that the overshoot of slow start brings.
    """
    frame = pl.DataFrame(result.flows).filter(pl.col("ssthresh_bytes").is_finite())
    cuts = frame.filter(pl.col("ssthresh_bytes").diff() != 0)["time_s"].to_list()
    later = [time for time in cuts if time > SETTLED_S]
    if not later:
        return None
    first = max((time for time in cuts if time <= SETTLED_S), default=float(frame["time_s"][0]))
    return median(end - begin for begin, end in pairwise([first, *later]))


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the four runs."""
    growth = dict(zip(LABELS, results[0::2], strict=True))
    cycles = dict(zip(LABELS, results[1::2], strict=True))
    fill = {name: time_to_fill(result) for name, result in growth.items()}
    period = {name: cycle(result) for name, result in cycles.items()}
    (tcp,), (altcp,) = (throughputs_mbps(growth[name], *(time * scale for time in MEASURED_S[name])) for name in LABELS)
    says = "the window of ALTCP reaches the optimal value several orders of magnitude faster than TCP's"
    printed = "several orders of magnitude: 100 times or more"
    claims = [
        _times("figure-2-growth", says, printed, fill,
               f"Time until the flow uses {PART_OF_LINK:.0%} of the link when the first slow start ends at a window of "
               f"{SMALL_THRESHOLD}, ns-2's default"),
        _times("figure-2-recovery", says, printed, period,
               "Time from a loss to the next, which is when the window is again what path and buffer hold: "
               "ALTCP's median, the "
               "only one of TCP. With this buffer the link stays full meanwhile"),
        Claim(PAPER, "figure-2-throughput", "section 6, figure 2", "ALTCP uses the link better than TCP",
              "more than TCP", f"{altcp:.0f} against {tcp:.0f} Mbit/s, {altcp / tcp:.2f} times",
              "reproduced" if altcp > tcp else "not reproduced",
              "Each alone, TCP 300 to 1000 s, ALTCP 300 to 600 s, slow start ended at 20 segments. After a slow start "
              "that runs into the buffer both fill the link."),
    ]  # fmt: skip
    return claims, [_figure(growth, cycles)]


def _times(identity: str, says: str, printed: str, times: dict[str, float | None], note: str) -> Claim:
    tcp, altcp = times["reno"], times["altcp"]
    ratio = tcp / altcp if tcp and altcp else None
    measured = None if ratio is None else f"{ratio:.1f} times: {altcp:.0f} s against {tcp:.0f} s"
    verdict = faster_verdict(ratio)
    return Claim(PAPER, identity, "section 6, figure 2", says, printed, measured, verdict, f"{note}.")


@style.house()
def _figure(growth: dict[str, Result], cycles: dict[str, Result]) -> Illustration:
    figure, (top, bottom) = style.figure(2, height=5.0)
    for axes, runs, what in ((top, growth, "slow start ended at 20 segments"), (bottom, cycles, "no threshold")):
        for name, result in runs.items():
            frame = pl.DataFrame(result.flows)
            look = style.look(name)
            axes.plot(frame["time_s"], frame["cwnd_bytes"] / 1.46e6, look.line, color=look.colour, label=LABELS[name])
        axes.set_ylabel("window (1000 segments)")
        axes.set_title(f"One flow, 1 Gbit/s, 120 ms: {what}")
        axes.set_ylim(0, 26)
        axes.axhline(10, color="black", linewidth=0.6)
        axes.axhline(20, color="black", linewidth=0.6, linestyle=":")
    top.legend(loc="upper left")
    bottom.set_xlabel("time (s)")
    caption = (
        "Horizontal lines: the path's product, and dotted product and buffer together. Below, ALTCP runs for "
        f"{CYCLE_S['altcp']:g} s."
    )
    return Illustration("Figure 2, ALTCP and TCP alone", caption, figure)

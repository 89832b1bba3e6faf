"""Figures 8 to 11: gamma and epsilon, on a tenth of the thesis's rates."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import polars as pl

from selfclock import style
from selfclock.papers.inline_measurement import verdicts
from selfclock.papers.inline_measurement.behaviour import drops, limit_packets
from selfclock.papers.inline_measurement.network import (
    BDP_PACKETS,
    FIGURE_7,
    RATE_GBPS,
    Flow,
    background,
    flow_series,
    link_series,
    mean_between,
    scenario,
)
from selfclock.papers.inline_measurement.verdicts import PAPER
from selfclock.reproduce import Claim, Illustration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: A tenth of the rates and of the buffer: windows and queues are in proportion, and the time of equation 10 does not
#: depend on the rate.
SCALE = 10.0
GAMMAS = (0.3, 0.5, 0.7, 0.8, 0.9)
EPSILONS = (0.5, 1.0, 1.95, 4.0, 8.0)
SECONDS = 100.0


def _scenario(name: str, scale: float, **control: object) -> Scenario:
    rate = RATE_GBPS / SCALE
    free = tuple((time * scale, available / SCALE) for time, available in FIGURE_7)
    return scenario(
        name,
        [Flow({"window": "lotka-volterra", **control})],
        seconds=SECONDS * scale,
        samples_s=0.1 * scale,
        rate_gbps=rate,
        udp=background(free, rate),
        ssthresh=round(BDP_PACKETS / SCALE),
    )


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return a run for each gamma, then for each epsilon."""
    made = [_scenario(f"gamma-{gamma:g}", scale, gamma=gamma) for gamma in GAMMAS]
    return [*made, *(_scenario(f"epsilon-{epsilon:g}", scale, epsilon=epsilon) for epsilon in EPSILONS)]


def settling_s(result: Result, scale: float = 1.0) -> float:
    """Time from the increase at 30 s until 90 % of the way to the new limit."""
    series = flow_series(result).with_columns(cwnd=pl.col("cwnd_bytes") / 1460)
    begin, end = FIGURE_7[1][0] * scale, FIGURE_7[2][0] * scale
    before = series.filter(pl.col("time_s") <= begin)["cwnd"][-1]
    later = series.filter(pl.col("time_s").is_between(begin, end))
    settled = later["cwnd"].tail(max(1, len(later) // 4)).mean()
    reached = later.filter(pl.col("cwnd") >= before + 0.9 * (settled - before))
    return float(reached["time_s"][0] - begin) / scale if len(reached) else float("inf")


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the sweeps."""
    by_gamma = dict(zip(GAMMAS, results, strict=False))
    by_epsilon = dict(zip(EPSILONS, results[len(GAMMAS) :], strict=True))
    begin, end = 50 * scale, 70 * scale
    windows, queues, errors = [], [], []
    for gamma, result in by_gamma.items():
        window = mean_between(flow_series(result), "cwnd_bytes", begin, end) / 1460
        windows.append(window)
        errors.append(abs(window / (limit_packets(FIGURE_7[1][1], gamma=gamma) / SCALE) - 1))
        queues.append(mean_between(link_series(result), "queue_packets", begin, end))
    times = [settling_s(result, scale) for result in by_epsilon.values()]
    peaks = [mean_between(link_series(result), "queue_packets", begin, end) for result in by_epsilon.values()]
    gammas = ", ".join(f"{gamma:g}" for gamma in GAMMAS)
    epsilons = ", ".join(f"{epsilon:g}" for epsilon in EPSILONS)
    steadiest = statistics.median(peaks)
    claims = [
        Claim(
            PAPER,
            "figure-8-limit",
            "section 4.2.1, equation 14",
            "the window converges to {(1 - gamma) K + gamma A} tau",
            f"within {verdicts.MODEL_TOLERANCE:.0%}",
            f"{max(errors):.1%}",
            verdicts.at_most(max(errors), verdicts.MODEL_TOLERANCE),
            f"The largest difference of the mean window, 50 to 70 s, for gamma {gammas}: "
            f"{', '.join(f'{w:.0f}' for w in windows)} packets.",
        ),
        Claim(
            PAPER,
            "figure-9-queue",
            "section 4.2.1, figure 9",
            "as gamma decreases the queue becomes larger",
            "larger with every step",
            ", ".join(f"{queue:.0f}" for queue in queues),
            verdicts.order(queues, rising=False),
            f"Mean queue, 50 to 70 s, for gamma {gammas}, packets, UDP's among them.",
        ),
        Claim(
            PAPER,
            "figure-9-loss",
            "section 4.2.1",
            "a small gamma causes packet losses when little is available",
            "losses at the smallest, none at 0.9",
            ", ".join(str(drops(result)) for result in by_gamma.values()),
            "reproduced"
            if drops(by_gamma[GAMMAS[0]]) > drops(by_gamma[GAMMAS[-1]]) == 0
            else "direction"
            if drops(by_gamma[GAMMAS[0]]) > drops(by_gamma[GAMMAS[-1]])
            else "not reproduced",
            f"Drops for gamma {gammas}, UDP's among them.",
        ),
        Claim(
            PAPER,
            "figure-10-speed",
            "section 4.2.2, figure 10",
            "as epsilon becomes larger the window converges faster",
            "faster with every step",
            ", ".join(f"{time:.1f}" for time in times),
            verdicts.order(times, rising=False),
            f"Time for 90 % of the way to the new limit after the increase at 30 s, s, for epsilon {epsilons}.",
        ),
        Claim(
            PAPER,
            "figure-11-queue",
            "section 4.2.2, figure 11",
            "the queue does not become larger when epsilon becomes greater",
            "at most 20 % above the median",
            ", ".join(f"{peak:.0f}" for peak in peaks),
            verdicts.at_most(max(peaks[2:]) / max(steadiest, 1e-9) - 1, verdicts.QUEUE_TOLERANCE),
            f"Mean queue, 50 to 70 s, for epsilon {epsilons}, packets, UDP's among them.",
        ),
    ]
    figures = [
        Illustration(
            "Figures 8 and 9, gamma",
            "A tenth of the thesis's rates, A as in figure 7. Crosses: drops.",
            _figure({f"gamma {gamma:g}": result for gamma, result in by_gamma.items()}),
        ),
        Illustration(
            "Figures 10 and 11, epsilon",
            "A tenth of the thesis's rates, A as in figure 7.",
            _figure({f"epsilon {epsilon:g}": result for epsilon, result in by_epsilon.items()}),
        ),
    ]
    return claims, figures


@style.house()
def _figure(runs: dict[str, Result]) -> Figure:
    figure, (window, queue) = style.figure(2, height=5.0)
    for number, (label, result) in enumerate(runs.items()):
        shade = str(0.75 * number / max(1, len(runs) - 1))
        series, link = flow_series(result), link_series(result)
        window.plot(series["time_s"], series["cwnd_bytes"] / 1.46e6, color=shade, label=label)
        queue.plot(link["time_s"], link["queue_packets"] / 1e3, color=shade)
        lost = link.filter(pl.col("drops").diff() > 0)
        queue.plot(lost["time_s"], lost["queue_packets"] / 1e3, style.DROP.marker, color=style.DROP.colour)
    window.set_ylabel("window (1000 packets)")
    queue.set_ylabel("queue (1000 packets)")
    queue.set_xlabel("time (s)")
    window.set_ylim(bottom=0)
    queue.set_ylim(bottom=0)
    figure.legend(*window.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure

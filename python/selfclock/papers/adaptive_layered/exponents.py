"""How throughput depends on the round-trip time, for every window algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.algorithms import algorithms
from selfclock.papers.adaptive_layered.network import Bursts, Flow, control, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.verdicts import EXPONENT_TOLERANCE, PAPER, exponent, median, similar_verdict
from selfclock.reproduce import Claim, Grid, Illustration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS = 100.0, 40.0
RATIOS = (2, 4)
SEEDS = range(1, 4)
SECONDS, SKIPPED_S, JITTER_S = 150.0, 50.0, 10.0

#: Small, so that the queue does not even the round-trip times out: a fifth of the longest path's product.
BUFFER = "0.2 bdp"

#: ALTCP with K_R on at all times, beside the paper's handler, which turns it off in the steady state.
ALWAYS = "altcp, K_R always on"

#: Flows that lose at the same times: a link that they do not fill, and bursts in which each of them loses. The period
#: is one in which windows are large enough for the law of an algorithm, and small enough for the link. CUBIC's curve
#: needs seconds, and eighths of a window that grows by a hundredth per round trip are made up for in 13 of them.
SAME_TIMES_MBPS, BURST_S = 1000.0, 0.030
PERIODS_S = {"cubic": 10.0, "scalable": 1.0, "bic": 1.0, ALWAYS: 1.5}
USUAL_PERIOD_S, EPOCHS = 2.0, 40

#: What follows the delay has no law here: without a queue it never meets its own limit.
DELAY_BASED = ("fast", "vegas")

#: Every segment of a window at its own time, so that a burst meets each flow.
SPACED: dict[str, object] = {"pacing_gain": 1.2, "receive_window": "4000 segments", "initial_ssthresh": "100 segments"}

#: The exponent where all flows lose at the same times, and where each packet is lost with the same probability.
THEORY = {
    "reno": ("2", "1"),
    "highspeed": ("up to 6.1", "1"),
    "scalable": ("unbounded", "1"),
    "bic": ("2 to unbounded", "1"),
    "cubic": ("1, 2 where it follows Reno", "0.25, 1 where it follows Reno"),
    "ltcp": ("2.5", "1"),
    "altcp": ("2.5, with K_R = 1", "0.8 with K_R, 1 without"),
    ALWAYS: ("2", "0.8"),
    "adaptive": ("2 at k = 1", "1 at k = 1"),
}


def names() -> list[str]:
    """Every window algorithm, and ALTCP twice."""
    every = [algorithm.name for algorithm in algorithms() if algorithm.part == "window"]
    every.insert(every.index("altcp") + 1, ALWAYS)
    return every


def _control(name: str) -> dict[str, object]:
    return {"window": "altcp", "compensation": "always"} if name == ALWAYS else control(name)


def _same_times(name: str, ratio: int, scale: float) -> Scenario:
    period = PERIODS_S.get(name, USUAL_PERIOD_S)
    # Alone at k = 1, as the law of the paper has it: without a queue A-TCP finds neither congestion nor competition.
    own = {**_control(name), "maximum_k": 1} if name == "adaptive" else _control(name)
    return scenario(
        f"same-times-{name}-{ratio}",
        SAME_TIMES_MBPS,
        [Flow(own, RTT_MS), Flow(own, RTT_MS * ratio)],
        seconds=period * EPOCHS * max(scale, 0.05),
        buffer="20 packets",
        transport=SPACED,
        samples_s=period / 2,
        bursts=Bursts(period, BURST_S),
    )


def _lossy() -> list[str]:
    return [name for name in names() if name not in DELAY_BASED]


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every run: by algorithm, ratio, seed; then those with losses at the same times."""
    same_times = [_same_times(name, ratio, scale) for name in _lossy() for ratio in RATIOS]
    return same_times + [
        scenario(
            f"exponent-{name}-{ratio}-{seed}",
            RATE_MBPS,
            [Flow(_control(name), RTT_MS, jitter_s=JITTER_S * scale),
             Flow(_control(name), RTT_MS * ratio, jitter_s=JITTER_S * scale)],
            seconds=SECONDS * scale,
            buffer=BUFFER,
            seed=seed,
            samples_s=2.0 * scale,
            jittered=True,
        )
        for name in names()
        for ratio in RATIOS
        for seed in SEEDS
    ]  # fmt: skip


def findings(results: Sequence[Result], scale: float = 1.0) -> tuple[list[Claim], list[Illustration], list[Grid]]:
    """Fit an exponent to each algorithm."""
    measured = iter(results)
    same_times = {name: _same_times_exponents(name, measured, scale) for name in _lossy()}
    ratios: dict[str, dict[int, float]] = {}
    exponents: dict[str, float] = {}
    for name in names():
        points: dict[float, float] = {}
        ratios[name] = {}
        for ratio in RATIOS:
            runs = [next(measured) for _ in SEEDS]
            shares = [throughputs_mbps(run, SKIPPED_S * scale, SECONDS * scale) for run in runs]
            ratios[name][ratio] = median(second / max(first, 1e-9) for first, second in shares)
            points[median(_rtt_ratio(run) for run in runs)] = ratios[name][ratio]
        exponents[name] = exponent(points)
    apart = exponents["altcp"] - exponents["reno"]
    together = {name: late for name, (_, late, _) in same_times.items()}
    apart_together = together["altcp"] - together["reno"]
    claim = Claim(
        PAPER, "rtt-exponent-altcp", "sections 1 and 3",
        "RTT fairness of ALTCP is maintained similar to that of TCP",
        f"exponents {EXPONENT_TOLERANCE} apart or less", round(apart, 2),
        similar_verdict(exponents["altcp"], exponents["reno"], exponents["ltcp"]),
        f"Exponent x of throughput ratio = (RTT ratio)^-x: ALTCP {exponents['altcp']:.2f}, TCP "
        f"{exponents['reno']:.2f}, "
        f"LTCP {exponents['ltcp']:.2f}, ALTCP with K_R on at all times {exponents[ALWAYS]:.2f}. "
        f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms and 2 and 4 times as much; the RTT "
        f"ratio is "
        "the measured one.",
    )  # fmt: skip
    claim_together = Claim(
        PAPER, "rtt-exponent-altcp-same-times", "sections 1 and 3",
        "RTT fairness of ALTCP is maintained similar to that of TCP",
        f"exponents {EXPONENT_TOLERANCE} apart or less", round(apart_together, 2),
        similar_verdict(together["altcp"], together["reno"], together["ltcp"]),
        f"As above, where both flows lose at the same times: ALTCP "
        f"{together['altcp']:.2f}, TCP {together['reno']:.2f}, "
        f"LTCP {together['ltcp']:.2f}; ALTCP with K_R on at all times {together[ALWAYS]:.2f}. "
        f"{SAME_TIMES_MBPS:g} Mbit/s that the flows do not fill, a burst in which each loses every "
        f"{USUAL_PERIOD_S:g} s, the last half of {EPOCHS} periods.",
    )  # fmt: skip
    rows = [
        [
            name,
            *(f"{ratios[name][ratio]:.3f}" for ratio in RATIOS),
            f"{exponents[name]:.2f}",
            *_made(same_times.get(name)),
            *THEORY.get(name, ("-", "-")),
        ]
        for name in names()
    ]
    grid = Grid(
        "How throughput depends on the round-trip time",
        f"Throughput of the flow with the longer round-trip time over the other's, medians of {len(SEEDS)} runs of "
        f"{SECONDS:g} s without the first {SKIPPED_S:g} s with random starts within {JITTER_S:g} s; "
        f"{RATE_MBPS:g} Mbit/s, "
        f"{RTT_MS:g} ms, buffer a fifth of the product. The exponent x of (RTT ratio)^-x is fitted to the "
        f"measured mean "
        "round-trip times, the queue included. Last, what follows from the algorithms when all flows lose at the same "
        "times, and when each packet is lost with the same probability; those "
        "that follow the queue have none. Losses at the same "
        f"times were made: a burst of UDP every {USUAL_PERIOD_S:g} s "
        f"({', '.join(f'{n} {p:g} s' for n, p in PERIODS_S.items())}) "
        f"on {SAME_TIMES_MBPS:g} Mbit/s that the flows do not fill themselves; "
        f"exponents of the second and of the last quarter of "
        f"{EPOCHS} periods. Where the two differ there is no law: the ratio "
        f"goes on growing until a limit of the window ends it. Losses: of one flow, at most; more than the "
        f"{EPOCHS - 1} bursts would be a flow that fills the link by itself.",
        [
            "algorithm",
            *(f"{ratio} times" for ratio in RATIOS),
            "exponent",
            "made: same times",
            "losses",
            "law: same times",
            "same probability",
        ],
        rows,
    )
    return [claim, claim_together], [_figure(ratios)], [grid]


def _same_times_exponents(name: str, measured: Iterator[Result], scale: float) -> tuple[float, float, int]:
    """Fit the exponents of the second and the last quarter of the periods; with the losses of one flow, at most."""
    losses = 0
    seconds = PERIODS_S.get(name, USUAL_PERIOD_S) * EPOCHS * max(scale, 0.05)
    early: dict[float, float] = {}
    late: dict[float, float] = {}
    for ratio in RATIOS:
        run = next(measured)
        flows = [flow for flow in run.summary["flows"] if flow["algorithm"] != "udp"]
        losses = max(losses, *(flow["fast_retransmits"] + flow["timeouts"] for flow in flows))
        for points, quarter in ((early, 1), (late, 3)):
            first, second = throughputs_mbps(run, seconds * quarter / 4, seconds * (quarter + 1) / 4)
            points[float(ratio)] = second / max(first, 1e-9)
    return exponent(early), exponent(late), losses


def _made(fitted: tuple[float, float, int] | None) -> tuple[str, str]:
    if fitted is None:
        return "-", "-"
    early, late, losses = fitted
    return f"{early:.2f} to {late:.2f}", str(losses)


def _rtt_ratio(result: Result) -> float:
    first, second = (flow["rtt_mean_s"] or 0.0 for flow in result.summary["flows"])
    return second / first


@style.house()
def _figure(ratios: dict[str, dict[int, float]]) -> Illustration:
    figure, (axes,) = style.figure(height=4.4)
    for name, points in ratios.items():
        look = style.look("altcp" if name == ALWAYS else name)
        filled = "none" if name == ALWAYS else "full"
        shown = [max(value, 1e-4) for value in points.values()]
        line = ":" if name == ALWAYS else look.line
        axes.plot(list(points), shown, line, marker=look.marker, color=look.colour, fillstyle=filled, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(RATIOS, [str(ratio) for ratio in RATIOS])
    axes.minorticks_off()
    axes.set_xlabel("ratio of the empty paths' round-trip times")
    axes.set_ylabel("throughput ratio, longer over shorter")
    axes.set_title("Two flows of one algorithm, 100 Mbit/s, 40 ms and longer")
    figure.legend(loc="outside lower center", ncols=5)
    return Illustration(
        "Throughput and round-trip time", "Both axes logarithmic; a line's slope is the negative exponent.", figure
    )

"""Throughput as a function of the RTT, for every window algorithm, with more and less random losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.algorithms import algorithms
from selfclock.papers.adaptive_layered.ambiguities import COMBINATIONS
from selfclock.papers.adaptive_layered.comparison import exponent
from selfclock.papers.adaptive_layered.network import Bursts, control, scenario, sender, throughputs_mbps
from selfclock.papers.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: ALTCP with K_R always on, beside the paper's handler, which turns it off in the steady state.
ALWAYS = "altcp, K_R always on"

#: ALTCP under the readings that are not the defaults, by name. K_R as a third alone has the trap of
#: K_R always on: what is printed beside it is the first layer.
READINGS = {under.name: under for under in COMBINATIONS[1:] if under.name != "altcp-a-third"}

RATE_MBPS, RTT_MS = 100.0, 40.0
RATIOS = (2, 4)
SEEDS = range(1, 4)
SECONDS, SKIPPED_S, JITTER_S = 150.0, 50.0, 10.0

#: Algorithms compared in claims have more seeds.
COMPARED, COMPARED_SEEDS = ("reno", "ltcp", "altcp", ALWAYS, *READINGS), range(1, 11)

#: Small, so that the queue does not equalize the RTTs: a fifth of the longest path's BDP.
BUFFER = "0.2 bdp"

#: Flows with simultaneous losses: a link that they do not fill, and bursts in which each of them
#: loses. The period makes windows large enough for an algorithm's law, and small enough for the
#: link. CUBIC's curve needs seconds, and a window that grows by a hundredth per round trip recovers
#: an eighth in 13 of them.
UNFILLED_MBPS, BURST_S = 1000.0, 0.030
PERIODS_S = {"cubic": 10.0, "scalable": 1.0, "bic": 1.0, ALWAYS: 1.5}
USUAL_PERIOD_S, EPOCHS = 2.0, 40

#: Flows whose packets are lost independently with equal probability: on the same link, which they
#: do not fill. With 1e-4 TCP's mean window is 122 segments, and a loss comes every 10000 packets:
#: some 50 in the measured time on the short path.
LOSS, RANDOM_SECONDS, RANDOM_SKIPPED_S = 1e-4, 200.0, 20.0
RANDOM_SEEDS = range(1, 4)

#: A delay-based algorithm has no law here: without a queue it never meets its own limit.
DELAY_BASED = ("fast", "vegas")

#: Every segment of a window at a separate time, so that a burst hits each flow.
SPACED: dict[str, object] = {"pacing_gain": 1.2, "receive_window": "4000 segments", "initial_ssthresh": "100 segments"}


@dataclass(frozen=True)
class Measured:
    """Exponents of an algorithm."""

    #: With a tail-drop queue: throughput ratios by RTT ratio and seed, and the exponents by seed.
    ratios: dict[int, list[float]]
    queue: list[float]
    #: There, packets dropped over segments sent, by seed; mean of the RTT ratios.
    dropped: list[float]
    #: Simultaneous losses: exponents of the second and of the last quarter, and maximum number of
    #: losses of one flow.
    same_times: tuple[float, float, int] | None
    #: Independent losses, by seed.
    random: list[float] | None


def names() -> list[str]:
    """Every window algorithm, and ALTCP twice."""
    every = [algorithm.name for algorithm in algorithms() if algorithm.part == "window"]
    every.insert(every.index("altcp") + 1, ALWAYS)
    return every


def seeds(name: str) -> range:
    """Seeds of an algorithm's runs beside a queue."""
    return COMPARED_SEEDS if name in COMPARED else SEEDS


def lossy() -> list[str]:
    """Algorithms whose window follows losses."""
    return [name for name in names() if name not in DELAY_BASED]


def timed() -> list[str]:
    """Those, and the readings: all that run with losses at the same times."""
    return [*lossy(), *READINGS]


def _control(name: str) -> dict[str, object]:
    if name in READINGS:
        return READINGS[name].control
    return {"window": "altcp", "compensation": "always"} if name == ALWAYS else control(name)


def _unfilled_control(name: str) -> dict[str, object]:
    # Alone at k = 1, as in the paper's law: without a queue A-TCP finds neither congestion nor
    # competition.
    return {**_control(name), "maximum_k": 1} if name == "adaptive" else _control(name)


def _slug(name: str) -> str:
    return "altcp-always" if name == ALWAYS else name


def same_times_name(name: str, ratio: int) -> str:
    """Name of a run with simultaneous losses."""
    return f"same-times-{_slug(name)}-{ratio}"


def queue_name(name: str, ratio: int, seed: int) -> str:
    """Name of a run beside a queue."""
    return f"exponent-{_slug(name)}-{ratio}-{seed}"


def random_name(name: str, ratio: int, seed: int) -> str:
    """Name of a run with random losses."""
    return f"random-loss-{_slug(name)}-{ratio}-{seed}"


def _same_times(name: str, ratio: int, scale: float) -> Scenario:
    period = PERIODS_S.get(name, USUAL_PERIOD_S)
    return scenario(
        same_times_name(name, ratio),
        UNFILLED_MBPS,
        [sender(_unfilled_control(name), rtt) for rtt in (RTT_MS, RTT_MS * ratio)],
        seconds=period * EPOCHS * max(scale, 0.05),
        buffer="20 packets",
        transport=SPACED,
        samples_s=period / 2,
        bursts=Bursts(period, BURST_S),
    )


def _random(name: str, ratio: int, seed: int, scale: float) -> Scenario:
    return scenario(
        random_name(name, ratio, seed),
        UNFILLED_MBPS,
        [sender(_unfilled_control(name), rtt) for rtt in (RTT_MS, RTT_MS * ratio)],
        seconds=RANDOM_SECONDS * scale,
        buffer="1 bdp",
        seed=seed,
        transport=SPACED,
        samples_s=4.0 * scale,
        loss=LOSS,
    )


def _queue(name: str, ratio: int, seed: int, scale: float) -> Scenario:
    return scenario(
        queue_name(name, ratio, seed),
        RATE_MBPS,
        [sender(_control(name), rtt, jitter_s=JITTER_S * scale) for rtt in (RTT_MS, RTT_MS * ratio)],
        seconds=SECONDS * scale,
        buffer=BUFFER,
        seed=seed,
        samples_s=2.0 * scale,
        jittered=True,
    )


def at_random_scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return the runs with losses at random, which together take minutes."""
    return [_random(name, ratio, seed, scale) for name in lossy() for ratio in RATIOS for seed in RANDOM_SEEDS]


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return every other run: losses at the same times, and beside a queue; by algorithm, then ratio, then seed."""
    return [
        *(_same_times(name, ratio, scale) for name in timed() for ratio in RATIOS),
        *(
            _queue(name, ratio, seed, scale)
            for name in (*names(), *READINGS)
            for ratio in RATIOS
            for seed in seeds(name)
        ),
    ]


def random_exponents(runs: Runs, scale: float) -> dict[str, list[float]]:
    """Fit the exponents with losses at random, seed by seed."""
    return {name: _random_exponents(name, runs, scale) for name in lossy()}


def measure(runs: Runs, random: Mapping[str, list[float]], scale: float = 1.0) -> dict[str, Measured]:
    """Fit the exponents of each algorithm; those with losses at random are given."""
    same_times = {name: _same_times_exponents(name, runs, scale) for name in timed()}
    queue = {name: _queue_exponents(name, runs, scale) for name in (*names(), *READINGS)}
    return {name: Measured(*queue[name], same_times.get(name), random.get(name)) for name in queue}


def _same_times_exponents(name: str, runs: Runs, scale: float) -> tuple[float, float, int]:
    most = 0
    seconds = PERIODS_S.get(name, USUAL_PERIOD_S) * EPOCHS * max(scale, 0.05)
    early: dict[float, float] = {}
    late: dict[float, float] = {}
    for ratio in RATIOS:
        run = runs[same_times_name(name, ratio)]
        flows = [flow for flow in run.summary["flows"] if flow["algorithm"] != "udp"]
        most = max(most, *(flow["fast_retransmits"] + flow["timeouts"] for flow in flows))
        for points, quarter in ((early, 1), (late, 3)):
            points[float(ratio)] = _ratio(run, seconds * quarter / 4, seconds * (quarter + 1) / 4)
    return exponent(early), exponent(late), most


def _queue_exponents(name: str, runs: Runs, scale: float) -> tuple[dict[int, list[float]], list[float], list[float]]:
    ratios: dict[int, list[float]] = {}
    delays: dict[int, list[float]] = {}
    dropped: dict[int, list[float]] = {}
    for ratio in RATIOS:
        own = runs.each(queue_name(name, ratio, seed) for seed in seeds(name))
        ratios[ratio] = [_ratio(run, SKIPPED_S * scale, SECONDS * scale) for run in own]
        delays[ratio] = [_rtt_ratio(run, ratio) for run in own]
        dropped[ratio] = [_dropped(run) for run in own]
    fitted = [
        exponent({delays[ratio][seed]: ratios[ratio][seed] for ratio in RATIOS}) for seed in range(len(seeds(name)))
    ]
    parts = [sum(own[seed] for own in dropped.values()) / len(RATIOS) for seed in range(len(seeds(name)))]
    return ratios, fitted, parts


def _random_exponents(name: str, runs: Runs, scale: float) -> list[float]:
    begin, end = RANDOM_SKIPPED_S * scale, RANDOM_SECONDS * scale
    ratios = {
        ratio: [_ratio(runs[random_name(name, ratio, seed)], begin, end) for seed in RANDOM_SEEDS] for ratio in RATIOS
    }
    return [
        exponent({float(ratio): values[seed] for ratio, values in ratios.items()}) for seed in range(len(RANDOM_SEEDS))
    ]


def _ratio(run: Result, begin_s: float, end_s: float) -> float:
    first, second = throughputs_mbps(run, begin_s, end_s)
    return second / max(first, 1e-9)


def _dropped(result: Result) -> float:
    sent = sum(flow["sent_segments"] for flow in result.summary["flows"])
    return sum(link["drops"] for link in result.summary["links"]) / max(sent, 1)


def _rtt_ratio(result: Result, empty: float) -> float:
    """Ratio of the mean RTTs; that of the empty paths if a flow has no sample."""
    first, second = (flow["rtt_mean_s"] for flow in result.summary["flows"])
    return second / first if first and second else empty


def late(measured: Measured) -> float:
    """Exponent of the last quarter with simultaneous losses."""
    if measured.same_times is None:
        raise ValueError
    return measured.same_times[1]


def at_random(measured: Measured) -> Interval:
    """Exponent with independent losses."""
    return interval(measured.random or [])

"""The runs of figures 4 and 5: two flows of one algorithm, in two set-ups each, and their throughput ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.comparison import median
from selfclock.papers.adaptive_layered.network import ALGORITHMS, control, scenario, sender, throughputs_mbps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: Mean load of the web-like connections, as a part of the link.
CROSS_LOAD = 0.1

#: "Tests are of 10 minutes duration", and the part of them that section 5 excludes.
SECONDS, SKIPPED_S = 600.0, 180.0

#: "At least 5 test runs" (hamilton.ie/net/eval).
SEEDS = range(1, 6)
JITTER_S = 10.0

SAME_RTT, DIFFERENT_RTT = "same", "different"


#: Baselines of the claims about a figure's algorithm.
COMPARED = {SAME_RTT: ("TCP", "FAST", "Scalable"), DIFFERENT_RTT: ("TCP", "HighSpeed", "Scalable")}


@dataclass(frozen=True)
class Setting:
    """A figure's link in one of the set-ups."""

    figure: int
    #: The algorithm that the figure is about.
    own: str
    rate_mbps: float
    public: bool
    delays_ms: tuple[float, ...]
    #: The path of the cross traffic.
    cross_delay_ms: float
    #: Whether its runs together take minutes.
    long: bool

    @property
    def name(self) -> str:
        """Identifier of its figure."""
        return f"figure-{self.figure}{self.suffix}"

    @property
    def suffix(self) -> str:
        """The suffix of the names of its runs."""
        return "-public" if self.public else ""

    @property
    def readings(self) -> tuple[str, ...]:
        """Those of its claims."""
        return (ambiguities.PUBLIC_SETUP if self.public else ambiguities.OWN_SETUP,)

    @property
    def queue(self) -> str:
        """The bottleneck's queue, in BDP of the longest path."""
        return "0.2 bdp" if self.public else "1 bdp"

    @property
    def setup(self) -> str:
        """The set-up in words."""
        if self.public:
            return "public set-up of the tests that the text repeats (hamilton.ie/net/eval), buffer 0.2 BDP"
        return "first reading: delays of ours, buffer 1 BDP of the longest path (the default of section 5)"

    def algorithms(self, pair: str) -> dict[str, str]:
        """Algorithms by the paper's names: all in the public set-up, otherwise those that claims compare.

        At 250 Mbit/s, where a run takes a second and a half, pairs with two RTTs have only the
        latter.
        """
        if self.public and (pair == SAME_RTT or self.rate_mbps < 100):
            return ALGORITHMS
        compared = (*COMPARED[pair], self.own)
        return {name: algorithm for name, algorithm in ALGORITHMS.items() if name in compared}

    def kind(self, pair: str) -> str:
        """The second flow's round-trip time in words."""
        if pair == SAME_RTT:
            return "one round-trip time"
        return (
            f"the second with {self.delays_ms[-1]:g} ms" if self.public else "the second with twice the round-trip time"
        )

    def paths(self, pair: str) -> tuple[float, ...]:
        """Round-trip times of the first flow, in ms. In the public set-up the second has the longest."""
        return self.delays_ms[:-1] if self.public and pair == DIFFERENT_RTT else self.delays_ms

    def second_ms(self, pair: str, delay_ms: float) -> float:
        """Round-trip time of the second flow."""
        if pair == SAME_RTT:
            return delay_ms
        return self.delays_ms[-1] if self.public else 2 * delay_ms


PUBLIC_MS = (16.0, 22.0, 42.0, 82.0, 162.0)
SETTINGS = (
    Setting(4, "ALTCP", 250.0, public=False, delays_ms=(20.0, 60.0, 160.0), cross_delay_ms=60.0, long=True),
    Setting(4, "ALTCP", 250.0, public=True, delays_ms=PUBLIC_MS, cross_delay_ms=42.0, long=True),
    Setting(5, "A-TCP", 10.0, public=False, delays_ms=(16.0, 40.0, 80.0, 160.0), cross_delay_ms=40.0, long=False),
    Setting(5, "A-TCP", 10.0, public=True, delays_ms=PUBLIC_MS, cross_delay_ms=42.0, long=True),
)


@dataclass(frozen=True)
class Point:
    """The setting of a point of a figure."""

    pair: str
    algorithm: str
    delay_ms: float
    crossed: bool = False

    @property
    def key(self) -> str:
        """Name in files and scenarios."""
        return f"{self.pair}-{self.algorithm}-{self.delay_ms:g}" + ("-web" if self.crossed else "")


def points(setting: Setting) -> list[Point]:
    """Every point of a figure."""
    return [
        Point(pair, algorithm, delay, crossed)
        for pair in (SAME_RTT, DIFFERENT_RTT)
        for algorithm in setting.algorithms(pair).values()
        for delay in setting.paths(pair)
        for crossed in (False, True)
        if not crossed or delay == setting.cross_delay_ms
    ]


def run_name(setting: Setting, point: Point, seed: int) -> str:
    """Name of a run."""
    return f"{setting.name}-{point.key}-{seed}"


def scenarios(setting: Setting, scale: float = 1.0) -> list[Scenario]:
    """Return every run of a figure, point by point, seed by seed."""
    return [
        scenario(
            run_name(setting, point, seed),
            setting.rate_mbps,
            [
                sender(control(point.algorithm), rtt, jitter_s=JITTER_S * scale)
                for rtt in (point.delay_ms, setting.second_ms(point.pair, point.delay_ms))
            ],
            seconds=SECONDS * scale,
            buffer=setting.queue,
            seed=seed,
            cross_load=CROSS_LOAD if point.crossed else 0.0,
            samples_s=10.0 * scale,
            jittered=True,
        )
        for point in points(setting)
        for seed in SEEDS
    ]


def rates(result: Result, scale: float) -> tuple[float, float]:
    """Throughputs of the two flows, in Mbit/s."""
    first, second = throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale)
    return first, second


class Ratios:
    """Throughput ratios of a figure's runs by point and seed: second over first flow."""

    def __init__(self, setting: Setting, held: Mapping[str, Sequence[float]]) -> None:
        self.setting = setting
        self._held = held

    @classmethod
    def of(cls, setting: Setting, runs: Runs) -> Ratios:
        """Return those of the figure's runs."""
        rates = {point.key: runs.each(run_name(setting, point, seed) for seed in SEEDS) for point in points(setting)}
        held = {key: [second / max(first, 1e-9) for first, second in own] for key, own in rates.items()}
        return cls(setting, held)

    def data(self) -> dict[str, list[float]]:
        """Return the inputs of `Ratios`, to four decimals or digits."""
        return {key: [float(f"{value:.4g}") for value in values] for key, values in self._held.items()}

    def raw(self, point: Point) -> list[float]:
        """Throughput of the second flow over that of the first, seed by seed."""
        return list(self._held[point.key])

    def even(self, point: Point) -> list[float]:
        """Smaller over larger: a flow that gets twice as much is as unfair as one that gets half."""
        return [min(value, 1 / value) if value > 0 else 0.0 for value in self._held[point.key]]

    def line(self, pair: str, algorithm: str) -> list[list[float]]:
        """Evenness, path by path and seed by seed."""
        return [self.even(Point(pair, algorithm, delay)) for delay in self.setting.paths(pair)]

    def fairness(self, pair: str, algorithm: str) -> list[float]:
        """Mean over the paths, seed by seed."""
        line = self.line(pair, algorithm)
        return [sum(path[seed] for path in line) / len(line) for seed in range(len(SEEDS))]

    def spread(self, algorithm: str) -> list[float]:
        """Largest less smallest over the paths with one round-trip time, seed by seed."""
        line = self.line(SAME_RTT, algorithm)
        return [max(path[seed] for path in line) - min(path[seed] for path in line) for seed in range(len(SEEDS))]

    def medians(self, pair: str, algorithm: str) -> list[float]:
        """Medians over the seeds, path by path."""
        return [median(path) for path in self.line(pair, algorithm)]

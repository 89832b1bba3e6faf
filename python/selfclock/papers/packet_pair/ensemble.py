"""The runs of figures 8, 9, 11, 12 and 13, each fifty times with a random start, and under other settings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl

from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

#: A queue of five places without randomness is chaotic: one packet more or less changes everything after it. So a claim
#: is judged on runs that start at random times.
SEEDS = range(1, 51)

#: Far longer than any period in the system (200 ms, 500 ms).
START_JITTER_S = 1


@dataclass(frozen=True)
class Experiment:
    """One of the paper's simulations."""

    figure: int
    scenario: str
    seconds: int
    label: str
    control: str

    @property
    def is_packet_pair(self) -> bool:
        """It is not the baseline."""
        return self.control != _BASELINE


#: Reno as ns had it in 1998: it halves the window, not what is in flight, and rounds to whole segments.
_RENO = 'window = "reno", halved = "window", threshold = "whole-segments"'
_BASELINE = f"{{ {_RENO} }}"
_SENDER_ONLY = f'{{ {_RENO}, start = "packet-pair", probing = "sender-only" }}'
_BOTH_SIDES = f'{{ {_RENO}, start = "packet-pair", probing = "both-sides" }}'

EXPERIMENTS = [
    Experiment(8, "figure_07.toml", 10, "Reno", _BASELINE),
    Experiment(9, "figure_07.toml", 10, "packet-pair, sender only", _SENDER_ONLY),
    Experiment(11, "figure_10.toml", 20, "Reno", _BASELINE),
    Experiment(12, "figure_10.toml", 20, "packet-pair, sender only", _SENDER_ONLY),
    Experiment(13, "figure_10.toml", 20, "packet-pair, both sides", _BOTH_SIDES),
]

#: The figure that each figure's gain is measured against.
BASELINE = {9: 8, 12: 11, 13: 11}


@dataclass(frozen=True)
class Setting:
    """Everything that the paper does not print; overrides for all flows and for packet-pair flows alone."""

    label: str
    overrides: Sequence[str] = ()
    packet_pair: Sequence[str] = ()


#: Section 3.1 gives the new TCP a 10 ms timer "which enables more precise RTT measurement": its retransmission timer
#: counts these ticks, the baseline's those of its time.
FINE_TIMER = "transport.timer.granularity=10 ms"

HEADLINE = Setting("as in the claims")

#: A start offset only shifts a flow against the coarse clocks. A random delay of every packet (overhead_ in ns-2)
#: breaks the phase effects of the queue, too.
RANDOM_DELAY = Setting(
    "random delay of up to 10 ms on the sender's link",
    ['network.sink_access={ rate = "10 Mbps", delay = "5 ms" }', "network.access.jitter=10 ms"],
)

SETTINGS = [
    HEADLINE,
    RANDOM_DELAY,
    Setting("packets of 512 B", ["transport.mss=472 B"]),
    Setting("packets of 1460 B", ["transport.mss=1420 B"]),
    Setting("receive window 20 segments", ["transport.receive_window=20 segments"]),
    Setting("receive window 64 segments", ["transport.receive_window=64 segments"]),
    Setting("no receive window", ["transport.receive_window=unlimited"]),
    Setting("packet-pair tick 1 ms", packet_pair=["flow.0.congestion_control.tick=1 ms"]),
    Setting("interval of 0 ticks taken as 1", packet_pair=["flow.0.congestion_control.zero_ticks=one"]),
    Setting("no delayed acknowledgement", ["transport.delayed_ack=off"]),
    Setting("delayed acknowledgements on a free-running clock", ["transport.delayed_ack.clock=grid"]),
    Setting("one fast retransmit per window (RFC 6582)", ["transport.one_recovery_per_window=true"]),
    Setting("half of what is in flight at a loss (RFC 5681)", ["flow.0.congestion_control.halved=flight-size"]),
    Setting("limited transmit (RFC 3042)", ["transport.limited_transmit=true"]),
    Setting(
        "retransmission timer of packet-pair as coarse as Reno's",
        packet_pair=["transport.timer.granularity=500 ms"],
    ),
    Setting("retransmission timer of Reno as fine as packet-pair's", ["transport.timer.granularity=10 ms"]),
]


class Ensemble:
    """Segments sent in each run of each experiment, by figure; runs stand in the order of the seeds."""

    def __init__(self, setting: Setting, counts: dict[int, list[int]]) -> None:
        self.setting = setting
        self.counts = counts

    def count(self, figure: int) -> pl.Series:
        """Segments sent, run by run."""
        return pl.Series(self.counts[figure], dtype=pl.Float64)

    def gain_percent(self, figure: int, baseline: int | None = None) -> pl.Series:
        """What a run sends more than the baseline's with the same seed, which starts at the same time."""
        baseline = BASELINE[figure] if baseline is None else baseline
        return 100 * (self.count(figure) / self.count(baseline) - 1)


def scenario(experiment: Experiment, setting: Setting, *extra: str) -> Scenario:
    """Return the scenario of an experiment under a setting."""
    overrides = [f"flow.0.congestion_control={experiment.control}", *setting.overrides, *extra]
    if experiment.is_packet_pair:
        overrides += [FINE_TIMER, *setting.packet_pair]
    text = (resources.files(__package__) / experiment.scenario).read_text(encoding="utf-8")
    return Scenario.parse(text, experiment.scenario, overrides)


def segments_sent(result: Result, seconds: float) -> int:
    """Count different segments that were sent within so many seconds of the flow's first."""
    packets = pl.DataFrame(result.packet_columns("time_s", "event", "kind", "retransmission")).lazy()
    sent = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "data") & ~pl.col("retransmission"))
    in_time = sent.filter(pl.col("time_s") < pl.col("time_s").min() + seconds)
    return int(in_time.select(pl.len()).collect().item())


def scenarios() -> list[Scenario]:
    """Return every experiment under every setting, in the order of `SETTINGS`, with every seed."""
    return [
        scenario(
            experiment,
            setting,
            f"flow.0.start_jitter={START_JITTER_S} s",
            f"duration={experiment.seconds + START_JITTER_S} s",
            "record.interval=off",
        ).with_seed(seed)
        for setting in SETTINGS
        for experiment in EXPERIMENTS
        for seed in SEEDS
    ]


def segments_of_run(result: Result) -> int:
    """Count different segments that were sent within the time of the figure, in a run with a random start."""
    return segments_sent(result, result.scenario.duration_s - START_JITTER_S)


def ensembles(segments: Sequence[int]) -> list[Ensemble]:
    """Sort what was counted by setting."""
    rest = iter(segments)
    return [
        Ensemble(setting, {experiment.figure: [next(rest) for _ in SEEDS] for experiment in EXPERIMENTS})
        for setting in SETTINGS
    ]


def single_scenarios() -> list[Scenario]:
    """Return every experiment from time 0, as the paper's figures show them."""
    return [scenario(experiment, HEADLINE) for experiment in EXPERIMENTS]

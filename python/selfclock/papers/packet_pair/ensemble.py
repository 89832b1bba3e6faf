"""The runs of figures 8, 9, 11, 12 and 13 with fifty seeds each, and under other settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.packet_pair import ambiguities
from selfclock.papers.packet_pair.spread import RUNS, Spread
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.paper_runs import Runs
    from selfclock.result import Result

#: A queue of five places without randomness is chaotic: one packet more or less changes the rest of
#: the run. Claims are therefore judged on many runs.
SEEDS = range(1, RUNS + 1)

#: Much longer than any period in the system (200 ms, 500 ms).
START_JITTER_S = 1

#: The networks of figures 7 and 10.
SYMMETRIC, ASYMMETRIC = "figure_07.toml", "figure_10.toml"


@dataclass(frozen=True)
class Experiment:
    """One of the paper's simulations, or an additional one."""

    #: Number of the figure, used in the names of scenarios.
    figure: int
    scenario: str
    seconds: int
    label: str
    #: Start-up algorithm and its parameters; empty for slow start.
    start: str = ""
    #: Retransmission timer of section 3.1.
    fine_timer: bool = False
    overrides: Sequence[str] = ()

    @property
    def is_packet_pair(self) -> bool:
        """Whether this is not a baseline."""
        return "packet-pair" in self.start

    @property
    def control(self) -> str:
        """The congestion control, as a scenario writes it."""
        return f"{{ {', '.join([RENO, *([self.start] if self.start else [])])} }}"


#: Reno in the ns of 1998: it halves the window instead of the data in flight, and rounds to whole
#: segments.
RENO = 'window = "reno", halved = "window", threshold = "whole-segments"'
SENDER_ONLY = 'start = "packet-pair", probing = "sender-only"'
BOTH_SIDES = 'start = "packet-pair", probing = "both-sides"'

EXPERIMENTS = [
    Experiment(8, SYMMETRIC, 10, "Reno"),
    Experiment(9, SYMMETRIC, 10, "packet-pair, sender only", SENDER_ONLY, fine_timer=True),
    Experiment(11, ASYMMETRIC, 20, "Reno"),
    Experiment(12, ASYMMETRIC, 20, "packet-pair, sender only", SENDER_ONLY, fine_timer=True),
    Experiment(13, ASYMMETRIC, 20, "packet-pair, both sides", BOTH_SIDES, fine_timer=True),
]

#: The control of a gain: Reno with the new TCP's retransmission timer, and no packet pair.
CONTROLS = {
    8: Experiment(8, SYMMETRIC, 10, "Reno with the timer of 10 ms", fine_timer=True),
    11: Experiment(11, ASYMMETRIC, 20, "Reno with the timer of 10 ms", fine_timer=True),
}

#: The baseline figure of each figure's gain.
BASELINE = {9: 8, 12: 11, 13: 11}


@dataclass(frozen=True)
class Setting:
    """Values that the paper does not state; overrides for all flows and for packet-pair flows."""

    label: str
    #: Part of the scenario names.
    name: str
    overrides: Sequence[str] = ()
    packet_pair: Sequence[str] = ()
    #: The largest random delay of a packet on the sender's link; empty without. A tenth of the time
    #: of 1000 B on the bottleneck.
    delay: str = "1.6 ms"
    #: For runs with probing from both sides alone.
    both_sides: Sequence[str] = ()

    @property
    def randomness(self) -> str:
        """For a claim's variant, with the options of packet-pair."""
        every = f"Every packet is delayed by up to {self.delay} at random on the sender's link, and the start"
        changed = [line.removeprefix("flow.0.congestion_control.") for line in (*self.packet_pair, *self.both_sides)]
        options = f" Packet-pair: {', '.join(changed).replace('=', ' = ')}." if changed else ""
        return f"{every if self.delay else 'The start is delayed'} by up to 1 s.{options}"


#: Section 3.1 gives the new TCP a 10 ms timer "which enables more precise RTT measurement": its
#: retransmission timer counts these ticks, and the baseline's counts the ticks of TCPs of its time.
FINE_TIMER = "transport.timer.granularity=10 ms"

#: A start offset only shifts a flow against the coarse clocks. A random delay of every packet
#: (overhead_ in ns-2) also breaks the phase effects of the queue.
SINK_ACCESS = 'network.sink_access={ rate = "10 Mbps", delay = "5 ms" }'

HEADLINE = Setting("as in the claims", "random-delay")
START_ONLY = Setting("no random delay: a random start alone", "random-start", delay="")
_RANDOMNESS = {
    ambiguities.TENTH: HEADLINE,
    ambiguities.TIES: Setting("random delay of 0.1 ms", "random-delay-0.1-ms", delay="0.1 ms"),
    ambiguities.TEN_MS: Setting("random delay of 10 ms", "random-delay-10-ms", delay="10 ms"),
    ambiguities.START_ALONE: START_ONLY,
}
_PAIRS = {
    ambiguities.EVERY: ["flow.0.congestion_control.pairs_at_once=every"],
    ambiguities.BY_TIME: ["flow.0.congestion_control.unanswered_pair=two-round-trips"],
    ambiguities.BY_LOSS: ["flow.0.congestion_control.unanswered_pair=loss"],
    ambiguities.UNTIL_EMPTY: ["flow.0.congestion_control.shaped_until=empty"],
}
_THINNED = {ambiguities.ALL: ["flow.0.congestion_control.ack_ratio_of=all"]}


@dataclass(frozen=True)
class Under:
    """A combination of readings."""

    randomness: str = ambiguities.TENTH
    pairs: str = ambiguities.ONE
    unanswered: str = ambiguities.BY_ACK
    shaped: str = ambiguities.TWO_ROUND_TRIPS
    thinned: str = ambiguities.UNPAIRED

    @property
    def of_reno(self) -> tuple[str, ...]:
        """The readings that bear on a run of Reno."""
        return (self.randomness,)

    @property
    def of_sender(self) -> tuple[str, ...]:
        """Those that bear on probing by the sender."""
        return (*self.of_reno, self.pairs, self.unanswered, self.shaped)

    @property
    def of_both(self) -> tuple[str, ...]:
        """Those that bear on probing from both sides."""
        return (*self.of_sender, self.thinned)

    def of(self, figure: int) -> tuple[str, ...]:
        """Return those that bear on a figure."""
        return {8: self.of_reno, 11: self.of_reno, 13: self.of_both}.get(figure, self.of_sender)

    def is_first_for(self, readings: Sequence[str]) -> bool:
        """Return whether no other combination before this one has the same readings of those that bear on a claim."""
        return next(one for one in READ if set(readings) <= set(one.of_both)) == self

    @property
    def suffix(self) -> str:
        """Part of the names of scenarios: the readings that are not the defaults, beside the randomness."""
        changed = [name for name in self.of_both[1:] if name in _PAIRS or name in _THINNED]
        return "".join(f"-{name}" for name in changed)

    def applied(self, setting: Setting) -> Setting:
        """Return a setting under its readings of the pairs."""
        if not self.suffix:
            return setting
        pairs = [line for name in (self.pairs, self.unanswered, self.shaped) for line in _PAIRS.get(name, [])]
        return replace(
            setting,
            label=f"{setting.label}{self.suffix.replace('-', ' ')}",
            name=f"{setting.name}{self.suffix}",
            packet_pair=[*setting.packet_pair, *pairs],
            both_sides=_THINNED.get(self.thinned, []),
        )


#: Every combination that is judged: the pairs with each randomness, one change each of the others,
#: and which segments d counts also where the delay is 10 ms. Each with its setting.
READ = {
    under: under.applied(_RANDOMNESS[under.randomness])
    for under in (
        *(Under(randomness, pairs) for pairs in (ambiguities.ONE, ambiguities.EVERY) for randomness in _RANDOMNESS),
        *(Under(unanswered=rule) for rule in (ambiguities.BY_TIME, ambiguities.BY_LOSS)),
        *(Under(pairs=pairs, shaped=ambiguities.UNTIL_EMPTY) for pairs in (ambiguities.ONE, ambiguities.EVERY)),
        *(
            Under(randomness, pairs, thinned=ambiguities.ALL)
            for pairs in (ambiguities.ONE, ambiguities.EVERY)
            for randomness in (ambiguities.TENTH, ambiguities.TEN_MS)
        ),
    )
}
DEFAULT = next(iter(READ))

#: Values that no reading is about, one change each from the setting of the claims.
SENSITIVE = [
    Setting("packets of 512 B", "packets-of-512", ["transport.mss=472 B"], delay="0.8 ms"),
    Setting("packets of 1460 B", "packets-of-1460", ["transport.mss=1420 B"], delay="2.3 ms"),
    Setting("receive window 20 segments", "receive-window-20", ["transport.receive_window=20 segments"]),
    Setting("receive window 64 segments", "receive-window-64", ["transport.receive_window=64 segments"]),
    Setting("no receive window", "no-receive-window", ["transport.receive_window=unlimited"]),
    Setting("packet-pair tick 1 ms", "tick-1-ms", packet_pair=["flow.0.congestion_control.tick=1 ms"]),
    Setting(
        "interval of 0 ticks taken as 1", "zero-ticks-one", packet_pair=["flow.0.congestion_control.zero_ticks=one"]
    ),
    Setting("no delayed acknowledgement", "no-delayed-ack", ["transport.delayed_ack=off"]),
    Setting(
        "delayed acknowledgements on a free-running clock", "delayed-ack-grid", ["transport.delayed_ack.clock=grid"]
    ),
    Setting(
        "one fast retransmit per window (RFC 6582)",
        "one-recovery-per-window",
        ["transport.one_recovery_per_window=true"],
    ),
    Setting(
        "half of what is in flight at a loss (RFC 5681)",
        "halved-flight-size",
        ["flow.0.congestion_control.halved=flight-size"],
    ),
    Setting("limited transmit (RFC 3042)", "limited-transmit", ["transport.limited_transmit=true"]),
    Setting(
        "retransmission timer of packet-pair as coarse as Reno's",
        "coarse-timers",
        packet_pair=["transport.timer.granularity=500 ms"],
    ),
    Setting(
        "retransmission timer of Reno as fine as packet-pair's",
        "fine-timers",
        ["transport.timer.granularity=10 ms"],
    ),
]


class Ensemble:
    """Segments sent in each run of each experiment, by figure, in the order of the seeds."""

    def __init__(self, setting: Setting, counts: dict[int, list[int]]) -> None:
        self.setting = setting
        self.counts = counts

    def count(self, figure: int) -> Spread:
        """Segments sent."""
        return Spread.of(self.counts[figure])

    def gain_percent(self, figure: int, baseline: int | None = None) -> Spread:
        """Excess of a run over the baseline with the same seed, which starts at the same time."""
        return gain_percent(self.counts[figure], self.counts[BASELINE[figure] if baseline is None else baseline])


def gain_percent(counts: Sequence[int], baseline: Sequence[int]) -> Spread:
    """Return the gain of each run over the other with the same seed, percent."""
    return Spread.of(100 * (count / other - 1) for count, other in zip(counts, baseline, strict=True))


def scenario(experiment: Experiment, setting: Setting, *extra: str) -> Scenario:
    """Return the scenario of an experiment under a setting, with no randomness other than the setting's."""
    overrides = [
        f"name={scenario_name(experiment, setting)}",
        f"flow.0.congestion_control={experiment.control}",
        *experiment.overrides,
        *((SINK_ACCESS, f"network.access.jitter={setting.delay}") if setting.delay else ()),
        *setting.overrides,
    ]
    if experiment.fine_timer:
        overrides.append(FINE_TIMER)
    if experiment.is_packet_pair:
        overrides += setting.packet_pair
    if "both-sides" in experiment.start:
        overrides += setting.both_sides
    text = (resources.files(__package__) / experiment.scenario).read_text(encoding="utf-8")
    return Scenario.parse(text, experiment.scenario, [*overrides, *extra])


def scenario_name(experiment: Experiment, setting: Setting) -> str:
    """Return the name of an experiment's runs under a setting."""
    return f"figure-{experiment.figure}-{setting.name}"


def names(setting: Setting, *figures: int) -> tuple[str, ...]:
    """Return the names of the scenarios of figures under a setting."""
    by_figure = {experiment.figure: experiment for experiment in EXPERIMENTS}
    return tuple(scenario_name(by_figure[figure], setting) for figure in figures)


def with_seeds(scenario_of_run: Scenario, *, interval: str = "off", seeds: Sequence[int] = SEEDS) -> list[Scenario]:
    """Return an experiment's scenario with every seed and a random start, and series sampled at this interval."""
    duration = scenario_of_run.duration_s + START_JITTER_S
    overrides = [f"flow.0.start_jitter={START_JITTER_S} s", f"duration={duration:g} s", f"record.interval={interval}"]
    random = scenario_of_run.with_overrides(overrides)
    return [random.with_seed(seed) for seed in seeds]


@dataclass(frozen=True)
class Run:
    """Measurements of a run over time, in seconds from the flow's first segment."""

    #: Times of first transmissions.
    sent: list[float]
    #: Times of all transmissions.
    transmissions: list[float] = field(repr=False)
    #: Times of drops.
    drops: list[float]
    #: Duration shown in the figure.
    seconds: float


def _new_segments(result: Result) -> pl.Series:
    packets = pl.DataFrame(result.packet_columns("time_s", "event", "kind", "retransmission")).lazy()
    sent = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "data") & ~pl.col("retransmission"))
    return sent.select("time_s").collect()["time_s"]


def segments_sent(result: Result, seconds: float) -> int:
    """Count the distinct segments sent within this many seconds of the flow's first."""
    times = _new_segments(result)
    return int((times < times[0] + seconds).sum())


def segments_of_run(result: Result) -> int:
    """Count the distinct segments sent within the duration of the figure, in a run with a random start."""
    return segments_sent(result, result.scenario.duration_s - START_JITTER_S)


def course_of_run(result: Result) -> Run:
    """Return the times of transmissions and drops within the duration of the figure, in a run with a random start."""
    seconds = result.scenario.duration_s - START_JITTER_S
    packets = pl.DataFrame(result.packet_columns("time_s", "event", "kind", "retransmission")).filter(
        pl.col("kind") == "data"
    )
    sent = packets.filter(pl.col("event") == "send")
    first = float(sent["time_s"][0])
    in_time = pl.col("time_s") < first + seconds

    def times(frame: pl.DataFrame) -> list[float]:
        return (frame.filter(in_time)["time_s"] - first).to_list()

    return Run(
        sent=times(sent.filter(~pl.col("retransmission"))),
        transmissions=times(sent),
        drops=times(packets.filter(pl.col("event") == "drop")),
        seconds=seconds,
    )


def course_scenarios() -> list[Scenario]:
    """Return every experiment under every reading, with every seed."""
    return [
        run
        for setting in READ.values()
        for experiment in EXPERIMENTS
        for run in with_seeds(scenario(experiment, setting))
    ]


def courses(runs: Runs, reading: Under) -> dict[int, list[Run]]:
    """Return the runs of `course_scenarios` under a reading by figure."""
    return {experiment.figure: runs.seeds(scenario_name(experiment, READ[reading])) for experiment in EXPERIMENTS}


def _control_setting(reading: Under) -> Setting:
    return replace(READ[reading], name=f"same-timer-{READ[reading].name}")


def control_scenarios() -> list[Scenario]:
    """Return the controls under every reading, with every seed."""
    return [
        run
        for reading in READ
        for experiment in CONTROLS.values()
        for run in with_seeds(scenario(experiment, _control_setting(reading)))
    ]


def control_names(reading: Under, figure: int) -> tuple[str, ...]:
    """Return the name of a control's scenario."""
    return (scenario_name(CONTROLS[figure], _control_setting(reading)),)


def controls(runs: Runs, reading: Under) -> dict[int, list[int]]:
    """Return the counts of `control_scenarios` under a reading by figure."""
    return {figure: runs.seeds(*control_names(reading, figure)) for figure in CONTROLS}


def scenarios() -> list[Scenario]:
    """Return every experiment under every setting that is no reading, with every seed."""
    return [
        run for setting in SENSITIVE for experiment in EXPERIMENTS for run in with_seeds(scenario(experiment, setting))
    ]


def of_reading(runs: Runs, reading: Under) -> Ensemble:
    """Return the counts under a reading."""
    own = courses(runs, reading)
    return Ensemble(READ[reading], {figure: [len(run.sent) for run in each] for figure, each in own.items()})


def ensembles(runs: Runs) -> dict[str, Ensemble]:
    """Return the counts by the name of the setting; the readings come first."""
    sensitive = [
        Ensemble(
            setting, {experiment.figure: runs.seeds(scenario_name(experiment, setting)) for experiment in EXPERIMENTS}
        )
        for setting in SENSITIVE
    ]
    return {one.setting.name: one for one in (*(of_reading(runs, reading) for reading in READ), *sensitive)}


#: The runs that the paper's figures show: from time 0, without randomness.
FROM_TIME_0 = Setting("from time 0", "from-time-0", delay="")


def from_time_0(under: Under = DEFAULT) -> Setting:
    """Return their setting under a reading of the pairs."""
    return under.applied(FROM_TIME_0)


def singles(runs: Runs, under: Under) -> dict[int, Result]:
    """Return the runs of `single_scenarios` by figure."""
    return {experiment.figure: runs[scenario_name(experiment, from_time_0(under))] for experiment in EXPERIMENTS}


def single_scenarios(under: Under = DEFAULT) -> list[Scenario]:
    """Return every experiment from time 0, as the paper's figures show them."""
    return [scenario(experiment, from_time_0(under)) for experiment in EXPERIMENTS]

"""Figure 5: the event sequence of the modified slow start."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock.claims import within
from selfclock.papers.declared import Ran
from selfclock.papers.packet_pair import ambiguities, variants
from selfclock.papers.packet_pair.declared import CLAIMS
from selfclock.scenario import Scenario
from selfclock.series import packet_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result

#: Of the scenario.
NAME = "packet-pair-figure-05"

#: The paper's clock ticks every 10 ms, and the printed times are whole ticks, so an event may be
#: one tick away.
TOLERANCE_S = 0.010

#: Printed in "msec", but these are seconds.
PAIRS_S = (0.300, 0.540, 0.780)
SHAPED_S = (0.580, 0.820, 0.860, 0.900)
DELAYED_ACKS_S = (0.200, 0.800)

#: Options as recorded: padding (kind 1), then kind 6, length, type, pair-id; in a reply also the
#: interval.
_MARK = r"^(?:01)*060401|^(?:01)*060402"
_PAIR_2 = r"^(?:01)*060402"
_REPLY = r"^(?:01|0604....)*060603..(....)"


@dataclass(frozen=True)
class Events:
    """Times of the events in figure 5."""

    packets: pl.DataFrame
    #: Times at which both segments of a pair were sent.
    pairs: list[float]
    #: Transmission times of segments outside pairs, after the first.
    shaped: list[float]
    #: Times of ACKs sent by the delayed-ACK timer.
    delayed_acks: list[float]
    #: Every interval that the receiver reported, ticks.
    intervals: list[int]


#: Readings of the pairs, growth and propagation: the default, and each of the others alone.
Readings = tuple[str, str, str]
READ: dict[Readings, tuple[str, ...]] = {
    (ambiguities.ONE, ambiguities.PER_ACK, ambiguities.WITH_TRANSMISSION): (),
    (ambiguities.EVERY, ambiguities.PER_ACK, ambiguities.WITH_TRANSMISSION): (
        'flow.0.congestion_control={ start = "packet-pair", pairs_at_once = "every" }',
    ),
    (ambiguities.ONE, ambiguities.ACKNOWLEDGED, ambiguities.WITH_TRANSMISSION): ("transport.byte_counting=true",),
    (ambiguities.ONE, ambiguities.PER_ACK, ambiguities.PROPAGATION_ALONE): (
        "network.link.0.delay=100 ms",
        "network.link.1.delay=100 ms",
    ),
}


def scenarios() -> list[Scenario]:
    """Return its scenario under each of `READ`."""
    text = (resources.files(__package__) / "figure_05.toml").read_text(encoding="utf-8")
    return [
        Scenario.parse(text, "figure_05.toml", [*overrides, f"name={_name(readings)}"])
        for readings, overrides in READ.items()
    ]


def _name(readings: Readings) -> str:
    changed = [reading for reading, usual in zip(readings, next(iter(READ)), strict=True) if reading != usual]
    return "-".join([NAME, *changed])


def events(result: Result) -> Events:
    """Find the events in the packet record."""
    packets = packet_record(result).with_columns(
        pl.col("option").fill_null(""),
        interval=pl.col("option").str.extract(_REPLY).str.to_integer(base=16),
    )
    sent = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "data"))
    seconds = sent.filter(pl.col("option").str.contains(_PAIR_2))
    single = sent.filter(~pl.col("option").str.contains(_MARK))
    acks = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "ack"))
    arrivals = packets.filter((pl.col("event") == "deliver") & (pl.col("kind") == "data"))["time_s"].to_list()
    return Events(
        packets,
        pairs=seconds["time_s"].to_list(),
        shaped=single["time_s"].to_list()[1:],
        # An ACK that leaves when no segment arrives is the timer's.
        delayed_acks=[time for time in acks["time_s"].to_list() if time not in arrivals],
        intervals=acks["interval"].drop_nulls().to_list(),
    )


def default(runs: Runs) -> Events:
    """Return the events under the default readings."""
    events: Events = runs[NAME]
    return events


def claims(readings: Readings, runs: Runs) -> list[Claim]:
    """Return one claim per printed event, under readings of the pairs, growth and propagation."""
    found: Events = runs[_name(readings)]
    ran = Ran("; ".join([variants.LADDER, *READ[readings]]), (_name(readings),), readings)
    sent = sorted([*found.pairs, *found.shaped])
    agreeing = [time for time in SHAPED_S if _agrees(time, found.shaped)]
    return [
        *(CLAIMS(f"figure-5-pair-{time:.3f}", ran, **_event(time, found.pairs)) for time in PAIRS_S),
        *(CLAIMS(f"figure-5-shaped-{time:.3f}", ran, **_segment(time, sent, found)) for time in SHAPED_S),
        CLAIMS("figure-5-bucket", ran, agreeing=agreeing, count=len(agreeing)),
        *(CLAIMS(f"figure-5-ack-{time:.3f}", ran, **_event(time, found.delayed_acks)) for time in DELAYED_ACKS_S),
        CLAIMS(
            "figure-5-timer-value",
            ran,
            first=next(iter(found.intervals), None),
            reports=found.intervals or "(none)",
        ),
    ]


def _event(printed: float, times: Sequence[float]) -> dict[str, Any]:
    """The nearest event to a printed time."""
    nearest = min(times, key=lambda time: abs(time - printed), default=None)
    return {"nearest": nearest, "shaped": False, "paired": False, "missing": False}


def _segment(printed: float, sent: Sequence[float], found: Events) -> dict[str, Any]:
    """The nearest segment to a printed time, and how it leaves."""
    shaped, paired = (_agrees(printed, times) for times in (found.shaped, found.pairs))
    return {
        **_event(printed, sent),
        "shaped": shaped,
        "paired": paired and not shaped,
        "missing": not shaped and not paired,
    }


def _agrees(printed: float, times: Sequence[float]) -> bool:
    return any(within(time, printed, TOLERANCE_S) for time in times)

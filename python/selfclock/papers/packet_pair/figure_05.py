"""Figure 5: the event sequence of the modified slow start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl

from selfclock.claims import Claim, Verdict, within
from selfclock.papers.packet_pair import ambiguities, variants
from selfclock.papers.packet_pair.claims import PAPER
from selfclock.scenario import Scenario
from selfclock.series import packet_record

if TYPE_CHECKING:
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
TIMER_VALUE = 4

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


def claims(readings: Readings, found: Events) -> list[Claim]:
    """Return one claim per printed event, under readings of the pairs, growth and propagation."""
    changed = "; ".join([variants.LADDER, *READ[readings]])
    return [
        replace(claim, readings=readings, scenarios=(_name(readings),), variant=changed) for claim in _claims(found)
    ]


def _claims(found: Events) -> list[Claim]:
    sent = sorted([*found.pairs, *found.shaped])
    return [
        *(_event(f"figure-5-pair-{time:.3f}", "a pair is sent", time, found.pairs) for time in PAIRS_S),
        *(_event(f"figure-5-shaped-{time:.3f}", "a segment is sent", time, sent, _sent_by(found, time))
          for time in SHAPED_S),
        _bucket(found),
        *(_event(f"figure-5-ack-{time:.3f}", "the delayed-acknowledgement timer sends an acknowledgement", time,
                 found.delayed_acks) for time in DELAYED_ACKS_S),
        _timer_value(found),
    ]  # fmt: skip


def _sent_by(found: Events, printed: float) -> str:
    """How the segment nearest to a printed time leaves."""
    if _agrees(printed, _nearest(printed, found.shaped)):
        return "It leaves by the leaky bucket."
    if _agrees(printed, _nearest(printed, found.pairs)):
        return "It leaves as one of a pair, not by the leaky bucket."
    return "The window has no room then: with one segment for each acknowledgement it has one segment less."


_TOLERANCE = f"Our criterion: within {TOLERANCE_S * 1e3:g} ms, one tick of the paper's clock; otherwise not reproduced."


def _nearest(printed: float, times: list[float]) -> float | None:
    return min(times, key=lambda time: abs(time - printed), default=None)


def _agrees(printed: float, nearest: float | None) -> bool:
    return nearest is not None and within(nearest, printed, TOLERANCE_S)


def _event(claim: str, what: str, printed: float, times: list[float], note: str = "") -> Claim:
    nearest = _nearest(printed, times)
    return Claim(
        PAPER,
        claim,
        "section 4.2.1, figure 5",
        says=f"at {printed:.3f} s {what}",
        printed=printed,
        measured=None if nearest is None else round(nearest, 4),
        verdict="reproduced" if _agrees(printed, nearest) else "not reproduced",
        note=f"The nearest such event. {note}".rstrip(),
        unit="s",
        of="paper",
        criterion=_TOLERANCE,
        variant=variants.LADDER,
        figure="figure-5",
        scenarios=(NAME,),
    )


def _bucket(found: Events) -> Claim:
    agreeing = [time for time in SHAPED_S if _agrees(time, _nearest(time, found.shaped))]
    verdicts: dict[bool, Verdict] = {True: "direction", False: "not reproduced"}
    return Claim(
        PAPER,
        "figure-5-bucket",
        "section 4.2.1, figure 5",
        says="the leaky bucket sends the segments of 0.580, 0.820, 0.860 and 0.900 s",
        printed=", ".join(f"{time:.3f}" for time in SHAPED_S),
        measured=", ".join(f"{time:.3f}" for time in agreeing) or "none",
        verdict="reproduced" if len(agreeing) == len(SHAPED_S) else verdicts[2 * len(agreeing) >= len(SHAPED_S)],
        note="The printed times at which a segment leaves that is not one of a pair.",
        of="paper",
        criterion=f"{_TOLERANCE.partition(';')[0]}, all four; direction if half of them.",
        variant=variants.LADDER,
        figure="figure-5",
        scenarios=(NAME,),
    )


def _timer_value(found: Events) -> Claim:
    measured = found.intervals[0] if found.intervals else None
    return Claim(
        PAPER,
        "figure-5-timer-value",
        "section 4.2.1, figure 5",
        says=f"the receiver reports an interval of {TIMER_VALUE} ticks",
        printed=TIMER_VALUE,
        measured=measured,
        verdict="reproduced" if measured == TIMER_VALUE else "not reproduced",
        note=f"The first of the reports {', '.join(map(str, found.intervals)) or '(none)'}.",
        unit="ticks",
        of="paper",
        criterion="Our criterion: the same number.",
        variant=variants.LADDER,
        figure="figure-5",
        scenarios=(NAME,),
    )

"""Figure 5: the event sequence of the modified slow start."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl

from selfclock.reproduce import Claim, within
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from selfclock.result import Result

PAPER = "packet-pair"

#: The paper's clock ticks every 10 ms, and the printed times are whole ticks: an event can be a tick away.
TOLERANCE_S = 0.010

#: Printed in "msec"; they are seconds.
PAIRS_S = (0.300, 0.540, 0.780)
SHAPED_S = (0.580, 0.820, 0.860, 0.900)
DELAYED_ACKS_S = (0.200, 0.800)
TIMER_VALUE = 4

#: Options as recorded: padding (kind 1), then kind 6, length, type, pair-id; in a reply also the interval.
_MARK = r"^(?:01)*060401|^(?:01)*060402"
_PAIR_2 = r"^(?:01)*060402"
_REPLY = r"^(?:01|0604....)*060603..(....)"


@dataclass(frozen=True)
class Events:
    """When the things of figure 5 happened."""

    packets: pl.DataFrame
    #: Times at which both segments of a pair left.
    pairs: list[float]
    #: Times at which a segment left that is not of a pair, after the first.
    shaped: list[float]
    #: Times at which the receiver acknowledged what waited for its timer.
    delayed_acks: list[float]
    #: Every interval that the receiver reported, ticks.
    intervals: list[int]


def scenario() -> Scenario:
    """Return its scenario."""
    text = (resources.files(__package__) / "figure_05.toml").read_text(encoding="utf-8")
    return Scenario.parse(text, "figure_05.toml")


def events(result: Result) -> Events:
    """Find the events in the packet record."""
    packets = pl.DataFrame(result.packets).with_columns(
        pl.col("event", "kind").cast(pl.String),
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
        # An acknowledgement that leaves when nothing arrives is the timer's.
        delayed_acks=[time for time in acks["time_s"].to_list() if time not in arrivals],
        intervals=acks["interval"].drop_nulls().to_list(),
    )


def claims(found: Events) -> list[Claim]:
    """Return one claim per printed event."""
    return [
        *(_event(f"figure-5-pair-{time:.3f}", "a pair is sent", time, found.pairs) for time in PAIRS_S),
        *(_event(f"figure-5-shaped-{time:.3f}", "the leaky bucket sends a segment", time, found.shaped, note)
          for time, note in zip(SHAPED_S, _SHAPED_NOTES, strict=True)),
        *(_event(f"figure-5-ack-{time:.3f}", "the delayed-acknowledgement timer sends an acknowledgement", time,
                 found.delayed_acks) for time in DELAYED_ACKS_S),
        _timer_value(found),
    ]  # fmt: skip


_SHAPED_NOTES = (
    "",
    "",
    "It takes one segment of window more than one per acknowledgement gives.",
    "The delayed acknowledgement of 0.800 s opens the window by two, and two segments leave as a pair.",
)


def _event(claim: str, what: str, printed: float, times: list[float], note: str = "") -> Claim:
    nearest = min(times, key=lambda time: abs(time - printed), default=None)
    agrees = nearest is not None and within(nearest, printed, TOLERANCE_S)
    return Claim(
        PAPER,
        claim,
        "section 4.2.1, figure 5",
        f"at {printed:.3f} s {what}",
        printed,
        None if nearest is None else round(nearest, 4),
        "reproduced" if agrees else "not reproduced",
        f"The nearest such event, if 100 ms each way include a transmission, as the printed times imply. "
        f"Tolerance {TOLERANCE_S * 1e3:g} ms, one tick. {note}".rstrip(),
        "s",
    )


def _timer_value(found: Events) -> Claim:
    measured = found.intervals[0] if found.intervals else None
    return Claim(
        PAPER,
        "figure-5-timer-value",
        "section 4.2.1, figure 5",
        f"the receiver reports an interval of {TIMER_VALUE} ticks",
        TIMER_VALUE,
        measured,
        "reproduced" if measured == TIMER_VALUE else "not reproduced",
        f"The first of the reports {', '.join(map(str, found.intervals)) or '(none)'}. No tolerance.",
        "ticks",
    )

"""Figure 6: pairs on both sides, t1 and t2, and the ratio d computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from selfclock.papers.declared import Ran
from selfclock.papers.packet_pair import variants
from selfclock.papers.packet_pair.declared import CLAIMS
from selfclock.papers.packet_pair.ensemble import (
    ASYMMETRIC,
    BOTH_SIDES,
    FROM_TIME_0,
    SEEDS,
    Experiment,
    Setting,
    scenario,
    scenario_name,
    with_seeds,
)
from selfclock.series import all_flows, packet_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: "Acknowledgement packet is transmitted every three or four packet arrival."
PRINTED_RATIO = (3, 4)

#: Time of a segment of 1004 B at 500 kbit/s, and of an ACK of 52 B, with both options, at 4.8
#: kbit/s, s.
SEGMENT_S, ACK_S = 1004 * 8 / 500e3, 52 * 8 / 4.8e3
TICK_S = 0.01

#: Runs of one minute, because in 20 s hardly any run reaches congestion avoidance, where segments
#: are not in pairs.
LONG_SECONDS = 60
LONG_SEEDS = SEEDS[:10]

#: Options as recorded: padding (kind 1), then kind 6, length, type, pair-id; in a reply also the
#: interval.
_MARK = r"^(?:01)*0604(0[12])(..)"
_REPLY = r"^(?:0604....)?(?:01)*060603(..)(....)"

#: Congestion avoidance, as named in the series.
_AVOIDANCE = "congestion avoidance"


@dataclass(frozen=True)
class Ladder:
    """Contents of figure 6, for one run."""

    #: All packets sent: time_s, arrival, kind, mark (1, 2 or null), id, reply_id, ticks, sequence,
    #: acknowledgement.
    packets: pl.DataFrame
    #: The number of pairs that arrived complete, and of those answered as in figure 6.
    pairs: int
    answered: int
    #: Every reported t1 and t2, ticks.
    forward: list[int]
    reverse: list[int]


def long_experiment() -> Experiment:
    """The experiment of figure 13, for one minute."""
    return Experiment(6, ASYMMETRIC, LONG_SECONDS, "packet-pair, both sides", BOTH_SIDES, fine_timer=True)


_LONG = Setting("", "one-minute")
_LONG_NAME = scenario_name(long_experiment(), _LONG)


def long_scenarios() -> list[Scenario]:
    """Return the runs in which segments per ACK are counted."""
    one = scenario(long_experiment(), _LONG, f"duration={LONG_SECONDS} s")
    return with_seeds(one, interval="10 ms", seeds=LONG_SEEDS)


def ladder(result: Result) -> Ladder:
    """Read the options of a run from time 0."""
    packets = packet_record(result).with_columns(pl.col("option").fill_null(""))
    option = pl.col("option").str
    sent = packets.filter((pl.col("event") == "send") & pl.col("kind").is_in(["data", "ack"])).select(
        "packet",
        "time_s",
        "kind",
        "sequence",
        "acknowledgement",
        mark=option.extract(_MARK, 1).str.to_integer(base=16, strict=False),
        id=option.extract(_MARK, 2).str.to_integer(base=16, strict=False),
        reply_id=option.extract(_REPLY, 1).str.to_integer(base=16, strict=False),
        ticks=option.extract(_REPLY, 2).str.to_integer(base=16, strict=False),
    )
    arrived = packets.filter(pl.col("event") == "deliver").select("packet", arrival="time_s")
    sent = sent.join(arrived, on="packet", how="left").sort("time_s", "packet")
    data, acks = sent.filter(pl.col("kind") == "data"), sent.filter(pl.col("kind") == "ack")
    arrivals = data.filter(pl.col("arrival").is_not_null() & pl.col("mark").is_not_null())
    # Pair-ids wrap around after 256 pairs, so a pair is identified by its id and the order in which
    # its second segment arrived.
    seconds = arrivals.filter(pl.col("mark") == 2).select("id", second="arrival")
    firsts = arrivals.filter(pl.col("mark") == 1).select("id", first="arrival")
    whole = seconds.sort("second").join_asof(
        firsts.sort("first"), left_on="second", right_on="first", by="id", tolerance=2.0, check_sortedness=False
    )
    whole = whole.drop_nulls()
    answer_1 = acks.filter((pl.col("mark") == 1) & pl.col("reply_id").is_null()).select("id", first="time_s")
    answer_2 = acks.filter((pl.col("mark") == 2) & (pl.col("reply_id") == pl.col("id"))).select("id", second="time_s")
    answered = whole.join(answer_1, on=["id", "first"]).join(answer_2, on=["id", "second"])
    return Ladder(
        sent,
        pairs=whole.height,
        answered=answered.height,
        forward=acks["ticks"].drop_nulls().to_list(),
        reverse=data["ticks"].drop_nulls().to_list(),
    )


def coverage(result: Result) -> list[int]:
    """Return how many segments are covered by each ACK sent while the sender is in congestion avoidance."""
    packets = packet_record(result)
    segment = packets["payload_bytes"].max()
    acks = packets.filter((pl.col("event") == "send") & (pl.col("kind") == "ack")).select(
        "time_s", segments=pl.col("acknowledgement").cum_max().diff().fill_null(0) // pl.lit(segment)
    )
    phases = all_flows(result).select("time_s", "phase")
    known = acks.sort("time_s").join_asof(phases.sort("time_s"), on="time_s")
    avoiding = known.filter((pl.col("phase") == _AVOIDANCE) & (pl.col("segments") > 0))
    return avoiding["segments"].to_list()


def claims(found: Ladder, runs: Runs) -> list[Claim]:
    """Return the claims of figure 6 and the text below it."""
    return [_sequence(found), _intervals(found), _ratio(runs.seeds(_LONG_NAME))]


def _single_name() -> tuple[str, ...]:
    return (f"figure-13-{FROM_TIME_0.name}",)


def _sequence(found: Ladder) -> Claim:
    return CLAIMS(
        "figure-6-sequence",
        Ran(_variant_from_0(), _single_name()),
        found=found,
    )


def _variant_from_0() -> str:
    return variants.BOTH_SIDES.replace(
        "Every packet is delayed by up to 10 ms at random on the sender's link, and the start by up to 1 s.",
        "From time 0, no randomness.",
    )


def _share_near(ticks: Sequence[int], seconds: float) -> float:
    return sum(abs(tick * TICK_S - seconds) <= TICK_S for tick in ticks) / max(len(ticks), 1)


def _intervals(found: Ladder) -> Claim:
    forward, reverse = _share_near(found.forward, SEGMENT_S), _share_near(found.reverse, ACK_S)
    tell = f"t1 {_counted(found.forward)}; t2 {_counted(found.reverse)}"
    return CLAIMS(
        "figure-6-intervals",
        Ran(_variant_from_0(), _single_name()),
        forward=forward,
        reverse=reverse,
        tell=tell,
        reverse_count=len(found.reverse),
        forward_count=len(found.forward),
    )


def _counted(ticks: Sequence[int]) -> str:
    counts = {tick: list(ticks).count(tick) for tick in sorted(set(ticks))}
    return ", ".join(f"{tick} ({count} times)" for tick, count in counts.items())


def _ratio(covered: Sequence[Sequence[int]]) -> Claim:
    every = [segments for run in covered for segments in run]
    share = sum(segments in PRINTED_RATIO for segments in every) / max(len(every), 1)
    return CLAIMS(
        "figure-6-ratio",
        Ran(f"{variants.BOTH_SIDES} {LONG_SECONDS} s.", (_LONG_NAME,)),
        share=share,
        acks=len(every),
        count=len(covered),
        cover=_counted(every),
    )

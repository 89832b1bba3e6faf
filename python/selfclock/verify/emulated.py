"""The record of an emulation: real packets must have been treated as the simulator treats the same arrivals.

Real hosts follow no rules of a scenario, so senders and receivers are not checked. Every arrival is
sent through the simulator's links, queues and routers again, and every event must match the record.
Further rules need no engine.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import _core
from selfclock.verify.capacity import LEAVES, excess
from selfclock.verify.record import UnreadableError, picoseconds
from selfclock.verify.specification import SECOND, UnknownError, specification

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selfclock.verify.record import Record
    from selfclock.verify.violation import Findings

#: Times in the record are floating-point seconds: two equal ones differ by less than this, s.
ROUNDING_S = 2e-12


def check_emulated(
    record: Record, packets: Path, findings: Findings, progress: Callable[[float, str], object] = lambda *_: None
) -> None:
    """Check the record of an emulation by the rules in this file."""
    check_ends(record.packets, findings)
    check_rates(record, findings)
    check_counts(record, findings)
    try:
        scenario = _core.Scenario.parse(record.scenario, "scenario").with_seed(record.seed)
        sent, dropped, marked, differences = _core.replay(
            scenario, json.dumps(record.summary), packets, lambda done: progress(0.2 + 0.8 * done, "replay")
        )
    except (_core.EmulationError, ValueError) as error:
        raise UnreadableError(str(error)) from error
    findings.count("replay", sent + dropped + marked)
    for time_s, what in differences:
        findings.add("replay", round(time_s * SECOND), "network", None, what)


def check_ends(packets: pl.DataFrame, findings: Findings) -> None:
    """Check that a packet is sent once and first, ends once, and has no events afterwards."""
    findings.count("clock", packets.height)
    if not packets["time_s"].is_sorted():
        findings.add("clock", None, "record", None, "events are not in the order of time")
    event = pl.col("event").cast(pl.String)
    ends = event.is_in(["deliver", "drop", "lose"])
    lives = packets.lazy().group_by("packet").agg(
        (event == "send").sum().alias("sent"),
        event.first().alias("first"),
        ends.sum().alias("ends"),
        ends.last().alias("last_ends"),
        pl.col("time_s").first(),
    ).collect()  # fmt: skip
    for rule, wrong, what in (
        ("sent-once", (pl.col("sent") != 1) | (pl.col("first") != "send"), "is not sent once, before all else"),
        ("one-end", pl.col("ends") > 1, "ends more than once"),
        ("one-end", (pl.col("ends") == 1) & ~pl.col("last_ends"), "goes on after its end"),
    ):
        findings.count(rule, lives.height)
        for number, time_s in lives.filter(wrong).select("packet", "time_s").rows():
            findings.add(rule, round(time_s * SECOND), "record", number, what)


def check_rates(record: Record, findings: Findings) -> None:
    """Check that no link exceeds its rate."""
    try:
        links = specification(record.scenario, record.seed).links.values()
    except UnknownError as error:
        raise UnreadableError(str(error)) from error
    event, size = pl.col("event").cast(pl.String), pl.col("size_bytes").cast(pl.Float64)
    for link in links:
        if link.trace is not None:
            continue
        own = record.packets.filter((event == "transmit") & (pl.col("link").cast(pl.String) == link.name))
        if len(link.path) > 1:
            findings.count("rate", own.height)
            times = picoseconds(own["time_s"])
            for place, left in excess(link.path, zip(times, own["size_bytes"], strict=True)):
                findings.add("rate", times[place], f"link {link.name}", own["packet"][place], LEAVES.format(left))
            continue
        busy = own.select(
            "packet", "time_s", (pl.col("time_s").diff().shift(-1) - size * 8 / link.path[0][1]).alias("gap")
        )  # fmt: skip
        findings.count("rate", busy.height)
        for number, time_s, gap in busy.filter(pl.col("gap") < -ROUNDING_S).rows():
            findings.add(
                "rate", round(time_s * SECOND), f"link {link.name}", number,
                f"the next packet follows {-gap * 1e6:.3f} us before this one has left",
            )  # fmt: skip


def check_counts(record: Record, findings: Findings) -> None:
    """Check the drops and marks of the summary against those of the record."""
    event = pl.col("event").cast(pl.String)
    counts = record.packets.group_by(pl.col("link").cast(pl.String)).agg(
        event.is_in(["drop", "lose"]).sum().alias("drops"), (event == "mark").sum().alias("ce_marks")
    )
    found: dict[str, dict[str, Any]] = {row["link"]: row for row in counts.rows(named=True)}
    for link in (record.summary or {}).get("links", []):
        for what in ("drops", "ce_marks"):
            findings.count("summary")
            in_record = found.get(link["name"], {}).get(what, 0)
            if in_record != link[what]:
                findings.add(
                    "summary", None, f"link {link['name']}", None,
                    f"{what} are {link[what]:,} in the summary, and {in_record:,} in the record",
                )  # fmt: skip

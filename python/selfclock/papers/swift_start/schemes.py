"""Figures 1 and 7: the network, and the receiver of the modified Swift Start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.diagram import Arrow, Box
from selfclock.papers.drawing import chart_of, network_of
from selfclock.papers.swift_start.runs import RUNS

if TYPE_CHECKING:
    from selfclock.page_parts import Scheme

_LEFT, _RIGHT = 105.0, 272.0


def schemes() -> list[Scheme]:
    """Draw them."""
    run = next(run for run in RUNS if run.figure == "2")
    boxes = {
        "segment": Box(_LEFT, 16, "a segment arrives", kind="end"),
        "first": Box(_LEFT, 88, "first of a pair?", kind="choice"),
        "record": Box(_RIGHT, 88, "record its sequence number and time", width=140),
        "second": Box(_LEFT, 180, "second of the recorded one?", kind="choice"),
        "interval": Box(_RIGHT, 180, "Δt = time since the first", width=140),
        "timer": Box(_LEFT, 282, "is an ACK due?", width=170, kind="choice"),
        "wait": Box(_RIGHT, 282, "wait for (new) 200 ms", width=120),
        "ack": Box(_LEFT, 362, "send the ACK, with Δt if there is one", kind="end", width=190),
    }
    arrows = [
        Arrow("segment", "first"),
        Arrow("first", "record", "yes"),
        Arrow("first", "second", "no"),
        Arrow("second", "interval", "yes"),
        Arrow("second", "timer", "no"),
        Arrow("record", "wait", around=6),
        Arrow("interval", "wait"),
        Arrow("timer", "wait", "no"),
        Arrow("timer", "ack", "yes"),
    ]
    return [
        network_of(
            run.scenario(),
            "Figure 1, the network",
            "The round-trip time and the rate of the bottleneck change from figure to figure; figure 2's are shown.",
            "figure-1",
        ),
        chart_of(
            boxes,
            arrows,
            "Figure 7, the receiver of the modified Swift Start",
            "The figure is missing in the available copy: drawn from section 3.2, as the receiver here does it.",
            "figure-7",
        ),
    ]

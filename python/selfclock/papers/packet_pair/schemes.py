"""Figures 1 to 4, 7 and 10: the options, and the networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.drawing import format_of, network_of
from selfclock.papers.packet_pair.ensemble import EXPERIMENTS, FROM_TIME_0, scenario

if TYPE_CHECKING:
    from selfclock.page_parts import Scheme


def schemes() -> list[Scheme]:
    """Draw them."""
    runs = {experiment.figure: scenario(experiment, FROM_TIME_0) for experiment in EXPERIMENTS}
    head = [("kind = 6", 8), ("length", 8), ("type", 8)]
    return [
        network_of(
            runs[9],
            "Figure 7, the symmetric network",
            "Figures 8 and 9 run on it.",
            "figure-7",
        ),
        network_of(
            runs[13],
            "Figure 10, the asymmetric network",
            'Its caption says "symmetric". Figures 11, 12 and 13 run on it.',
            "figure-10",
        ),
        format_of(
            [[*head, ("by type", 8)]],
            "Figure 1, the packet pair option",
            "Three types: 1 and 2 mark the two segments of a pair, 3 is the reply.",
            "figure-1",
        ),
        format_of(
            [[("kind = 6", 8), ("length = 4", 8), ("type = 1", 8), ("pair-id", 8)]],
            "Figure 2, packet pair 1",
            "On the first segment of a pair; its ACK may be delayed.",
            "figure-2",
        ),
        format_of(
            [[("kind = 6", 8), ("length = 4", 8), ("type = 2", 8), ("pair-id", 8)]],
            "Figure 3, packet pair 2",
            "On the second segment of a pair; its ACK leaves at once, with the reply.",
            "figure-3",
        ),
        format_of(
            [[("kind = 6", 8), ("length = 6", 8), ("type = 3", 8), ("pair-id", 8)], [("timer value, ticks", 16)]],
            "Figure 4, packet pair reply",
            "The figure is lost: the order, the length and the 16 bits of the timer value are ours.",
            "figure-4",
        ),
    ]

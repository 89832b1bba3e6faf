"""Figures 3 to 5: two bursts at the bottleneck, the search range, and the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.diagram import Arrow, Box
from selfclock.papers.drawing import chart_of, network_of
from selfclock.papers.inline_measurement.behaviour import name_of, scenarios
from selfclock.papers.inline_measurement.mechanisms import PROPOSED

if TYPE_CHECKING:
    from selfclock.page_parts import Scheme


def schemes() -> list[Scheme]:
    """Draw them."""
    network = next(one for one in scenarios() if one.name == name_of(7, PROPOSED))
    return [
        network_of(
            network,
            "Figure 5, the network",
            "One TCP connection, and in figure 7 UDP that enters and leaves at the routers. The receiver's access link "
            "is ours.",
            "figure-5",
        ),
        chart_of(
            {
                "one": Box(60, 20, "burst 1: N packets", width=110),
                "two": Box(250, 20, "burst 2", width=110),
                "link": Box(175, 100, "bottleneck, rate C: gets N P + C_cross S within S", width=230),
                "cross": Box(60, 180, "cross traffic, C_cross", width=100, kind="words"),
                "out": Box(250, 180, "burst 2 leaves later if N P / S > C - C_cross = A", width=180, kind="end"),
            },
            [
                Arrow("one", "two", "S", both=True),
                Arrow("one", "link"),
                Arrow("two", "link"),
                Arrow("cross", "link"),
                Arrow("link", "out"),
            ],
            "Figure 3, the principle",
            "Two bursts at the interval S: the second is stretched if the first sends faster than A.",
            "figure-3",
        ),
        chart_of(
            {
                "low": Box(44, 24, "B_l = B_1", width=76),
                "two": Box(131, 24, "B_2", width=56),
                "three": Box(205, 24, "B_3", width=56),
                "high": Box(300, 24, "B_u = B_4", width=90),
                "same": Box(90, 92, "not stretched", width=130, kind="words"),
                "more": Box(255, 92, "stretched: S' > 1.01 S", width=170, kind="words"),
                "a": Box(205, 150, "A = the first B_j that is stretched", width=230, kind="end"),
            },
            [
                Arrow("low", "two"),
                Arrow("two", "three"),
                Arrow("three", "high"),
                Arrow("two", "same"),
                Arrow("high", "more"),
                Arrow("three", "a"),
            ],
            "Figure 4, a search range",
            "Four bursts at rates from B_l to B_u; as printed, A is the first rate at which the arrivals are farther "
            "apart than the bursts were sent.",
            "figure-4",
        ),
    ]

"""Figure 1: the topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.adaptive_layered.network import TCP, control, scenario, sender
from selfclock.papers.drawing import network_of

if TYPE_CHECKING:
    from selfclock.page_parts import Scheme


def schemes() -> list[Scheme]:
    """Draw it."""
    flows = [sender(own, 120.0) for own in (control("altcp"), TCP)]
    return [
        network_of(
            scenario("figure-1", 1000.0, flows, seconds=1.0, buffer="1 bdp"),
            "Figure 1, the topology",
            "n sources and n receivers at a bottleneck of 1 Gbit/s; two are drawn. The round-trip time is set for each "
            "flow.",
            "figure-1",
        )
    ]

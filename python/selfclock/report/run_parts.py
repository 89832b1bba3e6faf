"""What a page of a run has above its tables: the sketch of the network, and the replay of its packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from selfclock.motion import motion_of, too_large
from selfclock.report.page import Part
from selfclock.sketch import NARROW, WIDE, sketch

if TYPE_CHECKING:
    from selfclock.network import Network
    from selfclock.result import Result


def network_part(network: Network) -> Part:
    """Return the sketch of a network, one for wide pages and one for telephones."""
    # What a sketch takes from a scenario is escaped.
    wide, narrow = (Markup(sketch(network, width).svg) for width in (WIDE, NARROW))  # noqa: S704
    return Part("sketch.html.j2", content={"wide": wide, "narrow": narrow})


def replay_part(result: Result) -> Part:
    """Return the replay of a run whose packets are recorded, or the sentence that says why there is none."""
    replay = motion_of(result)
    if replay is None:
        return Part("sentence.html.j2", content={"sentence": too_large(result.scenario.network)})
    return Part("motion.html.j2", scripts=("motion.js",), content={"replay": replay})

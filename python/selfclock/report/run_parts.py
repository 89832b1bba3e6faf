"""Parts of a run's page above its tables: the sketch of the network, and the replay of its packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from selfclock.errors import BadInputError
from selfclock.page_parts import Illustration
from selfclock.report.page import Part
from selfclock.sketch import NARROW, WIDE, sketch

if TYPE_CHECKING:
    from selfclock.network import Network
    from selfclock.result import Result

#: Segments in the diagram of the last packets; with this many, lines can be told apart on a phone.
LAST_PACKETS = 60


def network_part(network: Network, *, flows: bool = True, caption: str = "") -> Part:
    """Return the sketch of a network, with or without its flows: one for wide pages and one for phones."""
    # Text that a sketch takes from a scenario is escaped.
    wide, narrow = (Markup(sketch(network, width, flows=flows).svg) for width in (WIDE, NARROW))  # noqa: S704
    return Part("sketch.html.j2", content={"wide": wide, "narrow": narrow, "caption": caption})


def replay_part(result: Result) -> Part:
    """Return the replay of a run with recorded packets, or the reason why there is none."""
    # The import takes as long as a short run.
    from selfclock.motion import motion_of, too_large  # noqa: PLC0415

    replay = motion_of(result)
    if replay is None:
        return Part("sentence.html.j2", content={"sentence": too_large(result.scenario.network)})
    return Part("motion.html.j2", scripts=("replay.js",), content={"replay": replay})


def path_figures(result: Result) -> list[Illustration]:
    """Return the time-distance diagrams of the first TCP flow: the start of its record, and the end."""
    flows = result.scenario.network.flows
    flow = next((flow for flow in flows if flow.algorithm != "udp"), None)
    span = result.scenario.recorded_span_s
    if flow is None or span is None:
        return []
    figures = []
    caption = "Thick: transmission; level: queueing; sloped: propagation."
    totals = result.summary["flows"][flows.index(flow)]
    last = (totals["rtt_mean_s"] or flow.delay_s) * 2
    if totals["goodput_bps"] and flow.packet_bytes:
        last = min(last, LAST_PACKETS * flow.packet_bytes * 8 / totals["goodput_bps"])
    for name, title, start, shown in (
        ("path", "Time and distance, first packets", None, None),
        ("path-later", "Time and distance, last packets", max(span[1] - last, span[0]), last),
    ):
        try:
            drawn = result.plot.path(flow.name, start_s=start, duration_s=shown)
        except BadInputError:
            # The flow sent nothing in this time.
            continue
        figures.append(Illustration(title, caption, drawn, id=name))
    return figures

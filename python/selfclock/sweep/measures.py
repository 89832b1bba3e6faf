"""The measures of a sweep's runs, and those that tables and figures show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.arguments import items
from selfclock.errors import BadInputError
from selfclock.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Measure:
    """A total of a run: its source, name and unit."""

    about: str
    name: str
    unit: str = ""
    #: Factor from the measure to the displayed unit.
    factor: float = 1.0

    @property
    def heading(self) -> str:
        """Heading of a column, with its unit on a separate line."""
        return f"{self.name}\n{self.unit}".strip()

    @property
    def axis(self) -> str:
        """Label of an axis."""
        return f"{self.name}\n({self.unit})" if self.unit else self.name


_FLOWS, _LINK, _LINKS = "sum over the flows", "of the busiest link", "sum over the links"

#: Totals of a run, each a column of the dataset. Averages over flows are weighted by the data
#: delivered.
MEASURES = {
    "goodput_bps": Measure(_FLOWS, "goodput", "Mbit/s", 1e-6),
    "throughput_bps": Measure(_FLOWS, "throughput", "Mbit/s", 1e-6),
    "jain": Measure("Jain's index of the flows' goodputs", "Jain"),
    "rtt_min_s": Measure("lowest of the flows", "least RTT", "ms", 1e3),
    "rtt_mean_s": Measure("mean over the flows", "mean RTT", "ms", 1e3),
    "rtt_p95_s": Measure("mean over the flows", "95 % RTT", "ms", 1e3),
    "sent_segments": Measure(_FLOWS, "sent", "segments"),
    "retransmitted_segments": Measure(_FLOWS, "retransmitted", "segments"),
    "timeouts": Measure(_FLOWS, "RTOs"),
    "fast_retransmits": Measure(_FLOWS, "fast retransmits"),
    "completed_flows": Measure("number of completed flows", "completed", "flows"),
    "completion_mean_s": Measure("mean over the completed flows", "completed after", "s"),
    "utilization": Measure(_LINK, "busy", "%", 100.0),
    "queue_mean_packets": Measure(_LINK, "queue", "packets"),
    "queue_max_packets": Measure(_LINK, "longest queue", "packets"),
    "queue_mean_s": Measure(_LINK, "wait", "ms", 1e3),
    "drops": Measure(_LINKS, "drops"),
    "ce_marks": Measure(_LINKS, "CE marks"),
    "simulated_s": Measure("simulated time", "simulated", "s"),
    "events": Measure("events of the simulator", "events"),
    "packet_hops": Measure("packets times links crossed", "packet-hops"),
    "cpu_s": Measure("CPU time of the run", "CPU", "s"),
}

#: Measures shown by default.
USUAL = ("goodput_bps", "utilization", "rtt_mean_s", "queue_mean_packets")


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Return the measures to show: those named, or the default ones."""
    found = tuple(dict.fromkeys(items(names, "measures")))
    for name in found:
        if name not in MEASURES:
            raise BadInputError(unknown("measure", name, list(MEASURES)))
    return found or USUAL

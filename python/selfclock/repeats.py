"""Repetitions with other seeds that repeat nothing: runs that are equal, or equal with their flows exchanged.

An interval over them would say how far one run is from itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selfclock.result import Summary

#: Goodputs within this fraction of one another are those of one run with its flows exchanged: the
#: flows start at other times within a round trip, which is less than this of a run of a minute.
EXCHANGED = 1e-3

#: Flows whose goodputs differ by less than this fraction are not told apart by an exchange.
APART = 1e-2


class Sameness(Enum):
    """A relation between several runs of one scenario."""

    DIFFERENT = "different"
    EQUAL = "equal"
    EXCHANGED = "exchanged"


@dataclass(frozen=True)
class Trace:
    """Totals that tell one run from another: those that no wall clock measures."""

    goodputs: tuple[float, ...]
    totals: tuple[object, ...]

    @classmethod
    def of(cls, summary: Summary) -> Trace:
        """Return that of a run's summary."""
        flows, links = summary["flows"], summary["links"]
        return cls(
            tuple(flow["goodput_bps"] for flow in flows),
            (
                summary["packet_hops"],
                *((flow["sent_segments"], flow["retransmitted_segments"], flow["rtt_mean_s"]) for flow in flows),
                *((link["bytes"], link["drops"], link["queue_mean_s"]) for link in links),
            ),
        )


def sameness(runs: Sequence[Trace]) -> Sameness:
    """Return whether the runs are one run, or one run with its flows exchanged; a single run is different."""
    if len(runs) < 2:
        return Sameness.DIFFERENT
    first, *others = runs
    if all(run == first for run in others):
        return Sameness.EQUAL
    fastest = max(first.goodputs, default=0.0)

    def are_near(one: Iterable[float], other: Iterable[float], part: float) -> bool:
        return all(abs(a - b) <= part * fastest for a, b in zip(one, other, strict=True))

    alike = all(are_near(sorted(run.goodputs), sorted(first.goodputs), EXCHANGED) for run in others)
    moved = any(not are_near(run.goodputs, first.goodputs, APART) for run in others)
    return Sameness.EXCHANGED if alike and moved else Sameness.DIFFERENT


def note(found: Sameness, runs: int) -> str:
    """Return the sentence on the interval that runs like these do not have; empty if they differ."""
    remedy = 'overhead = "1 packet" on the flows gives each run its own chance'
    match found:
        case Sameness.EQUAL:
            return f"the runs of {runs} seeds are equal: nothing in them depends on the seed, so there is no interval"
        case Sameness.EXCHANGED:
            return (
                f"the runs of {runs} seeds are one run with its flows exchanged, so there is no interval: "
                f"they differ in the order of the starts alone; {remedy}"
            )
    return ""

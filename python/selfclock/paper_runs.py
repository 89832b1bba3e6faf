"""Studies: the runs of several papers in one pool, each run once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from selfclock.runs import Wanted, longest_first, run_wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from selfclock.claims import Findings
    from selfclock.result import Result
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Part:
    """Scenarios of one kind, and the measurements of each run, after which its records are freed."""

    scenarios: Sequence[Scenario]
    read: Callable[[Result], Any] = lambda result: result


@dataclass(frozen=True)
class Study:
    """Runs in parts, and the conclusions from their measurements: a list for each part."""

    parts: Sequence[Part]
    findings: Callable[[Sequence[list[Any]]], Findings]


@dataclass
class _Progress:
    """Progress of a study."""

    readings: list[list[Any]]
    missing: int
    cpu_s: float = 0.0
    found: Future[Findings] | None = None


def run_studies(
    studies: Sequence[Study],
    progress: Callable[[float], object] = lambda _: None,
    threads: int | None = None,
) -> list[tuple[Findings, float]]:
    """Run everything on all cores, or on this many threads.

    Return the findings of each study, and the CPU seconds of its runs.

    The study expected to be the shortest comes first, so that its conclusions are computed while
    others run; within a study the longest run comes first, so that no core waits for another at the
    end. A run requested in several places is counted at the first.
    """
    state = [
        _Progress(
            [[None] * len(part.scenarios) for part in study.parts], sum(len(part.scenarios) for part in study.parts)
        )
        for study in studies
    ]

    with ThreadPoolExecutor(max_workers=1) as finder:

        def got(number: int, part: int, place: int, reading: object, cpu_s: float) -> None:
            own = state[number]
            own.readings[part][place] = reading
            own.cpu_s += cpu_s
            own.missing -= 1
            if own.missing == 0:
                # Computed while the others run; afterwards its results are not needed.
                own.found = finder.submit(studies[number].findings, own.readings)
                own.readings = []

        wanted = [
            longest_first(
                Wanted(scenario, own.read, partial(got, number, part, place))
                for part, own in enumerate(study.parts)
                for place, scenario in enumerate(own.scenarios)
            )
            for number, study in enumerate(studies)
        ]
        run_wanted(chain.from_iterable(sorted(wanted, key=_expected)), progress, threads)
        return [
            (own.found.result() if own.found else study.findings(own.readings), own.cpu_s)
            for study, own in zip(studies, state, strict=True)
        ]


def _expected(wanted: Iterable[Wanted]) -> float:
    return sum(one.scenario.expected_packet_hops for one in wanted)

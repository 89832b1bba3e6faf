"""Studies: what several papers have run, in one pool, none of it twice."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock.result import Result
from selfclock.scenario import run_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from selfclock import _core
    from selfclock.claims import Findings
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Part:
    """Scenarios of one kind, and what is read off each run: the whole result, or less, so that the rest can go."""

    scenarios: Sequence[Scenario]
    read: Callable[[Result], Any] = lambda result: result


@dataclass(frozen=True)
class Study:
    """What is to be run, part by part, and what follows from what was read off the runs: a list for each part."""

    parts: Sequence[Part]
    findings: Callable[[Sequence[list[Any]]], Findings]


@dataclass
class _Progress:
    """How far a study is."""

    readings: list[list[Any]]
    missing: int
    cpu_s: float = 0.0
    found: Future[Findings] | None = None


@dataclass(frozen=True)
class _Place:
    """Where a run is wanted: study, part and number in the part."""

    study: int
    part: int
    number: int


def run_studies(
    studies: Sequence[Study],
    progress: Callable[[float], object] = lambda _: None,
    found: Callable[[Findings], object] = lambda _: None,
) -> list[tuple[Findings, float]]:
    """Run everything on all cores; return the findings of each study, and how long its runs took, CPU seconds.

    `found` is called with the findings of a study as soon as they are there, one after the other, beside the runs of
    the others.

    The study that is expected to take least comes first, so that what is to be found in it is found while others run,
    and within a study the longest run, so that at the end no core waits for another. A run that is wanted in several
    places is counted where it is wanted first.
    """
    order = sorted(range(len(studies)), key=lambda study: sum(map(_expected, _scenarios(studies[study]))))
    wanted: dict[str, list[_Place]] = defaultdict(list)
    for study in order:
        for place in _longest_first(study, studies[study]):
            wanted[_identity(_scenario(studies, place))].append(place)
    places = list(wanted.values())
    expected = [_expected(_scenario(studies, first)) for first, *_ in places]
    state = [
        _Progress(
            [[None] * len(part.scenarios) for part in study.parts], sum(len(part.scenarios) for part in study.parts)
        )
        for study in studies
    ]
    done, total = 0.0, max(sum(expected), 1.0)

    def find(study: Study, readings: Sequence[list[Any]]) -> Findings:
        findings = study.findings(readings)
        found(findings)
        return findings

    with ThreadPoolExecutor(max_workers=1) as finder:

        def finished(run: int, outcome: _core.Outcome | Exception) -> None:
            nonlocal done
            if isinstance(outcome, Exception):
                raise outcome
            state[places[run][0].study].cpu_s += outcome.cpu_s
            for place in places[run]:
                study, own = studies[place.study], state[place.study]
                result = Result(_scenario(studies, place), outcome)
                own.readings[place.part][place.number] = study.parts[place.part].read(result)
                own.missing -= 1
                if own.missing == 0:
                    # Beside the runs of the others; and then its results are not needed any more.
                    own.found = finder.submit(find, study, own.readings)
                    own.readings = []
            done += expected[run]
            progress(done / total)

        run_stream((_scenario(studies, first) for first, *_ in places), finished)
        return [
            (own.found.result() if own.found else find(study, own.readings), own.cpu_s)
            for study, own in zip(studies, state, strict=True)
        ]


def _scenarios(study: Study) -> Iterator[Scenario]:
    return (scenario for part in study.parts for scenario in part.scenarios)


def _scenario(studies: Sequence[Study], place: _Place) -> Scenario:
    return studies[place.study].parts[place.part].scenarios[place.number]


def _longest_first(study: int, of: Study) -> list[_Place]:
    places = [_Place(study, part, number) for part, own in enumerate(of.parts) for number in range(len(own.scenarios))]
    return sorted(places, key=lambda place: -_expected(of.parts[place.part].scenarios[place.number]))


def _expected(scenario: Scenario) -> float:
    return scenario.expected_packet_hops


def _identity(scenario: Scenario) -> str:
    """Return what two scenarios have in common if and only if they are the same run, whatever their names."""
    return hashlib.sha256(scenario.settings.encode()).hexdigest()

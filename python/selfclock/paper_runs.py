"""Studies: the runs of several papers in one pool, each run once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from selfclock.runs import Wanted, longest_first, run_wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from selfclock.claims import Findings
    from selfclock.result import Result
    from selfclock.scenario import Scenario


@dataclass(frozen=True)
class Part:
    """Scenarios of one kind, and the measurements of each run, after which its records are freed."""

    scenarios: Sequence[Scenario]
    read: Callable[[Result], Any] = lambda result: result


class Runs:
    """Measurements of a study's runs, by the name of the scenario and by seed."""

    def __init__(self, measured: Mapping[tuple[str, int], Any] | None = None) -> None:
        self._by_name: dict[str, dict[int, Any]] = {}
        for (name, seed), measurement in (measured or {}).items():
            self.add(name, seed, measurement)

    def add(self, name: str, seed: int, measurement: object) -> None:
        """Add a run, or replace it."""
        self._by_name.setdefault(name, {})[seed] = measurement

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 whatever its part reads
        """Return the measurements of the only run with this name."""
        [measurement] = self._by_name[name].values()
        return measurement

    def __contains__(self, name: str) -> bool:
        """Tell whether a run has this name."""
        return name in self._by_name

    def seeds(self, name: str) -> list[Any]:
        """Return the measurements of every run with this name, in the order of the seeds."""
        return [measurement for _, measurement in sorted(self._by_name[name].items())]

    def each(self, names: Iterable[str]) -> list[Any]:
        """Return the measurements of the runs with these names."""
        return [self[name] for name in names]

    def with_others(self, others: Runs) -> Runs:
        """Return these runs with others in place of those that have the same name and seed."""
        joined = Runs()
        for runs in (self, others):
            for name, seeds in runs._by_name.items():
                for seed, measurement in seeds.items():
                    joined.add(name, seed, measurement)
        return joined


@dataclass(frozen=True)
class Study:
    """Runs in parts, each with a name and a seed of its own, and the conclusions from their measurements."""

    parts: Sequence[Part]
    findings: Callable[[Runs], Findings]


@dataclass
class _Progress:
    """Progress of a study."""

    runs: Runs
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
    state = [_Progress(Runs(), sum(len(part.scenarios) for part in study.parts)) for study in studies]

    with ThreadPoolExecutor(max_workers=1) as finder:

        def got(number: int, scenario: Scenario, measurement: object, cpu_s: float) -> None:
            own = state[number]
            own.runs.add(scenario.name, scenario.seed, measurement)
            own.cpu_s += cpu_s
            own.missing -= 1
            if own.missing == 0:
                # Computed while the others run; afterwards its results are not needed.
                own.found = finder.submit(studies[number].findings, own.runs)
                own.runs = Runs()

        wanted = [
            longest_first(
                Wanted(scenario, own.read, partial(got, number, scenario))
                for own in study.parts
                for scenario in own.scenarios
            )
            for number, study in enumerate(studies)
        ]
        run_wanted(chain.from_iterable(sorted(wanted, key=_expected)), progress, threads)
        return [
            (own.found.result() if own.found else study.findings(own.runs), own.cpu_s)
            for study, own in zip(studies, state, strict=True)
        ]


def _expected(wanted: Iterable[Wanted]) -> float:
    return sum(one.scenario.expected_packet_hops for one in wanted)

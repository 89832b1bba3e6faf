"""Experiments and their runs: every scenario needed by the rows runs once, on all cores, in bounded memory."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from selfclock.evaluate.measure import Reading
from selfclock.formatting import of_failures
from selfclock.runs import Wanted, longest_first, run_wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from selfclock.evaluate.subject import Subject
    from selfclock.result import Result
    from selfclock.scenario import Scenario

Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class Experiment(Generic[Read]):
    """Runs of an algorithm and their measurements, by key."""

    name: str
    scenarios: Callable[[Subject], dict[Any, Scenario]]
    read: Callable[[Reading, Any], Read]


class Lab:
    """Measurements of the runs of every experiment and algorithm."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], dict[Hashable, Any]] = {}
        self._failures: dict[tuple[str, str], list[str]] = {}
        #: Every scenario that was run.
        self.scenarios: list[Scenario] = []

    def readings(self, experiment: Experiment[Read], subject: Subject) -> dict[Any, Read]:
        """Return the measurements of an algorithm's runs, by key."""
        return self._read[experiment.name, subject.label]

    def failures(self, experiment: Experiment[Any], subject: Subject) -> list[str]:
        """Return a sentence for each connection that failed in the runs of an algorithm."""
        return self._failures[experiment.name, subject.label]

    def run(
        self,
        wanted: Iterable[tuple[Experiment[Any], Subject]],
        progress: Callable[[float], object] | None = None,
        threads: int | None = None,
    ) -> None:
        """Run the missing ones. A failing run ends it."""
        # Polars would import NumPy with its first array, and panic at a Ctrl-C that arrives
        # meanwhile.
        importlib.import_module("numpy")
        jobs: list[Wanted] = []
        for experiment, subject in wanted:
            if (experiment.name, subject.label) in self._read:
                continue
            scenarios = experiment.scenarios(subject)
            # The keys keep the order of the experiment, in whatever order the runs end.
            found: dict[Hashable, Any] = dict.fromkeys(scenarios)
            self._read[experiment.name, subject.label] = found
            failures = self._failures[experiment.name, subject.label] = []
            jobs += [_wanted(experiment, key, scenario, found, failures) for key, scenario in scenarios.items()]
        self.scenarios += [job.scenario for job in jobs]
        run_wanted(longest_first(jobs), progress or (lambda _: None), threads)


def _wanted(
    experiment: Experiment[Any], key: Hashable, scenario: Scenario, found: dict[Hashable, Any], failures: list[str]
) -> Wanted:
    def read(result: Result) -> tuple[object, list[str]]:
        reading = Reading(result)
        # Runs end in any order; lists are sorted.
        where = f"{scenario.name}, seed {scenario.seed}: "
        return experiment.read(reading, key), [where + said for said in of_failures(reading.flows)]

    def got(read: tuple[object, list[str]], _cpu_s: float) -> None:
        found[key] = read[0]
        failures.extend(read[1])
        failures.sort()

    return Wanted(scenario, read, got)

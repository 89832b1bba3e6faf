"""Experiments and their runs: every scenario that the rows need is run once, on all cores, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from selfclock.evaluate.measure import Reading
from selfclock.result import Result
from selfclock.scenario import run_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from selfclock import _core
    from selfclock.evaluate.subject import Subject
    from selfclock.scenario import Scenario

Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class Experiment(Generic[Read]):
    """Runs of an algorithm, each under a key, and what is read off each."""

    name: str
    scenarios: Callable[[Subject], dict[Any, Scenario]]
    read: Callable[[Reading, Any], Read]


class Lab:
    """What was read off the runs of every experiment and algorithm."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], dict[Hashable, Any]] = {}
        #: Everything that was run.
        self.scenarios: list[Scenario] = []

    def readings(self, experiment: Experiment[Read], subject: Subject) -> dict[Any, Read]:
        """Return what was read off the runs of an algorithm, by key."""
        return self._read[experiment.name, subject.label]

    def run(
        self,
        wanted: Iterable[tuple[Experiment[Any], Subject]],
        progress: Callable[[float], object] | None = None,
    ) -> None:
        """Run what was not run before. An error of a run ends it."""
        jobs: list[tuple[Experiment[Any], str, Hashable, Scenario]] = []
        for experiment, subject in wanted:
            if (experiment.name, subject.label) in self._read:
                continue
            scenarios_of = experiment.scenarios(subject)
            # The keys stand in the order of the experiment, in whatever order the runs end.
            self._read[experiment.name, subject.label] = dict.fromkeys(scenarios_of)
            for key, scenario in scenarios_of.items():
                jobs.append((experiment, subject.label, key, scenario))
                self.scenarios.append(scenario)
        done = 0

        def scenarios() -> Iterator[Scenario]:
            for _, _, _, scenario in jobs:
                yield scenario

        def finished(number: int, outcome: _core.Outcome | Exception) -> None:
            nonlocal done
            if isinstance(outcome, Exception):
                raise outcome
            experiment, label, key, scenario = jobs[number]
            read = experiment.read(Reading(Result(scenario, outcome)), key)
            self._read[experiment.name, label][key] = read
            done += 1
            if progress is not None:
                progress(done / len(jobs))

        if jobs:
            run_stream(scenarios(), finished)

"""Points of a grid whose runs have a common beginning, which is run once for all of them."""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from selfclock import _core
from selfclock._core import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selfclock.scenario import Scenario
    from selfclock.sweep.grid import Grid, Job

#: A beginning is shared if it is this part of the run or more: copies of a run take time, too.
WORTH_WHILE = 0.05

#: Scenarios of points that are held for their other seeds.
MOST_HELD = 256

#: Without one of these keys nothing in a scenario happens later than its beginning.
_LATER = re.compile(r"\b(changes|start)\b")


@dataclass(frozen=True)
class Shared:
    """Jobs whose runs are the same up to a time."""

    jobs: list[Job]
    #: The time, ps; `None`: each runs by itself.
    until: int | None = None

    def runs(self, grid: Grid) -> Iterator[tuple[Job, Scenario | ScenarioError, _core.Trunk | None]]:
        """Give each job with its scenario and the trunk that it begins with, those of one seed together."""
        read = lru_cache(MOST_HELD)(lambda point: _scenario_at(grid, point))
        jobs = self.jobs if self.until is None else sorted(self.jobs, key=lambda job: job.seed)
        for _, of_seed in itertools.groupby(jobs, key=lambda job: None if self.until is None else job.seed):
            trunk = None
            for job in of_seed:
                scenario = read(job.point)
                if not isinstance(scenario, ScenarioError):
                    scenario = scenario.with_seed(job.seed)
                    if self.until is not None and trunk is None:
                        trunk = _core.Trunk(scenario._core, self.until)
                yield job, scenario, trunk


def with_common_beginnings(grid: Grid, jobs: Iterable[Job]) -> Iterator[Shared]:
    """Group the jobs whose runs have a common beginning; the others follow singly."""
    jobs = list(jobs)
    points = list(dict.fromkeys(job.point for job in jobs))
    alone = set(points)
    if len(points) > 1 and _LATER.search(grid.text + grid.scenario.text):
        for members, until in _beginnings(grid, points):
            alone -= members
            yield Shared([job for job in jobs if job.point in members], until)
    yield Shared([job for job in jobs if job.point in alone])


def _beginnings(grid: Grid, points: list[int]) -> list[tuple[set[int], int]]:
    """Return the points that have a beginning in common, and up to when."""
    found: dict[str, tuple[Scenario, set[int], int]] = {}
    for point in points:
        scenario = _scenario_at(grid, point)
        # What an algorithm written in Python does outside of itself would not happen again in a
        # copy.
        if isinstance(scenario, ScenarioError) or scenario._core.has_own_algorithms:
            continue
        key = hashlib.sha256(scenario._core.beginning.encode()).hexdigest()
        first, members, until = found.setdefault(key, (scenario, set(), scenario._core.duration_ps))
        same = first._core.same_until(scenario._core)
        if same is not None and same >= WORTH_WHILE * first._core.duration_ps:
            found[key] = (first, members | {point}, min(until, same))
    return [(members, until) for _, members, until in found.values() if len(members) > 1]


def _scenario_at(grid: Grid, point: int) -> Scenario | ScenarioError:
    try:
        return grid.scenario_at(point)
    except ScenarioError as error:
        return error

"""Points of a grid whose runs share a beginning, which is run once for all of them."""

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

#: A beginning is shared if it is at least this fraction of the run: copying a run takes time, too.
WORTH_WHILE = 0.05

#: Scenarios of points that are kept for their other seeds.
MOST_HELD = 256

#: Without any of these keys, nothing in a scenario happens after its start.
_LATER = re.compile(r"\b(changes|start)\b")


@dataclass(frozen=True)
class Shared:
    """Jobs whose runs are identical up to a time."""

    jobs: list[Job]
    #: The time, ps; `None` if each runs alone.
    until: int | None = None

    def runs(self, grid: Grid) -> Iterator[tuple[Job, Scenario | ScenarioError, _core.Trunk | None]]:
        """Return each job with its scenario and its trunk, those of one seed together."""
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
    """Group the jobs whose runs share a beginning; the others follow singly."""
    jobs = list(jobs)
    points = list(dict.fromkeys(job.point for job in jobs))
    alone = set(points)
    if len(points) > 1 and _LATER.search(grid.text + grid.scenario.text):
        for members, until in _beginnings(grid, points):
            alone -= members
            yield Shared([job for job in jobs if job.point in members], until)
    yield Shared([job for job in jobs if job.point in alone])


def _beginnings(grid: Grid, points: list[int]) -> list[tuple[set[int], int]]:
    """Return the points that share a beginning, and its end."""
    found: dict[str, tuple[Scenario, set[int], int]] = {}
    for point in points:
        scenario = _scenario_at(grid, point)
        # Side effects of an algorithm written in Python would not be repeated in a copy.
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

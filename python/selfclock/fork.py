"""Runs that fork from a running one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import _core
from selfclock.scenario.quantity import Time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario


class Run:
    """A run up to just before a time. It runs once, when the first fork needs it.

    A fork equals, to the byte, the run of its scenario from the beginning.
    """

    def __init__(self, scenario: Scenario, time: str | Time) -> None:
        self.scenario = scenario
        self.time = Time(time)
        # Outside the run is outside, however far.
        self._trunk = _core.Trunk(scenario._core, min(max(0, self.time.picoseconds), 2**63))

    def fork(self, overrides: Sequence[str] = (), progress: Callable[[float], object] | None = None) -> Result:
        """Run to the end as the scenario with these overrides: "path=value", as `selfclock run --set` takes it.

        They may change rate and delay of links from the time of the fork on (`changes`), and TCP
        connections that start at that time or later, except when they start and where they lead.
        Anything else is a `ScenarioError`. The state of algorithms written in Python is copied by
        `copy.deepcopy`; a run whose algorithm cannot be copied fails.
        """
        scenario = self.scenario.with_overrides(overrides) if overrides else self.scenario
        return scenario._result(_core.run(scenario._core, progress, trunk=self._trunk))

    def __repr__(self) -> str:
        return f"<Run of {self.scenario.name!r} at {self.time}>"

"""The pool of runs: each scenario is run once, in bounded memory, on all cores."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from selfclock import _core
from selfclock._core import ScenarioError
from selfclock.arguments import items
from selfclock.result import Result
from selfclock.threads import check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from selfclock.scenario import Scenario

Key = TypeVar("Key")


def run_many(
    scenarios: Iterable[Scenario],
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> list[Result]:
    """Run scenarios on all cores, or on this many threads; results are in the order given.

    The number of threads does not affect results.
    """
    check_threads(threads)
    # The cores are unwrapped here, so that the list may come from a generator.
    scenarios = [_scenario(each, number) for number, each in enumerate(items(scenarios, "scenarios"))]
    outcomes = _core.run_many([scenario._core for scenario in scenarios], threads, progress)
    return [Result(scenario, outcome) for scenario, outcome in zip(scenarios, outcomes, strict=True)]


def run_stream(
    scenarios: Iterable[Scenario],
    finished: Callable[[int, _core.Outcome | Exception], object],
    threads: int | None = None,
) -> None:
    """Run any number of scenarios on all cores, or on this many threads, in bounded memory.

    Scenarios are taken as cores become free. `finished` is called with the index of each, from 0,
    and its outcome or error, in the order of completion; an exception that it raises ends the
    stream.
    """
    check_threads(threads)
    checked = (_scenario(each, number) for number, each in enumerate(scenarios))
    _core.run_stream(((scenario._core, None) for scenario in checked), finished, threads)


def _scenario(given: Scenario, number: int) -> Scenario:
    from selfclock.scenario import Scenario  # noqa: PLC0415

    if not isinstance(given, Scenario):
        read = f'; write Scenario.load("{given}")' if isinstance(given, (str, PathLike)) else ""
        raise ScenarioError(f"scenarios[{number}]: {given!r} is not a Scenario{read}")
    return given


def run_keyed(
    jobs: Iterable[tuple[Key, Scenario]],
    ended: Callable[[Key, Result | Exception], object],
    threads: int | None = None,
) -> None:
    """Run any number of scenarios in bounded memory; `ended` is called with each key and its result or error."""
    run_branches(((key, scenario, None) for key, scenario in jobs), ended, threads)


def run_branches(
    jobs: Iterable[tuple[Key, Scenario, _core.Trunk | None]],
    ended: Callable[[Key, Result | Exception], object],
    threads: int | None = None,
) -> None:
    """Like `stream`, for scenarios that may share an initial trunk, which is run once for all of them."""
    check_threads(threads)
    under_way: dict[int, tuple[Key, Scenario]] = {}

    def scenarios() -> Iterator[tuple[_core.Scenario, _core.Trunk | None]]:
        for number, (key, scenario, trunk) in enumerate(jobs):
            under_way[number] = key, scenario
            yield scenario._core, trunk

    def finished(number: int, outcome: _core.Outcome | Exception) -> None:
        key, scenario = under_way.pop(number)
        ended(key, outcome if isinstance(outcome, Exception) else Result(scenario, outcome))

    _core.run_stream(scenarios(), finished, threads)


@dataclass(frozen=True)
class Wanted:
    """A run, its measurements, and their receiver."""

    scenario: Scenario
    read: Callable[[Result], Any]
    #: Called with the measurements, and the CPU seconds of the run: 0 if an earlier one had the
    #: same settings.
    got: Callable[[Any, float], object]

    @property
    def identity(self) -> str:
        """The identity of a run: equal for two scenarios if and only if they are the same run, regardless of names."""
        return hashlib.sha256(self.scenario.settings.encode()).hexdigest()


def longest_first(wanted: Iterable[Wanted]) -> list[Wanted]:
    """Return the runs in the order in which no core waits for another at the end."""
    return sorted(wanted, key=lambda one: -one.scenario.expected_packet_hops)


def run_wanted(
    wanted: Iterable[Wanted],
    progress: Callable[[float], object] = lambda _: None,
    threads: int | None = None,
) -> None:
    """Run the requests in the order given, equal settings once. An error of a run ends it.

    `progress` is called with the completed fraction of the expected work.
    """
    same: dict[str, list[Wanted]] = {}
    for one in wanted:
        same.setdefault(one.identity, []).append(one)
    expected = {identity: ones[0].scenario.expected_packet_hops for identity, ones in same.items()}
    done, total = 0.0, max(sum(expected.values()), 1.0)

    def ended(identity: str, result: Result | Exception) -> None:
        nonlocal done
        if isinstance(result, Exception):
            raise result
        cpu_s = result.summary["cpu_s"]
        for one in same[identity]:
            one.got(one.read(result.under(one.scenario)), cpu_s)
            cpu_s = 0.0
        done += expected[identity]
        progress(done / total)

    run_keyed(((identity, ones[0].scenario) for identity, ones in same.items()), ended, threads)

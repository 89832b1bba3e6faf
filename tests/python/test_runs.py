"""The pool of runs: each scenario once, in order, errors and progress."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.runs import Wanted, longest_first, run_keyed, run_wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = sc.Path("1 Mbps", "10 ms", queue="5 packets")


def scenario(seconds: float, name: str = "run", seed: int = 1) -> sc.Scenario:
    """Return a run of this duration."""
    return PATH.scenario(["reno"], duration=sc.s(seconds), name=name, seed=seed)


@sc.algorithm("fails-at-once")
class Fails(sc.CongestionControl):
    """An algorithm that raises an error."""

    def on_ack(self, event: sc.Acknowledged) -> None:
        """Fail."""
        raise ZeroDivisionError(event)

    def on_loss(self, event: sc.LossDetected) -> None:
        """Nothing is lost before the first ACK."""

    def on_timeout(self, event: sc.Timeout) -> None:
        """Nothing times out before it."""


def failing() -> sc.Scenario:
    """Return a run that ends with an error."""
    return PATH.scenario(["fails-at-once"], duration="1 s")


def test_the_same_settings_run_once_whatever_the_name() -> None:
    read: list[str] = []
    times: dict[str, float] = {}

    def want(name: str, seed: int) -> Wanted:
        def reads(result: sc.Result) -> float:
            # Each reader gets the scenario that it requested: papers look results up by its name.
            assert result.scenario.name == name
            read.append(name)
            return result.summary["flows"][0]["goodput_bps"]

        return Wanted(scenario(1, name, seed), reads, lambda _, cpu_s: times.__setitem__(name, cpu_s))

    run_wanted([want("first", 1), want("again", 1), want("other seed", 2)])
    # Both read the same run, which is counted at the first request.
    assert sorted(read) == ["again", "first", "other seed"]
    assert times["first"] > 0
    assert times["other seed"] > 0
    assert times["again"] == 0


def test_the_longest_runs_first() -> None:
    wanted = [Wanted(scenario(seconds), lambda result: result, lambda *_: None) for seconds in (1, 3, 2)]
    assert [one.scenario.duration_s for one in longest_first(wanted)] == [3, 2, 1]


def test_progress_is_of_the_expected_work() -> None:
    done: list[float] = []
    # One of 99 s and one of 1 s: when the long one ends, 99 % or 100 % is done.
    wanted = [Wanted(scenario(seconds), lambda _: None, lambda *_: None) for seconds in (99, 1)]
    run_wanted(wanted, done.append)
    assert all(earlier < later for earlier, later in pairwise(done))
    assert done[-1] == pytest.approx(1)
    assert done[0] in (pytest.approx(0.99, abs=1e-3), pytest.approx(0.01, abs=1e-3))


def test_an_error_of_a_run_ends_the_pool() -> None:
    with pytest.raises(sc.RunError, match="fails-at-once failed"):
        run_wanted([Wanted(failing(), lambda result: result, lambda *_: None)])


def test_an_error_of_a_reading_ends_the_pool() -> None:
    def refuse(_: sc.Result) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_wanted([Wanted(scenario(1), refuse, lambda *_: None)])


def test_keys_come_back_with_results_and_errors() -> None:
    ended: dict[str, sc.Result | Exception] = {}
    run_keyed([("good", scenario(1)), ("bad", failing()), ("too", scenario(2))], ended.__setitem__)
    assert isinstance(ended["bad"], sc.RunError)
    assert {key: of.scenario.duration_s for key, of in ended.items() if isinstance(of, sc.Result)} == {
        "good": 1,
        "too": 2,
    }


def test_scenarios_are_taken_as_cores_become_free() -> None:
    taken: list[int] = []
    ended: list[int] = []

    def jobs() -> Iterator[tuple[int, sc.Scenario]]:
        for number in range(200):
            taken.append(number)
            yield number, scenario(0.1, seed=number)

    def end(number: int, _: sc.Result | Exception) -> None:
        ended.append(number)
        # Some wait before each of two threads; never all.
        assert len(taken) - len(ended) <= 20

    run_keyed(jobs(), end, threads=2)
    assert sorted(ended) == list(range(200))

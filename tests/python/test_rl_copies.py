"""Copies of episodes: forks, deep copies, pickles; the end of an episode; what Gymnasium's vectors have.

The oracle of a copy is the original: same actions, same numbers.
"""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest

import selfclock as sc
from selfclock import rl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHORT: dict[str, Any] = {"rate": "5 Mbps", "duration": "2 s", "competitors": ["cubic"], "loss": 0.01}

COPIES: Mapping[str, Callable[[rl.CongestionEnv], rl.CongestionEnv]] = {
    "fork": lambda environment: environment.fork(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda environment: pickle.loads(pickle.dumps(environment)),  # noqa: S301  its own
}


def act(environment: rl.CongestionEnv, actions: list[float]) -> list[tuple[Any, ...]]:
    found = []
    for action in actions:
        observation, reward, terminated, truncated, info = environment.step(np.array([action], np.float32))
        found.append((observation.tolist(), reward, terminated, truncated, info))
    return found


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("action", ["window-factor", "rate-factor"])
def test_a_copy_in_the_middle_goes_on_as_the_original(way: str, action: str) -> None:
    environment = rl.CongestionEnv(action=action, record=True, **SHORT)
    environment.reset(seed=7)
    act(environment, [0.5, 0.3, 0.0, -0.2] * 3)
    twin = COPIES[way](environment)
    assert act(twin, [0.4, -0.4] * 4) == act(environment, [0.4, -0.4] * 4)
    own, other = environment.result(), twin.result()
    assert {**own.summary, "cpu_s": 0} == {**other.summary, "cpu_s": 0}
    # The generator is copied, too: the next episode, without a seed, is the same.
    assert environment.reset()[1] == twin.reset()[1]
    assert act(twin, [0.1] * 5) == act(environment, [0.1] * 5)


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_does_not_move_the_original(way: str) -> None:
    environment, untouched = (rl.CongestionEnv(**SHORT) for _ in range(2))
    for each in (environment, untouched):
        each.reset(seed=3)
        act(each, [0.5] * 6)
    act(COPIES[way](environment), [-1.0] * 6)
    assert act(environment, [0.2] * 6) == act(untouched, [0.2] * 6)


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_before_the_first_episode(way: str) -> None:
    environment = COPIES[way](rl.CongestionEnv(**SHORT))
    expected = rl.CongestionEnv(**SHORT)
    assert environment.reset(seed=2)[1] == expected.reset(seed=2)[1]
    assert act(environment, [0.1] * 3) == act(expected, [0.1] * 3)


def test_a_forked_algorithm_in_python_keeps_its_own_state() -> None:
    """A competitor's instance is copied with its run, so that branches do not share its counters."""

    @sc.algorithm("counting")
    class Counting(sc.CongestionControl):
        """Counts its ACKs."""

        def __init__(self) -> None:
            self.acks = 0

        def on_ack(self, _event: sc.Acknowledged) -> None:
            self.acks += 1
            self.cwnd = 2 + self.acks % 20

        def on_loss(self, _event: sc.LossDetected) -> None:
            self.cwnd = 2

        def on_timeout(self, _event: sc.Timeout) -> None:
            self.cwnd = 1

    environment = rl.CongestionEnv(**{**SHORT, "competitors": ["counting"]})
    environment.reset(seed=1)
    act(environment, [0.3] * 5)
    branch = environment.fork()
    assert act(branch, [0.2] * 8) == act(environment, [0.2] * 8)


def test_vectors_are_copied_with_episodes_of_different_lengths() -> None:
    many = rl.CongestionVectorEnv(3, threads=2, **{**SHORT, "rate": ("2 Mbps", "20 Mbps")})
    many.reset(seed=5)
    actions = np.random.default_rng(1).uniform(-1, 1, (90, 3, 1)).astype(np.float32)
    for each in actions[:50]:
        many.step(each)
    copies = [many.fork(), copy.deepcopy(many), pickle.loads(pickle.dumps(many))]  # noqa: S301  its own
    for each in actions[50:]:
        expected = many.step(each)
        for one in copies:
            for mine, theirs in zip(one.step(each)[:4], expected[:4], strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_a_pickle_that_would_differ_is_refused() -> None:
    environment = rl.CongestionEnv(**SHORT)
    environment.reset(seed=1)
    act(environment, [0.5] * 4)
    state = environment._runs.__getstate__()
    state["_steps"] = state["_steps"] + 1
    made = object.__new__(type(environment._runs))
    with pytest.raises(sc.ScenarioError, match="cannot be continued"):
        made.__setstate__(state)


def test_a_step_before_and_after_an_episode_is_refused() -> None:
    environment = rl.CongestionEnv(**SHORT)
    with pytest.raises(gymnasium.error.ResetNeeded, match="no episode has begun"):
        environment.step(np.zeros(1, np.float32))
    environment.reset(seed=1)
    while not any(environment.step(np.zeros(1, np.float32))[2:4]):
        pass
    with pytest.raises(gymnasium.error.ResetNeeded, match="has ended"):
        environment.step(np.zeros(1, np.float32))
    environment.reset()
    environment.step(np.zeros(1, np.float32))


def test_vectors_have_what_gymnasiums_have() -> None:
    """Names and lengths are those of Gymnasium's own vector of the same environments."""
    many = rl.CongestionVectorEnv(2, **SHORT)
    single = gymnasium.make_vec(rl.ID, num_envs=2, vectorization_mode="sync", **SHORT)
    for each in (many, single):
        each.reset(seed=4)
        each.step(np.zeros((2, 1), np.float32))
    for name in ("observation_space", "action_space", "render_mode"):
        assert many.get_attr(name) == single.get_attr(name)
    assert [run.summary["flows"] for run in many.call("result")] == [
        run.summary["flows"] for run in single.call("result")
    ]
    assert many.get_attr("np_random")[1].random() == single.get_attr("np_random")[1].random()
    many.set_attr("np_random", [np.random.default_rng(1), np.random.default_rng(2)])
    assert many.get_attr("np_random")[0].random() == np.random.default_rng(1).random()
    with pytest.raises(AttributeError, match="there are result"):
        many.get_attr("nosuch")
    with pytest.raises(AttributeError, match="cannot be set"):
        many.set_attr("rate", 1)
    with pytest.raises(ValueError, match="3 values for 2"):
        many.set_attr("np_random", [np.random.default_rng()] * 3)

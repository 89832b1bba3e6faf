"""The environments: a single one, and vectorized ones."""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from selfclock import _core
from selfclock._core import ScenarioError
from selfclock.result import Result
from selfclock.rl.action import NO_WINDOW_SEGMENTS, Action
from selfclock.rl.observation import observe, space
from selfclock.rl.path import Path
from selfclock.rl.reward import Interval, LinearReward
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Self

    from numpy.typing import NDArray

    from selfclock.rl.action import Kind
    from selfclock.rl.path import Drawn
    from selfclock.rl.reward import Reward
    from selfclock.scenario.build import AnyFlow

    Features = NDArray[Any]

#: The simulator's numbers for a step, in order.
_STEP = _core.Environments.fields()
_COLUMN = {name: column for column, name in enumerate(_STEP)}
_OVER, _COMPLETE, _RTT, _WINDOW = (_COLUMN[name] for name in ("over", "complete", "rtt_s", "window_segments"))
#: The numbers of an interval, returned in the dictionary with an observation; and those from the
#: simulator.
_INTERVAL = [field.name for field in fields(Interval)]
_SHOWN = [(name, _COLUMN[name]) for name in _INTERVAL if name in _COLUMN]

#: Names that `call` of a vectorized environment knows; all but `result` are attributes.
PER_ENVIRONMENT = ("result", "observation_space", "action_space", "metadata", "spec", "render_mode", "np_random")

#: Shortest control interval: within a packet's transmission time nothing happens.
SHORTEST_INTERVAL_S = 1e-6


@dataclass(frozen=True)
class _Settings:
    """The common part of both kinds of environment."""

    path: Path
    action: Action
    reward: Reward
    interval_rtts: float
    interval_s: float | None
    record: bool

    def __deepcopy__(self, memo: dict[int, object]) -> _Settings:
        # Nothing in it changes.
        return self


def _settings(  # each argument is one of the environments'
    rate: Drawn = "20 Mbps",
    rtt: Drawn = "40 ms",
    buffer: Drawn = "1 bdp",
    loss: float | tuple[float, float] = 0.0,
    competitors: Sequence[AnyFlow] = (),
    *,
    start: str = "0 s",
    duration: str = "30 s",
    profile: str = "modern",
    transport: Mapping[str, object] | None = None,
    scenario: Scenario | str | PathLike[str] | None = None,
    flow: str | None = None,
    action: Kind = "window-factor",
    step: float = 2.0,
    window_bounds_segments: tuple[float, float] = (1.0, 1e5),
    rate_bounds_bps: tuple[float, float] = (1e4, 1e11),
    reward: Reward | None = None,
    interval_rtts: float = 1.0,
    interval_s: float | None = None,
    record: bool = False,
) -> _Settings:
    if scenario is not None and not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    if not 0 < interval_rtts <= 1000:
        raise ScenarioError(f"interval_rtts: {interval_rtts}; allowed: above 0, up to 1000")
    if interval_s is not None and not SHORTEST_INTERVAL_S <= interval_s <= 1000:
        raise ScenarioError(f"interval_s: {interval_s}; allowed: {SHORTEST_INTERVAL_S:g} to 1000")
    return _Settings(
        path=Path(
            rate, rtt, buffer, loss, tuple(competitors), start, duration, profile, transport or {}, scenario, flow
        ),
        action=Action(action, step, window_bounds_segments, rate_bounds_bps),
        reward=reward or LinearReward(),
        interval_rtts=interval_rtts,
        interval_s=interval_s,
        record=record,
    )


class _Runs:
    """Any number of runs, each with one flow under control."""

    def __init__(self, number: int, settings: _Settings, threads: int | None) -> None:
        self._settings = settings
        self._threads = threads
        self._core = _core.Environments(number, threads)
        # What each run has been told, from which a pickled one is run again.
        self._flows: list[str] = [""] * number
        self._history: list[list[list[float]]] = [[] for _ in range(number)]
        self._scenarios: list[Scenario | None] = [None] * number
        self._steps = np.zeros((number, len(_STEP)))
        self._orders = np.zeros((number, 3))
        self._previous_rtt_s = np.zeros(number)
        # Until there is a run, any positive numbers will do.
        self._path_rate_bps, self._path_rtt_s, self._mss_bytes = np.ones((3, number))
        self._rate_bps = np.zeros(number)

    def begin(self, place: int, random: np.random.Generator) -> None:
        """Begin an episode."""
        scenario, flow = self._settings.path.draw(random)
        rate, rtt, mss, row = self._core.begin(place, scenario._core, flow, self._settings.record)
        self._scenarios[place], self._flows[place], self._history[place] = scenario, flow, []
        self._path_rate_bps[place], self._path_rtt_s[place], self._mss_bytes[place] = rate, rtt, mss
        self._steps[place] = row
        self._previous_rtt_s[place] = 0.0
        # The first pacing rate is the initial window per round trip.
        self._rate_bps[place] = self._steps[place, _WINDOW] * mss * 8 / rtt

    def step(self, actions: NDArray[Any], active: NDArray[np.bool_]) -> None:
        """Let the agents of the active places act."""
        chosen = np.asarray(actions, np.float64).reshape(len(active))
        # NaN is in no range.
        if not np.all(np.abs(chosen[active]) <= 1):
            raise ValueError(f"an action is a number from -1 to 1: {actions}")
        action = self._settings.action
        present = self._rate_bps if action.sets_rate else self._steps[:, _WINDOW]
        wanted = action.apply(np.where(active, chosen, 0.0), present)
        rtt_s = self._steps[:, _RTT]
        if action.sets_rate:
            self._rate_bps = np.where(active, wanted, self._rate_bps)
            self._orders[:, 0], self._orders[:, 1] = NO_WINDOW_SEGMENTS, wanted
        else:
            self._orders[:, 0], self._orders[:, 1] = wanted, 0.0
        if self._settings.interval_s is None:
            # Before the first sample, use the propagation RTT.
            length = self._settings.interval_rtts * np.where(rtt_s > 0, rtt_s, self._path_rtt_s)
            length = np.maximum(length, SHORTEST_INTERVAL_S)
        else:
            length = np.full(len(active), self._settings.interval_s)
        self._orders[:, 2] = np.where(active, length, 0.0)
        self._previous_rtt_s = np.where(active, rtt_s, self._previous_rtt_s)
        self._core.step(self._orders, self._steps)
        for history, order, acted in zip(self._history, self._orders.tolist(), active.tolist(), strict=True):
            if acted:
                history.append(order)

    def __deepcopy__(self, memo: dict[int, object]) -> _Runs:
        """Fork every run: a copy continues from the same state."""
        made = object.__new__(_Runs)
        memo[id(self)] = made
        # Scenarios do not change, and neither do the rows of a history.
        kept = {
            "_core": self._core.fork(),
            "_scenarios": list(self._scenarios),
            "_history": [list(rows) for rows in self._history],
        }
        rest = {name: value for name, value in self.__dict__.items() if name not in kept}
        made.__dict__.update(kept, **copy.deepcopy(rest, memo))
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Run every run again as far as it had come."""
        self.__dict__.update(state)
        number = len(self._scenarios)
        self._core = _core.Environments(number, self._threads)
        shown = np.zeros_like(self._steps)
        for place, scenario in enumerate(self._scenarios):
            if scenario is not None:
                shown[place] = self._core.begin(place, scenario._core, self._flows[place], self._settings.record)[3]
        for step in range(max(map(len, self._history), default=0)):
            orders = np.zeros_like(self._orders)
            for place, rows in enumerate(self._history):
                if step < len(rows):
                    orders[place] = rows[step]
            self._core.step(orders, shown)
        if not np.array_equal(shown, self._steps):
            raise ScenarioError(
                "a pickled episode cannot be continued: run again, it differs, by a competitor that no seed "
                "determines or by another version of selfclock"
            )

    @property
    def interval(self) -> Interval:
        """A copy of each place's last step."""
        columns = self._steps.T.copy()
        return Interval(
            **{name: columns[column] for name, column in _SHOWN},
            previous_rtt_s=self._previous_rtt_s.copy(),
            path_rate_bps=self._path_rate_bps.copy(),
            path_rtt_s=self._path_rtt_s.copy(),
            mss_bytes=self._mss_bytes.copy(),
        )

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Whether everything to be sent has been acknowledged."""
        return self._steps[:, _COMPLETE] > 0

    @property
    def over(self) -> NDArray[np.bool_]:
        """Whether the run has ended."""
        return (self._steps[:, _OVER] > 0) & ~self.complete

    def result(self, place: int) -> Result:
        """Return the run so far."""
        scenario = self._scenarios[place]
        if scenario is None:
            raise ScenarioError("there is no run: reset the environment first")
        return Result(scenario, self._core.outcome(place))


def _check_options(options: dict[str, Any] | None) -> None:
    if options:
        raise ValueError(f"reset has no options, and these were given: {', '.join(map(repr, options))}")


class CongestionEnv(gymnasium.Env["Features", "NDArray[Any]"]):
    """One flow on one path. An episode is a run; a step is a control interval.

    The path is a dumbbell with `rate`, `rtt`, `buffer`, `loss`, `competitors`, `start`, `duration`,
    `profile` and `transport` as in `Path`; or that of a `scenario`, in which the agent controls
    `flow`.

    `action` is "window-factor", "rate-factor", "window" or "rate": see `Action`, with `step` and
    the bounds. A step lasts `interval_rtts` round-trip times as measured in the previous step, or
    `interval_s` seconds. `reward` is a `LinearReward` or any function of an `Interval`. With
    `record` the series are kept for `result`.

    An observation holds the numbers in `FEATURES`; the dictionary beside it holds those of
    `Interval`. An episode is truncated when the run ends, and terminated when a flow with a size
    has sent all its data.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as Gymnasium declares it

    def __init__(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401  those of `_settings`
        self._settings = _settings(*arguments, **settings)
        self._runs = _Runs(1, self._settings, threads=1)
        self._ended: bool | None = None
        self.observation_space = space()
        self.action_space = self._settings.action.space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        _check_options(options)
        self._runs.begin(0, self.np_random)
        self._ended = False
        interval = self._runs.interval
        return observe(interval)[0], self._described(interval)

    def step(self, action: NDArray[Any]) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        """Set the window or pacing rate, and run a control interval.

        After the end of an episode, and before the first, it raises `gymnasium.error.ResetNeeded`.
        """
        if self._ended is not False:
            raise gymnasium.error.ResetNeeded(
                f"{'no episode has begun' if self._ended is None else 'the episode has ended'}; call reset()"
            )
        runs = self._runs
        runs.step(action, np.ones(1, np.bool_))
        interval = runs.interval
        reward = float(self._settings.reward(interval)[0])
        terminated, truncated = bool(runs.complete[0]), bool(runs.over[0])
        self._ended = terminated or truncated
        return observe(interval)[0], reward, terminated, truncated, self._described(interval)

    def fork(self) -> Self:
        """Return a copy that continues from the same state, as `copy.deepcopy` does: for planning.

        Both give the same results for the same actions. The reward function is shared.
        """
        return copy.deepcopy(self)

    def result(self) -> Result:
        """Return the run so far: its summary, and with `record` series and figures."""
        return self._runs.result(0)

    @staticmethod
    def _described(interval: Interval) -> dict[str, Any]:
        return {name: getattr(interval, name).item() for name in _INTERVAL}


class CongestionVectorEnv(VectorEnv["Features", "NDArray[Any]", "NDArray[Any]"]):
    """Many environments, stepped on all cores or on `threads` threads with the GIL released.

    Each equals a `CongestionEnv` with the same arguments, and returns the same numbers: environment
    i of a reset with seed s is a `CongestionEnv` with seed s + i. An episode that has ended
    restarts at the next step, which ignores its action.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  as Gymnasium declares it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *arguments: Any,  # noqa: ANN401  those of `_settings`
        threads: int | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        self.num_envs = num_envs
        self._settings = _settings(*arguments, **settings)
        self._runs = _Runs(num_envs, self._settings, threads)
        self._random: list[np.random.Generator | None] = [None] * num_envs
        self._ended = np.zeros(num_envs, np.bool_)
        self.single_observation_space = space()
        self.single_action_space = self._settings.action.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Features, dict[str, Any]]:
        """Start an episode in each."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        _check_options(options)
        if isinstance(seed, int):
            seeds: Sequence[int | None] = range(seed, seed + self.num_envs)
        else:
            seeds = seed if seed is not None else [None] * self.num_envs
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        for place, own in enumerate(seeds):
            if own is not None or self._random[place] is None:
                self._random[place] = seeding.np_random(own)[0]
            self._begin(place)
        self._ended[:] = False
        interval = self._runs.interval
        return observe(interval), self._described(interval)

    def step(self, actions: NDArray[Any]) -> tuple[Features, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Set the window or pacing rate of each, and run a control interval."""
        runs, active = self._runs, ~self._ended
        for place in np.flatnonzero(self._ended):
            self._begin(int(place))
        runs.step(actions, active)
        interval = runs.interval
        rewards = np.where(active, self._settings.reward(interval), 0.0)
        terminated, truncated = runs.complete & active, runs.over & active
        self._ended = terminated | truncated
        return observe(interval), rewards, terminated, truncated, self._described(interval)

    def fork(self) -> Self:
        """Return a copy whose episodes continue from the same states, as `copy.deepcopy` does."""
        return copy.deepcopy(self)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:  # noqa: ANN401  as Gymnasium declares it
        """Return what each environment has under a name, called if it is a method; one of `PER_ENVIRONMENT`."""
        if name == "result":
            return tuple(self.result(place, *args, **kwargs) for place in range(self.num_envs))
        return self.get_attr(name)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each environment; one of `PER_ENVIRONMENT`, without methods."""
        common = {
            "observation_space": self.single_observation_space,
            "action_space": self.single_action_space,
            "metadata": self.metadata,
            "spec": self.spec,
            "render_mode": self.render_mode,
        }
        if name == "np_random":
            return tuple(self._random)
        if name not in common:
            raise AttributeError(f"an environment has no {name!r} here; there are {', '.join(PER_ENVIRONMENT)}")
        return (common[name],) * self.num_envs

    def set_attr(self, name: str, values: Any) -> None:  # noqa: ANN401  as Gymnasium declares it
        """Set the generator of each environment, `np_random`; nothing else can be set."""
        if name != "np_random":
            raise AttributeError(f"{name!r} cannot be set; np_random can, and settings are those of the constructor")
        given = [values] * self.num_envs if isinstance(values, np.random.Generator) else list(values)
        if len(given) != self.num_envs:
            raise ValueError(f"{len(given)} values for {self.num_envs} environments")
        self._random = given

    def result(self, place: int) -> Result:
        """Return the run of one environment so far; with `record` it has series and figures."""
        return self._runs.result(place)

    def _begin(self, place: int) -> None:
        random = self._random[place]
        if random is None:
            raise ScenarioError("there is no run: reset the environment first")
        self._runs.begin(place, random)

    def _described(self, interval: Interval) -> dict[str, Any]:
        described: dict[str, Any] = {}
        for name in _INTERVAL:
            described[name] = getattr(interval, name)
            described[f"_{name}"] = np.ones(self.num_envs, np.bool_)
        return described

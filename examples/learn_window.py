"""Learn when to grow and when to shrink a window: the cross-entropy method over a linear policy, with numpy alone.

    pip install 'selfclock[rl]'
    python examples/learn_window.py                    # a minute or two; writes policy.json
    python examples/learn_window.py --policy policy.json   # only measures a policy that was learnt

The policy sees six numbers without units, so that one set of weights fits every path. It is learnt
on paths drawn at random and measured on a hundred others, beside two rules written by hand and
three algorithms that are built in.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import selfclock as sc
from selfclock import rl

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    #: Maps observations, one row per environment, to actions.
    Policy = Callable[[NDArray[Any]], Numbers]

#: Distribution of each episode's path, which has no other traffic. The window is at least four
#: segments: with one, the receiver delays its ACK by 40 ms, and on a short path that looks like a
#: queue that never drains.
PATHS = {
    "rate": ("5 Mbps", "50 Mbps"),
    "rtt": ("10 ms", "100 ms"),
    "buffer": ("0.5 bdp", "3 bdp"),
    "duration": "10 s",
    "window_bounds_segments": (4, 1e5),
}
POPULATION, ELITE, GENERATIONS, EPISODES = 32, 8, 20, 4
TEST_EPISODES, TEST_SEED = 100, 1_000_000
COLUMN = {feature.name: number for number, feature in enumerate(rl.FEATURES)}


def seen(observations: NDArray[Any]) -> Numbers:
    """The policy's features, by environment: constant 1, queueing, loss, slope of the delay, utility, timeout."""
    columns = {name: observations[:, number].astype(np.float64) for name, number in COLUMN.items()}
    known = columns["rtt_min"] > 0
    queueing = np.where(known, columns["rtt"] / np.maximum(columns["rtt_min"], 1e-9) - 1, 0.0)
    arrived = np.where(columns["sent"] > 0, columns["delivered"] / np.maximum(columns["sent"], 1e-9), 1.0)
    return np.stack(
        [
            np.ones(len(observations)),
            np.clip(queueing, 0, 3),
            columns["lost"],
            np.clip(columns["rtt_slope"], -1, 1),
            np.clip(arrived, 0, 2) - 1,
            np.minimum(columns["timeouts"], 1),
        ],
        axis=1,
    )


def linear(weights: Numbers) -> Policy:
    """Weights for all environments, or one row of weights for each."""
    return lambda observations: np.clip(np.sum(seen(observations) * weights, axis=1), -1, 1)


def keep_a_short_queue(observations: NDArray[Any]) -> Numbers:
    """Hand-written: grow until round trips are a fifth longer than the shortest, then shrink."""
    return np.where(seen(observations)[:, 1] < 0.2, 0.3, -0.3)


class Aimd:
    """Hand-written, from 1988: one segment more per round trip; half after a loss.

    Losses reported in the round trip after a reduction happened before it, and are no reason for
    another (RFC 5681).
    """

    def __init__(self) -> None:
        self._reduced: NDArray[Any] = np.zeros(1, bool)

    def __call__(self, observations: NDArray[Any]) -> Numbers:
        """Return an action for each environment."""
        window, lost = observations[:, COLUMN["window"]], observations[:, COLUMN["lost"]] > 0
        reduce = lost & ~self._reduced
        self._reduced = reduce
        return np.where(reduce, -1.0, np.where(lost, 0.0, np.log2((window + 1) / window)))


def score(policy: Policy, environments: rl.CongestionVectorEnv, seeds: list[int]) -> Numbers:
    """Play an episode in each environment; return reward per second, throughput, delay and loss."""
    observations, _ = environments.reset(seed=seeds)
    playing = np.ones(environments.num_envs, bool)
    sums = np.zeros((environments.num_envs, 4))
    seconds = np.zeros(environments.num_envs)
    while playing.any():
        observations, rewards, terminated, truncated, info = environments.step(policy(observations)[:, None])
        length = np.where(playing, info["length_s"], 0.0)
        lost = info["lost_bytes"] / np.maximum(info["lost_bytes"] + info["delivered_bytes"], 1.0)
        throughput = info["delivered_bytes"] * 8 / np.maximum(info["length_s"], 1e-9) / info["path_rate_bps"]
        delay = np.maximum(info["rtt_s"] / info["path_rtt_s"] - 1, 0)
        sums += np.stack([rewards, throughput, delay, lost], axis=1) * length[:, None]
        seconds += length
        playing &= ~(terminated | truncated)
    return sums / seconds[:, None]


def learn(seed: int) -> Numbers:
    """The cross-entropy method: draw weights, keep the best, draw around them."""
    random = np.random.default_rng(seed)
    mean, deviation = np.zeros(6), np.full(6, 1.0)
    environments = rl.CongestionVectorEnv(POPULATION * EPISODES, **PATHS)
    for generation in range(GENERATIONS):
        weights = mean + deviation * random.standard_normal((POPULATION, 6))
        # Every candidate plays on the same paths.
        paths = [generation * EPISODES + episode for episode in range(EPISODES)]
        policy = linear(np.repeat(weights, EPISODES, axis=0))
        rewards = score(policy, environments, paths * POPULATION)[:, 0].reshape(POPULATION, EPISODES).mean(axis=1)
        best = weights[np.argsort(rewards)[-ELITE:]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.3 * 0.8**generation
        print(
            f"generation {generation + 1:2}: mean reward {rewards.mean():6.3f}, best {rewards.max():6.3f}", flush=True
        )
    return mean


def built_in(name: str) -> Numbers:
    """The same measures for a built-in algorithm, on the test paths."""
    rows, scenarios = [], []
    for seed in range(TEST_SEED, TEST_SEED + TEST_EPISODES):
        environment = rl.CongestionEnv(**PATHS)
        _, info = environment.reset(seed=seed)
        scenario = environment.result().scenario
        scenarios.append((scenario.with_overrides([f"flow.0.congestion_control={name}"]).unrecorded(), info))
    for result, (_, info) in zip(sc.run_many(scenario for scenario, _ in scenarios), scenarios, strict=True):
        flow = result.summary["flows"][0]
        throughput = flow["goodput_bps"] / info["path_rate_bps"]
        delay = max(0.0, (flow["rtt_mean_s"] or 0.0) / info["path_rtt_s"] - 1)
        # Fraction of segments retransmitted.
        lost = flow["retransmitted_segments"] / max(flow["sent_segments"], 1)
        rows.append([throughput - 0.5 * delay - lost, throughput, delay, lost])
    return np.array(rows)


def main() -> None:
    """Learn or load, then measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--policy", type=Path, help="weights that were learnt before")
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    if chosen.policy is not None:
        weights = np.array(json.loads(chosen.policy.read_text(encoding="utf-8")))
    else:
        weights = learn(chosen.seed)
        Path("policy.json").write_text(json.dumps(weights.round(4).tolist()) + "\n", encoding="utf-8")
        print("policy.json:", weights.round(3).tolist())
    environments = rl.CongestionVectorEnv(TEST_EPISODES, **PATHS)
    seeds = list(range(TEST_SEED, TEST_SEED + TEST_EPISODES))
    measured = {
        "learnt": score(linear(weights), environments, seeds),
        "short queue, by hand": score(keep_a_short_queue, environments, seeds),
        "AIMD, by hand": score(Aimd(), environments, seeds),
        **{name: built_in(name) for name in ("reno", "cubic", "bbr3")},
    }
    print(f"\n{TEST_EPISODES} other paths            reward  throughput  queueing delay    lost")
    for name, rows in measured.items():
        reward, throughput, delay, lost = rows.mean(axis=0)
        print(f"{name:24} {reward:9.3f} {throughput:11.3f} {delay:15.3f} {lost:7.4f}")


if __name__ == "__main__":
    main()

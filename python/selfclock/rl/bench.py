"""`python -m selfclock.rl.bench`: steps per second of the learning environment on this machine."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from selfclock.rl.environment import CongestionEnv, CongestionVectorEnv
from selfclock.rl.observation import FEATURES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Total steps of all environments.
STEPS = 20_000
ENVIRONMENTS = 64
#: 67 packets in a control interval of one round trip.
PATH = {"rate": "20 Mbps", "rtt": "40 ms", "buffer": "1 bdp", "duration": "30 s"}

_NAMES = [feature.name for feature in FEATURES]
_RTT, _RTT_MIN = _NAMES.index("rtt"), _NAMES.index("rtt_min")


def _act(observations: NDArray[Any]) -> NDArray[Any]:
    """Increase up to the BDP; decrease from a queue of a fifth of it."""
    return np.where(observations[:, _RTT] <= 1.2 * observations[:, _RTT_MIN], 0.3, -0.3)[:, None]


def _single(steps: int) -> None:
    environment = CongestionEnv(**PATH)
    observation, _ = environment.reset(seed=1)
    for _ in range(steps):
        observation, _, terminated, truncated, _ = environment.step(_act(observation[None])[0])
        if terminated or truncated:
            observation, _ = environment.reset()


def _many(threads: int) -> Callable[[int], None]:
    def run(steps: int) -> None:
        environments = CongestionVectorEnv(ENVIRONMENTS, threads=threads, **PATH)
        observations, _ = environments.reset(seed=1)
        for _ in range(steps // ENVIRONMENTS):
            observations, *_ = environments.step(_act(observations))

    return run


def main() -> None:
    """Measure and print."""
    cores = os.cpu_count() or 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("environments")
    for heading in ("threads", "steps per second", "steps per CPU second"):
        table.add_column(heading, justify="right")
    cases = [("one", 1, _single), (f"{ENVIRONMENTS}", 1, _many(1)), (f"{ENVIRONMENTS}", cores, _many(cores))]
    for name, threads, run in cases:
        wall, cpu = time.perf_counter(), time.process_time()
        run(STEPS)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        table.add_row(name, str(threads), f"{STEPS / wall:,.0f}", f"{STEPS / cpu:,.0f}")
    Console().print(f"{PATH}, a step per round trip", highlight=False)
    Console().print(table)


if __name__ == "__main__":
    main()

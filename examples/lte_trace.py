"""Make examples/lte.trace and examples/train.trace, for the bottleneck of examples/lte.toml.

    python examples/lte_trace.py lte > examples/lte.trace
    python examples/lte_trace.py train > examples/train.trace

Made-up LTE downlinks, twenty seconds of each, in the format of Mahimahi: one line for each
opportunity to send a packet of 1500 B, with its time in milliseconds. They are measured nowhere;
what real cells do and these do, too: the rate wanders by a factor of ten within seconds (the user
moves, others come and go), opportunities come in bursts of a transmission interval, and at times
there are none at all for a while (a handover). In the train the rate wanders faster, and there is a
handover every four seconds.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass

SECONDS = 20
#: Fastest: 36 Mbit/s.
MOST = 3.0
#: Milliseconds between this user's time slots in the cell.
INTERVAL_MS = 4


@dataclass(frozen=True)
class Cell:
    """Variation of a cell's rate."""

    #: Mean and standard deviation of the logarithm of the rate, in packets per millisecond, and how
    #: long it stays near a value.
    mean: float
    deviation: float
    memory_ms: int
    #: Intervals without transmission: start and end, ms.
    handovers: tuple[tuple[int, int], ...]


CELLS = {
    # Means of 6 Mbit/s, and 2.4.
    "lte": Cell(math.log(0.5), 0.7, 1_000, ((6_000, 6_250), (14_500, 14_900))),
    "train": Cell(math.log(0.2), 1.0, 400, tuple((at, at + 600) for at in range(2_000, 20_000, 4_000))),
}


def opportunities(cell: Cell, seed: int = 1) -> list[int]:
    """Return the times of all opportunities, ms."""
    source = random.Random(seed)  # noqa: S311
    times: list[int] = []
    wander = owed = 0.0
    for now in range(1, SECONDS * 1000 + 1):
        # A mean-reverting random walk (Ornstein and Uhlenbeck's) with nearly normal steps.
        step = sum(source.random() for _ in range(12)) - 6
        wander += -wander / cell.memory_ms + step * cell.deviation * math.sqrt(2 / cell.memory_ms)
        if any(begin <= now < end for begin, end in cell.handovers):
            continue
        owed += min(math.exp(cell.mean + wander), MOST)
        if now % INTERVAL_MS == 0:
            times += [now] * int(owed)
            owed -= int(owed)
    return times


if __name__ == "__main__":
    sys.stdout.write("".join(f"{time}\n" for time in opportunities(CELLS[sys.argv[1]])))

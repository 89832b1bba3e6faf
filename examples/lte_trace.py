"""Make examples/lte.trace, which examples/lte.toml uses.

    python examples/lte_trace.py > examples/lte.trace

A made-up LTE downlink, twenty seconds of it, in the format of Mahimahi: one line for each opportunity to send a packet
of 1500 B, with its time in milliseconds. It is measured nowhere; what real cells do and it does, too: the rate wanders
by a factor of ten within seconds (the user moves, others come and go), opportunities come in bursts of a transmission
interval, and twice there are none at all for a while (a handover).
"""

from __future__ import annotations

import math
import random
import sys

SECONDS = 20
#: Mean of the logarithm of the rate, packets in a millisecond (6 Mbit/s), its standard deviation, and for how long it
#: stays near a value.
MEAN, DEVIATION, MEMORY_MS = math.log(0.5), 0.7, 1_000
#: Fastest: 36 Mbit/s.
MOST = 3.0
#: In these intervals nothing is sent: from, until, ms.
HANDOVERS = ((6_000, 6_250), (14_500, 14_900))
#: The cell serves this user every so many milliseconds.
INTERVAL_MS = 4


def opportunities(seed: int = 1) -> list[int]:
    """Return the times of all opportunities, ms."""
    source = random.Random(seed)  # noqa: S311
    times: list[int] = []
    wander = owed = 0.0
    for now in range(1, SECONDS * 1000 + 1):
        # A random walk that is drawn back to its middle (Ornstein and Uhlenbeck's), of steps nearly normal.
        step = sum(source.random() for _ in range(12)) - 6
        wander += -wander / MEMORY_MS + step * DEVIATION * math.sqrt(2 / MEMORY_MS)
        if any(begin <= now < end for begin, end in HANDOVERS):
            continue
        owed += min(math.exp(MEAN + wander), MOST)
        if now % INTERVAL_MS == 0:
            times += [now] * int(owed)
            owed -= int(owed)
    return times


if __name__ == "__main__":
    sys.stdout.write("".join(f"{time}\n" for time in opportunities()))

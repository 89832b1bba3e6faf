"""Measures how the cost of a packet-hop grows with the number of flows: make growth.

The path and the packets in flight are the same for every number of flows: 120,000 segments across
10 Gbit/s, once with one round-trip time, once with different ones from 52 to 217 ms. A cost is the
difference between runs of two durations, so that set-up and slow start are excluded; series are
off. The numbers of flows take turns, so that other load on the machine affects all of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys

import selfclock as sc

FLOWS = (1, 2, 10, 100, 1000, 10_000)
#: Segments in flight together: more than either path holds, so the bottleneck is always busy.
SEGMENTS = 120_000
#: Simulated time, s. Slow start to 60,000 segments at 217 ms is over after 3 s.
BEGINNING, END = 4, 6
PATH = """
schema = 1
name = "growth"
duration = "{seconds} s"
record = {{ interval = "off" }}
flow = [{{ count = {flows}, congestion_control = "reno", start_jitter = "120 ms" }}]

[network]
topology = "dumbbell"
bottleneck = {{ rate = "10 Gbps", delay = "{delay}", queue = "120000 packets" }}
access = {{ rate = "{access}", delay = "{nearest}" }}
access_step = "{step_us} us"
sink_access = {{ rate = "{access}", delay = "{sink}" }}

[transport]
mss = "1460 B"
timestamps = false
recovery = "sack"
prr = false
delayed_ack = "off"
receive_window = "{window} segments"
"""
#: One RTT of 120 ms, and RTTs of 52 ms to 52 ms + 2 SPREAD.
EQUAL = {"delay": "40 ms", "nearest": "10 ms", "sink": "10 ms"}
DIFFERENT = {"delay": "20 ms", "nearest": "5 ms", "sink": "1 ms"}
SPREAD_US = 82_500


def scenario(flows: int, different: bool, seconds: int) -> sc.Scenario:
    """Return the path with this number of flows."""
    text = PATH.format(
        flows=flows,
        seconds=seconds,
        window=SEGMENTS // flows,
        # A few flows must be able to fill the bottleneck; thousands share it.
        access="20 Gbps" if flows <= 10 else "2.4 Gbps",
        step_us=SPREAD_US / max(flows - 1, 1) if different else 0,
        **(DIFFERENT if different else EQUAL),
    )
    return sc.Scenario.parse(text, "growth")


def cost(flows: int, different: bool) -> float:
    """Return the CPU time of a packet-hop, ns."""
    short, long = (scenario(flows, different, seconds).run().summary for seconds in (BEGINNING, END))
    return 1e9 * (long["cpu_s"] - short["cpu_s"]) / (long["packet_hops"] - short["packet_hops"])


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    found: dict[tuple[int, bool], list[float]] = {}
    for _ in range(rounds):
        for flows in FLOWS:
            for different in (False, True):
                found.setdefault((flows, different), []).append(cost(flows, different))
    sys.stdout.write("| flows | one RTT, ns | of 2 flows | different RTTs, ns | of 2 flows |\n|---|---|---|---|---|\n")
    for flows in FLOWS:
        row = [f"{flows:,}"]
        for different in (False, True):
            values, two = found[flows, different], statistics.median(found[2, different])
            middle = statistics.median(values)
            row += [f"{middle:.1f} ({min(values):.1f} to {max(values):.1f})", f"{middle / two:.2f}"]
        sys.stdout.write(f"| {' | '.join(row)} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Scenarios at the limits of what may be requested: `make load` runs them in full, the tests for a short time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A heavy scenario."""

    name: str
    text: str
    #: Simulated time in the tests.
    short: str
    #: Minimum utilization of the first link over the whole run, so that it really carried the load.
    busy: float


def dumbbell(rate: str, delay: str, flows: str, *, duration: str, access: str, hosts: str = "") -> str:
    """Return a scenario across one bottleneck."""
    return f"""\
schema = 1
duration = "{duration}"

[network]
topology = "dumbbell"
{hosts}
bottleneck = {{ rate = "{rate}", delay = "{delay}" }}
access = {{ rate = "{access}", delay = "1 ms" }}

[[flow]]
{flows}
"""


CASES = [
    Case(
        "100,000 flows",
        dumbbell("10 Gbps", "10 ms", 'count = 100_000\nstart_jitter = "1 s"', duration="3 s", access="1 Gbps"),
        "2 ms",
        0.5,
    ),
    # 86.4 Mbit: some 7000 packets of 1500 B.
    Case("a day on 1 kbit/s", dumbbell("1 kbps", "1 s", "", duration="24 h", access="1 Mbps"), "24 h", 0.95),
    Case(
        "1 Tbit/s",
        dumbbell("1 Tbps", "1 ms", 'congestion_control = "cubic"', duration="300 ms", access="2 Tbps"),
        "10 ms",
        0.3,
    ),
    Case(
        "10,002 nodes",
        """\
schema = 1
duration = "20 s"

[network]
topology = "parking-lot"
hops = 3333
hop = { rate = "10 Mbps", delay = "1 us" }
access = { rate = "100 Mbps", delay = "1 us" }

[[flow]]
count = 20
""",
        "200 ms",
        0.5,
    ),
]

"""The paths and algorithms of the validation, in the simulator, measured as real connections are."""

from __future__ import annotations

from typing import Any

import numpy as np
from lab import Transfer

import selfclock as sc

#: The relay between the hosts: its bottleneck holds whole packets in a buffer of bytes, which
#: includes the rest of the packet in service, and the access links cost nothing. The receiver
#: acknowledges every other segment, at the latest after 40 ms: the hosts' TUN devices do not merge
#: segments (GRO).
SCENARIO = """\
schema = 1
duration = "{seconds} s"
[network]
topology = "dumbbell"
bottleneck = {{ rate = "{mbps} Mbps", delay = "{delay} ms", queue = "{buffer} B", queue_counts = "in-system" }}
access = {{ rate = "100 Gbps", delay = "1 us" }}
[record]
interval = "10 ms"
[[flow]]
congestion_control = {control}
transport = {{ undo = true, delayed_ack = {{ every = 2, timer = "40 ms" }} }}
"""


def simulate(where: tuple[float, float, int], control: str, seconds: float) -> Transfer:
    """Run one flow; `control` is TOML."""
    mbps, rtt_ms, buffer = where
    text = SCENARIO.format(seconds=seconds, mbps=mbps, delay=rtt_ms / 2, buffer=buffer, control=control)
    result = sc.Scenario.parse(text, "simulated").run()
    columns: dict[str, Any] = {
        name: np.asarray(result.flows.column(name), float)
        for name in ("time_s", "srtt_s", "ssthresh_bytes", "cwnd_bytes", "acknowledged_bytes")
    }
    [flow] = result.summary["flows"]
    segment = 1448
    return Transfer(
        control,
        columns["time_s"].tolist(),
        (np.nan_to_num(columns["srtt_s"]) * 1e6).astype(int).tolist(),
        np.nan_to_num(columns["ssthresh_bytes"] / segment, posinf=0x7FFFFFFF).astype(int).tolist(),
        (columns["cwnd_bytes"] // segment).astype(int).tolist(),
        # Only the last value is read.
        [0] * (len(columns["time_s"]) - 1) + [flow["retransmitted_segments"]],
        columns["acknowledged_bytes"].astype(int).tolist(),
    )

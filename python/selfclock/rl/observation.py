"""An agent's observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfclock.rl.reward import Interval


@dataclass(frozen=True)
class Feature:
    """One number of an observation, clamped to its bounds."""

    name: str
    unit: str
    low: float
    high: float
    about: str


#: The numbers of an observation, in order. Unless stated otherwise they count payload in the
#: interval just ended.
FEATURES = (
    Feature("sent", "Mbit/s", 0, 1e6, "sending rate, retransmissions included"),
    Feature("delivered", "Mbit/s", 0, 1e6, "rate of data acknowledged or SACKed"),
    Feature("lost", "share", 0, 1, "data declared lost, as a share of data delivered or lost"),
    Feature("marked", "share", 0, 1, "CE-marked share of data delivered; with classic ECN 1 if an echo arrived"),
    Feature("rtt", "ms", 0, 1e6, "mean RTT; without a sample the previous value; 0 before the first"),
    Feature("rtt_min", "ms", 0, 1e6, "minimum RTT of the episode; 0 before the first sample"),
    Feature("rtt_slope", "s/s", -1e3, 1e3, "change of `rtt` since the previous interval, per second"),
    Feature("window", "segments", 0, 1e9, "congestion window; 1 after an RTO"),
    Feature("pacing", "Mbit/s", 0, 1e6, "pacing rate on the wire; 0: none"),
    Feature("in_flight", "segments", 0, 1e9, "in flight at the end"),
    Feature("timeouts", "number", 0, 1e6, "RTOs"),
    Feature("interval", "ms", 0, 1e6, "length of the interval; 0 at the beginning of an episode"),
)  # fmt: skip

LOW = np.array([feature.low for feature in FEATURES], np.float32)
HIGH = np.array([feature.high for feature in FEATURES], np.float32)


def space() -> spaces.Box:
    """Return the space of an observation."""
    return spaces.Box(LOW, HIGH, dtype=np.float32)


def observe(interval: Interval) -> NDArray[np.float32]:
    """Return a row of features for each environment."""
    seconds = np.maximum(interval.length_s, 1e-12)
    known = (interval.previous_rtt_s > 0) & (interval.length_s > 0)
    rows = np.empty((len(seconds), len(FEATURES)))
    rows[:, 0] = interval.sent_bytes * 8e-6 / seconds
    rows[:, 1] = interval.delivered_bytes * 8e-6 / seconds
    rows[:, 2] = interval.lost_share
    rows[:, 3] = interval.marked_share
    rows[:, 4] = interval.rtt_s * 1e3
    rows[:, 5] = interval.rtt_min_s * 1e3
    rows[:, 6] = np.where(known, (interval.rtt_s - interval.previous_rtt_s) / seconds, 0.0)
    rows[:, 7] = interval.window_segments
    rows[:, 8] = interval.pacing_bps * 1e-6
    rows[:, 9] = interval.in_flight_bytes / interval.mss_bytes
    rows[:, 10] = interval.timeouts
    rows[:, 11] = interval.length_s * 1e3
    return np.minimum(np.maximum(rows, LOW), HIGH).astype(np.float32)

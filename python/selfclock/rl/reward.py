"""A control interval, and its reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A control interval. Each field is an array with a number for each environment; bytes are payload."""

    #: Simulated time at its end.
    now_s: Numbers
    #: How long it was.
    length_s: Numbers
    #: Sent, retransmissions too.
    sent_bytes: Numbers
    #: Acknowledged or SACKed.
    delivered_bytes: Numbers
    #: Marked lost.
    lost_bytes: Numbers
    #: Reported as marked congestion-experienced (accurate ECN feedback).
    marked_bytes: Numbers
    #: Echoes of marks (classic ECN), at most one per window of data.
    ecn_echoes: Numbers
    #: Expiries of the retransmission timer.
    timeouts: Numbers
    #: Mean of the round-trip times measured; without any the last; 0 before the first.
    rtt_s: Numbers
    #: Smallest round-trip time so far; 0 before the first.
    rtt_min_s: Numbers
    #: Window at the end.
    window_segments: Numbers
    #: Pacing on the wire; 0: none.
    pacing_bps: Numbers
    #: In flight at the end.
    in_flight_bytes: Numbers
    #: `rtt_s` of the interval before.
    previous_rtt_s: Numbers
    #: Smallest rate on the flow's way, as at the beginning: what the agent is not told, and a
    #: reward may know.
    path_rate_bps: Numbers
    #: Round-trip time of a full segment without queues, likewise.
    path_rtt_s: Numbers
    #: Payload of a full segment.
    mss_bytes: Numbers

    @property
    def lost_share(self) -> Numbers:
        """Lost share of the data delivered or lost."""
        known = self.delivered_bytes + self.lost_bytes
        return self.lost_bytes / np.maximum(known, 1.0)

    @property
    def marked_share(self) -> Numbers:
        """Marked share of the data delivered; with classic ECN 1 if an echo came."""
        share = np.minimum(self.marked_bytes / np.maximum(self.delivered_bytes, 1.0), 1.0)
        return np.where(self.ecn_echoes > 0, 1.0, share)


#: From what happened to a number for each environment.
Reward: TypeAlias = Callable[[Interval], Numbers]


@dataclass(frozen=True)
class LinearReward:
    """Throughput less queueing delay less loss, each without unit and with a weight.

    * throughput: payload delivered, as a share of the smallest rate on the way (1448 of 1500 bytes
      is the most);
    * queueing delay: mean round-trip time over that of the empty path, less 1;
    * loss: payload lost, as a share of what was delivered or lost.
    """

    throughput: float = 1.0
    delay: float = 0.5
    loss: float = 1.0

    def __call__(self, interval: Interval) -> Numbers:
        """Return the reward of an interval."""
        seconds = np.maximum(interval.length_s, 1e-12)
        throughput = interval.delivered_bytes * 8 / seconds / interval.path_rate_bps
        # Rounding to float64 may bring a mean an ulp below the empty path's; before the first
        # sample it is zero.
        delay = np.maximum(interval.rtt_s / interval.path_rtt_s - 1, 0.0)
        return self.throughput * throughput - self.delay * delay - self.loss * interval.lost_share

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
    """A control interval. Each field is an array with one number per environment; bytes are payload."""

    #: Simulated time at its end.
    now_s: Numbers
    #: Its length.
    length_s: Numbers
    #: Sent, retransmissions too.
    sent_bytes: Numbers
    #: Acknowledged or SACKed.
    delivered_bytes: Numbers
    #: Marked lost.
    lost_bytes: Numbers
    #: Bytes reported as CE-marked (accurate ECN feedback).
    marked_bytes: Numbers
    #: ECE signals (classic ECN), at most one per window of data.
    ecn_echoes: Numbers
    #: Retransmission timeouts.
    timeouts: Numbers
    #: Mean of the measured round-trip times; without samples, the last one; 0 before the first.
    rtt_s: Numbers
    #: Smallest round-trip time so far; 0 before the first.
    rtt_min_s: Numbers
    #: Window at the end.
    window_segments: Numbers
    #: Pacing rate on the wire; 0 means none.
    pacing_bps: Numbers
    #: Bytes in flight at the end.
    in_flight_bytes: Numbers
    #: `rtt_s` of the previous interval.
    previous_rtt_s: Numbers
    #: Smallest link rate on the flow's path at the start: hidden from the agent, but available to a
    #: reward.
    path_rate_bps: Numbers
    #: Round-trip time of a full segment without queues, likewise.
    path_rtt_s: Numbers
    #: Payload of a full segment.
    mss_bytes: Numbers

    @property
    def lost_share(self) -> Numbers:
        """Lost fraction of the data delivered or lost."""
        known = self.delivered_bytes + self.lost_bytes
        return self.lost_bytes / np.maximum(known, 1.0)

    @property
    def marked_share(self) -> Numbers:
        """Marked fraction of the delivered data; with classic ECN, 1 if an ECE signal arrived."""
        share = np.minimum(self.marked_bytes / np.maximum(self.delivered_bytes, 1.0), 1.0)
        return np.where(self.ecn_echoes > 0, 1.0, share)


#: Maps an interval to one number per environment.
Reward: TypeAlias = Callable[[Interval], Numbers]


@dataclass(frozen=True)
class LinearReward:
    """Throughput less queueing delay less loss, each dimensionless and weighted.

    * throughput: delivered payload as a fraction of the smallest rate on the path (at most 1448 of
      1500 bytes);
    * queueing delay: mean round-trip time over the propagation RTT, minus 1;
    * loss: lost payload as a fraction of payload delivered or lost.
    """

    throughput: float = 1.0
    delay: float = 0.5
    loss: float = 1.0

    def __call__(self, interval: Interval) -> Numbers:
        """Return the reward of an interval."""
        seconds = np.maximum(interval.length_s, 1e-12)
        throughput = interval.delivered_bytes * 8 / seconds / interval.path_rate_bps
        # Rounding to float64 may bring a mean one ulp below the propagation RTT; before the first
        # sample it is zero.
        delay = np.maximum(interval.rtt_s / interval.path_rtt_s - 1, 0.0)
        return self.throughput * throughput - self.delay * delay - self.loss * interval.lost_share

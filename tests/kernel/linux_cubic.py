"""The update rule of Linux's CUBIC (net/ipv4/tcp_cubic.c), for the simulator: how its period differs from RFC 9438.

Slow start, loss recovery and the link are the simulator's, so that only the rule of the window
differs from the library's `cubic`. HyStart is left out.
"""

from __future__ import annotations

import selfclock as sc

HZ = 250
#: Shift of time in `bictcp_update`: units of 1/1024 s.
UNIT = 1024
BETA, SCALE = 717, 1024
#: `beta_scale`, `cube_rtt_scale` and `cube_factor`, with their integer divisions.
BETA_SCALE = 8 * (SCALE + BETA) // 3 // (SCALE - BETA)
CUBE_RTT_SCALE = 41 * 10
CUBE_FACTOR = (1 << (10 + 3 * 10)) // CUBE_RTT_SCALE


def cube_root(value: int) -> int:
    """Return the integer cube root; the kernel's table is exact to 0.2 % or so."""
    root = round(value ** (1 / 3))
    return root - (root**3 > value)


@sc.algorithm("linux-cubic", source="Linux, net/ipv4/tcp_cubic.c")
class LinuxCubic(sc.CongestionControl):
    """CUBIC as Linux updates its window: in whole segments, by a count of ACKs renewed every 31 ms."""

    at_once: bool = sc.parameter(default=False, about="Renew the count at every ACK, not every 31 ms.")

    def __init__(self) -> None:
        self.cnt = self.ack_cnt = self.cwnd_cnt = self.tcp_cwnd = 0
        self.last_max = self.last_cwnd = self.last_time = self.origin = self.k = 0
        self.epoch: int | None = None
        self.delay_min = 0.0

    def on_ack(self, event: sc.Acknowledged) -> None:
        """Grow as tcp_slow_start, bictcp_update and tcp_cong_avoid_ai do."""
        if event.minimum_rtt_s is not None:
            self.delay_min = event.minimum_rtt_s
        if event.recovering or not event.window_limited:
            return
        acked = round(self.segments(event.size_bytes))
        if self.in_slow_start:
            self.cwnd += acked
            return
        cwnd = int(self.cwnd)
        self.update(int(event.now_s * HZ), cwnd, acked)
        if self.cwnd_cnt >= self.cnt:
            self.cwnd_cnt, cwnd = 0, cwnd + 1
        self.cwnd_cnt += acked
        grown, self.cwnd_cnt = divmod(self.cwnd_cnt, self.cnt)
        self.cwnd = cwnd + grown

    def update(self, jiffies: int, cwnd: int, acked: int) -> None:
        """Renew the count of ACKs for a segment: bictcp_update."""
        self.ack_cnt += acked
        if not self.at_once and self.last_cwnd == cwnd and jiffies - self.last_time <= HZ // 32:
            return
        if self.epoch is None or jiffies != self.last_time:
            self.last_cwnd, self.last_time = cwnd, jiffies
            if self.epoch is None:
                self.epoch, self.ack_cnt, self.tcp_cwnd = jiffies, acked, cwnd
                self.k = cube_root(CUBE_FACTOR * (self.last_max - cwnd)) if self.last_max > cwnd else 0
                self.origin = max(self.last_max, cwnd)
            t = ((jiffies - self.epoch + int(self.delay_min * HZ)) * UNIT) // HZ
            delta = (CUBE_RTT_SCALE * abs(t - self.k) ** 3) >> 40
            target = self.origin - delta if t < self.k else self.origin + delta
            self.cnt = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
            if self.last_max == 0:
                self.cnt = min(self.cnt, 20)
        # "TCP friendliness": Reno's window with the same mean.
        delta = (cwnd * BETA_SCALE) >> 3
        while self.ack_cnt > delta:
            self.ack_cnt -= delta
            self.tcp_cwnd += 1
        if self.tcp_cwnd > cwnd:
            self.cnt = min(self.cnt, cwnd // (self.tcp_cwnd - cwnd))
        self.cnt = max(self.cnt, 2)

    def on_loss(self, event: sc.LossDetected) -> None:
        """Reduce: bictcp_recalc_ssthresh, of the window."""
        del event
        cwnd = int(self.cwnd)
        self.epoch = None
        self.last_max = cwnd * (SCALE + BETA) // (2 * SCALE) if cwnd < self.last_max else cwnd
        self.ssthresh = max(cwnd * BETA // SCALE, 2)
        self.cwnd = self.ssthresh

    def on_timeout(self, event: sc.Timeout) -> None:
        """Reduce the threshold."""
        if not event.repeated:
            cwnd = int(self.cwnd)
            self.epoch = None
            self.last_max = cwnd
            self.ssthresh = max(cwnd * BETA // SCALE, 2)

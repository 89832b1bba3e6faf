//! RTT measurement.

use selfclock_congestion::{Duration, Time};

/// The RTTs of a path, including the peer's ACK delay, as measured by TCP, with which the
/// algorithms are compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTripTimes {
    newest_acked: Option<Time>,
    latest: Duration,
    smoothed: Option<Duration>,
    /// "rttvar".
    variation: Duration,
    minimum: Option<Duration>,
}

impl RoundTripTimes {
    /// An ACK frame at `now` whose newest packet was sent at `newest_sent`. It is a sample if it is
    /// the newest ever: "the largest acknowledged packet number is newly acknowledged" (RFC 9002,
    /// section 5.1).
    pub fn sample(&mut self, newest_sent: Time, now: Time) -> Option<Duration> {
        if self.newest_acked.is_some_and(|newest| newest_sent < newest) {
            return None;
        }
        self.newest_acked = Some(newest_sent);
        let rtt = now.since(newest_sent);
        self.latest = rtt;
        self.minimum = Some(self.minimum.map_or(rtt, |minimum| minimum.min(rtt)));
        // "rttvar_sample = abs(smoothed_rtt - adjusted_rtt), rttvar = 3/4 * rttvar + 1/4 *
        // rttvar_sample", after "rttvar = latest_rtt / 2" (section 5.3).
        self.variation = match self.smoothed {
            None => Duration::from_picoseconds(rtt.picoseconds() / 2),
            Some(smoothed) => {
                let deviation = smoothed.picoseconds().abs_diff(rtt.picoseconds());
                Duration::from_picoseconds(self.variation.picoseconds() / 4 * 3 + deviation / 4)
            }
        };
        // "smoothed_rtt = 7/8 * smoothed_rtt + 1/8 * adjusted_rtt" (section 5.3).
        let smooth = |smoothed: Duration| {
            Duration::from_picoseconds(
                smoothed.picoseconds() - smoothed.picoseconds() / 8 + rtt.picoseconds() / 8,
            )
        };
        self.smoothed = Some(self.smoothed.map_or(rtt, smooth));
        Some(rtt)
    }

    /// Smoothed RTT (RFC 6298); `None` before the first sample.
    pub const fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Probe timeout (RFC 9002, section 6.2.1): "smoothed_rtt + max(4*rttvar, kGranularity)". The
    /// peer's ACK delay is in the RTTs. Before the first, three times "kInitialRtt" of 333 ms.
    pub fn probe_timeout(&self) -> Duration {
        let least = Duration::from_milliseconds(1);
        self.smoothed.map_or(Duration::from_milliseconds(999), |smoothed| {
            smoothed + self.variation.times(4).max(least)
        })
    }

    /// Minimum RTT.
    pub const fn minimum(&self) -> Option<Duration> {
        self.minimum
    }

    /// The larger of the latest and the smoothed RTT.
    pub fn longest(&self) -> Duration {
        self.smoothed.map_or(self.latest, |smoothed| smoothed.max(self.latest))
    }
}

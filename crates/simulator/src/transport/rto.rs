//! Round-trip time and retransmission timeout: RFC 6298, as in Linux, or as in 4.3BSD.

use crate::plan::{RetransmissionTimer, RttSamples, TimerArithmetic};
use selfclock_congestion::units::{Duration, Time};

/// Estimates the retransmission timeout from round-trip samples.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    settings: RetransmissionTimer,
    state: State,
    /// Product of the backoff factors since the last sample.
    backoff: f64,
    /// Smallest round-trip time of a segment of data.
    minimum: Option<Duration>,
    /// Round-trip time of the handshake.
    handshake: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// No sample yet.
    Initial,
    /// Picoseconds.
    Rfc6298 { srtt: u64, rttvar: u64 },
    /// Ticks: srtt times 8 and rttvar times 4, in integers (Jacobson 1988, appendix A).
    Bsd { srtt_times_8: i64, rttvar_times_4: i64 },
    /// As in Linux.
    Linux(Linux),
}

/// The variables of Linux's `tcp_rtt_estimator`, under its names. Picoseconds.
#[derive(Clone, Copy, Debug)]
struct Linux {
    srtt: u64,
    /// Four times the mean deviation, like the next two.
    mdev: u64,
    /// Largest in this round trip, at least the minimum of the timeout.
    mdev_max: u64,
    /// The timeout less SRTT.
    rttvar: u64,
    /// SND.NXT when this round trip began: it ends when more is acknowledged.
    rtt_seq: u64,
}

impl Linux {
    /// "make sure rto = 3*rtt"
    fn new(rtt: u64, minimum: u64, next: u64) -> Self {
        let mdev = rtt.saturating_mul(2);
        let rttvar = mdev.max(minimum);
        Self { srtt: rtt, mdev, mdev_max: rttvar, rttvar, rtt_seq: next }
    }

    #[inline]
    fn sample(&mut self, rtt: u64, minimum: u64, (una, next): (u64, u64)) {
        let error = rtt.wrapping_sub(self.srtt) as i64;
        self.srtt = self.srtt.wrapping_add_signed(error >> 3);
        let mut gain = error.unsigned_abs() as i64 - (self.mdev >> 2) as i64;
        // "Eifel blocks mdev updates when rtt decreases. This solution is a bit different: we use
        // finer gain for mdev in this case (alpha*beta)."
        if error < 0 && gain > 0 {
            gain >>= 3;
        }
        self.mdev = self.mdev.wrapping_add_signed(gain);
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if una > self.rtt_seq {
            self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            (self.rtt_seq, self.mdev_max) = (next, minimum);
        }
    }
}

impl RttEstimator {
    /// Before any sample.
    pub const fn new(settings: RetransmissionTimer) -> Self {
        Self { settings, state: State::Initial, backoff: 1.0, minimum: None, handshake: None }
    }

    /// A segment sent at `sent` was acknowledged at `now`. Ends the backoff (Karn's algorithm: such
    /// a sample only comes from a segment that was sent once, or from a timestamp). `range`:
    /// SND.UNA, with this ACK, and SND.NXT.
    #[inline]
    pub fn sample(&mut self, sent: Time, now: Time, range: (u64, u64)) {
        let rtt = now.since(sent);
        self.backoff = 1.0;
        match self.settings.arithmetic {
            TimerArithmetic::Rfc6298 => self.smooth(rtt.picoseconds()),
            TimerArithmetic::Linux => {
                let (rtt, minimum) = (rtt.picoseconds(), self.settings.minimum.picoseconds());
                match &mut self.state {
                    State::Linux(linux) => linux.sample(rtt, minimum, range),
                    _ => self.state = State::Linux(Linux::new(rtt, minimum, range.1)),
                }
            }
            TimerArithmetic::Bsd => {
                // A coarse clock counts the ticks in between.
                let tick = self.settings.granularity;
                let ticks = if tick.is_zero() {
                    rtt.picoseconds() // one tick is one picosecond
                } else {
                    now.ticks(tick) - sent.ticks(tick)
                };
                self.smooth_in_ticks(ticks.clamp(1, 1 << 50) as i64);
            }
        }
    }

    /// A segment of data had this round-trip time.
    #[inline]
    pub fn note_minimum(&mut self, rtt: Duration) {
        self.minimum = Some(self.minimum.map_or(rtt, |minimum| minimum.min(rtt)));
    }

    /// The SYN was answered: the very first sample.
    pub fn sample_handshake(&mut self, sent: Time, now: Time) -> Duration {
        self.sample(sent, now, (0, 0));
        *self.handshake.insert(now.since(sent))
    }

    /// "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|", then "SRTT <- (1 - alpha) * SRTT +
    /// alpha * R'", with alpha = 1/8 and beta = 1/4.
    #[inline]
    fn smooth(&mut self, rtt: u64) {
        self.state = match self.state {
            State::Rfc6298 { srtt, rttvar } => {
                let deviation = srtt.abs_diff(rtt);
                State::Rfc6298 {
                    rttvar: rttvar - rttvar / 4 + deviation / 4,
                    srtt: srtt - srtt / 8 + rtt / 8,
                }
            }
            // "SRTT <- R, RTTVAR <- R/2"
            _ => State::Rfc6298 { srtt: rtt, rttvar: rtt / 2 },
        }
    }

    fn smooth_in_ticks(&mut self, ticks: i64) {
        self.state = match self.state {
            State::Bsd { mut srtt_times_8, mut rttvar_times_4 } => {
                let error = ticks - (srtt_times_8 >> 3);
                srtt_times_8 = (srtt_times_8 + error).max(1);
                rttvar_times_4 = (rttvar_times_4 + error.abs() - (rttvar_times_4 >> 2)).max(1);
                State::Bsd { srtt_times_8, rttvar_times_4 }
            }
            _ => State::Bsd { srtt_times_8: ticks << 3, rttvar_times_4: ticks << 1 },
        }
    }

    /// Whether SACKed segments are timed, too, when an ACK does not advance (Linux,
    /// `tcp_ack_update_rtt`).
    pub fn times_sacked(&self) -> bool {
        self.settings.arithmetic == TimerArithmetic::Linux
            && self.settings.samples == RttSamples::EverySegment
    }

    /// The SYN's timer expired for the `timeouts`th time: the first ones leave it as it is.
    pub fn back_off_syn(&mut self, timeouts: u64) {
        if timeouts > u64::from(self.settings.linear_syn_timeouts) {
            self.back_off();
        }
    }

    /// The timer expired: "The host MUST set RTO <- RTO * 2 ("back off the timer")".
    pub fn back_off(&mut self) {
        // Capped beyond the maximum timeout, so that it stays finite.
        self.backoff = (self.backoff * self.settings.backoff).min(1e9);
    }

    /// Data transmission begins after the loss of the SYN or SYN-ACK: "If the timer expires
    /// awaiting the ACK of a SYN segment and the TCP implementation is using an RTO less than 3
    /// seconds, the RTO MUST be re-initialized to 3 seconds when data transmission begins" (RFC
    /// 6298, rule 5.7). A sample from a timestamp takes precedence.
    pub fn after_handshake_loss(&mut self) {
        if let State::Initial = self.state {
            self.settings.initial = self.settings.initial.max(Duration::from_milliseconds(3000));
            self.backoff = 1.0;
        }
    }

    /// Current retransmission timeout.
    #[inline]
    pub fn timeout(&self) -> Duration {
        let settings = &self.settings;
        let base = match self.state {
            State::Initial => settings.initial,
            // "RTO <- SRTT + max (G, K*RTTVAR)" with K = 4.
            State::Rfc6298 { srtt, rttvar } => {
                let variation = rttvar.saturating_mul(4).max(settings.granularity.picoseconds());
                Duration::from_picoseconds(srtt.saturating_add(variation)).max(settings.minimum)
            }
            State::Linux(Linux { srtt, rttvar, .. }) => {
                Duration::from_picoseconds(srtt.saturating_add(rttvar))
            }
            State::Bsd { srtt_times_8, rttvar_times_4 } => {
                let ticks = ((rttvar_times_4 << 3) + srtt_times_8) >> 3;
                let tick = settings.granularity.max(Duration::from_picoseconds(1));
                tick.times(ticks.max(0) as u64).max(settings.minimum)
            }
        };
        if self.backoff == 1.0 {
            return base.min(settings.maximum);
        }
        Duration::from_seconds(base.seconds() * self.backoff).min(settings.maximum)
    }

    /// Time to the next probe of a closed window after `probes` probes: "The sending host SHOULD
    /// send the first zero-window probe when a zero window has existed for the retransmission
    /// timeout period [...] and SHOULD increase exponentially the interval between successive
    /// probes" (RFC 9293, section 3.8.6.1), even if they are answered.
    pub fn probe_timeout(&self, probes: u32) -> Duration {
        self.timeout().times(1 << probes.min(20)).min(self.settings.maximum)
    }

    /// Smoothed round-trip time, once there is a sample.
    #[inline]
    pub fn smoothed(&self) -> Option<Duration> {
        match self.state {
            State::Initial => None,
            State::Rfc6298 { srtt, .. } | State::Linux(Linux { srtt, .. }) => {
                Some(Duration::from_picoseconds(srtt))
            }
            State::Bsd { srtt_times_8, .. } => {
                let tick = self.settings.granularity.max(Duration::from_picoseconds(1));
                Some(tick.scaled(srtt_times_8.max(0) as u64, 8))
            }
        }
    }

    /// Smallest sample, including the handshake's.
    pub fn smallest(&self) -> Option<Duration> {
        self.minimum.into_iter().chain(self.handshake).min()
    }

    /// Smallest RTT of a data segment; before the first sample, that of the handshake. Handshake
    /// packets are smaller than a full segment: on a path without a queue their RTT is shorter by
    /// the data's transmission time, which a delay-based algorithm would take for its own queue.
    /// Linux excludes them, too: `tcp_vegas_init` sets baseRTT after the SYN was acknowledged.
    #[inline]
    pub fn minimum(&self) -> Option<Duration> {
        self.minimum.or(self.handshake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Transport;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// RFC 6298 section 2 by hand: R = 100 ms, then 140 ms.
    #[test]
    fn rfc6298_by_hand() {
        let settings = RetransmissionTimer {
            minimum: Duration::ZERO,
            arithmetic: TimerArithmetic::Rfc6298,
            ..Transport::modern().timer
        };
        let mut rtt = RttEstimator::new(settings);
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(1000));
        rtt.sample(at(0), at(100), (0, 0));
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(300)); // 100 + 4·50
        rtt.sample(at(1000), at(1140), (0, 0));
        // rttvar = 0.75·50 + 0.25·40 = 47.5; srtt = 0.875·100 + 0.125·140 = 105; RTO = 295.
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(295));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(1180));
        rtt.sample(at(2000), at(2100), (0, 0));
        assert!(rtt.timeout() < Duration::from_milliseconds(300), "a sample ends the backoff");
    }

    /// Linux 6.18, `tcp_rtt_estimator` by hand: R = 100 ms, then 140 ms, then 60 ms, each in its
    /// own round trip.
    #[test]
    fn the_timeout_of_linux_by_hand() {
        let mut rtt = RttEstimator::new(Transport::modern().timer);
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(1000));
        rtt.sample_handshake(at(0), at(100));
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(300)); // 100 + max(2·100, 200)
        rtt.sample(at(100), at(240), (10, 20));
        // srtt = 105. mdev = 200 + 40 − 50 = 190: below mdev_max = 200 of the first round trip.
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(305));
        rtt.sample(at(240), at(300), (30, 40));
        // Error −45: srtt = 105 − 5.625; mdev = 190 + 45 − 47.5 = 187.5, below the minimum.
        assert_eq!(rtt.timeout(), Duration::from_microseconds(299_375));
    }

    /// The variation rises at once, and falls by a quarter of the excess per round trip.
    #[test]
    fn the_variation_of_linux_falls_once_per_round_trip() {
        let mut rtt = RttEstimator::new(Transport::modern().timer);
        rtt.sample_handshake(at(0), at(10));
        rtt.sample(at(100), at(610), (10, 20));
        // Error 500: srtt = 72.5, mdev = 20 + 500 − 5 = 515.
        let variation =
            |rtt: &RttEstimator| rtt.timeout().seconds() - rtt.smoothed().expect("sampled").seconds();
        assert!((variation(&rtt) - 0.515).abs() < 1e-9);
        rtt.sample(at(700), at(772), (15, 30));
        assert!((variation(&rtt) - 0.515).abs() < 1e-9, "within the round trip");
        // mdev = 515 − 515/4 and less, but the next round trip's largest is what counts.
        rtt.sample(at(800), at(872), (25, 40));
        let after = variation(&rtt);
        assert!(after < 0.515 && after > 0.515 - 0.25 * (0.515 - 0.2), "{after}");
    }

    /// `net.ipv4.tcp_syn_linear_timeouts = 4`: SYNs at 0, 1, 2, 3, 4, 5 and 7 s.
    #[test]
    fn the_first_timeouts_of_a_syn_do_not_back_off() {
        let mut rtt = RttEstimator::new(Transport::modern().timer);
        let waits: Vec<f64> = (1..=6)
            .map(|timeouts| {
                let wait = rtt.timeout().seconds();
                rtt.back_off_syn(timeouts);
                wait
            })
            .collect();
        assert_eq!(waits, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn minimum_and_maximum_bound_it() {
        let rfc = RetransmissionTimer { arithmetic: TimerArithmetic::Rfc6298, ..Transport::modern().timer };
        let mut rtt = RttEstimator::new(rfc);
        rtt.sample(at(0), at(1), (0, 0));
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(200));
        for _ in 0..50 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Transport::modern().timer.maximum);
    }

    /// The handshake's packets are shorter: their RTT is the minimum only until data has a sample.
    #[test]
    fn the_handshake_is_not_the_smallest_round_trip() {
        let mut rtt = RttEstimator::new(Transport::modern().timer);
        assert_eq!(rtt.sample_handshake(at(0), at(100)), Duration::from_milliseconds(100));
        assert_eq!(rtt.minimum(), Some(Duration::from_milliseconds(100)));
        assert_eq!((rtt.smallest(), rtt.smoothed()), (rtt.minimum(), rtt.minimum()));
        for (milliseconds, smallest) in [(103, 103), (105, 103), (102, 102)] {
            rtt.note_minimum(Duration::from_milliseconds(milliseconds));
            assert_eq!(rtt.minimum(), Some(Duration::from_milliseconds(smallest)));
            assert_eq!(rtt.smallest(), Some(Duration::from_milliseconds(100)));
        }
    }

    /// Jacobson's integers by hand, tick 500 ms: samples of 1, then 3 ticks.
    #[test]
    fn bsd_by_hand() {
        let mut rtt = RttEstimator::new(Transport::classic().timer);
        rtt.sample(at(400), at(600), (0, 0));
        // srtt·8 = 8, rttvar·4 = 2: RTO = (2·8 + 8)/8 = 3 ticks.
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(1500));
        rtt.sample(at(1000), at(2500), (0, 0));
        // error = 3 − 1 = 2: srtt·8 = 10, rttvar·4 = 2 + 2 − 0 = 4; RTO = (32 + 10) >> 3 = 5 ticks.
        assert_eq!(rtt.timeout(), Duration::from_milliseconds(2500));
    }
}

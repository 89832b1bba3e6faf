//! When a receiver acknowledges at once although no rule of RFC 5681 demands it, and how long it
//! waits otherwise: Linux's quick ACKs (`net/ipv4/tcp_input.c`, names of its functions below).
//!
//! The data receiver sends nothing but ACKs, so it is never in "pingpong" mode, in which Linux
//! waits for data of its own. Its application reads at once, so that `tcp_cleanup_rbuf`
//! acknowledges the end of a write ("`ICSK_ACK_PUSHED`"): a short segment, or one with PSH.

use selfclock_congestion::units::{Duration, Time};

/// `TCP_MAX_QUICKACKS`: at the beginning, after a pause and after a duplicate.
pub const MOST: u64 = 16;
/// Quick ACKs after a CE mark (`__tcp_ecn_check_ce`).
pub const AFTER_MARK: u64 = 2;
/// `TCP_DELACK_MAX`.
const LONGEST_DELAY: Duration = Duration::from_milliseconds(200);
/// `TCP_TIMEOUT_INIT`: before a round-trip time is known.
const FIRST_RTO: Duration = Duration::from_milliseconds(1000);
/// `TCP_RTO_MIN`.
const LEAST_RTO: Duration = Duration::from_milliseconds(200);

/// State of a receiver with quick ACKs: that of `inet_connection_sock::icsk_ack`.
#[derive(Clone, Copy, Debug)]
pub struct QuickAcks {
    /// Number of ACKs still to be sent at once ("quick").
    left: u32,
    /// Shortest delay (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
    least: Duration,
    /// Half of it.
    half: Duration,
    /// Delay of an ACK ("ato"); zero before the first data.
    delay: Duration,
    /// Departure of the SYN-ACK, then the round-trip time that it measures.
    handshake: Option<Time>,
    rtt: Option<Duration>,
    /// Arrival of the first segment, also beyond a gap, which ends the handshake ("lrcvtime" begins
    /// with it: `tcp_create_openreq_child`).
    begun: Option<Time>,
}

impl QuickAcks {
    /// Before any data; `least` is the shortest delay of an ACK.
    pub const fn new(least: Duration) -> Self {
        let half = Duration::from_picoseconds(least.picoseconds() / 2);
        Self { left: 0, least, half, delay: Duration::ZERO, handshake: None, rtt: None, begun: None }
    }

    /// Whether the next ACK leaves at once.
    #[inline(always)]
    pub const fn is_quick(&self) -> bool {
        self.left > 0
    }

    /// A SYN-ACK leaves. The answer to the last one is timed.
    pub fn on_syn_ack(&mut self, now: Time) {
        self.handshake = Some(now);
    }

    /// A segment arrives; the first one begins the connection.
    pub fn begin(&mut self, now: Time) {
        if self.begun.is_none() {
            self.begun = Some(now);
            self.rtt = self.handshake.map(|sent| now.since(sent));
        }
    }

    /// Whether the next segment in order, which comes this long after the last one, changes
    /// nothing.
    #[inline(always)]
    pub fn is_used_to(&self, gap: Duration) -> bool {
        self.delay == self.least && gap <= self.half
    }

    /// The next segment in order arrives, this long after the last one (`tcp_event_data_recv`),
    /// with a window of this many segments advertised.
    #[inline(never)]
    pub fn on_data(&mut self, now: Time, gap: Duration, window_segments: u64) {
        self.begin(now);
        if self.delay.is_zero() {
            self.delay = self.least;
            return self.increase(MOST, window_segments);
        }
        // The first one in order may come after marked ones beyond it.
        let gap = self.begun.map_or(gap, |begun| gap.min(now.since(begun)));
        let half = Duration::from_picoseconds(self.delay.picoseconds() / 2);
        if gap <= self.half {
            // At the shortest delay this changes nothing, also where it is an odd number.
            self.delay = self.least.max(half + self.half);
        } else if gap < self.delay {
            self.delay = (half + gap).min(self.retransmission_timeout());
        } else if gap > self.retransmission_timeout() {
            // "Too long gap. Apparently sender failed to restart window, so that we send ACKs
            // quickly."
            self.increase(MOST, window_segments);
        }
    }

    /// Its own retransmission timeout after the one sample that the handshake gives
    /// (`tcp_rtt_estimator`): srtt is the sample, and rttvar twice the sample.
    fn retransmission_timeout(&self) -> Duration {
        self.rtt.map_or(FIRST_RTO, |rtt| rtt + rtt.times(2).max(LEAST_RTO))
    }

    /// `tcp_incr_quickack`: as many as half of the window takes, at least 2 and at most `most`.
    fn increase(&mut self, most: u64, window_segments: u64) {
        let half = window_segments / 2;
        let quick = if half == 0 { 2 } else { half };
        self.left = self.left.max(quick.min(most) as u32);
    }

    /// `tcp_enter_quickack_mode`: after a duplicate or a mark.
    pub fn enter(&mut self, most: u64, window_segments: u64) {
        self.increase(most, window_segments);
        self.delay = self.least;
    }

    /// The window has grown (`tcp_grow_window`): at least one.
    pub const fn on_growth(&mut self) {
        self.left |= 1;
    }

    /// An ACK leaves (`tcp_dec_quickack_mode`).
    #[inline(always)]
    pub const fn on_ack(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                self.delay = self.least;
            }
        }
    }

    /// How long an ACK waits now (`tcp_send_delayed_ack`).
    #[inline(always)]
    pub fn delay(&self) -> Duration {
        if self.delay <= self.least {
            return self.least;
        }
        let bound = self.rtt.map_or(LONGEST_DELAY, |rtt| rtt.min(LONGEST_DELAY));
        self.delay.min(bound.max(self.least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATO: Duration = Duration::from_milliseconds(40);

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_milliseconds(milliseconds)
    }

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + ms(milliseconds)
    }

    /// After a handshake of this many milliseconds and the first segment.
    fn begun(rtt: u64, window_segments: u64) -> QuickAcks {
        let mut quick = QuickAcks::new(ATO);
        quick.on_syn_ack(at(0));
        quick.on_data(at(rtt), ms(rtt), window_segments);
        quick
    }

    fn acks_left(mut quick: QuickAcks) -> u32 {
        let mut count = 0;
        while quick.is_quick() {
            quick.on_ack();
            count += 1;
        }
        count
    }

    /// `tcp_incr_quickack`: `rcv_wnd / (2 * rcv_mss)`, 2 if that is zero, at most 16.
    #[test]
    fn as_many_as_half_the_window_takes() {
        for (window, expected) in [(45, 16), (32, 16), (20, 10), (3, 1), (1, 2)] {
            assert_eq!(acks_left(begun(20, window)), expected, "{window}");
        }
    }

    /// `tcp_event_data_recv`: after the receiver's RTO (RTT + 200 ms, or 3 RTT) the count begins
    /// again; a duplicate begins it at once.
    #[test]
    fn a_pause_and_a_duplicate_begin_again() {
        for (rtt, pause, expected) in [(20, 219, 0), (20, 221, 16), (300, 899, 0), (300, 901, 16)] {
            let mut quick = begun(rtt, 45);
            (0..16).for_each(|_| quick.on_ack());
            quick.on_data(at(rtt + pause), ms(pause), 45);
            assert_eq!(acks_left(quick), expected, "{rtt} {pause}");
            quick.enter(MOST, 45);
            assert_eq!(acks_left(quick), 16);
        }
    }

    /// `tcp_data_queue_ofo`: a marked segment beyond a gap comes before the first in order; the
    /// receiver's RTO (220 ms) counts from it, not from the beginning of the run.
    #[test]
    fn a_mark_may_come_before_the_first_segment_in_order() {
        for (pause, expected) in [(219, 2), (221, 16)] {
            for start in [0, 7000] {
                let mut quick = QuickAcks::new(ATO);
                quick.on_syn_ack(at(start));
                quick.begin(at(start + 20));
                quick.enter(AFTER_MARK, 45);
                quick.on_data(at(start + 20 + pause), ms(start + 20 + pause), 45);
                assert_eq!(acks_left(quick), expected, "{start} {pause}");
                assert_eq!(quick.rtt, Some(ms(20)));
            }
        }
    }

    /// `tcp_event_data_recv`, `tcp_send_delayed_ack`: segments 30 ms apart raise the delay to 60
    /// ms, bounded by the round trip but not below 40 ms; dense ones lower it again.
    #[test]
    fn the_delay_follows_the_gaps() {
        for (rtt, expected) in [(20, 40), (50, 50), (100, 60)] {
            let mut quick = begun(rtt, 45);
            assert_eq!(quick.delay(), ATO);
            for number in 1..20 {
                quick.on_data(at(rtt + 30 * number), ms(30), 45);
            }
            let delay = quick.delay().seconds();
            assert!((delay - expected as f64 / 1e3).abs() < 1e-4, "{rtt}: {delay}");
            for number in 1..60 {
                quick.on_data(at(rtt + 600 + number), ms(1), 45);
            }
            assert!(quick.is_used_to(ms(1)) && quick.delay() == ATO);
        }
    }
}

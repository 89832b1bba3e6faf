//! Recovery by duplicate ACKs alone: Reno (RFC 5681) and NewReno (RFC 6582). Tahoe has no fast
//! recovery.

use super::scoreboard::DUPLICATE_THRESHOLD;
use selfclock_congestion::units::{Duration, Time};

/// "Inflating the window" during a fast recovery without SACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflation {
    /// Payload that has left the network according to duplicate ACKs, less the deflation by partial
    /// ACKs. Negative when duplicate ACKs were lost.
    bytes: i64,
    /// Duplicate ACKs that may still inflate the window in this round trip of the recovery, and its
    /// start.
    left: u32,
    round_began: Time,
    /// Whether a partial ACK has restarted the retransmission timer (RFC 6582, "Impatient"
    /// variant).
    timer_restarted: bool,
}

impl Inflation {
    /// A recovery begins on the third duplicate ACK, with this number of segments outstanding.
    pub fn new(now: Time, mss: u64, segments: usize) -> Self {
        Self {
            bytes: i64::from(DUPLICATE_THRESHOLD) * mss as i64,
            left: (segments as u32).saturating_sub(DUPLICATE_THRESHOLD),
            round_began: now,
            timer_restarted: false,
        }
    }

    /// Current inflation, as a reduction of the payload in flight.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// Each duplicate ACK represents one segment that has arrived beyond the gap. A receiver gains
    /// nothing by inventing more: "A TCP MAY therefore limit the number of times cwnd is
    /// artificially inflated during loss recovery to the number of outstanding segments" (RFC 5681,
    /// section 3.2).
    pub fn on_duplicate(&mut self, mss: u64) {
        if self.left > 0 {
            self.left -= 1;
            self.bytes += mss as i64;
        }
    }

    /// RFC 6582, section 3.2: "Deflate the congestion window by the amount of new data acknowledged
    /// [...]. If the partial ACK acknowledges at least one SMSS of new data, then add back SMSS
    /// bytes to the congestion window." That may take it below ssthresh. Returns true if it is the
    /// first of the recovery, which restarts the retransmission timer.
    pub fn on_partial_ack(&mut self, acknowledged: u64, mss: u64) -> bool {
        let add_back = if acknowledged >= mss { mss } else { 0 };
        self.bytes += add_back as i64 - acknowledged as i64;
        !std::mem::replace(&mut self.timer_restarted, true)
    }

    /// The retransmission acknowledged by a partial ACK took a round trip, after which as many
    /// duplicate ACKs may come as segments are outstanding. Faster partial ACKs are of segments
    /// that were never missing.
    pub fn begin_round(&mut self, now: Time, minimum_rtt: Option<Duration>, segments: usize) {
        if minimum_rtt.is_none_or(|minimum| now.since(self.round_began) >= minimum) {
            self.left = segments as u32;
            self.round_began = now;
        }
    }
}

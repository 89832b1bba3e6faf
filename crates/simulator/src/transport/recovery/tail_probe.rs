//! The tail loss probe of RFC 8985, section 7: the last segment of a flight, or a new one, is sent
//! without waiting for the retransmission timer, so that its ACK reveals losses.

use selfclock_congestion::units::Duration;

/// Purpose of the timer of RACK and TLP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Loss detection.
    #[default]
    Reordering,
    /// To probe the tail.
    Probe,
}

/// State of the tail loss probe of one connection.
#[derive(Clone, Debug, Default)]
pub struct TailProbe {
    /// SND.NXT at the last unaccounted probe ("TLP.end_seq"), and whether it was a retransmission
    /// ("TLP.is_retrans").
    outstanding: Option<(u64, bool)>,
    /// SND.NXT when the probe timer was last set.
    sent_before: u64,
    /// Maximum delay of the receiver's ACKs, and the least margin without one.
    maximum_ack_delay: Duration,
    margin: Duration,
}

impl TailProbe {
    /// No probe yet.
    pub fn new(maximum_ack_delay: Duration, margin: Duration) -> Self {
        Self { maximum_ack_delay, margin, ..Self::default() }
    }

    /// Whether a probe is unaccounted for: no second one meanwhile.
    pub fn is_outstanding(&self) -> bool {
        self.outstanding.is_some()
    }

    /// Whether a retransmitted probe that ends at this byte is unaccounted for.
    pub fn ends_at(&self, end: u64) -> bool {
        self.outstanding == Some((end, true))
    }

    /// Whether a retransmitted probe is unaccounted for.
    pub fn is_retransmission(&self) -> bool {
        self.outstanding.is_some_and(|(_, retransmission)| retransmission)
    }

    /// A probe was sent; `next` is SND.NXT after it.
    pub fn on_sent(&mut self, next: u64, retransmission: bool) {
        self.outstanding = Some((next, retransmission));
    }

    /// The retransmission timer expired, or a recovery begins: the window is reduced. Linux forgets
    /// the probe in `tcp_enter_loss` and `tcp_init_cwnd_reduction`.
    pub fn forget(&mut self) {
        self.outstanding = None;
    }

    /// Section 7.4: has the probe recovered a loss? A D-SACK of it shows that it has not, because
    /// its segment arrived twice, and so does a duplicate ACK that SACKs nothing new
    /// (`arrived_twice`).
    pub fn on_ack(&mut self, acknowledgement: u64, arrived_twice: bool) -> bool {
        let Some((end, retransmission)) = self.outstanding else { return false };
        if acknowledgement < end {
            return false;
        }
        if !retransmission || arrived_twice {
            self.outstanding = None;
            return false;
        }
        let repaired = acknowledgement > end;
        if repaired {
            self.outstanding = None;
        }
        repaired
    }

    /// "The sender SHOULD start or restart a loss probe PTO timer after transmitting new data (that
    /// was not itself a loss probe) or upon receiving an ACK that cumulatively acknowledges new
    /// data".
    pub fn restarts(&mut self, next: u64, after_new_ack: bool, waits: bool) -> bool {
        let sent = std::mem::replace(&mut self.sent_before, next) != next;
        !waits || sent || after_new_ack
    }

    /// "PTO", section 7.2, with this number of segments outstanding.
    pub fn timeout(&self, smoothed_rtt: Option<Duration>, segments: usize) -> Duration {
        match smoothed_rtt {
            None => Duration::from_milliseconds(1000),
            Some(smoothed) if segments == 1 => smoothed.times(2) + self.maximum_ack_delay,
            Some(smoothed) => smoothed.times(2) + self.margin,
        }
    }
}

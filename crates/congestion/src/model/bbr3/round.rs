//! Packet-timed round trips: those of section 5.5.1, and the loss round trips of section 5.5.10.3.

use super::sample::Sample;
use crate::units::Bytes;

/// The round trip under way.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// C.delivered.
    pub delivered: Bytes,
    next_delivered: Bytes,
    /// BBR.round_count.
    pub count: u64,
    /// BBR.round_start: this ACK is the first of a round trip.
    pub is_start: bool,
    cwnd_limited: CwndLimited,
}

/// Whether the window was full at some point of a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct CwndLimited {
    this_round: bool,
    last_round: bool,
}

impl Round {
    /// StartRound.
    pub const fn restart(&mut self) {
        self.next_delivered = self.delivered;
    }

    /// UpdateRound.
    pub fn update(&mut self, prior_delivered: Bytes) {
        self.is_start = prior_delivered >= self.next_delivered;
        if self.is_start {
            self.restart();
            self.count += 1;
            let last_round = self.cwnd_limited.this_round;
            self.cwnd_limited = CwndLimited { this_round: false, last_round };
        }
    }

    /// The window is full.
    pub const fn note_cwnd_limited(&mut self) {
        self.cwnd_limited.this_round = true;
    }

    /// C.is_cwnd_limited, in this round trip or the one before.
    pub const fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.this_round || self.cwnd_limited.last_round
    }
}

/// Loss and delivery in the loss round trip under way.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    loss_round_delivered: Bytes,
    /// BBR.loss_round_start: this ACK is the first of a loss round trip.
    pub is_round_start: bool,
    pub is_loss_in_round: bool,
    /// ACKs of this round trip that revealed a loss.
    pub loss_events: u32,
    pub bw_latest: f64,
    pub inflight_latest: f64,
}

impl Signals {
    /// ResetCongestionSignals.
    pub const fn reset(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// NoteLoss; true for the first loss of the round trip.
    pub const fn note_loss(&mut self, round: &Round) -> bool {
        let first = !self.is_loss_in_round;
        if first {
            self.loss_round_delivered = round.delivered;
        }
        self.is_loss_in_round = true;
        first
    }

    /// UpdateLatestDeliverySignals.
    pub fn update(&mut self, sample: &Sample, round: &Round) {
        self.bw_latest = self.bw_latest.max(sample.rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        self.is_round_start = sample.prior_delivered >= self.loss_round_delivered;
        if self.is_round_start {
            self.loss_round_delivered = round.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub const fn advance(&mut self, sample: &Sample) {
        if self.is_round_start {
            self.bw_latest = sample.rate;
            self.inflight_latest = sample.delivered;
        }
    }
}

//! The window in loss recovery, section 5.6.4.4.

use crate::units::Bytes;

/// The current recoveries, and the window before them. A loss may follow a timeout, so both may be
/// active.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// Fast recovery.
    pub is_fast: bool,
    /// Recovery of what a timeout has declared lost.
    timeout: Option<Rto>,
    /// BBR.prior_cwnd, in bytes.
    pub prior_cwnd: f64,
}

/// Data that must be acknowledged after an RTO.
#[derive(Clone, Copy, Debug)]
enum Rto {
    /// Everything sent when the first ACK comes.
    Unknown,
    /// Everything up to here.
    Until(Bytes),
}

impl Recovery {
    /// The window saved by SaveCwnd: the latest that neither recovery nor ProbeRTT limits.
    pub const fn unmodulated(&self, cwnd: f64, in_probe_rtt: bool) -> f64 {
        if self.is_under_way() || in_probe_rtt { self.prior_cwnd.max(cwnd) } else { cwnd }
    }

    /// A timeout ends fast recovery and begins one of its own.
    pub const fn begin_timeout(&mut self) {
        self.is_fast = false;
        self.timeout = Some(Rto::Unknown);
    }

    /// Whether a recovery of either kind is active.
    pub const fn is_under_way(&self) -> bool {
        self.is_fast || self.is_after_timeout()
    }

    /// Cancels recovery, because nothing had been lost.
    pub const fn abandon(&mut self) {
        self.is_fast = false;
        self.timeout = None;
    }

    pub const fn is_after_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// Processes an ACK; true if it ends the recovery after a timeout.
    pub fn ends_timeout(&mut self, acknowledged_total: Bytes, sent_total: Bytes) -> bool {
        let end = match self.timeout {
            None => return false,
            Some(Rto::Unknown) => sent_total,
            Some(Rto::Until(end)) => end,
        };
        let is_over = acknowledged_total >= end;
        self.timeout = (!is_over).then_some(Rto::Until(end));
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Phase;
    use crate::event::Timeout;
    use crate::model::bbr3::rig::Rounds;
    use crate::part::ModelPart;
    use crate::units::{Duration, Time};

    #[test]
    fn a_timeout_is_repaired_with_the_window_from_before() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeCruise);
        let before = rounds.state.cwnd;
        let timeout = Timeout::new(Time::ZERO + Duration::from_seconds(rounds.now), Bytes(100_000));
        rounds.bbr.on_timeout(&timeout, &mut rounds.state);
        rounds.state.cwnd = 1.0;
        rounds.round(2.5e6, 0, 90_000);
        // Reduced by the response to the loss.
        assert!(rounds.state.cwnd >= 0.699 * before, "{} from {before}", rounds.state.cwnd);
    }

    /// While a recovery or ProbeRTT limits the window, only a larger one replaces the last known
    /// good.
    #[test]
    fn the_window_before_the_first_of_several_recoveries_is_kept() {
        let mut recovery = Recovery::default();
        for (cwnd, prior) in [(50.0, 50.0), (40.0, 40.0)] {
            recovery.prior_cwnd = recovery.unmodulated(cwnd, false);
            assert_eq!(recovery.prior_cwnd, prior);
        }
        recovery.begin_timeout();
        recovery.prior_cwnd = recovery.unmodulated(1.0, false);
        assert_eq!(recovery.prior_cwnd, 40.0);
        // Everything that had been sent when the first ACK came, 9000 bytes.
        for (acknowledged, sent, ends) in [(1000, 9000, false), (8999, 20_000, false), (9000, 20_000, true)] {
            assert_eq!(recovery.ends_timeout(Bytes(acknowledged), Bytes(sent)), ends);
        }
        assert!(!recovery.is_after_timeout());
        recovery.prior_cwnd = recovery.unmodulated(1.0, true);
        assert_eq!(recovery.prior_cwnd, 40.0);
        recovery.prior_cwnd = recovery.unmodulated(1.0, false);
        assert_eq!(recovery.prior_cwnd, 1.0);
    }
}

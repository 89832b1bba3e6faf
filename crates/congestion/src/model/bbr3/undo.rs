//! Undo of the response to a spurious loss recovery, section 5.5.11.
//!
//! Our choice: the state is saved once per recovery, before the response to its first loss. By the
//! letter a loss in any later round trip of a recovery overwrites the saved state, and LossDetected
//! saves what the response to its own ACK has already changed; little would be left to undo.

use super::path::{Bounds, Path};
use crate::state::WindowState;
use crate::units::Time;

/// A probing state that loss can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    Startup,
    ProbeBwUp,
}

/// State at the start of a loss recovery.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    saved_at: Option<Time>,
    cwnd: f64,
    bounds: Bounds,
    /// BBR.undo_state: the state that recovery ended.
    pub state: Option<Probing>,
}

impl Undo {
    /// SaveStateUponLoss, with this window in bytes. LossDetected comes with the ACK that revealed
    /// the loss, whose saved state stays.
    pub fn save(&mut self, now: Time, cwnd: f64, path: &Path) {
        if self.saved_at != Some(now) {
            *self = Self { saved_at: Some(now), cwnd, bounds: path.bounds.clone(), state: None };
        }
    }

    /// The part of HandleSpuriousLossDetection that restores window and model. Returns the state to
    /// resume.
    pub fn restore(&mut self, path: &mut Path, state: &mut WindowState) -> Option<Probing> {
        state.cwnd = state.cwnd.max(self.cwnd / path.mss);
        path.signals.is_loss_in_round = false;
        path.full_bw.restart(0.0);
        path.bounds.raise_to(&self.bounds);
        self.state.take()
    }
}

#[cfg(test)]
mod tests {
    use crate::decision::Phase;
    use crate::event::{LossDetected, SpuriousLoss, Timeout};
    use crate::model::bbr3::rig::Rounds;
    use crate::part::ModelPart;
    use crate::units::{Bytes, Duration, Time};

    impl Rounds {
        fn time(&self) -> Time {
            Time::ZERO + Duration::from_seconds(self.now)
        }

        fn loss(&mut self) {
            self.bbr.on_loss(&LossDetected::new(self.time(), Bytes(100_000)), &mut self.state);
        }

        fn spurious(&mut self) {
            let before = self.state.before();
            self.bbr.on_spurious_loss(&SpuriousLoss::new(self.time()), &before, &mut self.state);
        }
    }

    /// The ACK that reveals the loss ends ProbeBW_UP and sets inflight_longterm before LossDetected
    /// comes.
    #[test]
    fn a_spurious_loss_in_a_probe_starts_the_probe_again() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeUp);
        let before = rounds.state.cwnd;
        rounds.round(2.5e6, 10_000, 90_000);
        rounds.loss();
        assert_eq!(rounds.phase(), Phase::ProbeDown);
        assert!(rounds.bbr.path.bounds.inflight_longterm < 100_000.0 && rounds.state.cwnd < before);
        // A round trip later, one more loss of the same recovery.
        rounds.round(2.5e6, 10_000, 90_000);
        rounds.round(2.5e6, 0, 90_000);
        assert!(rounds.bbr.path.bounds.bw_shortterm.is_finite());
        rounds.spurious();
        assert_eq!(rounds.phase(), Phase::ProbeRefill);
        let bounds = &rounds.bbr.path.bounds;
        assert!(bounds.inflight_longterm.is_infinite() && bounds.bw_shortterm.is_infinite());
        // REFILL lacks the two extra segments of UP, and its gain of 2.25 instead of 2.
        assert!(rounds.state.cwnd >= 2.0 / 2.25 * before - 2.0, "{} from {before}", rounds.state.cwnd);
        assert!(!rounds.bbr.recovery.is_under_way());
    }

    /// Without SACK any loss in fast recovery ends Startup.
    #[test]
    fn a_spurious_loss_in_startup_goes_back_to_startup() {
        for in_probe_rtt in [false, true] {
            let mut rounds = Rounds::new();
            rounds.bbr.path.has_selective_acks = false;
            rounds.round(1e6, 0, 90_000);
            rounds.round(2e6, 0, 90_000);
            rounds.loss();
            rounds.round(2e6, 1000, 200_000);
            assert_eq!(rounds.phase(), Phase::Drain);
            if in_probe_rtt {
                rounds.now += 6.0;
                rounds.round(2e6, 0, 200_000);
                assert_eq!(rounds.phase(), Phase::ProbeRtt);
            }
            rounds.spurious();
            assert_eq!(rounds.phase(), if in_probe_rtt { Phase::ProbeRtt } else { Phase::Startup });
            assert!(!rounds.bbr.path.full_bw.is_reached);
            assert!(rounds.bbr.path.bounds.inflight_longterm.is_infinite());
            rounds.until(Phase::Startup);
        }
    }

    #[test]
    fn a_spurious_timeout_gives_the_window_back() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeCruise);
        let before = rounds.state.cwnd;
        rounds.bbr.on_timeout(&Timeout::new(rounds.time(), Bytes(100_000)), &mut rounds.state);
        rounds.state.cwnd = 1.0;
        rounds.spurious();
        assert_eq!((rounds.state.cwnd, rounds.phase()), (before, Phase::ProbeCruise));
        // The loss round trip of the timeout has left no trace either.
        rounds.round(1e6, 0, 90_000);
        rounds.round(1e6, 0, 90_000);
        assert!(rounds.bbr.path.bounds.bw_shortterm.is_infinite());
    }
}

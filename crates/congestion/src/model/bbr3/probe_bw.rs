//! ProbeBW, section 5.3.3: the cycle of DOWN, CRUISE, REFILL and UP that probes for bandwidth.

use super::path::Path;
use super::sample::Sample;
use crate::random::Random;
use crate::units::{Duration, Time};

/// Maximum number of doublings of the growth of inflight_longterm in one ProbeBW_UP (section
/// 5.3.3.9).
const MAXIMUM_UP_ROUNDS: u32 = 30;

/// Phase of ProbeBW.
#[derive(Clone, Debug)]
pub enum State {
    Down(Wait),
    Cruise(Wait),
    Refill,
    Up(Climb),
}

/// Wait until the next probe.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    cycle_stamp: Time,
    bw_probe_wait: Duration,
    /// BBR.round_count when BBR.rounds_since_probe_up was 0.
    round_zero: u64,
}

impl Wait {
    /// IsTimeToProbeBW.
    fn is_over(&self, sample: &Sample, path: &Path) -> bool {
        let rounds = (path.target_inflight(sample.cwnd) / path.mss).min(path.parameters.reno_rounds);
        let rounds_since_probe_up = path.round.count.wrapping_sub(self.round_zero);
        sample.now > self.cycle_stamp + self.bw_probe_wait || rounds_since_probe_up as f64 >= rounds
    }
}

/// Growth of inflight_longterm in ProbeBW_UP: one segment per `acked_per_inc` bytes.
/// BBR.bw_probe_up_rounds, BBR.bw_probe_up_acked and BBR.probe_up_acked_per_inc.
#[derive(Clone, Copy, Debug)]
pub struct Climb {
    rounds: u32,
    acked: f64,
    acked_per_inc: f64,
}

impl Climb {
    /// StartProbeBW_UP at this window.
    pub fn new(cwnd: f64, mss: f64) -> Self {
        let mut climb = Self { rounds: 0, acked: 0.0, acked_per_inc: f64::INFINITY };
        climb.raise_slope(cwnd, mss);
        climb
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self, cwnd: f64, mss: f64) {
        let growth = f64::from(1_u32 << self.rounds);
        self.rounds = (self.rounds + 1).min(MAXIMUM_UP_ROUNDS);
        self.acked_per_inc = (cwnd / growth).max(mss);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, sample: &Sample, path: &mut Path) {
        if !path.is_held_by_inflight_longterm(sample.cwnd) {
            return;
        }
        self.acked += sample.newly_acked;
        if self.acked >= self.acked_per_inc {
            let delta = libm::floor(self.acked / self.acked_per_inc);
            self.acked -= delta * self.acked_per_inc;
            path.bounds.inflight_longterm += delta * path.mss;
        }
        if path.round.is_start {
            self.raise_slope(path.bytes(sample.cwnd), path.mss);
        }
    }
}

/// BBR.ack_phase: the role of ACKs in a probe for bandwidth. ACKS_PROBE_FEEDBACK of the draft
/// changes nothing and is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    #[default]
    None,
    Refilling,
    ProbeStarting,
    ProbeStopping,
}

/// Results of a probe for later phases, including those outside ProbeBW.
#[derive(Clone, Debug)]
pub struct Cycle {
    random: Random,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    /// The bandwidth filter has advanced since the last probe began, and since the last ProbeRTT.
    has_advanced: bool,
    /// ProbeRTT has ended a cycle in which it had not.
    is_filter_due: bool,
}

impl Cycle {
    /// State before the first probe; the waits between probes are drawn from this seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            ack_phase: AckPhase::None,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            has_advanced: false,
            is_filter_due: false,
        }
    }

    /// ProbeRTT begins, and ends the cycle.
    pub const fn interrupt(&mut self) {
        self.is_filter_due |= !self.has_advanced;
        self.has_advanced = false;
        self.stop();
    }

    /// The ACKs of the next round trip are the last of a probe.
    const fn stop(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }

    /// StartProbeBW_DOWN.
    pub fn start_down(&mut self, now: Time, path: &mut Path) -> State {
        State::Down(self.start_wait(now, path))
    }

    /// StartProbeBW_DOWN and StartProbeBW_CRUISE.
    pub fn start_cruise(&mut self, now: Time, path: &mut Path) -> State {
        State::Cruise(self.start_wait(now, path))
    }

    fn start_wait(&mut self, now: Time, path: &mut Path) -> Wait {
        path.signals.reset();
        self.stop();
        path.round.restart();
        // PickProbeWait
        let round_zero = path.round.count.wrapping_sub(self.random.bits() >> 63);
        let bw_probe_wait = path.parameters.probe_wait + Duration::from_seconds(self.random.uniform());
        Wait { cycle_stamp: now, bw_probe_wait, round_zero }
    }

    /// StartProbeBW_REFILL.
    pub fn start_refill(&mut self, path: &mut Path) -> State {
        path.bounds.reset_short_term();
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        path.round.restart();
        State::Refill
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, sample: &Sample, path: &mut Path) -> State {
        self.is_bw_probe_sample = true;
        self.has_advanced = false;
        self.ack_phase = AckPhase::ProbeStarting;
        path.round.restart();
        path.full_bw.restart(sample.rate);
        State::Up(Climb::new(path.bytes(sample.cwnd), path.mss))
    }

    /// UpdateProbeBWCyclePhase, section 5.3.3.9. Outside ProbeBW there is no phase, but the model
    /// is still adapted.
    pub fn update(&mut self, mut phase: Option<&mut State>, sample: &Sample, path: &mut Path) {
        let has_changed = self.adapt_long_term_model(phase.as_deref_mut(), sample, path);
        let Some(phase) = phase.filter(|_| !has_changed) else { return };
        match phase {
            State::Down(wait) | State::Cruise(wait) => {
                if wait.is_over(sample, path) {
                    *phase = self.start_refill(path);
                } else if sample.in_flight <= path.inflight_with_headroom()
                    && sample.in_flight <= path.inflight(path.max_bw.get(), 1.0)
                {
                    // IsTimeToCruise; or cruising already.
                    *phase = State::Cruise(*wait);
                }
            }
            State::Refill => {
                if path.round.is_start {
                    *phase = self.start_up(sample, path);
                }
            }
            State::Up(_) => {
                if self.is_time_to_go_down(sample, path) {
                    self.prev_probe_too_high = false;
                    *phase = self.start_down(sample.now, path);
                }
            }
        }
    }

    fn is_time_to_go_down(&mut self, sample: &Sample, path: &mut Path) -> bool {
        if self.prev_probe_too_high && sample.in_flight >= path.bounds.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if path.is_held_by_inflight_longterm(sample.cwnd) {
            // The bandwidth is limited by inflight_longterm, not by the path.
            path.full_bw.restart(sample.rate);
            return false;
        }
        path.full_bw.is_now
    }

    /// AdvanceMaxBwFilter, once for each probe. By the letter of AdaptLongTermModel a probe that
    /// ProbeRTT cuts off never advances the filter: the end of the probe falls into ProbeRTT, and
    /// the samples of the next round trip count as application-limited. Where the queue makes a
    /// cycle last as long as ProbeRTTInterval, each is cut off, and the filter keeps a bandwidth
    /// that the path had minutes ago; yet it "covers a time period extending over the past two
    /// ProbeBW cycles" (section 5.5.6). Our choice, as in Chromium (`has_advanced_max_bw`): it
    /// advances as soon as it can.
    const fn advance_filter(&mut self, path: &mut Path) {
        self.is_filter_due = false;
        self.has_advanced = true;
        path.max_bw.advance();
    }

    /// AdaptLongTermModel; true if it decided a transition.
    fn adapt_long_term_model(
        &mut self,
        mut phase: Option<&mut State>,
        sample: &Sample,
        path: &mut Path,
    ) -> bool {
        if path.round.is_start {
            match self.ack_phase {
                AckPhase::ProbeStarting => self.ack_phase = AckPhase::None,
                AckPhase::ProbeStopping => {
                    self.is_bw_probe_sample = false;
                    self.ack_phase = AckPhase::None;
                    if let Some(phase) = phase.as_deref_mut() {
                        if !sample.is_app_limited {
                            self.advance_filter(path);
                        }
                        if self.prev_probe_precautionary && !self.prev_probe_too_high {
                            *phase = self.start_refill(path);
                            return true;
                        }
                    }
                }
                AckPhase::None | AckPhase::Refilling => {}
            }
            if self.is_filter_due && phase.is_some() && !sample.is_app_limited {
                self.advance_filter(path);
            }
        }
        if !path.is_inflight_too_high(sample) && path.bounds.inflight_longterm.is_finite() {
            path.bounds.inflight_longterm = path.bounds.inflight_longterm.max(sample.tx_in_flight);
            if let Some(State::Up(climb)) = phase {
                climb.probe_upward(sample, path);
            }
        }
        false
    }

    /// HandleLostPacket, section 5.5.10.2, for all losses that this ACK revealed; true if they end
    /// ProbeBW_UP.
    pub fn on_lost(&mut self, phase: Option<&mut State>, sample: &Sample, path: &mut Path) -> bool {
        if !self.is_bw_probe_sample || !path.is_inflight_too_high(sample) {
            return false;
        }
        // HandleInflightTooHigh
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !sample.is_app_limited {
            let least = path.target_inflight(sample.cwnd) * path.parameters.beta;
            path.bounds.inflight_longterm = path.inflight_at_loss(sample).max(least);
        }
        let Some(phase) = phase.filter(|phase| matches!(phase, State::Up(_))) else { return false };
        *phase = self.start_down(sample.now, path);
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::decision::Phase;
    use crate::model::bbr3::rig::Rounds;

    /// Section 5.5.10.2: 100 segments in flight, 10 of them lost at once: the first two were within
    /// the threshold, (0.02 * 90 - 0) / 0.98 = 1.84 segments above the 90 before. TargetInflight *
    /// Beta is lower.
    #[test]
    fn loss_in_a_probe_sets_the_long_term_inflight() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeUp);
        rounds.round(2.5e6, 10_000, 90_000);
        let expected = 90_000.0 + 0.02 * 90_000.0 / 0.98;
        assert!(
            (rounds.bbr.path.bounds.inflight_longterm - expected).abs() < 1e-6,
            "{}",
            rounds.bbr.path.bounds.inflight_longterm
        );
        assert_eq!(rounds.phase(), Phase::ProbeDown);
        rounds.until(Phase::ProbeCruise);
        let window = rounds.state.cwnd * 1000.0;
        assert!(window <= 0.85 * rounds.bbr.path.bounds.inflight_longterm + 1e-6, "{window}");
    }

    /// IsTimeToGoDown and AdaptLongTermModel: after a probe that was too high the next stops at the
    /// same volume in flight; and if that causes no loss the one after it begins a round trip
    /// later, not seconds later.
    #[test]
    fn a_probe_that_stopped_as_a_precaution_is_made_again_at_once() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeUp);
        rounds.round(2.5e6, 10_000, 90_000);
        assert!(rounds.bbr.cycle.prev_probe_too_high);
        rounds.until(Phase::ProbeCruise);
        rounds.until(Phase::ProbeUp);
        let enough = rounds.bbr.path.bounds.inflight_longterm.ceil() as u64;
        rounds.round(2.5e6, 0, enough);
        assert_eq!(rounds.phase(), Phase::ProbeDown);
        assert!(rounds.bbr.cycle.prev_probe_precautionary && !rounds.bbr.cycle.prev_probe_too_high);
        rounds.round(2.5e6, 0, 40_000);
        assert_eq!(rounds.phase(), Phase::ProbeRefill);
    }
}

//! The model of the path, section 5.5: bandwidth, RTT, and the bounds on bandwidth and volume in
//! flight derived from loss.

use super::filters::{ExtraAcked, MaxBw, MinRtt};
use super::full_bw::FullBw;
use super::parameters::Parameters;
use super::round::{Round, Signals};
use super::sample::Sample;
use crate::state::{PathModel, Setup, WindowState};
use crate::units::Time;

/// MinPipeCwnd of section 2.8, in segments: enough for a receiver that acknowledges every other
/// one.
pub const MINIMUM_PIPE: f64 = 4.0;

/// The short-term and the long-term model; infinite without a bound.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub bw_shortterm: f64,
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        let none = f64::INFINITY;
        Self { bw_shortterm: none, inflight_shortterm: none, inflight_longterm: none }
    }
}

impl Bounds {
    /// ResetShortTermModel.
    pub const fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// Raises the bounds to at least these.
    pub const fn raise_to(&mut self, least: &Self) {
        self.bw_shortterm = self.bw_shortterm.max(least.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(least.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(least.inflight_longterm);
    }
}

/// The path, as seen through its ACKs. Volumes are in bytes of payload, rates in bytes per second.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub parameters: Parameters,
    pub mss: f64,
    pub initial_window: f64,
    pub has_selective_acks: bool,
    has_begun: bool,
    pub round: Round,
    pub signals: Signals,
    pub max_bw: MaxBw,
    /// BBR.bw.
    pub bw: f64,
    pub bounds: Bounds,
    pub min_rtt: MinRtt,
    pub extra_acked: ExtraAcked,
    pub full_bw: FullBw,
}

impl Path {
    /// A path under these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// Takes over the state at the beginning of the connection.
    pub fn set_up(&mut self, setup: &Setup, state: &WindowState) {
        self.mss = setup.mss.get().max(1) as f64;
        self.initial_window = self.bytes(state.cwnd);
        self.has_selective_acks = setup.selective_acks;
    }

    /// Now() of OnInit in section 5.2.1: the first event.
    pub const fn first_event(&mut self, now: Time) {
        if !self.has_begun {
            self.has_begun = true;
            self.min_rtt.begin(now);
            self.extra_acked.begin(now);
        }
    }

    /// The view of it in a record.
    pub const fn view(&self) -> PathModel {
        let Bounds { bw_shortterm, inflight_shortterm, inflight_longterm } = self.bounds;
        PathModel {
            max_bw_bps: Some(self.max_bw.get() * 8.0),
            min_rtt_s: Some(self.min_rtt.get()),
            bw_shortterm_bps: Some(bw_shortterm * 8.0),
            inflight_shortterm_bytes: Some(inflight_shortterm),
            inflight_longterm_bytes: Some(inflight_longterm),
            extra_acked_bytes: Some(self.extra_acked.get(self.bw)),
        }
    }

    // --- volumes, section 5.6.4
    // -------------------------------------------------------------------------------------

    /// A window in bytes.
    pub const fn bytes(&self, segments: f64) -> f64 {
        segments * self.mss
    }

    /// MinPipeCwnd.
    pub const fn minimum_pipe(&self) -> f64 {
        MINIMUM_PIPE * self.mss
    }

    /// BDPMultiple.
    pub const fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        let min_rtt = self.min_rtt.get();
        if min_rtt.is_infinite() { self.initial_window } else { gain * bw * min_rtt }
    }

    /// Inflight, outside ProbeBW_UP.
    pub const fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.bdp_multiple(bw, gain).max(self.minimum_pipe())
    }

    /// InflightWithHeadroom.
    pub const fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = self.mss.max(self.parameters.headroom * longterm);
        (longterm - headroom).max(self.minimum_pipe())
    }

    /// ProbeRTTCwnd.
    pub const fn probe_rtt_cwnd(&self) -> f64 {
        self.inflight(self.bw, self.parameters.probe_rtt_cwnd_gain)
    }

    /// TargetInflight, at this window in segments.
    pub const fn target_inflight(&self, cwnd: f64) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.bytes(cwnd))
    }

    /// `C.is_cwnd_limited && C.cwnd >= BBR.inflight_longterm`. In segments, the unit in which
    /// BoundCwndForModel has set the window to this very bound: in bytes it could be smaller by a
    /// rounding error.
    pub const fn is_held_by_inflight_longterm(&self, cwnd: f64) -> bool {
        self.round.is_cwnd_limited() && cwnd >= self.bounds.inflight_longterm / self.mss
    }

    // --- samples
    // ----------------------------------------------------------------------------------------------------

    /// The first half of UpdateModelAndState, section 5.2.3: everything independent of the state.
    pub fn update(&mut self, sample: &Sample, is_probing_bw: bool) {
        self.signals.update(sample, &self.round);
        self.round.update(sample.prior_delivered);
        self.max_bw.update(sample.rate, sample.is_app_limited);
        if self.signals.is_round_start {
            self.adapt_lower_bounds(sample, is_probing_bw);
        }
        let cwnd = self.bytes(sample.cwnd);
        self.extra_acked.update(sample, self.bw, cwnd, &self.round, self.full_bw.is_reached);
        if self.round.is_start {
            self.full_bw.check(sample, &self.parameters);
        }
    }

    /// UpdateCongestionSignals and AdaptLowerBoundsFromCongestion, section 5.5.10.3, on the first
    /// ACK of a loss round trip.
    fn adapt_lower_bounds(&mut self, sample: &Sample, is_probing_bw: bool) {
        if self.signals.is_loss_in_round && !is_probing_bw {
            let Signals { bw_latest, inflight_latest, .. } = self.signals;
            let Bounds { bw_shortterm, inflight_shortterm, .. } = self.bounds;
            // InitLowerBounds
            let bw = if bw_shortterm.is_infinite() { self.max_bw.get() } else { bw_shortterm };
            let inflight =
                if inflight_shortterm.is_infinite() { self.bytes(sample.cwnd) } else { inflight_shortterm };
            // LossLowerBounds
            let beta = self.parameters.beta;
            self.bounds.bw_shortterm = bw_latest.max(beta * bw);
            self.bounds.inflight_shortterm = inflight_latest.max(beta * inflight);
        }
        self.signals.is_loss_in_round = false;
    }

    /// The end of UpdateModelAndState: AdvanceLatestDeliverySignals and BoundBWForModel.
    pub const fn finish_update(&mut self, sample: &Sample) {
        self.signals.advance(sample);
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm);
    }

    // --- loss, section 5.5.10.2
    // -------------------------------------------------------------------------------------

    /// IsInflightTooHigh.
    pub const fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        sample.lost > sample.tx_in_flight * self.parameters.loss_threshold
            || sample.lost > 0.0 && !self.has_selective_acks
    }

    /// InflightAtLoss: "lost_prefix >= (BBR.LossThresh * inflight_prev - lost_prev) / (1 -
    /// BBR.LossThresh)". Our choice: clamped to between none and all of the newly lost data.
    pub const fn inflight_at_loss(&self, sample: &Sample) -> f64 {
        let threshold = self.parameters.loss_threshold;
        let inflight_prev = (sample.tx_in_flight - sample.newly_lost).max(0.0);
        let lost_prev = (sample.lost - sample.newly_lost).max(0.0);
        let lost_prefix = (threshold * inflight_prev - lost_prev) / (1.0 - threshold);
        inflight_prev + lost_prefix.clamp(0.0, sample.newly_lost)
    }
}

#[cfg(test)]
mod tests {
    use crate::decision::Phase;
    use crate::model::bbr3::probe_bw::{self, Climb};
    use crate::model::bbr3::rig::Rounds;
    use crate::model::bbr3::state::State;
    use crate::units::{Duration, Time};

    /// A window of inflight_longterm / MSS segments, times the MSS, was a rounding error less than
    /// inflight_longterm for about one value in twelve: BBR then did not count as limited by it,
    /// and never raised it again. On a link of 100 Mbit/s it stayed at the 30 Mbit/s that cross
    /// traffic had left it, minutes after that traffic was gone.
    #[test]
    fn a_window_at_the_long_term_inflight_is_held_by_it() {
        let Rounds { mut bbr, mut state, .. } = Rounds::new();
        bbr.path.mss = 1448.0;
        bbr.state = State::ProbeBw(probe_bw::State::Up(Climb::new(1e6, 1448.0)));
        bbr.path.full_bw.is_reached = true;
        bbr.path.round.note_cwnd_limited();
        bbr.path.min_rtt.update(Time::ZERO, Some(Duration::from_milliseconds(100)), &bbr.path.parameters);
        bbr.path.bw = 1e9;
        let mut rounded = 0;
        for bytes in 400_000..401_000 {
            bbr.path.bounds.inflight_longterm = f64::from(bytes);
            state.cwnd = 1e6;
            bbr.set_cwnd(0.0, &mut state);
            assert!(bbr.path.is_held_by_inflight_longterm(state.cwnd), "{bytes}");
            rounded += u32::from(bbr.path.bytes(state.cwnd) < bbr.path.bounds.inflight_longterm);
        }
        assert!(rounded > 0, "the test must see the rounding");
    }

    /// Section 5.5.10.3: the data delivered, but at least 0.7 of the previous value.
    #[test]
    fn loss_while_cruising_sets_the_short_term_model() {
        for (rate, expected) in [(2e6, 2e6), (1e6, 0.7 * 2.5e6)] {
            let mut rounds = Rounds::new();
            rounds.until(Phase::ProbeCruise);
            // Drop the rates of earlier rounds.
            rounds.round(rate, 0, 90_000);
            rounds.round(rate, 5_000, 90_000);
            rounds.round(rate, 0, 90_000);
            assert!(
                (rounds.bbr.path.bounds.bw_shortterm - expected).abs() < 1.0,
                "{}",
                rounds.bbr.path.bounds.bw_shortterm
            );
            rounds.until(Phase::ProbeRefill);
            assert!(rounds.bbr.path.bounds.bw_shortterm.is_infinite());
        }
    }
}

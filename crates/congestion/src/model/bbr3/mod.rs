//! BBR version 3, after draft-ietf-ccwg-bbr-06.
//!
//! It keeps a model of the path - the bandwidth, the RTT without a queue, and the volume in flight
//! that causes no excessive loss - and derives the pacing rate and the window from it. Section
//! numbers below are those of the draft, and so are the names of its variables, in the spelling of
//! this crate.
//!
//! The draft assumes per-segment state of the transport; here an ACK carries one [`RateSample`].
//! The code notes where that makes a difference:
//!
//! * Losses come with the ACK that revealed them, not one by one. The flight size when the lost
//!   segment was sent is taken from the newest acknowledged segment, which left at most a
//!   reordering window later.
//! * Segments are not sent in quanta of several, which is the smallest quantum that section 5.6.3
//!   asks for; the budget for offloading (section 5.5.8) is then below the smallest window and has
//!   no effect.
//! * There is no packet conservation in recovery: the draft has none ("When a BBR sender is in Fast
//!   Recovery it uses the response described in" section 5.5.10).
//!
//! `path` is the model, made of `round`, `filters` and `full_bw`; `state` is the state machine's
//! position, and each state has a file; this file has the order of the steps and every transition
//! between states.

mod drain;
mod filters;
mod full_bw;
mod pacing;
mod parameters;
mod path;
mod probe_bw;
mod probe_rtt;
mod recovery;
#[cfg(test)]
mod rig;
mod round;
mod sample;
mod startup;
mod state;
mod undo;

pub use parameters::Parameters;

use crate::decision::{Pacing, Phase};
use crate::entry::{Entry, InRecovery, Need};
use crate::event::{
    Acknowledged, DuplicateAck, LossDetected, RateSample, RecoveryEnded, Resumed, Sent, SpuriousLoss, Timeout,
};
use crate::part::ModelPart;
use crate::state::{PathModel, Setup, WindowBefore, WindowState};
use crate::units::{Duration, Time};
use pacing::PacingRate;
use path::Path;
use probe_bw::Cycle;
use probe_rtt::AppLimited;
use recovery::Recovery;
use sample::Sample;
use state::State;
use undo::{Probing, Undo};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "bbr3",
    about: "A model of the path's bandwidth, round-trip time and tolerable inflight sets pacing and window; probes for \
            bandwidth every few seconds. Needs delivery rate samples.",
    source: "draft-ietf-ccwg-bbr-06",
    parameters: Parameters::TABLE,
    needs: &[Need::Pacing],
    recovery: InRecovery::Algorithm,
    ..Entry::MODEL
};

/// RTT that the initial pacing assumes before the first sample (section 5.6.2), in seconds.
const NOMINAL_RTT: f64 = 0.001;

/// BBR. Volumes are in bytes, rates in bytes per second, both of payload; times in seconds unless
/// of type [`Time`].
#[derive(Clone, Debug)]
pub struct Bbr3 {
    path: Path,
    state: State,
    cycle: Cycle,
    recovery: Recovery,
    undo: Undo,
    probe_rtt_samples: AppLimited,
    idle_restart: bool,
    /// Time of the last ACK, and the window before it as SaveCwnd would have saved it, in bytes.
    before_ack: (Time, f64),
    pacing_rate: PacingRate,
    paced_by_rtt: bool,
}

impl Bbr3 {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            path: Path::new(parameters),
            state: State::default(),
            cycle: Cycle::new(0),
            recovery: Recovery::default(),
            undo: Undo::default(),
            probe_rtt_samples: AppLimited::default(),
            idle_restart: false,
            before_ack: (Time::ZERO, 0.0),
            pacing_rate: PacingRate::default(),
            paced_by_rtt: false,
        }
    }

    /// UpdateOnACK, section 5.2.3.
    fn update(
        &mut self,
        now: Time,
        rtt: Option<Duration>,
        in_flight: f64,
        newly_acked: f64,
        rate: Option<&RateSample>,
        state: &mut WindowState,
    ) {
        self.path.first_event(now);
        self.before_ack = (now, self.unmodulated_cwnd(state));
        let sample = rate.map(|rate| {
            self.path.round.delivered = self.path.round.delivered.max(rate.delivered_total);
            let mut sample = Sample::new(now, in_flight, state.cwnd, rate);
            sample.is_app_limited |= self.probe_rtt_samples.contains(sample.prior_delivered);
            sample
        });
        let newly_acked = sample.map_or(newly_acked, |sample| sample.newly_acked);
        if let Some(sample) = &sample {
            if sample.newly_lost > 0.0 {
                self.on_lost(sample, state);
            }
            self.path.update(sample, self.state.is_probing_bw());
            self.check_startup_done(sample);
            self.check_drain_done(sample);
            if self.path.full_bw.is_reached {
                self.cycle.update(self.state.probe_bw(), sample, &mut self.path);
            }
        }
        self.path.min_rtt.update(now, rtt, &self.path.parameters);
        self.check_probe_rtt(now, in_flight, state);
        if newly_acked > 0.0 {
            self.idle_restart = false;
        }
        if let Some(sample) = &sample {
            self.path.finish_update(sample);
        }
        // A round trip begins on one ACK only.
        self.path.round.is_start = false;
        self.path.signals.is_round_start = false;
        self.set_pacing_rate(self.state.pacing_gain(&self.path.parameters));
        self.set_cwnd(newly_acked, state);
    }

    // --- transitions, section 5.3; those within ProbeBW are in `probe_bw`
    // -------------------------------------------

    fn check_startup_done(&mut self, sample: &Sample) {
        let is_startup = matches!(self.state, State::Startup);
        if is_startup
            && !self.path.full_bw.is_reached
            && self.recovery.is_fast
            && startup::check_high_loss(&mut self.path, sample)
        {
            self.undo.state = Some(Probing::Startup);
        }
        if self.path.signals.is_round_start {
            self.path.signals.loss_events = 0;
        }
        if is_startup && self.path.full_bw.is_reached {
            self.state = State::Drain(drain::State::new(&self.path));
        }
    }

    fn check_drain_done(&mut self, sample: &Sample) {
        if let State::Drain(drain) = &self.state
            && drain.is_done(sample.in_flight, &self.path)
        {
            self.state = State::ProbeBw(self.cycle.start_down(sample.now, &mut self.path));
        }
    }

    fn check_probe_rtt(&mut self, now: Time, in_flight: f64, state: &mut WindowState) {
        let delivered = self.path.round.delivered;
        if !matches!(self.state, State::ProbeRtt(_)) && self.path.min_rtt.is_expired && !self.idle_restart {
            self.save_cwnd(state);
            self.state = State::ProbeRtt(probe_rtt::State::Draining);
            self.cycle.interrupt();
            self.path.round.restart();
            self.probe_rtt_samples.begin(delivered);
        }
        if let State::ProbeRtt(probe) = &mut self.state {
            self.probe_rtt_samples.extend(delivered, in_flight);
            if probe.update(now, in_flight, &mut self.path) {
                self.exit_probe_rtt(now, state);
            }
        }
    }

    /// The end of CheckProbeRTTDone, and ExitProbeRTT of section 5.3.4.4.
    fn exit_probe_rtt(&mut self, now: Time, state: &mut WindowState) {
        self.path.min_rtt.end_probe(now);
        self.restore_cwnd(state);
        self.path.bounds.reset_short_term();
        self.state = if self.path.full_bw.is_reached {
            State::ProbeBw(self.cycle.start_cruise(now, &mut self.path))
        } else {
            State::Startup
        };
    }

    // --- loss, section 5.5.10
    // ---------------------------------------------------------------------------------------

    /// NoteLoss.
    fn note_loss(&mut self, state: &WindowState) {
        if self.path.signals.note_loss(&self.path.round) {
            self.save_cwnd(state);
        }
    }

    /// HandleLostPacket, for all losses that this ACK revealed.
    fn on_lost(&mut self, sample: &Sample, state: &WindowState) {
        if !self.recovery.is_under_way() {
            self.save_state(sample.now, state);
        }
        self.note_loss(state);
        self.path.signals.loss_events = self.path.signals.loss_events.saturating_add(1);
        if self.cycle.on_lost(self.state.probe_bw(), sample, &mut self.path) {
            self.undo.state = Some(Probing::ProbeBwUp);
        }
    }

    // --- control, section 5.6
    // ---------------------------------------------------------------------------------------

    /// SetPacingRateWithGain.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.path.bw * (1.0 - self.path.parameters.pacing_margin);
        if rate > 0.0 && (self.path.full_bw.is_reached || rate > self.pacing_rate.get()) {
            self.pacing_rate.set(rate, self.path.mss);
        }
    }

    /// InitPacingRate, again with the first round-trip time.
    fn begin_pacing(&mut self, rtt: f64) {
        let rate = self.path.parameters.startup_pacing_gain * self.path.initial_window / rtt;
        self.pacing_rate.set(rate, self.path.mss);
    }

    /// SetCwnd, section 5.6.4.6.
    fn set_cwnd(&self, newly_acked: f64, state: &mut WindowState) {
        let path = &self.path;
        let minimum = path.minimum_pipe();
        let bdp = path.bdp_multiple(path.bw, self.state.cwnd_gain(&path.parameters));
        // QuantizationBudget
        let is_up = self.state.phase() == Phase::ProbeUp;
        let quanta = if is_up { 2.0 * path.mss } else { 0.0 };
        let max_inflight = (bdp + path.extra_acked.get(path.bw)).max(minimum) + quanta;
        let mut cwnd = path.bytes(state.cwnd);
        if path.full_bw.is_reached {
            cwnd = (cwnd + newly_acked).min(max_inflight);
        } else if cwnd < max_inflight || (path.round.delivered.get() as f64) < path.initial_window {
            cwnd += newly_acked;
        }
        cwnd = cwnd.max(minimum);
        if matches!(self.state, State::ProbeRtt(_)) {
            cwnd = cwnd.min(path.probe_rtt_cwnd());
        }
        // BoundCwndForModel
        let cap = self.state.longterm_cap(path).min(path.bounds.inflight_shortterm).max(minimum);
        state.cwnd = cwnd.min(cap) / path.mss;
    }

    fn unmodulated_cwnd(&self, state: &WindowState) -> f64 {
        self.recovery.unmodulated(self.path.bytes(state.cwnd), matches!(self.state, State::ProbeRtt(_)))
    }

    /// SaveCwnd.
    fn save_cwnd(&mut self, state: &WindowState) {
        self.recovery.prior_cwnd = self.unmodulated_cwnd(state);
    }

    /// SaveCwnd at the detection of a loss: the window from before the ACK that revealed it, if one
    /// did, since the response to that ACK has lowered it.
    fn save_cwnd_at(&mut self, now: Time, state: &WindowState) {
        let (at, before) = self.before_ack;
        let current = self.unmodulated_cwnd(state);
        self.recovery.prior_cwnd = if at == now { current.max(before) } else { current };
    }

    /// SaveStateUponLoss.
    fn save_state(&mut self, now: Time, state: &WindowState) {
        self.undo.save(now, self.unmodulated_cwnd(state), &self.path);
    }

    /// RestoreCwnd.
    fn restore_cwnd(&self, state: &mut WindowState) {
        state.cwnd = state.cwnd.max(self.recovery.prior_cwnd / self.path.mss);
    }
}

impl ModelPart for Bbr3 {
    fn begin(&mut self, setup: &Setup, state: &WindowState) {
        self.cycle = Cycle::new(setup.seed);
        self.path.set_up(setup, state);
        self.begin_pacing(NOMINAL_RTT);
    }

    fn wants_rate_samples(&self) -> bool {
        true
    }

    /// Section 5.6.4.4: "When a BBR sender is in Fast Recovery it uses the response described in"
    /// section 5.5.10, and nothing else.
    fn owns_window_in_recovery(&self) -> bool {
        ENTRY.recovery == InRecovery::Algorithm
    }

    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if !self.paced_by_rtt
            && let Some(rtt) = event.smoothed_rtt
        {
            self.paced_by_rtt = true;
            if !rtt.is_zero() {
                self.begin_pacing(rtt.seconds());
            }
        }
        if event.rate.is_none() {
            self.path.round.delivered = self.path.round.delivered.max(event.acknowledged_total);
        }
        if self.recovery.ends_timeout(event.acknowledged_total, event.sent_total) {
            self.restore_cwnd(state);
        }
        let (in_flight, size) = (event.in_flight.get() as f64, event.size.get() as f64);
        self.update(event.now, event.rtt, in_flight, size, event.rate.as_ref(), state);
    }

    fn on_duplicate_ack(&mut self, event: &DuplicateAck, state: &mut WindowState) {
        if event.rate.is_some() {
            let in_flight = event.in_flight.get() as f64;
            self.update(event.now, event.rtt, in_flight, 0.0, event.rate.as_ref(), state);
        }
    }

    /// OnEnterFastRecovery: the response is to the reported losses, and at the end of the round
    /// trip.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.path.first_event(event.now);
        self.save_state(event.now, state);
        self.save_cwnd_at(event.now, state);
        self.recovery.is_fast = true;
        self.note_loss(state);
    }

    /// OnEnterRTO.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.path.first_event(event.now);
        if !event.repeated {
            self.save_state(event.now, state);
        }
        self.save_cwnd(state);
        self.recovery.begin_timeout();
        self.note_loss(state);
    }

    /// HandleSpuriousLossDetection, section 5.5.11. `before` is not used: an ACK that revealed the
    /// loss has lowered it.
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, _before: &WindowBefore, state: &mut WindowState) {
        self.recovery.abandon();
        match (self.undo.restore(&mut self.path, state), &mut self.state) {
            (None, _) | (Some(Probing::Startup), State::Startup) => {}
            (Some(Probing::Startup), current) => {
                self.path.full_bw.is_reached = false;
                // ProbeRTT returns to Startup by itself.
                if !matches!(current, State::ProbeRtt(_)) {
                    *current = State::Startup;
                }
            }
            (Some(Probing::ProbeBwUp), current) => {
                if let Some(phase) =
                    current.probe_bw().filter(|phase| !matches!(phase, probe_bw::State::Up(_)))
                {
                    *phase = self.cycle.start_refill(&mut self.path);
                }
            }
        }
        self.set_cwnd(0.0, state);
    }

    fn on_mss_changed(&mut self, ratio: f64) {
        self.path.mss = libm::round(self.path.mss / ratio);
        self.pacing_rate.resize(self.path.mss);
    }

    fn on_recovery_ended(&mut self, _event: &RecoveryEnded, state: &mut WindowState) {
        if self.recovery.is_fast {
            self.recovery.is_fast = false;
            self.restore_cwnd(state);
            self.set_cwnd(0.0, state);
        }
    }

    /// HandleRestartFromIdle, section 5.4.1: "if (C.inflight == 0 && C.app_limited)". A silence no
    /// longer than the interval between two segments is the pacer's, not the application's.
    fn on_resumed(&mut self, event: &Resumed, state: &mut WindowState) {
        self.path.first_event(event.now);
        if event.idle <= self.pacing_rate.interval() {
            return;
        }
        self.idle_restart = true;
        self.path.extra_acked.begin(event.now);
        match &self.state {
            State::ProbeBw(_) => self.set_pacing_rate(1.0),
            State::ProbeRtt(probe) if probe.is_time_over(event.now) => self.exit_probe_rtt(event.now, state),
            _ => {}
        }
    }

    fn on_sent(&mut self, event: &Sent, state: &mut WindowState) {
        self.path.first_event(event.now);
        if event.in_flight.get() as f64 + self.path.mss > self.path.bytes(state.cwnd) {
            self.path.round.note_cwnd_limited();
        }
    }

    #[inline]
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        self.pacing_rate.pacing(state)
    }

    fn path_model(&self) -> PathModel {
        self.path.view()
    }

    fn phase(&self) -> Option<Phase> {
        Some(self.state.phase())
    }
}

#[cfg(test)]
mod tests {
    use super::path::MINIMUM_PIPE;
    use super::rig::{Rounds, bench};
    use super::*;
    use crate::event::MssChanged;
    use crate::fixtures::{ack_at, setup};
    use crate::model::harness::Path;
    use crate::registry::Selection;
    use crate::units::Bytes;

    /// Startup doubles from the initial window to the BDP in log2(BDP/10) round trips and one, then
    /// takes four to see the plateau, each as long as two because of the queue it has built.
    #[test]
    fn one_flow() {
        for (rate, rtt, buffer) in
            [(50e6, 0.04, 1.0), (50e6, 0.04, 4.0), (10e6, 0.1, 1.0), (100e6, 0.01, 1.0), (50e6, 0.04, 0.25)]
        {
            let path = Path::new(rate, rtt, buffer);
            let mut bench = bench(path, &[0.0]);
            bench.run(30.0);
            let utilization = bench.utilization(2.0, 30.0);
            let queue = bench.mean_queue(2.0, 30.0) / path.bdp();
            let startup = bench.entries(Phase::Drain)[0];
            let expected = rtt * (libm::log2(path.bdp() / 10.0) + 1.0 + 4.0 * 2.0);
            println!(
                "BBR {:.0} Mbit/s, {rtt} s, buffer {buffer} BDP: utilization {utilization:.4}, queue {queue:.3} BDP, \
                 {} drops, startup {startup:.3} s (expected {expected:.3}), {} probes for bandwidth, ProbeRTT at {:?}",
                rate / 1e6,
                bench.drops,
                bench.entries(Phase::ProbeUp).len(),
                bench.entries(Phase::ProbeRtt)
            );
            assert!(utilization > 0.95, "{utilization}");
            assert!(queue < 0.25, "{queue}");
            assert!(startup < 1.1 * expected, "{startup} against {expected}");
        }
    }

    /// Random loss below the threshold of 2 %. In CRUISE, every round trip with a loss lowers the
    /// rate to what was delivered in it, reduced by the loss and by the pacing margin, until the
    /// next probe restores it (section 5.3.3.8 relies on that). The worst case is a factor 1 - p -
    /// 0.01 q for each of 62 round trips, with q the probability that a round trip has a loss; the
    /// delivered amount is a maximum of samples, hence better.
    #[test]
    fn random_loss_below_the_threshold() {
        for loss in [0.001, 0.005, 0.01] {
            let path = Path { loss, ..Path::new(50e6, 0.04, 1.0) };
            let mut bench = bench(path, &[0.0]);
            bench.run(60.0);
            let utilization = bench.utilization(2.0, 60.0);
            let per_round = loss + 0.01 * (1.0 - libm::pow(1.0 - loss, path.bdp()));
            let worst = (1.0 - libm::pow(1.0 - per_round, 62.0)) / (62.0 * per_round);
            println!("BBR, loss {loss}: utilization {utilization:.4}, at worst {worst:.4} of it without");
            assert!(utilization > 0.96 * worst, "{utilization} against {worst}");
        }
    }

    /// Loss far above the threshold: every probe finds too much in flight, so that BBR falls to its
    /// minimum window, four segments per round trip, but not below.
    #[test]
    fn random_loss_above_the_threshold() {
        let path = Path { loss: 0.1, ..Path::new(50e6, 0.04, 1.0) };
        let mut bench = bench(path, &[0.0]);
        bench.run(30.0);
        let utilization = bench.utilization(2.0, 30.0);
        let smallest = MINIMUM_PIPE / path.bdp();
        println!("BBR, loss 0.1: utilization {utilization:.4}, four segments a round trip {smallest:.4}");
        assert!(utilization > 0.9 * smallest, "{utilization}");
        assert!(utilization < 0.1, "{utilization}");
    }

    #[test]
    fn two_flows_converge() {
        for buffer in [0.5, 1.0, 2.0] {
            let path = Path::new(50e6, 0.04, buffer);
            let mut bench = bench(path, &[0.0, 5.0]);
            bench.run(100.0);
            let [first, second] = bench.shares(40.0, 100.0);
            let jain = (first + second) * (first + second) / (2.0 * (first * first + second * second));
            println!("BBR, two flows, buffer {buffer} BDP: {first:.3} and {second:.3}, Jain {jain:.4}");
            assert!(jain > 0.95, "{first} and {second}");
            assert!(first + second > 0.95, "{first} and {second}");
        }
    }

    /// The rate of the path changes tenfold. Upwards a probe ends when the rate has not grown for
    /// three round trips, so that it takes one or two probes, each growing by 1.25 per round trip:
    /// ln 10 / ln 1.25 = 10.3 round trips. Downwards the bandwidth filter forgets within two
    /// cycles.
    #[test]
    fn rate_of_the_path_changes() {
        let mut path = Path::new(10e6, 0.04, 1.0);
        path.buffer = 172;
        let mut bench = bench(path, &[0.0]);
        bench.run(10.0);
        bench.set_rate(100e6);
        bench.run(40.0);
        let up = bench.utilization(25.0, 40.0);
        bench.set_rate(10e6);
        bench.run(70.0);
        let down = bench.mean_queue(55.0, 70.0);
        println!("BBR: {up:.3} of ten times the rate; {down:.1} packets in the queue after a tenth of it");
        assert!(up > 0.9, "{up}");
        assert!(down < 0.5 * 34.5, "{down}");
    }

    /// Section 5.3.4.3: an idle period is "a sufficient attempt to drain the queue", and no
    /// ProbeRTT follows it; one ACK per flight is none, so ProbeRTT comes.
    #[test]
    fn only_a_pause_replaces_probe_rtt() {
        for pauses in [false, true] {
            let mut rounds = Rounds::new();
            rounds.until(Phase::ProbeCruise);
            let mut probed = false;
            for _ in 0..1000 {
                if pauses {
                    rounds.resume(0.1);
                }
                rounds.flight(0.04, 100_000);
                probed |= rounds.phase() == Phase::ProbeRtt;
            }
            assert_eq!(probed, !pauses);
        }
    }

    /// SaveCwnd keeps the window "before entering recovery": also if the ACK that reveals the loss
    /// lowers it before the transport reports the loss.
    #[test]
    fn the_window_before_the_loss_is_restored() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeUp);
        let before = rounds.state.cwnd * 1000.0;
        rounds.round(2.5e6, 10_000, 90_000);
        assert!(rounds.state.cwnd * 1000.0 < before);
        let now = Time::ZERO + Duration::from_seconds(rounds.now);
        rounds.bbr.on_loss(&LossDetected::new(now, Bytes(100_000)), &mut rounds.state);
        assert_eq!(rounds.bbr.recovery.prior_cwnd, before);
    }

    /// The rate falls to a third, with a buffer that drops nothing: only the filter can notice. It
    /// forgets within two cycles of at most 3 s each (section 5.3.3.8), which the queue of then
    /// three BDP and ProbeRTT prolong; 30 s are ten cycles. Afterwards the queue is what it is at a
    /// constant rate, a quarter of a BDP at most (see `one_flow`), in BDP of the new rate; twice
    /// that is allowed. A fall to a fifth is too much for a buffer without an end: round trips
    /// become longer than ProbeRTTInterval, and no sample is free of ProbeRTT.
    #[test]
    fn the_bandwidth_is_forgotten_although_probe_rtt_cuts_off_the_probes() {
        for (before, after, rtt) in
            [(20e6, 6e6, 0.06), (20e6, 8e6, 0.06), (50e6, 15e6, 0.04), (10e6, 3e6, 0.1)]
        {
            let mut path = Path::new(before, rtt, 1.0);
            path.buffer = 100_000;
            let mut bench = bench(path, &[0.0]);
            bench.run(15.0);
            bench.set_rate(after);
            bench.run(90.0);
            let queue = bench.mean_queue(60.0, 90.0) / (path.bdp() * after / before);
            println!("BBR, {before:e} to {after:e} bit/s: queue {queue:.3} BDP");
            assert!(queue < 0.5, "{queue} BDP");
        }
    }

    /// A transport without delivery rate samples: no model, and about two initial windows.
    #[test]
    fn without_samples_the_window_stays_small() {
        let mut rounds = Rounds::new();
        for i in 1..1000_u32 {
            let acknowledged_total = Bytes(u64::from(i) * 1000);
            let event = Acknowledged { acknowledged_total, ..ack_at(f64::from(i) / 250.0, 0.04) };
            rounds.bbr.on_ack(&event, &mut rounds.state);
        }
        assert!(rounds.state.cwnd < 21.0, "{}", rounds.state.cwnd);
    }

    /// Section 5.6.2: 2.77 initial windows per RTT once it is known, per millisecond before.
    #[test]
    fn initial_pacing() {
        let mut rounds = Rounds::new();
        assert!((rounds.bbr.pacing_rate.get() - 2.77 * 10_000.0 / 0.001).abs() < 1e-3);
        rounds.bbr.on_ack(&ack_at(0.04, 0.04), &mut rounds.state);
        let pacing = rounds.bbr.pacing(&rounds.state).expect("it paces");
        assert!((pacing.interval.seconds() - 0.04 / 27.7).abs() < 1e-9, "{:?}", pacing.interval);
    }

    /// Segments of half the size leave twice as often.
    #[test]
    fn pacing_follows_the_size_of_segments() {
        let mut controller = Selection::model("bbr3").expect("listed").controller(setup());
        controller.on_ack(&ack_at(0.04, 0.04));
        let before = controller.decision().pacing.expect("it paces");
        controller.on_mss_changed(&MssChanged::new(Time::ZERO, Bytes(500)));
        let after = controller.decision().pacing.expect("it paces");
        assert_eq!((before.size, after.size), (Bytes(1040), Bytes(540)));
        let ratio = before.interval.seconds() / after.interval.seconds();
        assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
    }

    /// Segments of half the size: the window is as many bytes as without the change, also after the
    /// next ACK.
    #[test]
    fn another_size_of_segments() {
        let windows = [false, true].map(|changes| {
            let mut rounds = Rounds::new();
            rounds.until(Phase::ProbeCruise);
            let mut size = 1000.0;
            if changes {
                size = 500.0;
                rounds.state.cwnd *= 2.0;
                rounds.bbr.on_mss_changed(2.0);
            }
            rounds.round(2.5e6, 0, 90_000);
            rounds.state.cwnd * size
        });
        assert_eq!(windows[0], windows[1]);
    }
}

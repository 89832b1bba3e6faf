//! BBR version 3, after draft-ietf-ccwg-bbr-06.
//!
//! It keeps a model of the path - the bandwidth, the round-trip time without a queue, and how much may be in flight
//! without too much loss - and sets the pacing rate and the window from it. Section numbers below are those of the
//! draft, and so are the names of what is kept, in the spelling of this crate.
//!
//! The draft works on what a transport knows of every segment; here an acknowledgement carries one [`RateSample`].
//! Where that makes a difference, the code says so:
//!
//! * Losses come with the acknowledgement that revealed them, not one by one. What was in flight when the lost segment
//!   was sent is taken to be what was when the newest acknowledged one was, which left at most a reordering window
//!   later.
//! * Nothing tells that a loss was none, so section 5.5.11, which undoes the response, is not here.
//! * Segments are not sent in quanta of several, which is the smallest quantum that section 5.6.3 asks for; the budget
//!   for offloading (section 5.5.8) is then below the smallest window and has no effect.
//! * There is no packet conservation in a recovery: the draft has none ("When a BBR sender is in Fast Recovery it uses
//!   the response described in" section 5.5.10).

use crate::decision::paced_at;
use crate::decision::{Pacing, Phase};
use crate::entry::Entry;
use crate::estimate::windowed_maximum::WindowedMaximum;
use crate::event::{Acknowledged, DuplicateAck, LossDetected, RateSample, RecoveryEnded, Sent, Timeout};
use crate::parameters;
use crate::part::ModelPart;
use crate::random::Random;
use crate::state::{Setup, WindowState};
use crate::units::{Bytes, Duration, Time};

/// What `selfclock algorithms` says.
pub const ENTRY: Entry = Entry {
    name: "bbr3",
    about: "A model of the path's bandwidth, round-trip time and tolerable inflight sets pacing and window; probes for \
            bandwidth every few seconds. Needs delivery rate samples.",
    source: "draft-ietf-ccwg-bbr-06",
    parameters: Parameters::TABLE,
    ..Entry::MODEL
};

parameters! {
    /// Parameters of BBR.
    Parameters {
        /// Pacing gain of Startup.
        startup_pacing_gain: f64 = 2.77, shown "2.77", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.5: 4 ln 2";
        /// Pacing gain of Drain.
        drain_pacing_gain: f64 = 0.5, shown "0.5", unit "", range (0.05, 1.0),
            source "draft-ietf-ccwg-bbr-06 section 2.5 (1/2.77 before BBRv3)";
        /// Pacing gain of ProbeBW_DOWN.
        down_pacing_gain: f64 = 0.9, shown "0.9", unit "", range (0.05, 1.0),
            source "draft-ietf-ccwg-bbr-06 section 5.6.1";
        /// Pacing gain of ProbeBW_UP.
        up_pacing_gain: f64 = 1.25, shown "1.25", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.6.1";
        /// Part of the pacing rate that is left unused.
        pacing_margin: f64 = 0.01, shown "0.01", unit "", range (0.0, 0.5),
            source "draft-ietf-ccwg-bbr-06 section 2.5: PacingMarginPercent of 1";
        /// Window in bandwidth-delay products, in every phase that does not say otherwise.
        cwnd_gain: f64 = 2.0, shown "2", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.6: DefaultCwndGain";
        /// Window in bandwidth-delay products in ProbeBW_UP.
        up_cwnd_gain: f64 = 2.25, shown "2.25", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.6.1";
        /// Window in bandwidth-delay products in ProbeRTT.
        probe_rtt_cwnd_gain: f64 = 0.5, shown "0.5", unit "", range (0.05, 1.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.2: ProbeRTTCwndGain";
        /// Shortest time that ProbeRTT holds the window low.
        probe_rtt_duration: Duration = Duration::from_milliseconds(200), shown "200 ms", unit "s", range (0.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.2: ProbeRTTDuration";
        /// Time without a lower round-trip time after which ProbeRTT begins.
        probe_rtt_interval: Duration = Duration::from_milliseconds(5000), shown "5 s", unit "s", range (0.1, 3600.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.2: ProbeRTTInterval";
        /// Time over which the smallest round-trip time is remembered.
        min_rtt_window: Duration = Duration::from_milliseconds(10_000), shown "10 s", unit "s", range (0.1, 3600.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.1: MinRTTFilterLen";
        /// Loss rate over a round trip that is too high when probing for bandwidth.
        loss_threshold: f64 = 0.02, shown "0.02", unit "", range (0.0, 0.5),
            source "draft-ietf-ccwg-bbr-06 section 2.8: LossThresh";
        /// Least that is kept of the short-term model after a round trip with a loss.
        beta: f64 = 0.7, shown "0.7", unit "", range (0.1, 0.99),
            source "draft-ietf-ccwg-bbr-06 section 2.8: Beta";
        /// Part of the long-term inflight that is left to others while cruising.
        headroom: f64 = 0.15, shown "0.15", unit "", range (0.0, 0.9),
            source "draft-ietf-ccwg-bbr-06 section 2.8: Headroom";
        /// Growth of the delivery rate in a round trip below which the path may be full.
        full_bandwidth_growth: f64 = 1.25, shown "1.25", unit "", range (1.01, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Round trips without such growth after which the path is full.
        full_bandwidth_rounds: f64 = 3.0, shown "3", unit "round trips", range (1.0, 100.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Losses in a round trip that can end Startup. The draft counts ranges that are apart; here the
        /// acknowledgements that reveal a loss are counted, as in Linux.
        startup_losses: f64 = 6.0, shown "6", unit "losses", range (1.0, 1e6),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.3: BBRStartupFullLossCnt";
        /// Shortest wait between two probes for bandwidth; up to a second more is drawn.
        probe_wait: Duration = Duration::from_milliseconds(2000), shown "2 s", unit "s", range (0.1, 3600.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.3.8";
        /// Most round trips between two probes for bandwidth, so that a Reno flow of the same rate keeps up.
        reno_rounds: f64 = 63.0, shown "63", unit "round trips", range (1.0, 1e6),
            source "draft-ietf-ccwg-bbr-06 section 5.3.3.8";
    }
}

/// MinPipeCwnd of section 2.8, in segments: enough for a receiver that acknowledges every other one.
const MINIMUM_PIPE: f64 = 4.0;
/// ExtraAckedFilterLen of section 2.12, in round trips; one in Startup (section 5.5.9).
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// Most doublings of the growth of inflight_longterm in one ProbeBW_UP (section 5.3.3.9).
const MOST_UP_ROUNDS: u32 = 30;
/// Round trips that Drain may take (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Round-trip time that the initial pacing assumes before there is a sample (section 5.6.2), in seconds.
const NOMINAL_RTT: f64 = 0.001;

/// BBR.ack_phase: what acknowledgements tell of probing for bandwidth. ACKS_PROBE_FEEDBACK of the draft changes nothing
/// and is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    None,
    Refilling,
    ProbeStarting,
    ProbeStopping,
}

/// What is used of a [`RateSample`], in bytes and bytes per second.
#[derive(Clone, Copy, Debug)]
struct Sample {
    rate: f64,
    delivered: f64,
    prior_delivered: Bytes,
    newly_acked: f64,
    newly_lost: f64,
    lost: f64,
    tx_in_flight: f64,
    is_app_limited: bool,
}

/// BBR. Volumes are in bytes, rates in bytes per second, both of payload; times in seconds where not [`Time`].
#[derive(Clone, Debug)]
pub struct Bbr3 {
    parameters: Parameters,
    random: Random,
    mss: f64,
    initial_window: f64,
    selective_acks: bool,
    begun: bool,
    phase: Phase,
    pacing_rate: f64,
    paced_by_rtt: bool,

    delivered: Bytes,
    next_round_delivered: Bytes,
    round_count: u64,
    round_start: bool,
    /// The window was full at some point of this round trip, and of the one before.
    cwnd_limited: (bool, bool),
    idle_restart: bool,
    drain_start_round: u64,

    /// BBR.max_bw_filter: the maximum of the last cycle and of this one.
    max_bw_filter: (f64, f64),
    max_bw: f64,
    bw: f64,
    bw_shortterm: f64,
    inflight_longterm: f64,
    inflight_shortterm: f64,

    loss_round_delivered: Bytes,
    loss_round_start: bool,
    is_loss_in_round: bool,
    loss_events: u32,
    bw_latest: f64,
    inflight_latest: f64,

    extra_acked_interval_start: Time,
    extra_acked_delivered: f64,
    extra_acked: WindowedMaximum,

    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,

    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Duration,
    cycle_stamp: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,

    min_rtt: f64,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: f64,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    /// What was delivered when ProbeRTT began, and what will be when all that was sent in it is: samples of what left
    /// between the two are application-limited.
    probe_rtt_sent: (Bytes, Bytes),

    prior_cwnd: f64,
    recovering: bool,
    /// What the repair after a timeout has to acknowledge; `None` in the second place until it is known.
    after_timeout: Option<Option<Bytes>>,
}

impl Bbr3 {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            random: Random::new(0),
            mss: 1.0,
            initial_window: 0.0,
            selective_acks: true,
            begun: false,
            phase: Phase::Startup,
            pacing_rate: 0.0,
            paced_by_rtt: false,
            delivered: Bytes::ZERO,
            next_round_delivered: Bytes::ZERO,
            round_count: 0,
            round_start: false,
            cwnd_limited: (false, false),
            idle_restart: false,
            drain_start_round: 0,
            max_bw_filter: (0.0, 0.0),
            max_bw: 0.0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            loss_round_delivered: Bytes::ZERO,
            loss_round_start: false,
            is_loss_in_round: false,
            loss_events: 0,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            extra_acked_interval_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            extra_acked: WindowedMaximum::EMPTY,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            ack_phase: AckPhase::None,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Duration::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            min_rtt: f64::INFINITY,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: f64::INFINITY,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            probe_rtt_sent: (Bytes::MAX, Bytes::ZERO),
            prior_cwnd: 0.0,
            recovering: false,
            after_timeout: None,
        }
    }

    /// Now() of OnInit in section 5.2.1: the first event.
    fn first_event(&mut self, now: Time) {
        if !self.begun {
            self.begun = true;
            self.min_rtt_stamp = now;
            self.probe_rtt_min_stamp = now;
            self.extra_acked_interval_start = now;
        }
    }

    // --- gains, section 5.6.1: those of the table, which the pseudo-code does not set on every way into a phase -----

    const fn pacing_gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => self.parameters.startup_pacing_gain,
            Phase::Drain => self.parameters.drain_pacing_gain,
            Phase::ProbeDown => self.parameters.down_pacing_gain,
            Phase::ProbeUp => self.parameters.up_pacing_gain,
            _ => 1.0,
        }
    }

    const fn cwnd_gain(&self) -> f64 {
        match self.phase {
            Phase::ProbeUp => self.parameters.up_cwnd_gain,
            Phase::ProbeRtt => self.parameters.probe_rtt_cwnd_gain,
            _ => self.parameters.cwnd_gain,
        }
    }

    const fn in_probe_bw(&self) -> bool {
        matches!(self.phase, Phase::ProbeDown | Phase::ProbeCruise | Phase::ProbeRefill | Phase::ProbeUp)
    }

    /// IsProbingBW.
    const fn is_probing_bw(&self) -> bool {
        matches!(self.phase, Phase::Startup | Phase::ProbeRefill | Phase::ProbeUp)
    }

    // --- volumes, section 5.6.4 -------------------------------------------------------------------------------------

    const fn minimum_pipe(&self) -> f64 {
        MINIMUM_PIPE * self.mss
    }

    /// BDPMultiple.
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.is_infinite() { self.initial_window } else { gain * bw * self.min_rtt }
    }

    /// QuantizationBudget.
    fn quantized(&self, inflight: f64) -> f64 {
        let budget = inflight.max(self.minimum_pipe());
        if self.phase == Phase::ProbeUp { budget + 2.0 * self.mss } else { budget }
    }

    /// Inflight.
    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(self.bdp_multiple(bw, gain))
    }

    /// InflightWithHeadroom.
    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = self.mss.max(self.parameters.headroom * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(self.minimum_pipe())
    }

    /// ProbeRTTCwnd.
    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, self.parameters.probe_rtt_cwnd_gain).max(self.minimum_pipe())
    }

    /// TargetInflight.
    fn target_inflight(&self, state: &WindowState) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.cwnd(state))
    }

    fn cwnd(&self, state: &WindowState) -> f64 {
        state.cwnd * self.mss
    }

    // --- phases, section 5.3 ----------------------------------------------------------------------------------------

    const fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    const fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    const fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    fn enter_drain(&mut self) {
        self.phase = Phase::Drain;
        self.drain_start_round = self.round_count;
    }

    fn start_down(&mut self, now: Time) {
        // ResetCongestionSignals
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait
        self.rounds_since_probe_up = self.random.bits() >> 63;
        self.bw_probe_wait = self.parameters.probe_wait + Duration::from_seconds(self.random.uniform());
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.phase = Phase::ProbeDown;
    }

    fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.phase = Phase::ProbeRefill;
    }

    fn start_up(&mut self, sample: &Sample, state: &WindowState) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = sample.rate;
        self.phase = Phase::ProbeUp;
        self.raise_inflight_longterm_slope(state);
    }

    /// CheckFullBWReached, section 5.3.1.2.
    fn check_full_bw_reached(&mut self, sample: &Sample) {
        if self.full_bw_now || !self.round_start || sample.is_app_limited {
            return;
        }
        if sample.rate >= self.full_bw * self.parameters.full_bandwidth_growth {
            self.reset_full_bw();
            self.full_bw = sample.rate;
            return;
        }
        self.full_bw_count = self.full_bw_count.saturating_add(1);
        self.full_bw_now = f64::from(self.full_bw_count) >= self.parameters.full_bandwidth_rounds;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// CheckStartupDone, and CheckStartupHighLoss of section 5.3.1.3, which the draft describes in words.
    fn check_startup_done(&mut self, sample: &Sample) {
        if self.phase == Phase::Startup && !self.full_bw_reached && self.recovering {
            let high_loss = if self.selective_acks {
                // A round trip of losses ends a round trip after the first of them, so that a recovery that is
                // still on then has lasted at least one.
                self.loss_round_start
                    && f64::from(self.loss_events) >= self.parameters.startup_losses
                    && self.is_inflight_too_high(sample)
            } else {
                sample.newly_lost > 0.0
            };
            if high_loss {
                self.full_bw_reached = true;
                self.inflight_longterm = self.bdp_multiple(self.bw, 1.0).max(self.inflight_latest);
            }
        }
        if self.loss_round_start {
            self.loss_events = 0;
        }
        if self.phase == Phase::Startup && self.full_bw_reached {
            self.enter_drain();
        }
    }

    /// CheckDrainDone, section 5.3.2.
    fn check_drain_done(&mut self, now: Time, in_flight: f64) {
        if self.phase == Phase::Drain
            && (in_flight <= self.inflight(self.bw, 1.0)
                || self.round_count > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(now);
        }
    }

    /// UpdateProbeBWCyclePhase, section 5.3.3.9.
    fn update_cycle_phase(&mut self, now: Time, in_flight: f64, sample: &Sample, state: &WindowState) {
        if !self.full_bw_reached || self.adapt_long_term_model(sample, state) {
            return;
        }
        if matches!(self.phase, Phase::ProbeDown | Phase::ProbeCruise) {
            if !self.is_time_to_probe_bw(now, state)
                && in_flight <= self.inflight_with_headroom()
                && in_flight <= self.inflight(self.max_bw, 1.0)
            {
                // IsTimeToCruise; or cruising already.
                self.phase = Phase::ProbeCruise;
            }
        } else if self.phase == Phase::ProbeRefill && self.round_start {
            self.is_bw_probe_sample = true;
            self.start_up(sample, state);
        } else if self.phase == Phase::ProbeUp && self.is_time_to_go_down(in_flight, sample, state) {
            self.prev_probe_too_high = false;
            self.start_down(now);
        }
    }

    fn is_time_to_probe_bw(&mut self, now: Time, state: &WindowState) -> bool {
        let rounds = (self.target_inflight(state) / self.mss).min(self.parameters.reno_rounds);
        let is_time =
            now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds;
        if is_time {
            self.start_refill();
        }
        is_time
    }

    fn is_time_to_go_down(&mut self, in_flight: f64, sample: &Sample, state: &WindowState) -> bool {
        if self.prev_probe_too_high && in_flight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_held_by_inflight_longterm(state) {
            // The bandwidth is limited by inflight_longterm, not by the path.
            self.reset_full_bw();
            self.full_bw = sample.rate;
            return false;
        }
        self.full_bw_now
    }

    /// C.is_cwnd_limited && C.cwnd >= BBR.inflight_longterm. In segments, the unit in which `set_cwnd` has set the window to
    /// this very bound: in bytes it could come back a rounding error smaller.
    fn is_held_by_inflight_longterm(&self, state: &WindowState) -> bool {
        (self.cwnd_limited.0 || self.cwnd_limited.1) && state.cwnd >= self.inflight_longterm / self.mss
    }

    fn raise_inflight_longterm_slope(&mut self, state: &WindowState) {
        let growth = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MOST_UP_ROUNDS);
        self.probe_up_acked_per_inc = (self.cwnd(state) / growth).max(self.mss);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_inflight_longterm_upward(&mut self, sample: &Sample, state: &WindowState) {
        if !self.is_held_by_inflight_longterm(state) {
            return;
        }
        self.bw_probe_up_acked += sample.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * self.mss;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope(state);
        }
    }

    /// AdaptLongTermModel; true if it decided a transition.
    fn adapt_long_term_model(&mut self, sample: &Sample, state: &WindowState) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::None;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::None;
            if self.in_probe_bw() && !sample.is_app_limited {
                self.advance_max_bw_filter();
            }
            if self.in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_inflight_too_high(sample) && self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(sample.tx_in_flight);
            if self.phase == Phase::ProbeUp {
                self.probe_inflight_longterm_upward(sample, state);
            }
        }
        false
    }

    // --- ProbeRTT, section 5.3.4 ------------------------------------------------------------------------------------

    /// UpdateMinRTT.
    fn update_min_rtt(&mut self, now: Time, rtt: Option<Duration>) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + self.parameters.probe_rtt_interval;
        if let Some(rtt) = rtt
            && (rtt.seconds() < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt.seconds();
            self.probe_rtt_min_stamp = now;
        }
        let expired = now > self.min_rtt_stamp + self.parameters.min_rtt_window;
        if self.probe_rtt_min_delay < self.min_rtt || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// CheckProbeRTT.
    fn check_probe_rtt(&mut self, now: Time, in_flight: f64, delivered: bool, state: &mut WindowState) {
        if self.phase != Phase::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(state);
            self.phase = Phase::ProbeRtt;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
            self.probe_rtt_sent = (self.delivered, self.delivered);
        }
        if self.phase == Phase::ProbeRtt {
            self.handle_probe_rtt(now, in_flight, state);
        }
        if delivered {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, now: Time, in_flight: f64, state: &mut WindowState) {
        // MarkConnectionAppLimited: "Ignore low rate samples during ProbeRTT". The samples come from the transport,
        // so that it is remembered here which ones are meant.
        self.probe_rtt_sent.1 = self.delivered + Bytes(in_flight as u64);
        if self.probe_rtt_done_stamp.is_none() {
            if in_flight <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = Some(now + self.parameters.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
        } else {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now, state);
            }
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time, state: &mut WindowState) {
        if self.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = now;
        self.restore_cwnd(state);
        // ExitProbeRTT, section 5.3.4.4.
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_down(now);
            self.phase = Phase::ProbeCruise;
        } else {
            self.phase = Phase::Startup;
        }
    }

    // --- the model of the path, section 5.5 -------------------------------------------------------------------------

    /// What counts of a sample.
    fn sample(&self, rate: &RateSample) -> Sample {
        let (from, to) = self.probe_rtt_sent;
        let in_probe_rtt = (from..=to).contains(&rate.prior_delivered);
        Sample {
            rate: rate.delivery_rate.bits_per_second() as f64 / 8.0,
            delivered: rate.delivered.get() as f64,
            prior_delivered: rate.prior_delivered,
            newly_acked: rate.newly_acked.get() as f64,
            newly_lost: rate.newly_lost.get() as f64,
            lost: rate.lost.get() as f64,
            tx_in_flight: rate.tx_in_flight.get() as f64,
            is_app_limited: rate.is_app_limited || in_probe_rtt,
        }
    }

    /// UpdateLatestDeliverySignals, section 5.5.10.3.
    fn update_latest_delivery_signals(&mut self, sample: &Sample) {
        self.bw_latest = self.bw_latest.max(sample.rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        self.loss_round_start = sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// UpdateRound of section 5.5.1 and UpdateMaxBw of section 5.5.5.
    fn update_max_bw(&mut self, sample: &Sample) {
        self.round_start = sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up = self.rounds_since_probe_up.saturating_add(1);
            self.cwnd_limited = (false, self.cwnd_limited.0);
        }
        if sample.rate > 0.0 && (sample.rate >= self.max_bw || !sample.is_app_limited) {
            self.max_bw_filter.1 = self.max_bw_filter.1.max(sample.rate);
            self.max_bw = self.max_bw_filter.0.max(self.max_bw_filter.1);
        }
    }

    /// AdvanceMaxBwFilter of section 5.5.6. Our choice, as in Linux: a cycle without a sample is no reason to forget.
    fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter.1 > 0.0 {
            self.max_bw_filter = (self.max_bw_filter.1, 0.0);
            self.max_bw = self.max_bw_filter.0;
        }
    }

    /// UpdateCongestionSignals and AdaptLowerBoundsFromCongestion, section 5.5.10.3.
    fn update_congestion_signals(&mut self, sample: &Sample, state: &WindowState) {
        self.update_max_bw(sample);
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !self.is_probing_bw() {
            // InitLowerBounds
            if self.bw_shortterm.is_infinite() {
                self.bw_shortterm = self.max_bw;
            }
            if self.inflight_shortterm.is_infinite() {
                self.inflight_shortterm = self.cwnd(state);
            }
            // LossLowerBounds
            let beta = self.parameters.beta;
            self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
        }
        self.is_loss_in_round = false;
    }

    /// UpdateACKAggregation, section 5.5.9.
    fn update_ack_aggregation(&mut self, now: Time, newly_acked: f64, state: &WindowState) {
        let interval = now.since(self.extra_acked_interval_start).seconds();
        let mut expected = self.bw * interval;
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = now;
            expected = 0.0;
        }
        self.extra_acked_delivered += newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd(state));
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.update(self.round_count, rounds, extra);
    }

    /// IsInflightTooHigh, section 5.5.10.2.
    fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        sample.lost > sample.tx_in_flight * self.parameters.loss_threshold
            || sample.lost > 0.0 && !self.selective_acks
    }

    /// NoteLoss.
    fn note_loss(&mut self, state: &WindowState) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_cwnd(state);
        }
        self.is_loss_in_round = true;
    }

    /// HandleLostPacket, for all that this acknowledgement revealed.
    fn on_lost(&mut self, now: Time, sample: &Sample, state: &WindowState) {
        self.note_loss(state);
        self.loss_events = self.loss_events.saturating_add(1);
        if !self.is_bw_probe_sample || !self.is_inflight_too_high(sample) {
            return;
        }
        // InflightAtLoss: "lost_prefix >= (BBR.LossThresh * inflight_prev - lost_prev) / (1 - BBR.LossThresh)". Our
        // choice: between nothing and all of what is newly lost.
        let threshold = self.parameters.loss_threshold;
        let inflight_before = (sample.tx_in_flight - sample.newly_lost).max(0.0);
        let lost_before = (sample.lost - sample.newly_lost).max(0.0);
        let lost_prefix = (threshold * inflight_before - lost_before) / (1.0 - threshold);
        let inflight_at_loss = inflight_before + lost_prefix.clamp(0.0, sample.newly_lost);
        // HandleInflightTooHigh
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !sample.is_app_limited {
            self.inflight_longterm = inflight_at_loss.max(self.target_inflight(state) * self.parameters.beta);
        }
        if self.phase == Phase::ProbeUp {
            self.start_down(now);
        }
    }

    // --- control, section 5.6 ---------------------------------------------------------------------------------------

    /// SetPacingRateWithGain.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - self.parameters.pacing_margin);
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// InitPacingRate, again with the first round-trip time.
    fn begin_pacing(&mut self, rtt: f64) {
        self.pacing_rate = self.parameters.startup_pacing_gain * self.initial_window / rtt;
    }

    /// SetCwnd, section 5.6.4.6.
    fn set_cwnd(&self, newly_acked: f64, state: &mut WindowState) {
        let max_inflight =
            self.quantized(self.bdp_multiple(self.bw, self.cwnd_gain()) + self.extra_acked.get());
        let mut cwnd = self.cwnd(state);
        if self.full_bw_reached {
            cwnd = (cwnd + newly_acked).min(max_inflight);
        } else if cwnd < max_inflight || (self.delivered.get() as f64) < self.initial_window {
            cwnd += newly_acked;
        }
        cwnd = cwnd.max(self.minimum_pipe());
        if self.phase == Phase::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        // BoundCwndForModel
        let longterm = match self.phase {
            Phase::ProbeDown | Phase::ProbeRefill | Phase::ProbeUp => self.inflight_longterm,
            Phase::ProbeRtt | Phase::ProbeCruise => self.inflight_with_headroom(),
            _ => f64::INFINITY,
        };
        let cap = longterm.min(self.inflight_shortterm).max(self.minimum_pipe());
        state.cwnd = cwnd.min(cap) / self.mss;
    }

    /// SaveCwnd.
    fn save_cwnd(&mut self, state: &WindowState) {
        let repairing = self.recovering || self.after_timeout.is_some();
        let cwnd = self.cwnd(state);
        self.prior_cwnd =
            if repairing || self.phase == Phase::ProbeRtt { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    /// RestoreCwnd.
    fn restore_cwnd(&self, state: &mut WindowState) {
        state.cwnd = state.cwnd.max(self.prior_cwnd / self.mss);
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
        self.first_event(now);
        let sample = rate.map(|rate| {
            self.delivered = self.delivered.max(rate.delivered_total);
            self.sample(rate)
        });
        let newly_acked = sample.map_or(newly_acked, |sample| sample.newly_acked);
        if let Some(sample) = &sample {
            if sample.newly_lost > 0.0 {
                self.on_lost(now, sample, state);
            }
            self.update_latest_delivery_signals(sample);
            self.update_congestion_signals(sample, state);
            self.update_ack_aggregation(now, newly_acked, state);
            self.check_full_bw_reached(sample);
            self.check_startup_done(sample);
            self.check_drain_done(now, in_flight);
            self.update_cycle_phase(now, in_flight, sample, state);
        }
        self.update_min_rtt(now, rtt);
        self.check_probe_rtt(now, in_flight, newly_acked > 0.0, state);
        if let Some(sample) = &sample {
            // AdvanceLatestDeliverySignals
            if self.loss_round_start {
                self.bw_latest = sample.rate;
                self.inflight_latest = sample.delivered;
            }
            // BoundBWForModel
            self.bw = self.max_bw.min(self.bw_shortterm);
        }
        // A round trip begins on one acknowledgement only.
        self.round_start = false;
        self.loss_round_start = false;
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(newly_acked, state);
    }
}

impl ModelPart for Bbr3 {
    fn begin(&mut self, setup: &Setup, state: &WindowState) {
        self.random = Random::new(setup.seed);
        self.mss = setup.mss.get().max(1) as f64;
        self.initial_window = self.cwnd(state);
        self.selective_acks = setup.selective_acks;
        self.begin_pacing(NOMINAL_RTT);
    }

    fn wants_rate_samples(&self) -> bool {
        true
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
            self.delivered = self.delivered.max(event.acknowledged_total);
        }
        if let Some(end) = self.after_timeout {
            let end = end.unwrap_or(event.sent_total);
            self.after_timeout = Some(Some(end));
            if event.acknowledged_total >= end {
                self.after_timeout = None;
                self.restore_cwnd(state);
            }
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

    /// OnEnterFastRecovery: the response is that to what was reported lost, and that at the end of the round trip.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.first_event(event.now);
        self.save_cwnd(state);
        self.recovering = true;
        self.note_loss(state);
    }

    /// OnEnterRTO.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.first_event(event.now);
        self.save_cwnd(state);
        self.recovering = false;
        self.after_timeout = Some(None);
        self.note_loss(state);
    }

    fn on_recovery_ended(&mut self, _event: &RecoveryEnded, state: &mut WindowState) {
        if self.recovering {
            self.recovering = false;
            self.restore_cwnd(state);
            self.set_cwnd(0.0, state);
        }
    }

    /// HandleRestartFromIdle, section 5.4.1. Our choice: with nothing in flight, and not because of a timeout, it is
    /// the application that had nothing to send.
    fn on_sent(&mut self, event: &Sent, state: &mut WindowState) {
        self.first_event(event.now);
        if event.in_flight <= event.size && self.after_timeout.is_none() {
            self.idle_restart = true;
            self.extra_acked_interval_start = event.now;
            if self.in_probe_bw() {
                self.set_pacing_rate(1.0);
            } else if self.phase == Phase::ProbeRtt {
                self.check_probe_rtt_done(event.now, state);
            }
        }
        if event.in_flight.get() as f64 + self.mss > self.cwnd(state) {
            self.cwnd_limited.0 = true;
        }
    }

    #[inline]
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        paced_at(self.pacing_rate, state)
    }

    fn phase(&self) -> Option<Phase> {
        Some(self.phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, state};
    use crate::model::harness::{Bench, Path};
    use crate::registry::Selection;
    use crate::units::Rate;

    fn bench(path: Path, starts: &[f64]) -> Bench {
        Bench::new(path, Selection::model("bbr3").expect("it is listed"), starts)
    }

    /// Startup doubles from the initial window to the path in log2(BDP/10) round trips and one, then takes four to see
    /// the plateau, each as long as two for the queue that it has built.
    #[test]
    fn one_flow() {
        for (rate, rtt, buffer) in
            [(50e6, 0.04, 1.0), (50e6, 0.04, 4.0), (10e6, 0.1, 1.0), (100e6, 0.01, 1.0), (50e6, 0.04, 0.25)]
        {
            let path = Path::new(rate, rtt, buffer);
            let mut bench = bench(path, &[0.0]);
            bench.run(30.0);
            let utilisation = bench.utilisation(2.0, 30.0);
            let queue = bench.mean_queue(2.0, 30.0) / path.bdp();
            let startup = bench.entries(Phase::Drain)[0];
            let expected = rtt * (libm::log2(path.bdp() / 10.0) + 1.0 + 4.0 * 2.0);
            println!(
                "BBR {:.0} Mbit/s, {rtt} s, buffer {buffer} BDP: utilisation {utilisation:.4}, queue {queue:.3} BDP, \
                 {} drops, startup {startup:.3} s (expected {expected:.3}), {} probes for bandwidth, ProbeRTT at {:?}",
                rate / 1e6,
                bench.drops,
                bench.entries(Phase::ProbeUp).len(),
                bench.entries(Phase::ProbeRtt)
            );
            assert!(utilisation > 0.95, "{utilisation}");
            assert!(queue < 0.25, "{queue}");
            assert!(startup < 1.1 * expected, "{startup} against {expected}");
        }
    }

    /// Section 5.3.4: every 5 s and the time that it takes, half of the path for 200 ms and a round trip.
    #[test]
    fn probe_rtt() {
        let path = Path::new(50e6, 0.04, 1.0);
        let mut bench = bench(path, &[0.0]);
        bench.run(30.0);
        let entries = bench.entries(Phase::ProbeRtt);
        assert_eq!(entries.len(), 5, "{entries:?}");
        for pair in entries.windows(2) {
            assert!((5.2..5.4).contains(&(pair[1] - pair[0])), "{entries:?}");
        }
        let in_it: Vec<f64> =
            bench.looks.iter().filter(|look| look.phase == Phase::ProbeRtt).map(|look| look.cwnd).collect();
        let window = in_it.iter().sum::<f64>() / in_it.len() as f64;
        assert!((window / (0.5 * path.bdp()) - 1.0).abs() < 0.05, "{window}");
        let length = in_it.len() as f64 / 1000.0 / 5.0;
        assert!((0.2..0.3).contains(&length), "{length} s");
    }

    /// Random loss below the threshold of 2 %. While it cruises, every round trip with a loss takes the rate down to what
    /// was delivered in it, which is less by what was lost and by the pacing margin, until the next probe restores it
    /// (section 5.3.3.8 counts on that). At worst that is a factor 1 - p - 0.01 q for each of 62 round trips, with q
    /// the probability that a round trip has a loss; what was delivered is a maximum of samples, so that it is better.
    #[test]
    fn random_loss_below_the_threshold() {
        for loss in [0.001, 0.005, 0.01] {
            let path = Path { loss, ..Path::new(50e6, 0.04, 1.0) };
            let mut bench = bench(path, &[0.0]);
            bench.run(60.0);
            let utilisation = bench.utilisation(2.0, 60.0);
            let per_round = loss + 0.01 * (1.0 - libm::pow(1.0 - loss, path.bdp()));
            let worst = (1.0 - libm::pow(1.0 - per_round, 62.0)) / (62.0 * per_round);
            println!("BBR, loss {loss}: utilisation {utilisation:.4}, at worst {worst:.4} of it without");
            assert!(utilisation > 0.96 * worst, "{utilisation} against {worst}");
        }
    }

    /// Loss far above the threshold: every probe finds that too much is in flight, so that BBR goes down to its smallest
    /// window, four segments a round trip, but not below.
    #[test]
    fn random_loss_above_the_threshold() {
        let path = Path { loss: 0.1, ..Path::new(50e6, 0.04, 1.0) };
        let mut bench = bench(path, &[0.0]);
        bench.run(30.0);
        let utilisation = bench.utilisation(2.0, 30.0);
        let smallest = MINIMUM_PIPE / path.bdp();
        println!("BBR, loss 0.1: utilisation {utilisation:.4}, four segments a round trip {smallest:.4}");
        assert!(utilisation > 0.9 * smallest, "{utilisation}");
        assert!(utilisation < 0.1, "{utilisation}");
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

    /// The rate of the path changes tenfold. Upwards a probe ends when the rate has not grown for three round trips, so
    /// that it takes one or two probes, each with 1.25 per round trip: ln 10 / ln 1.25 = 10.3 round trips. Downwards the
    /// bandwidth filter forgets within two cycles.
    #[test]
    fn rate_of_the_path_changes() {
        let mut path = Path::new(10e6, 0.04, 1.0);
        path.buffer = 172;
        let mut bench = bench(path, &[0.0]);
        bench.run(10.0);
        bench.set_rate(100e6);
        bench.run(40.0);
        let up = bench.utilisation(25.0, 40.0);
        bench.set_rate(10e6);
        bench.run(70.0);
        let down = bench.mean_queue(55.0, 70.0);
        println!("BBR: {up:.3} of ten times the rate; {down:.1} packets in the queue after a tenth of it");
        assert!(up > 0.9, "{up}");
        assert!(down < 0.5 * 34.5, "{down}");
    }

    // --- hand-made samples ------------------------------------------------------------------------------------------

    /// One flow that hears of a whole round trip of 40 ms at a time: 100 segments of 1000 bytes.
    struct Rounds {
        bbr: Bbr3,
        state: WindowState,
        delivered: u64,
        now: f64,
    }

    impl Rounds {
        const VOLUME: u64 = 100_000;

        fn new() -> Self {
            let mut bbr = Bbr3::new(Parameters::default());
            let state = state(10.0);
            let setup = Setup {
                mss: Bytes(1000),
                header: Bytes(40),
                initial_window: 10.0,
                initial_ssthresh: f64::INFINITY,
                receive_window: Bytes::MAX,
                selective_acks: true,
                byte_counting: false,
                seed: 3,
            };
            bbr.begin(&setup, &state);
            Self { bbr, state, delivered: 0, now: 0.0 }
        }

        fn round(&mut self, rate: f64, lost: u64, in_flight: u64) {
            let prior = self.delivered;
            self.delivered += Self::VOLUME;
            self.now += 0.04;
            let event = Acknowledged {
                size: Bytes(Self::VOLUME),
                in_flight: Bytes(in_flight),
                rate: Some(RateSample {
                    delivery_rate: Rate::from_bits_per_second((rate * 8.0) as u64),
                    interval: Duration::from_milliseconds(40),
                    delivered: Bytes(Self::VOLUME),
                    delivered_total: Bytes(self.delivered),
                    prior_delivered: Bytes(prior),
                    newly_acked: Bytes(Self::VOLUME),
                    newly_lost: Bytes(lost),
                    lost: Bytes(lost),
                    tx_in_flight: Bytes(Self::VOLUME),
                    is_app_limited: false,
                }),
                ..ack_at(self.now, 0.04)
            };
            self.bbr.on_ack(&event, &mut self.state);
        }

        /// The same rate until this phase.
        fn until(&mut self, phase: Phase) {
            for _ in 0..200 {
                if self.bbr.phase == phase {
                    return;
                }
                self.round(2.5e6, 0, 40_000);
            }
            panic!("{phase:?} does not come: {:?}", self.bbr);
        }
    }

    #[test]
    fn three_rounds_without_growth_end_startup() {
        let mut rounds = Rounds::new();
        for growing in [1e6, 2e6, 2.5e6] {
            rounds.round(growing, 0, 200_000);
        }
        for _ in 0..2 {
            rounds.round(2.5e6, 0, 200_000);
            assert_eq!(rounds.bbr.phase, Phase::Startup);
        }
        rounds.round(2.5e6, 0, 200_000);
        assert_eq!(rounds.bbr.phase, Phase::Drain);
        // 0.5 of 2.5 MB/s, less the margin of 1 %.
        assert!((rounds.bbr.pacing_rate - 0.5 * 0.99 * 2.5e6).abs() < 1.0);
        rounds.round(2.5e6, 0, 100_000);
        // What is in flight is the bandwidth-delay product, so that there is nothing left to drain in ProbeBW_DOWN either.
        assert_eq!(rounds.bbr.phase, Phase::ProbeCruise);
    }

    /// A window of inflight_longterm / MSS segments, times the MSS, was a rounding error less than inflight_longterm for about
    /// one value in twelve: then BBR was not seen to be held by it, and never raised it again. On a link of 100 Mbit/s it
    /// stayed at the 30 Mbit/s that other traffic had left it, minutes after that was gone.
    #[test]
    fn a_window_at_the_long_term_inflight_is_held_by_it() {
        let mut state = crate::fixtures::state(10.0);
        let mut bbr = Bbr3::new(Parameters::default());
        bbr.mss = 1448.0;
        bbr.phase = Phase::ProbeUp;
        bbr.full_bw_reached = true;
        bbr.cwnd_limited = (true, false);
        bbr.min_rtt = 0.1;
        bbr.bw = 1e9;
        let mut rounded = 0;
        for bytes in 400_000..401_000 {
            bbr.inflight_longterm = f64::from(bytes);
            state.cwnd = 1e6;
            bbr.set_cwnd(0.0, &mut state);
            assert!(bbr.is_held_by_inflight_longterm(&state), "{bytes}");
            rounded += u32::from(bbr.cwnd(&state) < bbr.inflight_longterm);
        }
        assert!(rounded > 0, "the test must see the rounding");
    }

    /// Section 5.5.10.2: 100 segments in flight, 10 of them lost at once: the first two were within the threshold,
    /// (0.02 * 90 - 0) / 0.98 = 1.84 segments above the 90 before. TargetInflight * Beta is lower.
    #[test]
    fn loss_in_a_probe_sets_the_long_term_inflight() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeUp);
        rounds.round(2.5e6, 10_000, 90_000);
        let expected = 90_000.0 + 0.02 * 90_000.0 / 0.98;
        assert!((rounds.bbr.inflight_longterm - expected).abs() < 1e-6, "{}", rounds.bbr.inflight_longterm);
        assert_eq!(rounds.bbr.phase, Phase::ProbeDown);
        rounds.until(Phase::ProbeCruise);
        let window = rounds.state.cwnd * 1000.0;
        assert!(window <= 0.85 * rounds.bbr.inflight_longterm + 1e-6, "{window}");
    }

    /// IsTimeToGoDown and AdaptLongTermModel: after a probe that was too high the next stops as soon as so much is in flight
    /// again; and if there is no loss at that the one after it begins a round trip later, not seconds later.
    #[test]
    fn a_probe_that_stopped_as_a_precaution_is_made_again_at_once() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeUp);
        rounds.round(2.5e6, 10_000, 90_000);
        assert!(rounds.bbr.prev_probe_too_high);
        rounds.until(Phase::ProbeCruise);
        rounds.until(Phase::ProbeUp);
        let enough = rounds.bbr.inflight_longterm.ceil() as u64;
        rounds.round(2.5e6, 0, enough);
        assert_eq!(rounds.bbr.phase, Phase::ProbeDown);
        assert!(rounds.bbr.prev_probe_precautionary && !rounds.bbr.prev_probe_too_high);
        rounds.round(2.5e6, 0, 40_000);
        assert_eq!(rounds.bbr.phase, Phase::ProbeRefill);
    }

    /// Now() of OnInit: the filters of a flow that begins late are not as old as the simulation. Without it the first
    /// acknowledgement after 5 s of simulated time would begin ProbeRTT.
    #[test]
    fn a_flow_that_begins_late_does_not_begin_with_probe_rtt() {
        let mut rounds = Rounds::new();
        rounds.now = 60.0;
        for rate in [1e6, 2e6, 2.5e6] {
            rounds.round(rate, 0, 200_000);
            assert_eq!(rounds.bbr.phase, Phase::Startup);
        }
        assert_eq!(rounds.bbr.min_rtt_stamp, Time::ZERO + Duration::from_seconds(60.04));
    }

    /// HandleRestartFromIdle: "elif (BBR.state == ProbeRTT) CheckProbeRTTDone()": what an application sends after a pause
    /// ends a ProbeRTT whose time has passed meanwhile, and no acknowledgement has to come first.
    #[test]
    fn a_restart_from_idle_ends_probe_rtt() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeRtt);
        while rounds.bbr.probe_rtt_done_stamp.is_none() {
            rounds.round(2.5e6, 0, 10_000);
        }
        assert_eq!(rounds.bbr.phase, Phase::ProbeRtt);
        let sent = |seconds| Sent {
            now: Time::ZERO + Duration::from_seconds(seconds),
            size: Bytes(1000),
            in_flight: Bytes(1000),
            held_back: Bytes::ZERO,
        };
        rounds.bbr.on_sent(&sent(rounds.now + 0.1), &mut rounds.state);
        assert_eq!(rounds.bbr.phase, Phase::ProbeRtt, "its 200 ms are not over");
        rounds.bbr.on_sent(&sent(rounds.now + 1.0), &mut rounds.state);
        assert_eq!(rounds.bbr.phase, Phase::ProbeCruise);
    }

    /// Section 5.5.10.3: what was delivered, but not less than 0.7 of before.
    #[test]
    fn loss_while_cruising_sets_the_short_term_model() {
        for (rate, expected) in [(2e6, 2e6), (1e6, 0.7 * 2.5e6)] {
            let mut rounds = Rounds::new();
            rounds.until(Phase::ProbeCruise);
            // Forget the rates of the rounds before.
            rounds.round(rate, 0, 90_000);
            rounds.round(rate, 5_000, 90_000);
            rounds.round(rate, 0, 90_000);
            assert!((rounds.bbr.bw_shortterm - expected).abs() < 1.0, "{}", rounds.bbr.bw_shortterm);
            rounds.until(Phase::ProbeRefill);
            assert!(rounds.bbr.bw_shortterm.is_infinite());
        }
    }

    /// The bandwidth is the largest of this cycle and the last.
    #[test]
    fn two_cycles_forget_a_bandwidth() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeCruise);
        rounds.round(5e6, 0, 90_000);
        assert_eq!(rounds.bbr.max_bw, 5e6);
        rounds.until(Phase::ProbeUp);
        rounds.until(Phase::ProbeCruise);
        assert_eq!(rounds.bbr.max_bw, 5e6);
        for _ in 0..2 {
            rounds.until(Phase::ProbeUp);
            rounds.until(Phase::ProbeCruise);
            rounds.round(2.5e6, 0, 40_000);
        }
        assert_eq!(rounds.bbr.max_bw, 2.5e6);
    }

    #[test]
    fn a_timeout_is_repaired_with_the_window_from_before() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeCruise);
        let before = rounds.state.cwnd;
        let timeout = Timeout {
            now: Time::ZERO + Duration::from_seconds(rounds.now),
            flight_size: Bytes(100_000),
            repeated: false,
            cause: crate::event::RestartCause::TimerExpired,
        };
        rounds.bbr.on_timeout(&timeout, &mut rounds.state);
        rounds.state.cwnd = 1.0;
        rounds.round(2.5e6, 0, 90_000);
        // Less the response to the loss.
        assert!(rounds.state.cwnd >= 0.699 * before, "{} from {before}", rounds.state.cwnd);
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

    /// Section 5.6.2: 2.77 initial windows per round-trip time once there is one, per millisecond before.
    #[test]
    fn initial_pacing() {
        let mut rounds = Rounds::new();
        assert!((rounds.bbr.pacing_rate - 2.77 * 10_000.0 / 0.001).abs() < 1e-3);
        rounds.bbr.on_ack(&ack_at(0.04, 0.04), &mut rounds.state);
        let pacing = rounds.bbr.pacing(&rounds.state).expect("it paces");
        assert!((pacing.interval.seconds() - 0.04 / 27.7).abs() < 1e-9, "{:?}", pacing.interval);
    }
}

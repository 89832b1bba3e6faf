//! A TCP sender: what is outstanding, when a loss is detected, what leaves next.
//!
//! The sender asks the congestion control how much may be in flight and how it is to be spaced; which segment that
//! is, and when something counts as lost, is decided here.

use super::pacer::Pacer;
use super::rto::RttEstimator;
use super::rtt_histogram::RttHistogram;
use super::scoreboard::{DUPLICATE_THRESHOLD, Scoreboard};
use super::{Context, TIMESTAMPS_OPTION};
use crate::engine::{Target, Timer};
use crate::network::packet::{NO_EXTRA, Packet};
use crate::network::{Extra, path::FlowRoutes};
use crate::plan::{Recovery, RttSamples, TcpPlan};
use crate::record::packets::PacketKind;
use crate::record::series::FlowSample;
use crate::traffic::source::Application;
use selfclock_congestion::controller::{Controller, Setup};
use selfclock_congestion::event::{Decision, Pacing, Probe, ProbePart, RestartCause};
use selfclock_congestion::units::{Bytes, Duration, Time};
use selfclock_congestion::{
    Acknowledged, DuplicateAck, LossDetected, PeerOption, RecoveryEnded, Sent, Timeout,
};

/// Largest window that can be advertised without the window scale option.
const LARGEST_UNSCALED_WINDOW: u64 = 65_535;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not started.
    Closed,
    /// The SYN is on its way; it was last sent at this time.
    SynSent(Time),
    /// Sending. Also after a timeout: what was lost is then sent again in slow start.
    Open,
    /// Repairing losses that duplicate or selective acknowledgements told of.
    FastRecovery(Repair),
}

/// A fast recovery under way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Repair {
    /// An acknowledgement of everything below ends it.
    recover: u64,
    /// Without SACK: payload that duplicate acknowledgements say has left the network ("inflating the window"), less
    /// what partial acknowledgements took off. Negative when duplicate acknowledgements were lost.
    inflation: i64,
    /// A partial acknowledgement has restarted the retransmission timer (RFC 6582, "Impatient" variant).
    timer_restarted: bool,
}

/// Counters for the summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderTotals {
    /// Data segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun by duplicate or selective acknowledgements.
    pub fast_retransmits: u64,
}

/// A TCP sender.
#[derive(Clone, Debug)]
pub struct Sender {
    flow: u32,
    route: u32,
    mss: u64,
    /// Headers and constant options of a data segment on the wire.
    overhead: u32,
    control_size: u32,
    receive_window: u64,
    recovery: Recovery,
    limited_transmit: bool,
    one_recovery_per_window: bool,
    timestamps: bool,
    handshake: bool,
    grow_only_when_limited: bool,
    samples: RttSamples,
    pacing_gain: Option<f64>,

    control: Controller,
    application: Application,
    state: State,
    /// SND.UNA: everything below is acknowledged.
    una: u64,
    /// SND.NXT: the next new byte.
    next: u64,
    scoreboard: Scoreboard,
    duplicates: u32,
    /// New data that Limited Transmit sent since the last new acknowledgement.
    limited_transmit_bytes: u64,
    /// What had been sent at the last timeout or fast retransmit. Duplicate acknowledgements below it may come from
    /// segments that were sent twice, and start no new recovery (RFC 6582, section 4).
    recover: Option<u64>,
    /// The window or the pacing, not the application or the receiver, ended the last round of sending.
    limited_by_window: bool,
    rtt: RttEstimator,
    /// The segment that is being timed, if one at a time is: byte after its last, and when it was sent.
    timed: Option<(u64, Time)>,
    pacer: Pacer,
    retransmission_timer: Timer,
    release_timer: Timer,
    application_timer: Timer,
    totals: SenderTotals,
    rtt_samples: RttHistogram,
    completed: Option<Time>,
    sampler: Option<FlowSampler>,
}

#[derive(Clone, Debug)]
struct FlowSampler {
    next: Time,
    interval: Duration,
    samples: Vec<FlowSample>,
}

impl Sender {
    /// The sender of a flow that begins at the first of the times and whose application stops at the second.
    pub fn new(
        flow: u32,
        routes: FlowRoutes,
        plan: &TcpPlan,
        (start, stop): (Time, Time),
        control_seed: u64,
        sample_interval: Option<Duration>,
    ) -> Self {
        let transport = &plan.transport;
        let receive_window = if transport.window_scaling {
            transport.receive_window.get()
        } else {
            transport.receive_window.get().min(LARGEST_UNSCALED_WINDOW)
        };
        let overhead =
            transport.header.get() as u32 + if transport.timestamps { TIMESTAMPS_OPTION } else { 0 };
        let control = plan.control.controller(Setup {
            mss: transport.mss,
            header: Bytes(overhead.into()),
            initial_window: transport.initial_window,
            initial_ssthresh: transport.initial_ssthresh,
            receive_window: Bytes(receive_window),
            selective_acks: !matches!(
                transport.recovery,
                Recovery::Tahoe | Recovery::Reno | Recovery::NewReno
            ),
            seed: control_seed,
        });
        Self {
            flow,
            route: routes.forward,
            mss: transport.mss.get(),
            overhead,
            control_size: transport.ack.get() as u32
                + if transport.timestamps { TIMESTAMPS_OPTION } else { 0 },
            receive_window,
            recovery: transport.recovery,
            limited_transmit: transport.limited_transmit,
            one_recovery_per_window: transport.one_recovery_per_window,
            timestamps: transport.timestamps,
            handshake: transport.handshake,
            grow_only_when_limited: transport.grow_only_when_limited,
            samples: transport.timer.samples,
            pacing_gain: transport.pacing_gain,
            control,
            application: Application::new(plan.source, start, stop, transport.mss),
            state: State::Closed,
            una: 0,
            next: 0,
            scoreboard: Scoreboard::default(),
            duplicates: 0,
            limited_transmit_bytes: 0,
            recover: None,
            limited_by_window: true,
            rtt: RttEstimator::new(transport.timer),
            timed: None,
            pacer: Pacer::new(transport.shaper),
            retransmission_timer: Timer::default(),
            release_timer: Timer::default(),
            application_timer: Timer::default(),
            totals: SenderTotals::default(),
            rtt_samples: RttHistogram::default(),
            completed: None,
            sampler: sample_interval.map(|interval| FlowSampler {
                next: Time::ZERO + interval,
                interval,
                samples: Vec::new(),
            }),
        }
    }

    /// Counters for the summary.
    pub fn totals(&self) -> SenderTotals {
        self.totals
    }
    /// Round-trip samples.
    pub fn rtt_samples(&self) -> &RttHistogram {
        &self.rtt_samples
    }
    /// Smallest round-trip sample.
    pub fn minimum_rtt(&self) -> Option<Duration> {
        self.rtt.minimum()
    }
    /// When the last byte was acknowledged.
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }
    /// Samples of the series, up to the end of the run.
    pub fn finish(&mut self, end: Time) -> Vec<FlowSample> {
        self.sample_before(end + Duration::from_picoseconds(1));
        self.sampler.take().map_or_else(Vec::new, |sampler| sampler.samples)
    }

    /// The flow begins at `start`: sets the timer that begins it.
    pub fn schedule_start(&mut self, context: &mut Context<'_>, start: Time) {
        self.application_timer.set(context.events, start, Target::Application(self.flow));
    }

    // --- what happens to it -------------------------------------------------------------------------------------

    /// An entry of the application's timer has come up.
    pub fn on_application_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context.now);
        if !self.application_timer.due(context.events, context.now, Target::Application(self.flow)) {
            return;
        }
        if self.state == State::Closed {
            if self.handshake {
                self.send_syn(context);
            } else {
                self.state = State::Open;
            }
        }
        let change = self.application.next_change(context.now);
        if change != Time::NEVER {
            self.application_timer.set(context.events, change, Target::Application(self.flow));
        }
        self.transmit(context, Opportunity::Application);
        self.note_completion(context.now);
    }

    /// An entry of the release timer has come up: pacing lets the next segment go.
    pub fn on_release_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context.now);
        if self.release_timer.due(context.events, context.now, Target::Release(self.flow)) {
            self.transmit(context, Opportunity::Release);
        }
    }

    /// An entry of the retransmission timer has come up.
    pub fn on_retransmission_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context.now);
        if !self.retransmission_timer.due(context.events, context.now, Target::Retransmission(self.flow)) {
            return;
        }
        self.rtt.back_off();
        self.totals.timeouts += 1;
        self.timed = None;
        if let State::SynSent(_) = self.state {
            self.control.on_handshake_loss();
            return self.send_syn(context);
        }
        let repeated = self.scoreboard.front().is_some_and(|first| first.had_timed_out());
        self.start_again(context.now, repeated, RestartCause::TimerExpired);
        self.scoreboard.note_timeout_of_first();
        self.retransmit_first(context);
        self.transmit(context, Opportunity::Timeout);
    }

    /// A packet has arrived: an acknowledgement, or the answer to the SYN.
    #[inline]
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        self.sample_before(context.now);
        if packet.kind == PacketKind::SynAck {
            return self.on_syn_ack(context, packet.echo);
        }
        let acknowledgement = packet.sequence;
        // Nothing may be acknowledged that was not sent (RFC 9293, section 3.10.7.4).
        if acknowledgement > self.next || acknowledgement < self.una {
            return context.network.extras.release(packet.extra);
        }
        if packet.extra == NO_EXTRA {
            self.on_acknowledgement(context, packet, 0, None);
        } else {
            self.on_acknowledgement_with_extra(context, packet);
        }
    }

    /// An acknowledgement that reports `news` bytes newly SACKed. Inlined twice, so that the usual case, without either,
    /// is compiled for itself.
    #[inline(always)]
    fn on_acknowledgement(
        &mut self,
        context: &mut Context<'_>,
        packet: &Packet,
        news: u64,
        option: Option<PeerOption>,
    ) {
        let acknowledgement = packet.sequence;
        let opportunity = if acknowledgement > self.una {
            self.on_new_ack(context, acknowledgement, packet.echo, option);
            if self.recovery == Recovery::Sack && self.scoreboard.sacked_bytes() > 0 {
                self.on_new_ack_with_gap(context, news);
            }
            Opportunity::NewAck
        } else if !self.scoreboard.is_empty() {
            self.on_duplicate_ack(context, news, option);
            Opportunity::DuplicateAck
        } else {
            return;
        };
        self.transmit(context, opportunity);
        self.note_completion(context.now);
    }

    /// Reads SACK blocks and the peer's option first.
    #[cold]
    fn on_acknowledgement_with_extra(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let extra = context.network.extras.get(packet.extra);
        context.network.extras.release(packet.extra);
        let mut news = 0;
        if self.recovery == Recovery::Sack {
            for &(start, end) in &extra.sack[..usize::from(extra.sack_blocks)] {
                if start < end && start >= packet.sequence && end <= self.next {
                    news += self.scoreboard.sack(start, end);
                }
            }
        }
        self.on_acknowledgement(context, packet, news, extra.option);
    }

    fn on_syn_ack(&mut self, context: &mut Context<'_>, echo: Time) {
        let State::SynSent(sent) = self.state else { return };
        // The echo tells which SYN was answered; without timestamps Karn's rule forbids a sample after a second SYN.
        if self.timestamps || self.totals.timeouts == 0 {
            let sent = if self.timestamps { echo } else { sent };
            let rtt = self.rtt.sample(sent, context.now);
            self.rtt_samples.add(rtt);
        }
        if self.totals.timeouts > 0 {
            self.rtt.after_handshake_loss();
        }
        self.retransmission_timer.cancel();
        self.state = State::Open;
        self.transmit(context, Opportunity::NewAck);
    }

    // --- acknowledgements and losses ----------------------------------------------------------------------------

    #[inline(always)]
    fn on_new_ack(
        &mut self,
        context: &mut Context<'_>,
        acknowledgement: u64,
        echo: Time,
        option: Option<PeerOption>,
    ) {
        let now = context.now;
        let advance = self.scoreboard.advance(acknowledgement);
        self.una = acknowledgement;
        self.duplicates = 0;
        self.limited_transmit_bytes = 0;

        let timed = match self.samples {
            RttSamples::EverySegment if self.timestamps && echo != Time::NEVER => Some(echo),
            // Karn: a segment sent twice is not timed, nor one that waited at the receiver behind it.
            RttSamples::EverySegment if advance.any_retransmitted => None,
            RttSamples::EverySegment => advance.newest_sent_once,
            RttSamples::OneAtATime => {
                let timed = self.timed.filter(|&(end, _)| acknowledgement >= end);
                if timed.is_some() {
                    self.timed = None;
                }
                timed.map(|(_, sent)| sent)
            }
        };
        let rtt = timed.map(|sent| {
            let rtt = self.rtt.sample(sent, now);
            self.rtt_samples.add(rtt);
            rtt
        });

        let was_recovering = matches!(self.state, State::FastRecovery(_));
        let mut restart_timer = true;
        let mut recovery_ended = false;
        if let State::FastRecovery(repair) = &mut self.state {
            let full = acknowledgement >= repair.recover;
            match self.recovery {
                // "When the next ACK arrives that acknowledges previously unacknowledged data, a TCP MUST set cwnd to
                // ssthresh" (RFC 5681, section 3.2, step 6).
                Recovery::Reno | Recovery::Tahoe => recovery_ended = true,
                Recovery::NewReno if full => recovery_ended = true,
                Recovery::NewReno => {
                    // RFC 6582, section 3.2: "retransmit the first unacknowledged segment. Deflate the congestion
                    // window by the amount of new data acknowledged [...]. If the partial ACK acknowledges at least
                    // one SMSS of new data, then add back SMSS bytes to the congestion window."
                    // That may take it below ssthresh.
                    let add_back = if advance.bytes >= self.mss { self.mss } else { 0 };
                    repair.inflation += add_back as i64 - advance.bytes as i64;
                    restart_timer = !repair.timer_restarted;
                    repair.timer_restarted = true;
                    self.scoreboard.mark_first_lost();
                }
                Recovery::Sack => {
                    recovery_ended = full;
                    self.scoreboard.mark_lost_below_edge();
                }
            }
        }
        if recovery_ended {
            self.state = State::Open;
        }

        self.control.on_ack(&Acknowledged {
            now,
            size: Bytes(advance.bytes),
            acknowledged_total: Bytes(self.una),
            sent_total: Bytes(self.next),
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            minimum_rtt: self.rtt.minimum(),
            in_flight: Bytes(self.scoreboard.pipe_bytes()),
            window_limited: self.limited_by_window || !self.grow_only_when_limited,
            recovering: was_recovering,
            marked: Bytes::ZERO,
            rate: None,
            option,
        });
        if recovery_ended {
            self.control.on_recovery_ended(&RecoveryEnded { now });
        }

        if self.scoreboard.is_empty() {
            self.retransmission_timer.cancel();
        } else {
            if restart_timer {
                self.restart_retransmission_timer(context);
            }
            if self.recovery == Recovery::NewReno && matches!(self.state, State::FastRecovery(_)) {
                self.retransmit_first(context);
            }
        }
    }

    /// A new acknowledgement has left SACKed data above a gap. One that also tells of newly SACKed data "is counted as
    /// a duplicate acknowledgment [...] even if it [...] moves the cumulative acknowledgment point" (RFC 6675,
    /// section 2), and a loss that is known of begins a recovery.
    fn on_new_ack_with_gap(&mut self, context: &mut Context<'_>, news: u64) {
        if self.state != State::Open {
            return;
        }
        if news > 0 {
            self.duplicates = 1;
        }
        if !self.waits_for_recovery_point() {
            self.scoreboard.mark_lost_below_edge();
            if self.scoreboard.unrepaired_bytes() > 0 {
                self.fast_retransmit(context);
            }
        }
    }

    /// What was outstanding at the last timeout or fast retransmit is still being acknowledged: "a new recovery phase
    /// [...] MUST NOT be initiated until HighACK is greater than or equal to the new value of RecoveryPoint" (RFC 6675,
    /// section 5.1). Without SACK the acknowledgement must cover more than `recover` (RFC 6582, section 3.2), for at
    /// `recover` itself duplicate acknowledgements may still come from segments that were sent twice.
    fn waits_for_recovery_point(&self) -> bool {
        self.recover.is_some_and(|recover| match self.recovery {
            Recovery::Sack => self.una < recover,
            _ => self.one_recovery_per_window && self.una <= recover,
        })
    }

    fn on_duplicate_ack(&mut self, context: &mut Context<'_>, news: u64, option: Option<PeerOption>) {
        // With SACK only acknowledgements that tell something count (RFC 6675, section 2).
        if self.recovery == Recovery::Sack && news == 0 {
            return;
        }
        self.duplicates += 1;
        self.control.on_duplicate_ack(&DuplicateAck {
            now: context.now,
            count: self.duplicates,
            rtt: None,
            in_flight: Bytes(self.scoreboard.pipe_bytes()),
            marked: Bytes::ZERO,
            rate: None,
            option,
        });
        if let State::FastRecovery(repair) = &mut self.state {
            if self.recovery == Recovery::Sack {
                self.scoreboard.mark_lost_below_edge();
            } else {
                repair.inflation += self.mss as i64;
            }
            return;
        }
        if self.waits_for_recovery_point() {
            return;
        }
        // Once, at the third; or, with SACK, as soon as the information is there.
        let enough = match self.recovery {
            Recovery::Sack => {
                self.scoreboard.mark_lost_below_edge();
                self.scoreboard.unrepaired_bytes() > 0 || self.duplicates >= DUPLICATE_THRESHOLD
            }
            _ => self.duplicates == DUPLICATE_THRESHOLD,
        };
        if enough {
            self.fast_retransmit(context);
        }
    }

    fn fast_retransmit(&mut self, context: &mut Context<'_>) {
        self.totals.fast_retransmits += 1;
        self.timed = None;
        if self.recovery == Recovery::Tahoe {
            self.start_again(context.now, false, RestartCause::TahoeFastRetransmit);
        } else {
            let flight = self.scoreboard.outstanding_bytes().saturating_sub(self.limited_transmit_bytes);
            self.control.on_loss(&LossDetected { now: context.now, flight_size: Bytes(flight) });
            self.recover = Some(self.next);
            self.state = State::FastRecovery(Repair {
                recover: self.next,
                inflation: i64::from(DUPLICATE_THRESHOLD) * self.mss as i64,
                timer_restarted: false,
            });
            self.scoreboard.mark_first_lost();
        }
        self.retransmit_first(context);
        self.restart_retransmission_timer(context);
    }

    /// One segment again, and everything outstanding taken for lost.
    fn start_again(&mut self, now: Time, repeated: bool, cause: RestartCause) {
        let flight_size =
            Bytes(self.scoreboard.outstanding_bytes().saturating_sub(self.limited_transmit_bytes));
        self.control.on_timeout(&Timeout { now, flight_size, repeated, cause });
        self.scoreboard.mark_all_lost();
        self.state = State::Open;
        self.recover = Some(self.next);
        self.limited_transmit_bytes = 0;
        if cause == RestartCause::TimerExpired {
            self.duplicates = 0;
        }
    }

    fn restart_retransmission_timer(&mut self, context: &mut Context<'_>) {
        let deadline = context.now + self.rtt.timeout();
        self.retransmission_timer.set(context.events, deadline, Target::Retransmission(self.flow));
    }

    fn note_completion(&mut self, now: Time) {
        if self.completed.is_none()
            && self.scoreboard.is_empty()
            && self.una > 0
            && self.application.is_finished(now)
            && self.next >= self.application.produced(now, self.next)
        {
            self.completed = Some(now);
        }
    }

    // --- sending ------------------------------------------------------------------------------------------------

    /// Payload that counts as in flight against the window.
    #[inline]
    fn pipe(&self) -> u64 {
        let pipe = self.scoreboard.pipe_bytes();
        if self.duplicates == 0 && !matches!(self.state, State::FastRecovery(_)) {
            return pipe;
        }
        self.pipe_after_duplicates(pipe)
    }

    fn pipe_after_duplicates(&self, pipe: u64) -> u64 {
        match self.state {
            // With SACK the scoreboard knows.
            State::FastRecovery(repair) if self.recovery != Recovery::Sack => {
                pipe.saturating_add_signed(-repair.inflation)
            }
            // RFC 3042: one new segment on each of the first two duplicate acknowledgements.
            State::Open if self.duplicates > 0 && self.duplicates < DUPLICATE_THRESHOLD => {
                match self.recovery {
                    Recovery::Sack if self.limited_transmit => pipe,
                    Recovery::Sack => pipe + self.scoreboard.sacked_bytes(),
                    _ if self.limited_transmit => pipe.saturating_sub(u64::from(self.duplicates) * self.mss),
                    _ => pipe,
                }
            }
            _ => pipe,
        }
    }

    /// Spacing that the transport applies where the algorithm asks for none.
    fn transport_pacing(&self, decision: &Decision) -> Option<Pacing> {
        let gain = self.pacing_gain?;
        let smoothed = self.rtt.smoothed()?;
        let segments = decision.window.get() as f64 / self.mss as f64;
        let interval = Duration::from_seconds(smoothed.seconds() / (gain * segments));
        let size = Bytes(self.mss + u64::from(self.overhead));
        Some(Pacing { interval, size, tick: Duration::ZERO })
    }

    /// Sends what may be sent now.
    fn transmit(&mut self, context: &mut Context<'_>, opportunity: Opportunity) {
        if !matches!(self.state, State::Open | State::FastRecovery(_)) {
            return;
        }
        // Probes belong to the beginning of a flight, not to what was held back from it.
        let mut may_probe = matches!(opportunity, Opportunity::NewAck | Opportunity::Application);
        let produced = self.application.produced(context.now, self.next);
        let limit = produced.min(self.una.saturating_add(self.receive_window));
        loop {
            let decision = self.control.decision();
            let pacing = decision.pacing.or_else(|| self.transport_pacing(&decision));
            let window = decision.window.get();
            let pipe = self.pipe();
            if let Some(index) = self.scoreboard.next_repair() {
                // Limited Transmit is for new data (RFC 3042), not for what a timeout made this sender send again.
                let pipe = match self.state {
                    State::FastRecovery(_) => pipe,
                    _ => self.scoreboard.pipe_bytes(),
                };
                if pipe + self.mss > window && pipe > 0 {
                    self.limited_by_window = true;
                    return;
                }
                if !self.may_leave(context, pacing, self.mss) {
                    return;
                }
                self.send_again(context, index, pacing);
                continue;
            }
            if self.next >= limit {
                self.limited_by_window = false;
                self.send_suspect(context, window, pacing);
                return;
            }
            let size = self.mss.min(limit - self.next);
            if size < self.mss && limit < produced && pipe > 0 {
                // The receiver's window has room for part of a segment: wait for more (RFC 9293, 3.8.6.2.1).
                self.limited_by_window = false;
                return;
            }
            if pipe + size > window {
                self.limited_by_window = true;
                return;
            }
            let room_for_pair = pipe + 2 * self.mss <= window && limit - self.next >= 2 * self.mss;
            if may_probe && decision.probe == Some(Probe::Pair) && room_for_pair {
                may_probe = false;
                self.send_new(context, self.mss, ProbePart::PairFirst, pacing);
                self.send_new(context, self.mss, ProbePart::PairSecond, pacing);
                continue;
            }
            if !self.may_leave(context, pacing, size) {
                return;
            }
            // Limited Transmit is what the window alone would not have let go.
            if self.duplicates > 0
                && self.state == State::Open
                && self.scoreboard.pipe_bytes() + self.scoreboard.sacked_bytes() + size > window
            {
                self.limited_transmit_bytes += size;
            }
            self.send_new(context, size, ProbePart::Single, pacing);
        }
    }

    /// True if a segment with this payload may leave now; if not, sets the timer for when it may.
    #[inline]
    fn may_leave(&mut self, context: &mut Context<'_>, pacing: Option<Pacing>, payload: u64) -> bool {
        let earliest = self.pacer.earliest(pacing, Bytes(payload + u64::from(self.overhead)));
        if earliest <= context.now {
            return true;
        }
        self.limited_by_window = true;
        self.release_timer.set(context.events, earliest, Target::Release(self.flow));
        false
    }

    #[inline]
    fn send_new(&mut self, context: &mut Context<'_>, size: u64, part: ProbePart, pacing: Option<Pacing>) {
        let option = self.control.option_for(part);
        let sequence = self.next;
        self.next += size;
        self.scoreboard.push(sequence, size as u16, context.now);
        if self.samples == RttSamples::OneAtATime && self.timed.is_none() {
            self.timed = Some((self.next, context.now));
        }
        if !self.retransmission_timer.is_set() {
            self.restart_retransmission_timer(context);
        }
        self.put_on_wire(context, sequence, size as u32, option, false, pacing);
    }

    fn send_again(&mut self, context: &mut Context<'_>, index: usize, pacing: Option<Pacing>) {
        let segment = self.scoreboard.retransmit(index, context.now);
        // Karn: a segment sent twice is not timed.
        if self.timed.is_some_and(|(end, _)| segment.sequence < end && end <= segment.end()) {
            self.timed = None;
        }
        self.totals.retransmitted += 1;
        if !self.retransmission_timer.is_set() {
            self.restart_retransmission_timer(context);
        }
        self.put_on_wire(context, segment.sequence, u32::from(segment.length), None, true, pacing);
    }

    /// Sends the first outstanding segment again, whatever window and pacing say.
    fn retransmit_first(&mut self, context: &mut Context<'_>) {
        if let Some(index) = self.scoreboard.next_repair() {
            self.send_again(context, index, None);
        }
    }

    /// There is no new data to send: rule 3 of RFC 6675's NextSeg sends what may be lost.
    fn send_suspect(&mut self, context: &mut Context<'_>, window: u64, pacing: Option<Pacing>) {
        if self.recovery != Recovery::Sack || !matches!(self.state, State::FastRecovery(_)) {
            return;
        }
        while self.scoreboard.pipe_bytes() + self.mss <= window {
            let Some(index) = self.scoreboard.next_suspect() else { return };
            if !self.may_leave(context, pacing, self.mss) {
                return;
            }
            self.send_again(context, index, pacing);
        }
    }

    #[inline]
    fn put_on_wire(
        &mut self,
        context: &mut Context<'_>,
        sequence: u64,
        payload: u32,
        option: Option<PeerOption>,
        retransmission: bool,
        pacing: Option<Pacing>,
    ) {
        let mut size = payload + self.overhead;
        let mut extra = NO_EXTRA;
        if let Some(option) = option {
            size += option.wire_length();
            extra = context.network.extras.put(Extra { option: Some(option), ..Extra::default() });
        }
        self.totals.sent += 1;
        let packet = Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence,
            sent: context.now,
            echo: Time::NEVER,
            flow: self.flow,
            hop: self.route,
            payload,
            size: size as u16,
            kind: PacketKind::Data,
            retransmission,
            extra,
            number: 0,
        };
        context.network.send(context.events, context.now, packet);
        self.pacer.on_sent(context.now, Bytes(size.into()), pacing);
        let held_back = if pacing.is_some() { self.held_back(context.now) } else { 0 };
        self.control.on_sent(&Sent {
            now: context.now,
            size: Bytes(payload.into()),
            in_flight: Bytes(self.scoreboard.pipe_bytes()),
            held_back: Bytes(held_back),
        });
    }

    /// Payload that the window would let go now.
    fn held_back(&self, now: Time) -> u64 {
        let window = self.control.decision().window.get();
        let produced = self.application.produced(now, self.next);
        let limit = produced.min(self.una.saturating_add(self.receive_window));
        let waiting = limit.saturating_sub(self.next) + self.scoreboard.unrepaired_bytes();
        waiting.min(window.saturating_sub(self.pipe()))
    }

    fn send_syn(&mut self, context: &mut Context<'_>) {
        self.state = State::SynSent(context.now);
        let packet = Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: 0,
            sent: context.now,
            echo: Time::NEVER,
            flow: self.flow,
            hop: self.route,
            payload: 0,
            size: self.control_size as u16,
            kind: PacketKind::Syn,
            retransmission: self.totals.timeouts > 0,
            extra: NO_EXTRA,
            number: 0,
        };
        context.network.send(context.events, context.now, packet);
        self.restart_retransmission_timer(context);
    }

    // --- series -------------------------------------------------------------------------------------------------

    /// Takes the samples whose time has passed; the state has not changed since then.
    #[inline]
    fn sample_before(&mut self, now: Time) {
        if let Some(sampler) = &self.sampler
            && sampler.next < now
        {
            self.take_samples(now);
        }
    }

    #[cold]
    fn take_samples(&mut self, now: Time) {
        let decision = self.control.decision();
        let snapshot = self.control.snapshot();
        let pacing = decision.pacing.or_else(|| self.transport_pacing(&decision));
        let mss = self.mss as f64;
        let mut sample = FlowSample {
            time: Time::ZERO,
            cwnd_bytes: snapshot.cwnd_segments * mss,
            ssthresh_bytes: snapshot.ssthresh_segments * mss,
            in_flight_bytes: self.scoreboard.pipe_bytes(),
            pacing_bps: pacing
                .map_or(f64::NAN, |pacing| pacing.size.get() as f64 * 8.0 / pacing.interval.seconds()),
            srtt_s: self.rtt.smoothed().map_or(f64::NAN, Duration::seconds),
            sent_bytes: self.next,
            acknowledged_bytes: self.una,
            phase: snapshot.phase,
        };
        let Some(sampler) = &mut self.sampler else { return };
        while sampler.next < now {
            sample.time = sampler.next;
            sampler.samples.push(sample);
            sampler.next += sampler.interval;
        }
    }
}

/// What made the sender look for something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opportunity {
    /// The connection has opened, or the application has written.
    Application,
    /// An acknowledgement of new data.
    NewAck,
    /// A duplicate acknowledgement.
    DuplicateAck,
    /// The release timer.
    Release,
    /// The retransmission timer.
    Timeout,
}

#[cfg(test)]
mod tests;

//! A TCP sender.
//!
//! Every event passes three stages. The sender *learns* (`learn`: RTT, delivery rate, ECN counts
//! and the scoreboard process the packet), it *judges* (`recovery`: what is lost, whether recovery
//! begins or ends), and it *sends* (`transmit`: what recovery, congestion control and outbox
//! allow). `tell` passes all events to the congestion control. `Sender::on_ack` is the three
//! stages; `plain` and `batch` are shortcuts for the usual ACK.

pub mod batch;
mod learn;
#[cfg(test)]
mod packetdrill;
#[cfg(test)]
mod peer;
mod plain;
mod series;
#[cfg(test)]
mod shortcut_tests;
mod tell;
#[cfg(test)]
mod tests;
mod transmit;
mod usage;

use super::Context;
use super::outbox::Outbox;
use super::recovery::{AckKind, Event, LossRecovery, RackTimer, RetransmissionTimer, Verdict};
use super::rtt_histogram::RttHistogram;
use super::runaway::InFlightLimit;
use crate::engine::{Target, Timer};
use crate::network::FlowRoutes;
use crate::packet::{Packet, PacketKind};
use crate::plan::{Ecn, TcpPlan, Transport};
use crate::record::series::Sampling;
use crate::traffic::source::Application;
use learn::Estimators;
use selfclock_congestion::window::Group;
use selfclock_congestion::{Bytes, Controller, Duration, Time};
use series::Sampler;
use tell::Congestion;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Connection {
    /// Not started.
    Closed,
    /// A SYN is in flight, last sent at this time.
    SynSent(Time),
    /// Data may be sent.
    Established,
}

/// Why the sender tries to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opportunity {
    /// The application has written.
    Application,
    /// The connection was established, or an ACK of new data.
    NewAck,
    /// A duplicate ACK or a timer.
    Other,
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
    /// Recoveries begun by duplicate or selective ACKs.
    pub fast_retransmits: u64,
}

/// A TCP sender. Fields used by every ACK come first, to minimize memory traffic with ten thousand
/// senders.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// All bits are set if an ACK without out-of-line part may be plain: the flow uses neither
    /// delivery rates nor ECN, no router has lowered the window, and no loss probe is unaccounted
    /// for. Otherwise zero.
    plain: u32,
    /// Whether, for algorithm and transport, the window alone decides what leaves.
    window_alone: bool,
    /// Whether the algorithm is user-defined: it may need more than a window from one ACK to the
    /// next.
    custom: bool,
    mss: u64,
    /// Advertised window in the last ACK as received: a router may lower it.
    receive_window: u64,
    retransmission_timer: Timer,
    recovery: LossRecovery,
    estimators: Estimators,
    sampler: Sampler,
    totals: SenderTotals,
    application: Application,
    outbox: Outbox,
    congestion: Congestion,

    connection: Connection,
    /// When the last segment of data left.
    last_sent: Time,
    handshake: bool,
    /// When the first SYN left.
    first_syn: Time,
    /// Timeouts of the SYN that reduce the initial window to one segment, and whether not if the
    /// first SYN was answered.
    syn_timeouts: u32,
    undoes_handshake: bool,
    /// A CE mark came with a window of one segment: only the retransmission timer releases the
    /// next.
    held: bool,
    /// Value of `plain` when no router has lowered the window and no loss probe is unaccounted for.
    plain_by_plan: u32,
    /// Advertised window.
    advertised_window: u64,
    /// Consecutive probes of a closed window.
    window_probes: u32,
    /// The next retransmission needs no room in the window: the first of a recovery.
    owes_retransmission: bool,
    /// A packet pair waits for pacer or shaper.
    holds_pair: bool,
    pacing_gain: Option<f64>,
    application_timer: Timer,
    rack_timer: Timer,
    completed: Option<Time>,
    in_flight_limit: InFlightLimit,
}

/// Number of bytes of a sender that an ACK touches.
pub const TOUCHED: usize = std::mem::offset_of!(Sender, congestion) + 128;

impl Sender {
    /// The sender of a flow that starts at the first time and whose application stops at the
    /// second.
    pub fn new(
        flow: u32,
        routes: FlowRoutes,
        plan: &TcpPlan,
        (start, stop): (Time, Time),
        control_seed: u64,
        sampling: Option<Sampling>,
    ) -> Self {
        let transport = &plan.transport;
        let receive_window = transport.first_window().get();
        let outbox = Outbox::new(flow, routes.forward, transport, plan.control.marks());
        let congestion = Congestion::new(plan, outbox.overhead(), control_seed);
        let measures_rate = congestion.controller.wants_rate_samples();
        let may_be_plain = !measures_rate && transport.ecn == Ecn::Off;
        let plain = if may_be_plain { u32::MAX } else { 0 };
        let owns_reduction = congestion.controller.owns_window_in_recovery();
        let mut sender = Self {
            plain,
            plain_by_plan: plain,
            window_alone: may_be_plain && congestion.is_window_alone(transport),
            custom: congestion.controller.is_custom(),
            mss: transport.mss.get(),
            advertised_window: receive_window,
            receive_window,
            window_probes: 0,
            owes_retransmission: false,
            holds_pair: false,
            retransmission_timer: Timer::default(),
            recovery: LossRecovery::new(&Transport {
                prr: transport.prr && !congestion.controller.owns_window_in_recovery(),
                ..*transport
            }),
            estimators: Estimators::new(transport, measures_rate),
            sampler: Sampler::new(sampling),
            totals: SenderTotals::default(),
            application: Application::new(&plan.source, start, stop, transport.mss),
            outbox,
            congestion,
            connection: Connection::Closed,
            last_sent: Time::ZERO,
            handshake: transport.handshake,
            first_syn: Time::ZERO,
            syn_timeouts: transport.syn_timeouts,
            undoes_handshake: transport.undo && transport.timestamps,
            held: false,
            pacing_gain: transport.pacing_gain,
            application_timer: Timer::default(),
            rack_timer: Timer::default(),
            completed: None,
            in_flight_limit: InFlightLimit::default(),
        };
        if owns_reduction {
            sender.recovery.leave_reduction();
        }
        sender
    }

    /// Counters for the summary.
    pub fn totals(&self) -> SenderTotals {
        self.totals
    }
    /// Round-trip times of the handshake and of segments of data.
    pub fn rtt_samples(&self) -> &RttHistogram {
        &self.estimators.rtt_samples
    }
    /// The smallest of them.
    pub fn minimum_rtt(&self) -> Option<Duration> {
        self.estimators.rtt.smallest()
    }
    /// The last delivery rate sample, if rates are measured.
    #[cfg(test)]
    pub fn delivery_rate(&self) -> Option<selfclock_congestion::RateSample> {
        self.estimators.rate.as_ref()?.latest()
    }
    /// Measures delivery rates even if the congestion control does not request them.
    #[cfg(test)]
    pub fn measure_delivery_rate(&mut self) {
        self.estimators.rate = Some(Box::default());
        self.take_no_shortcut();
    }
    /// Disables the shortcut for plain ACKs: see `plain`.
    #[cfg(test)]
    pub fn take_no_shortcut(&mut self) {
        (self.plain, self.plain_by_plan, self.window_alone) = (0, 0, false);
    }
    /// The congestion control.
    pub fn controller(&self) -> &Controller {
        &self.congestion.controller
    }
    /// When the last byte was acknowledged.
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }
    /// Limits the algorithm's data in flight: beyond that it counts as runaway.
    pub fn limit_in_flight(&mut self, payload: Bytes) {
        self.in_flight_limit.lower_to(payload.get() / self.mss, false);
    }
    /// Limits a user-defined algorithm's data in flight for lack of memory.
    pub fn limit_memory(&mut self, segments: u64) {
        if self.custom {
            self.in_flight_limit.lower_to(segments, true);
        }
    }
    /// For a member of a group, before each event: the congestion control takes the group's
    /// knowledge.
    pub fn take_from(&mut self, group: &Group) {
        self.congestion.controller.take_from(group);
    }
    /// After each event: shares its knowledge with the group.
    pub fn give_to(&mut self, group: &mut Group) {
        self.congestion.controller.give_to(group);
    }
    /// Prefetches the heap data an ACK touches. The `Sender` itself must already be cached.
    #[inline(always)]
    pub fn prefetch_lists(&self) {
        self.recovery.outstanding().prefetch();
        self.estimators.rtt_samples.prefetch();
    }

    // --- what happens to it
    // -------------------------------------------------------------------------------------

    /// The flow begins at `start`: sets the timer for it.
    pub fn schedule_start(&mut self, context: &mut Context<'_>, start: Time) {
        self.application_timer.set(context.events, start, Target::Application(self.outbox.flow()));
    }

    /// Replaces a sender whose flow has not begun, keeping its start timer.
    pub fn started_by(self, planned: &Self) -> Self {
        Self { application_timer: planned.application_timer, ..self }
    }

    /// Handles a packet: an ACK, or the SYN-ACK.
    #[inline]
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        self.sample_before(context);
        if packet.kind == PacketKind::SynAck {
            return self.on_syn_ack(context, packet);
        }
        // An ACK of data not yet sent is invalid (RFC 9293, section 3.10.7.4).
        if packet.sequence > self.recovery.next() || packet.sequence < self.recovery.una() {
            return context.network.extras.release(packet.extra);
        }
        self.outbox.note_ack(packet.sent);
        if self.is_plain_ack(packet) {
            self.on_plain_ack(context, packet);
        } else {
            self.on_ack(context, packet);
        }
    }

    /// An ACK: learn, judge, send.
    #[inline(never)]
    fn on_ack(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let Self { recovery, estimators, congestion, .. } = self;
        let extra = context.network.extras.peek(packet.extra);
        let news = estimators.learn(context.now, packet, extra, recovery);
        let receive_window = extra.and_then(|extra| extra.receive_window);
        if let Some(extra) = extra
            && extra.peer != Time::ZERO
        {
            congestion.stamped(context.now, extra.card, extra.peer);
        }
        context.network.extras.release(packet.extra);

        let verdict = recovery.judge(&news, &estimators.rtt);
        let told = matches!(verdict.ack, AckKind::NewData | AckKind::Duplicate(_));
        let rate = if told { estimators.rate_sample(verdict.lost_total) } else { None };
        congestion.ack(&news, &verdict, recovery, &estimators.rtt, rate);
        if verdict.repaired_by_probe.is_some() {
            self.outbox.announce_reduction();
        }
        self.take_receive_window(packet.window(), receive_window);
        if verdict.ack == AckKind::Stray {
            return;
        }
        self.estimators.keep_marked(if told { 0 } else { news.marked });

        self.follow(context, &verdict);
        let new = verdict.ack == AckKind::NewData;
        self.send(context, if new { Opportunity::NewAck } else { Opportunity::Other });
        self.note_completion(context.now);
    }

    fn on_syn_ack(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let option = context.network.extras.get(packet.extra).option;
        context.network.extras.release(packet.extra);
        let Connection::SynSent(sent) = self.connection else { return };
        let retransmitted = self.totals.timeouts > 0;
        let rtt = self.estimators.take_handshake(context.now, sent, packet.echo, retransmitted);
        self.retransmission_timer.cancel();
        self.outbox.note_ack(packet.sent);
        self.connection = Connection::Established;
        let answers_first = self.undoes_handshake && packet.echo == self.first_syn;
        if self.syn_timeouts > 1 && self.totals.timeouts >= self.syn_timeouts.into() && !answers_first {
            self.congestion.handshake_loss(context.now);
        }
        self.congestion.established(context.now, rtt, option);
        // With the timer of the loss probe: "after transmitting new data" (RFC 8985, section 7.2).
        self.send(context, Opportunity::NewAck);
    }

    /// Handles an entry of one of its timers.
    #[inline]
    pub fn on_timer(&mut self, context: &mut Context<'_>, target: Target) {
        self.sample_before(context);
        match target {
            Target::Retransmission(_) => self.on_retransmission_timer(context, target),
            Target::Release(_) => {
                if self.outbox.on_timer(context) {
                    self.send(context, Opportunity::Other);
                }
            }
            Target::Rack(_) => self.on_rack_timer(context, target),
            _ => self.on_application_timer(context, target),
        }
    }

    fn on_application_timer(&mut self, context: &mut Context<'_>, target: Target) {
        if !self.application_timer.due(context.events, context.now, target) {
            return;
        }
        self.application.advance(context.now, self.recovery.next());
        if self.connection == Connection::Closed {
            if self.handshake {
                self.send_syn(context);
            } else {
                self.connection = Connection::Established;
            }
        }
        let change = self.application.next_change(context.now);
        if change != Time::NEVER {
            self.application_timer.set(context.events, change, target);
        }
        self.send(context, Opportunity::Application);
        self.note_completion(context.now);
    }

    fn on_retransmission_timer(&mut self, context: &mut Context<'_>, target: Target) {
        if !self.retransmission_timer.due(context.events, context.now, target) {
            return;
        }
        if core::mem::take(&mut self.held) {
            return self.send(context, Opportunity::Other);
        }
        if self.recovery.outstanding().is_empty() && self.connection == Connection::Established {
            if let Some(release) = self.held_until(context.now, 1) {
                return self.retransmission_timer.set(context.events, release, target);
            }
            self.estimators.rtt.back_off();
            return self.probe_window(context);
        }
        if self.probes_instead(context.now) {
            self.rack_timer.cancel();
            return self.send_tail_probe(context);
        }
        self.totals.timeouts += 1;
        self.estimators.time_none();
        if let Connection::SynSent(_) = self.connection {
            return self.on_syn_timeout(context);
        }
        self.estimators.rtt.back_off();
        let verdict = self.recovery.on_timeout(context.now, &self.estimators.rtt);
        self.follow(context, &verdict);
        self.send(context, Opportunity::Other);
    }

    /// The SYN or its answer was lost, or is late. With a limit of one timeout "the initial window
    /// used by a sender after a correctly transmitted SYN MUST be one segment" (RFC 5681, section
    /// 3.1); with more, the SYN-ACK decides ([`Sender::on_syn_ack`]).
    fn on_syn_timeout(&mut self, context: &mut Context<'_>) {
        self.estimators.rtt.back_off_syn(self.totals.timeouts);
        if self.syn_timeouts == 1 {
            self.congestion.handshake_loss(context.now);
        }
        self.send_syn(context);
    }

    /// Whether a tail loss probe is due at the time of the retransmission timer, in whose place it
    /// leaves: at the latest then it is (TLP_calc_PTO of RFC 8985, section 7.2).
    fn probes_instead(&self, now: Time) -> bool {
        self.rack_timer.deadline() <= now
            && self.recovery.timer_is_for_probe()
            && self.connection == Connection::Established
            && self.held_until(now, self.mss).is_none()
    }

    /// The timer of RACK and TLP.
    fn on_rack_timer(&mut self, context: &mut Context<'_>, target: Target) {
        if !self.rack_timer.due(context.events, context.now, target) {
            return;
        }
        if self.recovery.timer_is_for_probe() {
            if let Some(release) = self.held_until(context.now, self.mss) {
                return self.rack_timer.set(context.events, release, target);
            }
            return self.send_tail_probe(context);
        }
        let verdict = self.recovery.on_reordering_timer(context.now, &self.estimators.rtt);
        self.follow(context, &verdict);
        self.send(context, Opportunity::Other);
    }

    /// Lets code outside the simulation change the congestion control, and sends what it then
    /// allows.
    pub fn steer(&mut self, context: &mut Context<'_>, change: impl FnOnce(Time, &mut Controller)) {
        self.sample_before(context);
        change(context.now, &mut self.congestion.controller);
        self.send(context, Opportunity::Other);
    }

    // --- between judging and sending
    // ----------------------------------------------------------------------------

    /// Applies a verdict: the congestion control responds, the retransmission timer changes, and a
    /// fast retransmit is due.
    fn follow(&mut self, context: &mut Context<'_>, verdict: &Verdict) {
        match verdict.timer {
            RetransmissionTimer::Keep => {}
            RetransmissionTimer::Restart => self.restart_retransmission_timer(context),
            RetransmissionTimer::Cancel => self.retransmission_timer.cancel(),
        }
        if let Some(event) = verdict.event {
            if let Event::CongestionEcho { .. } = event {
                self.hold_smallest_window(context);
            }
            if self.congestion.event(context.now, event) {
                self.outbox.announce_reduction();
            }
            if let Event::Loss { .. } = event {
                self.recovery.reduce_to(self.congestion.controller.window().get());
            }
        }
        if verdict.is_fast_retransmit() {
            self.totals.fast_retransmits += 1;
            self.estimators.time_none();
        }
        // It leaves in the next stage, like everything through pacer and shaper.
        let missing = self.recovery.outstanding().bytes_to_retransmit() > 0;
        self.owes_retransmission = missing && (verdict.retransmit_first || self.owes_retransmission);
        if verdict.is_fast_retransmit() {
            self.restart_retransmission_timer(context);
        }
    }

    /// "The sending TCP must reset the retransmit timer on receiving the ECN-Echo packet when the
    /// congestion window is one. The sending TCP will then be able to send a new packet only when
    /// the retransmit timer expires" (RFC 3168, section 6.1.2). While something is outstanding, the
    /// window holds the sender.
    fn hold_smallest_window(&mut self, context: &mut Context<'_>) {
        let one = self.congestion.controller.window().get() < 2 * self.mss;
        if one && self.recovery.outstanding().is_empty() {
            self.held = true;
            self.restart_retransmission_timer(context);
        }
    }

    /// Sends what may be sent now, then sets the timer of RACK and TLP.
    #[inline(never)]
    fn send(&mut self, context: &mut Context<'_>, opportunity: Opportunity) {
        self.transmit(context, opportunity);
        self.set_rack_timer(context, opportunity);
    }

    /// The window in the ACK: the receiver's, if it grows; and that of a router, if it has changed
    /// it, which is valid until the next ACK. The right edge never moves left, so of two ACKs with
    /// one number the larger window is the later one.
    fn take_receive_window(&mut self, own: Option<u64>, changed: Option<u64>) {
        self.advertised_window = own.map_or(self.advertised_window, |own| own.max(self.advertised_window));
        self.receive_window = changed.unwrap_or(self.advertised_window);
        if self.receive_window >= self.mss {
            self.window_probes = 0;
        }
        let calm = self.receive_window == self.advertised_window && !self.recovery.awaits_probe();
        self.plain = if calm { self.plain_by_plan } else { 0 };
    }

    #[inline(always)]
    fn restart_retransmission_timer(&mut self, context: &mut Context<'_>) {
        let deadline = context.now + self.estimators.rtt.timeout();
        let target = Target::Retransmission(self.outbox.flow());
        self.retransmission_timer.set(context.events, deadline, target);
    }

    fn set_rack_timer(&mut self, context: &mut Context<'_>, after: Opportunity) {
        let change = self.recovery.rack_timer(
            context.now,
            &self.estimators.rtt,
            after == Opportunity::NewAck,
            self.rack_timer.is_set(),
            self.retransmission_timer.deadline(),
        );
        match change {
            RackTimer::Keep => {}
            RackTimer::Cancel => self.rack_timer.cancel(),
            RackTimer::Set(deadline) => {
                self.rack_timer.set(context.events, deadline, Target::Rack(self.outbox.flow()));
            }
        }
    }

    fn note_completion(&mut self, now: Time) {
        let next = self.recovery.next();
        if self.recovery.outstanding().is_empty()
            && self.completed.is_none()
            && self.recovery.una() > 0
            && self.application.is_finished(now)
            && next >= self.application.produced(now, next)
        {
            self.completed = Some(now);
        }
    }
}

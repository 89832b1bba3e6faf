//! A TCP sender: what is outstanding, when a loss is detected, what leaves next.
//!
//! The sender asks the congestion control how much may be in flight and how it is to be spaced; which segment that
//! is, and when something counts as lost, is decided here.

use super::delivery_rate::DeliveryRate;
use super::pacer::Pacer;
use super::prr::{Progress, Prr};
use super::rack::{Conditions, Rack};
use super::rto::RttEstimator;
use super::rtt_histogram::RttHistogram;
use super::runaway::Runaway;
use super::scoreboard::{Advance, DUPLICATE_THRESHOLD, Scoreboard, Segment};
use super::{Context, TIMESTAMPS_OPTION};
use crate::engine::{Target, Timer};
use crate::network::FlowRoutes;
use crate::packet::{Extra, Flags, NO_EXTRA, Packet, PacketKind};
use crate::plan::{Ecn, Recovery, RttSamples, TcpPlan};
use crate::record::series::{FlowSample, Rows, Sampling};
use crate::traffic::source::Application;
use selfclock_congestion::controller::Controller;
use selfclock_congestion::decision::{Decision, Pacing, Probe, ProbePart};
use selfclock_congestion::entry::Marks;
use selfclock_congestion::event::RestartCause;
use selfclock_congestion::state::Setup;
use selfclock_congestion::units::{Bytes, Duration, Time};
use selfclock_congestion::window::Group;
use selfclock_congestion::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, PeerOption, RateSample, RecoveryEnded,
    Sent, Timeout,
};
use std::sync::Arc;

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

/// What an acknowledgement tells beside its number that was not known.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// Payload newly SACKed.
    bytes: u64,
    /// When the newest of these segments was sent that were sent only once.
    newest_sent_once: Option<Time>,
    /// Payload newly reported as marked.
    marked: u64,
    /// The acknowledgement tells of a mark.
    echo: bool,
}

/// A fast recovery under way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Repair {
    /// An acknowledgement of everything below ends it.
    recover: u64,
    /// Without SACK: payload that duplicate acknowledgements say has left the network ("inflating the window"), less
    /// what partial acknowledgements took off. Negative when duplicate acknowledgements were lost.
    inflation: i64,
    /// Duplicate acknowledgements that may still inflate the window in this round trip of the recovery, and when that began.
    inflations_left: u32,
    round_began: Time,
    /// A partial acknowledgement has restarted the retransmission timer (RFC 6582, "Impatient" variant).
    timer_restarted: bool,
}

/// RACK with its loss probe, and the timer of both.
#[derive(Clone, Debug, Default)]
struct RackTlp {
    rack: Rack,
    timer: Timer,
    /// What the timer is set for.
    purpose: Purpose,
    /// SND.NXT when the probe was sent that is not accounted for ("TLP.end_seq"), and whether it was a retransmission
    /// ("TLP.is_retrans").
    probe: Option<(u64, bool)>,
    /// SND.NXT when the probe timer was last set.
    sent_before: u64,
    /// Longest time for which the receiver holds back an acknowledgement.
    maximum_ack_delay: Duration,
}

/// What a timer is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Purpose {
    /// To find what is then lost.
    #[default]
    Reordering,
    /// To probe the tail.
    Probe,
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

/// A TCP sender. What every acknowledgement touches stands first, so that of ten thousand senders little has to be fetched.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    flow: u32,
    route: u32,
    /// Headers and constant options of a data segment on the wire.
    overhead: u32,
    /// All bits are set if the flow uses neither delivery rates nor ECN, no router has lowered the window and no loss probe is
    /// unaccounted for; else none.
    plain: u32,
    mss: u64,
    /// What the last acknowledgement let through of what the receiver advertises: a router may lower it.
    receive_window: u64,
    /// SND.UNA: everything below is acknowledged.
    una: u64,
    /// SND.NXT: the next new byte.
    next: u64,
    duplicates: u32,
    recovery: Recovery,
    samples: RttSamples,
    timestamps: bool,
    grow_only_when_limited: bool,
    /// What leaves, and when, is up to the window alone: no spacing, no probes, no options, and none of what `plain` excludes.
    window_alone: bool,
    /// The algorithm is user-defined: it may want more than a window from one ACK to the next.
    custom: bool,
    /// The window or the pacing, not the application or the receiver, ended the last round of sending.
    limited_by_window: bool,
    /// What the next segment of new data carries.
    data_flags: Flags,
    /// When the next sample of the series is due.
    next_sample: Time,
    retransmission_timer: Timer,
    /// New data that Limited Transmit sent since the last new acknowledgement.
    limited_transmit_bytes: u64,
    state: State,
    scoreboard: Scoreboard,
    rtt: RttEstimator,
    totals: SenderTotals,
    application: Application,
    rtt_samples: RttHistogram,
    control: Controller,

    control_size: u32,
    /// What the receiver advertises.
    advertised_window: u64,
    /// Probes of a closed window, one after the other.
    window_probes: u32,
    prr_in_recovery: bool,
    limited_transmit: bool,
    one_recovery_per_window: bool,
    handshake: bool,
    ecn: Ecn,
    /// `plain` when no router has lowered the window and no loss probe is unaccounted for.
    plain_by_plan: u32,
    pacing_gain: Option<f64>,
    /// What had been sent at the last timeout or fast retransmit. Duplicate acknowledgements below it may come from
    /// segments that were sent twice, and start no new recovery (RFC 6582, section 4).
    recover: Option<u64>,
    /// SND.NXT at the last reaction to a congestion mark.
    echoed: Option<u64>,
    /// The receiver's count of marked bytes, as far as it is known.
    marked_seen: u32,
    /// Marked bytes that the congestion control has not been told of.
    newly_marked: u64,
    /// Finds losses by time and probes the tail, if that is the loss recovery.
    rack: Option<Box<RackTlp>>,
    /// Brings the window down in the recovery under way, if that is wanted, and what was sent again in it.
    prr: Option<Box<(Prr, u64)>>,
    /// Before the acknowledgement that is being processed.
    before: Progress,
    /// Measures delivery rates, if the congestion control asks for them.
    rate: Option<Box<DeliveryRate>>,
    /// The segment that is being timed, if one at a time is: byte after its last, and when it was sent.
    timed: Option<(u64, Time)>,
    /// Once something is spaced or shaped.
    pacer: Option<Box<Pacer>>,
    release_timer: Timer,
    application_timer: Timer,
    completed: Option<Time>,
    sample_interval: Duration,
    /// Payload known to have arrived at the last sample of the series. It never falls, although a timeout forgets.
    delivered_seen: u64,
    /// With more segments in flight the algorithm is taken to have run away; and it is memory that sets the limit.
    most_segments: usize,
    limited_by_memory: bool,
}

/// So many bytes of it an acknowledgement touches.
pub const TOUCHED: usize = std::mem::offset_of!(Sender, control) + 128;

impl Sender {
    /// The sender of a flow that begins at the first of the times and whose application stops at the second.
    pub fn new(
        flow: u32,
        routes: FlowRoutes,
        plan: &TcpPlan,
        (start, stop): (Time, Time),
        control_seed: u64,
        sampling: Option<Sampling>,
    ) -> Self {
        let transport = &plan.transport;
        let receive_window = transport.advertised_window().get();
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
            byte_counting: transport.byte_counting,
            seed: control_seed,
        });
        let rate = control.wants_rate_samples().then(Box::default);
        let delayed = transport.delayed_ack;
        let rack = (transport.recovery == Recovery::Rack).then(|| {
            let maximum_ack_delay = if delayed.every > 1 { delayed.timer } else { Duration::ZERO };
            Box::new(RackTlp { maximum_ack_delay, ..RackTlp::default() })
        });
        let plain = rate.is_none() && transport.ecn == Ecn::Off;
        let plain = if plain { u32::MAX } else { 0 };
        let unspaced = transport.pacing_gain.is_none() && transport.shaper.is_none();
        let custom = control.is_custom();
        let window_alone = plain != 0 && unspaced && (control.only_grows() || custom);
        let data_flags = match transport.ecn {
            Ecn::Off => Flags::NONE,
            Ecn::Accurate if plan.control.marks() == Marks::InProportion => Flags::ECT_1,
            Ecn::Classic | Ecn::Accurate => Flags::ECT_0,
        };
        Self {
            flow,
            route: routes.forward,
            mss: transport.mss.get(),
            overhead,
            control_size: transport.ack.get() as u32
                + if transport.timestamps { TIMESTAMPS_OPTION } else { 0 },
            advertised_window: receive_window,
            receive_window,
            window_probes: 0,
            recovery: transport.recovery,
            prr_in_recovery: transport.prr && transport.recovery.uses_sack(),
            limited_transmit: transport.limited_transmit,
            one_recovery_per_window: transport.one_recovery_per_window,
            timestamps: transport.timestamps,
            handshake: transport.handshake,
            grow_only_when_limited: transport.grow_only_when_limited,
            samples: transport.timer.samples,
            ecn: transport.ecn,
            plain,
            plain_by_plan: plain,
            window_alone,
            custom,
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
            data_flags,
            echoed: None,
            marked_seen: 0,
            newly_marked: 0,
            prr: None,
            before: Progress { delivered: 0, una: 0, lost: 0 },
            rack,
            rate,
            limited_by_window: true,
            rtt: RttEstimator::new(transport.timer),
            timed: None,
            pacer: transport.shaper.map(|shaper| Box::new(Pacer::new(Some(shaper)))),
            retransmission_timer: Timer::default(),
            release_timer: Timer::default(),
            application_timer: Timer::default(),
            totals: SenderTotals::default(),
            rtt_samples: RttHistogram::default(),
            completed: None,
            next_sample: sampling.map_or(Time::NEVER, |sampling| Time::ZERO + sampling.interval),
            sample_interval: sampling.map_or(Duration::ZERO, |sampling| sampling.interval),
            delivered_seen: 0,
            most_segments: usize::MAX,
            limited_by_memory: false,
        }
    }

    /// Counters for the summary.
    pub fn totals(&self) -> SenderTotals {
        self.totals
    }
    /// Round-trip times of the handshake and of segments of data.
    pub fn rtt_samples(&self) -> &RttHistogram {
        &self.rtt_samples
    }
    /// The smallest of them.
    pub fn minimum_rtt(&self) -> Option<Duration> {
        self.rtt.smallest()
    }
    /// The delivery rate measured last, if it is measured.
    pub fn delivery_rate(&self) -> Option<RateSample> {
        self.rate.as_ref()?.latest()
    }
    /// Measures delivery rates whether or not the congestion control asks for them.
    #[cfg(test)]
    pub fn measure_delivery_rate(&mut self) {
        self.rate = Some(Box::default());
        (self.plain, self.plain_by_plan, self.window_alone) = (0, 0, false);
    }
    /// The congestion control.
    pub fn controller(&self) -> &Controller {
        &self.control
    }
    /// When the last byte was acknowledged.
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }
    /// Limits what the algorithm may have in flight: beyond that it has run away.
    pub fn limit_in_flight(&mut self, payload: Bytes) {
        self.limit_segments(payload.get() / self.mss, false);
    }
    /// Limits what a user-defined algorithm may have in flight, for want of memory.
    pub fn limit_memory(&mut self, segments: u64) {
        if self.control.is_custom() {
            self.limit_segments(segments, true);
        }
    }
    fn limit_segments(&mut self, segments: u64, by_memory: bool) {
        let segments = usize::try_from(segments).unwrap_or(usize::MAX);
        if segments < self.most_segments {
            (self.most_segments, self.limited_by_memory) = (segments, by_memory);
        }
    }
    /// Of a member of a group, before each event: the congestion control takes what the group knows.
    pub fn take_from(&mut self, group: &Group) {
        self.control.take_from(group);
    }
    /// After each event it gives the group what there is to know.
    pub fn give_to(&mut self, group: &mut Group) {
        self.control.give_to(group);
    }
    /// Takes the samples that are still to come up to the end of the run.
    pub fn finish(&mut self, end: Time, samples: &mut Rows<FlowSample>) {
        if self.next_sample <= end {
            self.take_samples(end + Duration::from_picoseconds(1), samples);
        }
    }

    /// Asks for what an acknowledgement touches that stands elsewhere. To know where, the sender itself must be there.
    #[inline(always)]
    pub fn prefetch_lists(&self) {
        self.scoreboard.prefetch();
        self.rtt_samples.prefetch();
    }

    /// The flow begins at `start`: sets the timer that begins it.
    pub fn schedule_start(&mut self, context: &mut Context<'_>, start: Time) {
        self.application_timer.set(context.events, start, Target::Application(self.flow));
    }

    // --- what happens to it -------------------------------------------------------------------------------------

    /// An entry of one of its timers has come up.
    #[inline]
    pub fn on_timer(&mut self, context: &mut Context<'_>, target: Target) {
        match target {
            Target::Retransmission(_) => self.on_retransmission_timer(context),
            Target::Release(_) => self.on_release_timer(context),
            Target::Rack(_) => self.on_rack_timer(context),
            _ => self.on_application_timer(context),
        }
    }

    /// An entry of the application's timer has come up.
    pub fn on_application_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context);
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
        self.set_rack_timer(context, Opportunity::Application);
        self.note_completion(context.now);
    }

    /// An entry of the release timer has come up: pacing lets the next segment go.
    pub fn on_release_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context);
        if self.release_timer.due(context.events, context.now, Target::Release(self.flow)) {
            self.transmit(context, Opportunity::Release);
            self.set_rack_timer(context, Opportunity::Release);
        }
    }

    /// An entry of the retransmission timer has come up.
    pub fn on_retransmission_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context);
        if !self.retransmission_timer.due(context.events, context.now, Target::Retransmission(self.flow)) {
            return;
        }
        if self.probe_is_due(context.now) {
            return self.send_probe(context);
        }
        self.rtt.back_off();
        if self.scoreboard.is_empty() && self.state == State::Open {
            return self.probe_window(context);
        }
        self.totals.timeouts += 1;
        self.timed = None;
        if let State::SynSent(_) = self.state {
            self.control.on_handshake_loss();
            return self.send_syn(context);
        }
        let repeated = self.scoreboard.front().is_some_and(|first| first.had_timed_out());
        if self.scoreboard.front().is_some_and(Segment::is_sacked) {
            self.forget_sacks();
        }
        self.start_again(context.now, repeated, RestartCause::TimerExpired);
        self.scoreboard.note_timeout_of_first();
        self.retransmit_first(context);
        self.transmit(context, Opportunity::Timeout);
        self.set_rack_timer(context, Opportunity::Timeout);
    }

    /// Someone outside of the run changes the congestion control: what it then allows is sent.
    pub fn steer(&mut self, context: &mut Context<'_>, change: impl FnOnce(Time, &mut Controller)) {
        self.sample_before(context);
        change(context.now, &mut self.control);
        self.transmit(context, Opportunity::Release);
        self.set_rack_timer(context, Opportunity::Release);
    }

    /// An entry of the timer of RACK and TLP has come up.
    pub fn on_rack_timer(&mut self, context: &mut Context<'_>) {
        self.sample_before(context);
        let Some(rack) = &mut self.rack else { return };
        if !rack.timer.due(context.events, context.now, Target::Rack(self.flow)) {
            return;
        }
        if rack.purpose == Purpose::Probe {
            return self.send_probe(context);
        }
        self.before = self.progress();
        self.detect_losses_by_time(context.now);
        self.recover_what_rack_found(context);
        self.transmit(context, Opportunity::Reordering);
        self.set_rack_timer(context, Opportunity::Reordering);
    }

    /// A packet has arrived: an acknowledgement, or the answer to the SYN.
    #[inline]
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        self.sample_before(context);
        if packet.kind == PacketKind::SynAck {
            return self.on_syn_ack(context, packet);
        }
        let acknowledgement = packet.sequence;
        // Nothing may be acknowledged that was not sent (RFC 9293, section 3.10.7.4).
        if acknowledgement > self.next || acknowledgement < self.una {
            return context.network.extras.release(packet.extra);
        }
        if packet.extra & self.plain != NO_EXTRA {
            self.on_rich_acknowledgement(context, packet);
        } else if acknowledgement > self.una && self.sends_plainly() && self.scoreboard.is_plain() {
            if self.rack.is_some() {
                self.on_plain_ack::<true>(context, acknowledgement, packet.echo);
            } else {
                self.on_plain_ack::<false>(context, acknowledgement, packet.echo);
            }
        } else if self.rack.is_some() {
            self.on_rich_acknowledgement(context, packet);
        } else {
            self.on_acknowledgement(context, packet, News::default(), None);
        }
    }

    /// The usual case by itself: an acknowledgement of new data that tells nothing else, nothing outstanding is known to be lost
    /// or out of order, and the window alone decides what leaves. [`Sender::on_acknowledgement`] does the same, and more.
    #[inline(always)]
    fn on_plain_ack<const RACK: bool>(
        &mut self,
        context: &mut Context<'_>,
        acknowledgement: u64,
        echo: Time,
    ) {
        self.take_plain_ack::<RACK>(context, acknowledgement, echo);
        self.follow_plain_ack::<RACK>(context);
    }

    /// Its first half: what is learnt from it.
    #[inline(always)]
    fn take_plain_ack<const RACK: bool>(
        &mut self,
        context: &mut Context<'_>,
        acknowledgement: u64,
        echo: Time,
    ) {
        let now = context.now;
        if RACK {
            self.before = self.progress();
            self.deliver_below(now, acknowledgement, echo);
        }
        let advance = self.scoreboard.advance(acknowledgement);
        self.una = acknowledgement;
        self.limited_transmit_bytes = 0;
        let rtt = self.take_rtt_sample(now, acknowledgement, echo, &advance);
        if RACK {
            self.detect_losses_by_time(now);
        }
        let in_flight = if RACK { self.scoreboard.pipe_bytes() } else { self.scoreboard.outstanding_bytes() };
        let event = self.acknowledged(now, &advance, acknowledgement, rtt, in_flight);
        self.control.on_ack(&event);
        if self.scoreboard.is_empty() {
            self.retransmission_timer.cancel();
        } else {
            self.restart_retransmission_timer(context);
        }
    }

    /// Its second half: what is sent after it.
    #[inline(always)]
    fn follow_plain_ack<const RACK: bool>(&mut self, context: &mut Context<'_>) {
        if RACK && !self.scoreboard.is_plain() {
            self.recover_what_rack_found(context);
            self.transmit(context, Opportunity::NewAck);
        } else if self.wants_more() {
            self.transmit_as::<false>(context, Opportunity::NewAck);
        } else {
            self.transmit_as::<true>(context, Opportunity::NewAck);
        }
        if RACK {
            self.set_rack_timer(context, Opportunity::NewAck);
        }
        self.note_completion(context.now);
    }

    /// An acknowledgement with this news.
    #[inline(never)]
    fn on_acknowledgement(
        &mut self,
        context: &mut Context<'_>,
        packet: &Packet,
        mut news: News,
        option: Option<PeerOption>,
    ) {
        let acknowledgement = packet.sequence;
        let opportunity = if acknowledgement > self.una {
            self.on_new_ack(context, acknowledgement, packet.echo, &mut news, option);
            if self.rack.is_some() {
                self.recover_what_rack_found(context);
            } else if self.recovery == Recovery::Sack && self.scoreboard.sacked_bytes() > 0 {
                self.on_new_ack_with_gap(context, news.bytes);
            }
            Opportunity::NewAck
        } else if !self.scoreboard.is_empty() {
            self.on_duplicate_ack(context, &mut news, option);
            Opportunity::DuplicateAck
        } else {
            return;
        };
        self.newly_marked = news.marked;
        if news.echo {
            self.on_congestion_echo(context.now);
        }
        self.transmit(context, opportunity);
        self.set_rack_timer(context, opportunity);
        self.note_completion(context.now);
    }

    /// Reads SACK blocks, the peer's option and congestion marks first.
    #[inline(never)]
    fn on_rich_acknowledgement(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let extra = context.network.extras.get(packet.extra);
        context.network.extras.release(packet.extra);
        self.receive_window = extra.receive_window.unwrap_or(self.advertised_window);
        if self.receive_window >= self.mss {
            self.window_probes = 0;
        }
        let mut news = News::default();
        self.before = self.progress();
        self.account_for_probe(context.now, packet, extra.sack_blocks > 0);
        // The next acknowledgement says what the window is then.
        let calm = self.receive_window == self.advertised_window
            && self.rack.as_deref().is_none_or(|rack| rack.probe.is_none());
        self.plain = if calm { self.plain_by_plan } else { 0 };
        if self.recovery.uses_sack() {
            let minimum_rtt = self.rtt.minimum();
            for &(start, end) in &extra.sack[..usize::from(extra.sack_blocks)] {
                if start < end && start >= packet.sequence && end <= self.next {
                    let (rate, rack) = (&mut self.rate, &mut self.rack);
                    news.bytes += self.scoreboard.sack_each(start, end, |index, segment| {
                        if !segment.was_retransmitted() {
                            news.newest_sent_once = news.newest_sent_once.max(Some(segment.sent));
                        }
                        if let Some(rate) = rate {
                            rate.on_delivered(index, segment, context.now);
                        }
                        if let Some(RackTlp { rack, .. }) = rack.as_deref_mut() {
                            rack.on_delivered(index, segment, context.now, echo_of(packet), minimum_rtt);
                            rack.note_sacked();
                        }
                    });
                }
            }
        }
        self.read_congestion_marks(packet, &mut news);
        self.on_acknowledgement(context, packet, news, extra.option);
    }

    fn on_syn_ack(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let option = context.network.extras.get(packet.extra).option;
        context.network.extras.release(packet.extra);
        let State::SynSent(sent) = self.state else { return };
        // The echo tells which SYN was answered; without timestamps Karn's rule forbids a sample after a second SYN.
        let rtt = (self.timestamps || self.totals.timeouts == 0).then(|| {
            let sent = if self.timestamps { packet.echo } else { sent };
            let rtt = self.rtt.sample_handshake(sent, context.now);
            self.rtt_samples.add(rtt);
            rtt
        });
        if self.totals.timeouts > 0 {
            self.rtt.after_handshake_loss();
        }
        self.retransmission_timer.cancel();
        self.state = State::Open;
        self.control.on_established(&Established { now: context.now, rtt, option });
        self.transmit(context, Opportunity::NewAck);
    }

    // --- acknowledgements and losses ----------------------------------------------------------------------------

    /// The round-trip time that an acknowledgement measures, if it does, for the congestion control: of the newest segment
    /// that it acknowledges. The retransmission timer takes a sample of its own.
    ///
    /// The timer must cover the wait for a delayed acknowledgement, so RFC 7323 (section 4.2) has the receiver echo the
    /// timestamp of the oldest segment that an acknowledgement covers. To a delay-based algorithm that wait would look like a
    /// queue. Linux keeps the two apart: `tcp_clean_rtx_queue` takes the timer's sample from the first segment acknowledged
    /// and the congestion control's from the last, and falls back to the echo where something was retransmitted. ns-2's
    /// Vegas and FAST have send times of their own, whatever their timer samples.
    #[inline(always)]
    fn take_rtt_sample(
        &mut self,
        now: Time,
        acknowledgement: u64,
        echo: Time,
        advance: &Advance,
    ) -> Option<Duration> {
        let echo = (self.timestamps && echo != Time::NEVER).then_some(echo);
        // Karn: a segment sent twice is not timed, nor one that waited at the receiver behind it.
        let (oldest, newest) = if advance.any_retransmitted {
            (None, None)
        } else {
            (advance.oldest_sent_once, advance.newest_sent_once)
        };
        let timed = match self.samples {
            RttSamples::EverySegment => echo.or(oldest),
            RttSamples::OneAtATime => {
                let timed = self.timed.filter(|&(end, _)| acknowledgement >= end);
                if timed.is_some() {
                    self.timed = None;
                }
                timed.map(|(_, sent)| sent)
            }
        };
        if let Some(sent) = timed {
            self.rtt.sample(sent, now);
        }
        newest.or(echo).map(|sent| {
            let rtt = now.since(sent);
            self.rtt.note_minimum(rtt);
            self.rtt_samples.add(rtt);
            rtt
        })
    }

    /// What the congestion control is told of an acknowledgement that tells nothing but its number.
    #[inline(always)]
    fn acknowledged(
        &self,
        now: Time,
        advance: &Advance,
        acknowledgement: u64,
        rtt: Option<Duration>,
        in_flight: u64,
    ) -> Acknowledged {
        Acknowledged {
            now,
            size: Bytes(advance.bytes),
            // Not read back from the sender: just written there.
            acknowledged_total: Bytes(acknowledgement),
            sent_total: Bytes(self.next),
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            minimum_rtt: self.rtt.minimum(),
            in_flight: Bytes(in_flight),
            window_limited: self.limited_by_window || !self.grow_only_when_limited,
            recovering: false,
            marked: Bytes::ZERO,
            rate: None,
            option: None,
        }
    }

    fn on_new_ack(
        &mut self,
        context: &mut Context<'_>,
        acknowledgement: u64,
        echo: Time,
        news: &mut News,
        option: Option<PeerOption>,
    ) {
        let now = context.now;
        self.deliver_below(now, acknowledgement, echo);
        let advance = self.scoreboard.advance(acknowledgement);
        self.una = acknowledgement;
        self.duplicates = 0;
        self.limited_transmit_bytes = 0;
        let rtt = self.take_rtt_sample(now, acknowledgement, echo, &advance);

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
                    // The retransmission that this acknowledges took a round trip. Acknowledgements that come faster are of
                    // segments that never were missing.
                    if self.rtt.minimum().is_none_or(|minimum| now.since(repair.round_began) >= minimum) {
                        repair.inflations_left = self.scoreboard.len() as u32;
                        repair.round_began = now;
                    }
                    restart_timer = !repair.timer_restarted;
                    repair.timer_restarted = true;
                    self.scoreboard.mark_first_lost();
                }
                Recovery::Sack => {
                    recovery_ended = full;
                    self.scoreboard.mark_lost_below_edge();
                    self.reduce_proportionally();
                }
                Recovery::Rack => recovery_ended = full,
            }
        }
        if recovery_ended {
            self.state = State::Open;
            self.prr = None;
        }
        if self.rack.is_some() {
            self.detect_losses_by_time(now);
        }

        let pipe = self.scoreboard.pipe_bytes();
        let event = Acknowledged {
            // "The sending TCP SHOULD NOT increase the congestion window in response to the receipt of an ECN-Echo ACK
            // packet" (RFC 3168, section 6.1.2).
            recovering: was_recovering || news.echo && self.ecn == Ecn::Classic,
            marked: Bytes(std::mem::take(&mut news.marked)),
            rate: self.rate_sample(),
            option,
            ..self.acknowledged(now, &advance, acknowledgement, rtt, pipe)
        };
        self.control.on_ack(&event);
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

    /// Reads what the acknowledgement says of marked data.
    fn read_congestion_marks(&mut self, packet: &Packet, news: &mut News) {
        match self.ecn {
            Ecn::Off => {}
            Ecn::Classic => news.echo = packet.flags.has(Flags::ECE),
            Ecn::Accurate => {
                let marked = packet.payload.wrapping_sub(self.marked_seen);
                // An acknowledgement that was overtaken tells of less than is known.
                if marked != 0 && marked < u32::MAX / 2 {
                    self.marked_seen = packet.payload;
                    news.marked = u64::from(marked);
                    news.echo = true;
                }
                news.marked += std::mem::take(&mut self.newly_marked);
            }
        }
    }

    /// The receiver has told of a congestion mark. "TCP should not react to congestion indications more than once every
    /// window of data": not before what was outstanding at the last reduction, of whatever cause, is acknowledged.
    fn on_congestion_echo(&mut self, now: Time) {
        // Up to and at that point the receiver may not have seen CWR, which comes on the next segment.
        let reduced_before = self.echoed.max(self.recover).is_some_and(|point| self.una <= point);
        if self.state != State::Open || reduced_before {
            return;
        }
        let flight = self.scoreboard.outstanding_bytes().saturating_sub(self.limited_transmit_bytes);
        self.control.on_ecn_echo(&EcnEcho { now, flight_size: Bytes(flight) });
        self.echoed = Some(self.next);
        self.announce_reduction();
    }

    /// "When an ECN-Capable TCP sender reduces its congestion window for any reason (because of a retransmit timeout, a
    /// Fast Retransmit, or in response to an ECN Notification), the TCP sender sets the CWR flag in the TCP header of the
    /// first new data packet sent after the window reduction" (RFC 3168, section 6.1.2).
    fn announce_reduction(&mut self) {
        if self.ecn == Ecn::Classic {
            self.data_flags = self.data_flags.with(Flags::CWR);
        }
    }

    /// RACK or the delivery rate are told of what is sent.
    #[inline(always)]
    fn notes_sending(&self) -> bool {
        self.rack.is_some() || self.rate.is_some()
    }

    /// Everything below `acknowledgement` has been delivered, in so far as it was not SACKed before.
    #[inline]
    fn deliver_below(&mut self, now: Time, acknowledgement: u64, echo: Time) {
        if !self.notes_sending() {
            return;
        }
        let Self { rate, rack, .. } = self;
        let echo = (echo != Time::NEVER).then_some(echo);
        let minimum_rtt = self.rtt.minimum();
        let mut index = 0;
        while index < self.scoreboard.len() && self.scoreboard[index].end() <= acknowledgement {
            let segment = &self.scoreboard[index];
            if let Some(rate) = rate {
                if !segment.is_sacked() {
                    rate.on_delivered(0, segment, now);
                }
                rate.drop_front();
            }
            if let Some(RackTlp { rack, .. }) = rack.as_deref_mut() {
                if !segment.is_sacked() {
                    rack.on_delivered(0, segment, now, echo, minimum_rtt);
                }
                rack.drop_front(segment.is_sacked());
            }
            index += 1;
        }
    }

    /// The delivery rate that this acknowledgement measures, if it is measured. What the acknowledgement shows to be lost
    /// is marked first.
    fn rate_sample(&mut self) -> Option<RateSample> {
        self.rate.as_ref()?;
        let repairing = matches!(self.state, State::FastRecovery(_));
        if self.recovery == Recovery::Sack && (repairing || !self.waits_for_recovery_point()) {
            self.scoreboard.mark_lost_below_edge();
        }
        self.rate.as_mut()?.sample(self.rtt.minimum(), self.scoreboard.lost_total())
    }

    /// What was outstanding at the last timeout or fast retransmit is still being acknowledged: "a new recovery phase
    /// [...] MUST NOT be initiated until HighACK is greater than or equal to the new value of RecoveryPoint" (RFC 6675,
    /// section 5.1). Without SACK the acknowledgement must cover more than `recover` (RFC 6582, section 3.2), for at
    /// `recover` itself duplicate acknowledgements may still come from segments that were sent twice.
    fn waits_for_recovery_point(&self) -> bool {
        self.recover.is_some_and(|recover| match self.recovery {
            Recovery::Sack | Recovery::Rack => self.una < recover,
            _ => self.one_recovery_per_window && self.una <= recover,
        })
    }

    fn on_duplicate_ack(&mut self, context: &mut Context<'_>, news: &mut News, option: Option<PeerOption>) {
        // With SACK only acknowledgements that tell something count (RFC 6675, section 2).
        if self.recovery.uses_sack() && news.bytes == 0 {
            return;
        }
        self.duplicates += 1;
        if self.rack.is_some() {
            self.detect_losses_by_time(context.now);
        }
        let rate = self.rate_sample();
        self.control.on_duplicate_ack(&DuplicateAck {
            now: context.now,
            count: self.duplicates,
            rtt: news.newest_sent_once.map(|sent| context.now.since(sent)),
            in_flight: Bytes(self.scoreboard.pipe_bytes()),
            marked: Bytes(std::mem::take(&mut news.marked)),
            rate,
            option,
        });
        if self.rack.is_some() {
            return self.recover_what_rack_found(context);
        }
        if let State::FastRecovery(repair) = &mut self.state {
            if self.recovery == Recovery::Sack {
                self.scoreboard.mark_lost_below_edge();
                self.reduce_proportionally();
            } else if repair.inflations_left > 0 {
                // Each stands for one segment that has arrived beyond the gap. A receiver that makes up more gains nothing
                // by it: "A TCP MAY therefore limit the number of times cwnd is artificially inflated during loss recovery
                // to the number of outstanding segments" (RFC 5681, section 3.2).
                repair.inflations_left -= 1;
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
            // "The TCP sender's congestion window should be reduced only once in response to a series of dropped and/or
            // CE packets from a single window of data" (RFC 3168, section 6.1.2).
            if self.ecn != Ecn::Classic || self.echoed.is_none_or(|echoed| self.una >= echoed) {
                self.control.on_loss(&LossDetected { now: context.now, flight_size: Bytes(flight) });
                self.announce_reduction();
            }
            self.recover = Some(self.next);
            self.state = State::FastRecovery(Repair {
                recover: self.next,
                inflation: i64::from(DUPLICATE_THRESHOLD) * self.mss as i64,
                inflations_left: (self.scoreboard.len() as u32).saturating_sub(DUPLICATE_THRESHOLD),
                round_began: context.now,
                timer_restarted: false,
            });
            if self.rack.is_none() {
                self.scoreboard.mark_first_lost();
            }
            if self.prr_in_recovery {
                let ssthresh = self.control.decision().window.get();
                let pipe = self.scoreboard.pipe_bytes();
                self.prr = Some(Box::new((Prr::new(ssthresh, self.mss, self.before, self.next, pipe), 0)));
                self.reduce_proportionally();
            }
        }
        self.retransmit_first(context);
        self.restart_retransmission_timer(context);
    }

    /// What the receiver has reported to hold it has not kept: if it had the first segment outstanding, it would have
    /// acknowledged it. "After a retransmit timeout the data sender SHOULD turn off all of the SACKed bits, since the timeout
    /// might indicate that the data receiver has reneged" (RFC 2018, section 5); with this test of it others can stay
    /// (RFC 6675, section 5.1).
    #[cold]
    fn forget_sacks(&mut self) {
        let forgotten = self.scoreboard.forget_sacks();
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_reneging(&mut self.scoreboard, &forgotten);
        }
    }

    /// One segment again, and everything outstanding taken for lost.
    fn start_again(&mut self, now: Time, repeated: bool, cause: RestartCause) {
        let flight_size =
            Bytes(self.scoreboard.outstanding_bytes().saturating_sub(self.limited_transmit_bytes));
        self.control.on_timeout(&Timeout { now, flight_size, repeated, cause });
        self.announce_reduction();
        let conditions = self.rack_conditions();
        match &mut self.rack {
            Some(rack) => {
                rack.rack.on_timeout(&mut self.scoreboard, now, conditions);
                rack.probe = None;
            }
            None => self.scoreboard.mark_all_lost(),
        }
        self.state = State::Open;
        self.prr = None;
        self.recover = Some(self.next);
        self.limited_transmit_bytes = 0;
        if cause == RestartCause::TimerExpired {
            self.duplicates = 0;
        }
    }

    #[inline(always)]
    fn restart_retransmission_timer(&mut self, context: &mut Context<'_>) {
        let deadline = context.now + self.rtt.timeout();
        self.retransmission_timer.set(context.events, deadline, Target::Retransmission(self.flow));
    }

    fn note_completion(&mut self, now: Time) {
        if self.scoreboard.is_empty()
            && self.completed.is_none()
            && self.una > 0
            && self.application.is_finished(now)
            && self.next >= self.application.produced(now, self.next)
        {
            self.completed = Some(now);
        }
    }

    // --- proportional rate reduction ----------------------------------------------------------------------------

    fn progress(&self) -> Progress {
        Progress {
            delivered: self.una + self.scoreboard.sacked_bytes(),
            una: self.una,
            lost: self.scoreboard.lost_total(),
        }
    }

    /// What has been delivered since the last call lets the window come down. For every acknowledgement in a recovery,
    /// after losses are marked.
    #[inline]
    fn reduce_proportionally(&mut self) {
        let State::FastRecovery(repair) = self.state else { return };
        let now = self.progress();
        if let Some((prr, sent_again)) = self.prr.as_deref_mut() {
            prr.on_ack(now, self.scoreboard.pipe_bytes(), self.next - repair.recover + *sent_again);
        }
    }

    // --- RACK and TLP -------------------------------------------------------------------------------------------

    fn rack_conditions(&self) -> Conditions {
        let repairing = matches!(self.state, State::FastRecovery(_));
        Conditions {
            in_recovery: repairing || self.waits_for_recovery_point(),
            minimum_rtt: self.rtt.minimum().unwrap_or_default(),
            smoothed_rtt: self.rtt.smoothed().unwrap_or_default(),
        }
    }

    #[inline]
    fn detect_losses_by_time(&mut self, now: Time) {
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut()
            && rack.nothing_overtaken()
        {
            return self.reduce_proportionally();
        }
        self.detect_what_was_overtaken(now);
    }

    #[inline(never)]
    fn detect_what_was_overtaken(&mut self, now: Time) {
        let conditions = self.rack_conditions();
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.detect(&mut self.scoreboard, now, conditions);
        }
        self.reduce_proportionally();
    }

    /// A loss that was found begins a recovery, unless one is under way.
    fn recover_what_rack_found(&mut self, context: &mut Context<'_>) {
        if self.state == State::Open
            && self.scoreboard.unrepaired_bytes() > 0
            && !self.waits_for_recovery_point()
        {
            self.fast_retransmit(context);
        }
    }

    /// The segment to send again next.
    #[inline]
    fn next_repair(&mut self) -> Option<usize> {
        if self.scoreboard.unrepaired_bytes() == 0 {
            return None;
        }
        match self.rack.as_deref_mut() {
            Some(RackTlp { rack, .. }) => rack.next_repair(&self.scoreboard),
            None => self.scoreboard.next_repair(),
        }
    }

    /// Sets the timer of RACK and TLP, once everything that can be sent after this has been.
    fn set_rack_timer(&mut self, context: &mut Context<'_>, after: Opportunity) {
        let in_recovery = matches!(self.state, State::FastRecovery(_)) || self.waits_for_recovery_point();
        let Some(rack) = self.rack.as_deref_mut() else { return };
        if let Some(deadline) = rack.rack.deadline() {
            rack.purpose = Purpose::Reordering;
            return rack.timer.set(context.events, deadline, Target::Rack(self.flow));
        }
        // Section 7.2: not in recovery, not with SACKed segments, and no second probe while one is unaccounted for.
        let possible = self.state == State::Open
            && !in_recovery
            && !self.scoreboard.is_empty()
            && self.scoreboard.sacked_bytes() == 0
            && self.scoreboard.unrepaired_bytes() == 0
            && rack.probe.is_none();
        if !possible {
            return rack.timer.cancel();
        }
        // "The sender SHOULD start or restart a loss probe PTO timer after transmitting new data (that was not itself a
        // loss probe) or upon receiving an ACK that cumulatively acknowledges new data".
        let sent = std::mem::replace(&mut rack.sent_before, self.next) != self.next;
        let waits = rack.timer.is_set() && rack.purpose == Purpose::Probe;
        if waits && !sent && after != Opportunity::NewAck {
            return;
        }
        let mut timeout = match self.rtt.smoothed() {
            Some(smoothed) => smoothed.times(2),
            None => Duration::from_milliseconds(1000),
        };
        if self.rtt.smoothed().is_some() && self.scoreboard.len() == 1 {
            timeout += rack.maximum_ack_delay;
        }
        let deadline = (context.now + timeout).min(self.retransmission_timer.deadline());
        rack.purpose = Purpose::Probe;
        rack.timer.set(context.events, deadline, Target::Rack(self.flow));
    }

    /// The probe timer stands at this time, too: it goes before the retransmission timer.
    fn probe_is_due(&mut self, now: Time) -> bool {
        let Some(rack) = self.rack.as_deref_mut() else { return false };
        let due = rack.purpose == Purpose::Probe && rack.timer.deadline() == now;
        if due {
            rack.timer.cancel();
        }
        due
    }

    /// "TLP_send_probe": a new segment if there is one, or else the last one again, whatever the window; then the
    /// retransmission timer is set anew.
    fn send_probe(&mut self, context: &mut Context<'_>) {
        if self.scoreboard.is_empty() {
            return;
        }
        let produced = self.application.produced(context.now, self.next);
        let limit = produced.min(self.una.saturating_add(self.receive_window));
        let again = self.next >= limit;
        if again {
            let index = self.scoreboard.len() - 1;
            let segment = self.scoreboard.probe(index, context.now);
            self.put_again_on_wire(context, index, segment, None);
        } else {
            self.send_new::<false>(context, self.mss.min(limit - self.next), ProbePart::Single, None);
        }
        if let Some(rack) = self.rack.as_deref_mut() {
            rack.probe = Some((self.next, again));
            self.plain = 0;
        }
        self.restart_retransmission_timer(context);
    }

    /// Section 7.4: has the probe repaired a loss? Without D-SACK, a duplicate acknowledgement without SACK blocks tells
    /// that it has not, because its segment arrived twice.
    fn account_for_probe(&mut self, now: Time, packet: &Packet, has_blocks: bool) {
        let Some(rack) = self.rack.as_deref_mut() else { return };
        let Some((end, again)) = rack.probe else { return };
        let acknowledgement = packet.sequence;
        if acknowledgement < end {
            return;
        }
        let duplicate = acknowledgement == self.una && !has_blocks;
        if !again || duplicate {
            rack.probe = None;
        } else if acknowledgement > end {
            // "Repaired the single loss": the congestion control is told, though there is nothing left to recover.
            rack.probe = None;
            let flight = Bytes(self.scoreboard.outstanding_bytes());
            self.control.on_loss(&LossDetected { now, flight_size: flight });
            self.control.on_recovery_ended(&RecoveryEnded { now });
            self.announce_reduction();
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
        if let Some((prr, _)) = self.prr.as_deref()
            && pipe > 0
        {
            // What the window has beyond that of the reduction counts as in flight.
            return (pipe + self.control.decision().window.get()).saturating_sub(prr.window());
        }
        match self.state {
            // With SACK the scoreboard knows.
            State::FastRecovery(repair) if !self.recovery.uses_sack() => {
                pipe.saturating_add_signed(-repair.inflation)
            }
            // RFC 3042: one new segment on each of the first two duplicate acknowledgements.
            State::Open if self.duplicates > 0 && self.duplicates < DUPLICATE_THRESHOLD => {
                match self.recovery {
                    Recovery::Sack | Recovery::Rack if self.limited_transmit => pipe,
                    Recovery::Sack | Recovery::Rack => pipe + self.scoreboard.sacked_bytes(),
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
    #[inline(never)]
    fn transmit(&mut self, context: &mut Context<'_>, opportunity: Opportunity) {
        if self.sends_plainly() && self.scoreboard.unrepaired_bytes() == 0 {
            self.transmit_as::<true>(context, opportunity)
        } else {
            self.transmit_as::<false>(context, opportunity)
        }
    }

    /// The window alone decides what leaves; also where something waits to be sent again.
    #[inline(always)]
    fn sends_plainly(&self) -> bool {
        self.window_alone && self.duplicates == 0 && self.state == State::Open && !self.wants_more()
    }

    /// A user-defined algorithm wants more than a window now, or a window that is to be watched.
    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.custom && self.custom_wants_more()
    }

    #[inline(never)]
    fn custom_wants_more(&self) -> bool {
        let most = (self.most_segments as u64).saturating_mul(self.mss);
        !self.control.sets_window_alone() || self.control.window().get() > most
    }

    /// Compiled for itself is the usual case, `PLAIN`: see [`Sender::sends_plainly`]; nothing waits to be sent again.
    #[inline(always)]
    fn transmit_as<const PLAIN: bool>(&mut self, context: &mut Context<'_>, opportunity: Opportunity) {
        if !PLAIN && !matches!(self.state, State::Open | State::FastRecovery(_)) {
            return;
        }
        // Probes belong to the beginning of a flight, not to what was held back from it.
        let mut may_probe = matches!(opportunity, Opportunity::NewAck | Opportunity::Application);
        let produced = self.application.produced(context.now, self.next);
        let limit = produced.min(self.una.saturating_add(self.receive_window));
        // Nothing that is sent changes the one, and the other by its size.
        let plain_window = if PLAIN { self.control.window() } else { Bytes::ZERO };
        let mut plain_pipe = if PLAIN { self.scoreboard.pipe_bytes() } else { 0 };
        loop {
            let decision = if PLAIN {
                Decision { window: plain_window, pacing: None, probe: None, allowance: Bytes::MAX }
            } else {
                self.control.decision()
            };
            let pacing =
                if PLAIN { None } else { decision.pacing.or_else(|| self.transport_pacing(&decision)) };
            let window = decision.window.get();
            let pipe = if PLAIN { plain_pipe } else { self.pipe() };
            if !PLAIN && let Some(index) = self.next_repair() {
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
                if self.receive_window < self.mss {
                    self.await_window(context, produced);
                }
                if !PLAIN {
                    if self.rate.is_some() {
                        self.note_app_limited(produced, pipe, window);
                    }
                    self.send_suspect(context, window, pacing);
                }
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
            if size > decision.allowance.get() && pipe > 0 {
                // Held back: the next acknowledgement asks again.
                self.limited_by_window = true;
                return;
            }
            let room_for_pair = pipe + 2 * self.mss <= window && limit - self.next >= 2 * self.mss;
            if may_probe && decision.probe == Some(Probe::Pair) && room_for_pair {
                may_probe = false;
                self.send_new::<PLAIN>(context, self.mss, ProbePart::PairFirst, pacing);
                self.send_new::<PLAIN>(context, self.mss, ProbePart::PairSecond, pacing);
                continue;
            }
            if !PLAIN && self.scoreboard.len() >= self.most_segments {
                return self.run_away(context.now);
            }
            if !PLAIN && !self.may_leave(context, pacing, size) {
                return;
            }
            // Limited Transmit is what the window alone would not have let go.
            if !PLAIN
                && self.duplicates > 0
                && self.state == State::Open
                && self.scoreboard.pipe_bytes() + self.scoreboard.sacked_bytes() + size > window
            {
                self.limited_transmit_bytes += size;
            }
            self.send_new::<PLAIN>(context, size, ProbePart::Single, pacing);
            plain_pipe += if PLAIN { size } else { 0 };
        }
    }

    /// A user-defined algorithm has more in flight than it may: it fails, and its window is one segment.
    #[cold]
    fn run_away(&mut self, now: Time) {
        self.control.fail(
            now,
            Arc::new(Runaway {
                segments: self.scoreboard.len(),
                bytes: Bytes(self.scoreboard.outstanding_bytes()),
                cwnd: self.control.snapshot().cwnd_segments,
                by_memory: self.limited_by_memory,
            }),
        );
    }

    /// True if a segment with this payload may leave now; if not, sets the timer for when it may.
    #[inline]
    fn may_leave(&mut self, context: &mut Context<'_>, pacing: Option<Pacing>, payload: u64) -> bool {
        let Some(pacer) = &self.pacer else { return true };
        let earliest = pacer.earliest(pacing, Bytes(payload + u64::from(self.overhead)));
        if earliest <= context.now {
            return true;
        }
        self.limited_by_window = true;
        self.release_timer.set(context.events, earliest, Target::Release(self.flow));
        false
    }

    #[inline(always)]
    fn send_new<const PLAIN: bool>(
        &mut self,
        context: &mut Context<'_>,
        size: u64,
        part: ProbePart,
        pacing: Option<Pacing>,
    ) {
        let option = if PLAIN { None } else { self.control.option_for(part) };
        let sequence = self.put_outstanding::<PLAIN>(context, size);
        let flags = self.data_flags;
        self.data_flags = flags.without(Flags::CWR);
        self.put_on_wire::<PLAIN>(context, sequence, size as u32, option, flags, pacing);
    }

    /// New data of this size is outstanding from now on. Returns its first byte.
    #[inline(always)]
    fn put_outstanding<const PLAIN: bool>(&mut self, context: &mut Context<'_>, size: u64) -> u64 {
        let sequence = self.next;
        self.next += size;
        self.scoreboard.push(sequence, size as u16, context.now);
        if PLAIN {
            if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
                rack.on_sent(self.scoreboard.len() - 1);
            }
        } else if self.notes_sending() {
            self.note_sending(self.scoreboard.len() - 1, context.now);
        }
        if self.samples == RttSamples::OneAtATime && self.timed.is_none() {
            self.timed = Some((self.next, context.now));
        }
        if !self.retransmission_timer.is_set() {
            self.restart_retransmission_timer(context);
        }
        sequence
    }

    fn send_again(&mut self, context: &mut Context<'_>, index: usize, pacing: Option<Pacing>) {
        let segment = self.scoreboard.retransmit(index, context.now);
        self.put_again_on_wire(context, index, segment, pacing);
    }

    fn put_again_on_wire(
        &mut self,
        context: &mut Context<'_>,
        index: usize,
        segment: Segment,
        pacing: Option<Pacing>,
    ) {
        if self.notes_sending() {
            self.note_sending(index, context.now);
        }
        // Karn: a segment sent twice is not timed.
        if self.timed.is_some_and(|(end, _)| segment.sequence < end && end <= segment.end()) {
            self.timed = None;
        }
        self.totals.retransmitted += 1;
        if let Some((_, sent_again)) = self.prr.as_deref_mut() {
            *sent_again += u64::from(segment.length);
        }
        if !self.retransmission_timer.is_set() {
            self.restart_retransmission_timer(context);
        }
        self.put_on_wire::<false>(
            context,
            segment.sequence,
            u32::from(segment.length),
            None,
            Flags::RETRANSMISSION,
            pacing,
        );
    }

    /// Sends the first outstanding segment again, whatever window and pacing say.
    fn retransmit_first(&mut self, context: &mut Context<'_>) {
        if let Some(index) = self.next_repair() {
            self.send_again(context, index, None);
        }
    }

    /// There is no new data to send: rule 3 of RFC 6675's NextSeg sends what may be lost.
    fn send_suspect(&mut self, context: &mut Context<'_>, window: u64, pacing: Option<Pacing>) {
        if self.recovery != Recovery::Sack || !matches!(self.state, State::FastRecovery(_)) {
            return;
        }
        while self.pipe() + self.mss <= window {
            let Some(index) = self.scoreboard.next_suspect() else { return };
            if !self.may_leave(context, pacing, self.mss) {
                return;
            }
            self.send_again(context, index, pacing);
        }
    }

    /// The window is closed and nothing is outstanding whose acknowledgement could open it: the timer probes it.
    #[cold]
    fn await_window(&mut self, context: &mut Context<'_>, produced: u64) {
        if self.scoreboard.is_empty() && self.next < produced && !self.retransmission_timer.is_set() {
            let deadline = context.now + self.rtt.probe_timeout(self.window_probes);
            self.retransmission_timer.set(context.events, deadline, Target::Retransmission(self.flow));
        }
    }

    /// "The sending TCP peer must regularly transmit at least one octet of new data [...] even if the send window is zero, in
    /// order to 'probe' the window" (RFC 9293, section 3.8.6.1).
    #[cold]
    fn probe_window(&mut self, context: &mut Context<'_>) {
        if self.application.produced(context.now, self.next) > self.next {
            self.window_probes = self.window_probes.saturating_add(1);
            self.send_new::<false>(context, 1, ProbePart::Single, None);
        }
    }

    /// For the delivery rate and RACK: outstanding segment `index` is sent now.
    #[inline(never)]
    fn note_sending(&mut self, index: usize, now: Time) {
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_sent(index);
        }
        let (in_flight, lost) = (self.scoreboard.pipe_bytes(), self.scoreboard.lost_total());
        if let Some(rate) = &mut self.rate {
            rate.on_sent(index, &self.scoreboard[index], now, in_flight, lost);
        }
    }

    /// For the delivery rate: everything that may be sent has been, and every loss is repaired.
    #[cold]
    fn note_app_limited(&mut self, produced: u64, pipe: u64, window: u64) {
        if let Some(rate) = &mut self.rate
            && self.next >= produced
            && pipe < window
        {
            rate.mark_app_limited(self.scoreboard.pipe_bytes());
        }
    }

    #[inline(always)]
    fn put_on_wire<const PLAIN: bool>(
        &mut self,
        context: &mut Context<'_>,
        sequence: u64,
        payload: u32,
        option: Option<PeerOption>,
        flags: Flags,
        pacing: Option<Pacing>,
    ) {
        let mut size = payload + self.overhead;
        let mut extra = NO_EXTRA;
        if let Some(option) = option {
            size += option.wire_length();
            extra = context.network.extras.put(Extra { option: Some(option), ..Extra::default() });
        }
        self.totals.sent += 1;
        let mut packet = Packet {
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
            flags,
            extra,
            number: 0,
        };
        if PLAIN {
            return context.network.send_inline(context.events, context.now, &mut packet);
        }
        context.network.send(context.events, context.now, packet);
        if pacing.is_some() && self.pacer.is_none() {
            self.pacer = Some(Box::new(Pacer::new(None)));
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(context.now, Bytes(size.into()), pacing);
        }
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
        let (mut size, mut extra) = (self.control_size, NO_EXTRA);
        if let Some(option) = self.control.option_for_syn() {
            size += option.wire_length();
            extra = context.network.extras.put(Extra { option: Some(option), ..Extra::default() });
        }
        let packet = Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: 0,
            sent: context.now,
            echo: Time::NEVER,
            flow: self.flow,
            hop: self.route,
            payload: 0,
            size: size as u16,
            kind: PacketKind::Syn,
            flags: if self.totals.timeouts > 0 { Flags::RETRANSMISSION } else { Flags::NONE },
            extra,
            number: 0,
        };
        context.network.send(context.events, context.now, packet);
        self.restart_retransmission_timer(context);
    }

    // --- series -------------------------------------------------------------------------------------------------

    /// Takes the samples whose time has passed; the state has not changed since then.
    #[inline]
    fn sample_before(&mut self, context: &mut Context<'_>) {
        if self.next_sample < context.now {
            self.take_samples(context.now, &mut context.network.samples.flows);
        }
    }

    /// Payload known to have arrived: acknowledged, SACKed, or, without SACK, told of by duplicate ACKs, each of which
    /// stands for one segment.
    fn delivered(&self) -> u64 {
        let beyond = match &self.state {
            _ if self.recovery.uses_sack() => self.scoreboard.sacked_bytes(),
            State::FastRecovery(repair) => repair.inflation.max(0) as u64,
            _ => u64::from(self.duplicates) * self.mss,
        };
        self.next.min(self.una + beyond)
    }

    #[cold]
    fn take_samples(&mut self, now: Time, samples: &mut Rows<FlowSample>) {
        let decision = self.control.decision();
        let snapshot = self.control.snapshot();
        let pacing = decision.pacing.or_else(|| self.transport_pacing(&decision));
        let mss = self.mss as f64;
        self.delivered_seen = self.delivered_seen.max(self.delivered());
        let sample = FlowSample {
            cwnd_bytes: snapshot.cwnd_segments * mss,
            ssthresh_bytes: snapshot.ssthresh_segments * mss,
            in_flight_bytes: self.scoreboard.pipe_bytes(),
            pacing_bps: pacing
                .map_or(f64::NAN, |pacing| pacing.size.get() as f64 * 8.0 / pacing.interval.seconds()),
            srtt_s: self.rtt.smoothed().map_or(f64::NAN, Duration::seconds),
            sent_bytes: self.next,
            acknowledged_bytes: self.una,
            delivered_bytes: self.delivered_seen,
            phase: snapshot.phase,
            available_bps: snapshot.path.available_bps.unwrap_or(f64::NAN),
            capacity_bps: snapshot.path.capacity_bps.unwrap_or(f64::NAN),
        };
        while self.next_sample < now {
            samples.put(self.next_sample, self.flow as usize, sample);
            self.next_sample += self.sample_interval;
        }
    }
}

/// The timestamp that an acknowledgement echoes.
fn echo_of(packet: &Packet) -> Option<Time> {
    (packet.echo != Time::NEVER).then_some(packet.echo)
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
    /// The reordering timer of RACK.
    Reordering,
}

mod batch;
#[cfg(test)]
mod packetdrill;
#[cfg(test)]
mod tests;

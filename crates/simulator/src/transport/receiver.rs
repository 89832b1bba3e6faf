//! A TCP receiver: reassembly and ACK policy.

use super::measured::{self, Delays, Observer};
use super::misbehaviour::Misbehaviour;
use super::quick_acks::{self, QuickAcks};
use super::reassembly::{Arrival, Reassembly};
use super::receive_window::AdvertisedWindow;
use super::{Context, MAXIMUM_OPTIONS, TIMESTAMPS_OPTION};
use crate::engine::{Target, Timer};
use crate::network::FlowRoutes;
use crate::packet::{Extra, Flags, MAXIMUM_SACK_BLOCKS, NO_EXTRA, Packet, PacketKind};
use crate::plan::{AckClock, DelayedAck, Ecn, ReceiveWindow, TcpPlan};
use selfclock_congestion::PeerOption;
use selfclock_congestion::receiver::{AckRequest, INITIAL_TTL, Partner};
use selfclock_congestion::units::{Duration, Time};

/// Period of the clock of timestamps: "between 1 ms and 1 sec" (RFC 7323, section 5.4), in Linux
/// `TCP_TS_HZ` of 1000.
const TIMESTAMP_CLOCK: Duration = Duration::from_milliseconds(1);

/// A TCP receiver. Fields used by every segment come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    flow: u32,
    route: u32,
    ack_size: u32,
    /// In-order segments not yet acknowledged.
    unacknowledged: u32,
    /// Marked payload that arrived, bytes (accurate).
    marked: u32,
    sack: bool,
    timestamps: bool,
    ecn: Ecn,
    /// Bits of ACKs: ECE from a mark until the sender reports that it has reduced its window
    /// (classic), ECT (accurate).
    flags: Flags,
    /// Wire bytes that arrived, retransmissions included.
    arrived_bytes: u64,
    timer: Timer,
    /// Last acknowledgement number; with `recent_timestamp` it implements RFC 7323's echo rule.
    last_acknowledgement: u64,
    recent_timestamp: Time,
    /// Last arrival of the next byte in order.
    last_in_order: Time,
    delayed_ack: DelayedAck,
    quick: QuickAcks,
    window: AdvertisedWindow,
    misbehaviour: Option<Box<Misbehaviour>>,
    reassembly: Reassembly,
    partner: Partner,
    /// Remaining time to live of the packets.
    ttl: u8,
    /// Whether its ACKs tell when the segment they answer arrived, and when that was.
    tells_arrival: bool,
    last_stamp: Time,
    /// Whether the last segment was marked (accurate).
    last_was_marked: bool,
    /// Whether a segment of an ECN-capable transport has arrived (classic).
    seen_ect: bool,
    /// ECT of the SYN-ACK.
    syn_ack_flags: Flags,
    /// The window grows, and beside accurate ECN feedback there is room for it only out of line.
    shows_window_out_of_line: bool,
    /// If the run is not measured from its beginning, or with delays.
    observer: Option<Box<Observer>>,
}

impl Receiver {
    /// The receiver of this flow.
    pub fn new(flow: u32, routes: FlowRoutes, plan: &TcpPlan) -> Self {
        let transport = &plan.transport;
        let misbehaviour =
            transport.misbehaviour.map(|plan| Box::new(Misbehaviour::new(plan, transport.mss.get())));
        let conceals_gaps = misbehaviour.as_ref().is_some_and(|misbehaviour| misbehaviour.conceals_gaps());
        let grows = transport.receive_window == ReceiveWindow::Auto;
        let accurate = transport.ecn == Ecn::Accurate;
        let ect = transport.ecn.codepoint_of_all(plan.control.marks());
        let shown = if grows && !accurate { Flags::WINDOW } else { Flags::NONE };
        Self {
            flow,
            route: routes.reverse,
            ack_size: transport.ack.get() as u32,
            sack: transport.recovery.uses_sack() && !conceals_gaps,
            timestamps: transport.timestamps,
            delayed_ack: transport.delayed_ack,
            ttl: INITIAL_TTL.saturating_sub(routes.routers),
            partner: if transport.peer_knows_option { plan.control.partner() } else { Partner::NONE },
            misbehaviour,
            reassembly: Reassembly::new(transport.reports_duplicates() && !conceals_gaps),
            unacknowledged: 0,
            timer: Timer::default(),
            last_acknowledgement: 0,
            recent_timestamp: Time::NEVER,
            arrived_bytes: 0,
            ecn: transport.ecn,
            flags: ect.with(shown),
            marked: 0,
            last_was_marked: false,
            seen_ect: false,
            last_in_order: Time::ZERO,
            tells_arrival: transport.peer_knows_option && plan.control.wants_stamps(),
            last_stamp: Time::ZERO,
            quick: QuickAcks::new(transport.delayed_ack.timer),
            window: AdvertisedWindow::new(transport),
            syn_ack_flags: shown.with(transport.ecn.codepoint_of_handshake(plan.control.marks())),
            shows_window_out_of_line: grows && accurate,
            observer: None,
        }
    }

    /// The same, measured from this time of the run on, with one-way delays or without.
    pub fn observed(self, from: Time, delays: bool) -> Self {
        Self { observer: Observer::new(from, delays), ..self }
    }

    /// One-way delays of its segments, if measured.
    pub fn delays(&self) -> Option<&Delays> {
        self.observer.as_ref()?.delays()
    }

    /// Bytes delivered in order to the application, and wire bytes that arrived, since the run is
    /// measured.
    pub fn measured(&self) -> (u64, u64) {
        measured::since(self.observer.as_deref(), (self.delivered_bytes(), self.arrived_bytes))
    }

    /// Bytes delivered in order to the application.
    pub fn delivered_bytes(&self) -> u64 {
        self.reassembly.next()
    }

    /// Segments delivered in order to the application.
    pub fn delivered_segments(&self) -> u64 {
        self.reassembly.delivered_segments()
    }

    /// Wire bytes that arrived, retransmissions included.
    pub fn arrived_bytes(&self) -> u64 {
        self.arrived_bytes
    }

    /// When bytes were last delivered in order.
    pub fn last_delivery(&self) -> Time {
        self.last_in_order
    }

    /// When all of this many bytes had been delivered.
    pub fn delivered_all_at(&self, bytes: u64) -> Option<Time> {
        (self.delivered_bytes() >= bytes).then_some(self.last_in_order)
    }

    /// Handles a packet. The context's time may be ahead of the simulation's clock, but not before
    /// that of the previous packet.
    #[inline]
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        // At equal times the timer comes first; ahead of the clock, also a timer that has expired
        // since.
        if self.timer.deadline() <= context.now {
            let Context { events, network, .. } = context;
            let now = self.timer.deadline();
            self.acknowledge(&mut Context { now, events, network }, None);
        }
        if packet.kind == PacketKind::Syn {
            return self.on_syn(context, packet);
        }
        if packet.extra == NO_EXTRA {
            self.on_data(context, packet, context.now, None);
        } else {
            self.on_data_with_extra(context, packet);
        }
    }

    #[cold]
    fn on_syn(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let option = context.network.extras.get(packet.extra).option;
        context.network.extras.release(packet.extra);
        // "TS.Recent" begins with the timestamp of the SYN (RFC 7323, section 3.2).
        self.recent_timestamp = packet.sent;
        let answer = self.partner.on_syn(context.now, option, self.ttl);
        let answer = match &self.misbehaviour {
            Some(misbehaviour) => answer.map(|option| misbehaviour.falsify(option)),
            None => answer,
        };
        self.quick.on_syn_ack(context.now);
        self.send(context, PacketKind::SynAck, packet.sent, answer);
    }

    #[cold]
    fn on_data_with_extra(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let extra = context.network.extras.get(packet.extra);
        context.network.extras.release(packet.extra);
        let stamp = if extra.card == Time::ZERO { context.now } else { extra.card };
        self.on_data(context, packet, stamp, extra.option);
    }

    /// Inlined twice, to specialize the usual case without an option. `stamp`: when the host's card
    /// says that it arrived.
    #[inline(always)]
    fn on_data(
        &mut self,
        context: &mut Context<'_>,
        packet: &Packet,
        stamp: Time,
        option: Option<PeerOption>,
    ) {
        self.last_stamp = stamp;
        if let Some(observer) = &mut self.observer {
            observer.note((packet.sent, context.now), self.reassembly.next(), self.arrived_bytes);
        }
        self.arrived_bytes += u64::from(packet.size);
        // "If SEG.TSval >= TS.Recent and SEG.SEQ <= Last.ACK.sent" (RFC 7323, section 4.3): the
        // echoed timestamp is that of the segment requested by the last ACK, so that a delayed ACK
        // echoes the earliest of its segments. A segment "outside the window" was rejected before
        // (section 5.3, R2 and R3; `tcp_sequence`): an old duplicate leaves no timestamp.
        let end = packet.sequence + u64::from(packet.payload);
        let is_asked_for = (packet.sequence..=end).contains(&self.last_acknowledgement);
        if packet.sent >= self.recent_timestamp {
            if is_asked_for {
                self.recent_timestamp = packet.sent;
            }
        } else if !self.admits_older(packet, is_asked_for) {
            return self.acknowledge(context, None);
        }
        let arrival = self.reassembly.insert(packet.sequence, end);
        let request = match option {
            None => AckRequest::default(),
            Some(_) => self.partner.on_data(stamp, option, self.ttl),
        };
        // RFC 5681 section 4.2: "Out-of-order data segments SHOULD be acknowledged immediately",
        // and likewise one that fills a gap.
        let opened = self.note_arrival(context.now, packet, arrival);
        // After that, as in Linux's `tcp_event_data_recv`: a mark on the first segment must not
        // hide that it is the first.
        let changed = self.ecn != Ecn::Off && self.note_mark(packet);
        let quick = self.delayed_ack.quick && self.is_quick(packet, arrival, end, opened);
        if request.immediately || changed || quick || arrival != Arrival::InOrder {
            return self.acknowledge(context, request.option);
        }
        self.unacknowledged += 1;
        // A ratio of 2 equals delayed ACKs, or was disabled on purpose.
        let every =
            self.partner.ack_every().filter(|&every| every > 2).unwrap_or(1).max(self.delayed_ack.every);
        if self.unacknowledged >= every {
            return self.acknowledge(context, request.option);
        }
        if !self.timer.is_set() || request.restart_timer {
            let deadline = match self.delayed_ack.clock {
                AckClock::Segment if self.delayed_ack.quick => context.now + self.quick.delay(),
                AckClock::Segment => context.now + self.delayed_ack.timer,
                AckClock::Grid => {
                    let period = self.delayed_ack.timer;
                    Time::ZERO + period.times(context.now.ticks(period) + 1)
                }
            };
            self.timer.set(context.events, deadline, Target::DelayedAck(self.flow));
        }
    }

    /// Whether a segment is taken that was sent before the one whose timestamp is echoed, or is the
    /// first of all. A segment held on its way is not, if a retransmission has overtaken it: "If
    /// SEG.TSval < TS.Recent [...] send an acknowledgment in reply [...] and drop the segment" (RFC
    /// 7323, section 5.3, R1). A duplicate is dropped anyway.
    #[cold]
    fn admits_older(&mut self, packet: &Packet, is_asked_for: bool) -> bool {
        let recent = self.recent_timestamp;
        if recent == Time::NEVER {
            if is_asked_for {
                self.recent_timestamp = packet.sent;
            }
            return true;
        }
        let value = |time: Time| time.ticks(TIMESTAMP_CLOCK);
        !self.timestamps || packet.sequence < self.reassembly.next() || value(packet.sent) >= value(recent)
    }

    /// Notes when data arrived, and what the window makes of it. True if the window has grown.
    #[inline(always)]
    fn note_arrival(&mut self, now: Time, packet: &Packet, arrival: Arrival) -> bool {
        match arrival {
            Arrival::InOrder | Arrival::FilledGap => {
                let gap = now.since(self.last_in_order);
                if self.delayed_ack.quick && !self.quick.is_used_to(gap) {
                    self.quick.on_data(now, gap, self.window.segments());
                }
                self.last_in_order = now;
                let reached = self.reassembly.reached();
                self.window.on_data(now, packet.echo, packet.payload, reached)
            }
            Arrival::OutOfOrder => {
                self.quick.begin(now);
                // Without SACK a changed window would hide a duplicate ACK (`tcp_data_queue_ofo`).
                self.sack && self.window.on_data_beyond(packet.payload, self.reassembly.reached())
            }
            Arrival::Duplicate => false,
        }
    }

    /// Whether the segment that ends before `end` is acknowledged at once, as in Linux.
    #[inline(always)]
    fn is_quick(&mut self, packet: &Packet, arrival: Arrival, end: u64, opened: bool) -> bool {
        if opened {
            self.quick.on_growth();
        }
        // "A retransmit, 2nd most common case. Force an immediate ack." (`tcp_data_queue`)
        if arrival == Arrival::Duplicate && end <= self.reassembly.next() {
            self.quick.enter(quick_acks::MOST, self.window.segments());
        }
        // An algorithm's receiver has a ratio of its own.
        if self.partner.ack_every().is_some() {
            return false;
        }
        let ends_write = packet.flags.has(Flags::PUSH) || u64::from(packet.payload) < self.window.mss();
        self.quick.is_quick() || ends_write
    }

    /// Handles a CE mark. True if an ACK is due at once.
    fn note_mark(&mut self, packet: &Packet) -> bool {
        let marked = packet.flags.has(Flags::CE);
        if self.ecn == Ecn::Classic {
            return self.note_classic_mark(packet, marked);
        }
        self.marked = self.marked.wrapping_add(if marked { packet.payload } else { 0 });
        // The first of several marks is reported at once, as RFC 9768 advises.
        marked && !std::mem::replace(&mut self.last_was_marked, marked)
    }

    /// The same for RFC 3168. As in Linux, a sender that has reduced its window, or whose
    /// retransmission this seems to be, may have little in flight, and hears at once
    /// (`tcp_ecn_accept_cwr`, `__tcp_ecn_check_ce`).
    fn note_classic_mark(&mut self, packet: &Packet, marked: bool) -> bool {
        let reduced = packet.flags.has(Flags::CWR);
        // On one segment the mark is newer than the reduction.
        if reduced {
            self.flags = self.flags.without(Flags::ECE);
        }
        let begins = marked && !self.flags.has(Flags::ECE);
        let repeated = !packet.flags.has(Flags::ECT) && self.seen_ect;
        self.seen_ect |= packet.flags.has(Flags::ECT);
        if marked {
            self.flags = self.flags.with(Flags::ECE);
        }
        if self.delayed_ack.quick && (begins || repeated) {
            self.quick.enter(quick_acks::AFTER_MARK, self.window.segments());
        }
        self.delayed_ack.quick && reduced
    }

    /// The ACK template for groups of `segments` segments with this payload, the first of which
    /// begins at `sequence`, if each is answered by one ACK and nothing else happens here; and the
    /// number of segments of a group left for the next ACK.
    pub fn batch_acknowledgement(&self, segments: u64, sequence: u64, payload: u64) -> Option<(Packet, u64)> {
        let left = u64::from(self.unacknowledged);
        let alike = segments == u64::from(self.delayed_ack.every.max(1))
            && self.reassembly.next() == sequence
            && self.last_acknowledgement + left * payload == sequence
            && !self.reassembly.has_gap()
            && self.ecn == Ecn::Off
            && self.misbehaviour.is_none()
            && self.observer.as_ref().is_none_or(|observer| !observer.is_attentive())
            && self.partner.is_none();
        let options = if self.timestamps { TIMESTAMPS_OPTION } else { 0 };
        alike.then(|| (self.packet(Time::ZERO, PacketKind::Ack, Time::NEVER, options, NO_EXTRA), left))
    }

    /// Number of such groups, the first of which arrives at these times and each other one a `gap`
    /// later, until the window or the quick ACKs may change.
    pub fn steady_groups(&self, times: &[Time], gap: Duration) -> u64 {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return 0 };
        let Self { quick, window, delayed_ack, last_in_order, .. } = self;
        let is_used = || quick.is_used_to(gap) && quick.is_used_to(first.since(*last_in_order));
        if delayed_ack.quick && (quick.is_quick() || !is_used()) {
            return 0;
        }
        window.steady_groups(last, gap)
    }

    /// Whether the timer leaves nothing in the event queue when such groups arrive at these times,
    /// each `gap` after the previous one.
    pub fn sets_timer_quietly(&self, times: &[Time], left: u64, gap: Duration) -> bool {
        let Self { timer, delayed_ack, .. } = self;
        if times.len() == 1 {
            return true;
        }
        let (answered, rest) = times.split_at(times.len() - left as usize);
        let set_at = rest.first().unwrap_or(&times[0]);
        let in_time = left == 0 || answered.last().is_some_and(|&last| last < timer.deadline());
        delayed_ack.clock == AckClock::Segment
            && in_time
            && gap < delayed_ack.timer
            && timer.is_quiet_at(*set_at + delayed_ack.timer)
    }

    /// `segments` segments of this wire size have arrived, the last one at `last`, ending before
    /// `end`, the last group sent at `sent`; everything before `acknowledged` is acknowledged.
    /// `timer_from`: arrival of the first segment left over, if the timer must be set.
    pub fn on_batch(
        &mut self,
        (segments, size): (u64, u32),
        (end, acknowledged): (u64, u64),
        (sent, last): (Time, Time),
        timer_from: Option<Time>,
    ) {
        self.last_in_order = last;
        self.arrived_bytes += segments * u64::from(size);
        self.reassembly.insert_batch(segments, end);
        self.last_acknowledgement = acknowledged;
        self.recent_timestamp = sent;
        if let Some(set_at) = timer_from {
            self.timer.set_quietly(set_at + self.delayed_ack.timer);
        }
    }

    /// "TS.Recent" (RFC 7323, section 4.3).
    pub fn recent_timestamp(&self) -> Time {
        self.recent_timestamp
    }

    /// Handles the delayed-ACK timer.
    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        if self.timer.due(context.events, context.now, Target::DelayedAck(self.flow))
            && self.unacknowledged > 0
        {
            self.acknowledge(context, None);
        }
    }

    #[inline(never)]
    fn acknowledge(&mut self, context: &mut Context<'_>, option: Option<PeerOption>) {
        self.unacknowledged = 0;
        self.quick.on_ack();
        self.timer.cancel();
        self.last_acknowledgement = self.reassembly.next();
        let option = option.or_else(|| self.partner.option_for_ack(context.now));
        if self.misbehaviour.is_some() {
            return self.misbehave(context, option);
        }
        let blocks = self.sack && self.reassembly.has_blocks();
        if option.is_some() || blocks || self.shows_window_out_of_line || self.tells_arrival {
            return self.send(context, PacketKind::Ack, self.recent_timestamp, option);
        }
        let options = if self.timestamps { TIMESTAMPS_OPTION } else { 0 };
        let mut packet = self.packet(context.now, PacketKind::Ack, self.recent_timestamp, options, NO_EXTRA);
        context.network.send_inline(context.events, context.now, &mut packet);
    }

    /// Acknowledges in ways forbidden to a receiver.
    #[cold]
    fn misbehave(&mut self, context: &mut Context<'_>, option: Option<PeerOption>) {
        let Some(mut misbehaviour) = self.misbehaviour.take() else { return };
        let option = option.map(|option| misbehaviour.falsify(option));
        for number in misbehaviour.numbers(self.reassembly.next(), self.reassembly.highest()) {
            self.last_acknowledgement = number;
            self.send(context, PacketKind::Ack, self.recent_timestamp, option);
        }
        if self.sack && self.reassembly.has_gap() && misbehaviour.reneges() {
            self.reassembly.discard();
        }
        self.misbehaviour = Some(misbehaviour);
    }

    /// Sends a packet that may carry SACK blocks and options.
    #[inline(never)]
    fn send(&mut self, context: &mut Context<'_>, kind: PacketKind, echo: Time, option: Option<PeerOption>) {
        let mut options = if self.timestamps { TIMESTAMPS_OPTION } else { 0 };
        let mut extra = NO_EXTRA;
        let blocks = self.sack && self.reassembly.has_blocks();
        if blocks || option.is_some() || self.shows_window_out_of_line || self.tells_arrival {
            options += option.map_or(0, PeerOption::wire_length);
            let receive_window = self.shows_window_out_of_line.then(|| self.window.get());
            let peer = if self.tells_arrival { self.last_stamp } else { Time::ZERO };
            let mut parts = Extra { option, receive_window, peer, ..Extra::default() };
            if blocks {
                // Kind, length and padding take 4 bytes, each block 8.
                let room = MAXIMUM_OPTIONS.saturating_sub(options + 4) as usize / 8;
                self.reassembly.sack_blocks(&mut parts, room.min(MAXIMUM_SACK_BLOCKS));
                if parts.sack_blocks > 0 {
                    options += 4 + 8 * u32::from(parts.sack_blocks);
                }
            }
            extra = context.network.extras.put(parts);
        }
        let packet = self.packet(context.now, kind, echo, options, extra);
        context.network.send(context.events, context.now, packet);
    }

    #[inline(always)]
    fn packet(&self, now: Time, kind: PacketKind, echo: Time, options: u32, extra: u32) -> Packet {
        let flags = if kind == PacketKind::Ack { self.flags } else { self.syn_ack_flags };
        Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: self.last_acknowledgement,
            sent: now,
            echo,
            flow: self.flow,
            hop: self.route,
            payload: if flags.has(Flags::WINDOW) { self.window.get() as u32 } else { self.marked },
            size: (self.ack_size + options) as u16,
            kind,
            flags,
            extra,
            number: 0,
        }
    }
}

//! A sender's output: pacer, leaky bucket, wire.
//!
//! The last of a sender's three stages. The outbox receives every segment sent, and determines when
//! the next may leave.

use super::pacer::Pacer;
use super::{Context, TIMESTAMPS_OPTION};
use crate::engine::{Target, Timer};
use crate::packet::{Extra, Flags, NO_EXTRA, Packet, PacketKind};
use crate::plan::{Ecn, ReceiveWindow, Transport};
use selfclock_congestion::entry::Marks;
use selfclock_congestion::{Bytes, Pacing, PeerOption, Time};

/// A segment as the outbox sees it.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// First payload byte.
    pub sequence: u64,
    /// Payload, bytes.
    pub payload: u32,
    /// The algorithm's option.
    pub option: Option<PeerOption>,
    /// Single bits.
    pub flags: Flags,
    /// Its pacing.
    pub pacing: Option<Pacing>,
}

/// The output of one sender.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Outbox {
    flow: u32,
    route: u32,
    /// Headers and constant options of a data segment on the wire, bytes.
    overhead: u32,
    /// Size of a SYN on the wire without the algorithm's option, bytes.
    syn_size: u32,
    /// Header fields of the next segment of new data.
    data_flags: Flags,
    classic_ecn: bool,
    /// Header fields of retransmissions, and of SYNs.
    other_flags: Flags,
    syn_flags: Flags,
    /// Whether data says which ACK it answers: an autotuned receiver measures round trips by it.
    echoes: bool,
    /// When the latest ACK left that has arrived: the echoed timestamp.
    echo: Time,
    /// The pacer's, see there.
    pacing_credit: bool,
    /// Present once something is paced or shaped.
    pacer: Option<Box<Pacer>>,
    release_timer: Timer,
}

impl Outbox {
    /// The output of this flow, onto the route that begins at `route`. `marks` is the algorithm's
    /// response to CE marks.
    pub fn new(flow: u32, route: u32, transport: &Transport, marks: Marks) -> Self {
        let timestamps = if transport.timestamps { TIMESTAMPS_OPTION } else { 0 };
        Self {
            flow,
            route,
            overhead: transport.header.get() as u32 + timestamps,
            syn_size: transport.ack.get() as u32 + timestamps,
            data_flags: transport.ecn.codepoint(marks),
            other_flags: transport.ecn.codepoint_of_all(marks),
            syn_flags: transport.ecn.codepoint_of_handshake(marks),
            echo: Time::NEVER,
            echoes: transport.receive_window == ReceiveWindow::Auto,
            classic_ecn: transport.ecn == Ecn::Classic,
            pacing_credit: transport.pacing_credit,
            pacer: transport.shaper.map(|shaper| Box::new(Pacer::new(Some(shaper), transport.pacing_credit))),
            release_timer: Timer::default(),
        }
    }

    /// The flow of its packets and timers.
    #[inline(always)]
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// Headers and constant options of a data segment on the wire, bytes.
    #[inline(always)]
    pub fn overhead(&self) -> u32 {
        self.overhead
    }

    /// "When an ECN-Capable TCP sender reduces its congestion window for any reason (because of a
    /// retransmit timeout, a Fast Retransmit, or in response to an ECN Notification), the TCP
    /// sender sets the CWR flag in the TCP header of the first new data packet sent after the
    /// window reduction" (RFC 3168, section 6.1.2).
    pub fn announce_reduction(&mut self) {
        if self.classic_ecn {
            self.data_flags = self.data_flags.with(Flags::CWR);
        }
    }

    /// Takes the flags of the next segment of new data.
    #[inline(always)]
    pub fn take_data_flags(&mut self) -> Flags {
        let flags = self.data_flags;
        self.data_flags = flags.without(Flags::CWR);
        flags
    }

    /// Header fields of a retransmission.
    pub fn retransmission_flags(&self) -> Flags {
        self.other_flags.with(Flags::RETRANSMISSION)
    }

    /// An ACK that left at this time has arrived.
    #[inline(always)]
    pub fn note_ack(&mut self, sent: Time) {
        if self.echoes && (sent > self.echo || self.echo == Time::NEVER) {
            self.echo = sent;
        }
    }

    /// Whether a segment with this payload may leave now; if not, sets the release timer.
    #[inline]
    pub fn may_leave(&mut self, context: &mut Context<'_>, pacing: Option<Pacing>, payload: u64) -> bool {
        let earliest = self.earliest(pacing, payload);
        self.may_leave_from(context, earliest)
    }

    /// The same for two full segments back to back.
    pub fn may_leave_pair(
        &mut self,
        context: &mut Context<'_>,
        pacing: Option<Pacing>,
        payload: u64,
    ) -> bool {
        let earliest = self.earliest(pacing, 2 * payload + u64::from(self.overhead));
        self.may_leave_from(context, earliest)
    }

    /// Whether two full segments can leave back to back: a shaper must hold both.
    pub fn passes_pairs(&self, payload: u64) -> bool {
        let pair = Bytes(2 * (payload + u64::from(self.overhead)));
        self.pacer.as_ref().is_none_or(|pacer| pacer.holds(pair))
    }

    /// The earliest time at which a segment with this payload may leave.
    #[inline]
    pub fn earliest(&self, pacing: Option<Pacing>, payload: u64) -> Time {
        let size = Bytes(payload + u64::from(self.overhead));
        self.pacer.as_ref().map_or(Time::ZERO, |pacer| pacer.earliest(pacing, size))
    }

    #[inline]
    fn may_leave_from(&mut self, context: &mut Context<'_>, earliest: Time) -> bool {
        if earliest <= context.now {
            return true;
        }
        self.release_timer.set(context.events, earliest, Target::Release(self.flow));
        false
    }

    /// Handles the release timer. True if the next segment may leave.
    pub fn on_timer(&mut self, context: &mut Context<'_>) -> bool {
        self.release_timer.due(context.events, context.now, Target::Release(self.flow))
    }

    /// A segment leaves.
    pub fn send(&mut self, context: &mut Context<'_>, outgoing: &Outgoing) {
        let mut packet = self.segment(context.now, outgoing.sequence, outgoing.payload, outgoing.flags);
        attach(context, &mut packet, outgoing.option);
        let size = Bytes(packet.size.into());
        context.network.send(context.events, context.now, packet);
        if outgoing.pacing.is_some() && self.pacer.is_none() {
            self.pacer = Some(Box::new(Pacer::new(None, self.pacing_credit)));
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(context.now, size, outgoing.pacing);
        }
    }

    /// Sends a segment of new data without pacing or options.
    #[inline(always)]
    pub fn send_plainly(&mut self, context: &mut Context<'_>, sequence: u64, payload: u32, push: bool) {
        let flags = self.take_data_flags().with(if push { Flags::PUSH } else { Flags::NONE });
        let mut packet = self.segment(context.now, sequence, payload, flags);
        context.network.send_inline(context.events, context.now, &mut packet);
    }

    /// A SYN leaves.
    pub fn send_syn(&mut self, context: &mut Context<'_>, option: Option<PeerOption>, retransmission: bool) {
        let again = if retransmission { Flags::RETRANSMISSION } else { Flags::NONE };
        let flags = self.syn_flags.with(again);
        let mut packet = Packet {
            kind: PacketKind::Syn,
            size: self.syn_size as u16,
            ..self.segment(context.now, 0, 0, flags)
        };
        attach(context, &mut packet, option);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(context.now, Bytes(packet.size.into()), None);
        }
        context.network.send(context.events, context.now, packet);
    }

    #[inline(always)]
    fn segment(&self, now: Time, sequence: u64, payload: u32, flags: Flags) -> Packet {
        Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence,
            sent: now,
            echo: self.echo,
            flow: self.flow,
            hop: self.route,
            payload,
            size: (payload + self.overhead) as u16,
            kind: PacketKind::Data,
            flags,
            extra: NO_EXTRA,
            number: 0,
        }
    }
}

fn attach(context: &mut Context<'_>, packet: &mut Packet, option: Option<PeerOption>) {
    if let Some(option) = option {
        packet.size += option.wire_length() as u16;
        packet.extra = context.network.extras.put(Extra { option: Some(option), ..Extra::default() });
    }
}

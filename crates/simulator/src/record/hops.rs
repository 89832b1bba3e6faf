//! Packets on links: which packet was on which link when, and how it left, from the events of a
//! packet record.

use super::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord};
use crate::plan::{FlowPlan, LinkPlan, Plan, Protocol, QueueLimit};
use selfclock_congestion::names;
use selfclock_congestion::units::{Duration, Rate, Time};
use std::collections::BTreeMap;

names! {
    /// How a packet left a link.
    #[repr(u8)]
    pub enum Fate {
        /// Towards its next link.
        Forwarded = 0 => "forwarded",
        /// Dropped by the queue or by a router before the link.
        Dropped = 1 => "dropped",
        /// Lost on the wire.
        Lost = 2 => "lost",
        /// To its receiver.
        Delivered = 3 => "delivered",
        /// Not before the end of the record.
        Unfinished = 4 => "unfinished",
    }
}

/// A packet on a link. Times in seconds, each at least the one before; infinite: after the end of
/// the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Row of the packet in [`Hops::packets`].
    pub packet: u32,
    /// Index of the link.
    pub link: u32,
    /// Arrival at the queue; the start of the record if that is later.
    pub enter: f64,
    /// Start of transmission. Of a dropped packet this and all later times are that of the drop.
    pub start: f64,
    /// Departure of the last bit. Of a lost packet this and all later times are that of the loss.
    pub sent: f64,
    /// Arrival of the last bit at the other end.
    pub arrive: f64,
    /// Departure from there: routers and network cards hold packets.
    pub leave: f64,
    /// How it left.
    pub fate: Fate,
}

/// A packet that was on a link. Times in seconds, infinite if the record does not show them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traveller {
    /// Its number in the record.
    pub packet: u64,
    /// Index of its flow.
    pub flow: u32,
    /// Kind of packet.
    pub kind: PacketKind,
    /// Whether its data was sent before.
    pub retransmission: bool,
    /// Size on the wire, bytes.
    pub size: u32,
    /// Number of its segment, from 1, or of the segments that it acknowledges.
    pub number: u32,
    /// When it was first seen with a CE mark.
    pub marked: f64,
    /// When an endpoint sent it.
    pub sent: f64,
    /// When it reached the endpoint that it was sent to.
    pub delivered: f64,
}

/// The packets on the links of a network during a period.
#[derive(Clone, Debug)]
pub struct Hops {
    /// In the order of their arrival at the queue.
    pub hops: Vec<Hop>,
    /// In the order of their numbers.
    pub packets: Vec<Traveller>,
    /// End of the period, seconds.
    pub until: f64,
    /// Whether the record is longer: the period ends where the hops became too many.
    pub cut: bool,
}

/// Times of the record are exact to a picosecond; those computed here differ by less than this,
/// seconds.
const SAME_S: f64 = 2e-12;

/// Maximum recording time before a window, seconds.
const LONGEST_LEAD_S: f64 = 5.0;

/// Follows packets from event to event.
#[derive(Clone, Debug)]
pub struct Follower {
    links: Vec<Crossing>,
    ways: Vec<[Vec<u32>; 2]>,
    /// The largest payload of each flow, bytes.
    segments: Vec<u64>,
    /// First time of the record, and of the period of interest.
    begin: f64,
    from: f64,
    most: usize,
    known: BTreeMap<u64, Known>,
    /// Hops that have ended in the period, with the numbers of their packets.
    ended: Vec<(u64, Hop)>,
    on_the_way: usize,
    overflowed: Option<f64>,
}

/// A packet that was seen before.
#[derive(Clone, Debug)]
struct Known {
    about: Traveller,
    /// Its next byte, from which its number follows.
    byte: u64,
    hop: Option<Hop>,
}

impl Follower {
    /// For a record that begins at `begin`, seconds; hops that end before `from` are left out, and
    /// all after the first `most`.
    pub fn new(plan: &Plan, begin: f64, from: f64, most: usize) -> Self {
        let indices = |links: &[usize]| links.iter().map(|&link| link as u32).collect();
        Self {
            links: plan.links.iter().map(Crossing::of).collect(),
            ways: plan.flows.iter().map(|flow| [indices(&flow.forward), indices(&flow.reverse)]).collect(),
            segments: plan.flows.iter().map(payload).collect(),
            begin,
            from,
            most,
            known: BTreeMap::new(),
            ended: Vec::new(),
            on_the_way: 0,
            overflowed: None,
        }
    }

    /// For a window of a run of this plan, seconds. Enables the plan's packet record, so early that
    /// packets in flight at the beginning of the window are known.
    pub fn of_window(plan: &mut Plan, from: f64, until: f64, most: usize) -> Self {
        let begin = (from - lead(plan)).max(0.0);
        plan.record.packets = true;
        plan.record.packets_from = Time::ZERO + Duration::from_seconds(begin);
        plan.record.packets_until = Time::ZERO + Duration::from_seconds(until);
        Self::new(plan, begin, from, most)
    }

    /// Whether the limit is reached: later events add no hop.
    pub fn is_full(&self) -> bool {
        self.overflowed.is_some()
    }

    /// Adds an event; they come in the order of time.
    pub fn add(&mut self, record: &PacketRecord) {
        if self.is_full() {
            return;
        }
        let time = record.time.seconds();
        let mut packet = self.known.remove(&record.packet).unwrap_or_else(|| self.first_seen(record));
        let about = &mut packet.about;
        if record.ecn == Codepoint::Ce {
            about.marked = about.marked.min(time);
        }
        if let Some(segment) = self.segments.get_mut(record.flow as usize) {
            *segment = (*segment).max(u64::from(record.payload));
        }
        let hop = packet.hop.take();
        packet.hop = match record.event {
            PacketEvent::Send => {
                about.sent = time;
                hop
            }
            PacketEvent::Enqueue => {
                self.leave(&packet, hop, time, Fate::Forwarded);
                Some(self.enter(record.link, time))
            }
            PacketEvent::Drop => {
                // From the queue it waited in, or on arrival at the next.
                let (waiting, other) = match hop {
                    Some(hop) if hop.waits_at(record.link) => (hop, None),
                    other => (self.enter(record.link, time), other),
                };
                self.leave(&packet, other, time, Fate::Forwarded);
                let hop = Hop { start: time, sent: time, arrive: time, leave: time, ..waiting };
                self.keep(packet.about.packet, Hop { fate: Fate::Dropped, ..hop });
                None
            }
            PacketEvent::Mark => hop,
            PacketEvent::Transmit => {
                // Without a hop it was in the queue when the record began.
                let hop = hop.unwrap_or_else(|| self.enter(record.link, f64::NEG_INFINITY));
                let (length, delay) = self.links[hop.link as usize].times(record.size, time);
                Some(Hop { start: time, sent: time + length, arrive: time + length + delay, ..hop })
            }
            PacketEvent::Lose => {
                let hop = hop.unwrap_or_else(|| self.enter(record.link, f64::NEG_INFINITY));
                let (length, _) = self.links[hop.link as usize].times(record.size, time);
                let start = if hop.start.is_finite() { hop.start } else { time - length };
                let hop = Hop { start, sent: time, arrive: time, leave: time, fate: Fate::Lost, ..hop };
                self.keep(packet.about.packet, hop);
                None
            }
            PacketEvent::Deliver => {
                packet.about.delivered = time;
                self.leave(&packet, hop, time, Fate::Delivered);
                None
            }
        };
        self.known.insert(record.packet, packet);
        if self.ended.len() + self.on_the_way > self.most {
            self.overflowed = Some(time);
        }
    }

    /// The hops of the period, if the record ends at `end`, seconds.
    pub fn finish(mut self, end: f64) -> Hops {
        let until = self.overflowed.unwrap_or(end);
        for (&number, packet) in &self.known {
            if let Some(hop) = packet.hop {
                // What has arrived and not left is held beyond the end.
                let leave = if hop.arrive.is_finite() { hop.arrive.max(until) } else { hop.arrive };
                self.ended.push((number, Hop { leave, ..hop }));
            }
        }
        let mut ended = self.ended;
        for (_, hop) in &mut ended {
            if hop.enter == f64::NEG_INFINITY {
                hop.enter = self.begin.min(hop.start);
            }
        }
        ended
            .retain(|(_, hop)| hop.leave >= self.from && self.overflowed.is_none_or(|full| hop.enter < full));
        ended.sort_by(|(a, first), (b, second)| first.enter.total_cmp(&second.enter).then(a.cmp(b)));
        let mut numbers: Vec<u64> = ended.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let row = |number| numbers.binary_search(number).map_or(u32::MAX, |row| row as u32);
        let hops = ended.iter().map(|(number, hop)| Hop { packet: row(number), ..*hop }).collect();
        let packets = numbers.iter().filter_map(|number| self.known.get(number));
        let packets = packets.map(|packet| packet.numbered(&self.segments)).collect();
        Hops { hops, packets, until, cut: self.overflowed.is_some() }
    }

    /// A packet at its first event: if it had been sent before the record began, with the hop that
    /// it was on.
    fn first_seen(&mut self, record: &PacketRecord) -> Known {
        let about = Traveller {
            packet: record.packet,
            flow: record.flow,
            kind: record.kind,
            retransmission: record.retransmission,
            size: record.size,
            number: 0,
            marked: f64::INFINITY,
            sent: f64::INFINITY,
            delivered: f64::INFINITY,
        };
        let byte = if record.kind.acknowledges() { record.acknowledgement } else { record.sequence };
        let before = if self.begin > 0.0 { self.link_before(record) } else { None };
        Known { about, byte, hop: before.map(|link| self.enter(link, f64::NEG_INFINITY)) }
    }

    /// The link that a packet has left with this event, from its route.
    fn link_before(&self, record: &PacketRecord) -> Option<u32> {
        let route = &self.ways.get(record.flow as usize)?[usize::from(record.kind.returns())];
        match record.event {
            PacketEvent::Deliver => route.last().copied(),
            PacketEvent::Enqueue | PacketEvent::Drop => {
                let at = route.iter().position(|&link| link == record.link)?;
                route.get(at.checked_sub(1)?).copied()
            }
            _ => None,
        }
    }

    fn enter(&mut self, link: u32, enter: f64) -> Hop {
        self.on_the_way += 1;
        let after = f64::INFINITY;
        Hop {
            packet: 0,
            link,
            enter,
            start: after,
            sent: after,
            arrive: after,
            leave: after,
            fate: Fate::Unfinished,
        }
    }

    /// Ends the hop of a packet that has come to the end of its link.
    fn leave(&mut self, packet: &Known, hop: Option<Hop>, time: f64, fate: Fate) {
        let Some(mut hop) = hop else { return };
        let link = &self.links[hop.link as usize];
        if hop.start == f64::INFINITY {
            // In flight when the record began: only its arrival is known.
            let (length, delay) = link.times(packet.about.size, hop.start);
            hop.start = time - delay - length;
            (hop.sent, hop.arrive) = (hop.start + length, time);
        }
        let held = time > hop.arrive + SAME_S && !link.is_vague;
        if !held {
            hop.arrive = time;
            hop.sent = hop.sent.min(time);
        }
        self.keep(packet.about.packet, Hop { leave: time, fate, ..hop });
    }

    fn keep(&mut self, number: u64, hop: Hop) {
        self.on_the_way -= 1;
        if hop.leave >= self.from {
            self.ended.push((number, hop));
        }
    }
}

impl Known {
    fn numbered(&self, segments: &[u64]) -> Traveller {
        let segment = segments.get(self.about.flow as usize).copied().unwrap_or(1).max(1);
        let number = if self.about.kind.acknowledges() {
            self.byte.div_ceil(segment)
        } else {
            self.byte / segment + 1
        };
        Traveller { number: u32::try_from(number).unwrap_or(u32::MAX), ..self.about }
    }
}

impl Hop {
    /// Whether it is in this link's queue and has not been transmitted.
    fn waits_at(&self, link: u32) -> bool {
        self.link == link && self.start == f64::INFINITY
    }
}

/// Causes of the time to cross a link.
#[derive(Clone, Debug)]
struct Crossing {
    rate: f64,
    delay: f64,
    /// Time, rate and delay of each change.
    changes: Vec<(f64, f64, f64)>,
    /// Its rate is that of a delivery trace: packets leave at once.
    has_trace: bool,
    /// Arrivals do not follow from rate and delay.
    is_vague: bool,
}

impl Crossing {
    fn of(link: &LinkPlan) -> Self {
        let changes = link.changes.iter().map(|change| {
            (change.at.seconds(), change.rate.bits_per_second() as f64, change.delay.seconds())
        });
        Self {
            rate: link.rate.bits_per_second() as f64,
            delay: link.delay.seconds(),
            changes: changes.collect(),
            has_trace: link.trace.is_some(),
            is_vague: link.trace.is_some() || !link.jitter.is_zero() || !link.changes.is_empty(),
        }
    }

    /// Transmission time and delay of a packet whose transmission begins at `start`, seconds;
    /// before any change if that is not known.
    fn times(&self, size: u32, start: f64) -> (f64, f64) {
        let change = self.changes.iter().rfind(|(at, ..)| start.is_finite() && *at <= start);
        let (rate, delay) = change.map_or((self.rate, self.delay), |&(_, rate, delay)| (rate, delay));
        (if self.has_trace { 0.0 } else { f64::from(size) * 8.0 / rate }, delay)
    }
}

/// Payload of a full packet of a flow, as far as the plan knows it.
fn payload(flow: &FlowPlan) -> u64 {
    match &flow.protocol {
        Protocol::Stack(stack) => u64::from(stack.datagram),
        protocol => protocol.tcp().map_or(1, |tcp| tcp.transport.mss.get()),
    }
}

/// The longest path delay of a packet with full queues, seconds, at most [`LONGEST_LEAD_S`].
fn lead(plan: &Plan) -> f64 {
    let drain = |link: &LinkPlan| {
        let lowest = link.changes.iter().map(|change| change.rate).fold(link.rate, Rate::min);
        let lowest = lowest.bits_per_second() as f64;
        match link.queue {
            QueueLimit::Unlimited => LONGEST_LEAD_S,
            QueueLimit::Packets(packets) => packets as f64 * 12_000.0 / lowest,
            QueueLimit::Bytes(bytes) => bytes.get() as f64 * 8.0 / lowest,
        }
    };
    let of_link = |&link: &usize| {
        let link = &plan.links[link];
        let longest = link.changes.iter().map(|change| change.delay).fold(link.delay, Duration::max);
        longest.seconds() + link.jitter.seconds() + drain(link)
    };
    let ways = plan.flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse]);
    ways.map(|way| way.iter().map(of_link).sum::<f64>()).fold(0.0, f64::max).min(LONGEST_LEAD_S)
}

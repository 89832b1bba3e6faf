//! Packets on links: a row for each packet on each link, assembled from the events of a packet
//! record.

use selfclock_congestion::units::{Duration, Rate, Time};
use selfclock_simulator::plan::{LinkPlan, Plan, Protocol, QueueLimit};
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::reply::Arrays;
use crate::request::Window;

/// How a packet left a link; packets still on it at the end count as forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Forwarded = 0,
    Dropped = 1,
    Lost = 2,
    Delivered = 3,
}

/// Bits of [`Hop::look`].
pub mod look {
    pub const BACK: u8 = 1;
    pub const RETRANSMISSION: u8 = 2;
    pub const DATA: u8 = 4;
    pub const MARKED: u8 = 8;
    pub const ECHO: u8 = 16;
}

/// A packet on a link. Times in seconds; infinite: after the end of the record.
#[derive(Clone, Debug)]
pub struct Hop {
    pub link: u32,
    pub flow: u32,
    pub packet: u32,
    /// Arrival at the queue.
    pub enter: f64,
    /// Start of transmission.
    pub start: f64,
    /// Departure of the last bit.
    pub sent: f64,
    /// Arrival of the last bit.
    pub arrive: f64,
    pub size: u32,
    /// Segment number from 1, or segments acknowledged.
    pub number: u32,
    pub fate: Fate,
    pub look: u8,
}

/// Maximum recording time before the window, so that packets in flight at its beginning are known.
const LONGEST_LEAD_S: f64 = 5.0;

/// Times of the record are exact to a picosecond; those computed here differ by less than this,
/// seconds.
const SAME_S: f64 = 2e-12;

/// Assembles hops from packet events.
#[derive(Clone, Debug)]
pub struct Hops {
    window: Window,
    begin: f64,
    /// Ended hops, within the window.
    rows: Vec<Hop>,
    /// The current hop of each packet.
    open: BTreeMap<u64, Hop>,
    /// Time at which the number of rows exceeded the limit.
    overflowed: Option<f64>,
}

impl Hops {
    /// An empty one for a window of a run of this plan; enables the plan's packet record.
    pub fn new(plan: &mut Plan, window: Window) -> Self {
        let begin = (window.from_s - lead(plan)).max(0.0);
        plan.record.packets = true;
        plan.record.packets_from = Time::ZERO + Duration::from_seconds(begin);
        plan.record.packets_until = Time::ZERO + Duration::from_seconds(window.until_s);
        Self { window, begin, rows: Vec::new(), open: BTreeMap::new(), overflowed: None }
    }

    /// Whether the window has its maximum number of rows, so that the rest of the run adds none.
    pub fn is_full(&self) -> bool {
        self.overflowed.is_some()
    }

    /// Adds events, in order of time.
    pub fn add(&mut self, plan: &Plan, record: &PacketRecord) {
        if self.is_full() {
            return;
        }
        let time = record.time.seconds();
        match record.event {
            PacketEvent::Send => {}
            PacketEvent::Enqueue => {
                self.end(plan, record.packet, time, Fate::Forwarded);
                self.open.insert(record.packet, Hop::new(plan, record, time));
            }
            PacketEvent::Drop => {
                // From the queue it waited in, or on arrival at the next.
                let waited = self.open.get(&record.packet).is_some_and(|hop| hop.waits_at(record.link));
                let hop = if waited { self.open.remove(&record.packet) } else { None };
                self.end(plan, record.packet, time, Fate::Forwarded);
                let hop = hop.unwrap_or_else(|| Hop::new(plan, record, time));
                self.keep(Hop { start: time, sent: time, arrive: time, fate: Fate::Dropped, ..hop });
            }
            PacketEvent::Mark => {
                if let Some(hop) = self.open.get_mut(&record.packet) {
                    hop.look |= look::MARKED;
                }
            }
            PacketEvent::Transmit => {
                // Without a hop it was in the queue when the record began.
                let hop =
                    self.open.entry(record.packet).or_insert_with(|| Hop::new(plan, record, self.begin));
                hop.transmit(plan, record, time);
            }
            PacketEvent::Lose => {
                if let Some(hop) = self.open.remove(&record.packet) {
                    self.keep(Hop { sent: time, arrive: time, fate: Fate::Lost, ..hop });
                }
            }
            PacketEvent::Deliver => self.end(plan, record.packet, time, Fate::Delivered),
        }
        if self.rows.len() >= self.window.most_hops {
            self.overflowed = Some(time);
        }
    }

    /// Completes the hop of a packet that has reached the end of its link, if that time is known.
    fn end(&mut self, plan: &Plan, packet: u64, time: f64, fate: Fate) {
        let Some(mut hop) = self.open.remove(&packet) else { return };
        hop.fate = fate;
        let link = &plan.links[hop.link as usize];
        let vague = link.trace.is_some() || !link.jitter.is_zero() || !link.changes.is_empty();
        // Routers and NICs hold packets after their arrival.
        let held = time > hop.arrive + SAME_S && !vague;
        if !held {
            hop.arrive = time;
            hop.sent = hop.sent.min(time);
        }
        self.keep(hop);
    }

    fn keep(&mut self, hop: Hop) {
        if hop.arrive >= self.window.from_s {
            self.rows.push(hop);
        }
    }

    /// The rows of the window, in order of their start, the period they cover, and whether
    /// that is shorter than requested. `now_s`: progress of the run.
    pub fn finish(mut self, now_s: f64) -> (Vec<Hop>, Window, bool) {
        for hop in std::mem::take(&mut self.open).into_values() {
            self.keep(hop);
        }
        self.rows.sort_by(|a, b| a.enter.total_cmp(&b.enter));
        let until_s = self.overflowed.unwrap_or(self.window.until_s.min(now_s));
        (self.rows, Window { until_s, ..self.window }, self.overflowed.is_some())
    }
}

impl Hop {
    fn new(plan: &Plan, record: &PacketRecord, enter: f64) -> Self {
        Self {
            link: record.link,
            flow: record.flow,
            packet: record.packet as u32,
            enter,
            start: f64::INFINITY,
            sent: f64::INFINITY,
            arrive: f64::INFINITY,
            size: record.size,
            number: number(plan, record),
            fate: Fate::Forwarded,
            look: look_of(record),
        }
    }

    /// Whether it is in this link's queue and has not been transmitted.
    fn waits_at(&self, link: u32) -> bool {
        self.link == link && self.start == f64::INFINITY
    }

    fn transmit(&mut self, plan: &Plan, record: &PacketRecord, time: f64) {
        let link = &plan.links[self.link as usize];
        let (rate, delay) = settings(link, time);
        let length = if link.trace.is_some() { 0.0 } else { f64::from(self.size) * 8.0 / rate };
        (self.start, self.sent, self.arrive) = (time, time + length, time + length + delay);
        // The queue may have marked it as it left.
        self.look |= look_of(record);
    }
}

/// The longest path delay of data with full queues, seconds.
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

/// Rate in bit/s and delay in seconds of a link at a time.
fn settings(link: &LinkPlan, time: f64) -> (f64, f64) {
    let change = link.changes.iter().rfind(|change| change.at.seconds() <= time);
    let (rate, delay) = change.map_or((link.rate, link.delay), |change| (change.rate, change.delay));
    (rate.bits_per_second() as f64, delay.seconds())
}

fn number(plan: &Plan, record: &PacketRecord) -> u32 {
    let segment = match &plan.flows[record.flow as usize].protocol {
        Protocol::Udp(_) | Protocol::Stack(_) => u64::from(record.payload),
        protocol => protocol.tcp().map_or(1, |tcp| tcp.transport.mss.get()),
    };
    let acknowledges = matches!(record.kind, PacketKind::Ack | PacketKind::SynAck);
    let byte = if acknowledges { record.acknowledgement.saturating_sub(1) } else { record.sequence };
    u32::try_from(byte / segment.max(1) + 1).unwrap_or(u32::MAX)
}

fn look_of(record: &PacketRecord) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    bit(matches!(record.kind, PacketKind::Ack | PacketKind::SynAck | PacketKind::Reply), look::BACK)
        | bit(record.retransmission, look::RETRANSMISSION)
        | bit(matches!(record.kind, PacketKind::Data | PacketKind::Datagram), look::DATA)
        | bit(record.ecn == Codepoint::Ce, look::MARKED)
        | bit(record.ece, look::ECHO)
}

/// Hops as columns.
pub fn json((rows, window, cut): &(Vec<Hop>, Window, bool), arrays: &mut Arrays) -> Value {
    let rows = || rows.iter();
    json!({
        "from_s": window.from_s,
        "until_s": window.until_s,
        "cut": cut,
        "link": arrays.counts(rows().map(|hop| hop.link)),
        "flow": arrays.counts(rows().map(|hop| hop.flow)),
        "packet": arrays.counts(rows().map(|hop| hop.packet)),
        "enter_s": arrays.reals(rows().map(|hop| hop.enter)),
        "start_s": arrays.reals(rows().map(|hop| hop.start)),
        "sent_s": arrays.reals(rows().map(|hop| hop.sent)),
        "arrive_s": arrays.reals(rows().map(|hop| hop.arrive)),
        "size_bytes": arrays.counts(rows().map(|hop| hop.size)),
        "number": arrays.counts(rows().map(|hop| hop.number)),
        "fate": arrays.octets(rows().map(|hop| hop.fate as u8)),
        "look": arrays.octets(rows().map(|hop| hop.look)),
    })
}

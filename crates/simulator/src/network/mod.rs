//! Links, packets in flight, topologies, and the way packets take from stop to stop.
//!
//! A packet has to *stop*, that is, wait for its turn in the event queue, only where it can meet packets that come
//! another way. A link that is fed by one upstream link alone sees its packets in the order in which they left that
//! link, so its part of the passage is computed at the moment of sending, ahead of the clock.
//!
//! The same holds for a receiver whose acknowledgements leave by a link of their own: it gets its segments from one
//! last link and nothing else reaches that link of its own, so it, too, is run ahead of the clock. On a single-flow
//! dumbbell the only stop of a whole round trip is then the acknowledgement's, at the sender.

pub(crate) mod batch;
pub mod gate;
pub mod link;
pub mod loss;
pub mod route;
pub mod topology;

pub use link::{Link, Passage};

use crate::engine::memory::{self, prefetch};
use crate::engine::{EventQueue, Lanes};
use crate::packet::{Extras, Flags, Packet};
use crate::plan::{Plan, Protocol};
use crate::queue::QueueLimit;
use crate::record::packets::{PacketEvent, PacketRecorder};
use crate::record::series::{Samples, Sampling};
use crate::router::Mechanism;
use selfclock_congestion::units::Time;

/// Set in the route table on a link where the packet stops before it, and on the end of a route.
const STOP: u32 = 1 << 31;
/// Set on a link where code stands before it that needs the order of time; see [`gate`].
const GATE: u32 = 1 << 30;
/// Set on the end of a route, where the packet stops before it is delivered.
const END: u32 = 1 << 29;
/// Set on the end of a route where it does not stop: its receiver is run ahead of the clock.
const AHEAD: u32 = 1;
/// Set on the end of a route whose last link hands over packets together.
const COALESCES: u32 = 2;
/// The link.
const LINK: u32 = END - 1;

/// All links and routes, and the packets on them.
#[derive(Clone, Debug)]
pub struct Network {
    /// Links, in the order of the plan.
    pub links: Vec<Link>,
    /// Packets on links, on their way to their next stop.
    in_flight: Lanes<Packet>,
    /// Routes of all flows one after another: links, then [`END`].
    routes: Vec<u32>,
    /// Where each flow's routes begin.
    pub(crate) flow_routes: Vec<FlowRoutes>,
    /// For each link, the router mechanisms before it.
    pub(super) gates: Vec<Vec<u32>>,
    /// Router mechanisms; `None` while one is at work.
    pub(super) routers: Vec<Option<Box<Mechanism>>>,
    /// Out-of-line parts of the packets in flight.
    pub extras: Extras,
    /// Every packet event, if they are recorded.
    pub recorder: Option<PacketRecorder>,
    /// Samples of flows and links.
    pub samples: Samples,
    /// Packets that have reached a receiver which is run ahead of the clock, at their time of arrival, and wait for it
    /// to be run.
    pub delivered_ahead: Vec<Packet>,
    packets_sent: u64,
    consumed: u64,
    /// Nothing after this time can be observed.
    end: Time,
    sent_beyond_end: u64,
}

/// First links of a flow's two routes in the route table.
#[derive(Clone, Copy, Debug)]
pub struct FlowRoutes {
    /// For data.
    pub forward: u32,
    /// For acknowledgements.
    pub reverse: u32,
    /// Routers between the two ends, on the way of data.
    pub routers: u8,
    /// The only stop of data and acknowledgement is at the sender.
    pub one_stop: bool,
}

impl Network {
    /// The network of a plan, and where each flow's routes begin.
    pub fn new(plan: &Plan) -> (Self, Vec<FlowRoutes>) {
        let sampling = Sampling::of(plan, Time::ZERO + plan.duration);
        let mut links: Vec<Link> = memory::vector(plan.links.len());
        let planned = plan.links.iter().enumerate();
        links.extend(planned.map(|(index, link)| Link::new(link, plan.seed, index, sampling)));
        let feeders = feeders(plan);
        let (routers, gates) = Mechanism::all(plan);
        let is_gate = |link: usize| plan.links[link].discipline.is_managed() || !gates[link].is_empty();
        let mut routes = Vec::new();
        // Also says that the route has no stop but its end.
        let mut add = |path: &[usize], ahead: bool| {
            let first = routes.len();
            for (position, &link) in path.iter().enumerate() {
                let gate = is_gate(link);
                let ahead = position == 0 || (matches!(feeders[link], Feeder::Link(_)) && !gate);
                routes.push(link as u32 | if ahead { 0 } else { STOP } | if gate { GATE } else { 0 });
            }
            let coalesces = path.last().is_some_and(|&link| !plan.links[link].coalescing.is_zero());
            let flags = if ahead { AHEAD } else { 0 } | if coalesces { COALESCES } else { 0 };
            let is_unbroken = routes[first..].iter().all(|entry| entry & (STOP | GATE) == 0);
            routes.push(STOP | END | flags);
            (first as u32, is_unbroken)
        };
        let mut flows = Vec::with_capacity(plan.flows.len());
        for (index, flow) in plan.flows.iter().enumerate() {
            // A UDP sink sends nothing.
            let receiver_ahead = flow
                .reverse
                .first()
                .is_none_or(|&link| feeders[link] == Feeder::Receiver(index) && !is_gate(link));
            let (forward, data_unbroken) = add(&flow.forward, receiver_ahead);
            let routers = u8::try_from(flow.forward.len().saturating_sub(1)).unwrap_or(u8::MAX);
            let (reverse, acknowledgements_unbroken) = add(&flow.reverse, false);
            let is_tcp = matches!(flow.protocol, Protocol::Tcp(_));
            let one_stop = is_tcp && receiver_ahead && data_unbroken && acknowledgements_unbroken;
            flows.push(FlowRoutes { forward, reverse, routers, one_stop });
        }
        // Past the end, and where packets are recorded, no packet just crosses.
        let plain_until = if plan.record.packets { Time::ZERO } else { Time::ZERO + plan.duration };
        for link in &mut links {
            link.limit_plain(plain_until);
        }
        let network = Self {
            links,
            in_flight: Lanes::default(),
            routes,
            flow_routes: flows.clone(),
            gates,
            routers,
            extras: Extras::default(),
            samples: Samples::new(plan, sampling),
            recorder: plan.record.packets.then(|| PacketRecorder::new(plan)),
            delivered_ahead: Vec::new(),
            packets_sent: 0,
            consumed: 0,
            end: Time::ZERO + plan.duration,
            sent_beyond_end: 0,
        };
        (network, flows)
    }

    /// An endpoint sends a packet; its `hop` is the beginning of its route.
    #[inline(never)]
    pub fn send(&mut self, events: &mut EventQueue, now: Time, packet: Packet) {
        self.send_here(events, now, packet);
    }

    /// Of the same, a copy for the two places from which nearly every packet is sent.
    #[inline(always)]
    pub(crate) fn send_here(&mut self, events: &mut EventQueue, now: Time, mut packet: Packet) {
        self.send_in_place(events, now, &mut packet);
    }

    /// Of the same, a packet that stays where it is, to be changed into the next one.
    #[inline(always)]
    pub(crate) fn send_in_place(&mut self, events: &mut EventQueue, now: Time, packet: &mut Packet) {
        self.count_sent(now, packet);
        if let Some(arrival) = self.forward(events, now, packet) {
            self.hold_delivered(arrival, packet);
        }
    }

    /// Numbers, counts and records a packet that is about to be sent.
    #[inline(always)]
    pub(crate) fn count_sent(&mut self, now: Time, packet: &mut Packet) {
        packet.number = self.packets_sent as u32;
        self.packets_sent += 1;
        if self.recorder.is_some() {
            self.record(PacketEvent::Send, now, u32::MAX, packet);
        }
    }

    /// A packet has reached the router mechanism that it was sent to.
    pub(crate) fn consume(&mut self, now: Time, packet: &Packet) {
        self.consumed += 1;
        if self.recorder.is_some() {
            self.record(PacketEvent::Deliver, now, u32::MAX, packet);
        }
        self.extras.release(packet.extra);
    }

    /// The first link from this position of the route table to the end of the route that is wanted.
    pub(crate) fn link_from(&self, hop: u32, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let rest = self.routes[hop as usize..].iter().take_while(|&&entry| entry & END == 0);
        rest.map(|entry| (entry & LINK) as usize).find(|&link| wanted(link))
    }

    /// The flow of the plan whose route this position of the route table is in. Short connections take that of their flow.
    pub(crate) fn flow_at(&self, hop: u32) -> usize {
        self.flow_routes.partition_point(|routes| routes.forward <= hop) - 1
    }

    /// The link at this position of the route table.
    #[inline]
    pub(crate) fn link_at(&self, hop: u32) -> usize {
        (self.routes[hop as usize] & LINK) as usize
    }

    /// Carries a packet from where it is to its next stop. When it reaches its receiver, if that is run ahead of the clock.
    #[inline(always)]
    fn forward(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) -> Option<Time> {
        if self.routes[packet.hop as usize] & GATE != 0 {
            self.enter_gate(events, now, packet);
            return None;
        }
        self.cross(events, now, packet)
    }

    /// Carries a packet across the link before which it is, and on to its next stop. When it reaches its receiver, if that is
    /// run ahead of the clock.
    #[inline(always)]
    fn cross(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) -> Option<Time> {
        let size = u32::from(packet.size);
        let mut at = now;
        let mut hop = packet.hop as usize;
        let mut index = (self.routes[hop] & LINK) as usize;
        let stop = 'way: loop {
            // Most of what comes crosses link after link here, and the arrays stay in registers.
            let (links, routes) = (&mut self.links[..], &self.routes[..]);
            while let Some(arrival) = links[index].accept_plain(at, size) {
                at = arrival;
                hop += 1;
                let next = routes[hop];
                if next & STOP != 0 {
                    break 'way next;
                }
                index = next as usize;
            }
            at = self.accept(events, at, hop, index, packet)?;
            hop += 1;
            let next = self.routes[hop];
            if next & STOP != 0 {
                break next;
            }
            index = next as usize;
        };
        self.land(events, at, hop, stop, index, packet)
    }

    /// A packet arrives at link `index`. When it is at the other end; `None`: it is not, or what comes of it has been seen
    /// to.
    #[inline(never)]
    fn accept(
        &mut self,
        events: &mut EventQueue,
        at: Time,
        hop: usize,
        index: usize,
        packet: &Packet,
    ) -> Option<Time> {
        if at > self.end {
            self.sent_beyond_end += 1;
            self.extras.release(packet.extra);
            return None;
        }
        let (link, size, samples) = (&mut self.links[index], u32::from(packet.size), &mut self.samples.links);
        if self.recorder.is_none()
            && let Some(arrival) =
                link.accept_plain_after_samples(at, size, samples).or_else(|| link.accept_simple(at, size))
        {
            return Some(arrival);
        }
        let passage = link.accept(at, size, samples);
        if self.recorder.is_some() {
            self.record_passage(passage, at, index as u32, packet);
        }
        if let Passage::Crosses { arrival, .. } = passage {
            return Some(arrival);
        }
        self.on_unusual_passage(events, passage, hop, packet);
        None
    }

    /// The packet is at the other end of link `index`, where its next stop is, at this time; or it is delivered ahead: when.
    #[inline(always)]
    fn land(
        &mut self,
        events: &mut EventQueue,
        mut at: Time,
        hop: usize,
        stop: u32,
        index: usize,
        packet: &Packet,
    ) -> Option<Time> {
        if stop & END != 0 {
            if stop & COALESCES != 0 {
                at = self.links[index].handed_over(at);
            }
            if stop & AHEAD != 0 {
                return self.deliver(at, packet);
            }
        }
        let order = events.take_order();
        let (landed, lane, is_first) = self.in_flight.add(at, order, packet);
        // Copied whole and then changed: put together from its parts it would be written twice.
        (landed.arrival, landed.order, landed.hop) = (at, order, hop as u32);
        if is_first {
            events.push_lane(at, order, lane);
        }
        None
    }

    /// A packet is delivered, at this time: unless that is beyond the end.
    #[inline(always)]
    fn deliver(&mut self, arrival: Time, packet: &Packet) -> Option<Time> {
        if arrival > self.end {
            self.sent_beyond_end += 1;
            self.extras.release(packet.extra);
            return None;
        }
        if self.recorder.is_some() {
            self.record(PacketEvent::Deliver, arrival, u32::MAX, packet);
        }
        Some(arrival)
    }

    /// A packet has reached a receiver that is run ahead of the clock, and waits for it to be run.
    #[inline(always)]
    fn hold_delivered(&mut self, arrival: Time, packet: &Packet) {
        self.delivered_ahead.push(*packet);
        if let Some(delivered) = self.delivered_ahead.last_mut() {
            delivered.arrival = arrival;
        }
    }

    /// Of the same, a copy that is not compiled into the way from stop to stop.
    #[inline(never)]
    pub(super) fn cross_from_gate(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) {
        if let Some(arrival) = self.cross(events, now, packet) {
            self.hold_delivered(arrival, packet);
        }
    }

    /// A packet is at the other end of the link that its `hop` stands for, at this time.
    pub(super) fn carry_on(&mut self, events: &mut EventQueue, at: Time, packet: &Packet) {
        let hop = packet.hop as usize + 1;
        let next = self.routes[hop];
        let delivered = if next & STOP == 0 {
            self.forward(events, at, &Packet { hop: hop as u32, ..*packet })
        } else {
            self.land(events, at, hop, next, self.link_at(packet.hop), packet)
        };
        if let Some(arrival) = delivered {
            self.hold_delivered(arrival, packet);
        }
    }

    #[cold]
    fn on_unusual_passage(&mut self, events: &mut EventQueue, passage: Passage, hop: usize, packet: &Packet) {
        let link = (self.routes[hop] & LINK) as usize;
        match passage {
            Passage::Lost { above, .. } => {
                if above && marked(packet).flags.has(Flags::CE) {
                    self.links[link].count_mark();
                }
                self.extras.release(packet.extra);
            }
            Passage::Dropped => self.extras.release(packet.extra),
            Passage::Crosses { arrival, .. } | Passage::CrossesAbove { arrival, .. } => {
                let mut packet = marked(packet);
                if packet.flags.has(Flags::CE) {
                    self.links[link].count_mark();
                }
                packet.hop = hop as u32;
                self.carry_on(events, arrival, &packet);
            }
        }
    }

    /// The first packet of a lane, of which there must be one, has reached its stop. The lane's entry must be the first in
    /// the event queue; it is moved to the next packet.
    #[inline(always)]
    pub fn take_first(&mut self, events: &mut EventQueue, lane: u32) -> Packet {
        self.in_flight.take_first(lane, |next| {
            events.advance_lane(lane, next.map(|next| (next.arrival, next.order)));
        })
    }

    /// The packet that comes up in this lane after so many others, if the one before it is of another flow.
    #[inline(always)]
    pub(crate) fn first_of_burst(&self, lane: u32, position: usize) -> Option<&Packet> {
        let packet = self.in_flight.get(lane, position)?;
        let before = self.in_flight.get(lane, position - 1)?;
        (packet.flow != before.flow).then_some(packet)
    }

    /// Asks for the part of the route table that a packet needs there, and for where its flow's routes begin.
    #[inline(always)]
    pub(crate) fn prefetch_routes(&self, packet: &Packet) {
        prefetch::<0, 4, u32>(&self.routes[packet.hop as usize]);
        if let Some(routes) = self.flow_routes.get(packet.flow as usize) {
            prefetch::<0, { size_of::<FlowRoutes>() }, FlowRoutes>(routes);
        }
    }

    /// Asks for the links that a packet crosses from its stop to the next, the first of them, which is before others' packets,
    /// not among them. True if the stop is where it was sent to.
    #[inline(always)]
    pub(crate) fn prefetch_links(&self, packet: &Packet) -> bool {
        let hop = packet.hop as usize;
        if self.routes[hop] & END != 0 {
            return true;
        }
        self.prefetch_links_from(hop + 1);
        false
    }

    /// Asks for the links from this position of the route table to the next stop.
    #[inline(always)]
    pub(crate) fn prefetch_links_from(&self, mut hop: usize) {
        while let Some(&entry) = self.routes.get(hop)
            && entry & STOP == 0
        {
            prefetch::<0, 64, Link>(&self.links[(entry & LINK) as usize]);
            hop += 1;
        }
    }

    /// The packet is at its stop. When it reaches what it was sent to, if that is now or ahead of the clock; if not, it has been
    /// carried on.
    #[inline(always)]
    pub fn arrive(&mut self, events: &mut EventQueue, packet: &Packet) -> Option<Time> {
        if self.routes[packet.hop as usize] & END == 0 {
            return self.forward(events, packet.arrival, packet);
        }
        if self.recorder.is_some() {
            self.record(PacketEvent::Deliver, packet.arrival, u32::MAX, packet);
        }
        Some(packet.arrival)
    }

    /// Packets and bytes that wait before a link at `now`, the time of the clock, and what may wait at most.
    pub fn backlog(&mut self, link: usize, now: Time) -> (u64, u64, QueueLimit) {
        self.links[link].backlog(now, &mut self.samples.links)
    }

    /// Packets sent by endpoints so far.
    pub fn packets_sent(&self) -> u64 {
        self.packets_sent
    }

    /// Packets that have ended in a router mechanism to which they were sent.
    pub fn packets_consumed(&self) -> u64 {
        self.consumed
    }

    /// Packets that are on their way: in a queue, in service, on a wire, held by a router.
    pub fn packets_in_flight(&self, now: Time) -> u64 {
        let on_links = self.in_flight.len() as u64;
        let held: u64 = self.links.iter().map(|link| link.held(now)).sum();
        let routers: u64 = self.routers.iter().flatten().map(|router| router.held()).sum();
        on_links + held + routers + self.sent_beyond_end
    }

    #[cold]
    fn record_passage(&mut self, passage: Passage, now: Time, link: u32, packet: &Packet) {
        match passage {
            Passage::Dropped => self.record(PacketEvent::Drop, now, link, packet),
            Passage::Crosses { start, .. } => {
                self.record(PacketEvent::Enqueue, now, link, packet);
                self.record(PacketEvent::Transmit, start, link, packet);
            }
            Passage::CrossesAbove { start, .. } => {
                self.record(PacketEvent::Enqueue, now, link, packet);
                let packet = marked(packet);
                if packet.flags.has(Flags::CE) {
                    self.record(PacketEvent::Mark, now, link, &packet);
                }
                self.record(PacketEvent::Transmit, start, link, &packet);
            }
            Passage::Lost { start, end, above } => {
                self.record(PacketEvent::Enqueue, now, link, packet);
                let packet = if above { marked(packet) } else { *packet };
                if above && packet.flags.has(Flags::CE) {
                    self.record(PacketEvent::Mark, now, link, &packet);
                }
                self.record(PacketEvent::Transmit, start, link, &packet);
                self.record(PacketEvent::Lose, end, link, &packet);
            }
        }
    }

    #[cold]
    pub(super) fn record(&mut self, event: PacketEvent, time: Time, link: u32, packet: &Packet) {
        let extra = self.extras.get(packet.extra);
        let end = self.end;
        let Some(recorder) = &mut self.recorder else { return };
        if time <= end {
            recorder.add(event, time, link, packet, &extra);
        }
    }
}

/// The packet after a queue that marks what understands marks.
fn marked(packet: &Packet) -> Packet {
    let mut packet = *packet;
    if packet.flags.has(Flags::ECT) {
        packet.flags = packet.flags.with(Flags::CE);
    }
    packet
}

/// Where everything that enters a link comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feeder {
    /// Nothing enters it.
    None,
    /// One upstream link: it is served in the order in which that link delivers.
    Link(usize),
    /// The receiver of one flow.
    Receiver(usize),
    /// The sender of one flow: it sends at the time of the clock.
    Sender,
    /// More than one of these.
    Several,
}

/// The feeder of each link.
fn feeders(plan: &Plan) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::None; plan.links.len()];
    for (index, flow) in plan.flows.iter().enumerate() {
        // Short connections have a receiver each.
        let receiver = match flow.protocol {
            Protocol::Connections(_) => Feeder::Several,
            Protocol::Tcp(_) | Protocol::Udp(_) => Feeder::Receiver(index),
        };
        for (path, endpoint) in [(&flow.forward, Feeder::Sender), (&flow.reverse, receiver)] {
            for (position, &link) in path.iter().enumerate() {
                let feeder = if position == 0 { endpoint } else { Feeder::Link(path[position - 1]) };
                feeders[link] = match feeders[link] {
                    Feeder::None => feeder,
                    same if same == feeder => same,
                    _ => Feeder::Several,
                };
            }
        }
    }
    feeders
}

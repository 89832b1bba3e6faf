//! Links, packets in flight, and their paths from stop to stop.
//!
//! A packet has to *stop*, that is, wait for its turn in the event queue, only where it can meet
//! packets from another direction. A link that is fed by a single upstream link sees its packets in
//! the order in which they left that link, so its part of the passage is computed at the moment of
//! sending, ahead of the clock.
//!
//! The same holds for a receiver whose ACKs leave by their own link: it gets its segments from a
//! single last link and nothing else reaches its own link, so it, too, is run ahead of the clock.
//! On a single-flow dumbbell the only stop of a whole round trip is then the ACK's, at the sender.

pub(crate) mod batch;
mod forward;
pub mod gate;
pub(crate) mod handover;
pub mod link;
pub(crate) mod partition;
mod prefetch;
mod record;
mod route_table;

pub use link::Link;
pub use route_table::{FlowRoutes, Hosts};

use crate::engine::memory;
use crate::engine::{EventQueue, Lanes};
use crate::packet::{Extras, Flags, Packet};
use crate::plan::{LinkPlan, Plan};
use crate::record::packed::PacketRecorder;
use crate::record::packets::PacketEvent;
use crate::record::series::{Samples, Sampling};
use crate::record::summary::LinkSummary;
use crate::router::AnyMechanism;
use crate::shared::Shared;
use crate::subset::Subset;
use gate::Gates;
use handover::Exports;
use partition::Part;
use route_table::Hop;
use selfclock_congestion::units::Time;

/// All links and routes, and the packets on them.
#[derive(Clone, Debug)]
pub struct Network {
    /// Links, in the order of the plan; for a part of the network, its own.
    pub links: Vec<Link>,
    /// Their indices in the plan.
    held_links: Subset,
    /// Their part of the plan.
    plans: Shared<Vec<LinkPlan>>,
    /// Packets on links, in transit to their next stop.
    in_flight: Lanes<Packet>,
    /// Routes of all flows one after another: their links, then their end.
    routes: Vec<Hop>,
    /// Start of each flow's routes.
    pub(crate) flow_routes: Vec<FlowRoutes>,
    /// The router mechanisms before links that have any.
    pub(super) gates: Gates,
    /// Router mechanisms; `None` while one is running.
    pub(super) routers: Vec<Option<Box<AnyMechanism>>>,
    /// Out-of-line parts of the packets in flight.
    pub extras: Extras,
    /// Every packet event, if recorded.
    pub recorder: Option<PacketRecorder>,
    /// Samples of flows and links.
    pub samples: Samples,
    /// Packets that have reached a receiver run ahead of the clock, at their time of arrival, and
    /// wait for it to run.
    pub delivered_ahead: Vec<Packet>,
    packets_sent: u64,
    consumed: u64,
    /// Nothing after this time can be observed.
    end: Time,
    /// Start and end of packet recording.
    recorded: (Time, Time),
    sent_beyond_end: u64,
    /// Packets for other parts of a divided network.
    exports: Option<Box<Exports>>,
}

impl Network {
    /// The network of a plan.
    pub fn new(plan: &Plan, hosts: Hosts) -> Self {
        let mut whole = Part::default();
        if hosts == Hosts::Outside {
            whole.senders = Subset::none();
        }
        Self::part(plan, hosts, &whole)
    }

    /// A part of the network of a plan.
    pub(crate) fn part(plan: &Plan, hosts: Hosts, part: &Part) -> Self {
        let end = Time::ZERO + plan.duration;
        let sampling = Sampling::of(plan, end);
        let mut links: Vec<Link> = memory::vector(part.links.count(plan.links.len()));
        let held = part.links.members(plan.links.len());
        links.extend(held.enumerate().map(|(place, index)| {
            Link::new(&plan.links[index], plan.seed, index, sampling)
                .at_place(place)
                .measured_from(plan.measure_from, plan.measure_delays)
        }));
        let (routers, gates) = gate::mechanisms(plan);
        let (mut routes, flow_routes) = route_table::route_table(plan, &gates, hosts);
        part.restrict(&mut routes);
        // Beyond the end, and while packets are recorded, shortcuts are off.
        let plain_until = if plan.record.packets { Time::ZERO } else { end };
        for link in &mut links {
            link.limit_plain(plain_until);
        }
        Self {
            links,
            held_links: part.links.clone(),
            plans: plan.links.clone(),
            in_flight: Lanes::default(),
            routes,
            flow_routes,
            gates,
            routers,
            extras: Extras::default(),
            samples: Samples::new(plan, sampling, part.senders.clone(), part.links.clone()),
            recorder: plan.record.packets.then(|| PacketRecorder::new(plan)),
            delivered_ahead: Vec::new(),
            packets_sent: 0,
            consumed: 0,
            end,
            recorded: (plan.record.packets_from, plan.record.packets_until.min(end)),
            sent_beyond_end: 0,
            exports: part.exports(),
        }
    }

    /// An endpoint sends a packet; its `hop` is the beginning of its route.
    #[inline(never)]
    pub fn send(&mut self, events: &mut EventQueue, now: Time, mut packet: Packet) {
        self.send_inline(events, now, &mut packet);
    }

    /// [`Network::send`], inlined: for the places that send nearly every packet.
    #[inline(always)]
    pub(crate) fn send_inline(&mut self, events: &mut EventQueue, now: Time, packet: &mut Packet) {
        self.count_sent(now, packet);
        if let Some(arrival) = self.forward(events, now, packet) {
            self.hold_delivered(arrival, packet);
        }
    }

    /// Numbers, counts and records an outgoing packet.
    #[inline(always)]
    pub(crate) fn count_sent(&mut self, now: Time, packet: &mut Packet) {
        packet.number = self.packets_sent as u32;
        self.packets_sent += 1;
        if self.recorder.is_some() {
            self.record(PacketEvent::Send, now, u32::MAX, packet);
        }
    }

    /// A packet has reached a receiver run ahead of the clock, and waits for it to run.
    #[inline(always)]
    fn hold_delivered(&mut self, arrival: Time, packet: &Packet) {
        self.delivered_ahead.push(*packet);
        if let Some(delivered) = self.delivered_ahead.last_mut() {
            delivered.arrival = arrival;
        }
    }

    /// The head of a lane has reached its stop. The lane's entry must be the first in the event
    /// queue; it is moved to the next packet.
    #[inline(always)]
    pub fn take_first(&mut self, events: &mut EventQueue, lane: u32) -> Packet {
        self.in_flight.take_first(lane, |next| {
            events.advance_lane(lane, next.map(|next| (next.arrival, next.order)));
        })
    }

    /// Opens the epochs of packets in flight if their opening is the earliest event.
    #[inline(always)]
    pub fn open_epochs(&mut self, events: &mut EventQueue) -> bool {
        events.open_epochs(&mut self.in_flight)
    }

    /// Handles a packet at its stop. Returns its arrival at its endpoint, now or ahead of the
    /// clock; `None` if it has been carried on.
    #[inline(always)]
    pub fn arrive(&mut self, events: &mut EventQueue, packet: &Packet) -> Option<Time> {
        if !self.routes[packet.hop as usize].is_end() {
            return self.forward(events, packet.arrival, packet);
        }
        if self.recorder.is_some() {
            self.record(PacketEvent::Deliver, packet.arrival, u32::MAX, packet);
        }
        Some(packet.arrival)
    }

    /// The link at this position of the route table.
    #[inline]
    pub(crate) fn link_at(&self, hop: u32) -> usize {
        self.routes[hop as usize].link()
    }

    /// Ends the links' run at `end`: takes the remaining samples and the totals, each with the
    /// index of its link.
    pub fn finish_links(&mut self, end: Time) -> impl Iterator<Item = (usize, LinkSummary)> {
        let Self { links, held_links, plans, samples, .. } = self;
        let each = held_links.members(plans.len()).zip(links);
        each.map(move |(index, link)| {
            (index, link.finish((index, &plans[index].name), end, &mut samples.links))
        })
    }

    /// Packets sent by endpoints so far.
    pub fn packets_sent(&self) -> u64 {
        self.packets_sent
    }

    /// Packets consumed by the router mechanism they were addressed to.
    pub fn packets_consumed(&self) -> u64 {
        self.consumed
    }

    /// Packets in flight: in a queue, in service, on a wire, held by a router.
    pub fn packets_in_flight(&self, now: Time) -> u64 {
        let on_links = self.in_flight.len() as u64;
        let held: u64 = self.links.iter().map(|link| link.held(now)).sum();
        let routers: u64 = self.routers.iter().flatten().map(|router| router.held()).sum();
        on_links + held + routers + self.sent_beyond_end
    }
}

/// The packet after a marking queue, if its transport is ECN-capable.
fn marked(packet: &Packet) -> Packet {
    let mut packet = *packet;
    if packet.flags.has(Flags::ECT) {
        packet.flags = packet.flags.with(Flags::CE);
    }
    packet
}

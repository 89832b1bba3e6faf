//! Gates: links before which every packet stops, because code there needs events in order of time.
//!
//! A gate is a link with router mechanisms at its entrance, with a queue that holds its packets, or
//! with both. The route table marks it, so a packet on a route without gates never looks for one.

use super::Network;
use super::link::Passage;
use crate::engine::{EventQueue, Target};
use crate::packet::{Extras, Packet};
use crate::plan::Plan;
use crate::record::packets::PacketEvent;
use crate::router::AnyMechanism;
use crate::router::mechanism::{Fate, RouterSite, Station, Surroundings, Waiting};
use selfclock_congestion::units::{Rate, Time};

/// The router mechanisms before each link, in the order of the plan. Empty if there are none at
/// all.
#[derive(Clone, Debug, Default)]
pub struct Gates(Vec<Vec<u32>>);

impl Gates {
    /// The mechanisms before a link.
    #[inline]
    pub fn before(&self, link: usize) -> &[u32] {
        self.0.get(link).map_or(&[], Vec::as_slice)
    }
}

/// The router mechanisms of a plan, and their links.
pub(super) fn mechanisms(plan: &Plan) -> (Vec<Option<Box<AnyMechanism>>>, Gates) {
    if plan.routers.is_empty() {
        return (Vec::new(), Gates::default());
    }
    let mut gates = vec![Vec::new(); plan.links.len()];
    let layout = plan.layout();
    let mut mechanisms = Vec::with_capacity(plan.routers.len());
    for (index, router) in plan.routers.iter().enumerate() {
        for &link in &router.links {
            gates[link].push(index as u32);
        }
        let site =
            RouterSite { stands_before: &router.links, layout: &layout, seed: plan.seed, router: index };
        mechanisms.push(Some(Box::new(router.mechanism.at(&site))));
    }
    (mechanisms, Gates(gates))
}

impl Network {
    /// A packet arrives at a gate at the clock's time.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_gate(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) {
        self.pass_gate(events, now, *packet, 0);
    }

    /// A packet at a gate has passed the first `passed` router mechanisms there.
    fn pass_gate(&mut self, events: &mut EventQueue, now: Time, packet: Packet, passed: usize) {
        let mut packet = packet;
        let link = self.link_at(packet.hop);
        if self.gates.before(link).len() > passed && self.links[link].managed().is_some() {
            // At equal times departures come before arrivals.
            self.transmit_due(events, now, link);
        }
        for position in passed..self.gates.before(link).len() {
            let index = self.gates.before(link)[position];
            let Some(mut mechanism) = self.routers[index as usize].take() else { continue };
            let mut station = Station { now, events, network: self, router: index, link };
            let fate = mechanism.on_packet(&mut station, &mut packet);
            self.routers[index as usize] = Some(mechanism);
            match fate {
                Fate::Pass => {}
                Fate::Taken => return,
                Fate::Drop => {
                    self.links[link].count_drop(now, &mut self.samples.links);
                    return self.discard(PacketEvent::Drop, now, link, &packet);
                }
            }
        }
        if self.links[link].managed().is_none() {
            return self.enter_link(events, now, &packet);
        }
        if self.links[link].is_full(now) {
            self.links[link].count_drop(now, &mut self.samples.links);
            return self.discard(PacketEvent::Drop, now, link, &packet);
        }
        if self.recorder.is_some() {
            self.record(PacketEvent::Enqueue, now, link as u32, &packet);
        }
        if self.recorder.is_none()
            && let Some(arrival) = self.links[link].decide(now, &mut packet, &mut self.samples.links)
        {
            self.settle_managed(now, link);
            return arrival.map_or((), |arrival| self.leave_link(events, arrival, &packet));
        }
        // At equal times departures come before arrivals.
        self.transmit_due(events, now, link);
        self.links[link].enqueue(now, &packet, &mut self.samples.links);
        self.settle_managed(now, link);
        self.transmit_due(events, now, link);
        self.await_transmitter(events, link);
    }

    /// The transmitter of a link with a managed queue may be free.
    pub fn on_transmitter(&mut self, events: &mut EventQueue, now: Time, link: u32) {
        let link = link as usize;
        if let Some(managed) = self.links[link].managed_mut() {
            managed.transmitter_event = false;
        }
        self.transmit_due(events, now, link);
        self.await_transmitter(events, link);
    }

    /// The timer of a router mechanism fires.
    pub fn on_router_timer(&mut self, events: &mut EventQueue, now: Time, router: u32) {
        let Some(mut mechanism) = self.routers[router as usize].take() else { return };
        let mut station = Station { now, events, network: self, router, link: usize::MAX };
        mechanism.on_timer(&mut station);
        self.routers[router as usize] = Some(mechanism);
    }

    /// Transmits what the managed queue of a link hands out, if anything: one packet, or as many as
    /// share a trace's current opportunities.
    fn transmit_due(&mut self, events: &mut EventQueue, now: Time, link: usize) {
        while self.links[link].is_free(now)
            && self.links[link].managed().is_some_and(|managed| !managed.is_empty())
        {
            self.transmit_next(events, now, link);
        }
    }

    fn transmit_next(&mut self, events: &mut EventQueue, now: Time, link: usize) {
        let next = self.links[link].dequeue(now, &mut self.samples.links);
        self.settle_managed(now, link);
        let Some(packet) = next else { return };
        let passage = self.links[link].accept(now, u32::from(packet.size), &mut self.samples.links);
        if self.recorder.is_some() {
            self.record(PacketEvent::Transmit, now, link as u32, &packet);
        }
        match passage {
            Passage::Lost { end, .. } => self.discard(PacketEvent::Lose, end, link, &packet),
            Passage::Crosses { arrival, .. } => self.leave_link(events, arrival, &packet),
            Passage::Dropped => debug_assert!(false, "a free transmitter takes a packet"),
        }
    }

    /// Schedules the link's event for when its transmitter is free, if something waits.
    fn await_transmitter(&mut self, events: &mut EventQueue, link: usize) {
        let free_at = self.links[link].free_at();
        let Some(managed) = self.links[link].managed_mut() else { return };
        if !managed.is_empty() && !managed.transmitter_event {
            managed.transmitter_event = true;
            events.push_alone(free_at, Target::Transmitter(link as u32));
        }
    }

    /// Counts and records the packets that a managed queue's discipline has just dropped and
    /// marked.
    fn settle_managed(&mut self, now: Time, link: usize) {
        let Some(managed) = self.links[link].managed_mut() else { return };
        if managed.work.dropped.is_empty() && managed.work.marked.is_empty() {
            return;
        }
        let (dropped, marked) =
            (std::mem::take(&mut managed.work.dropped), std::mem::take(&mut managed.work.marked));
        for packet in &marked {
            self.links[link].count_mark();
            if self.recorder.is_some() {
                self.record(PacketEvent::Mark, now, link as u32, packet);
            }
        }
        for packet in &dropped {
            self.links[link].count_drop(now, &mut self.samples.links);
            self.discard(PacketEvent::Drop, now, link, packet);
        }
        // The lists keep their capacity.
        if let Some(managed) = self.links[link].managed_mut() {
            (managed.work.dropped, managed.work.marked) = (dropped, marked);
        }
    }

    /// A packet ends here.
    fn discard(&mut self, event: PacketEvent, now: Time, link: usize, packet: &Packet) {
        if self.recorder.is_some() {
            self.record(event, now, link as u32, packet);
        }
        self.extras.release(packet.extra);
    }
}

impl Surroundings for Network {
    fn rate(&self, link: usize, now: Time) -> Rate {
        self.links[link].rate(now)
    }

    fn waiting(&mut self, link: usize, now: Time) -> Waiting {
        self.links[link].backlog(now, &mut self.samples.links)
    }

    fn extras(&mut self) -> &mut Extras {
        &mut self.extras
    }

    fn flow_at(&self, hop: u32) -> usize {
        self.flow_routes.partition_point(|routes| routes.forward <= hop) - 1
    }

    fn link_at(&self, hop: u32) -> usize {
        self.link_at(hop)
    }

    fn first_link(&self, flow: usize, wanted: &dyn Fn(usize) -> bool) -> Option<usize> {
        let first = self.flow_routes[flow].forward as usize;
        let route = self.routes[first..].iter().take_while(|hop| !hop.is_end());
        route.map(|hop| hop.link()).find(|&link| wanted(link))
    }

    fn acknowledgement_hop(&self, flow: usize, position: u32) -> u32 {
        self.flow_routes[flow].reverse + position
    }

    fn release(&mut self, events: &mut EventQueue, now: Time, router: u32, packet: Packet) {
        let gate = self.gates.before(self.link_at(packet.hop));
        let passed = gate.iter().position(|&index| index == router).map_or(0, |position| position + 1);
        self.pass_gate(events, now, packet, passed);
    }

    fn count_sent(&mut self, now: Time, packet: &mut Packet) {
        self.count_sent(now, packet);
    }

    fn consume(&mut self, now: Time, packet: &Packet) {
        self.consumed += 1;
        if self.recorder.is_some() {
            self.record(PacketEvent::Deliver, now, u32::MAX, packet);
        }
        self.extras.release(packet.extra);
    }
}

//! The path of a packet from stop to stop.
//!
//! [`Network::forward`] carries it to its next stop, link after link, at the time of its arrival
//! there. Where a function returns a time, the packet reaches then a receiver that is run ahead of
//! the clock; `None`: it waits at its next stop, or has ended on its way.

use super::link::Passage;
use super::route_table::Hop;
use super::{Network, marked};
use crate::engine::EventQueue;
use crate::packet::{Flags, Packet, PacketKind};
use crate::record::packets::PacketEvent;
use selfclock_congestion::units::Time;

impl Network {
    /// Carries a packet from the entrance of its `hop`'s link to its next stop.
    #[inline(always)]
    pub(super) fn forward(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) -> Option<Time> {
        if self.routes[packet.hop as usize].is_gate() {
            self.enter_gate(events, now, packet);
            return None;
        }
        self.cross(events, now, packet)
    }

    /// Carries a packet across its `hop`'s link, and on to its next stop.
    #[inline(always)]
    fn cross(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) -> Option<Time> {
        let size = u32::from(packet.size);
        let mut at = now;
        let mut hop = packet.hop as usize;
        let mut index = self.routes[hop].link();
        let (stop, order) = 'way: loop {
            // Most packets cross link after link here, with the arrays in registers.
            let (links, routes) = (&mut self.links[..], &self.routes[..]);
            while let Some(arrival) = links[index].accept_plain(at, size) {
                at = arrival;
                hop += 1;
                let next = routes[hop];
                if next.stops() {
                    break 'way (next, links[index].order());
                }
                index = next.link_passed();
            }
            at = self.accept(events, at, hop, index, packet)?;
            hop += 1;
            let next = self.routes[hop];
            if next.stops() {
                break (next, self.links[index].order());
            }
            index = next.link_passed();
        };
        self.land(events, (at, order), hop, stop, index, packet)
    }

    /// A packet arrives at link `index` in a case without a shortcut. Returns its arrival at the
    /// far end; `None` if it ended, or has been carried on.
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
            self.end_beyond_run(packet);
            return None;
        }
        let (link, size, samples) = (&mut self.links[index], u32::from(packet.size), &mut self.samples.links);
        if self.recorder.is_none()
            && let Some(arrival) = link.accept_simple(at, size, samples)
        {
            return Some(arrival);
        }
        let passage = link.accept(at, size, samples);
        if self.recorder.is_some() {
            self.record_passage(passage, at, index as u32, packet);
        }
        if let Passage::Crosses { arrival, above: false, .. } = passage {
            return Some(arrival);
        }
        self.on_unusual_passage(events, passage, hop, index, packet);
        None
    }

    /// A packet has been dropped, lost or, with an ECN-capable transport, marked by the queue of
    /// link `index`.
    #[cold]
    fn on_unusual_passage(
        &mut self,
        events: &mut EventQueue,
        passage: Passage,
        hop: usize,
        index: usize,
        packet: &Packet,
    ) {
        let after_queue = marked(packet);
        if let Passage::Crosses { above: true, .. } | Passage::Lost { above: true, .. } = passage
            && after_queue.flags.has(Flags::CE)
        {
            self.links[index].count_mark();
        }
        match passage {
            Passage::Lost { .. } | Passage::Dropped => self.extras.release(packet.extra),
            Passage::Crosses { arrival, .. } => {
                self.leave_link(events, arrival, &Packet { hop: hop as u32, ..after_queue });
            }
        }
    }

    /// A packet reaches the far end of link `index`, where its next stop is, at this time and place
    /// among events.
    #[inline(always)]
    fn land(
        &mut self,
        events: &mut EventQueue,
        (mut at, order): (Time, u64),
        hop: usize,
        stop: Hop,
        index: usize,
        packet: &Packet,
    ) -> Option<Time> {
        let stamped;
        let mut packet = packet;
        if stop.is_end() && stop.is_special() {
            if stop.coalesces() {
                let arrival = at;
                at = self.links[index].handed_over(arrival);
                // Its receiver is not run ahead: see the route table.
                if self.links[index].stamps_arrivals() {
                    stamped = self.stamped(arrival, packet);
                    packet = &stamped;
                }
            }
            if stop.is_ahead() {
                return self.deliver_ahead(at, packet);
            }
            if stop.is_foreign() {
                self.export((at, order), hop, packet);
                return None;
            }
        }
        let (landed, lane, is_news) = self.in_flight.add(at, order, packet);
        // Copied whole and then modified: assembled from parts it would be written twice.
        (landed.arrival, landed.order, landed.hop) = (at, order, hop as u32);
        if is_news {
            events.push_packets(at, order, lane, &self.in_flight);
        }
        None
    }

    /// The packet with the time stamp of a host's card. Only TCP reads it.
    #[cold]
    fn stamped(&mut self, arrival: Time, packet: &Packet) -> Packet {
        let mut stamped = *packet;
        if matches!(packet.kind, PacketKind::Data | PacketKind::Ack) {
            self.extras.of(&mut stamped).card = arrival;
        }
        stamped
    }

    /// A packet reaches a receiver that is run ahead of the clock, unless the run ends first.
    #[inline(always)]
    fn deliver_ahead(&mut self, arrival: Time, packet: &Packet) -> Option<Time> {
        if arrival > self.end {
            self.end_beyond_run(packet);
            return None;
        }
        if self.recorder.is_some() {
            self.record(PacketEvent::Deliver, arrival, u32::MAX, packet);
        }
        Some(arrival)
    }

    /// The packet's fate lies beyond what can be observed.
    #[cold]
    fn end_beyond_run(&mut self, packet: &Packet) {
        self.sent_beyond_end += 1;
        self.extras.release(packet.extra);
    }

    /// A packet enters its `hop`'s link from the gate before it.
    #[inline(never)]
    pub(super) fn enter_link(&mut self, events: &mut EventQueue, now: Time, packet: &Packet) {
        if let Some(arrival) = self.cross(events, now, packet) {
            self.hold_delivered(arrival, packet);
        }
    }

    /// A packet leaves its `hop`'s link at this time.
    pub(super) fn leave_link(&mut self, events: &mut EventQueue, at: Time, packet: &Packet) {
        let hop = packet.hop as usize + 1;
        let next = self.routes[hop];
        let delivered = if next.stops() {
            let link = self.link_at(packet.hop);
            self.land(events, (at, self.links[link].order()), hop, next, link, packet)
        } else {
            self.forward(events, at, &Packet { hop: hop as u32, ..*packet })
        };
        if let Some(arrival) = delivered {
            self.hold_delivered(arrival, packet);
        }
    }
}

//! Packets that cross from one part of a network to another: see [`super::partition`].

use super::Network;
use crate::engine::EventQueue;
use crate::packet::{Extra, NO_EXTRA, Packet};
use selfclock_congestion::units::Time;

/// Packets in transit to another part, with their out-of-line parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handover {
    packets: Vec<Packet>,
    extras: Vec<Extra>,
}

impl Handover {
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Moves the packets of `other` here.
    pub fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        let before = self.extras.len() as u32;
        for packet in other.packets.iter_mut().filter(|packet| packet.extra != NO_EXTRA) {
            packet.extra += before;
        }
        self.packets.append(&mut other.packets);
        self.extras.append(&mut other.extras);
    }
}

/// Packets from this part to each other one.
#[derive(Clone, Debug)]
pub(super) struct Exports {
    to: Vec<Handover>,
}

impl Exports {
    /// No packets yet, in a network of `parts` parts.
    pub fn new(parts: usize) -> Self {
        Self { to: vec![Handover::default(); parts] }
    }
}

impl Network {
    /// Packets sent to a part since the last exchange.
    pub(crate) fn handover_to(&mut self, part: usize) -> Option<&mut Handover> {
        self.exports.as_mut()?.to.get_mut(part).filter(|handover| !handover.is_empty())
    }

    /// A packet is at a stop of another part at this time and place among events.
    #[inline(never)]
    pub(super) fn export(&mut self, (at, order): (Time, u64), hop: usize, packet: &Packet) {
        let part = self.routes[hop].part();
        let Some(exports) = &mut self.exports else { return };
        let handover = &mut exports.to[part];
        let mut packet = Packet { arrival: at, order, hop: hop as u32, ..*packet };
        if packet.extra != NO_EXTRA {
            handover.extras.push(self.extras.get(packet.extra));
            self.extras.release(packet.extra);
            packet.extra = handover.extras.len() as u32 - 1;
        }
        handover.packets.push(packet);
    }

    /// Takes in packets sent by another part, none of them before the clock's time.
    pub(crate) fn import(&mut self, events: &mut EventQueue, handover: &mut Handover) {
        for packet in &mut handover.packets {
            if packet.extra != NO_EXTRA {
                packet.extra = self.extras.put(handover.extras[packet.extra as usize]);
            }
            let (_, lane, is_news) = self.in_flight.add(packet.arrival, packet.order, packet);
            if is_news {
                events.push_packets(packet.arrival, packet.order, lane, &self.in_flight);
            }
        }
        handover.packets.clear();
        handover.extras.clear();
    }
}

//! The engine's upper bound of speed: packets of the simulator's size in the simulator's lanes,
//! across links with only a delay, without protocol and records.
//!
//! A round trip is six hops, resolved when the packet leaves, and one stop: as in the simulator
//! with a single flow.

use crate::engine::{EventQueue, Lanes, Target, packet_order};
use crate::packet::{Flags, NO_EXTRA, Packet, PacketKind};
use selfclock_congestion::units::{Duration, Time};

/// A link with only a delay.
#[derive(Clone, Copy)]
struct Link {
    free_at: Time,
    time: Duration,
    delay: Duration,
    crossed: u64,
}

impl Link {
    const fn new(nanoseconds: u64, milliseconds: u64) -> Self {
        Self {
            free_at: Time::ZERO,
            time: Duration::from_picoseconds(nanoseconds * 1000),
            delay: Duration::from_milliseconds(milliseconds),
            crossed: 0,
        }
    }
    fn cross(&mut self, at: Time) -> Time {
        self.crossed += 1;
        self.free_at = self.free_at.max(at) + self.time;
        self.free_at + self.delay
    }
}

/// Moves packets on a dumbbell with `flows` flows and `packets` in flight of each, for `trips`
/// round trips of one packet. Returns the packet-hops, six per trip.
pub fn bare_loop(flows: u64, packets: u64, trips: u64) -> u64 {
    // Both directions of the bottleneck, then four links for each flow: to it and back, at both
    // ends.
    let mut links = vec![Link::new(2_400, 20); 2];
    links.resize(2 + 4 * flows as usize, Link::new(1_200, 5));
    let mut events = EventQueue::default();
    let mut in_flight: Lanes<Packet> = Lanes::default();
    for number in 0..flows * packets {
        let order = packet_order(0, number);
        let packet = Packet {
            arrival: Time::ZERO,
            order,
            sequence: number,
            sent: Time::ZERO,
            echo: Time::NEVER,
            flow: (number % flows) as u32,
            hop: 0,
            payload: 1460,
            size: 1500,
            kind: PacketKind::Data,
            flags: Flags::NONE,
            extra: NO_EXTRA,
            number: number as u32,
        };
        let (_, lane, is_news) = in_flight.add(packet.arrival, order, &packet);
        if is_news {
            events.push_packets(packet.arrival, order, lane, &in_flight);
        }
    }
    for _ in 0..trips {
        while events.open_epochs(&mut in_flight) {}
        let Some(Target::Packets(lane)) = events.peek().map(|event| event.target) else { break };
        let packet = in_flight.take_first(lane, |next| {
            events.advance_lane(lane, next.map(|next| (next.arrival, next.order)));
        });
        let own = 2 + 4 * packet.flow as usize;
        let last = own + 3;
        let mut at = packet.arrival;
        for link in [own, 0, own + 1, own + 2, 1, last] {
            at = links[link].cross(at);
        }
        let order = packet_order(last, links[last].crossed);
        let (landed, lane, is_news) = in_flight.add(at, order, &packet);
        (landed.arrival, landed.order) = (at, order);
        if is_news {
            events.push_packets(at, order, lane, &in_flight);
        }
    }
    links.iter().map(|link| link.crossed).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each trip is six hops, and a loop without packets makes none.
    #[test]
    fn a_trip_is_six_hops() {
        assert_eq!(bare_loop(3, 10, 1000), 6000);
        assert_eq!(bare_loop(1, 0, 1000), 0);
    }
}

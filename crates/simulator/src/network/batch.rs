//! The way of many packets at once, there and back: see `simulation::batch`.

use super::{FlowRoutes, Network, Packet};
use crate::engine::EventQueue;
use selfclock_congestion::units::{Duration, Time};

/// Most segments that one acknowledgement of a batch lets leave.
pub(crate) const MOST_SEGMENTS: usize = 4;

/// Groups of full segments, each sent at one time and answered by one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub routes: FlowRoutes,
    /// When the first group is sent, and the time from one to the next.
    pub start: Time,
    pub gap: Duration,
    /// Segments of a group, and how many of them are left for the acknowledgement of the next.
    pub segments: u64,
    pub left: u64,
    /// Sizes on the wire, bytes.
    pub segment_size: u32,
    pub acknowledgement_size: u32,
}

impl Batch {
    /// The segment of a group at which the receiver acknowledges, counted from one.
    fn answered(&self) -> usize {
        (self.segments - self.left) as usize
    }
}

/// Fate of the first group of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// Number of groups that behave alike, this one included.
    pub groups: u64,
    /// Its segments at the receiver, as many as there are.
    received: [Time; MOST_SEGMENTS],
    /// Its acknowledgement, at the receiver and at the sender.
    acknowledged: Time,
    arrival: Time,
    /// The place of that among events at the same time; the place of the next group's is the next.
    order: u64,
    /// The end of the way back in the route table.
    hop: u32,
}

impl Passage {
    /// When the segments of the first group arrive at the receiver.
    pub fn received(&self, batch: &Batch) -> &[Time] {
        &self.received[..batch.segments as usize]
    }
    /// When the first of those arrives that are left for the next acknowledgement, if any is.
    pub fn first_left(&self, batch: &Batch) -> Option<Time> {
        self.received(batch).get(batch.answered()).copied()
    }
}

impl Network {
    /// A packet of this lane arrives at the end of its route, and `more` others of its flow after
    /// it, each a `gap` later. `None`: fewer than three, or none may follow.
    #[inline]
    pub(crate) fn batch_gap(&self, lane: u32) -> Option<Duration> {
        let first = self.in_flight.get(lane, 0)?;
        let next = self.in_flight.get(lane, 1)?;
        let third = self.in_flight.get(lane, 2)?;
        let gap = next.arrival.since(first.arrival);
        let alike = |packet: &Packet| packet.flow == first.flow && packet.hop == first.hop;
        let is_batch =
            third.arrival.since(next.arrival) == gap && !gap.is_zero() && alike(next) && alike(third);
        is_batch.then_some(gap)
    }

    /// The first packet of a lane.
    #[inline(always)]
    pub(crate) fn first_of(&self, lane: u32) -> Option<&Packet> {
        self.in_flight.get(lane, 0)
    }

    /// Fate of the groups of a batch, if nothing else happens in the network. `None`: nothing is
    /// known.
    pub(crate) fn passage(&self, batch: &Batch) -> Option<Passage> {
        let mut received = [batch.start; MOST_SEGMENTS];
        let times = received.get_mut(..batch.segments as usize)?;
        let (there, _) = self.groups_alike(batch.routes.forward, batch.segment_size, batch.gap, times)?;
        let acknowledged = times[batch.answered() - 1];
        // What arrives after the end is not acknowledged any more.
        let last = times[times.len() - 1];
        if last > self.end {
            return None;
        }
        let until_end = (self.end.since(last).picoseconds() / batch.gap.picoseconds()).saturating_add(1);
        let mut back = [acknowledged];
        let (on_way_back, hop) =
            self.groups_alike(batch.routes.reverse, batch.acknowledgement_size, batch.gap, &mut back)?;
        let groups = there.min(on_way_back).min(until_end);
        let last_link = self.routes[hop as usize - 1].link();
        let order = self.links[last_link].order() + 1;
        Some(Passage { groups, received, acknowledged, arrival: back[0], order, hop })
    }

    /// How many groups cross all links of a route as the first one does, and the end of the route.
    /// The times at which that leaves become those at the end.
    fn groups_alike(&self, route: u32, size: u32, gap: Duration, times: &mut [Time]) -> Option<(u64, u32)> {
        let (mut groups, mut hop) = (u64::MAX, route as usize);
        loop {
            let link = &self.links[self.routes[hop].link()];
            groups = groups.min(link.groups_alike(size, gap, times));
            hop += 1;
            if groups == 0 {
                return None;
            }
            let next = self.routes[hop];
            if next.stops() {
                return (!next.coalesces()).then_some((groups, hop as u32));
            }
        }
    }

    /// Number of groups of a batch, at least one, that have crossed the network.
    pub(crate) fn take_batch(&mut self, batch: &Batch, groups: u64) {
        let mut times = [batch.start; MOST_SEGMENTS];
        let times = &mut times[..batch.segments as usize];
        self.take_groups(batch.routes.forward, batch.segment_size, batch.gap, times, groups);
        let mut back = [times[batch.answered() - 1]];
        self.take_groups(batch.routes.reverse, batch.acknowledgement_size, batch.gap, &mut back, groups);
    }

    fn take_groups(&mut self, route: u32, size: u32, gap: Duration, times: &mut [Time], groups: u64) {
        let mut hop = route as usize;
        while !self.routes[hop].stops() {
            let index = self.routes[hop].link();
            self.links[index].take_groups(size, gap, times, groups);
            hop += 1;
        }
    }

    /// The next acknowledgement of a batch has left its lane, of which the entry in the event queue
    /// is not moved.
    #[inline(always)]
    pub(crate) fn drop_of_batch(&mut self, lane: u32) {
        self.in_flight.drop_first(lane);
    }

    /// Number of ACKs in a lane.
    pub(crate) fn batch_length(&self, lane: u32) -> u64 {
        self.in_flight.length_of(lane) as u64
    }

    /// The group at this position in a batch was sent, `lag` after the first, and its ACK is on its
    /// way.
    #[inline(always)]
    pub(crate) fn land_acknowledgement(
        &mut self,
        events: &mut EventQueue,
        batch: &Batch,
        passage: &Passage,
        (groups, lag): (u64, Duration),
        acknowledgement: &mut Packet,
    ) {
        acknowledgement.number = (self.packets_sent + batch.segments) as u32;
        self.packets_sent += batch.segments + 1;
        let (at, order) = (passage.arrival + lag, passage.order + groups);
        acknowledgement.sent = passage.acknowledged + lag;
        (acknowledgement.arrival, acknowledgement.order) = (at, order);
        acknowledgement.hop = passage.hop;
        let (_, lane, is_news) = self.in_flight.add(at, order, acknowledgement);
        if is_news {
            events.push_packets(at, order, lane, &self.in_flight);
        }
    }

    /// The entry of a lane, the first in the event queue, is moved to its next packet.
    #[inline]
    pub(crate) fn advance_lane(&mut self, events: &mut EventQueue, lane: u32) {
        events.advance_lane(lane, self.in_flight.first_due(lane));
    }
}

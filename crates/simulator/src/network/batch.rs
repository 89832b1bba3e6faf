//! The path of many packets at once, both ways: see `simulation::batch`.

use super::{FlowRoutes, Network, Packet};
use crate::engine::EventQueue;
use selfclock_congestion::units::{Duration, Time};

/// Maximum number of segments that one ACK of a batch releases.
pub(crate) const MOST_SEGMENTS: usize = 4;

/// Groups of full segments, each sent at one time and answered by one ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub routes: FlowRoutes,
    /// Send time of the first group, and time from one to the next.
    pub start: Time,
    pub gap: Duration,
    /// Segments of a group, and how many of them are left for the ACK of the next.
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
    /// Number of groups that behave alike, including this one.
    pub groups: u64,
    /// Arrivals of its segments at the receiver.
    received: [Time; MOST_SEGMENTS],
    /// Departure of its ACK from the receiver, and arrival at the sender.
    acknowledged: Time,
    arrival: Time,
    /// The ACK's place among events at the same time; the next group's ACK has the next place.
    order: u64,
    /// End of the return path in the route table.
    hop: u32,
}

impl Passage {
    /// Arrivals of the first group's segments at the receiver.
    pub fn received(&self, batch: &Batch) -> &[Time] {
        &self.received[..batch.segments as usize]
    }
    /// The last of these arrivals.
    pub fn last_received(&self, batch: &Batch) -> Time {
        self.received[batch.segments as usize - 1]
    }
    /// Arrival of the first segment left for the next ACK, if any.
    pub fn first_left(&self, batch: &Batch) -> Option<Time> {
        self.received(batch).get(batch.answered()).copied()
    }
}

impl Network {
    /// The head of this lane arrives at the end of its route, followed by `more` packets of its
    /// flow, each a `gap` later. `None`: fewer than three, or none may follow.
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

    /// Fate of the groups of a batch, if nothing else happens in the network. `None` if unknown.
    pub(crate) fn passage(&self, batch: &Batch) -> Option<Passage> {
        let mut received = [batch.start; MOST_SEGMENTS];
        let times = received.get_mut(..batch.segments as usize)?;
        let (there, _) = self.groups_alike(batch.routes.forward, batch.segment_size, batch.gap, times)?;
        let acknowledged = times[batch.answered() - 1];
        // Arrivals after the end are no longer acknowledged.
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

    /// Number of groups that cross all links of a route like the first, and the end of the route.
    /// The departure times become arrival times.
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

    /// Applies the passage of the first `groups` groups, at least one, of a batch.
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

    /// Removes the next ACK of a batch from its lane, without moving the lane's entry in the event
    /// queue.
    #[inline(always)]
    pub(crate) fn drop_of_batch(&mut self, lane: u32) {
        self.in_flight.drop_first(lane);
    }

    /// Number of ACKs in a lane.
    pub(crate) fn batch_length(&self, lane: u32) -> u64 {
        self.in_flight.length_of(lane) as u64
    }

    /// Sends the group at this position in a batch, `lag` after the first, and its ACK.
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

    /// Moves the first entry of the event queue to the next packet of its lane.
    #[inline]
    pub(crate) fn advance_lane(&mut self, events: &mut EventQueue, lane: u32) {
        events.advance_lane(lane, self.in_flight.first_due(lane));
    }
}

//! The way of many packets at once, there and back: see `simulation::train`.

use super::{COALESCES, FlowRoutes, LINK, Network, Packet, STOP};
use crate::engine::EventQueue;
use selfclock_congestion::units::{Duration, Time};

/// Most segments that one acknowledgement of a train lets leave.
pub(crate) const MOST_SEGMENTS: usize = 4;

/// Groups of full segments, each sent at one time and answered by one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Train {
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

impl Train {
    /// The segment of a group at which the receiver acknowledges, counted from one.
    fn answered(&self) -> usize {
        (self.segments - self.left) as usize
    }
}

/// What becomes of the first group of a train.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// So many groups, this one among them, do as it does.
    pub groups: u64,
    /// Its segments at the receiver, as many as there are.
    received: [Time; MOST_SEGMENTS],
    /// Its acknowledgement, at the receiver and at the sender.
    acknowledged: Time,
    arrival: Time,
    /// The end of the way back in the route table.
    hop: u32,
}

impl Passage {
    /// When the segments of the first group arrive at the receiver.
    pub fn received(&self, train: &Train) -> &[Time] {
        &self.received[..train.segments as usize]
    }
    /// When the first of those arrives that are left for the next acknowledgement, if any is.
    pub fn first_left(&self, train: &Train) -> Option<Time> {
        self.received(train).get(train.answered()).copied()
    }
}

impl Network {
    /// A packet of this run arrives at the end of its route, and so many others of its flow after it, each a `gap` later. `None`:
    /// fewer than three, or none may follow.
    #[inline]
    pub(crate) fn train_gap(&self, run: u32) -> Option<Duration> {
        let first = self.in_flight.get(run, 0)?;
        let next = self.in_flight.get(run, 1)?;
        let third = self.in_flight.get(run, 2)?;
        let gap = next.arrival.since(first.arrival);
        let alike = |packet: &Packet| packet.flow == first.flow && packet.hop == first.hop;
        let is_train =
            third.arrival.since(next.arrival) == gap && !gap.is_zero() && alike(next) && alike(third);
        is_train.then_some(gap)
    }

    /// The first packet of a run.
    #[inline(always)]
    pub(crate) fn first_of(&self, run: u32) -> Option<&Packet> {
        self.in_flight.get(run, 0)
    }

    /// What becomes of the groups of a train, if nothing else happens in the network. `None`: nothing is known.
    pub(crate) fn passage(&self, train: &Train) -> Option<Passage> {
        let mut received = [train.start; MOST_SEGMENTS];
        let times = received.get_mut(..train.segments as usize)?;
        let (there, _) = self.groups_alike(train.routes.forward, train.segment_size, train.gap, times)?;
        let acknowledged = times[train.answered() - 1];
        // What arrives after the end is not acknowledged any more.
        let last = times[times.len() - 1];
        if last > self.end {
            return None;
        }
        let until_end = (self.end.since(last).picoseconds() / train.gap.picoseconds()).saturating_add(1);
        let mut back = [acknowledged];
        let (on_way_back, hop) =
            self.groups_alike(train.routes.reverse, train.acknowledgement_size, train.gap, &mut back)?;
        let groups = there.min(on_way_back).min(until_end);
        Some(Passage { groups, received, acknowledged, arrival: back[0], hop })
    }

    /// How many groups cross all links of a route as the first one does, and the end of the route. The times at which that
    /// leaves become those at the end.
    fn groups_alike(&self, route: u32, size: u32, gap: Duration, times: &mut [Time]) -> Option<(u64, u32)> {
        let (mut groups, mut hop) = (u64::MAX, route as usize);
        loop {
            let link = &self.links[(self.routes[hop] & LINK) as usize];
            groups = groups.min(link.groups_alike(size, gap, times));
            hop += 1;
            if groups == 0 {
                return None;
            }
            let next = self.routes[hop];
            if next & STOP != 0 {
                return (next & COALESCES == 0).then_some((groups, hop as u32));
            }
        }
    }

    /// So many groups of a train, not none, have crossed the network.
    pub(crate) fn take_train(&mut self, train: &Train, groups: u64) {
        let mut times = [train.start; MOST_SEGMENTS];
        let times = &mut times[..train.segments as usize];
        self.take_groups(train.routes.forward, train.segment_size, train.gap, times, groups);
        let mut back = [times[train.answered() - 1]];
        self.take_groups(train.routes.reverse, train.acknowledgement_size, train.gap, &mut back, groups);
    }

    fn take_groups(&mut self, route: u32, size: u32, gap: Duration, times: &mut [Time], groups: u64) {
        let mut hop = route as usize;
        while self.routes[hop] & STOP == 0 {
            let index = (self.routes[hop] & LINK) as usize;
            self.links[index].take_groups(size, gap, times, groups);
            hop += 1;
        }
    }

    /// The next acknowledgement of a train has left its run, of which the entry in the event queue is not moved.
    #[inline(always)]
    pub(crate) fn drop_of_train(&mut self, run: u32) {
        self.in_flight.drop_first(run);
    }

    /// So many acknowledgements are in a run.
    pub(crate) fn train_length(&self, run: u32) -> u64 {
        self.in_flight.length_of(run) as u64
    }

    /// The next group of a train was sent, and its acknowledgement is on its way: `lag` after the first group's. Returns the order
    /// number of the receiver's timer, if it has to set one.
    #[inline(always)]
    pub(crate) fn land_acknowledgement(
        &mut self,
        events: &mut EventQueue,
        train: &Train,
        passage: &Passage,
        lag: Duration,
        acknowledgement: &mut Packet,
    ) -> u64 {
        acknowledgement.number = (self.packets_sent + train.segments) as u32;
        self.packets_sent += train.segments + 1;
        // The receiver sets its timer for the first segment that it does not acknowledge at once.
        let before = if train.segments > 1 && train.left == 0 { events.take_order() } else { 0 };
        let (at, order) = (passage.arrival + lag, events.take_order());
        acknowledgement.sent = passage.acknowledged + lag;
        (acknowledgement.arrival, acknowledgement.order) = (at, order);
        acknowledgement.hop = passage.hop;
        let (_, run, is_first) = self.in_flight.add(at, order, acknowledgement);
        if is_first {
            events.push_run(at, order, run);
        }
        if train.left > 0 { events.take_order() } else { before }
    }

    /// The entry of a run, the first in the event queue, is moved to its next packet.
    #[inline]
    pub(crate) fn advance_run(&mut self, events: &mut EventQueue, run: u32) {
        events.advance_run(run, self.in_flight.first_due(run));
    }
}

//! Fair queueing by deficit round robin: a queue for each flow, served in turn by bytes. Shreedhar
//! and Varghese 1995.

use super::managed::{Discipline, LinkSite, Work};
use crate::engine::Ring;
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::units::Bytes;

selfclock_congestion::parameters! {
    /// Settings of deficit round robin.
    Parameters {
        /// Quantum of a round: at least a packet, or rounds pass without one.
        quantum: Bytes = Bytes(1500), shown "1500 B", unit "B", range (1.0, 65535.0), source "Shreedhar and Varghese 1995, section 3.2: a largest packet";
    }
}
settings!(
    Parameters,
    "drr",
    "Deficit round robin, a queue for each flow; the longest loses a packet when there is no room.",
    "Shreedhar and Varghese 1995"
);

/// A queue for each flow.
#[derive(Clone, Debug)]
pub(crate) struct Drr {
    quantum: i64,
    flows: Vec<FlowQueue>,
    /// Flows with packets, in the order of service: "ActiveList".
    active: Ring<u32>,
    /// The first of them has been given its quantum of this round.
    is_turn_begun: bool,
}

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    waiting: Ring<Packet>,
    bytes: u64,
    deficit: i64,
    is_active: bool,
}

impl Drr {
    /// "When there are no more free buffers, the packet at the end of the longest queue is dropped"
    /// (buffer stealing); here the first packet, of which the sender learns sooner. False if
    /// nothing waits.
    fn drop_from_longest(&mut self, work: &mut Work) -> bool {
        // The first of several longest queues.
        let longest = self.flows.iter_mut().enumerate().rev().max_by_key(|(_, queue)| queue.bytes);
        let Some((index, queue)) = longest else { return false };
        let Some(packet) = queue.waiting.pop() else { return false };
        queue.bytes -= u64::from(packet.size);
        work.left(&packet);
        work.drop(packet);
        if queue.waiting.is_empty() {
            self.deactivate(index as u32);
        }
        true
    }

    /// A flow has lost its only packet for want of room and is no longer active: its place and its
    /// credit are not kept for its next packet.
    fn deactivate(&mut self, flow: u32) {
        self.flows[flow as usize].is_active = false;
        if self.active.front() == Some(&flow) {
            self.is_turn_begun = false;
        }
        for _ in 0..self.active.len() {
            if let Some(other) = self.active.pop()
                && other != flow
            {
                self.active.push(other);
            }
        }
    }

    /// The turn of the first flow ends.
    fn end_turn(&mut self) {
        self.active.drop_front();
        self.is_turn_begun = false;
    }
}

impl Discipline for Drr {
    type Settings = Parameters;

    fn new(settings: Parameters, _: LinkSite) -> Self {
        Self {
            quantum: settings.quantum.get() as i64,
            flows: Vec::new(),
            active: Ring::default(),
            is_turn_begun: false,
        }
    }

    fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        let index = packet.flow as usize;
        if index >= self.flows.len() {
            self.flows.resize_with(index + 1, FlowQueue::default);
        }
        let queue = &mut self.flows[index];
        queue.bytes += u64::from(packet.size);
        queue.waiting.push(packet);
        work.entered(&packet);
        if !queue.is_active {
            queue.is_active = true;
            queue.deficit = 0;
            self.active.push(packet.flow);
        }
        // The dropped packet may be smaller than the arriving one.
        while work.backlog.is_over() && self.drop_from_longest(work) {}
    }

    /// Figure 3: a flow is given its quantum when its turn comes, and sends in the same turn while
    /// the packets fit; the credit of one that sends its last packet is void.
    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        loop {
            let index = *self.active.front()?;
            let queue = &mut self.flows[index as usize];
            if !self.is_turn_begun {
                queue.deficit += self.quantum;
                self.is_turn_begun = true;
            }
            if queue.waiting.front().is_none_or(|first| i64::from(first.size) > queue.deficit) {
                self.end_turn();
                self.active.push(index);
                continue;
            }
            let packet = queue.waiting.pop()?;
            queue.deficit -= i64::from(packet.size);
            queue.bytes -= u64::from(packet.size);
            work.left(&packet);
            if queue.waiting.is_empty() {
                queue.is_active = false;
                self.end_turn();
            }
            return Some(packet);
        }
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.flows.iter().flat_map(|queue| queue.waiting.iter()).for_each(show);
    }

    fn marks(_: &Parameters) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Flags, NO_EXTRA, PacketKind};
    use crate::queue::managed::tests::site;
    use crate::queue::{self, ManagedQueue, QueueLimit};
    use selfclock_congestion::units::Time;

    fn packet(flow: u32) -> Packet {
        Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: 0,
            sent: Time::ZERO,
            echo: Time::NEVER,
            flow,
            hop: 0,
            payload: 1460,
            size: 1500,
            kind: PacketKind::Data,
            flags: Flags::NONE,
            extra: NO_EXTRA,
            number: 0,
        }
    }

    /// A packet of a new flow beside `n` backlogged ones is served within a round: as the `n`-th
    /// packet from its arrival on. A flow's first turn used to give it credit only, so that it
    /// waited two rounds. On 10 Mbit/s and with ten flows that is 12.0 ms at most (24.0 before), as
    /// with ns-2's DRR.
    #[test]
    fn a_new_flow_waits_one_round() {
        for flows in [1, 2, 5, 10, 40] {
            for before in 0..3 * flows {
                let drr = Drr::new(Parameters::default(), site());
                let discipline = queue::AnyDiscipline::Drr(drr);
                let mut queue = ManagedQueue::new(discipline, QueueLimit::Unlimited, false);
                for index in 0..10 * flows {
                    queue.enqueue(Time::ZERO, &packet(index % flows), None, true, (0, 0));
                }
                for _ in 0..=before {
                    queue.dequeue(Time::ZERO);
                }
                queue.enqueue(Time::ZERO, &packet(flows), None, true, (0, 0));
                let mut served = 1;
                while queue.dequeue(Time::ZERO).is_some_and(|packet| packet.flow != flows) {
                    served += 1;
                }
                assert_eq!(served, flows, "after {before} packets");
            }
        }
    }

    /// State per flow, bytes, as in docs/validation.md, without the packets held.
    #[test]
    fn state_for_each_flow() {
        assert_eq!(size_of::<FlowQueue>(), 64);
    }
}

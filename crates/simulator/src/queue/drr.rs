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
    /// Flows with packets, in the order of service.
    active: Ring<u32>,
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
        let longest = self.flows.iter_mut().rev().max_by_key(|queue| queue.bytes);
        if let Some(queue) = longest
            && let Some(packet) = queue.waiting.pop()
        {
            queue.bytes -= u64::from(packet.size);
            work.left(&packet);
            work.drop(packet);
            return true;
        }
        false
    }
}

impl Discipline for Drr {
    type Settings = Parameters;

    fn new(settings: Parameters, _: LinkSite) -> Self {
        Self { quantum: settings.quantum.get() as i64, flows: Vec::new(), active: Ring::default() }
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

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        loop {
            let index = *self.active.front()?;
            let queue = &mut self.flows[index as usize];
            match queue.waiting.front() {
                Some(first) if i64::from(first.size) <= queue.deficit => {
                    let packet = queue.waiting.pop()?;
                    queue.deficit -= i64::from(packet.size);
                    queue.bytes -= u64::from(packet.size);
                    work.left(&packet);
                    return Some(packet);
                }
                Some(_) => {
                    queue.deficit += self.quantum;
                    self.active.drop_front();
                    self.active.push(index);
                }
                None => {
                    queue.is_active = false;
                    self.active.drop_front();
                }
            }
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

    /// State per flow, bytes, as in docs/validation.md, without the packets held.
    #[test]
    fn state_for_each_flow() {
        assert_eq!(size_of::<FlowQueue>(), 64);
    }
}

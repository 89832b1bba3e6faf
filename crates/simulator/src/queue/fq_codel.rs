//! FQ-CoDel: queues chosen by a hash of the flow, served in turn, new ones first, each with CoDel. RFC 8290.

use super::codel::CoDelState;
use super::managed::Work;
use crate::engine::Ring;
use crate::network::Packet;
use crate::plan::{CoDelPlan, FqCoDelPlan};

/// Packets dropped at once from the fattest queue when there is no room: half of it, at most so many.
const DROP_BATCH: usize = 64;

/// Queues with CoDel.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    codel: CoDelPlan,
    quantum: i64,
    /// Perturbs the hash.
    salt: u64,
    queues: Vec<FlowQueue>,
    new: Ring<u32>,
    old: Ring<u32>,
}

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    waiting: Ring<Packet>,
    state: CoDelState,
    /// "Byte credits".
    deficit: i64,
    bytes: u64,
    is_active: bool,
}

impl FqCoDel {
    /// Empty queues; `salt` perturbs the hash.
    pub fn new(plan: FqCoDelPlan, salt: u64) -> Self {
        let queues = vec![FlowQueue::default(); plan.flows as usize];
        let quantum = plan.quantum.get() as i64;
        Self { codel: plan.codel, quantum, salt, queues, new: Ring::default(), old: Ring::default() }
    }

    fn queue_of(&self, flow: u32) -> u32 {
        // The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
        let mut hash = (u64::from(flow) ^ self.salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((hash ^ hash >> 31) % self.queues.len() as u64) as u32
    }

    pub(super) fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        let index = self.queue_of(packet.flow);
        let queue = &mut self.queues[index as usize];
        queue.state.on_enqueue(&packet);
        queue.bytes += u64::from(packet.size);
        queue.waiting.push(packet);
        work.entered(&packet);
        if !queue.is_active {
            queue.is_active = true;
            queue.deficit = self.quantum;
            self.new.push(index);
        }
        // Those that are dropped may be smaller than the one that came.
        while work.backlog.is_over() && self.drop_from_fattest(work) {}
    }

    /// "The queue with the largest current byte count" loses half of its packets from the head, at most 64. False if
    /// nothing waits.
    fn drop_from_fattest(&mut self, work: &mut Work) -> bool {
        let mut fattest = 0;
        for (index, queue) in self.queues.iter().enumerate() {
            if queue.bytes > self.queues[fattest].bytes {
                fattest = index;
            }
        }
        let queue = &mut self.queues[fattest];
        let batch = queue.waiting.len().div_ceil(2).min(DROP_BATCH);
        for _ in 0..batch {
            let Some(packet) = queue.waiting.pop() else { return false };
            queue.bytes -= u64::from(packet.size);
            queue.state.on_removed(&packet);
            work.left(&packet);
            work.drop(packet);
        }
        batch > 0
    }

    pub(super) fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.drop_front();
                self.old.push(index);
                continue;
            }
            let packet = queue.state.dequeue(&self.codel, &mut queue.waiting, work);
            queue.bytes = queue.state.bytes();
            if let Some(packet) = packet {
                queue.deficit -= i64::from(packet.size);
                return Some(packet);
            }
            list.drop_front();
            // A new queue goes through the old ones once, so that it cannot be new for ever.
            if from_new && !self.old.is_empty() {
                self.old.push(index);
            } else {
                queue.is_active = false;
            }
        }
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|queue| queue.waiting.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State for each flow, bytes, as docs/validation.md has it; the packets that are held come on top.
    #[test]
    fn state_for_each_flow() {
        assert_eq!(size_of::<FlowQueue>(), 128);
    }
}

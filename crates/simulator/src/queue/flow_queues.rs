//! Flow queueing, RFC 8290, section 4: queues chosen by a hash of the flow, served in turn by
//! bytes, new ones first.

use super::managed::Work;
use crate::engine::Ring;
use crate::packet::Packet;

/// Maximum number of packets dropped at once from the fattest queue when there is no room;
/// otherwise half of it.
const DROP_BATCH: usize = 64;

/// Queues, each with the state `S` of its manager.
#[derive(Clone, Debug)]
pub struct FlowQueues<S> {
    quantum: i64,
    /// Perturbs the hash.
    salt: u64,
    queues: Vec<FlowQueue<S>>,
    new: Ring<u32>,
    old: Ring<u32>,
}

/// One of them.
#[derive(Clone, Debug, Default)]
pub struct FlowQueue<S> {
    /// Packets waiting in it.
    pub waiting: Ring<Packet>,
    /// State of its manager.
    pub state: S,
    /// "Byte credits".
    deficit: i64,
    /// Bytes that wait in it.
    pub bytes: u64,
    is_active: bool,
}

/// The per-queue manager also sees packets removed by others.
pub trait QueueState {
    /// A packet was dropped from the queue to make room.
    fn on_removed(&mut self, packet: &Packet);
    /// `packets` packets were, and its manager counts them as drops of its own.
    fn on_overflow(&mut self, packets: u64);
}

impl<S: QueueState + Clone + Default> FlowQueues<S> {
    /// Empty queues; `salt` perturbs the hash.
    pub fn new(queues: u32, quantum: u64, salt: u64) -> Self {
        let queues = vec![FlowQueue::default(); queues as usize];
        Self { quantum: quantum as i64, salt, queues, new: Ring::default(), old: Ring::default() }
    }
}

impl<S: QueueState> FlowQueues<S> {
    /// The queue of a flow.
    pub fn index_of(&self, flow: u32) -> u32 {
        // The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
        let mut hash = (u64::from(flow) ^ self.salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((hash ^ hash >> 31) % self.queues.len() as u64) as u32
    }

    /// The queue at this index.
    pub fn queue_mut(&mut self, index: u32) -> &mut FlowQueue<S> {
        &mut self.queues[index as usize]
    }

    /// A packet enters a queue; others are dropped if there is no room, which the manager of theirs
    /// `counts` or not.
    pub fn push(&mut self, index: u32, packet: Packet, counts: bool, work: &mut Work) {
        let queue = &mut self.queues[index as usize];
        queue.bytes += u64::from(packet.size);
        queue.waiting.push(packet);
        work.entered(&packet);
        self.activate(index);
        // Those that are dropped may be smaller than the one that came.
        while work.backlog.is_over() && self.drop_from_fattest(counts, work) {}
    }

    /// A queue without packets is new when one enters it.
    #[inline]
    pub fn activate(&mut self, index: u32) {
        let queue = &mut self.queues[index as usize];
        if !queue.is_active {
            queue.is_active = true;
            queue.deficit = self.quantum;
            self.new.push(index);
        }
    }

    /// "The queue with the largest current byte count" loses half of its packets from the head, at
    /// most 64. False if nothing waits.
    fn drop_from_fattest(&mut self, counts: bool, work: &mut Work) -> bool {
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
        if counts {
            queue.state.on_overflow(batch as u64);
        }
        batch > 0
    }

    /// The next packet in the order of the queues; `take` takes the next one of the queue at an
    /// index, and keeps its `bytes`.
    #[inline]
    pub fn serve(
        &mut self,
        work: &mut Work,
        mut take: impl FnMut(u32, &mut FlowQueue<S>, &mut Work) -> Option<Packet>,
    ) -> Option<Packet> {
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
            if let Some(packet) = take(index, queue, work) {
                queue.deficit -= i64::from(packet.size);
                return Some(packet);
            }
            list.drop_front();
            // A new queue goes through the old ones once, so that it cannot be new for ever.
            if from_new {
                self.old.push(index);
            } else {
                queue.is_active = false;
            }
        }
    }

    /// Every packet that waits.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|queue| queue.waiting.iter())
    }
}

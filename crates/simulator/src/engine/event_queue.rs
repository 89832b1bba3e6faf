//! The event queue: sorted runs of what is due, and a four-ary heap of the first of each run.
//!
//! However many packets and timers there are, the heap holds one entry for each run (see [`super::runs`]): a handful.
//! Four children share a cache line pair and halve the depth of a binary heap.

use super::runs::{Due, Runs};
use selfclock_congestion::units::Time;

/// What an event is for, packed into 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The first packet of this run of packets in flight reaches its next stop.
    Packets(u32),
    /// Retransmission timer of this flow's sender.
    Retransmission(u32),
    /// This flow's sender may release the next segment.
    Release(u32),
    /// This flow's application starts, writes or stops.
    Application(u32),
    /// Delayed-acknowledgement timer of this flow's receiver.
    DelayedAck(u32),
    /// Reordering or loss-probe timer of this flow's sender.
    Rack(u32),
    /// The transmitter of this link, whose queue is not drop-tail, is free for the next packet.
    Transmitter(u32),
    /// Timer of this router mechanism.
    Router(u32),
}

const KIND_SHIFT: u32 = 28;

/// Links and flows that the packing has room for.
pub const MAXIMUM_INDEX: u32 = (1 << KIND_SHIFT) - 1;

impl Target {
    #[inline]
    const fn pack(self) -> u32 {
        match self {
            Self::Packets(index) => index,
            Self::Retransmission(index) => 1 << KIND_SHIFT | index,
            Self::Release(index) => 2 << KIND_SHIFT | index,
            Self::Application(index) => 3 << KIND_SHIFT | index,
            Self::DelayedAck(index) => 4 << KIND_SHIFT | index,
            Self::Rack(index) => 5 << KIND_SHIFT | index,
            Self::Transmitter(index) => 6 << KIND_SHIFT | index,
            Self::Router(index) => 7 << KIND_SHIFT | index,
        }
    }
    #[inline]
    const fn unpack(packed: u32) -> Self {
        let index = packed & MAXIMUM_INDEX;
        match packed >> KIND_SHIFT {
            0 => Self::Packets(index),
            1 => Self::Retransmission(index),
            2 => Self::Release(index),
            3 => Self::Application(index),
            4 => Self::DelayedAck(index),
            5 => Self::Rack(index),
            6 => Self::Transmitter(index),
            _ => Self::Router(index),
        }
    }
}

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Position among events at the same time.
    pub order: u64,
    /// For whom.
    pub target: Target,
}

/// An entry is put together in registers and its parts stored one by one, each in the width in which it is loaded: stored and
/// then loaded in another width, it would wait for every earlier store to reach the cache.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    order: u64,
    /// Its target, and in the upper half the run of timers that it is the first of, if it is one.
    whose: u64,
}

impl Entry {
    #[inline(always)]
    fn new(time: Time, order: u64, target: u32, run: u32) -> Self {
        Self { time: time.picoseconds(), order, whose: u64::from(run) << 32 | u64::from(target) }
    }
    #[inline(always)]
    const fn target(&self) -> u32 {
        self.whose as u32
    }
    #[inline(always)]
    const fn run(&self) -> u32 {
        (self.whose >> 32) as u32
    }
    #[inline(always)]
    fn before(&self, other: &Self) -> bool {
        // One comparison of 128 bits instead of two with a branch between them.
        ((self.time as u128) << 64 | self.order as u128) < ((other.time as u128) << 64 | other.order as u128)
    }
    #[inline(always)]
    fn put(&self, place: &mut Self) {
        place.time = self.time;
        place.order = self.order;
        place.whose = self.whose;
    }
}

/// A timer in a run of them.
#[derive(Clone, Copy, Debug)]
struct Timed {
    time: Time,
    order: u64,
    target: u32,
}

impl Due for Timed {
    #[inline]
    fn time(&self) -> Time {
        self.time
    }
    #[inline]
    fn order(&self) -> u64 {
        self.order
    }
}

/// The event queue.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<Entry>,
    timers: Runs<Timed>,
    next_order: u64,
}

const ARITY: usize = 4;

impl EventQueue {
    /// The next order number: draw one when an event is scheduled.
    #[inline]
    pub fn take_order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    /// Adds an event, other than for packets.
    #[inline]
    pub fn push(&mut self, time: Time, order: u64, target: Target) {
        let target = target.pack();
        let (_, run, is_first) = self.timers.add(time, order, &Timed { time, order, target });
        if is_first {
            self.push_entry(Entry::new(time, order, target, run));
        }
    }

    /// Adds a run of packets that was empty: when its first packet is due.
    #[inline]
    pub fn push_run(&mut self, time: Time, order: u64, run: u32) {
        let target = Target::Packets(run).pack();
        self.push_entry(Entry::new(time, order, target, 0));
    }

    fn push_entry(&mut self, entry: Entry) {
        self.heap.push(entry);
        self.sift_up(self.heap.len() - 1);
    }

    /// The earliest event.
    #[inline]
    pub fn peek(&self) -> Option<Event> {
        self.heap.first().map(|entry| Event {
            time: Time::from_picoseconds(entry.time),
            order: entry.order,
            target: Target::unpack(entry.target()),
        })
    }

    /// Removes the earliest event, which is not for packets.
    #[inline]
    pub fn pop(&mut self) {
        let Some(run) = self.heap.first().map(Entry::run) else { return };
        self.timers.take_first(run);
        match self.timers.first(run) {
            Some(&Timed { time, order, target }) => {
                self.replace_first(Entry::new(time, order, target, run));
            }
            None => self.drop_first(),
        }
    }

    /// The earliest event was for packets, of a run whose next packet is due then; `None`: it is now empty.
    #[inline(always)]
    pub fn advance_run(&mut self, run: u32, next: Option<(Time, u64)>) {
        match next {
            Some((time, order)) => {
                let target = Target::Packets(run).pack();
                self.replace_first(Entry::new(time, order, target, 0));
            }
            None => self.drop_first(),
        }
    }

    #[cold]
    fn drop_first(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.replace_first(last);
        }
    }

    /// Number of events waiting; a run of packets counts as one.
    pub fn len(&self) -> usize {
        let packets =
            self.heap.iter().filter(|entry| matches!(Target::unpack(entry.target()), Target::Packets(_)));
        self.timers.len() + packets.count()
    }

    /// No event is waiting.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn sift_up(&mut self, mut index: usize) {
        let entry = self.heap[index];
        while index > 0 {
            let parent = (index - 1) / ARITY;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[index] = self.heap[parent];
            index = parent;
        }
        self.heap[index] = entry;
    }

    /// The least child of a place in the heap, and where it is.
    #[inline(always)]
    fn least_child(&self, index: usize) -> Option<(usize, Entry)> {
        let first = index * ARITY + 1;
        let (head, others) = self.heap.get(first..)?.split_first()?;
        let (mut least, mut best) = (first, head);
        for (offset, child) in others.iter().take(ARITY - 1).enumerate() {
            if child.before(best) {
                (least, best) = (first + 1 + offset, child);
            }
        }
        Some((least, *best))
    }

    /// Puts an entry in the place of the first. Mostly it stays there or changes places with one other.
    #[inline(always)]
    fn replace_first(&mut self, entry: Entry) {
        match self.least_child(0) {
            Some((index, least)) if least.before(&entry) => {
                least.put(&mut self.heap[0]);
                if index * ARITY + 1 < self.heap.len() {
                    self.sift_down(index, entry.time, entry.order, entry.whose);
                } else {
                    entry.put(&mut self.heap[index]);
                }
            }
            _ => entry.put(&mut self.heap[0]),
        }
    }

    /// Puts an entry in this place or below it. Its parts come in registers.
    #[inline(never)]
    fn sift_down(&mut self, mut index: usize, time: u64, order: u64, whose: u64) {
        let entry = Entry { time, order, whose };
        while let Some((least, child)) = self.least_child(index)
            && child.before(&entry)
        {
            child.put(&mut self.heap[index]);
            index = least;
        }
        entry.put(&mut self.heap[index]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(picoseconds: u64) -> Time {
        Time::from_picoseconds(picoseconds)
    }

    #[test]
    fn equal_times_run_in_the_order_they_were_scheduled() {
        let mut queue = EventQueue::default();
        for index in 0..100 {
            let order = queue.take_order();
            queue.push(at(7), order, Target::Release(index));
        }
        for index in 0..100 {
            assert_eq!(queue.peek().expect("an event").target, Target::Release(index));
            queue.pop();
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn targets_survive_packing() {
        for index in [0, 1, MAXIMUM_INDEX] {
            for target in [
                Target::Release(index),
                Target::Retransmission(index),
                Target::Release(index),
                Target::Application(index),
                Target::DelayedAck(index),
                Target::Rack(index),
                Target::Transmitter(index),
                Target::Router(index),
            ] {
                assert_eq!(Target::unpack(target.pack()), target);
            }
        }
    }

    proptest! {
        /// Against a sorted list, with additions and removals mixed.
        #[test]
        fn behaves_as_a_sorted_list(steps in proptest::collection::vec((0_u8..3, 0_u64..50), 1..200)) {
            let mut queue = EventQueue::default();
            let mut list: Vec<(u64, u64, u32)> = Vec::new();
            for (index, (step, time)) in steps.into_iter().enumerate() {
                list.sort_unstable();
                match step {
                    0 => {
                        let order = queue.take_order();
                        queue.push(at(time), order, Target::Release(index as u32));
                        list.push((time, order, index as u32));
                    }
                    1 => {
                        queue.pop();
                        if !list.is_empty() { list.remove(0); }
                    }
                    _ => {
                        // An older order number, as of a timer that is put back.
                        let order = 0;
                        if list.iter().all(|&(other, old, _)| (other, old) != (time, 0)) {
                            queue.push(at(time), order, Target::Release(index as u32));
                            list.push((time, order, index as u32));
                        }
                    }
                }
                list.sort_unstable();
                let expected = list.first().map(|&(time, order, link)| Event { time: at(time), order, target: Target::Release(link) });
                prop_assert_eq!(queue.peek(), expected);
                prop_assert_eq!(queue.len(), list.len());
            }
        }
    }
}

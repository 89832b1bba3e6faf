//! The event queue: sorted lanes of what is due, and the first of each lane in order.
//!
//! However many packets and timers there are, it has one entry for each lane (see [`super::lanes`]): a handful. The earliest
//! few stand in order: an entry that comes from the first place mostly goes back to one of these, past one or two others.
//! The rest is a four-ary heap; four children share a cache line pair and halve the depth of a binary heap.

use super::lanes::{CLOSED, Due, Lanes};
use selfclock_congestion::units::Time;

/// What an event is for, packed into 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The first packet of this lane of packets in flight reaches its next stop.
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
    /// Epochs of packets in flight have to be opened. No event of the simulation.
    Opening,
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
            Self::Opening => 8 << KIND_SHIFT,
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
            7 => Self::Router(index),
            _ => Self::Opening,
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
    /// Its target, and in the upper half the lane of timers that it is the first of, if it is one.
    whose: u64,
}

impl Entry {
    /// In the place of one: later than all.
    const NONE: Self = Self { time: u64::MAX, order: u64::MAX, whose: u64::MAX };

    #[inline(always)]
    const fn is_none(&self) -> bool {
        self.order == u64::MAX
    }
    #[inline(always)]
    fn new(time: Time, order: u64, target: u32, lane: u32) -> Self {
        Self { time: time.picoseconds(), order, whose: u64::from(lane) << 32 | u64::from(target) }
    }
    #[inline(always)]
    const fn target(&self) -> u32 {
        self.whose as u32
    }
    #[inline(always)]
    const fn lane(&self) -> u32 {
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

/// A timer in a lane of them.
#[derive(Clone, Copy, Debug, Default)]
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

/// Entries that stand in order.
const NEAR: usize = 8;

/// A few entries in order, in arrays of their parts: parts side by side would be loaded in another width than stored.
#[derive(Clone, Debug)]
struct Near {
    times: [u64; NEAR],
    orders: [u64; NEAR],
    whose: [u64; NEAR],
}

impl Near {
    const EMPTY: Self = {
        let Entry { time, order, whose } = Entry::NONE;
        Self { times: [time; NEAR], orders: [order; NEAR], whose: [whose; NEAR] }
    };

    #[inline(always)]
    const fn get(&self, place: usize) -> Entry {
        Entry { time: self.times[place], order: self.orders[place], whose: self.whose[place] }
    }
    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry) {
        self.times[place] = entry.time;
        self.orders[place] = entry.order;
        self.whose[place] = entry.whose;
    }
}

/// The event queue.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The earliest entries, in order.
    near: Near,
    /// A heap of those that are later than all of these.
    far: Vec<Entry>,
    timers: Lanes<Timed>,
    next_order: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self { near: Near::EMPTY, far: Vec::new(), timers: Lanes::default(), next_order: 0 }
    }
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
        self.push_here(time, order, target);
    }

    /// Of the same, a copy for where it is called for each packet.
    #[inline(always)]
    pub fn push_here(&mut self, time: Time, order: u64, target: Target) {
        let target = target.pack();
        let (timed, lane, is_first) = self.timers.add_place(time, order);
        (timed.time, timed.order, timed.target) = (time, order, target);
        if is_first {
            self.push_entry(Entry::new(time, order, target, lane));
        }
    }

    /// Epochs have to be opened then, before anything else of that time happens.
    fn push_opening(&mut self, time: Time) {
        self.push_entry(Entry::new(time, 0, Target::Opening.pack(), 0));
    }

    /// If the earliest event is an opening of the epochs of these packets, opens them.
    #[inline(always)]
    pub fn open_epochs<T: Due>(&mut self, in_flight: &mut Lanes<T>) -> bool {
        let is_opening = self.near.get(0).target() == const { Target::Opening.pack() };
        if is_opening {
            self.open(in_flight);
        }
        is_opening
    }

    #[inline(never)]
    fn open<T: Due>(&mut self, in_flight: &mut Lanes<T>) {
        let time = Time::from_picoseconds(self.near.times[0]);
        drop_first(&mut self.near, &mut self.far);
        let (first, opening) = in_flight.open(time);
        if let Some((first, lane)) = first {
            self.push_packets(first.time(), first.order(), lane, in_flight);
        }
        if let Some(opening) = opening {
            self.push_opening(opening);
        }
    }

    /// Adds a lane of packets that was empty: when its first packet is due. In the place of a lane [`CLOSED`]: the epochs of
    /// these packets are to be opened.
    #[inline]
    pub fn push_packets<T: Due>(&mut self, time: Time, order: u64, lane: u32, in_flight: &Lanes<T>) {
        if lane == CLOSED {
            return self.push_opening(in_flight.opening());
        }
        self.push_entry(Entry::new(time, order, Target::Packets(lane).pack(), 0));
    }

    fn push_entry(&mut self, mut entry: Entry) {
        for place in 0..NEAR {
            let near = self.near.get(place);
            if entry.before(&near) {
                self.near.put(place, entry);
                entry = near;
            }
        }
        if !entry.is_none() {
            push_far(&mut self.far, entry);
        }
    }

    /// The earliest event.
    #[inline]
    pub fn peek(&self) -> Option<Event> {
        let entry = self.near.get(0);
        (!entry.is_none()).then(|| Event {
            time: Time::from_picoseconds(entry.time),
            order: entry.order,
            target: Target::unpack(entry.target()),
        })
    }

    /// When the earliest event is due that is not in the lane of the earliest of all; [`Time::NEVER`]: there is none.
    #[inline(always)]
    pub fn second_time(&self) -> Time {
        Time::from_picoseconds(self.near.times[1])
    }

    /// When the earliest event is due, and the lane of packets that it is for, if it is for one.
    #[inline(always)]
    pub fn peek_lane(&self) -> Option<(Time, Option<u32>)> {
        let entry = self.near.get(0);
        let (time, lane) = (Time::from_picoseconds(entry.time), entry.target());
        if lane <= MAXIMUM_INDEX {
            return Some((time, Some(lane)));
        }
        (!entry.is_none()).then_some((time, None))
    }

    /// Removes the earliest event, which is not for packets. Returns what it is for.
    #[inline]
    pub fn pop(&mut self) -> Option<Target> {
        let Self { near, far, timers, .. } = self;
        let first = near.get(0);
        if first.is_none() {
            return None;
        }
        let lane = first.lane();
        let timed = timers.take_first(lane, |next| match next {
            Some(&Timed { time, order, target }) => {
                replace_first(near, far, Entry::new(time, order, target, lane));
            }
            None => drop_first(near, far),
        });
        Some(Target::unpack(timed.target))
    }

    /// The earliest event was for packets, of a lane whose next packet is due then; `None`: it is now empty.
    #[inline(always)]
    pub fn advance_lane(&mut self, lane: u32, next: Option<(Time, u64)>) {
        match next {
            Some((time, order)) => {
                let target = Target::Packets(lane).pack();
                replace_first(&mut self.near, &mut self.far, Entry::new(time, order, target, 0));
            }
            None => drop_first(&mut self.near, &mut self.far),
        }
    }

    /// Number of events waiting; a lane of packets counts as one.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        let near = (0..NEAR).map(|place| self.near.get(place)).filter(|entry| !entry.is_none());
        let entries = near.chain(self.far.iter().copied());
        let packets = entries.filter(|entry| matches!(Target::unpack(entry.target()), Target::Packets(_)));
        self.timers.len() + packets.count()
    }

    /// No event is waiting.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.near.get(0).is_none()
    }
}

/// Puts an entry in the place of the first: past those that are now before it.
#[inline(always)]
fn replace_first(near: &mut Near, far: &mut [Entry], entry: Entry) {
    for place in 1..NEAR {
        let next = near.get(place);
        // Here a branch for equal times, which are rare, is cheaper than a comparison of 128 bits.
        if entry.time < next.time || (entry.time == next.time && is_lower(entry.order, next.order)) {
            return near.put(place - 1, entry);
        }
        near.put(place - 1, next);
    }
    match far.first() {
        Some(least) if least.before(&entry) => {
            near.put(NEAR - 1, *least);
            sift_down(far, entry.time, entry.order, entry.whose);
        }
        _ => near.put(NEAR - 1, entry),
    }
}

/// Not compiled into where times are equal seldom.
#[cold]
#[inline(never)]
fn is_lower(order: u64, other: u64) -> bool {
    order < other
}

#[inline(never)]
fn drop_first(near: &mut Near, far: &mut Vec<Entry>) {
    for place in 1..NEAR {
        near.put(place - 1, near.get(place));
    }
    near.put(NEAR - 1, far.first().copied().unwrap_or(Entry::NONE));
    if let Some(last) = far.pop()
        && !far.is_empty()
    {
        sift_down(far, last.time, last.order, last.whose);
    }
}

/// Adds an entry to the heap.
fn push_far(far: &mut Vec<Entry>, entry: Entry) {
    let mut index = far.len();
    far.push(entry);
    while index > 0 {
        let parent = (index - 1) / ARITY;
        if !entry.before(&far[parent]) {
            break;
        }
        far[index] = far[parent];
        index = parent;
    }
    far[index] = entry;
}

/// Puts an entry in the place of the first of the heap, or below it. Its parts come in registers.
#[inline(never)]
fn sift_down(far: &mut [Entry], time: u64, order: u64, whose: u64) {
    let entry = Entry { time, order, whose };
    let mut index = 0;
    while let Some((least, child)) = least_child(far, index)
        && child.before(&entry)
    {
        child.put(&mut far[index]);
        index = least;
    }
    entry.put(&mut far[index]);
}

/// The least child of a place in the heap, and where it is.
#[inline(always)]
fn least_child(far: &[Entry], index: usize) -> Option<(usize, Entry)> {
    let first = index * ARITY + 1;
    let (head, others) = far.get(first..)?.split_first()?;
    let (mut least, mut best) = (first, head);
    for (offset, child) in others.iter().take(ARITY - 1).enumerate() {
        if child.before(best) {
            (least, best) = (first + 1 + offset, child);
        }
    }
    Some((least, *best))
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

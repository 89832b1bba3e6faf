//! The event queue: sorted lanes of due values, and the head of each lane in order.
//!
//! Whatever the number of packets and timers, it has one entry per lane (see [`super::lanes`]): a
//! handful. The earliest few are sorted: an entry that leaves the first place mostly returns to one
//! of these, past one or two others. The rest is a four-ary heap; four children share a cache line
//! pair and halve the depth of a binary heap.

use super::lanes::{CLOSED, Due, Lanes};
use selfclock_congestion::units::Time;

/// The addressee of an event, packed into 32 bits.
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
    /// Delayed-ACK timer of this flow's receiver.
    DelayedAck(u32),
    /// Reordering or loss-probe timer of this flow's sender.
    Rack(u32),
    /// The transmitter of this link, whose queue is not drop-tail, is ready for the next packet.
    Transmitter(u32),
    /// Timer of this router mechanism.
    Router(u32),
    /// Epochs of packets in flight must be opened. Not an event of the simulation.
    Opening,
}

const KIND_SHIFT: u32 = 28;

/// Set in the order number of a packet: it comes after all timers.
const PACKET: u64 = 1 << 63;

/// In the place of a timer lane: an event in none.
const ALONE: u32 = u32::MAX;

/// Bits of a packet's number on its link. They overflow after more than an hour at 100 Gbit/s: its
/// packets then sort with the next link's.
const NUMBER_BITS: u32 = 35;

/// The order number of packet number `number` of a link, at its far end: see [`super`].
#[inline(always)]
pub const fn packet_order(link: usize, number: u64) -> u64 {
    (PACKET | (link as u64) << NUMBER_BITS) + number
}

/// The order number of a timer: its kind and owner.
#[inline(always)]
const fn timer_order(target: u32) -> u64 {
    (target as u64) << 32
}

/// Maximum number of links or flows that the packing allows.
pub const MAXIMUM_INDEX: u32 = (1 << KIND_SHIFT) - 1;

impl Target {
    #[inline]
    const fn pack(self) -> u32 {
        match self {
            Self::Packets(index) => index,
            Self::Application(index) => 1 << KIND_SHIFT | index,
            Self::Rack(index) => 2 << KIND_SHIFT | index,
            Self::Retransmission(index) => 3 << KIND_SHIFT | index,
            Self::Release(index) => 4 << KIND_SHIFT | index,
            Self::DelayedAck(index) => 5 << KIND_SHIFT | index,
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
            1 => Self::Application(index),
            2 => Self::Rack(index),
            3 => Self::Retransmission(index),
            4 => Self::Release(index),
            5 => Self::DelayedAck(index),
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
    /// For whom.
    pub target: Target,
}

/// An entry is assembled in registers and its parts are stored one by one, each in the width in
/// which it is loaded: a load in another width would wait for every earlier store to reach the
/// cache.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    order: u64,
    /// Its target; in the upper half, the timer lane that it heads, if any.
    whose: u64,
}

impl Entry {
    /// A sentinel later than every entry.
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
        // One 128-bit comparison instead of two with a branch between them.
        ((self.time as u128) << 64 | self.order as u128) < ((other.time as u128) << 64 | other.order as u128)
    }
    #[inline(always)]
    fn put(&self, place: &mut Self) {
        place.time = self.time;
        place.order = self.order;
        place.whose = self.whose;
    }
}

/// A timer in a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    time: Time,
    target: u32,
}

impl Due for Timed {
    #[inline]
    fn time(&self) -> Time {
        self.time
    }
    #[inline]
    fn order(&self) -> u64 {
        timer_order(self.target)
    }
}

/// Number of sorted entries.
const NEAR: usize = 8;

/// A few sorted entries, as arrays of their parts: adjacent parts would be loaded in another width
/// than stored.
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
    /// A heap of all later entries.
    far: Vec<Entry>,
    timers: Lanes<Timed>,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self { near: Near::EMPTY, far: Vec::new(), timers: Lanes::default() }
    }
}

const ARITY: usize = 4;

impl EventQueue {
    /// Adds an event, other than for packets.
    #[inline]
    pub fn push(&mut self, time: Time, target: Target) {
        self.push_here(time, target);
    }

    /// Like `push`, inlined where it is called for each packet.
    #[inline(always)]
    pub fn push_here(&mut self, time: Time, target: Target) {
        let target = target.pack();
        let order = timer_order(target);
        let (timed, lane, is_first) = self.timers.add_place(time, order);
        (timed.time, timed.target) = (time, target);
        if is_first {
            self.push_entry(Entry::new(time, order, target, lane));
        }
    }

    /// Adds an event, other than for packets, that is among the next ones: it enters no lane, whose
    /// place would be behind those of all later timers.
    #[inline]
    pub fn push_alone(&mut self, time: Time, target: Target) {
        let target = target.pack();
        self.push_entry(Entry::new(time, timer_order(target), target, ALONE));
    }

    /// Schedules an opening of epochs, before all other events of that time.
    fn push_opening(&mut self, time: Time) {
        self.push_entry(Entry::new(time, 0, Target::Opening.pack(), 0));
    }

    /// Opens the epochs of these packets if their opening is the earliest event.
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

    /// Adds a lane of packets that was empty, at the time of its first packet. For a lane
    /// [`CLOSED`], schedules the opening of the epochs of these packets.
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
            target: Target::unpack(entry.target()),
        })
    }

    /// Time of the earliest event outside the lane of the very earliest; [`Time::NEVER`] without
    /// one.
    #[inline(always)]
    pub fn second_time(&self) -> Time {
        Time::from_picoseconds(self.near.times[1])
    }

    /// Time of the earliest event, and its lane of packets, if any.
    #[inline(always)]
    pub fn peek_lane(&self) -> Option<(Time, Option<u32>)> {
        let entry = self.near.get(0);
        let (time, lane) = (Time::from_picoseconds(entry.time), entry.target());
        if lane <= MAXIMUM_INDEX {
            return Some((time, Some(lane)));
        }
        (!entry.is_none()).then_some((time, None))
    }

    /// Removes the earliest event, which is not for packets. Returns its target.
    #[inline]
    pub fn pop(&mut self) -> Option<Target> {
        let Self { near, far, timers, .. } = self;
        let first = near.get(0);
        if first.is_none() {
            return None;
        }
        let lane = first.lane();
        if lane == ALONE {
            drop_first(near, far);
            return Some(Target::unpack(first.target()));
        }
        let timed = timers.take_first(lane, |next| match next {
            Some(&Timed { time, target }) => {
                replace_first(near, far, Entry::new(time, timer_order(target), target, lane));
            }
            None => drop_first(near, far),
        });
        Some(Target::unpack(timed.target))
    }

    /// The earliest event was for packets, of a lane whose next packet is due at `next`; `None` if
    /// it is now empty.
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
        let others = entries.filter(|entry| {
            entry.lane() == ALONE || matches!(Target::unpack(entry.target()), Target::Packets(_))
        });
        self.timers.len() + others.count()
    }
}

/// Replaces the first entry, and moves it past those that are now before it.
#[inline(always)]
fn replace_first(near: &mut Near, far: &mut [Entry], entry: Entry) {
    for place in 1..NEAR {
        let next = near.get(place);
        // A branch for the rare equal times is cheaper here than a 128-bit comparison.
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

/// Out of line, because equal times are rare.
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

/// Replaces an entry of the heap and moves it down. Its parts come in registers.
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

/// The least child of a position in the heap, and its index.
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

    /// Targets of timers, in their order at equal times.
    const KINDS: [fn(u32) -> Target; 7] = [
        Target::Application,
        Target::Rack,
        Target::Retransmission,
        Target::Release,
        Target::DelayedAck,
        Target::Transmitter,
        Target::Router,
    ];

    /// At equal times: an opening, timers by kind and index, packets by link and number, whatever
    /// the order of insertion.
    #[test]
    fn the_order_at_one_time_is_that_of_the_places() {
        let timers: Vec<Target> = KINDS.iter().flat_map(|kind| [0, 1, 99, MAXIMUM_INDEX].map(kind)).collect();
        let orders: Vec<u64> = timers.iter().map(|timer| timer_order(timer.pack())).collect();
        let packets = [(0, 1), (0, 2), (1, 0), (5, 1 << 34), (MAXIMUM_INDEX as usize - 1, (1 << 35) - 1)];
        let all = orders.iter().copied().chain(packets.map(|(link, number)| packet_order(link, number)));
        assert!([0].into_iter().chain(all).chain([u64::MAX]).is_sorted_by(|one, next| one < next));
        for step in [1, 3, 5, 11, timers.len() - 1] {
            let mut queue = EventQueue::default();
            for position in 0..timers.len() {
                let timer = timers[position * step % timers.len()];
                if position % 3 == 0 { queue.push_alone(at(7), timer) } else { queue.push(at(7), timer) }
            }
            let popped: Vec<Target> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(popped, timers);
        }
    }

    #[test]
    fn targets_survive_packing() {
        for index in [0, 1, MAXIMUM_INDEX] {
            for target in KINDS.map(|kind| kind(index)) {
                assert_eq!(Target::unpack(target.pack()), target);
            }
        }
    }

    proptest! {
        /// Against a sorted list, with interleaved additions and removals.
        #[test]
        fn behaves_as_a_sorted_list(steps in proptest::collection::vec((prop::bool::weighted(0.6), 0_u64..50, 0_u32..200), 1..200)) {
            let mut queue = EventQueue::default();
            let mut list: Vec<(u64, u32)> = Vec::new();
            for (adds, time, index) in steps {
                if adds {
                    let target = Target::Release(index);
                    if index % 3 == 0 { queue.push_alone(at(time), target) } else { queue.push(at(time), target) }
                    list.push((time, index));
                } else {
                    queue.pop();
                    if !list.is_empty() { list.remove(0); }
                }
                list.sort_unstable();
                let expected = list.first().map(|&(time, index)| (at(time), Target::Release(index)));
                prop_assert_eq!(queue.peek().map(|event| (event.time, event.target)), expected);
                prop_assert_eq!(queue.len(), list.len());
            }
        }
    }
}

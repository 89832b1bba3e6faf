//! Values due at some time, in a few sorted lanes.
//!
//! Most of what a simulator schedules comes nearly in order: packets leave a link one after
//! another, timers of one kind are set for the same time ahead. So instead of a heap entry each,
//! they are appended to *lanes*, each of which is sorted, and only the head of each lane is in the
//! event queue. A lane is a ring that is read sequentially, so a packet in flight costs no search
//! and hardly a cache miss.
//!
//! A value goes to the latest-ending lane among those that end before it (patience sorting). The
//! number of lanes is then that of different delays in flight, whatever the number of links and
//! flows: three for a hundred flows on a dumbbell.

use super::epochs::{Epochs, MOST_VALUES};
use super::ring::Ring;
use selfclock_congestion::units::Time;

/// Distance, in values, of prefetches.
const PREFETCHED: usize = 16;

/// Position in the order of events.
pub trait Due: Copy {
    /// When it is due.
    fn time(&self) -> Time;
    /// Its position among events at that time.
    fn order(&self) -> u64;
}

/// With more lanes than this, new values go to epochs.
const FEW: usize = 24;

/// In the place of a lane: the value is in an epoch that is still closed.
pub const CLOSED: u32 = u32::MAX;

/// The end of a lane, even if it has left.
#[derive(Clone, Copy, Debug)]
struct End {
    time: Time,
    order: u64,
    lane: u32,
}

/// Values in the order of (time, order number), in a few lanes.
#[derive(Clone, Debug)]
pub struct Lanes<T> {
    lanes: Vec<Ring<T>>,
    /// The end of each lane, the latest first. An empty lane keeps its end: nothing can be added
    /// before it.
    ends: Vec<End>,
    /// Whether there are more than [`FEW`] lanes, and few enough values for epochs to be faster.
    many: bool,
    /// Later values if there would be many lanes, and the lane that receives them when their epoch
    /// is opened.
    epochs: Epochs<T>,
    epoch_lane: Option<u32>,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self { lanes: Vec::new(), ends: Vec::new(), many: false, epochs: Epochs::default(), epoch_lane: None }
    }
}

impl<T: Due> Lanes<T> {
    /// Finds the lane for a value due at `time`, and records the value as its end. The value must
    /// be added next.
    #[inline(always)]
    fn lane_for(&mut self, time: Time, order: u64) -> u32 {
        for end in &mut self.ends {
            // Later ones all end after it, so the ends stay sorted.
            if end.time < time || (end.time == time && end.order < order) {
                (end.time, end.order) = (time, order);
                return end.lane;
            }
        }
        self.new_run(time, order)
    }

    #[cold]
    fn new_run(&mut self, time: Time, order: u64) -> u32 {
        let lane = self.lanes.len() as u32;
        self.lanes.push(Ring::default());
        self.ends.push(End { time, order, lane });
        // Once abandoned, epochs do not come back.
        self.many |= self.epoch_lane.is_none() && self.ends.len() > FEW;
        lane
    }

    /// Puts all further values into epochs.
    fn begin_epochs(&mut self) {
        let latest = self.ends.first().map_or(Time::ZERO, |end| end.time);
        let earliest =
            self.lanes.iter().filter_map(|lane| lane.front().map(Due::time)).min().unwrap_or(latest);
        let span = latest.since(earliest).picoseconds();
        let lane = self.lanes.len() as u32;
        self.lanes.push(Ring::default());
        self.epoch_lane = Some(lane);
        self.epochs = Epochs::new(earliest, span, self.len() as u64);
    }

    /// Handles an opening: moves the next due values to their lane. Returns that lane and the next
    /// opening, if there is one to wait for; the lane with its first value, if it was empty.
    #[inline(never)]
    pub fn open(&mut self, now: Time) -> (Option<(T, u32)>, Option<Time>) {
        let Self { lanes, epochs, epoch_lane: Some(lane), .. } = self else { return (None, None) };
        let ring = &mut lanes[*lane as usize];
        let was_empty = ring.is_empty();
        let is_next = epochs.open(now, |value| {
            ring.push(*value);
        });
        let first = ring.front().filter(|_| was_empty).map(|first| (*first, *lane));
        (first, is_next.then(|| epochs.opening()))
    }

    /// Time of the next opening of epochs, if any.
    pub fn opening(&self) -> Time {
        self.epochs.opening()
    }

    /// Adds a value due at this time. Returns it in place, its lane, and whether the event queue
    /// must be told ([`EventQueue::push_packets`](super::EventQueue::push_packets)) because it
    /// heads the lane, or makes the next opening earlier. The caller must set the value's own time:
    /// it may be a copy of a value due at another time.
    #[inline(always)]
    pub fn add(&mut self, time: Time, order: u64, value: &T) -> (&mut T, u32, bool) {
        if self.many {
            return self.add_to_epoch(time, order, value);
        }
        self.add_to_lane(time, order, value)
    }

    #[inline(always)]
    fn add_to_lane(&mut self, time: Time, order: u64, value: &T) -> (&mut T, u32, bool) {
        let lane = self.lane_for(time, order);
        let ring = &mut self.lanes[lane as usize];
        let is_first = ring.is_empty();
        (ring.push(*value), lane, is_first)
    }

    /// [`Self::add`] with many lanes.
    #[inline(never)]
    fn add_to_epoch(&mut self, time: Time, order: u64, value: &T) -> (&mut T, u32, bool) {
        if self.epoch_lane.is_none() {
            self.begin_epochs();
        }
        self.many = self.epochs.len() < MOST_VALUES;
        if self.epochs.takes(time) {
            let is_earlier = self.epochs.add(time, value);
            return (self.epochs.last_mut(), CLOSED, is_earlier);
        }
        self.add_to_lane(time, order, value)
    }

    /// Adds a slot for a value due at this time, which the caller fills in place. Returns it, its
    /// lane, and whether it heads the lane, which must then enter the event queue.
    #[inline(always)]
    pub fn add_place(&mut self, time: Time, order: u64) -> (&mut T, u32, bool)
    where
        T: Default,
    {
        let lane = self.lane_for(time, order);
        let ring = &mut self.lanes[lane as usize];
        let is_first = ring.is_empty();
        (ring.push_place(), lane, is_first)
    }

    /// Removes the head of a non-empty lane, and calls `advance` with the time of the new head, if
    /// any.
    #[inline(always)]
    pub fn take_first(&mut self, lane: u32, advance: impl FnOnce(Option<&T>)) -> T {
        let ring = &mut self.lanes[lane as usize];
        let value = ring.take_front();
        ring.prefetch(PREFETCHED);
        advance(ring.front());
        value
    }

    /// Removes the head of a non-empty lane, without reading it.
    #[inline(always)]
    pub fn drop_first(&mut self, lane: u32) {
        let ring = &mut self.lanes[lane as usize];
        ring.drop_front();
        ring.prefetch(PREFETCHED);
    }

    /// The value `ahead` positions behind the head of a lane.
    #[inline(always)]
    pub fn get(&self, lane: u32, position: usize) -> Option<&T> {
        self.lanes[lane as usize].get(position)
    }

    /// Time of the head of a lane, if any.
    #[inline(always)]
    pub fn first_due(&self, lane: u32) -> Option<(Time, u64)> {
        self.lanes[lane as usize].front().map(|next| (next.time(), next.order()))
    }

    /// Number of values in a lane.
    pub fn length_of(&self, lane: u32) -> usize {
        self.lanes[lane as usize].len()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Ring::len).sum::<usize>() + self.epochs.len()
    }

    /// There is none.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EventQueue, Target, packet_order};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct At(u64, u64);

    impl Due for At {
        fn time(&self) -> Time {
            Time::from_picoseconds(self.0)
        }
        fn order(&self) -> u64 {
            self.1
        }
    }

    /// Three delays, values added at the clock's time plus one of them: three lanes, whatever the
    /// number of values.
    #[test]
    fn as_many_runs_as_delays() {
        let mut lanes = Lanes::default();
        for now in 0..1000 {
            let time = now + [500, 20, 300][now as usize % 3];
            lanes.add(Time::from_picoseconds(time), now, &At(time, now));
        }
        assert_eq!(lanes.lanes.len(), 3);
    }

    /// Uses lanes and the event queue like the network: values come in order if they are added at
    /// or after the clock's time. Returns how many came, each as the earliest of those present, and
    /// whether there were epochs.
    fn in_turn(steps: &[(u64, usize)], break_openings: bool) -> (usize, bool) {
        let (mut lanes, mut events, mut taken) = (Lanes::default(), EventQueue::default(), 0);
        let mut waiting = BTreeSet::new();
        let (mut now, mut next_order) = (0, 0);
        let mut steps = steps.iter();
        loop {
            while events.open_epochs(&mut lanes) {}
            if let Some(&(delay, count)) = steps.next() {
                for number in 0..count as u64 {
                    // Numbers in random order, each once.
                    next_order += 1;
                    let order = packet_order((next_order * 7_919 % 31) as usize, next_order);
                    let time = Time::from_picoseconds(now + delay * (number + 1));
                    let value = At(time.picoseconds(), order);
                    waiting.insert(value);
                    let (_, lane, is_news) = lanes.add(time, order, &value);
                    if is_news && !(break_openings && lane == CLOSED) {
                        events.push_packets(time, order, lane, &lanes);
                    }
                }
                while events.open_epochs(&mut lanes) {}
            }
            let Some(Target::Packets(lane)) = events.peek().map(|event| event.target) else {
                if steps.len() == 0 { break } else { continue }
            };
            let first = lanes.take_first(lane, |next| {
                events.advance_lane(lane, next.map(|next| (next.time(), next.order())));
            });
            now = first.0;
            if waiting.pop_first() != Some(first) {
                break;
            }
            taken += 1;
        }
        (taken, lanes.epoch_lane.is_some())
    }

    /// Many delays from zero to far beyond the epochs, so that lengths are adapted; equal times
    /// among them.
    fn steps() -> impl Strategy<Value = Vec<(u64, usize)>> {
        let delay = prop_oneof![
            4 => 1_u64..1 << 22, 2 => (1_u64..64).prop_map(|steps| steps << 14), 1 => Just(0), 1 => 1_u64..1 << 40
        ];
        prop::collection::vec((delay, 0_usize..6), 1..3000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// With and without epochs, values come in the order of time and order number, and none is
        /// left.
        #[test]
        fn epochs_keep_the_order(steps in steps()) {
            let (taken, _) = in_turn(&steps, false);
            let added: usize = steps.iter().map(|&(_, count)| count).sum();
            prop_assert_eq!(taken, added);
        }
    }

    /// Beyond [`MOST_VALUES`] lanes take over from epochs, in the same order.
    #[test]
    fn epochs_that_are_given_up_keep_the_order() {
        let steps: Vec<(u64, usize)> =
            (0..15_000).map(|step| (1_000_000 + step * 7_919 % 30 * 100_003, 5)).collect();
        let (taken, epochs) = in_turn(&steps, false);
        assert!(epochs && taken == 75_000);
    }

    /// Three hundred delays lead to epochs, and the test above detects an unreported opening.
    #[test]
    fn the_test_of_epochs_can_fail() {
        let steps: Vec<(u64, usize)> =
            (0..3000).map(|step| (1_000_000 + step * 7_919 % 300 * 100_003, 2)).collect();
        let (taken, epochs) = in_turn(&steps, false);
        assert!(epochs && taken == 6000);
        let (taken, _) = in_turn(&steps, true);
        assert!(taken < 6000, "values in epochs that nobody opens");
    }

    proptest! {
        /// Taken from the lane with the earliest head, values come in order.
        #[test]
        fn runs_are_in_order(times in proptest::collection::vec(0_u64..50, 1..200)) {
            let mut lanes = Lanes::default();
            let mut sorted: Vec<At> = Vec::new();
            for (order, time) in times.into_iter().enumerate() {
                let value = At(time, order as u64);
                lanes.add_to_lane(value.time(), value.order(), &value);
                sorted.push(value);
            }
            sorted.sort_unstable();
            for expected in sorted {
                let first = |lane: u32| lanes.lanes[lane as usize].front().copied();
                let filled = (0..lanes.lanes.len() as u32).filter(|&lane| first(lane).is_some());
                let lane = filled.min_by_key(|&lane| first(lane)).expect("a value is left");
                prop_assert_eq!(lanes.take_first(lane, |_| ()), expected);
            }
            prop_assert!(lanes.is_empty());
        }
    }
}

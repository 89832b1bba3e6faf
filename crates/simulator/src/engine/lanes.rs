//! Things that are due at some time, in a few sorted lanes.
//!
//! Most of what a simulator schedules comes nearly in order: packets leave a link one after another, timers of one kind
//! are set for the same time ahead. So instead of one place each in a heap, they are appended to *lanes*, each of which
//! is in order, and only the first of each lane stands in the event queue. A lane is a ring, and its values are read one
//! after another, so a packet in flight costs no search and hardly a cache miss.
//!
//! A value goes to the lane that ends last of those that end before it (patience sorting). There are then as many
//! lanes as there are different delays under way, whatever the number of links and flows: three for a hundred flows on
//! a dumbbell.

use super::ring::Ring;
use selfclock_congestion::units::Time;

/// So many values before its turn the memory of a value is asked for.
const PREFETCHED: usize = 16;

/// What has a place in the order of events.
pub trait Due: Copy {
    /// When it is due.
    fn time(&self) -> Time;
    /// Its position among events at that time.
    fn order(&self) -> u64;
}

/// The last of a lane that was ever in it.
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
    /// The end of each lane, the latest first. An empty lane keeps its end: nothing can be added before it any more.
    ends: Vec<End>,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self { lanes: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Due> Lanes<T> {
    /// Finds the lane for a value that is due then, and notes that it ends with it. The value must be added next.
    #[inline(always)]
    fn lane_for(&mut self, time: Time, order: u64) -> u32 {
        for end in &mut self.ends {
            // The later ones all end after it, so the ends stay in order.
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
        lane
    }

    /// Adds a value that is due at this time. Returns it where it is, its lane, and true if it is the first there, so that
    /// the lane must be put into the event queue. The caller sees to it that the value, too, says when it is due: it may be
    /// a copy of one that was due at another time.
    #[inline(always)]
    pub fn add(&mut self, time: Time, order: u64, value: &T) -> (&mut T, u32, bool) {
        let lane = self.lane_for(time, order);
        let ring = &mut self.lanes[lane as usize];
        let is_first = ring.is_empty();
        (ring.push(*value), lane, is_first)
    }

    /// Adds a place for a value that is due at this time, which the caller writes there part by part; see [`Self::add`].
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

    /// Removes the first value of a lane, of which there must be one, and tells `advance` when the one is due that is then the
    /// first, if there is one.
    #[inline(always)]
    pub fn take_first(&mut self, lane: u32, advance: impl FnOnce(Option<&T>)) -> T {
        let ring = &mut self.lanes[lane as usize];
        let value = ring.take_front();
        ring.prefetch(PREFETCHED);
        advance(ring.front());
        value
    }

    /// Removes the first value of a lane, of which there must be one, without reading it.
    #[inline(always)]
    pub fn drop_first(&mut self, lane: u32) {
        let ring = &mut self.lanes[lane as usize];
        ring.drop_front();
        ring.prefetch(PREFETCHED);
    }

    /// The value of a lane that comes after so many others.
    #[inline(always)]
    pub fn get(&self, lane: u32, position: usize) -> Option<&T> {
        self.lanes[lane as usize].get(position)
    }

    /// When the first value of a lane is due, if there is one.
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
        self.lanes.iter().map(Ring::len).sum()
    }

    /// There is none.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(Ring::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    /// Three delays, values added at the time of the clock plus one of them: three lanes, however many values.
    #[test]
    fn as_many_runs_as_delays() {
        let mut lanes = Lanes::default();
        for now in 0..1000 {
            let time = now + [500, 20, 300][now as usize % 3];
            lanes.add(Time::from_picoseconds(time), now, &At(time, now));
        }
        assert_eq!(lanes.lanes.len(), 3);
    }

    proptest! {
        /// Taken from the lane whose first is the earliest, values come in order.
        #[test]
        fn runs_are_in_order(times in proptest::collection::vec(0_u64..50, 1..200)) {
            let mut lanes = Lanes::default();
            let mut sorted: Vec<At> = Vec::new();
            for (order, time) in times.into_iter().enumerate() {
                let value = At(time, order as u64);
                lanes.add(value.time(), value.order(), &value);
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

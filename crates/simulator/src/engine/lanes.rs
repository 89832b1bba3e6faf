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

use super::epochs::Epochs;
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

/// More lanes than these are searched no longer: what comes goes to its epoch.
const FEW: usize = 10;

/// In the place of a lane: the value is in an epoch that is closed still.
const CLOSED: u32 = u32::MAX;

/// What the event queue must be told of a value that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The value is the first of this lane.
    First(u32),
    /// The epochs have to be opened then ([`Lanes::open`]).
    Opening(Time),
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
    /// What is due later, where there would be many lanes, and the lane to which it comes when its epoch is opened.
    epochs: Option<(Epochs<T>, u32)>,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self { lanes: Vec::new(), ends: Vec::new(), epochs: None }
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
        if self.epochs.is_none() && self.ends.len() >= FEW {
            self.begin_epochs();
        }
        let lane = self.lanes.len() as u32;
        self.lanes.push(Ring::default());
        self.ends.push(End { time, order, lane });
        lane
    }

    /// Puts what comes from now on into epochs.
    fn begin_epochs(&mut self) {
        let latest = self.ends.first().map_or(Time::ZERO, |end| end.time);
        let earliest = self.lanes.iter().filter_map(|lane| lane.front().map(Due::time)).min().unwrap_or(latest);
        let span = latest.since(earliest).picoseconds();
        let lane = self.lanes.len() as u32;
        self.lanes.push(Ring::default());
        self.epochs = Some((Epochs::new(earliest, span, self.len() as u64), lane));
    }

    /// Where a value that is due at this time is put: its lane and 0, or [`CLOSED`] and its place there; and what is new with it.
    #[inline(always)]
    fn place_for(&mut self, time: Time, order: u64, value: &T) -> (u32, usize, Option<News>) {
        if let Some((epochs, _)) = &mut self.epochs
            && let Some((place, is_earlier)) = epochs.add_place(time, value)
        {
            return (CLOSED, place, is_earlier.then(|| News::Opening(epochs.opening())));
        }
        let lane = self.lane_for(time, order);
        (lane, 0, self.lanes[lane as usize].is_empty().then_some(News::First(lane)))
    }

    /// The time of an opening has come: what is due next goes to its lane. Returns that lane and when the next opening is,
    /// if there is one to wait for; the lane with its first value, if it had none.
    #[inline(never)]
    pub fn open(&mut self, now: Time) -> (Option<(T, u32)>, Option<Time>) {
        let Self { lanes, epochs: Some((epochs, lane)), .. } = self else { return (None, None) };
        let ring = &mut lanes[*lane as usize];
        let was_empty = ring.is_empty();
        let is_next = epochs.open(now, |value| {
            ring.push(*value);
        });
        let first = ring.front().filter(|_| was_empty).map(|first| (*first, *lane));
        (first, is_next.then(|| epochs.opening()))
    }

    /// Adds a value that is due at this time. Returns it where it is, and what the event queue must be told. The caller sees to it that the value, too, says when it is due: it may be
    /// a copy of one that was due at another time.
    #[inline(always)]
    pub fn add(&mut self, time: Time, order: u64, value: &T) -> (&mut T, Option<News>) {
        let (lane, place, news) = self.place_for(time, order, value);
        if lane == CLOSED
            && let Some((epochs, _)) = &mut self.epochs
        {
            let held = epochs.value_mut(place);
            *held = *value;
            return (held, news);
        }
        (self.lanes[lane as usize].push(*value), news)
    }

    /// Adds a place for a value that is due at this time, which the caller writes there part by part; see [`Self::add`].
    #[inline(always)]
    pub fn add_place(&mut self, time: Time, order: u64) -> (&mut T, Option<News>)
    where
        T: Default,
    {
        let (lane, place, news) = self.place_for(time, order, &T::default());
        if lane == CLOSED
            && let Some((epochs, _)) = &mut self.epochs
        {
            return (epochs.value_mut(place), news);
        }
        (self.lanes[lane as usize].push_place(), news)
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
        let closed = self.epochs.as_ref().map_or(0, |(epochs, _)| epochs.len());
        self.lanes.iter().map(Ring::len).sum::<usize>() + closed
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

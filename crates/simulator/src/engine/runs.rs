//! Things that are due at some time, in a few sorted runs.
//!
//! Most of what a simulator schedules comes nearly in order: packets leave a link one after another, timers of one kind
//! are set for the same time ahead. So instead of one place each in a heap, they are appended to *runs*, each of which
//! is in order, and only the first of each run stands in the event queue. A run is a ring, and its values are read one
//! after another, so a packet in flight costs no search and hardly a cache miss.
//!
//! A value goes to the run that ends last of those that end before it (patience sorting). There are then as many
//! runs as there are different delays under way, whatever the number of links and flows: three for a hundred flows on
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

/// The last of a run that was ever in it.
#[derive(Clone, Copy, Debug)]
struct End {
    time: Time,
    order: u64,
    run: u32,
}

/// Values in the order of (time, order number), in a few runs.
#[derive(Clone, Debug)]
pub struct Runs<T> {
    runs: Vec<Ring<T>>,
    /// The end of each run, the latest first. An empty run keeps its end: nothing can be added before it any more.
    ends: Vec<End>,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { runs: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Due> Runs<T> {
    /// Finds the run for a value that is due then, and notes that it ends with it. The value must be added next.
    #[inline(always)]
    fn run_for(&mut self, time: Time, order: u64) -> u32 {
        for end in &mut self.ends {
            // The later ones all end after it, so the ends stay in order.
            if end.time < time || (end.time == time && end.order < order) {
                (end.time, end.order) = (time, order);
                return end.run;
            }
        }
        self.new_run(time, order)
    }

    #[cold]
    fn new_run(&mut self, time: Time, order: u64) -> u32 {
        let run = self.runs.len() as u32;
        self.runs.push(Ring::default());
        self.ends.push(End { time, order, run });
        run
    }

    /// Adds a value that is due at this time. Returns it where it is, its run, and true if it is the first there, so that
    /// the run must be put into the event queue. The caller sees to it that the value, too, says when it is due: it may be
    /// a copy of one that was due at another time.
    #[inline(always)]
    pub fn add(&mut self, time: Time, order: u64, value: &T) -> (&mut T, u32, bool) {
        let run = self.run_for(time, order);
        let ring = &mut self.runs[run as usize];
        let is_first = ring.is_empty();
        (ring.push(*value), run, is_first)
    }

    /// Adds a place for a value that is due at this time, which the caller writes there part by part; see [`Self::add`].
    #[inline(always)]
    pub fn add_place(&mut self, time: Time, order: u64) -> (&mut T, u32, bool)
    where
        T: Default,
    {
        let run = self.run_for(time, order);
        let ring = &mut self.runs[run as usize];
        let is_first = ring.is_empty();
        (ring.push_place(), run, is_first)
    }

    /// Removes the first value of a run, of which there must be one, and tells `advance` when the one is due that is then the
    /// first, if there is one.
    #[inline(always)]
    pub fn take_first(&mut self, run: u32, advance: impl FnOnce(Option<&T>)) -> T {
        let ring = &mut self.runs[run as usize];
        let value = ring.take_front();
        ring.prefetch(PREFETCHED);
        advance(ring.front());
        value
    }

    /// Removes the first value of a run, of which there must be one, without reading it.
    #[inline(always)]
    pub fn drop_first(&mut self, run: u32) {
        let ring = &mut self.runs[run as usize];
        ring.drop_front();
        ring.prefetch(PREFETCHED);
    }

    /// The value of a run that comes after so many others.
    #[inline(always)]
    pub fn get(&self, run: u32, position: usize) -> Option<&T> {
        self.runs[run as usize].get(position)
    }

    /// When the first value of a run is due, if there is one.
    #[inline(always)]
    pub fn first_due(&self, run: u32) -> Option<(Time, u64)> {
        self.runs[run as usize].front().map(|next| (next.time(), next.order()))
    }

    /// Number of values in a run.
    pub fn length_of(&self, run: u32) -> usize {
        self.runs[run as usize].len()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.runs.iter().map(Ring::len).sum()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(Ring::is_empty)
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

    /// Three delays, values added at the time of the clock plus one of them: three runs, however many values.
    #[test]
    fn as_many_runs_as_delays() {
        let mut runs = Runs::default();
        for now in 0..1000 {
            let time = now + [500, 20, 300][now as usize % 3];
            runs.add(Time::from_picoseconds(time), now, &At(time, now));
        }
        assert_eq!(runs.runs.len(), 3);
    }

    proptest! {
        /// Taken from the run whose first is the earliest, values come in order.
        #[test]
        fn runs_are_in_order(times in proptest::collection::vec(0_u64..50, 1..200)) {
            let mut runs = Runs::default();
            let mut sorted: Vec<At> = Vec::new();
            for (order, time) in times.into_iter().enumerate() {
                let value = At(time, order as u64);
                runs.add(value.time(), value.order(), &value);
                sorted.push(value);
            }
            sorted.sort_unstable();
            for expected in sorted {
                let first = |run: u32| runs.runs[run as usize].front().copied();
                let filled = (0..runs.runs.len() as u32).filter(|&run| first(run).is_some());
                let run = filled.min_by_key(|&run| first(run)).expect("a value is left");
                prop_assert_eq!(runs.take_first(run, |_| ()), expected);
            }
            prop_assert!(runs.is_empty());
        }
    }
}

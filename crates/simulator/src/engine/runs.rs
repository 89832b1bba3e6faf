//! Things that are due at some time, in a few sorted runs.
//!
//! Most of what a simulator schedules comes nearly in order: packets leave a link one after another, timers of one kind
//! are set for the same time ahead. So instead of one place each in a heap, they are appended to *runs*, each of which
//! is in order, and only the first of each run stands in the event queue. Its values are read one after another, so a
//! packet in flight costs no search and hardly a cache miss.
//!
//! A run is a chain of chunks. What one run has done with another one takes, so that all of them together hardly take more
//! memory than their values.
//!
//! A value goes to the run that ends last of those that end before it (patience sorting). There are then as many
//! runs as there are different delays under way, whatever the number of links and flows: three for a hundred flows on
//! a dumbbell.

use selfclock_congestion::units::Time;

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

/// Values in a chunk.
const CHUNK: usize = 128;

/// So many chunks or more are many.
const FEW: usize = 32;

/// No chunk.
const NONE: u32 = u32::MAX;

/// A run: the place of its first value, and the place behind its last.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: usize,
    /// At the beginning of a chunk: another chunk is needed.
    end: usize,
    length: usize,
}

/// Values in the order of (time, order number), in a few runs.
#[derive(Clone, Debug)]
pub struct Runs<T> {
    /// All chunks, one behind the other. Those places that are in no run hold old values.
    places: Vec<T>,
    /// For each chunk the one behind it in its run, or in the list of those that are free.
    next: Vec<u32>,
    /// The first chunk that is free.
    free: u32,
    runs: Vec<Run>,
    /// The end of each run, the latest first. An empty run keeps its end: nothing can be added before it any more.
    ends: Vec<End>,
    length: usize,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            next: Vec::new(),
            free: NONE,
            runs: Vec::new(),
            ends: Vec::new(),
            length: 0,
        }
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
        self.runs.push(Run { first: 0, end: 0, length: 0 });
        self.ends.push(End { time, order, run });
        run
    }

    /// Adds a value that is due at this time. Returns it where it is, its run, and true if it is the first there, so that
    /// the run must be put into the event queue. The caller sees to it that the value, too, says when it is due: it may be
    /// a copy of one that was due at another time.
    #[inline(always)]
    pub fn add(&mut self, time: Time, order: u64, value: &T) -> (&mut T, u32, bool) {
        let run = self.run_for(time, order);
        if self.runs[run as usize].end % CHUNK == 0 {
            self.lengthen(run, value);
        }
        let its = &mut self.runs[run as usize];
        let is_first = its.length == 0;
        its.length += 1;
        self.length += 1;
        let place = &mut self.places[its.end];
        its.end += 1;
        *place = *value;
        (place, run, is_first)
    }

    /// Puts a chunk at the end of a run.
    #[cold]
    fn lengthen(&mut self, run: u32, filler: &T) {
        if self.free == NONE {
            self.grow(filler);
        }
        let chunk = self.free;
        self.free = std::mem::replace(&mut self.next[chunk as usize], NONE);
        let begin = chunk as usize * CHUNK;
        let its = &mut self.runs[run as usize];
        if its.length == 0 {
            its.first = begin;
        } else {
            self.next[(its.end - 1) / CHUNK] = chunk;
        }
        its.end = begin;
    }

    /// Makes more chunks: many by an eighth of those there are. Large allocations are extended in place.
    #[cold]
    fn grow(&mut self, filler: &T) {
        let before = self.next.len();
        let more = if before < FEW { before.max(1) } else { before / 8 };
        self.places.reserve_exact(more * CHUNK);
        self.places.resize((before + more) * CHUNK, *filler);
        self.next.extend((before + 1..=before + more).map(|chunk| chunk as u32));
        self.next[before + more - 1] = NONE;
        self.free = before as u32;
    }

    /// All of the first chunk of a run, which ends before this place, has been taken.
    #[cold]
    fn shorten(&mut self, run: u32, end: usize) {
        let chunk = end / CHUNK - 1;
        let its = &mut self.runs[run as usize];
        if its.length > 0 {
            its.first = self.next[chunk] as usize * CHUNK;
        }
        self.next[chunk] = std::mem::replace(&mut self.free, chunk as u32);
    }

    /// Removes the first value of a run, of which there must be one.
    #[inline(always)]
    pub fn take_first(&mut self, run: u32) -> T {
        let its = &mut self.runs[run as usize];
        let value = self.places[its.first];
        its.first += 1;
        its.length -= 1;
        self.length -= 1;
        if its.first % CHUNK == 0 {
            let end = its.first;
            self.shorten(run, end);
        }
        value
    }

    /// When the first value of a run is due, if there is one.
    #[inline(always)]
    pub fn first_due(&self, run: u32) -> Option<(Time, u64)> {
        self.first(run).map(|next| (next.time(), next.order()))
    }

    /// The first value of a run.
    #[inline]
    pub fn first(&self, run: u32) -> Option<&T> {
        let its = &self.runs[run as usize];
        if its.length > 0 { self.places.get(its.first) } else { None }
    }

    /// The value of a run that comes after so many others, no more than a chunk holds.
    #[inline(always)]
    pub fn get(&self, run: u32, position: usize) -> Option<&T> {
        let its = &self.runs[run as usize];
        if position >= its.length {
            return None;
        }
        let (chunk, place) = (its.first / CHUNK, its.first % CHUNK + position);
        let chunk = if place < CHUNK { chunk } else { self.next[chunk] as usize };
        self.places.get(chunk * CHUNK + place % CHUNK)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.length
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
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

    /// Ten thousand values under way, a million in all, and now in one run and now in another: all runs together keep to the
    /// room of an eighth more, and of a chunk that is begun at both ends of each.
    #[test]
    fn memory_is_that_of_the_values_under_way() {
        let mut runs = Runs::default();
        let mut waiting = std::collections::VecDeque::new();
        for order in 0..1_000_000 {
            // A run for each of four delays: it is used for some time and then empties.
            let time = order + [20_000, 60_000, 40_000, 80_000][order as usize / 50_000 % 4];
            let (_, run, _) = runs.add(Time::from_picoseconds(time), order, &At(time, order));
            waiting.push_back((time, run));
            if waiting.len() > 10_000 {
                let (_, run) = waiting.pop_front().expect("one waits");
                runs.take_first(run);
            }
        }
        assert!(runs.runs.len() > 1);
        assert_eq!(runs.len(), 10_000);
        let most = 10_000 * 9 / 8 + 2 * CHUNK * runs.runs.len();
        assert!(runs.places.len() <= most, "{} places, {most} are enough", runs.places.len());
    }

    proptest! {
        /// Taken from the run whose first is the earliest, values come in order.
        #[test]
        fn runs_are_in_order(times in proptest::collection::vec(0_u64..50, 1..700)) {
            let mut runs = Runs::default();
            let mut sorted: Vec<At> = Vec::new();
            for (order, time) in times.into_iter().enumerate() {
                let value = At(time, order as u64);
                runs.add(value.time(), value.order(), &value);
                sorted.push(value);
            }
            sorted.sort_unstable();
            for expected in sorted {
                let first = (0..runs.runs.len() as u32).filter(|&run| runs.first(run).is_some());
                let run = first.min_by_key(|&run| *runs.first(run).expect("not empty")).expect("a value is left");
                let third = runs.get(run, 2).copied();
                prop_assert_eq!(runs.take_first(run), expected);
                if let (Some(third), Some(second)) = (third, runs.first(run).copied()) {
                    prop_assert!(second < third);
                    prop_assert_eq!(runs.get(run, 1).copied(), Some(third));
                }
            }
            prop_assert!(runs.is_empty());
        }
    }
}

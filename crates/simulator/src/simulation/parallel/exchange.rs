//! State shared by the threads of one run: the clock of each part, and the packets between parts.

use crate::network::handover::Handover;
use selfclock_congestion::units::{Duration, Time};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// In its own cache line pair: two threads write to adjacent values.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Alone<T>(T);

/// Packets from one part to another.
#[derive(Debug, Default)]
struct Post {
    /// There is something.
    is_full: AtomicBool,
    handover: Mutex<Handover>,
}

/// Activity of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// Its next event may be at any time.
    Runs,
    /// It waits for input; its next event is at this time.
    Rests(Time),
    /// All events up to the requested time are done.
    Done,
}

/// Clocks, and packets in transit between parts.
#[derive(Debug)]
pub(super) struct Exchange {
    parts: usize,
    /// For each part, a time before which it will do nothing more.
    clocks: Vec<Alone<AtomicU64>>,
    posts: Vec<Alone<Post>>,
    activities: Mutex<Vec<Activity>>,
    /// For each part, a time before which it will receive nothing more, learned while all rested.
    floors: Vec<Alone<AtomicU64>>,
    /// The minimum transit time to each part.
    lookaheads: Vec<Duration>,
    /// A thread has failed: the others must end.
    has_failed: AtomicBool,
}

impl Exchange {
    /// Between parts with these minimum transit times to each.
    pub fn new(lookaheads: Vec<Duration>) -> Self {
        let parts = lookaheads.len();
        Self {
            parts,
            clocks: (0..parts).map(|_| Alone::default()).collect(),
            posts: (0..parts * parts).map(|_| Alone::default()).collect(),
            activities: Mutex::new(vec![Activity::Runs; parts]),
            floors: (0..parts).map(|_| Alone::default()).collect(),
            lookaheads,
            has_failed: AtomicBool::new(false),
        }
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// A time before which this part will do nothing more. Everything it sent before setting it has
    /// been posted.
    pub fn clock(&self, part: usize) -> Time {
        Time::from_picoseconds(self.clocks[part].0.load(Ordering::Acquire))
    }

    /// This part has posted everything it sent, and will do nothing before this time.
    pub fn set_clock(&self, part: usize, time: Time) {
        self.clocks[part].0.store(time.picoseconds(), Ordering::Release);
    }

    /// A time before which this part receives nothing more, whatever the clocks of the others.
    pub fn floor(&self, part: usize) -> Time {
        Time::from_picoseconds(self.floors[part].0.load(Ordering::Acquire))
    }

    fn post(&self, from: usize, to: usize) -> &Post {
        &self.posts[from * self.parts + to].0
    }

    /// Posts packets.
    pub fn send(&self, from: usize, to: usize, packets: &mut Handover) {
        let post = self.post(from, to);
        let mut posted = post.handover.lock().unwrap_or_else(PoisonError::into_inner);
        posted.append(packets);
        post.is_full.store(true, Ordering::Release);
    }

    /// Whether packets have been posted.
    pub fn is_posted(&self, from: usize, to: usize) -> bool {
        self.post(from, to).is_full.load(Ordering::Acquire)
    }

    /// Takes posted packets into an empty list. False if there are none.
    pub fn receive(&self, from: usize, to: usize, packets: &mut Handover) -> bool {
        if !self.is_posted(from, to) {
            return false;
        }
        let post = self.post(from, to);
        let mut posted = post.handover.lock().unwrap_or_else(PoisonError::into_inner);
        post.is_full.store(false, Ordering::Relaxed);
        std::mem::swap(&mut *posted, packets);
        true
    }

    fn activities(&self) -> MutexGuard<'_, Vec<Activity>> {
        self.activities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks all parts as running, for another period.
    pub fn begin(&self) {
        self.activities().fill(Activity::Runs);
    }

    /// This part does nothing until [`Exchange::rise`]; its next event is at this time. If all
    /// others rest too, and no packet is in transit, no part receives anything before the earliest
    /// event of all plus its lookahead: without that, idle parts would approach their next event by
    /// one lookahead per turn.
    pub fn rest(&self, part: usize, next: Time, until: Time) {
        let mut activities = self.activities();
        activities[part] = Activity::Rests(next);
        self.raise_floors(&activities, until);
    }

    /// If no part runs and no packet is in transit, nothing happens before the earliest event.
    fn raise_floors(&self, activities: &[Activity], until: Time) {
        let mut earliest = until;
        for activity in activities {
            match activity {
                Activity::Runs => return,
                Activity::Rests(next) => earliest = earliest.min(*next),
                Activity::Done => {}
            }
        }
        // Packets for a finished part arrive after `until`.
        let waits = |to: usize| activities[to] != Activity::Done;
        let is_posted = |to| (0..self.parts).any(|from| self.is_posted(from, to));
        if (0..self.parts).any(|to| waits(to) && is_posted(to)) {
            return;
        }
        for (floor, &lookahead) in self.floors.iter().zip(&self.lookaheads) {
            floor.0.fetch_max((earliest + lookahead).picoseconds(), Ordering::Release);
        }
    }

    /// This part no longer rests.
    pub fn rise(&self, part: usize) {
        self.activities()[part] = Activity::Runs;
    }

    /// This part has finished the requested period. It may have been the last one running: the
    /// others, which rest, would wait forever.
    pub fn end(&self, part: usize, until: Time) {
        let mut activities = self.activities();
        activities[part] = Activity::Done;
        self.raise_floors(&activities, until);
    }

    /// A thread has failed.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Makes the other threads end, too.
    pub fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two parts rested while the third still ran. Only its end can release them.
    #[test]
    fn the_end_of_a_part_wakes_those_that_rest() {
        let exchange = Exchange::new(vec![Duration::from_picoseconds(5); 3]);
        let until = Time::from_picoseconds(100);
        exchange.rest(0, Time::from_picoseconds(10), until);
        exchange.rest(1, Time::from_picoseconds(20), until);
        assert_eq!(exchange.floor(0), Time::ZERO);
        exchange.end(2, until);
        assert_eq!([0, 1].map(|part| exchange.floor(part).picoseconds()), [15, 15]);
    }

    /// A packet in transit may bring an earlier event.
    #[test]
    fn a_packet_on_its_way_keeps_the_floors() {
        let exchange = Exchange::new(vec![Duration::from_picoseconds(5); 3]);
        let until = Time::from_picoseconds(100);
        exchange.send(2, 1, &mut Handover::default());
        exchange.rest(0, Time::from_picoseconds(10), until);
        exchange.rest(1, Time::from_picoseconds(20), until);
        exchange.end(2, until);
        assert_eq!(exchange.floor(0), Time::ZERO);
    }
}

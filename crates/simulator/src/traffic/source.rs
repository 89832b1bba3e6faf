//! Where a TCP sender's data comes from.

use crate::plan::{Activity, Period, Source};
use selfclock_congestion::units::{Bytes, Rate, Time};
use std::sync::Arc;

/// The application's side of a TCP connection.
#[derive(Clone, Debug)]
pub struct Application {
    offer: Offer,
    /// When the offer begins.
    from: Time,
    stop: Time,
    /// Size of one write of a source with a rate: whole segments.
    write: u64,
    /// Later periods of an application with steps. Boxed: few have any.
    later: Option<Box<Later>>,
}

/// Data that the application offers now.
#[derive(Clone, Copy, Debug)]
enum Offer {
    Bulk,
    Size(Bytes),
    Rate(Rate),
    Nothing,
}

/// The steps of an application.
#[derive(Clone, Debug)]
struct Later {
    periods: Arc<[Period]>,
    /// Number of the next period.
    next: usize,
    /// Bytes produced before the current one.
    before: u64,
    segment: u64,
}

/// Whole segments of a write.
const fn whole(size: Bytes, segment: u64) -> u64 {
    size.get().div_ceil(segment).saturating_mul(segment)
}

impl Application {
    /// An application that begins at `start` and stops producing data at `stop`.
    pub fn new(source: &Source, start: Time, stop: Time, segment: Bytes) -> Self {
        let segment = segment.get();
        let (offer, write, later) = match source {
            Source::Bulk => (Offer::Bulk, segment, None),
            Source::Size(size) => (Offer::Size(*size), segment, None),
            Source::Rate(rate) => (Offer::Rate(*rate), segment, None),
            Source::Writes { rate, size } => (Offer::Rate(*rate), whole(*size, segment), None),
            Source::Steps(periods) => {
                let later = Later { periods: periods.clone(), next: 0, before: 0, segment };
                (Offer::Nothing, segment, Some(Box::new(later)))
            }
        };
        let mut application = Self { offer, from: start, stop, write, later };
        // The first period begins with the flow; the last one that has begun by then counts.
        while application.next_step().is_some_and(|period| period.from <= start) || application.is_unstepped()
        {
            application.step(start, 0);
        }
        application
    }

    /// Whether the first period has not begun.
    fn is_unstepped(&self) -> bool {
        self.later.as_ref().is_some_and(|later| later.next == 0)
    }

    fn next_step(&self) -> Option<Period> {
        let later = self.later.as_ref()?;
        later.periods.get(later.next).copied()
    }

    /// The next period begins at this time, with `before` bytes produced so far.
    fn step(&mut self, from: Time, before: u64) {
        let Some(later) = &mut self.later else { return };
        let Some(period) = later.periods.get(later.next) else { return };
        later.next += 1;
        later.before = before;
        self.from = from;
        self.offer = match period.activity {
            Activity::Bulk => Offer::Bulk,
            Activity::Silence => Offer::Nothing,
            Activity::Rate { rate, write } => {
                self.write = write.map_or(later.segment, |size| whole(size, later.segment));
                Offer::Rate(rate)
            }
        };
    }

    /// Enters the periods that have begun by `now`. A bulk period has produced exactly what was
    /// `sent` in it.
    #[inline]
    pub fn advance(&mut self, now: Time, sent: u64) {
        if self.later.is_some() {
            self.enter_periods(now, sent);
        }
    }

    fn enter_periods(&mut self, now: Time, sent: u64) {
        while let Some(period) = self.next_step()
            && period.from <= now
            && period.from < self.stop
        {
            let before = match self.offer {
                Offer::Bulk => sent,
                // A write at the moment of a step belongs to the next period.
                _ => self.produced(Time::from_picoseconds(period.from.picoseconds() - 1), sent),
            };
            self.step(period.from, before);
        }
    }

    /// Bytes produced before the current period.
    fn before(&self) -> u64 {
        self.later.as_ref().map_or(0, |later| later.before)
    }

    /// Bytes produced so far, if that limits the connection. A stopped bulk source has produced
    /// exactly what was `sent`.
    pub fn produced(&self, now: Time, sent: u64) -> u64 {
        match self.offer {
            Offer::Bulk if now >= self.stop => sent,
            Offer::Bulk => u64::MAX,
            Offer::Size(size) => size.get(),
            Offer::Nothing => self.before(),
            Offer::Rate(rate) => {
                let span = now.min(self.stop).since(self.from);
                let write_time = rate.transmission_time(Bytes(self.write)).picoseconds().max(1);
                // The first write is at the start.
                let written = (span.picoseconds() / write_time + 1).saturating_mul(self.write);
                self.before().saturating_add(written)
            }
        }
    }

    /// Time after `now` at which it next produces data or stops.
    pub fn next_change(&self, now: Time) -> Time {
        let next = match self.offer {
            Offer::Bulk => self.stop,
            Offer::Size(_) | Offer::Nothing => Time::NEVER,
            Offer::Rate(rate) => self.next_write(now, rate),
        };
        let next = self.next_step().map_or(next, |period| next.min(period.from));
        if next > now && next <= self.stop { next } else { Time::NEVER }
    }

    fn next_write(&self, now: Time, rate: Rate) -> Time {
        let write_time = rate.transmission_time(Bytes(self.write));
        if write_time.is_zero() {
            return Time::NEVER;
        }
        let writes = now.since(self.from).picoseconds() / write_time.picoseconds() + 1;
        self.from + write_time.times(writes)
    }

    /// Whether it will produce nothing more after `now`.
    pub fn is_finished(&self, now: Time) -> bool {
        match self.offer {
            Offer::Size(_) => true,
            Offer::Nothing if self.next_step().is_none() => true,
            _ => now >= self.stop,
        }
    }
}

#[cfg(test)]
impl Application {
    /// A script's application, which has written this many bytes so far.
    pub fn write_up_to(&mut self, bytes: u64) {
        self.offer = Offer::Size(Bytes(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_congestion::units::{Duration, Rate};

    #[test]
    fn a_rate_source_writes_one_segment_at_a_time() {
        let start = Time::ZERO + Duration::from_milliseconds(100);
        // 1000 B at 800 kbit/s: every 10 ms.
        let source = Source::Rate(Rate::from_bits_per_second(800_000));
        let application = Application::new(&source, start, Time::NEVER, Bytes(1000));
        assert_eq!(application.produced(start, 0), 1000);
        assert_eq!(application.next_change(start), start + Duration::from_milliseconds(10));
        assert_eq!(application.produced(start + Duration::from_milliseconds(10), 1000), 2000);
        assert_eq!(application.produced(start + Duration::from_milliseconds(1000), 0), 101_000);
    }

    #[test]
    fn larger_writes_are_whole_segments() {
        let start = Time::ZERO + Duration::from_milliseconds(100);
        // 2100 B are three segments of 1000 B, which take 30 ms at 800 kbit/s.
        let source = Source::Writes { rate: Rate::from_bits_per_second(800_000), size: Bytes(2100) };
        let application = Application::new(&source, start, Time::NEVER, Bytes(1000));
        assert_eq!(application.produced(start, 0), 3000);
        assert_eq!(application.next_change(start), start + Duration::from_milliseconds(30));
        assert_eq!(application.produced(start + Duration::from_milliseconds(29), 0), 3000);
        assert_eq!(application.produced(start + Duration::from_milliseconds(30), 0), 6000);
        assert!(!application.is_finished(start));
    }

    /// The largest write is produced at the start, and never again.
    #[test]
    fn any_write_is_produced() {
        let (start, rate) = (Time::ZERO, Rate::from_bits_per_second(1));
        for size in [u64::MAX, u64::MAX / 2, 1 << 40] {
            let source = Source::Writes { rate, size: Bytes(size) };
            let application = Application::new(&source, start, Time::NEVER, Bytes(1448));
            let produced = application.produced(start, 0);
            assert!(produced >= size, "{size}");
            assert_eq!(application.produced(start + Duration::from_milliseconds(1000), 0), produced);
            assert_eq!(application.next_change(start), Time::NEVER);
        }
    }

    #[test]
    fn bulk_stops_with_what_was_sent() {
        let stop = Time::ZERO + Duration::from_milliseconds(100);
        let application = Application::new(&Source::Bulk, Time::ZERO, stop, Bytes(1000));
        assert_eq!(application.produced(Time::ZERO, 0), u64::MAX);
        assert_eq!(application.next_change(Time::ZERO), stop);
        assert_eq!(application.produced(stop, 5000), 5000);
        assert!(application.is_finished(stop));
    }

    /// Half a second of bulk, a pause, then 1000 B every 10 ms: the bulk period has produced what
    /// was sent in it, and the rest is counted from there.
    #[test]
    fn steps_follow_one_another() {
        let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        let rate = Activity::Rate { rate: Rate::from_bits_per_second(800_000), write: None };
        let periods = [(0, Activity::Bulk), (500, Activity::Silence), (800, rate), (900, Activity::Bulk)];
        let periods = periods.map(|(from, activity)| Period { from: at(from), activity });
        let source = Source::Steps(periods.as_slice().into());
        let mut application = Application::new(&source, at(100), at(1000), Bytes(1000));
        assert_eq!(application.produced(at(100), 0), u64::MAX);
        assert_eq!(application.next_change(at(100)), at(500));
        application.advance(at(500), 70_000);
        assert_eq!(application.produced(at(500), 70_000), 70_000);
        assert_eq!(application.next_change(at(500)), at(800));
        assert!(!application.is_finished(at(500)));
        application.advance(at(800), 70_000);
        assert_eq!(application.produced(at(800), 70_000), 71_000);
        assert_eq!(application.next_change(at(800)), at(810));
        assert_eq!(application.produced(at(899), 70_000), 80_000);
        assert_eq!(application.next_change(at(895)), at(900));
        application.advance(at(900), 75_000);
        assert_eq!(application.produced(at(900), 75_000), u64::MAX);
        assert_eq!(application.next_change(at(900)), at(1000), "it stops");
        assert_eq!(application.produced(at(1000), 90_000), 90_000);
        assert!(application.is_finished(at(1000)));
    }

    /// A flow that begins late begins with the last step before; after a last pause nothing comes.
    #[test]
    fn a_late_flow_begins_with_the_step_of_its_time() {
        let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        let periods = [(0, Activity::Bulk), (300, Activity::Silence)];
        let periods = periods.map(|(from, activity)| Period { from: at(from), activity });
        let source = Source::Steps(periods.as_slice().into());
        let late = Application::new(&source, at(400), Time::NEVER, Bytes(1000));
        assert_eq!(late.produced(at(400), 0), 0);
        assert!(late.is_finished(at(400)));
    }
}

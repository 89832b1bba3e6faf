//! Where a TCP sender's data comes from.

use crate::plan::Source;
use selfclock_congestion::units::{Bytes, Time};

/// The application's side of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub struct Application {
    source: Source,
    start: Time,
    stop: Time,
    /// Size of one write of a source with a rate: whole segments.
    write: u64,
}

impl Application {
    /// An application that begins at `start` and stops producing data at `stop`.
    pub const fn new(source: Source, start: Time, stop: Time, segment: Bytes) -> Self {
        let segment = segment.get();
        let write = match source {
            Source::Writes { size, .. } => size.get().div_ceil(segment).saturating_mul(segment),
            Source::Bulk | Source::Size(_) | Source::Rate(_) => segment,
        };
        Self { source, start, stop, write }
    }

    /// Bytes produced so far, if that limits the connection. A stopped bulk source has produced
    /// exactly what was `sent`.
    pub fn produced(&self, now: Time, sent: u64) -> u64 {
        match self.source {
            Source::Bulk if now >= self.stop => sent,
            Source::Bulk => u64::MAX,
            Source::Size(size) => size.get(),
            Source::Rate(rate) | Source::Writes { rate, .. } => {
                let span = now.min(self.stop).since(self.start);
                let write_time = rate.transmission_time(Bytes(self.write)).picoseconds().max(1);
                // The first write is at the start.
                (span.picoseconds() / write_time + 1).saturating_mul(self.write)
            }
        }
    }

    /// Time after `now` at which it next produces data or stops.
    pub fn next_change(&self, now: Time) -> Time {
        let next = match self.source {
            Source::Bulk => self.stop,
            Source::Size(_) => Time::NEVER,
            Source::Rate(rate) | Source::Writes { rate, .. } => {
                let write_time = rate.transmission_time(Bytes(self.write));
                if write_time.is_zero() {
                    return Time::NEVER;
                }
                let writes = now.since(self.start).picoseconds() / write_time.picoseconds() + 1;
                self.start + write_time.times(writes)
            }
        };
        if next > now && next <= self.stop { next } else { Time::NEVER }
    }

    /// Whether it will produce nothing more after `now`.
    pub fn is_finished(&self, now: Time) -> bool {
        matches!(self.source, Source::Size(_)) || now >= self.stop
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
        let application = Application::new(source, start, Time::NEVER, Bytes(1000));
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
        let application = Application::new(source, start, Time::NEVER, Bytes(1000));
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
            let application = Application::new(source, start, Time::NEVER, Bytes(1448));
            let produced = application.produced(start, 0);
            assert!(produced >= size, "{size}");
            assert_eq!(application.produced(start + Duration::from_milliseconds(1000), 0), produced);
            assert_eq!(application.next_change(start), Time::NEVER);
        }
    }

    #[test]
    fn bulk_stops_with_what_was_sent() {
        let stop = Time::ZERO + Duration::from_milliseconds(100);
        let application = Application::new(Source::Bulk, Time::ZERO, stop, Bytes(1000));
        assert_eq!(application.produced(Time::ZERO, 0), u64::MAX);
        assert_eq!(application.next_change(Time::ZERO), stop);
        assert_eq!(application.produced(stop, 5000), 5000);
        assert!(application.is_finished(stop));
    }
}

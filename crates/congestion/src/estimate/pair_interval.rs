//! The interval between the two segments of a pair, in ticks of a coarse clock.

use crate::choice;
use crate::units::{Duration, Time};

choice! {
    /// Conversion of an interval to a number of ticks.
    TimerRounding {
        /// Difference of two readings of a free-running counter: a phase error of up to one tick.
        CounterDifference = "counter-difference",
        /// Nearest whole number of ticks.
        Round = "round",
        /// A 10 µs clock, and releases at any time.
        Exact = "exact",
    }
}

choice! {
    /// Choice among the reported intervals.
    IntervalFilter {
        /// The last one.
        Last = "last",
        /// The smallest one: cross traffic between the two widens a pair.
        Minimum = "minimum",
        /// The median of the last three.
        MedianOfThree = "median-of-three",
    }
}

/// The period of the clock in exact mode.
const EXACT_TICK: Duration = Duration::from_microseconds(10);

/// The clock with which both ends measure intervals.
#[derive(Clone, Copy, Debug)]
pub struct TickClock {
    period: Duration,
    rounding: TimerRounding,
}

impl TickClock {
    /// A clock with this period (ignored in exact mode).
    pub const fn new(tick: Duration, rounding: TimerRounding) -> Self {
        let period = if matches!(rounding, TimerRounding::Exact) { EXACT_TICK } else { tick };
        Self { period, rounding }
    }

    /// Length of one tick.
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// Period of the ticks on which segments are released; zero if released at any time.
    pub const fn release_tick(&self) -> Duration {
        if matches!(self.rounding, TimerRounding::Exact) { Duration::ZERO } else { self.period }
    }

    /// Ticks from `first` to `second`, at most 65535.
    pub fn interval(&self, first: Time, second: Time) -> u16 {
        let ticks = match self.rounding {
            TimerRounding::CounterDifference => {
                second.ticks(self.period).saturating_sub(first.ticks(self.period))
            }
            TimerRounding::Round | TimerRounding::Exact => {
                let half = self.period.picoseconds() / 2;
                (second.since(first).picoseconds().saturating_add(half)) / self.period.picoseconds()
            }
        };
        u16::try_from(ticks).unwrap_or(u16::MAX)
    }
}

/// The intervals that the peer reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalHistory {
    recent: [u16; 3],
    count: u32,
    minimum: u16,
}

impl IntervalHistory {
    /// Adds an interval, in ticks.
    pub fn record(&mut self, ticks: u16) {
        self.minimum = if self.count == 0 { ticks } else { self.minimum.min(ticks) };
        self.recent[self.count as usize % 3] = ticks;
        // The filters use three; beyond that the count only identifies the last.
        self.count = if self.count >= 5 { 3 } else { self.count + 1 };
    }

    /// The selected interval, in ticks; `None` before the first.
    pub fn filtered(&self, filter: IntervalFilter) -> Option<u16> {
        if self.count == 0 {
            return None;
        }
        let last = self.recent[(self.count as usize - 1) % 3];
        Some(match filter {
            IntervalFilter::Last => last,
            IntervalFilter::Minimum => self.minimum,
            IntervalFilter::MedianOfThree if self.count < 3 => last,
            IntervalFilter::MedianOfThree => {
                let [a, b, c] = self.recent;
                a.max(b).min(a.min(b).max(c))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: f64) -> Time {
        Time::ZERO + Duration::from_seconds(milliseconds / 1000.0)
    }

    #[test]
    fn counter_difference_has_a_phase_error_of_up_to_one_tick() {
        let clock = TickClock::new(Duration::from_milliseconds(10), TimerRounding::CounterDifference);
        // 8.2 ms, a 512-byte segment at the paper's 500 kbit/s: 0 or 1 tick, by phase.
        assert_eq!(clock.interval(at(1.0), at(9.2)), 0);
        assert_eq!(clock.interval(at(5.0), at(13.2)), 1);
    }

    #[test]
    fn round_has_none() {
        let clock = TickClock::new(Duration::from_milliseconds(10), TimerRounding::Round);
        for phase in 0..100 {
            let first = f64::from(phase) / 10.0;
            assert_eq!(clock.interval(at(first), at(first + 8.2)), 1);
        }
    }

    #[test]
    fn intervals_saturate() {
        let clock = TickClock::new(Duration::from_milliseconds(10), TimerRounding::Exact);
        assert_eq!(clock.interval(at(0.0), at(16.0)), 1600);
        assert_eq!(clock.interval(at(0.0), at(1e9)), u16::MAX);
    }

    #[test]
    fn filters() {
        let mut history = IntervalHistory::default();
        assert_eq!(history.filtered(IntervalFilter::Last), None);
        for (ticks, median) in [(4, 4), (9, 9), (5, 5), (7, 7), (6, 6), (1, 6), (8, 6)] {
            history.record(ticks);
            assert_eq!(history.filtered(IntervalFilter::Last), Some(ticks));
            assert_eq!(history.filtered(IntervalFilter::MedianOfThree), Some(median));
        }
        assert_eq!(history.filtered(IntervalFilter::Minimum), Some(1));
    }
}

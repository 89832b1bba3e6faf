//! Round trips, delimited by sequence numbers.

use crate::event::Acknowledged;
use crate::units::Bytes;

/// Detects the boundaries of round trips.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    /// A round trip ends when everything below this is acknowledged: the data sent when it began.
    end: Bytes,
}

impl RoundTrip {
    /// State before the first ACK.
    pub const fn new() -> Self {
        Self { end: Bytes::ZERO }
    }
    /// True if this ACK ends a round trip; the next one then begins. The first ACK of a connection
    /// begins the first round trip.
    #[inline]
    pub fn ended(&mut self, event: &Acknowledged) -> bool {
        let ended = event.acknowledged_total >= self.end;
        if ended {
            self.end = event.sent_total;
        }
        ended
    }
}

/// Round-trip times measured during one round trip, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct RoundTripTimes {
    /// How many.
    pub count: u32,
    /// Minimum; infinite without samples.
    pub minimum: f64,
    sum: f64,
    /// Whether the samples are of ACKs that cover several segments.
    of_several: bool,
}

impl RoundTripTimes {
    /// None yet.
    pub const NONE: Self = Self { count: 0, minimum: f64::INFINITY, sum: 0.0, of_several: false };

    /// One more.
    #[inline]
    pub fn record(&mut self, seconds: f64) {
        self.count = self.count.saturating_add(1);
        self.minimum = self.minimum.min(seconds);
        self.sum += seconds;
    }

    /// Adds a sample, of an ACK that covers more than one segment or not.
    ///
    /// Our choice: where other ACKs of the round trip cover more, one of a single segment has
    /// waited for the receiver's timer, and is discarded. A window of 60 segments at 60 ms sends an
    /// odd number in a burst, and the last waits 40 ms: 1.4 ms in the mean, 1.3 segments that are
    /// not in the queue, and Vegas would never let such a window grow.
    #[inline]
    pub fn record_of(&mut self, seconds: f64, covers_more: bool) {
        if covers_more && !self.of_several {
            *self = Self { of_several: true, ..Self::NONE };
        }
        if covers_more || !self.of_several {
            self.record(seconds);
        }
    }

    /// Mean of the samples; `None` without any.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::ack;

    #[test]
    fn a_round_trip_is_one_window_of_data() {
        let mut round = RoundTrip::default();
        let ended: Vec<u64> = (1..=40)
            .filter(|segment| {
                round.ended(&Acknowledged {
                    acknowledged_total: Bytes(segment * 1000),
                    sent_total: Bytes(segment * 1000 + 10_000),
                    ..ack(1000)
                })
            })
            .collect();
        assert_eq!(ended, [1, 11, 21, 31]);
    }

    /// Two ACKs of two segments each, and one of a single segment that waited 40 ms for the
    /// receiver's timer.
    #[test]
    fn what_waited_for_the_timer_is_left_out() {
        for order in [[false, true, true], [true, false, true], [true, true, false]] {
            let mut times = RoundTripTimes::NONE;
            for covers_more in order {
                times.record_of(if covers_more { 0.1 } else { 0.14 }, covers_more);
            }
            assert_eq!((times.count, times.minimum, times.mean()), (2, 0.1, Some(0.1)), "{order:?}");
        }
        // Where every ACK covers one segment, all count.
        let mut times = RoundTripTimes::NONE;
        times.record_of(0.25, false);
        times.record_of(0.75, false);
        assert_eq!((times.count, times.mean()), (2, Some(0.5)));
    }

    #[test]
    fn times_of_a_round_trip() {
        let mut times = RoundTripTimes::NONE;
        assert_eq!(times.mean(), None);
        for seconds in [0.25, 0.125, 0.75] {
            times.record(seconds);
        }
        assert_eq!((times.count, times.minimum, times.mean()), (3, 0.125, Some(0.375)));
    }
}

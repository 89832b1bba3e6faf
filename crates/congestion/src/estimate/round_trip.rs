//! Round trips, told apart by sequence numbers.

use crate::event::Acknowledged;
use crate::units::Bytes;

/// Tells where one round trip ends and the next begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    /// A round trip ends when everything below this has been acknowledged: what had been sent when it began.
    end: Bytes,
}

impl RoundTrip {
    /// Before the first acknowledgement.
    pub const fn new() -> Self {
        Self { end: Bytes::ZERO }
    }
    /// True if this acknowledgement ends a round trip; the next one then begins. The first acknowledgement of a
    /// connection begins the first round trip.
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
    /// The smallest; infinite if there is none.
    pub minimum: f64,
    sum: f64,
}

impl RoundTripTimes {
    /// None yet.
    pub const NONE: Self = Self { count: 0, minimum: f64::INFINITY, sum: 0.0 };

    /// One more.
    #[inline]
    pub fn record(&mut self, seconds: f64) {
        self.count = self.count.saturating_add(1);
        self.minimum = self.minimum.min(seconds);
        self.sum += seconds;
    }

    /// Their mean, if there is one.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::tests::ack;

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

//! The ACK clock: the stretches in which ACKs arrive, and their rate.
//!
//! A window below the BDP travels in a bunch, permanently, or in slow start until the path is full.
//! The rate at which a connection can send is then that of its bunches, not their mean over a round
//! trip.

use crate::event::Acknowledged;
use crate::units::{Bytes, Time};

/// Stretches of acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckClock {
    /// The current stretch: its start, and the payload acknowledged until then.
    began: Time,
    acknowledged_before: Bytes,
    last: Time,
    acknowledged: Bytes,
    /// Mean time between ACKs within stretches, s.
    gap: f64,
    finished: Option<Stretch>,
    begins: bool,
}

/// A stretch of ACKs without a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Payload per second.
    pub bytes_per_second: f64,
    /// Length, s: at most slightly more than a round trip, after which another begins.
    pub seconds: f64,
}

/// A pause is longer than this fraction of a round trip. Our choice.
const PAUSE: f64 = 1.0 / 16.0;
/// Weight of a new gap in the mean.
const GAP_WEIGHT: f64 = 1.0 / 64.0;
/// Minimum number of gaps in a stretch that yields a rate.
const FEWEST_GAPS: f64 = 8.0;

impl AckClock {
    /// An ACK advanced. True if a pause preceded it.
    #[inline]
    pub fn on_ack(&mut self, event: &Acknowledged, round_trip: f64) -> bool {
        self.begins = false;
        if event.now > self.last {
            self.tick(event, round_trip);
        }
        self.acknowledged = event.acknowledged_total;
        self.begins
    }

    fn tick(&mut self, event: &Acknowledged, round_trip: f64) {
        let gap = event.now.since(self.last).seconds();
        let pause = gap > PAUSE * round_trip;
        if pause || self.last.since(self.began).seconds() >= round_trip {
            self.finish();
            self.begins = pause;
            self.began = if pause { event.now } else { self.last };
            self.acknowledged_before = if pause { event.acknowledged_total } else { self.acknowledged };
        }
        if !pause {
            let weight = if self.gap > 0.0 { GAP_WEIGHT } else { 1.0 };
            self.gap += weight * (gap - self.gap);
        }
        self.last = event.now;
    }

    fn finish(&mut self) {
        let seconds = self.last.since(self.began).seconds();
        let bytes = self.acknowledged.saturating_sub(self.acknowledged_before).get() as f64;
        // A short stretch invalidates earlier ones.
        let tells = seconds > 0.0 && seconds >= FEWEST_GAPS * self.gap && bytes > 0.0;
        self.finished = tells.then(|| Stretch { bytes_per_second: bytes / seconds, seconds });
    }

    /// The last complete stretch, if long enough for a rate.
    pub fn stretch(&self) -> Option<Stretch> {
        self.finished
    }

    /// Mean time between ACKs, s; simultaneous ACKs, as from one interrupt, count as one.
    pub fn gap(&self) -> f64 {
        self.gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::ack_at;

    /// `per_round_trip` segments of 1000 B per round trip of 0.1 s, 1 ms apart.
    fn run(per_round_trip: u64) -> AckClock {
        let mut clock = AckClock::default();
        for segment in 0..1000_u64 {
            let now = (segment / per_round_trip) as f64 * 0.1 + (segment % per_round_trip) as f64 * 0.001;
            clock.on_ack(
                &Acknowledged { acknowledged_total: Bytes((segment + 1) * 1000), ..ack_at(now, 0.1) },
                0.1,
            );
        }
        clock
    }

    #[test]
    fn a_full_path_has_stretches_of_a_round_trip() {
        let stretch = run(100).stretch().expect("ten round trips have passed");
        assert!((stretch.bytes_per_second / 1e6 - 1.0).abs() < 1e-6, "{stretch:?}");
        assert!((stretch.seconds - 0.1).abs() < 2e-3, "{stretch:?}");
    }

    /// 30 segments in 30 ms of 100: the rate is that of the bunch.
    #[test]
    fn a_bunch_is_a_stretch() {
        let clock = run(30);
        let stretch = clock.stretch().expect("many round trips have passed");
        assert!((stretch.bytes_per_second / 1e6 - 1.0).abs() < 1e-6, "{stretch:?}");
        assert!((stretch.seconds - 0.029).abs() < 1e-6, "{stretch:?}");
        assert!((clock.gap() - 0.001).abs() < 1e-9, "{}", clock.gap());
    }

    /// The rate of a long stretch must not outlive it: a measurement planned with it would hold
    /// back the few segments of a short one until the next, round trip after round trip.
    #[test]
    fn a_short_stretch_takes_the_place_of_a_long_one() {
        let mut clock = run(100);
        for segment in 0..10_u64 {
            let now = 2.0 + 0.1 * (segment / 5) as f64 + 0.001 * (segment % 5) as f64;
            clock.on_ack(
                &Acknowledged { acknowledged_total: Bytes((segment + 1001) * 1000), ..ack_at(now, 0.1) },
                0.1,
            );
        }
        assert_eq!(clock.stretch(), None);
    }
}

//! The pacing rate, and the interval at which it releases segments: section 5.6.2.

use crate::decision::{Pacing, interval_at};
use crate::state::WindowState;
use crate::units::Duration;

/// A pacing rate, with its interval: a sender asks for that several times for each segment, and the
/// rate changes a few times in a round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacingRate {
    /// Payload in bytes per second.
    rate: f64,
    /// Between full segments; `None` at rate zero.
    interval: Option<Duration>,
}

impl PacingRate {
    /// Payload in bytes per second.
    pub const fn get(&self) -> f64 {
        self.rate
    }

    /// Between full segments; none at rate zero.
    pub fn interval(&self) -> Duration {
        self.interval.unwrap_or(Duration::ZERO)
    }

    /// Sets the rate, for segments of `mss` bytes.
    pub fn set(&mut self, rate: f64, mss: f64) {
        if rate != self.rate {
            self.rate = rate;
            self.resize(mss);
        }
    }

    /// Segments have `mss` bytes from now on.
    pub fn resize(&mut self, mss: f64) {
        self.interval = interval_at(self.rate, mss);
    }

    /// The pacing at this rate; none at rate zero.
    #[inline]
    pub fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        let size = state.full_segment_on_wire();
        self.interval.map(|interval| Pacing { interval, size, tick: Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::paced_at;
    use crate::fixtures::state;
    use crate::units::Bytes;
    use proptest::prelude::*;

    proptest! {
        /// The kept interval is the one that the rate and the size of a segment give at any time.
        #[test]
        fn the_interval_is_kept(
            steps in proptest::collection::vec(
                prop_oneof![
                    (prop_oneof![Just(0.0), Just(1.25e6), 1e-9_f64..1e12], Just(None)),
                    (Just(0.0), (1_u64..10_000).prop_map(Some)),
                ],
                1..50,
            ),
        ) {
            let (mut kept, mut state) = (PacingRate::default(), state(10.0));
            for (rate, mss) in steps {
                if let Some(mss) = mss {
                    state.mss = Bytes(mss);
                    kept.resize(mss as f64);
                } else {
                    kept.set(rate, state.mss.get() as f64);
                    prop_assert_eq!(kept.get(), rate);
                }
                prop_assert_eq!(kept.pacing(&state), paced_at(kept.get(), &state));
            }
        }
    }
}

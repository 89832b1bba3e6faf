//! The range in which the next measurement searches for the available bandwidth (Matsuura, section
//! 2.2.3, steps 1 and 3).

/// Position of a result in the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Between its ends.
    Inside,
    /// At its lower end, or below.
    Bottom,
    /// At its upper end, or above.
    Top,
}

/// The range and the results it is derived from. All in bit/s.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchRange {
    low: f64,
    high: f64,
    /// Results since the last one at an end: number, mean, sum of squared differences from it.
    count: u32,
    mean: f64,
    squares: f64,
}

/// Minimum half width, as a fraction of the latest result: "R/10 is a value that ensures that the
/// search range does not become too small".
const SMALLEST_HALF: f64 = 0.1;

/// Our choice: lower bound of the range, as a fraction of its upper end.
const LOWEST: f64 = 0.01;

impl SearchRange {
    /// The lower and the upper end, while the connection itself carries `throughput`. Without a
    /// result the range is "(T, 2 T) where T is the throughput of TCP", unless that would be lower.
    pub fn ends(&mut self, throughput: f64) -> (f64, f64) {
        if self.count == 0 && throughput > self.high {
            (self.low, self.high) = (throughput, 2.0 * throughput);
        }
        (self.low, self.high)
    }

    /// Whether the range is still being widened, without a stored result.
    pub fn is_settled(&self) -> bool {
        self.count > 0
    }

    /// Discards the stored results, because the bandwidth has left the range, and restarts around a
    /// result.
    pub fn restart(&mut self, result: f64) {
        *self = Self { low: self.low, high: self.high, ..Self::default() };
        self.record(result, Place::Inside);
    }

    /// Adds a result and its position in this range.
    pub fn record(&mut self, result: f64, place: Place) {
        let width = self.high - self.low;
        // "We discard the accumulated measurement results [...] and enlarge the search range twice
        // towards the lower (higher) direction".
        match place {
            Place::Top => {
                *self = Self { low: self.low, high: self.low + 2.0 * width, ..Self::default() };
            }
            Place::Bottom => {
                let low = (self.high - 2.0 * width).max(LOWEST * self.high);
                *self = Self { low, high: self.high, ..Self::default() };
            }
            Place::Inside => {
                self.count += 1;
                let count = f64::from(self.count);
                let before = result - self.mean;
                self.mean += before / count;
                self.squares += before * (result - self.mean);
                // The thesis calls V the variance; a 95 % interval uses the standard deviation,
                // which makes the unit that of a bandwidth.
                let deviation = if self.count > 1 { libm::sqrt(self.squares / (count - 1.0)) } else { 0.0 };
                let half = (1.96 * deviation / libm::sqrt(count)).max(SMALLEST_HALF * result);
                self.low = (result - half).max(LOWEST * (result + half));
                self.high = result + half;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_throughput_until_there_is_a_result() {
        let mut range = SearchRange::default();
        assert_eq!(range.ends(100.0), (100.0, 200.0));
        range.record(200.0, Place::Top);
        assert_eq!(range.ends(150.0), (100.0, 300.0), "enlarged twice, upwards");
        assert_eq!(range.ends(400.0), (400.0, 800.0));
        range.record(400.0, Place::Bottom);
        assert_eq!(range.ends(400.0), (8.0, 800.0), "enlarged twice, downwards, and not to zero");
    }

    #[test]
    fn results_centre_it() {
        let mut range = SearchRange::default();
        range.ends(100.0);
        range.record(150.0, Place::Inside);
        assert_eq!(range.ends(1e9), (135.0, 165.0));
        // Two results, 100 and 200: standard deviation 70.7, and 1.96 × 70.7 / sqrt(2) = 98.
        let mut range = SearchRange::default();
        range.record(100.0, Place::Inside);
        range.record(200.0, Place::Inside);
        let (low, high) = range.ends(0.0);
        assert!((low - 102.0).abs() < 1e-9 && (high - 298.0).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn an_end_forgets() {
        let mut range = SearchRange::default();
        for result in [100.0, 300.0] {
            range.record(result, Place::Inside);
        }
        let (low, high) = range.ends(0.0);
        range.record(high, Place::Top);
        assert_eq!(range.ends(0.0), (low, low + 2.0 * (high - low)));
        range.record(200.0, Place::Inside);
        assert_eq!(range.ends(0.0), (180.0, 220.0), "one result has no deviation");
    }
}

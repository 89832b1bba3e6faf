//! Whether the path is full, section 5.3.1.2: the estimator of Startup and of ProbeBW_UP.

use super::parameters::Parameters;
use super::sample::Sample;

/// Search for a plateau of the delivery rate.
#[derive(Clone, Debug, Default)]
pub struct FullBw {
    /// BBR.full_bw_reached: the path has been full at least once.
    pub is_reached: bool,
    /// BBR.full_bw_now.
    pub is_now: bool,
    /// BBR.full_bw, in bytes per second.
    baseline: f64,
    /// BBR.full_bw_count, in round trips.
    count: u32,
}

impl FullBw {
    /// ResetFullBW, with this delivery rate as the baseline.
    pub const fn restart(&mut self, rate: f64) {
        self.baseline = rate;
        self.count = 0;
        self.is_now = false;
    }

    /// CheckFullBWReached, on the first ACK of a round trip.
    pub fn check(&mut self, sample: &Sample, parameters: &Parameters) {
        if self.is_now || sample.is_app_limited {
            return;
        }
        if sample.rate >= self.baseline * parameters.full_bandwidth_growth {
            return self.restart(sample.rate);
        }
        self.count = self.count.saturating_add(1);
        self.is_now = f64::from(self.count) >= parameters.full_bandwidth_rounds;
        self.is_reached |= self.is_now;
    }
}

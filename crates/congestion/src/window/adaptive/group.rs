//! Adaptive TCP's knowledge of a path: its strength and whether others compete.
//!
//! "The collaborative congestion control scheme has shown the usefulness and benefit of
//! collaboration among parallel TCP flows by sharing dynamic congestion information": a flow's
//! knowledge of its path is a value that parallel flows can share. Together they are then one A-TCP
//! of strength k (our reconstruction; the paper gives only this sentence and that A-TCP adjusts
//! "the group strength k of parallel TCP flows"): each of N members grows by k/N, a loss of one is
//! a loss of all, and the detector uses the sum of their windows.

use super::detector::{Detection, Detector};
use super::parameters::Parameters;
use crate::estimate::round_trip::RoundTripTimes;
use crate::units::Time;

/// The smoothed round-trip time, in seconds.
#[derive(Clone, Debug)]
pub struct Srtt {
    pub latest: f64,
    /// srtt_min.
    minimum: f64,
    /// srtt_max of this loss epoch, and of the previous one; 0 without one.
    maximum: f64,
    last_maximum: f64,
}

impl Default for Srtt {
    fn default() -> Self {
        Self { latest: 0.0, minimum: f64::INFINITY, maximum: 0.0, last_maximum: 0.0 }
    }
}

impl Srtt {
    /// One more value.
    pub const fn record(&mut self, smoothed: f64) {
        self.latest = smoothed;
        self.minimum = self.minimum.min(smoothed);
        self.maximum = self.maximum.max(smoothed);
    }

    const fn begin_epoch(&mut self) {
        self.last_maximum = self.maximum;
        self.maximum = self.latest;
    }

    /// Queueing delay that counts as congestion and starts the detector, in seconds: "This work
    /// uses the same value for this as the threshold queuing delay level used to trigger the
    /// competition detector".
    fn threshold(&self, parameters: &Parameters) -> f64 {
        // Before the first loss there is no previous epoch, and srtt_max does not show the size of
        // the queue.
        let part = if self.last_maximum > 0.0 {
            parameters.congested_part * (self.maximum.max(self.last_maximum) - self.minimum)
        } else {
            parameters.congested_part_at_start * self.minimum
        };
        part.max(parameters.congested_minimum.seconds())
    }

    /// "by congestion mean that the network queuing delay estimated by Adaptive TCP is larger than
    /// a reference queuing delay level".
    fn is_congested(&self, parameters: &Parameters) -> bool {
        self.latest - self.minimum > self.threshold(parameters)
    }
}

/// Adaptive TCP's knowledge of a path, alone or shared in a group: a plain value.
#[derive(Clone, Debug)]
pub struct Group {
    /// Flows that have joined.
    pub(super) members: f64,
    /// Sum of their windows, in segments.
    pub(super) window: f64,
    /// k.
    pub(super) strength: f64,
    pub(super) srtt: Srtt,
    /// End of the group's last round trip.
    pub(super) round_over: Time,
    pub(super) detector: Detector,
    /// Number of the group's losses, the time of the last one, and the fraction it left of each
    /// window.
    pub(super) epoch: u64,
    pub(super) lost_at: Time,
    pub(super) kept: f64,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            members: 0.0,
            window: 0.0,
            strength: 1.0,
            srtt: Srtt::default(),
            round_over: Time::ZERO,
            detector: Detector::default(),
            epoch: 0,
            lost_at: Time::ZERO,
            kept: 1.0,
        }
    }
}

impl Group {
    /// Ends a member's round trip; returns whether it also ends the group's, of which there is one
    /// at a time, whichever member ends it.
    pub(super) fn ends_round(&mut self, now: Time) -> bool {
        let ends = self.members <= 1.0 || now.since(self.round_over).seconds() >= self.srtt.latest;
        if ends {
            self.round_over = now;
        }
        ends
    }

    /// A round trip ended: measures the gradient, and adapts k. `base` is the smallest round-trip
    /// time in seconds, `window` the final window in segments; `grew`: as in congestion avoidance.
    pub(super) fn end_round(
        &mut self,
        times: &RoundTripTimes,
        base: f64,
        window: f64,
        grew: bool,
        parameters: &Parameters,
    ) {
        // Our choice: a queue counts if it stayed above a tenth of the threshold for a whole round
        // trip.
        let queued =
            times.minimum.is_finite() && times.minimum - base > 0.1 * self.srtt.threshold(parameters);
        self.detector.end_round(times, queued, window, grew, parameters);
        if !grew {
            return;
        }
        // "quickly increase the strength k [...] when there is no competition".
        self.strength = if self.detector.is_competing() || self.srtt.is_congested(parameters) {
            1.0
        } else {
            (self.strength + parameters.k_step).min(parameters.maximum_k)
        };
    }

    /// Starts the detector when the queue exceeds the threshold, and rearms it below.
    pub(super) fn check_congestion(&mut self, parameters: &Parameters) {
        if !self.srtt.is_congested(parameters) {
            self.detector.detection = Detection::Waiting;
        } else if self.detector.detection == Detection::Waiting {
            // "Adaptive TCP sets k = 1 during periods of congestion to reduce packet loss
            // regardless of the result of competition detection."
            self.detector.detection = Detection::Triggered { was_strong: self.strength > 1.0 };
            self.strength = 1.0;
        }
    }

    /// A loss to which all members respond, keeping this fraction of each window. Returns the
    /// number of the new epoch.
    ///
    /// Whether it drained the queue or stopped the increase, the measurement and k restart: "the
    /// strength k of Adaptive TCP is dynamically decided" within each epoch (equation 5 raises it
    /// from 1 to its knee).
    pub(super) fn lose(&mut self, now: Time, kept: f64) -> u64 {
        self.epoch += 1;
        self.lost_at = now;
        self.kept = kept;
        self.strength = 1.0;
        self.detector.begin_epoch();
        self.srtt.begin_epoch();
        self.epoch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_follows_the_round_trip_times_of_two_epochs() {
        let parameters = Parameters::default();
        let mut srtt = Srtt { latest: 0.06, minimum: 0.05, maximum: 0.06, last_maximum: 0.0 };
        assert!((srtt.threshold(&parameters) - 0.0025).abs() < 1e-9, "5 % of 50 ms before the first loss");
        srtt.begin_epoch();
        assert!((srtt.threshold(&parameters) - 0.0025).abs() < 1e-9, "a quarter of 10 ms");
        srtt.record(0.09);
        assert!((srtt.threshold(&parameters) - 0.01).abs() < 1e-9, "a quarter of 40 ms");
        (srtt.maximum, srtt.last_maximum) = (0.051, 0.051);
        assert_eq!(srtt.threshold(&parameters), 0.001, "at least 1 ms");
    }
}

//! How late packets left: when each was written to its receiver's device, against when the
//! simulator's network let it arrive.

use selfclock_congestion::units::Duration;
use selfclock_simulator::RttHistogram;
use serde::Serialize;

/// Upper ends of the bins of the histogram in results, µs.
const BINS_US: [u64; 18] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
    500_000,
];

/// How late packets left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatenessReport {
    /// Packets that left.
    pub packets: u64,
    /// Median.
    pub p50_s: f64,
    /// 90th percentile.
    pub p90_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// The latest.
    pub worst_s: f64,
    /// Upper end of each bin, s, and the packets in it; `None`: any.
    pub histogram: Vec<(Option<f64>, u64)>,
    /// A run with a later 99th percentile is not valid.
    pub bound_p99_s: f64,
    /// A run with a later packet is not valid.
    pub bound_worst_s: f64,
    /// It is within both bounds.
    pub valid: bool,
}

/// Bounds on the lateness of a valid run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Of 99 % of the packets at most this.
    pub p99: Duration,
    /// Of every packet at most this.
    pub worst: Duration,
}

impl Default for Bound {
    /// Our choice: 1 ms, a twentieth of a delay of 20 ms; and 10 ms, after which a sender of 100
    /// Mbit/s has 80 packets more.
    fn default() -> Self {
        Self { p99: Duration::from_milliseconds(1), worst: Duration::from_milliseconds(10) }
    }
}

/// Lateness of all packets that have left.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// For quantiles, within 0.8 %.
    fine: RttHistogram,
    coarse: [u64; BINS_US.len() + 1],
    packets: u64,
    worst: Duration,
}

impl Lateness {
    /// A packet left this late.
    pub fn add(&mut self, late: Duration) {
        self.fine.add(late);
        let microseconds = late.picoseconds().div_ceil(1_000_000);
        self.coarse[BINS_US.partition_point(|&end| end < microseconds)] += 1;
        self.packets += 1;
        self.worst = self.worst.max(late);
    }

    /// This fraction of the packets was late by no more, s; 0 without packets.
    pub fn quantile_s(&self, fraction: f64) -> f64 {
        // The middle of a bin may be beyond what is in it.
        self.fine.quantile_seconds(fraction).unwrap_or(0.0).min(self.worst.seconds())
    }

    /// The latest packet.
    pub fn worst(&self) -> Duration {
        self.worst
    }

    /// For the result.
    pub fn report(&self, bound: Bound) -> LatenessReport {
        let p99_s = self.quantile_s(0.99);
        let ends = BINS_US.iter().map(|&end| Some(end as f64 / 1e6)).chain([None]);
        LatenessReport {
            packets: self.packets,
            p50_s: self.quantile_s(0.5),
            p90_s: self.quantile_s(0.9),
            p99_s,
            p999_s: self.quantile_s(0.999),
            worst_s: self.worst.seconds(),
            histogram: ends.zip(self.coarse).collect(),
            bound_p99_s: bound.p99.seconds(),
            bound_worst_s: bound.worst.seconds(),
            valid: p99_s <= bound.p99.seconds() && self.worst <= bound.worst,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(microseconds: impl IntoIterator<Item = u64>) -> Lateness {
        let mut lateness = Lateness::default();
        microseconds.into_iter().for_each(|each| lateness.add(Duration::from_microseconds(each)));
        lateness
    }

    #[test]
    fn quantiles_and_bins() {
        let report = of(1..=1000).report(Bound::default());
        assert!((report.p99_s / 990e-6 - 1.0).abs() < 0.01, "{}", report.p99_s);
        assert_eq!((report.worst_s, report.packets), (1e-3, 1000));
        let counts: Vec<u64> = report.histogram.iter().map(|&(_, count)| count).collect();
        // Up to 1 µs, 2, 5, 10, and so on: a bin has its upper end.
        assert_eq!(counts[..10], [1, 1, 3, 5, 10, 30, 50, 100, 300, 500]);
        assert_eq!(counts.iter().sum::<u64>(), 1000);
        assert!(report.valid);
    }

    #[test]
    fn either_bound_makes_a_run_invalid() {
        let bound = Bound { p99: Duration::from_microseconds(100), worst: Duration::from_milliseconds(2) };
        assert!(of((0..1000).map(|_| 50)).report(bound).valid);
        assert!(
            !of((0..1000).map(|number| if number < 20 { 150 } else { 50 })).report(bound).valid,
            "2 % are late"
        );
        assert!(
            !of((0..1000).map(|number| if number == 0 { 2_001 } else { 50 })).report(bound).valid,
            "one is"
        );
        assert!(of([]).report(bound).valid, "nothing was late");
    }
}

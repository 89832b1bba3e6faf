//! Short connections: one record for each, and completion times by size.

use std::fmt;

use selfclock_congestion::units::{Duration, Time};
use serde::Serialize;

use crate::catalogue::total::totals;

/// One short connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConnectionRecord {
    /// Index of the flow that it belongs to.
    pub flow: u32,
    /// When it started.
    pub start: Time,
    /// Payload that it had to send, bytes.
    pub size: u64,
    /// From its start until its last byte was acknowledged; `None` if the run ended before.
    pub completion: Option<Duration>,
    /// From its start until its last byte had been delivered to the receiving application; `None`
    /// if the run ended before.
    pub delivery: Option<Duration>,
    /// Retransmissions.
    pub retransmitted_segments: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
}

impl ConnectionRecord {
    /// A connection that starts now.
    pub const fn new(flow: u32, start: Time, size: u64) -> Self {
        Self { flow, start, size, completion: None, delivery: None, retransmitted_segments: 0, timeouts: 0 }
    }
}

/// Fingerprints are made of this text: it has what the sender sees.
impl fmt::Debug for ConnectionRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("ConnectionRecord");
        text.field("flow", &self.flow)
            .field("start", &self.start)
            .field("size", &self.size)
            .field("completion", &self.completion)
            .field("retransmitted_segments", &self.retransmitted_segments)
            .field("timeouts", &self.timeouts);
        text.finish()
    }
}

totals! {
    /// The short connections of a flow.
    #[derive(Clone, Debug, Serialize)]
    pub struct ConnectionsSummary {
        /// Connections that started.
        started: u64,
        /// Of these, complete at the end of the run.
        completed: u64,
        /// Payload of those that started, bytes.
        offered_bytes: u64,
        /// The same per second, from the flow's start to its stop or the end of the run.
        offered_bps: f64,
        /// Completion times by size, smallest first; without classes in which nothing was
        /// completed.
        by_size: Vec<SizeClass>,
    }

    /// Completion times of the connections within a range of sizes.
    #[derive(Clone, Serialize)]
    pub struct SizeClass {
        /// Largest size, bytes; each class begins where the one before ends. Null: any.
        up_to_bytes: Option<u64>,
        /// Connections that were completed.
        completed: u64,
        /// Mean completion time: the last byte is acknowledged.
        mean_s: f64 { unit: "ms", heading: "Time mean {}", short: "time, {}\nmean" },
        /// Median.
        p50_s: f64 { unit: "ms", heading: "50 % {}", short: "time, {}\n50 %" },
        /// 95th percentile.
        p95_s: f64 { unit: "ms", heading: "95 % {}", short: "time, {}\n95 %" },
        /// 99th percentile.
        p99_s: f64 { unit: "ms", heading: "99 % {}", short: "time, {}\n99 %" },
        /// Mean time until the last byte of these is delivered to the receiving application.
        delivery_mean_s: f64,
        /// Median.
        delivery_p50_s: f64 { unit: "ms", heading: "Delivered 50 % {}", short: "delivered\n50 %", spare: 1 },
        /// 99th percentile.
        delivery_p99_s: f64,
    }
}

/// See that of [`ConnectionRecord`].
impl fmt::Debug for SizeClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("SizeClass");
        text.field("up_to_bytes", &self.up_to_bytes)
            .field("completed", &self.completed)
            .field("mean_s", &self.mean_s)
            .field("p50_s", &self.p50_s)
            .field("p95_s", &self.p95_s)
            .field("p99_s", &self.p99_s);
        text.finish()
    }
}

/// Largest sizes of the classes, bytes.
const CLASSES: [u64; 5] = [10_000, 100_000, 1_000_000, 10_000_000, u64::MAX];

impl ConnectionsSummary {
    /// Of one flow, which had connections for so long.
    pub fn new<'a>(records: impl Iterator<Item = &'a ConnectionRecord>, span: Duration) -> Self {
        let mut classes: [(Vec<f64>, Vec<f64>); CLASSES.len()] = Default::default();
        let (mut started, mut offered_bytes) = (0, 0);
        for record in records {
            started += 1;
            offered_bytes += record.size;
            if let Some(completion) = record.completion {
                let class = CLASSES.iter().position(|&largest| record.size <= largest);
                let (completions, deliveries) = &mut classes[class.unwrap_or(CLASSES.len() - 1)];
                completions.push(completion.seconds());
                // What is acknowledged has been delivered, unless a receiver lies.
                deliveries.push(record.delivery.unwrap_or(completion).seconds());
            }
        }
        let by_size: Vec<SizeClass> = CLASSES
            .into_iter()
            .zip(&mut classes)
            .filter(|(_, (completions, _))| !completions.is_empty())
            .map(|(largest, times)| SizeClass::new(largest, times))
            .collect();
        Self {
            started,
            completed: by_size.iter().map(|class| class.completed).sum(),
            offered_bytes,
            offered_bps: if span.is_zero() { 0.0 } else { offered_bytes as f64 * 8.0 / span.seconds() },
            by_size,
        }
    }
}

impl SizeClass {
    fn new(largest: u64, (completions, deliveries): &mut (Vec<f64>, Vec<f64>)) -> Self {
        completions.sort_by(f64::total_cmp);
        deliveries.sort_by(f64::total_cmp);
        Self {
            up_to_bytes: (largest != u64::MAX).then_some(largest),
            completed: completions.len() as u64,
            mean_s: mean(completions),
            p50_s: percentile(completions, 50),
            p95_s: percentile(completions, 95),
            p99_s: percentile(completions, 99),
            delivery_mean_s: mean(deliveries),
            delivery_p50_s: percentile(deliveries, 50),
            delivery_p99_s: percentile(deliveries, 99),
        }
    }
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// The nearest rank: the smallest of these sorted times that at least `percent` per cent do not
/// exceed.
fn percentile(times: &[f64], percent: usize) -> f64 {
    times[(times.len() * percent).div_ceil(100).max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks_and_classes_end_with_their_largest_size() {
        let record = |size, milliseconds| ConnectionRecord {
            completion: Some(Duration::from_milliseconds(milliseconds)),
            ..ConnectionRecord::new(0, Time::ZERO, size)
        };
        let mut records: Vec<_> = (1..=200).rev().map(|time| record(10_000, time)).collect();
        records.push(record(10_001, 7));
        records.push(ConnectionRecord::new(0, Time::ZERO, 5));
        let summary = ConnectionsSummary::new(records.iter(), Duration::from_seconds(2.0));
        assert_eq!((summary.started, summary.completed), (202, 201));
        assert_eq!(summary.offered_bytes, 200 * 10_000 + 10_001 + 5);
        assert_eq!(summary.offered_bps, summary.offered_bytes as f64 * 4.0);
        let [small, large] = &summary.by_size[..] else { panic!("two classes") };
        assert_eq!((small.up_to_bytes, small.completed), (Some(10_000), 200));
        assert_eq!((small.p50_s, small.p95_s, small.p99_s), (0.1, 0.19, 0.198));
        assert_eq!((large.up_to_bytes, large.completed, large.p99_s), (Some(100_000), 1, 0.007));
    }
}

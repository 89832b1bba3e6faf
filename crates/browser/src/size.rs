//! Size of a scenario, before it runs.

use selfclock_simulator::plan::Plan;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::request::Limits;

/// Number of series per flow and per link.
const QUANTITIES: (f64, f64) = (11.0, 4.0);
/// Bytes of a sampled value: as a sample, in the columns, and in the reply.
const BYTES_OF_A_SAMPLE: f64 = 24.0;
/// Bytes of a flow and of a link, as in the estimate for scenario files.
const BYTES: (f64, f64) = (2048.0, 1024.0);

/// Estimated demands of a run.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Packets that cross links.
    pub packet_hops: f64,
    /// Values of all series.
    pub samples: f64,
    /// Memory.
    pub bytes: f64,
    /// Time, at the speed of this browser.
    pub seconds: f64,
}

impl Size {
    /// The estimate for a run of this plan up to a time, in seconds.
    pub fn of(plan: &Plan, until_s: f64, limits: Limits) -> Self {
        let duration = plan.duration.seconds();
        let part = if duration > 0.0 { (until_s / duration).clamp(0.0, 1.0) } else { 0.0 };
        let packet_hops = plan.expected_packet_hops() * part;
        let (flows, links) = (plan.flows.len() as f64, plan.links.len() as f64);
        let rows = plan.record.interval.map_or(0.0, |interval| (duration / interval.seconds()).floor());
        let samples = rows * (flows * QUANTITIES.0 + links * QUANTITIES.1);
        let bytes = flows * BYTES.0 + links * BYTES.1 + samples * BYTES_OF_A_SAMPLE;
        Self { packet_hops, samples, bytes, seconds: packet_hops / limits.packet_hops_per_s }
    }

    /// Refuses a run that is too large, with its demands.
    pub fn check(self, limits: Limits) -> Result<Self, Refusal> {
        if self.packet_hops <= limits.most_packet_hops {
            return Ok(self);
        }
        let message = format!(
            "too large for this page: about {} packet-hops, {} in this browser; at most {} are simulated here. \
             A shorter run, lower rates or fewer flows need less; `selfclock run` has no such limit",
            rounded(self.packet_hops),
            time(self.seconds),
            rounded(limits.most_packet_hops)
        );
        Err(Refusal::TooLarge(self, message))
    }

    /// JSON for the page.
    pub fn json(&self) -> Value {
        let Self { packet_hops, samples, bytes, seconds } = self;
        json!({ "packet_hops": packet_hops, "samples": samples, "bytes": bytes, "seconds": seconds })
    }
}

/// Two digits and a decimal prefix.
fn rounded(number: f64) -> String {
    let of = |unit: f64, word: &str| {
        let value = number / unit;
        if value < 10.0 { format!("{value:.1} {word}") } else { format!("{value:.0} {word}") }
    };
    match number {
        1e12.. => of(1e12, "trillion"),
        1e9.. => of(1e9, "billion"),
        1e6.. => of(1e6, "million"),
        _ => of(1e3, "thousand"),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        172_800.0.. => format!("{:.0} days", seconds / 86_400.0),
        7_200.0.. => format!("{:.0} hours", seconds / 3_600.0),
        120.0.. => format!("{:.0} minutes", seconds / 60.0),
        _ => format!("{:.0} s", seconds.max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_read_at_a_glance() {
        let numbers = [2e4, 3.24e6, 45e9, 7e12].map(rounded);
        assert_eq!(numbers, ["20 thousand", "3.2 million", "45 billion", "7.0 trillion"]);
        let times = [0.2, 119.0, 121.0, 7_300.0, 400_000.0].map(time);
        assert_eq!(times, ["1 s", "119 s", "2 minutes", "2 hours", "5 days"]);
    }
}

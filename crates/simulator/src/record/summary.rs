//! Totals of a run, as `selfclock run --json` prints them.

use serde::Serialize;
use std::fmt;

use super::connections::ConnectionsSummary;
use crate::shared::Name;

/// Totals of a run. Units are in the names.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed it ran with.
    pub seed: u64,
    /// Simulated time.
    pub simulated_s: f64,
    /// Events taken from the event queue.
    pub events: u64,
    /// Packets that crossed a link, summed over links; data and acknowledgements count.
    pub packet_hops: u64,
    /// One entry per flow, in the order of the scenario.
    pub flows: Vec<FlowSummary>,
    /// One entry per link, in the order of the topology.
    pub links: Vec<LinkSummary>,
}

/// Totals of one flow.
#[derive(Clone, Serialize)]
pub struct FlowSummary {
    /// Name of the flow.
    pub name: Name,
    /// Its congestion control; "udp" for a UDP source.
    pub algorithm: Name,
    /// Node that sends data.
    pub from: Name,
    /// Node that receives it.
    pub to: Name,
    /// In-order payload delivered to the application, over the time from the flow's start to its
    /// completion or the end of the run.
    pub goodput_bps: f64,
    /// Everything that arrived at the receiver, headers and repeated segments included, over the
    /// same time.
    pub throughput_bps: f64,
    /// Segments delivered in order to the application.
    pub delivered_segments: u64,
    /// Bytes delivered in order to the application.
    pub delivered_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub sent_segments: u64,
    /// Of these, retransmissions.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun by duplicate or selective acknowledgements.
    pub fast_retransmits: u64,
    /// Smallest round-trip sample; null without one.
    pub rtt_min_s: Option<f64>,
    /// Mean round-trip sample.
    pub rtt_mean_s: Option<f64>,
    /// 95th percentile of the round-trip samples, within 1 %.
    pub rtt_p95_s: Option<f64>,
    /// Time from the flow's start until its last byte was acknowledged; null if it did not
    /// complete.
    pub completion_s: Option<f64>,
    /// Time from a TCP flow's start until its last byte had been delivered to the receiving
    /// application; null if it was not, or if the flow has no size.
    pub delivery_s: Option<f64>,
    /// Of a flow that is made of short connections, whose sums are in the fields above; null for
    /// others.
    pub connections: Option<ConnectionsSummary>,
    /// One-way delays of its data packets, from the sender to the arrival of each at the receiver;
    /// only in a run that measures them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<DelaySummary>,
    /// Of a connection of a foreign stack that ended against its will: when and why. Others leave
    /// it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureSummary>,
}

/// As the derived one, but without delivery and delays, and a flow that has not failed says nothing
/// of failures: fingerprints are made of this text, of what the sender sees, and a field that only
/// foreign stacks have must not change all of them.
impl fmt::Debug for FlowSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("FlowSummary");
        text.field("name", &self.name)
            .field("algorithm", &self.algorithm)
            .field("from", &self.from)
            .field("to", &self.to)
            .field("goodput_bps", &self.goodput_bps)
            .field("throughput_bps", &self.throughput_bps)
            .field("delivered_segments", &self.delivered_segments)
            .field("delivered_bytes", &self.delivered_bytes)
            .field("sent_segments", &self.sent_segments)
            .field("retransmitted_segments", &self.retransmitted_segments)
            .field("timeouts", &self.timeouts)
            .field("fast_retransmits", &self.fast_retransmits)
            .field("rtt_min_s", &self.rtt_min_s)
            .field("rtt_mean_s", &self.rtt_mean_s)
            .field("rtt_p95_s", &self.rtt_p95_s)
            .field("completion_s", &self.completion_s)
            .field("connections", &self.connections);
        if let Some(failure) = &self.failure {
            text.field("failure", failure);
        }
        text.finish()
    }
}

/// Times that packets took: one-way delays of a flow, waits of a link. Those of packets that arrive
/// from the time on from which the run is measured.
#[derive(Clone, Debug, Serialize)]
pub struct DelaySummary {
    /// Number of packets.
    pub packets: u64,
    /// Mean.
    pub mean_s: f64,
    /// Smallest.
    pub min_s: f64,
    /// Median; it and the other quantiles are good to 0.8 %, and closer where packets are many.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// Largest.
    pub max_s: f64,
}

/// The end of a connection against its will.
#[derive(Clone, Debug, Serialize)]
pub struct FailureSummary {
    /// When one of its ends gave it up.
    pub time_s: f64,
    /// Why, as the stack says.
    pub reason: String,
}

/// Totals of one link.
#[derive(Clone, Serialize)]
pub struct LinkSummary {
    /// Name of the link.
    pub name: Name,
    /// Rate of its transmitter at the end of the run.
    pub rate_bps: u64,
    /// Fraction of the run in which it was transmitting, weighted by the rate if that changes; with
    /// a trace, of the bytes offered.
    pub utilization: f64,
    /// Packets transmitted.
    pub packets: u64,
    /// Bytes transmitted.
    pub bytes: u64,
    /// Packets dropped by the queue or lost on the wire.
    pub drops: u64,
    /// Packets marked congestion-experienced.
    pub ce_marks: u64,
    /// Time average of the packets waiting, without the one in service: those that are dropped
    /// later, too.
    pub queue_mean_packets: f64,
    /// Most packets that waited at once.
    pub queue_max_packets: u64,
    /// Mean waiting time of the packets accepted and not dropped from the queue; of those that wait
    /// at the end of the run, until then.
    pub queue_mean_s: f64,
    /// Waiting times of the packets transmitted, until the beginning of their transmission; only in
    /// a run that measures delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<DelaySummary>,
}

/// As the derived one, but without the waits: fingerprints are made of this text.
impl fmt::Debug for LinkSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LinkSummary")
            .field("name", &self.name)
            .field("rate_bps", &self.rate_bps)
            .field("utilization", &self.utilization)
            .field("packets", &self.packets)
            .field("bytes", &self.bytes)
            .field("drops", &self.drops)
            .field("ce_marks", &self.ce_marks)
            .field("queue_mean_packets", &self.queue_mean_packets)
            .field("queue_max_packets", &self.queue_max_packets)
            .field("queue_mean_s", &self.queue_mean_s)
            .finish()
    }
}

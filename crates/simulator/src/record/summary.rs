//! Totals of a run, as `selfclock run --json` prints them.

use serde::Serialize;
use std::fmt;

use super::connections::ConnectionsSummary;
use crate::catalogue::total::Combined::{Busiest, Least, Mean, Sum};
use crate::catalogue::total::{Described, Total, totals};
use crate::shared::Name;

totals! {
    /// Totals of a run. Units are in the names.
    #[derive(Clone, Debug, Serialize)]
    pub struct Summary {
        /// Name of the scenario.
        scenario: String,
        /// Seed it ran with.
        seed: u64,
        /// Simulated time.
        simulated_s: f64 { unit: "s", word: "simulated" },
        /// Events taken from the event queue.
        events: u64 { word: "events" },
        /// Packets that crossed a link, summed over links; data and acknowledgements count.
        packet_hops: u64 { word: "packet-hops" },
        /// One entry per flow, in the order of the scenario.
        flows: Vec<FlowSummary>,
        /// One entry per link, in the order of the topology.
        links: Vec<LinkSummary>,
    }

    /// Totals of one flow.
    #[derive(Clone, Default, Serialize)]
    pub struct FlowSummary {
        /// Name of the flow.
        name: Name,
        /// Its congestion control; "udp" for a UDP source.
        algorithm: Name,
        /// Node that sends data.
        from: Name,
        /// Node that receives it.
        to: Name,
        /// In-order payload delivered to the application, over the time from the flow's start to
        /// its completion or the end of the run.
        goodput_bps: f64 {
            unit: "Mbit/s", word: "goodput", heading: "Goodput {}", short: "goodput\n{}", combined: Some(Sum),
        },
        /// Everything that arrived at the receiver, headers and repeated segments included, over
        /// the same time.
        throughput_bps: f64 { unit: "Mbit/s", word: "throughput", combined: Some(Sum) },
        /// Segments delivered in order to the application.
        delivered_segments: u64,
        /// Bytes delivered in order to the application.
        delivered_bytes: u64,
        /// Data segments sent, retransmissions included.
        sent_segments: u64 {
            unit: "segments", word: "sent", heading: "Segments sent", short: "segments\nsent", spare: 1,
            combined: Some(Sum),
        },
        /// Of these, retransmissions.
        retransmitted_segments: u64 {
            unit: "segments", word: "retransmitted", heading: "Retransmitted", short: "segments\nretr.",
            combined: Some(Sum), udp: false,
        },
        /// Expiries of the retransmission timer.
        timeouts: u64 {
            word: "RTOs", heading: "Timeouts", short: "\nRTOs", combined: Some(Sum), udp: false,
        },
        /// Recoveries begun by duplicate or selective acknowledgements.
        fast_retransmits: u64 {
            word: "fast retransmits", heading: "Fast retransmits", short: "fast\nretr.", spare: 3,
            combined: Some(Sum), udp: false,
        },
        /// Smallest round-trip sample; null without one.
        rtt_min_s: Option<f64> {
            unit: "ms", word: "least RTT", heading: "RTT min {}", short: "RTT {}\nmin", spare: 2,
            combined: Some(Least),
        },
        /// Mean round-trip sample.
        rtt_mean_s: Option<f64> {
            unit: "ms", word: "mean RTT", heading: "RTT mean {}", short: "RTT {}\nmean", combined: Some(Mean),
        },
        /// 95th percentile of the round-trip samples, within 1 %.
        rtt_p95_s: Option<f64> {
            unit: "ms", word: "95 % RTT", heading: "RTT 95 % {}", short: "RTT {}\n95 %", combined: Some(Mean),
        },
        /// Time from the flow's start until its last byte was acknowledged; null if it did not
        /// complete.
        completion_s: Option<f64> {
            unit: "s", word: "completed after", heading: "Completed after {}", short: "completed\nafter {}",
            sparse: true,
        },
        /// Time from a TCP flow's start until its last byte had been delivered to the receiving
        /// application; null if it was not, or if the flow has no size.
        delivery_s: Option<f64> { emulated: false },
        /// Of a flow that is made of short connections, whose sums are in the fields above; null
        /// for others.
        connections: Option<ConnectionsSummary>,
        /// One-way delays of its data packets, from the sender to the arrival of each at the
        /// receiver; only in a run that measures them.
        #[serde(skip_serializing_if = "Option::is_none")]
        delays: Option<DelaySummary> { omitted: true },
        /// Of a connection of a foreign stack that ended against its will: when and why. Others
        /// leave it out.
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<FailureSummary> { omitted: true },
    }

    /// The end of a connection against its will.
    #[derive(Clone, Debug, Serialize)]
    pub struct FailureSummary {
        /// When one of its ends gave it up.
        time_s: f64,
        /// Why, as the stack says.
        reason: String,
    }

    /// Times that packets took: one-way delays of a flow, waits of a link. Those of packets that
    /// arrive from the time on from which the run is measured.
    #[derive(Clone, Debug, Serialize)]
    pub struct DelaySummary {
        /// Number of packets.
        packets: u64 { word: "packets", heading: "Packets", short: "packets" },
        /// Mean.
        mean_s: f64 { unit: "ms", word: "mean", heading: "Mean {}", short: "{}\nmean" },
        /// Smallest.
        min_s: f64 { unit: "ms", word: "least", heading: "Min {}", short: "{}\nmin", spare: 2 },
        /// Median; it and the other quantiles are good to 0.8 %, and closer where packets are many.
        p50_s: f64 { unit: "ms", word: "50 %", heading: "50 % {}", short: "{}\n50 %" },
        /// 95th percentile.
        p95_s: f64 { unit: "ms", word: "95 %", heading: "95 % {}", short: "{}\n95 %" },
        /// 99th percentile.
        p99_s: f64 { unit: "ms", word: "99 %", heading: "99 % {}", short: "{}\n99 %" },
        /// 99.9th percentile.
        p999_s: f64 { unit: "ms", word: "99.9 %", heading: "99.9 % {}", short: "{}\n99.9 %", spare: 1 },
        /// Largest.
        max_s: f64 { unit: "ms", word: "most", heading: "Max {}", short: "{}\nmax" },
    }

    /// Totals of one link.
    #[derive(Clone, Serialize)]
    pub struct LinkSummary {
        /// Name of the link.
        name: Name,
        /// Rate of its transmitter at the end of the run.
        rate_bps: u64 { unit: "Mbit/s", word: "rate", heading: "Rate {}", short: "rate" },
        /// Fraction of the run in which it was transmitting, weighted by the rate if that changes;
        /// with a trace, of the bytes offered.
        utilization: f64 {
            unit: "%", word: "busy", heading: "Busy {}", short: "busy\n{}", decimals: Some(1),
            combined: Some(Busiest),
        },
        /// Packets transmitted.
        packets: u64 { word: "packets", heading: "Packets", short: "packets" },
        /// Bytes transmitted.
        bytes: u64,
        /// Packets dropped by the queue or lost on the wire.
        drops: u64 { word: "drops", heading: "Drops", short: "drops", combined: Some(Sum) },
        /// Packets marked congestion-experienced.
        ce_marks: u64 {
            word: "CE marks", heading: "CE marks", short: "CE\nmarks", sparse: true, combined: Some(Sum),
        },
        /// Time average of the packets waiting, without the one in service: those that are dropped
        /// later, too.
        queue_mean_packets: f64 {
            unit: "packets", word: "queue", heading: "Queue mean, {}", short: "queue, {}\nmean",
            decimals: Some(1), combined: Some(Busiest),
        },
        /// Most packets that waited at once.
        queue_max_packets: u64 {
            unit: "packets", word: "longest queue", heading: "Queue max, {}", short: "queue, {}\nmax",
            spare: 1, combined: Some(Busiest),
        },
        /// Mean waiting time of the packets accepted and not dropped from the queue; of those that
        /// wait at the end of the run, until then.
        queue_mean_s: f64 {
            unit: "ms", word: "wait", heading: "Mean wait {}", short: "wait\n{}", combined: Some(Busiest),
        },
        /// Waiting times of the packets transmitted, until the beginning of their transmission;
        /// only in a run that measures delays.
        #[serde(skip_serializing_if = "Option::is_none")]
        waits: Option<DelaySummary> { omitted: true },
    }
}

/// Figures of a run that its readers derive from the totals, and show like them.
pub const DERIVED: &[Total] = &[
    Total {
        word: "Jain",
        short: "Jain",
        decimals: Some(3),
        ..Total::new(
            "jain",
            "Jain's index of the flows' goodputs, between 1 / flows and 1; null if nothing was delivered.",
            Option::<f64>::KIND,
        )
    },
    Total {
        unit: "flows",
        word: "completed",
        ..Total::new("completed_flows", "Number of completed flows.", u64::KIND)
    },
    Total {
        unit: "s",
        word: "completed after",
        short: "completed\nafter {}",
        sparse: true,
        ..Total::new(
            "completion_mean_s",
            "Mean over the completed flows; null if none is complete.",
            Option::<f64>::KIND,
        )
    },
    Total { unit: "s", word: "CPU", ..Total::new("cpu_s", "CPU time of the run.", f64::KIND) },
];

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

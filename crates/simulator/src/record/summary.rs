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

    /// Totals of one link.
    #[derive(Clone, Debug, Serialize)]
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

/// As the derived one, but without the delivery, and a flow that has not failed says nothing of
/// failures: fingerprints are made of this text, of what the sender sees, and a field that only
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

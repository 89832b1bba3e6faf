//! Results of an emulation.

use crate::connection::Connection;
use crate::header::TCP;
use crate::lateness::LatenessReport;
use crate::paths::{Seen, emulated};
use crate::samples::FlowColumns;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::Packets;
use selfclock_simulator::record::series::{LinkSample, Sampled};
use selfclock_simulator::record::summary::LinkSummary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Results of an emulation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Totals.
    pub report: Report,
    /// The plan with the flows that were seen.
    pub plan: Plan,
    /// The same flows.
    pub seen: Vec<Seen>,
    /// Series of the flows.
    pub flow_series: FlowColumns,
    /// Series of the links.
    pub link_series: Sampled<LinkSample>,
    /// Packet events not yet taken.
    pub packets: Packets,
}

/// Facts of the hosts' kernels about their connections, and additions of the caller.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Congestion control of the sockets with these addresses: own, peer.
    pub algorithms: BTreeMap<[SocketAddr; 2], String>,
    /// The algorithm of new sockets on each host, by node.
    pub defaults: BTreeMap<String, String>,
    /// Notes for the results.
    pub notes: Vec<String>,
}

impl Outcome {
    /// Names the algorithms of TCP connections: that of the sender's socket, or, if nobody has seen
    /// that, the default of its host.
    pub fn add(&mut self, told: Told) {
        let mut unseen = 0;
        for (flow, seen) in self.report.flows.iter_mut().zip(&mut self.seen) {
            let Some(name) = &mut seen.algorithm else { continue };
            let of_socket = told.algorithms.get(&flow.addresses);
            flow.algorithm_seen = of_socket.is_some();
            if let Some(found) = of_socket.or_else(|| told.defaults.get(&flow.from)) {
                found.clone_into(name);
                found.clone_into(&mut flow.algorithm);
                unseen += u64::from(of_socket.is_none());
            }
        }
        self.plan = emulated(&self.plan, &self.seen);
        self.report.emulation.notes.extend(told.notes);
        if unseen > 0 {
            self.report.emulation.notes.push(format!(
                "TCP connections that ended before their kernel was asked for their algorithm: {unseen}; \
                 they have the default of the sending host"
            ));
        }
    }
}

/// Totals of an emulation, under the names of [`selfclock_simulator::record::summary::Summary`].
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of its random losses, delays and marks.
    pub seed: u64,
    /// Duration.
    pub simulated_s: f64,
    /// Events of the network.
    pub events: u64,
    /// Packets that crossed a link, summed over links.
    pub packet_hops: u64,
    /// The connections seen, in order of their start.
    pub flows: Vec<FlowReport>,
    /// One entry per link, in the order of the topology.
    pub links: Vec<LinkSummary>,
    /// Results that only an emulation has.
    pub emulation: EmulationReport,
}

/// Totals of one connection, in the direction with most payload. `None` where a path cannot know.
#[derive(Clone, Debug, Serialize)]
pub struct FlowReport {
    /// Initiator and its port, the other host and its port.
    pub name: String,
    /// The congestion control of the sender's kernel, "tcp" if unknown; "udp" for all other
    /// protocols.
    pub algorithm: String,
    /// Whether that was read from its socket; otherwise it is the default of the host.
    pub algorithm_seen: bool,
    /// Node that sends data.
    pub from: String,
    /// Node that receives it.
    pub to: String,
    /// Node that began: the first in the name.
    pub initiator: String,
    /// Addresses and ports of sender and receiver.
    pub addresses: [SocketAddr; 2],
    /// Payload that the receiver acknowledged (UDP: that arrived), over the time from the first
    /// packet to completion, or to the end of the run (UDP: to its last packet).
    pub goodput_bps: f64,
    /// All packets with payload that arrived at the receiver, over the same time.
    pub throughput_bps: f64,
    /// Of UDP and other protocols: packets that arrived.
    pub delivered_segments: Option<u64>,
    /// Payload that the receiver acknowledged (UDP: that arrived).
    pub delivered_bytes: u64,
    /// Packets with payload sent, retransmissions included.
    pub sent_segments: u64,
    /// Of these, retransmissions; `None` for UDP.
    pub retransmitted_segments: Option<u64>,
    /// Not known.
    pub timeouts: Option<u64>,
    /// Not known.
    pub fast_retransmits: Option<u64>,
    /// Least time from a segment to its acknowledgement at the sender's end of the path; `None` for
    /// UDP.
    pub rtt_min_s: Option<f64>,
    /// Mean.
    pub rtt_mean_s: Option<f64>,
    /// 95th percentile, within 1 %.
    pub rtt_p95_s: Option<f64>,
    /// From its first packet until its last byte was acknowledged; `None` if it did not end.
    pub completion_s: Option<f64>,
    /// Always absent.
    pub connections: Option<()>,
    /// Its first packet.
    pub start_s: f64,
    /// Its last packet.
    pub end_s: f64,
    /// Payload in the other direction.
    pub reverse_bytes: u64,
    /// Packets of both directions that were dropped.
    pub dropped_packets: u64,
    /// Packets of both directions that arrived marked by a queue of the scenario.
    pub ce_marks: u64,
    /// Its slot in the plan, which identifies it to queues and routers.
    pub slot: usize,
}

/// Results that only an emulation has.
#[derive(Clone, Debug, Serialize)]
pub struct EmulationReport {
    /// The hosts and their addresses.
    pub hosts: Vec<HostReport>,
    /// Slots of each path.
    pub flows_per_path: u32,
    /// Packets received from hosts.
    pub packets: u64,
    /// Lateness of departures.
    pub lateness: LatenessReport,
    /// Maximum time without polling while awake: a packet that arrived then was read that much
    /// later.
    pub longest_pause_s: f64,
    /// SCHED_FIFO was allowed.
    pub fifo: bool,
    /// Memory was locked.
    pub locked: bool,
    /// Why requested features are off.
    pub notes: Vec<String>,
    /// Connections that shared a slot, because all were taken: queues and routers could not tell
    /// them apart.
    pub connections_sharing: u64,
    /// Packets of connections beyond the first 100,000, which are in no flow of the results.
    pub untracked: u64,
    /// Packets to addresses of no host, such as multicast; discarded.
    pub to_nobody: u64,
    /// Packets between hosts without a path.
    pub without_path: u64,
    /// Frames that were not IP packets.
    pub unreadable: u64,
    /// Packets refused by a device at their departure.
    pub refused: u64,
}

/// A host.
#[derive(Clone, Debug, Serialize)]
pub struct HostReport {
    /// Its node.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<String>,
}

/// Totals of a connection in its main direction, between the nodes with these names.
pub(crate) fn flow_report(
    connection: &Connection,
    direction: usize,
    [from, to]: [&str; 2],
    end: Time,
) -> FlowReport {
    let (data, reverse) = (&connection.data[direction], &connection.data[1 - direction]);
    let is_tcp = connection.protocol == TCP;
    let is_complete = is_tcp && connection.ends[direction].fin && data.acknowledged == data.sent;
    let completed = is_complete.then(|| connection.acknowledged_at[direction]);
    let active_until = completed.unwrap_or(if is_tcp && !connection.over { end } else { connection.last });
    let span = active_until.since(connection.start);
    let rate = |bytes: u64| if span.is_zero() { 0.0 } else { bytes as f64 * 8.0 / span.seconds() };
    let delivered_bytes = if is_tcp { data.read } else { data.arrived_payload };
    FlowReport {
        name: connection.name.clone(),
        algorithm: if is_tcp { "tcp" } else { "udp" }.to_owned(),
        algorithm_seen: false,
        from: from.to_owned(),
        to: to.to_owned(),
        initiator: if connection.initiator == direction { from } else { to }.to_owned(),
        addresses: [connection.addresses[direction], connection.addresses[1 - direction]],
        goodput_bps: rate(delivered_bytes),
        throughput_bps: rate(data.arrived_bytes),
        delivered_segments: (!is_tcp).then_some(data.arrived_segments),
        delivered_bytes,
        sent_segments: data.segments,
        retransmitted_segments: is_tcp.then_some(data.retransmitted),
        timeouts: None,
        fast_retransmits: None,
        rtt_min_s: data.minimum_rtt.map(Duration::seconds),
        rtt_mean_s: data.rtt.mean_seconds(),
        // The middle of a bin may be below all its values.
        rtt_p95_s: data
            .rtt
            .quantile_seconds(0.95)
            .map(|p95| p95.max(data.minimum_rtt.map_or(0.0, Duration::seconds))),
        completion_s: completed.map(|time| time.since(connection.start).seconds()),
        connections: None,
        start_s: connection.start.seconds(),
        end_s: connection.last.seconds(),
        reverse_bytes: if is_tcp { reverse.read } else { reverse.arrived_payload },
        dropped_packets: connection.dropped,
        ce_marks: connection.marked,
        slot: connection.slot,
    }
}

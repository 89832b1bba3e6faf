//! What a run leaves behind, taken from its ends, links and records.

use super::Simulation;
use super::ends::{ReceivingEnd, SendingEnd};
use crate::engine::EventQueue;
use crate::network::Network;
use crate::plan::Protocol;
use crate::record::connections::{ConnectionRecord, ConnectionsSummary};
use crate::record::packets::Packets;
use crate::record::series::{FlowSample, LinkSample, Sampled};
use crate::record::summary::{FailureSummary, FlowSummary, Summary};
use crate::transport::Sender;
use crate::transport::connections::{ConnectionTotals, Connections};
use crate::transport::foreign::{ConnectionFailed, StackSender};
use crate::transport::rtt_histogram::RttHistogram;
use selfclock_congestion::units::{Duration, Time};
use std::collections::BTreeMap;

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Totals.
    pub summary: Summary,
    /// What was sampled of the flows, but for those that are not one TCP connection; empty if not recorded.
    pub flow_series: Sampled<FlowSample>,
    /// What was sampled of the links; empty if not recorded.
    pub link_series: Sampled<LinkSample>,
    /// Every short connection, in the order in which they started.
    pub connections: Vec<ConnectionRecord>,
    /// Every packet event in the order of time, but for those that were taken before; empty if not recorded.
    pub packets: Packets,
}

/// Senders whose memory is given back together.
const FREED_TOGETHER: usize = 1024;

impl Simulation {
    /// Ends the run where it is and takes the results.
    pub fn finish(mut self) -> Outcome {
        let end = self.now;
        self.events = EventQueue::default();
        let (connections, totals) = std::mem::replace(&mut self.connections, Connections::new(0)).finish();
        let mut sampled_flows = Vec::new();
        for (index, source) in self.sources.iter_mut().enumerate() {
            match source {
                SendingEnd::Tcp(sender) => sender.finish(end, &mut self.network.samples.flows),
                SendingEnd::Stack(sender) => sender.finish(end, &mut self.network.samples.flows),
                SendingEnd::Udp(_) | SendingEnd::Connections(_) => continue,
            }
            sampled_flows.push(index as u32);
        }
        let flows = self.flow_summaries(end, &connections, &totals);
        let links = self.network.finish_links(end);
        let Network { samples, recorder, .. } = self.network;
        let summary = Summary {
            scenario: self.plan.name.clone(),
            seed: self.plan.seed,
            simulated_s: end.seconds(),
            events: self.events_run,
            packet_hops: links.iter().map(|link| link.packets).sum(),
            flows,
            links,
        };
        let packets = recorder.map_or_else(Packets::default, |recorder| recorder.finish());
        let sampled_links = (0..summary.links.len() as u32).collect();
        Outcome {
            summary,
            flow_series: Sampled::new(samples.flows, sampled_flows),
            link_series: Sampled::new(samples.links, sampled_links),
            connections,
            packets,
        }
    }

    /// The summaries of all flows, from the last on, so that the memory of each is free before much more of it is needed.
    fn flow_summaries(
        &mut self,
        end: Time,
        connections: &[ConnectionRecord],
        totals: &BTreeMap<u32, ConnectionTotals>,
    ) -> Vec<FlowSummary> {
        let mut flows = Vec::with_capacity(self.plan.flows.len());
        while let Some(source) = self.sources.pop() {
            let index = self.sources.len();
            if index.is_multiple_of(FREED_TOGETHER) {
                self.sources.shrink_to_fit();
            }
            let mut summary = self.flow_summary(index, &source, end);
            if let Protocol::Connections(_) = self.plan.flows[index].protocol {
                let own = connections.iter().filter(|record| record.flow as usize == index);
                self.add_connections(&mut summary, index, own, totals.get(&(index as u32)));
            }
            flows.push(summary);
        }
        flows.reverse();
        flows
    }

    fn flow_summary(&self, index: usize, source: &SendingEnd, end: Time) -> FlowSummary {
        let plan = &self.plan.flows[index];
        let start = self.starts[index];
        let mut summary = FlowSummary {
            name: plan.name.clone(),
            algorithm: plan.algorithm().unwrap_or("udp").into(),
            from: self.plan.nodes[plan.from].clone(),
            to: self.plan.nodes[plan.to].clone(),
            goodput_bps: 0.0,
            throughput_bps: 0.0,
            delivered_segments: 0,
            delivered_bytes: 0,
            sent_segments: 0,
            retransmitted_segments: 0,
            timeouts: 0,
            fast_retransmits: 0,
            rtt_min_s: None,
            rtt_mean_s: None,
            rtt_p95_s: None,
            completion_s: None,
            connections: None,
            failure: None,
        };
        let mut active_until = end;
        match source {
            SendingEnd::Tcp(sender) => {
                add_sender(&mut summary, sender, start);
                active_until = sender.completed().unwrap_or(end);
            }
            SendingEnd::Udp(source) => summary.sent_segments = source.sent().0,
            SendingEnd::Stack(sender) => {
                add_stack(&mut summary, sender, start);
                active_until = sender.completed().unwrap_or(end);
            }
            SendingEnd::Connections(_) => {}
        }
        let wire_bytes;
        (summary.delivered_segments, summary.delivered_bytes, wire_bytes) = match &self.sinks[index] {
            ReceivingEnd::Tcp(receiver) => {
                (receiver.delivered_segments(), receiver.delivered_bytes(), receiver.arrived_bytes())
            }
            ReceivingEnd::Udp(sink) => (sink.packets, sink.payload_bytes, sink.wire_bytes),
            ReceivingEnd::Stack(receiver) => {
                add_failure(&mut summary, receiver.failed());
                let arrived = receiver.arrived();
                (arrived.datagrams, receiver.read(), arrived.wire_bytes)
            }
            ReceivingEnd::Connections => (0, 0, 0),
        };
        let span = active_until.since(start);
        summary.goodput_bps = rate_bps(summary.delivered_bytes, span);
        summary.throughput_bps = rate_bps(wire_bytes, span);
        summary
    }

    /// Completes the summary of a flow that is made of short connections.
    fn add_connections<'a>(
        &self,
        summary: &mut FlowSummary,
        index: usize,
        records: impl Iterator<Item = &'a ConnectionRecord>,
        totals: Option<&ConnectionTotals>,
    ) {
        let span = self.plan.flows[index].stop.min(self.now).since(self.starts[index]);
        summary.connections = Some(ConnectionsSummary::new(records, span));
        let Some(totals) = totals else { return };
        summary.goodput_bps = rate_bps(totals.delivered_bytes, span);
        summary.throughput_bps = rate_bps(totals.arrived_bytes, span);
        summary.delivered_segments = totals.delivered_segments;
        summary.delivered_bytes = totals.delivered_bytes;
        summary.sent_segments = totals.sent.sent;
        summary.retransmitted_segments = totals.sent.retransmitted;
        summary.timeouts = totals.sent.timeouts;
        summary.fast_retransmits = totals.sent.fast_retransmits;
        summary.rtt_min_s = totals.minimum_rtt.map(Duration::seconds);
        summary.rtt_mean_s = totals.rtt_samples.mean_seconds();
        summary.rtt_p95_s = p95_seconds(&totals.rtt_samples, totals.minimum_rtt);
    }
}

/// Adds what the sender of a flow that is one TCP connection has counted since `start`.
fn add_sender(summary: &mut FlowSummary, sender: &Sender, start: Time) {
    let totals = sender.totals();
    summary.sent_segments = totals.sent;
    summary.retransmitted_segments = totals.retransmitted;
    summary.timeouts = totals.timeouts;
    summary.fast_retransmits = totals.fast_retransmits;
    summary.rtt_min_s = sender.minimum_rtt().map(Duration::seconds);
    summary.rtt_mean_s = sender.rtt_samples().mean_seconds();
    summary.rtt_p95_s = p95_seconds(sender.rtt_samples(), sender.minimum_rtt());
    summary.completion_s = sender.completed().map(|time| time.since(start).seconds());
}

/// Adds what the sending end of a foreign stack has counted since `start`. QUIC sends the content of a lost packet again in a
/// new one, so packets declared lost stand for retransmissions.
fn add_stack(summary: &mut FlowSummary, sender: &StackSender, start: Time) {
    let state = sender.state();
    summary.sent_segments = sender.sent().datagrams;
    summary.retransmitted_segments = state.lost_packets;
    summary.timeouts = state.persistent_congestions;
    summary.fast_retransmits = state.congestion_events;
    summary.rtt_min_s = state.minimum_rtt.map(Duration::seconds);
    summary.rtt_mean_s = sender.round_trips().mean_seconds();
    summary.rtt_p95_s = p95_seconds(sender.round_trips(), state.minimum_rtt);
    summary.completion_s = sender.completed().map(|time| time.since(start).seconds());
    add_failure(summary, sender.failed());
}

/// Adds that an end has seen the connection fail. The end that saw it first knows why; the other is told.
fn add_failure(summary: &mut FlowSummary, failed: Option<&ConnectionFailed>) {
    let Some(failed) = failed else { return };
    let time_s = failed.time.seconds();
    if summary.failure.as_ref().is_none_or(|failure| time_s < failure.time_s) {
        summary.failure = Some(FailureSummary { time_s, reason: failed.reason.clone() });
    }
}

/// Mean rate, bit/s; 0 over no time.
fn rate_bps(bytes: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { bytes as f64 * 8.0 / span.seconds() }
}

/// What 95 % of the samples are below, s. It is known as the middle of a bin, which may be below all that are in it.
fn p95_seconds(samples: &RttHistogram, minimum: Option<Duration>) -> Option<f64> {
    Some(samples.quantile_seconds(0.95)?.max(minimum.map_or(0.0, Duration::seconds)))
}

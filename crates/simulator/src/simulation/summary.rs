//! Results of a run, collected from its ends, links and records.

use super::Simulation;
use super::ends::{ReceivingEnd, SendingEnd};
use crate::engine::EventQueue;
use crate::network::Network;
use crate::plan::{Plan, Protocol, Source};
use crate::record::connections::{ConnectionRecord, ConnectionsSummary};
use crate::record::packets::Packets;
use crate::record::series::{FlowSample, LinkSample, ModelSample, Sampled};
use crate::record::summary::{DelaySummary, FailureSummary, FlowSummary, LinkSummary, Summary};
use crate::subset::{Held, Subset};
use crate::transport::Sender;
use crate::transport::connections::{ConnectionTotals, Connections};
use crate::transport::foreign::{ConnectionFailed, StackSender};
use crate::transport::measured::Delays;
use crate::transport::rtt_histogram::RttHistogram;
use selfclock_congestion::units::{Duration, Time};
use std::collections::BTreeMap;
use std::fmt;

/// Results of a run.
#[derive(Clone)]
pub struct Outcome {
    /// Totals.
    pub summary: Summary,
    /// Samples of the flows with one TCP connection; empty if not recorded.
    pub flow_series: Sampled<FlowSample>,
    /// Samples of the models of the flows that have one; empty if not recorded.
    pub model_series: Sampled<ModelSample>,
    /// Samples of the links; empty if not recorded.
    pub link_series: Sampled<LinkSample>,
    /// Every short connection, in the order in which they started.
    pub connections: Vec<ConnectionRecord>,
    /// Packet events in the order of time, except those taken earlier; empty if not recorded.
    pub packets: Packets,
}

/// Fingerprints are made of this text. It is without the models' samples: they show the state
/// behind decisions that the rest shows.
impl fmt::Debug for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Outcome")
            .field("summary", &self.summary)
            .field("flow_series", &self.flow_series)
            .field("link_series", &self.link_series)
            .field("connections", &self.connections)
            .field("packets", &self.packets)
            .finish()
    }
}

impl Simulation {
    /// Ends the run now and returns the results.
    pub fn finish(self) -> Outcome {
        results(vec![self])
    }

    /// Takes the senders' remaining samples. Returns the flows that have any.
    fn finish_senders(&mut self) -> impl Iterator<Item = u32> {
        let Self { now, sources, network, .. } = self;
        let samples = &mut network.samples;
        sources.iter_mut().filter_map(move |(index, source)| {
            match source {
                SendingEnd::Tcp(sender) => sender.finish(*now, samples),
                SendingEnd::Stack(sender) => sender.finish(*now, &mut samples.flows),
                SendingEnd::Udp(_) | SendingEnd::Connections(_) => return None,
            }
            Some(index as u32)
        })
    }
}

/// Results of a run from its parts, which have all reached the same time.
pub(super) fn results(mut parts: Vec<Simulation>) -> Outcome {
    let events = parts.iter().map(|part| part.events_run).sum();
    let mut ends = Ends::of(&mut parts);
    let (mut flows, mut links) = (Vec::with_capacity(ends.plan.flows.len()), Vec::new());
    let (mut flow_rows, mut model_rows, mut link_rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut sampled = Vec::new();
    let mut packets = Packets::default();
    for mut part in parts {
        part.events = EventQueue::default();
        sampled.extend(part.finish_senders());
        let Simulation { mut network, sources, .. } = part;
        // Each part's memory is freed before much more is needed.
        flows.extend(
            sources.into_iter_from_end().map(|(index, source)| (index, ends.summary(index, &source))),
        );
        links.extend(network.finish_links(ends.now));
        let Network { samples, recorder, .. } = network;
        flow_rows.push(samples.flows);
        model_rows.push(samples.models);
        link_rows.push(samples.links);
        packets = recorder.map_or(packets, |recorder| recorder.finish());
    }
    sampled.sort_unstable();
    let has_model = |&index: &u32| model_rows.iter().any(|rows| rows.holds(index as usize));
    let modelled = sampled.iter().copied().filter(has_model).collect();
    let links = in_order(links);
    let summary = Summary {
        scenario: ends.plan.name.clone(),
        seed: ends.plan.seed,
        simulated_s: ends.now.seconds(),
        events,
        packet_hops: links.iter().map(|link: &LinkSummary| link.packets).sum(),
        flows: in_order(flows),
        links,
    };
    let sampled_links = (0..summary.links.len() as u32).collect();
    Outcome {
        summary,
        flow_series: Sampled::new(flow_rows, sampled),
        model_series: Sampled::new(model_rows, modelled),
        link_series: Sampled::new(link_rows, sampled_links),
        connections: std::mem::take(&mut ends.connections),
        packets,
    }
}

/// Values in the order of their indices.
fn in_order<T>(mut values: Vec<(usize, T)>) -> Vec<T> {
    values.sort_unstable_by_key(|&(index, _)| index);
    values.into_iter().map(|(_, value)| value).collect()
}

/// Totals of a receiver.
#[derive(Clone, Debug, Default)]
struct Received {
    segments: u64,
    bytes: u64,
    /// Payload and wire bytes since the run is measured.
    measured: (u64, u64),
    /// Last arrival of the next byte in order (TCP).
    last: Option<Time>,
    failed: Option<ConnectionFailed>,
    delays: Option<DelaySummary>,
}

impl Received {
    fn of(sink: &ReceivingEnd) -> Self {
        let (segments, bytes, measured) = match sink {
            ReceivingEnd::Tcp(receiver) => {
                (receiver.delivered_segments(), receiver.delivered_bytes(), receiver.measured())
            }
            ReceivingEnd::Udp(sink) => (sink.packets, sink.payload_bytes, sink.measured()),
            ReceivingEnd::Stack(receiver) => {
                (receiver.arrived().datagrams, receiver.read(), receiver.measured())
            }
            ReceivingEnd::Connections => (0, 0, (0, 0)),
        };
        let last = match sink {
            ReceivingEnd::Tcp(receiver) => Some(receiver.last_delivery()),
            _ => None,
        };
        let failed = match sink {
            ReceivingEnd::Stack(receiver) => receiver.failed().cloned(),
            _ => None,
        };
        let delays = match sink {
            ReceivingEnd::Tcp(receiver) => receiver.delays(),
            ReceivingEnd::Udp(sink) => sink.delays(),
            ReceivingEnd::Stack(receiver) => receiver.delays(),
            ReceivingEnd::Connections => None,
        };
        let delays = delays.and_then(Delays::summary);
        Self { segments, bytes, measured, last, failed, delays }
    }
}

/// Data for a flow's summary from outside its sender, which may be in another part than its
/// receiver.
struct Ends {
    now: Time,
    plan: Plan,
    starts: Vec<Time>,
    received: Vec<Received>,
    connections: Vec<ConnectionRecord>,
    totals: BTreeMap<u32, ConnectionTotals>,
}

impl Ends {
    /// Collects from all parts, which give up their receivers and connections.
    fn of(parts: &mut [Simulation]) -> Self {
        let Some(first) = parts.first_mut() else { unreachable!("a run has a part") };
        let (now, plan, starts) = (first.now, first.plan.clone(), std::mem::take(&mut first.starts));
        // Runs with short connections are not divided.
        let (connections, totals) =
            std::mem::replace(&mut first.connections, Connections::new(0, (Time::ZERO, false))).finish();
        let mut received = vec![Received::default(); plan.flows.len()];
        for part in parts {
            let sinks = std::mem::replace(&mut part.sinks, Held::with_room(Subset::none(), 0));
            sinks.iter().for_each(|(index, sink)| received[index] = Received::of(sink));
        }
        Self { now, plan, starts, received, connections, totals }
    }

    fn summary(&self, index: usize, source: &SendingEnd) -> FlowSummary {
        let plan = &self.plan.flows[index];
        let start = self.starts[index];
        let mut summary = FlowSummary {
            name: plan.name.clone(),
            algorithm: plan.algorithm().unwrap_or("udp").into(),
            from: self.plan.nodes[plan.from].clone(),
            to: self.plan.nodes[plan.to].clone(),
            ..FlowSummary::default()
        };
        let mut active_until = self.now;
        match source {
            SendingEnd::Tcp(sender) => {
                add_sender(&mut summary, sender, start);
                active_until = sender.completed().unwrap_or(self.now);
            }
            SendingEnd::Udp(source) => summary.sent_segments = source.sent().0,
            SendingEnd::Stack(sender) => {
                add_stack(&mut summary, sender, start);
                active_until = sender.completed().unwrap_or(self.now);
            }
            SendingEnd::Connections(_) => {}
        }
        let Received { segments, bytes, measured, last, ref failed, ref delays } = self.received[index];
        if let Some(&Source::Size(size)) = plan.protocol.tcp().map(|tcp| &tcp.source)
            && bytes >= size.get()
        {
            summary.delivery_s = last.map(|time| time.since(start).seconds());
        }
        (summary.delivered_segments, summary.delivered_bytes) = (segments, bytes);
        summary.delays.clone_from(delays);
        add_failure(&mut summary, failed.as_ref());
        let span = active_until.since(start.max(self.plan.measure_from));
        summary.goodput_bps = rate_bps(measured.0, span);
        summary.throughput_bps = rate_bps(measured.1, span);
        if let Protocol::Connections(_) = plan.protocol {
            self.add_connections(&mut summary, index);
        }
        summary
    }

    /// Completes the summary of a flow of short connections.
    fn add_connections(&self, summary: &mut FlowSummary, index: usize) {
        let records = self.connections.iter().filter(|record| record.flow as usize == index);
        let span = self.plan.flows[index].stop.min(self.now).since(self.starts[index]);
        summary.connections = Some(ConnectionsSummary::new(records, span));
        let Some(totals) = self.totals.get(&(index as u32)) else { return };
        let span =
            self.plan.flows[index].stop.min(self.now).since(self.starts[index].max(self.plan.measure_from));
        summary.delays = totals.delays.as_ref().and_then(Delays::summary);
        summary.goodput_bps = rate_bps(totals.measured.0, span);
        summary.throughput_bps = rate_bps(totals.measured.1, span);
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

/// Adds the counters of a TCP sender since `start`.
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

/// Adds the counters of a foreign stack's sender since `start`. QUIC retransmits the content of a
/// lost packet in a new one, so packets declared lost count as retransmissions.
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

/// Adds a failed connection. The end that saw it first knows the reason; the other is notified.
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

/// Upper bound of 95 % of the samples, s. It is the middle of a bin, which may be below all its
/// samples.
fn p95_seconds(samples: &RttHistogram, minimum: Option<Duration>) -> Option<f64> {
    Some(samples.quantile_seconds(0.95)?.max(minimum.map_or(0.0, Duration::seconds)))
}

//! One run: a value, with no state outside of it.

use crate::engine::memory::{self, prefetch};
use crate::engine::random::Purpose;
use crate::engine::{EventQueue, Stream, Target};
use crate::network::Network;
use crate::packet::PacketKind;
use crate::plan::{Plan, Protocol};
use crate::record::connections::{ConnectionRecord, ConnectionsSummary};
use crate::record::packets::PacketRecord;
use crate::record::series::{FlowSample, LinkSample, Sampled, Sampling};
use crate::record::summary::{FlowSummary, Summary};
use crate::traffic::connections::{ConnectionSource, ConnectionTotals, Connections};
use crate::transport::groups::Groups;
use crate::transport::rtt_histogram::RttHistogram;
use crate::transport::runaway;
use crate::transport::udp::{UdpSink, UdpSource};
use crate::transport::{Context, Receiver, Sender, sender::TOUCHED};
use batch::Patience;
use selfclock_congestion::controller::Controller;
use selfclock_congestion::failure::Failure;
use selfclock_congestion::units::{Duration, Time};

mod batch;

/// The sending end of a flow. Not boxed: nearly every flow is TCP, and a pointer would cost every acknowledgement.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum Source {
    Tcp(Sender),
    Connections(Box<ConnectionSource>),
    Udp(UdpSource),
}

/// The receiving end of a flow.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum Sink {
    Tcp(Receiver),
    /// Each connection has its own.
    Connections,
    Udp(UdpSink),
}

/// A run under way.
#[derive(Clone, Debug)]
pub struct Simulation {
    now: Time,
    end: Time,
    events: EventQueue,
    events_run: u64,
    network: Network,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    connections: Connections,
    groups: Groups,
    /// Some flow may have batches, and when to look for one.
    has_batches: bool,
    patience: Patience,
    starts: Vec<Time>,
    plan: Plan,
}

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
    /// Every packet event in the order of time; empty if not recorded.
    pub packets: Vec<PacketRecord>,
}

/// Senders whose memory is given back together.
const FREED_TOGETHER: usize = 1024;

/// What so many flows touch, three kilobytes each, stays in a cache of two megabytes.
const MANY_FLOWS: usize = 500;

/// Asks for what the packets touch that are next in this lane: of a far one what is known from the packet alone, of a near one
/// what that leads to. A flow's packets mostly come in bursts, of which the first asks for all.
#[inline(always)]
fn prefetch_ahead(network: &Network, sources: &[Source], sinks: &[Sink], lane: u32) {
    if let Some(far) = network.first_of_burst(lane, 8) {
        network.prefetch_routes(far);
        if far.kind == PacketKind::Ack {
            if let Some(source) = sources.get(far.flow as usize) {
                prefetch::<0, TOUCHED, Source>(source);
            }
        } else if let Some(sink) = sinks.get(far.flow as usize) {
            prefetch::<0, { size_of::<Sink>() }, Sink>(sink);
        }
    }
    if let Some(near) = network.first_of_burst(lane, 3) {
        let delivered = network.prefetch_links(near);
        let Some(routes) = network.flow_routes.get(near.flow as usize) else { return };
        if near.kind != PacketKind::Ack {
            network.prefetch_links_from(routes.reverse as usize);
        } else if delivered && let Some(Source::Tcp(sender)) = sources.get(near.flow as usize) {
            sender.prefetch_lists();
            network.prefetch_links_from(routes.forward as usize);
        }
    }
}

/// Runs the receivers that packets have just reached ahead of the clock.
#[inline(always)]
fn run_receivers_ahead(events: &mut EventQueue, network: &mut Network, sinks: &mut [Sink]) {
    if network.delivered_ahead.is_empty() {
        return;
    }
    // A receiver that is run ahead sends to none that is. The list keeps its memory.
    let mut delivered = std::mem::take(&mut network.delivered_ahead);
    for packet in &delivered {
        let mut context = Context { now: packet.arrival, events, network };
        match &mut sinks[packet.flow as usize] {
            Sink::Tcp(receiver) => receiver.on_packet(&mut context, packet),
            Sink::Udp(sink) => sink.on_packet(packet),
            // The receivers of short connections are not run ahead.
            Sink::Connections => {}
        }
    }
    delivered.clear();
    network.delivered_ahead = delivered;
}

impl Simulation {
    /// A run of this plan, at time zero.
    pub fn new(plan: &Plan) -> Self {
        let mut network = Network::new(plan);
        let routes = network.flow_routes.clone();
        let mut events = EventQueue::default();
        let mut sources = memory::vector(plan.flows.len());
        let mut sinks = memory::vector(plan.flows.len());
        let mut starts = Vec::with_capacity(plan.flows.len());
        let sampling = Sampling::of(plan, Time::ZERO + plan.duration);
        // What is recorded packet by packet is not computed in batches.
        let has_batches = !plan.record.packets && routes.iter().any(|routes| routes.one_stop);
        for (index, (flow, routes)) in plan.flows.iter().zip(routes).enumerate() {
            let number = index as u32;
            let jitter = Stream::new(plan.seed, Purpose::FlowStart, index).duration_below(flow.start_jitter);
            let start = flow.start + jitter;
            let mut context = Context { now: Time::ZERO, events: &mut events, network: &mut network };
            match &flow.protocol {
                Protocol::Tcp(tcp) => {
                    let control_seed = Stream::new(plan.seed, Purpose::FlowControl, index).bits();
                    let times = (start, flow.stop);
                    let mut sender = Sender::new(number, routes, tcp, times, control_seed, sampling);
                    sender.limit_in_flight(runaway::most_in_flight(plan, flow));
                    sender.schedule_start(&mut context, start);
                    sources.push(Source::Tcp(sender));
                    sinks.push(Sink::Tcp(Receiver::new(number, routes, tcp)));
                }
                Protocol::Connections(plan_of_each) => {
                    let most = runaway::most_in_flight(plan, flow);
                    let mut source =
                        ConnectionSource::new(number, routes, plan_of_each, plan.seed, flow.stop, most);
                    source.begin(&mut context, start);
                    sources.push(Source::Connections(Box::new(source)));
                    sinks.push(Sink::Connections);
                }
                Protocol::Udp(udp) => {
                    let mut source = UdpSource::new(number, routes.forward, udp, plan.seed, flow.stop);
                    source.begin(&mut context, start);
                    sources.push(Source::Udp(source));
                    sinks.push(Sink::Udp(UdpSink::default()));
                }
            }
            starts.push(start);
        }
        let end = Time::ZERO + plan.duration;
        let connections = Connections::new(plan.flows.len());
        let groups = Groups::new(plan.flows.len(), &plan.groups);
        let plan = plan.clone();
        Self {
            now: Time::ZERO,
            end,
            events,
            events_run: 0,
            network,
            sources,
            sinks,
            connections,
            groups,
            has_batches,
            patience: Patience::default(),
            starts,
            plan,
        }
    }

    /// Lets flows with user-defined algorithms have no more in flight than fits into so many bytes of memory.
    pub fn limit_memory(&mut self, bytes: u64) {
        let most = runaway::segments_within(&self.plan, bytes);
        for source in &mut self.sources {
            if let Source::Tcp(sender) = source {
                sender.limit_memory(most);
            }
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the run ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Runs at most so many events; true when the run is over.
    pub fn advance(&mut self, events: u64) -> bool {
        let last = self.events_run.saturating_add(events);
        while self.events_run < last {
            match self.events.peek_lane() {
                Some((time, lane)) if time <= self.end => {
                    self.now = time;
                    match lane {
                        Some(lane) if self.has_batches => {
                            match self.run_batch(lane, last - self.events_run) {
                                0 => self.move_packet(lane),
                                taken => self.events_run += taken - 1,
                            }
                        }
                        Some(lane) => self.move_packet(lane),
                        None => self.run_timer(last),
                    }
                    self.run_receivers_ahead();
                }
                _ => {
                    self.now = self.end;
                    return true;
                }
            }
            self.events_run += 1;
        }
        false
    }

    /// A UDP source sends, and goes on as long as nothing else happens before its next packet, up to this number of events:
    /// its packets need not go through the event queue.
    #[inline(never)]
    fn run_udp(&mut self, flow: u32, last: u64) {
        let Self { now, end, events, network, sources, .. } = self;
        let Some(Source::Udp(source)) = sources.get_mut(flow as usize) else { return };
        loop {
            let next = source.on_timer(&mut Context { now: *now, events, network });
            let Some((time, order)) = next else { return };
            let is_next = events.peek().is_none_or(|event| time < event.time);
            if !is_next || time > *end || self.events_run + 1 >= last {
                return source.set_timer(events, time, order);
            }
            run_receivers_ahead(events, network, &mut self.sinks);
            *now = time;
            self.events_run += 1;
        }
    }

    /// Runs everything up to a time that is not past; true when the run is over.
    pub fn advance_until(&mut self, time: Time) -> bool {
        let end = self.end;
        self.end = end.min(time);
        while !self.advance(u64::MAX) {}
        self.end = end;
        self.now == end
    }

    /// When a flow starts.
    pub fn start_of(&self, flow: usize) -> Time {
        self.starts[flow]
    }

    /// When the last byte of a flow that is one TCP connection was acknowledged.
    pub fn completed(&self, flow: usize) -> Option<Time> {
        match &self.sources[flow] {
            Source::Tcp(sender) => sender.completed(),
            Source::Udp(_) | Source::Connections(_) => None,
        }
    }

    /// The congestion control of a flow that is one TCP connection; `None` for others.
    pub fn controller(&self, flow: usize) -> Option<&Controller> {
        match &self.sources[flow] {
            Source::Tcp(sender) => Some(sender.controller()),
            Source::Udp(_) | Source::Connections(_) => None,
        }
    }

    /// Lets someone outside of the run change the congestion control of a flow that is one TCP connection, and sends what it
    /// then may. Does nothing to others.
    pub fn steer(&mut self, flow: usize, change: impl FnOnce(Time, &mut Controller)) {
        let Self { now, events, network, sources, .. } = self;
        if let Source::Tcp(sender) = &mut sources[flow] {
            sender.steer(&mut Context { now: *now, events, network }, change);
            self.run_receivers_ahead();
        }
    }

    /// The first flow whose algorithm could not go on, and why. Its results are of no use, and the run should be given up.
    pub fn failure(&self) -> Option<(&str, &Failure)> {
        let of_flows =
            (0..self.sources.len()).filter_map(|flow| Some((flow, self.controller(flow)?.failure()?)));
        let first = of_flows.chain(self.connections.failure()).min_by_key(|(_, failure)| failure.now);
        first.map(|(flow, failure)| (self.plan.flows[flow].name.as_str(), failure))
    }

    #[inline(always)]
    fn run_receivers_ahead(&mut self) {
        run_receivers_ahead(&mut self.events, &mut self.network, &mut self.sinks);
    }

    /// The first packet of a lane is at its next stop.
    #[inline(always)]
    fn move_packet(&mut self, lane: u32) {
        let Self { events, network, sources, sinks, connections, groups, .. } = self;
        let mut packet = network.take_first(events, lane);
        if sources.len() > MANY_FLOWS {
            prefetch_ahead(network, sources, sinks, lane);
        }
        let Some(arrival) = network.arrive(events, &packet) else { return };
        packet.arrival = arrival;
        let mut context = Context { now: arrival, events, network };
        match packet.kind {
            PacketKind::Ack | PacketKind::SynAck => match sources.get_mut(packet.flow as usize) {
                Some(Source::Tcp(sender)) => {
                    groups.during(packet.flow, sender, |sender| sender.on_packet(&mut context, &packet));
                }
                Some(_) => {}
                None => connections.on_packet(&mut context, &packet),
            },
            PacketKind::Data | PacketKind::Syn | PacketKind::Datagram => {
                match sinks.get_mut(packet.flow as usize) {
                    Some(Sink::Tcp(receiver)) => receiver.on_packet(&mut context, &packet),
                    Some(Sink::Udp(sink)) => sink.on_packet(&packet),
                    Some(Sink::Connections) => {}
                    None => connections.on_packet(&mut context, &packet),
                }
            }
            // Between routers only; a host that gets one has no use for it.
            PacketKind::ResourceDiscovery => network.extras.release(packet.extra),
        }
    }

    #[inline]
    fn run_timer(&mut self, last: u64) {
        let Self { now, events, network, sources, sinks, connections, groups, .. } = self;
        let Some(target) = events.pop() else { return };
        let mut context = Context { now: *now, events, network };
        match target {
            Target::Packets(_) => {}
            Target::Transmitter(link) => network.on_transmitter(events, *now, link),
            Target::Router(router) => network.on_router_timer(events, *now, router),
            Target::DelayedAck(flow) => match sinks.get_mut(flow as usize) {
                Some(Sink::Tcp(receiver)) => receiver.on_timer(&mut context),
                Some(_) => {}
                None => connections.on_timer(&mut context, target, flow),
            },
            Target::Retransmission(flow)
            | Target::Release(flow)
            | Target::Application(flow)
            | Target::Rack(flow) => match sources.get_mut(flow as usize) {
                Some(Source::Tcp(sender)) => {
                    groups.during(flow, sender, |sender| sender.on_timer(&mut context, target));
                }
                Some(Source::Connections(source)) => source.on_timer(&mut context, connections),
                Some(Source::Udp(_)) => self.run_udp(flow, last),
                None => connections.on_timer(&mut context, target, flow),
            },
        }
    }

    /// Packets sent, and those of them still on their way. Together with what arrived, what was dropped and what ended in
    /// a router they must balance.
    pub fn packets_sent_and_in_flight(&self) -> (u64, u64) {
        (self.network.packets_sent(), self.network.packets_in_flight(self.now))
    }

    /// Packets that have ended in a router mechanism to which they were sent.
    pub fn packets_consumed(&self) -> u64 {
        self.network.packets_consumed()
    }

    /// Out-of-line packet parts in use.
    pub fn extras_in_use(&self) -> usize {
        self.network.extras.in_use()
    }

    /// The packet record has outgrown its limit: the run is of no use and should be given up.
    pub fn record_overflowed(&self) -> bool {
        self.network.recorder.as_ref().is_some_and(|recorder| recorder.overflowed())
    }

    /// Ends the run where it is and takes the results.
    pub fn finish(mut self) -> Outcome {
        let end = self.now;
        self.events = EventQueue::default();
        let (connections, totals) = std::mem::replace(&mut self.connections, Connections::new(0)).finish();
        let mut flows = Vec::with_capacity(self.plan.flows.len());
        let mut sampled_flows = Vec::new();
        for (index, source) in self.sources.iter_mut().enumerate() {
            if let Source::Tcp(sender) = source {
                sender.finish(end, &mut self.network.samples.flows);
                sampled_flows.push(index as u32);
            }
        }
        // From the last on, so that the memory of each is free before much more of it is needed.
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
        let Network { links, mut samples, recorder, .. } = self.network;
        let links: Vec<_> = links.into_iter().map(|mut link| link.finish(end, &mut samples.links)).collect();
        let summary = Summary {
            scenario: self.plan.name.clone(),
            seed: self.plan.seed,
            simulated_s: end.seconds(),
            events: self.events_run,
            packet_hops: links.iter().map(|link| link.packets).sum(),
            flows,
            links,
        };
        let packets = recorder.map_or_else(Vec::new, |recorder| recorder.finish());
        let sampled_links = (0..summary.links.len() as u32).collect();
        Outcome {
            summary,
            flow_series: Sampled::new(samples.flows, sampled_flows),
            link_series: Sampled::new(samples.links, sampled_links),
            connections,
            packets,
        }
    }

    fn flow_summary(&self, index: usize, source: &Source, end: Time) -> FlowSummary {
        let plan = &self.plan.flows[index];
        let start = self.starts[index];
        let rate = |bytes: u64, span: Duration| {
            if span.is_zero() { 0.0 } else { bytes as f64 * 8.0 / span.seconds() }
        };
        let mut summary = FlowSummary {
            name: plan.name.clone(),
            algorithm: "udp".to_owned(),
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
        };
        let mut active_until = end;
        match source {
            Source::Tcp(sender) => {
                let totals = sender.totals();
                summary.sent_segments = totals.sent;
                summary.retransmitted_segments = totals.retransmitted;
                summary.timeouts = totals.timeouts;
                summary.fast_retransmits = totals.fast_retransmits;
                summary.rtt_min_s = sender.minimum_rtt().map(Duration::seconds);
                summary.rtt_mean_s = sender.rtt_samples().mean_seconds();
                summary.rtt_p95_s = p95_seconds(sender.rtt_samples(), sender.minimum_rtt());
                summary.completion_s = sender.completed().map(|time| time.since(start).seconds());
                active_until = sender.completed().unwrap_or(end);
            }
            Source::Udp(source) => summary.sent_segments = source.sent().0,
            Source::Connections(_) => {}
        }
        if let Some(tcp) = plan.protocol.tcp() {
            summary.algorithm = tcp.control_name.clone();
        }
        let wire_bytes;
        match &self.sinks[index] {
            Sink::Tcp(receiver) => {
                summary.delivered_segments = receiver.delivered_segments();
                summary.delivered_bytes = receiver.delivered_bytes();
                wire_bytes = receiver.arrived_bytes();
            }
            Sink::Udp(sink) => {
                summary.delivered_segments = sink.packets;
                summary.delivered_bytes = sink.payload_bytes;
                wire_bytes = sink.wire_bytes;
            }
            Sink::Connections => wire_bytes = 0,
        }
        let span = active_until.since(start);
        summary.goodput_bps = rate(summary.delivered_bytes, span);
        summary.throughput_bps = rate(wire_bytes, span);
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
        let rate = |bytes: u64| if span.is_zero() { 0.0 } else { bytes as f64 * 8.0 / span.seconds() };
        summary.goodput_bps = rate(totals.delivered_bytes);
        summary.throughput_bps = rate(totals.arrived_bytes);
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

/// What 95 % of the samples are below, s. It is known as the middle of a bin, which may be below all that are in it.
fn p95_seconds(samples: &RttHistogram, minimum: Option<Duration>) -> Option<f64> {
    Some(samples.quantile_seconds(0.95)?.max(minimum.map_or(0.0, Duration::seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{DelayedAck, FlowPlan, LinkPlan, RecordPlan, TcpPlan, Transport};
    use selfclock_congestion::RateSample;
    use selfclock_congestion::registry::Selection;
    use selfclock_congestion::units::{Bytes, Rate};

    /// One flow that measures delivery rates, for 10 s, across 10 Mbit/s and 40 ms there and back; every sample.
    fn delivery_rates(source: crate::plan::Source) -> (Summary, Vec<(Time, RateSample)>) {
        let link = |name, from, to| {
            LinkPlan::new(
                name,
                (from, to),
                Rate::from_bits_per_second(10_000_000),
                Duration::from_milliseconds(20),
            )
        };
        let transport = Transport {
            receive_window: Bytes(60 * 1448),
            delayed_ack: DelayedAck { every: 1, ..Transport::modern().delayed_ack },
            ..Transport::modern()
        };
        let plan = Plan {
            name: "delivery rate".to_owned(),
            seed: 1,
            duration: Duration::from_seconds(10.0),
            nodes: vec!["a".to_owned(), "b".to_owned()].into(),
            links: vec![link("there", 0, 1), link("back", 1, 0)].into(),
            flows: vec![FlowPlan {
                name: "flow".to_owned(),
                from: 0,
                to: 1,
                forward: vec![0],
                reverse: vec![1],
                start: Time::ZERO,
                start_jitter: Duration::ZERO,
                stop: Time::NEVER,
                dscp: 0,
                protocol: Protocol::Tcp(crate::Shared::new(TcpPlan {
                    control: Selection::new("slow-start", "reno").expect("known names"),
                    control_name: "reno".to_owned(),
                    source,
                    transport,
                })),
            }]
            .into(),
            routers: Vec::new(),
            groups: Vec::new(),
            record: RecordPlan { interval: None, packets: false },
        };
        let mut simulation = Simulation::new(&plan);
        let mut samples: Vec<(Time, RateSample)> = Vec::new();
        if let Source::Tcp(sender) = &mut simulation.sources[0] {
            sender.measure_delivery_rate();
        }
        while !simulation.advance(1) {
            let Source::Tcp(sender) = &simulation.sources[0] else { continue };
            if let Some(sample) = sender.delivery_rate()
                && samples.last().is_none_or(|(_, last)| last.delivered_total != sample.delivered_total)
            {
                samples.push((simulation.now(), sample));
            }
        }
        (simulation.finish().summary, samples)
    }

    /// A window of 60 segments, 52 ms at the rate of the link, keeps it busy: every sample is the rate of the link
    /// times 1448 bytes of payload in 1500.
    #[test]
    fn delivery_rate_is_the_payload_rate_of_the_bottleneck() {
        let (summary, samples) = delivery_rates(crate::plan::Source::Bulk);
        let payload_rate = 1e7 * 1448.0 / 1500.0;
        assert!(summary.flows[0].goodput_bps > 0.98 * payload_rate, "measuring slows nothing down");
        let steady: Vec<_> = samples.iter().filter(|(time, _)| time.seconds() > 1.0).collect();
        assert!(steady.len() > 7000, "one for each acknowledgement: {}", steady.len());
        for (time, sample) in steady {
            let rate = sample.delivery_rate.bits_per_second() as f64;
            assert!((rate / payload_rate - 1.0).abs() < 0.01, "{time:?}: {sample:?}");
            assert!(!sample.is_app_limited, "{time:?}: {sample:?}");
            assert_eq!(sample.newly_acked, Bytes(1448));
            assert_eq!(sample.tx_in_flight, Bytes(60 * 1448));
        }
    }

    /// An application that writes at a tenth of the rate: the samples are its rate, and say so.
    #[test]
    fn delivery_rate_of_an_application_is_marked() {
        let (_, samples) = delivery_rates(crate::plan::Source::Rate(Rate::from_bits_per_second(1_000_000)));
        let steady: Vec<_> = samples.iter().filter(|(time, _)| time.seconds() > 1.0).collect();
        assert!(steady.len() > 700);
        for (time, sample) in steady {
            assert!(sample.is_app_limited, "{time:?}: {sample:?}");
            // Four or five segments in a round trip of 41 ms or more.
            assert!(sample.delivery_rate.bits_per_second() < 1_500_000, "{time:?}: {sample:?}");
        }
    }
}

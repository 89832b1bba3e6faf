//! One run: a value without external state.

mod ahead;
mod batch;
mod ends;
mod fork;
mod parallel;
mod stop;
mod summary;

pub use fork::{NotForked, Trunk};
pub use parallel::{NotDivided, Parallel};
pub use stop::{Progress, Stopped};
pub use summary::Outcome;

use crate::engine::random::Purpose;
use crate::engine::{EventQueue, Stream, Target};
use crate::network::partition::Part;
use crate::network::{Hosts, Network};
use crate::packet::PacketKind;
use crate::plan::Plan;
use crate::record::packed::PacketRecorder;
use crate::record::packets::Packets;
use crate::record::series::Sampling;
use crate::subset::Held;
use crate::transport::connections::Connections;
use crate::transport::groups::Groups;
use crate::transport::runaway;
use crate::transport::{Context, Sender};
use ahead::{prefetch_ahead, run_receivers_ahead};
use batch::Patience;
use ends::{ReceivingEnd, SendingEnd, ends};
use selfclock_congestion::controller::Controller;
use selfclock_congestion::units::Time;

/// A run in progress.
#[derive(Clone, Debug)]
pub struct Simulation {
    now: Time,
    end: Time,
    events: EventQueue,
    events_run: u64,
    network: Network,
    sources: Held<SendingEnd>,
    sinks: Held<ReceivingEnd>,
    connections: Connections,
    groups: Groups,
    /// Whether user-defined algorithms or foreign stacks exist, which may fail.
    has_custom: bool,
    /// Whether any flow may have batches, and when to try one.
    has_batches: bool,
    patience: Patience,
    starts: Vec<Time>,
    plan: Plan,
}

/// Events between two checks for a failed run: a few milliseconds of user-defined algorithms.
const EVENTS_UNCHECKED: u64 = 10_000;

/// Events between two sorts of packet records: some ten times as many records, which an L2 cache
/// holds.
const EVENTS_UNSETTLED: u64 = 1_000;

/// The state of this many flows, three kilobytes each, stays in a cache of two megabytes.
const MANY_FLOWS: usize = 500;

impl Simulation {
    /// A run of this plan, at time zero.
    pub fn new(plan: &Plan) -> Self {
        Self::part(plan, &Part::default())
    }

    /// A part of a run of this plan, at time zero.
    fn part(plan: &Plan, part: &Part) -> Self {
        let mut network = Network::part(plan, Hosts::Simulated, part);
        let routes = network.flow_routes.clone();
        let mut events = EventQueue::default();
        let mut sources = Held::with_room(part.senders.clone(), plan.flows.len());
        let mut sinks = Held::with_room(part.receivers.clone(), plan.flows.len());
        let mut starts = Vec::with_capacity(plan.flows.len());
        let sampling = Sampling::of(plan, Time::ZERO + plan.duration);
        // Runs with packet records do not use batches.
        let has_batches = !plan.record.packets && routes.iter().any(|routes| routes.one_stop);
        for (index, (flow, routes)) in plan.flows.iter().zip(routes).enumerate() {
            let jitter = Stream::new(plan.seed, Purpose::FlowStart, index).duration_below(flow.start_jitter);
            let start = flow.start + jitter;
            starts.push(start);
            if !sources.holds(index) && !sinks.holds(index) {
                continue;
            }
            let (mut source, sink) = ends(plan, index, routes, start, sampling);
            if sources.holds(index) {
                let mut context = Context { now: Time::ZERO, events: &mut events, network: &mut network };
                source.begin(&mut context, start);
                sources.push(source);
            }
            if sinks.holds(index) {
                sinks.push(sink);
            }
        }
        let end = Time::ZERO + plan.duration;
        let connections = Connections::new(plan.flows.len(), (plan.measure_from, plan.measure_delays));
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
            has_custom: plan.has_custom_algorithms() || plan.has_foreign_stacks(),
            has_batches,
            patience: Patience::default(),
            starts,
            plan,
        }
    }

    /// Bounds the flight of flows with user-defined algorithms to this many bytes of memory.
    pub fn limit_memory(&mut self, bytes: u64) {
        let most = runaway::segments_within(&self.plan, bytes);
        for (_, source) in self.sources.iter_mut() {
            if let SendingEnd::Tcp(sender) = source {
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

    /// Runs at most `events` events.
    ///
    /// # Errors
    /// If the run's results are unusable; see [`Stopped`].
    pub fn advance(&mut self, events: u64) -> Result<Progress, Stopped> {
        let last = self.events_run.saturating_add(events);
        let slice = match self.network.recorder {
            Some(_) => EVENTS_UNSETTLED,
            None if self.has_custom => EVENTS_UNCHECKED,
            None => return Ok(self.run_events(last)),
        };
        loop {
            let progress = self.run_events(last.min(self.events_run.saturating_add(slice)));
            if let Some(recorder) = &mut self.network.recorder {
                recorder.settle(self.now);
            }
            self.check()?;
            if progress.is_finished() || self.events_run >= last {
                return Ok(progress);
            }
        }
    }

    /// Runs everything up to a time that is not past.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn advance_until(&mut self, time: Time) -> Result<Progress, Stopped> {
        self.advance_towards(time, u64::MAX)?;
        Ok(if self.now == self.end { Progress::Finished } else { Progress::Underway })
    }

    /// Runs at most `events` events of those up to a time that is not past. It is finished when
    /// that time is reached.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn advance_towards(&mut self, time: Time, events: u64) -> Result<Progress, Stopped> {
        let end = self.end;
        self.end = end.min(time);
        let progress = self.advance(events);
        self.end = end;
        progress
    }

    /// Runs to the end and takes the results.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn run(mut self) -> Result<Outcome, Stopped> {
        while !self.advance(u64::MAX)?.is_finished() {}
        Ok(self.finish())
    }

    /// Runs events until the run is over or their number is `last`.
    fn run_events(&mut self, last: u64) -> Progress {
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
                        None if self.network.open_epochs(&mut self.events) => continue,
                        None => self.run_timer(last),
                    }
                    self.run_receivers_ahead();
                }
                _ => {
                    self.now = self.end;
                    return Progress::Finished;
                }
            }
            self.events_run += 1;
        }
        Progress::Underway
    }

    /// A UDP source sends, and continues until the next event elsewhere, up to this number of
    /// events: its packets bypass the event queue.
    #[inline(never)]
    fn run_udp(&mut self, flow: u32, last: u64) {
        let Self { now, end, events, network, sources, .. } = self;
        let Some(SendingEnd::Udp(source)) = sources.get_mut(flow as usize) else { return };
        loop {
            let next = source.on_timer(&mut Context { now: *now, events, network });
            let Some(time) = next else { return };
            let is_next = events.peek().is_none_or(|event| time < event.time);
            if !is_next || time > *end || self.events_run + 1 >= last {
                return source.set_timer(events, time);
            }
            run_receivers_ahead(events, network, &mut self.sinks);
            *now = time;
            self.events_run += 1;
        }
    }

    /// Takes the packet records so far, in the order of time, except for the last ones, which later
    /// records may precede. The rest comes with the next call, or with the outcome.
    pub fn take_packets(&mut self) -> Packets {
        self.network.recorder.as_mut().map_or_else(Packets::default, PacketRecorder::take_settled)
    }

    /// Start time of a flow.
    pub fn start_of(&self, flow: usize) -> Time {
        self.starts[flow]
    }

    /// When the last byte of a flow with one TCP connection was acknowledged.
    pub fn completed(&self, flow: usize) -> Option<Time> {
        self.sources.get(flow)?.tcp()?.completed()
    }

    /// The congestion control of a flow that is one TCP connection; `None` for others.
    pub fn controller(&self, flow: usize) -> Option<&Controller> {
        self.sources.get(flow)?.tcp().map(Sender::controller)
    }

    /// Lets code outside the run change the congestion control of a flow with one TCP connection,
    /// then sends what it allows. Does nothing to others.
    pub fn steer(&mut self, flow: usize, change: impl FnOnce(Time, &mut Controller)) {
        let Self { now, events, network, sources, .. } = self;
        if let Some(SendingEnd::Tcp(sender)) = sources.get_mut(flow) {
            sender.steer(&mut Context { now: *now, events, network }, change);
            self.run_receivers_ahead();
        }
    }

    #[inline(always)]
    fn run_receivers_ahead(&mut self) {
        run_receivers_ahead(&mut self.events, &mut self.network, &mut self.sinks);
    }

    /// The head of a lane is at its next stop.
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
                Some(SendingEnd::Tcp(sender)) => {
                    groups.during(packet.flow, sender, |sender| sender.on_packet(&mut context, &packet));
                }
                Some(_) => {}
                None => connections.on_packet(&mut context, &packet),
            },
            PacketKind::Reply => {
                if let Some(SendingEnd::Stack(sender)) = sources.get_mut(packet.flow as usize) {
                    sender.on_packet(&mut context, &packet);
                }
            }
            PacketKind::Data | PacketKind::Syn | PacketKind::Datagram => {
                match sinks.get_mut(packet.flow as usize) {
                    Some(ReceivingEnd::Tcp(receiver)) => receiver.on_packet(&mut context, &packet),
                    Some(ReceivingEnd::Udp(sink)) => sink.on_packet(&packet),
                    Some(ReceivingEnd::Stack(receiver)) => receiver.on_packet(&mut context, &packet),
                    Some(ReceivingEnd::Connections) => {}
                    None => connections.on_packet(&mut context, &packet),
                }
            }
            // Between routers only; a host discards it.
            PacketKind::ResourceDiscovery => network.extras.release(packet.extra),
        }
    }

    #[inline]
    fn run_timer(&mut self, last: u64) {
        let Self { now, events, network, sources, sinks, connections, groups, .. } = self;
        let Some(target) = events.pop() else { return };
        let mut context = Context { now: *now, events, network };
        match target {
            Target::Packets(_) | Target::Opening => {}
            Target::Transmitter(link) => network.on_transmitter(events, *now, link),
            Target::Router(router) => network.on_router_timer(events, *now, router),
            Target::DelayedAck(flow) => match sinks.get_mut(flow as usize) {
                Some(ReceivingEnd::Tcp(receiver)) => receiver.on_timer(&mut context),
                Some(ReceivingEnd::Stack(receiver)) => receiver.on_timer(&mut context),
                Some(_) => {}
                None => connections.on_timer(&mut context, target, flow),
            },
            Target::Retransmission(flow)
            | Target::Release(flow)
            | Target::Application(flow)
            | Target::Rack(flow) => match sources.get_mut(flow as usize) {
                Some(SendingEnd::Tcp(sender)) => {
                    groups.during(flow, sender, |sender| sender.on_timer(&mut context, target));
                }
                Some(SendingEnd::Connections(source)) => source.on_timer(&mut context, connections),
                Some(SendingEnd::Stack(sender)) => sender.on_timer(&mut context),
                Some(SendingEnd::Udp(_)) => self.run_udp(flow, last),
                None => connections.on_timer(&mut context, target, flow),
            },
        }
    }

    /// Packets sent, and packets in flight. With deliveries, drops and packets consumed by routers
    /// they must balance.
    pub fn packets_sent_and_in_flight(&self) -> (u64, u64) {
        (self.network.packets_sent(), self.network.packets_in_flight(self.now))
    }

    /// Packets consumed by the router mechanism they were addressed to.
    pub fn packets_consumed(&self) -> u64 {
        self.network.packets_consumed()
    }

    /// Out-of-line packet parts in use.
    pub fn extras_in_use(&self) -> usize {
        self.network.extras.in_use()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{DelayedAck, Flow, QueueSize, ReceiveWindow, Transport, graph, mbps, ms, s, tcp, wire};
    use crate::record::summary::Summary;
    use selfclock_congestion::RateSample;
    use selfclock_congestion::units::Bytes;

    /// One flow that measures delivery rates, for 10 s, across 10 Mbit/s and a 40 ms round trip;
    /// every sample.
    fn delivery_rates(flow: Flow) -> (Summary, Vec<(Time, RateSample)>) {
        let transport = Transport {
            receive_window: ReceiveWindow::Fixed(Bytes(60 * 1448)),
            delayed_ack: DelayedAck { every: 1, ..Transport::modern().delayed_ack },
            ..Transport::modern()
        };
        let plan = graph(&["a", "b"])
            .link("a", "b", wire(mbps(10), ms(20)).queue(QueueSize::Unlimited))
            .flow(flow.between("a", "b").transport(transport))
            .duration(s(10))
            .unrecorded()
            .plan()
            .expect("a plan");
        let mut simulation = Simulation::new(&plan);
        let mut samples: Vec<(Time, RateSample)> = Vec::new();
        if let Some(SendingEnd::Tcp(sender)) = simulation.sources.get_mut(0) {
            sender.measure_delivery_rate();
        }
        while !simulation.advance(1).expect("nothing stops it").is_finished() {
            let Some(SendingEnd::Tcp(sender)) = simulation.sources.get(0) else { continue };
            if let Some(sample) = sender.delivery_rate()
                && samples.last().is_none_or(|(_, last)| last.delivered_total != sample.delivered_total)
            {
                samples.push((simulation.now(), sample));
            }
        }
        (simulation.finish().summary, samples)
    }

    /// A window of 60 segments, 52 ms at the rate of the link, keeps it busy: every sample is the
    /// rate of the link times 1448 bytes of payload in 1500.
    #[test]
    fn delivery_rate_is_the_payload_rate_of_the_bottleneck() {
        let (summary, samples) = delivery_rates(tcp("reno"));
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

    /// An application that writes at a tenth of the rate: the samples are its rate, marked
    /// app-limited.
    #[test]
    fn delivery_rate_of_an_application_is_marked() {
        let (_, samples) = delivery_rates(tcp("reno").rate(mbps(1)));
        let steady: Vec<_> = samples.iter().filter(|(time, _)| time.seconds() > 1.0).collect();
        assert!(steady.len() > 700);
        for (time, sample) in steady {
            assert!(sample.is_app_limited, "{time:?}: {sample:?}");
            // Four or five segments in a round trip of 41 ms or more.
            assert!(sample.delivery_rate.bits_per_second() < 1_500_000, "{time:?}: {sample:?}");
        }
    }
}

//! Short connections: each is a separate TCP connection, created when it starts and freed on
//! completion. Only the next arrival of a source is in the event queue.

use std::collections::BTreeMap;

use super::measured::Delays;
use super::rtt_histogram::RttHistogram;
use super::sender::SenderTotals;
use super::{Context, Receiver, Sender};
use crate::engine::random::Purpose;
use crate::engine::{Stream, Target, Timer};
use crate::network::FlowRoutes;
use crate::packet::{Packet, PacketKind};
use crate::plan::{ConnectionsPlan, Source, TcpPlan};
use crate::record::connections::ConnectionRecord;
use selfclock_congestion::failure::Failure;
use selfclock_congestion::units::{Bytes, Duration, Time};

/// Source of a flow's connections.
#[derive(Clone, Debug)]
pub struct ConnectionSource {
    flow: u32,
    routes: FlowRoutes,
    /// Settings of the next connection.
    tcp: TcpPlan,
    plan: ConnectionsPlan,
    arrivals: Stream,
    sizes: Stream,
    control_seeds: Stream,
    stop: Time,
    /// Maximum payload that a user-defined algorithm may have in flight.
    most_in_flight: Bytes,
    timer: Timer,
}

/// Sums over connections.
#[derive(Clone, Debug, Default)]
pub struct ConnectionTotals {
    /// Totals of the senders.
    pub sent: SenderTotals,
    /// Segments delivered in order.
    pub delivered_segments: u64,
    /// Bytes delivered in order.
    pub delivered_bytes: u64,
    /// Wire bytes that arrived.
    pub arrived_bytes: u64,
    /// The part of both that arrived since the run is measured.
    pub measured: (u64, u64),
    /// One-way delays of the segments, if measured.
    pub delays: Option<Delays>,
    /// Smallest round-trip sample.
    pub minimum_rtt: Option<Duration>,
    /// Round-trip samples.
    pub rtt_samples: RttHistogram,
}

impl ConnectionTotals {
    fn add(&mut self, connection: &Connection) {
        let Connection { sender, receiver, .. } = connection;
        let totals = sender.totals();
        self.sent.sent += totals.sent;
        self.sent.retransmitted += totals.retransmitted;
        self.sent.timeouts += totals.timeouts;
        self.sent.fast_retransmits += totals.fast_retransmits;
        self.delivered_segments += receiver.delivered_segments();
        self.delivered_bytes += receiver.delivered_bytes();
        self.arrived_bytes += receiver.arrived_bytes();
        let (payload, wire) = receiver.measured();
        self.measured = (self.measured.0 + payload, self.measured.1 + wire);
        if let Some(delays) = receiver.delays() {
            self.delays.get_or_insert_default().merge(delays);
        }
        self.minimum_rtt = [self.minimum_rtt, sender.minimum_rtt()].into_iter().flatten().min();
        self.rtt_samples.merge(sender.rtt_samples());
    }
}

impl ConnectionSource {
    /// A source of connections until `stop`.
    pub fn new(
        flow: u32,
        routes: FlowRoutes,
        plan: &ConnectionsPlan,
        seed: u64,
        stop: Time,
        most_in_flight: Bytes,
    ) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, flow as usize);
        Self {
            flow,
            routes,
            tcp: plan.tcp.clone(),
            plan: plan.clone(),
            arrivals: stream(Purpose::FlowArrivals),
            sizes: stream(Purpose::ConnectionSize),
            control_seeds: stream(Purpose::FlowControl),
            stop,
            most_in_flight,
            timer: Timer::default(),
        }
    }

    /// Begins at this time: the first connection starts an interval later.
    pub fn begin(&mut self, context: &mut Context<'_>, start: Time) {
        let first = start + self.arrivals.exponential(self.plan.interval);
        self.timer.set(context.events, first, Target::Application(self.flow));
    }

    /// Handles its timer: the next connection starts.
    pub fn on_timer(&mut self, context: &mut Context<'_>, connections: &mut Connections) {
        let target = Target::Application(self.flow);
        if !self.timer.due(context.events, context.now, target) || context.now >= self.stop {
            return;
        }
        let size = self.plan.size.draw(&mut self.sizes);
        self.tcp.source = Source::Size(Bytes(size));
        connections.start(context, self, size);
        let next = context.now + self.arrivals.exponential(self.plan.interval);
        self.timer.set(context.events, next, target);
    }
}

/// A short connection in progress.
#[derive(Clone, Debug)]
struct Connection {
    sender: Sender,
    receiver: Receiver,
}

/// All short connections of a run.
#[derive(Clone, Debug)]
pub struct Connections {
    /// Connection i has the number `first + i` in packets and events; lower numbers are flows.
    first: u32,
    /// In starting order; `None` once complete.
    connections: Vec<Option<Box<Connection>>>,
    /// One for each.
    records: Vec<ConnectionRecord>,
    /// Totals of ended connections, by flow.
    totals: BTreeMap<u32, ConnectionTotals>,
    /// The first failed algorithm of an ended connection, and its flow.
    failure: Option<(u32, Failure)>,
    /// From when, and whether with one-way delays.
    measured: (Time, bool),
}

impl Connections {
    /// No connections yet, in a simulation of this number of flows that is measured from this time
    /// on, with one-way delays or without.
    pub fn new(flows: usize, measured: (Time, bool)) -> Self {
        Self {
            first: flows as u32,
            connections: Vec::new(),
            records: Vec::new(),
            totals: BTreeMap::new(),
            failure: None,
            measured,
        }
    }

    /// Starts a connection of this source with `size` bytes to send.
    fn start(&mut self, context: &mut Context<'_>, source: &mut ConnectionSource, size: u64) {
        let number = self.first + self.connections.len() as u32;
        let (start, seed) = (context.now, source.control_seeds.bits());
        let mut sender = Sender::new(number, source.routes, &source.tcp, (start, Time::NEVER), seed, None);
        sender.limit_in_flight(source.most_in_flight);
        sender.schedule_start(context, start);
        let receiver = Receiver::new(number, source.routes, &source.tcp);
        let receiver = receiver.observed(self.measured.0, self.measured.1);
        if let Some(recorder) = &mut context.network.recorder {
            recorder.on_connection_start(source.flow);
        }
        self.connections.push(Some(Box::new(Connection { sender, receiver })));
        self.records.push(ConnectionRecord::new(source.flow, start, size));
    }

    /// Handles a packet at one end of a connection. Packets after the connection's end are ignored.
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        let Some(Some(connection)) = self.connections.get_mut((packet.flow - self.first) as usize) else {
            return context.network.extras.release(packet.extra);
        };
        match packet.kind {
            PacketKind::Ack | PacketKind::SynAck => {
                connection.sender.on_packet(context, packet);
                self.end_if_complete(packet.flow);
            }
            PacketKind::Data | PacketKind::Syn | PacketKind::Datagram => {
                connection.receiver.on_packet(context, packet);
            }
            // Between routers only.
            PacketKind::ResourceDiscovery | PacketKind::Reply => {
                context.network.extras.release(packet.extra);
            }
        }
    }

    /// Handles a timer of one of its ends.
    pub fn on_timer(&mut self, context: &mut Context<'_>, target: Target, number: u32) {
        let Some(Some(connection)) = self.connections.get_mut((number - self.first) as usize) else { return };
        match target {
            Target::DelayedAck(_) => connection.receiver.on_timer(context),
            _ => connection.sender.on_timer(context, target),
        }
    }

    fn end_if_complete(&mut self, number: u32) {
        let index = (number - self.first) as usize;
        let slot = &mut self.connections[index];
        if let Some(connection) = slot.take_if(|connection| connection.sender.completed().is_some()) {
            self.note(index, &connection);
        }
    }

    /// Records a connection's result.
    fn note(&mut self, index: usize, connection: &Connection) {
        let record = &mut self.records[index];
        let sent = connection.sender.totals();
        record.completion = connection.sender.completed().map(|time| time.since(record.start));
        let delivered = connection.receiver.delivered_all_at(record.size);
        record.delivery = delivered.map(|time| time.since(record.start));
        record.retransmitted_segments = sent.retransmitted as u32;
        record.timeouts = sent.timeouts as u32;
        self.totals.entry(record.flow).or_default().add(connection);
        if let (None, Some(failure)) = (&self.failure, connection.sender.controller().failure()) {
            self.failure = Some((record.flow, failure.clone()));
        }
    }

    /// The first failed algorithm, and its flow.
    pub fn failure(&self) -> Option<(usize, &Failure)> {
        let ended = self.failure.as_ref().map(|(flow, failure)| (*flow, failure));
        let under_way = self.connections.iter().zip(&self.records).filter_map(|(connection, record)| {
            let failure = connection.as_ref()?.sender.controller().failure()?;
            Some((record.flow, failure))
        });
        let first = under_way.chain(ended).min_by_key(|(_, failure)| failure.now);
        first.map(|(flow, failure)| (flow as usize, failure))
    }

    /// At the end of the run: all records, in starting order, and their totals by flow.
    pub fn finish(mut self) -> (Vec<ConnectionRecord>, BTreeMap<u32, ConnectionTotals>) {
        for index in 0..self.connections.len() {
            if let Some(connection) = self.connections[index].take() {
                self.note(index, &connection);
            }
        }
        (self.records, self.totals)
    }
}

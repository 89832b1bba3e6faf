//! The ends of a connection of a foreign stack: datagrams from and to the network, the application,
//! the clock.

use super::Context;
use super::measured::{self, Delays, Observer};
use super::rtt_histogram::RttHistogram;
use super::udp::UDP_HEADER;
use crate::engine::{Target, Timer};
use crate::network::FlowRoutes;
use crate::packet::{Codepoint, Flags, Packet, PacketKind};
use crate::plan::{Ecn, StackPlan};
use crate::record::payload::Secrets;
use crate::record::series::{FlowSample, Rows, Sampling};
use crate::stack::{Endpoint, State};
use crate::traffic::source::Application;
use selfclock_congestion::Phase;
use selfclock_congestion::units::{Duration, Time};

/// An endpoint of a stack, or the reason for its absence.
#[derive(Debug)]
struct Owned(Result<Box<dyn Endpoint>, String>);

impl Clone for Owned {
    fn clone(&self) -> Self {
        // A stack cannot be copied.
        Self(Err("a run with a connection of a foreign stack cannot be copied".to_owned()))
    }
}

/// Datagrams and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Datagrams.
    pub datagrams: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
}

impl Count {
    fn add(&mut self, packet: &Packet) {
        self.datagrams += 1;
        self.wire_bytes += u64::from(packet.size);
    }
}

/// A failed connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionFailed {
    /// When an end detected it.
    pub time: Time,
    /// The stack's reason.
    pub reason: String,
}

/// The common part of both ends: a stack, an output, a timer.
#[derive(Clone, Debug)]
struct End {
    endpoint: Owned,
    flow: u32,
    route: u32,
    kind: PacketKind,
    target: Target,
    /// Whether datagrams carry the stack's ECN codepoint.
    ecn: bool,
    timer: Timer,
    /// The datagram under construction; kept for its capacity.
    buffer: Vec<u8>,
    sent: Count,
    arrived: Count,
    /// Payload of all datagrams sent: their sequence number in records.
    sequence: u64,
    failed: Option<ConnectionFailed>,
}

impl End {
    fn receive(&mut self, context: &mut Context<'_>, packet: &Packet) {
        self.arrived.add(packet);
        if let Ok(endpoint) = &mut self.endpoint.0 {
            let datagram = context.network.extras.datagram(packet.extra);
            endpoint.on_datagram(context.now, datagram, packet.flags.codepoint());
        }
        context.network.extras.release(packet.extra);
    }

    /// Sends everything permitted, and sets the timer to the next action of stack or application.
    fn send(&mut self, context: &mut Context<'_>, change: Time) {
        loop {
            while let Some(codepoint) = self.poll(context.now) {
                let packet = self.packet(context, codepoint);
                context.network.send_datagram(context.events, context.now, packet, &self.buffer);
            }
            let Ok(endpoint) = &mut self.endpoint.0 else { return };
            if self.failed.is_none()
                && let Some(reason) = endpoint.failure()
            {
                self.failed = Some(ConnectionFailed { time: context.now, reason });
            }
            // The application of a failed connection does nothing more.
            let change = if self.failed.is_none() { change } else { Time::NEVER };
            let next = endpoint.next_timeout().unwrap_or(Time::NEVER);
            if next > context.now {
                let next = next.min(change);
                if next == Time::NEVER {
                    self.timer.cancel();
                } else if next != self.timer.deadline() {
                    self.timer.set(context.events, next, self.target);
                }
                return;
            }
            endpoint.on_timer(context.now);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Codepoint> {
        self.buffer.clear();
        self.endpoint.0.as_mut().ok()?.poll_datagram(now, &mut self.buffer)
    }

    fn packet(&mut self, context: &mut Context<'_>, codepoint: Codepoint) -> Packet {
        let payload = self.buffer.len() as u32;
        let packet = Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: self.sequence,
            sent: context.now,
            echo: Time::NEVER,
            flow: self.flow,
            hop: self.route,
            payload,
            size: (payload + UDP_HEADER) as u16,
            kind: self.kind,
            flags: match codepoint {
                _ if !self.ecn => Flags::NONE,
                Codepoint::Ect0 => Flags::ECT_0,
                Codepoint::Ect1 => Flags::ECT_1,
                Codepoint::NotEct | Codepoint::Ce => Flags::NONE,
            },
            extra: context.network.extras.put_datagram(&self.buffer),
            number: 0,
        };
        self.sequence += u64::from(payload);
        self.sent.add(&packet);
        packet
    }

    /// Handles a timer entry; true if it is due.
    fn is_due(&mut self, context: &mut Context<'_>) -> bool {
        self.timer.due(context.events, context.now, self.target)
    }

    fn state(&self) -> State {
        self.endpoint.0.as_ref().map_or_else(|_| State::default(), |endpoint| endpoint.state())
    }
}

/// The ends of a connection of this plan, whose application begins and stops at these times.
pub fn ends(
    plan: &StackPlan,
    (flow, routes): (u32, FlowRoutes),
    (start, stop): (Time, Time),
    seed: u64,
    sampling: Option<Sampling>,
) -> (StackSender, StackReceiver) {
    let (sender, receiver) = match plan.stack.connect(&plan.setup(seed, start)) {
        Ok((sender, receiver)) => (Ok(sender), Ok(receiver)),
        Err(reason) => (Err(reason.clone()), Err(reason)),
    };
    let ecn = plan.ecn != Ecn::Off;
    let end = |endpoint, route, kind, target| End {
        endpoint: Owned(endpoint),
        flow,
        route,
        kind,
        target,
        ecn,
        timer: Timer::default(),
        buffer: Vec::new(),
        sent: Count::default(),
        arrived: Count::default(),
        sequence: 0,
        failed: None,
    };
    let sender = StackSender {
        end: end(sender, routes.forward, PacketKind::Datagram, Target::Application(flow)),
        application: Application::new(&plan.source, start, stop, plan.segment),
        written: 0,
        has_finished: false,
        completed: None,
        round_trips: RttHistogram::default(),
        next_sample: sampling.map_or(Time::NEVER, |sampling| Time::ZERO + sampling.interval),
        interval: sampling.map_or(Duration::ZERO, |sampling| sampling.interval),
    };
    let receiver = StackReceiver {
        end: end(receiver, routes.reverse, PacketKind::Reply, Target::DelayedAck(flow)),
        observer: None,
    };
    (sender, receiver)
}

/// The sending end of a connection of a foreign stack.
#[derive(Clone, Debug)]
pub struct StackSender {
    end: End,
    application: Application,
    written: u64,
    has_finished: bool,
    completed: Option<Time>,
    round_trips: RttHistogram,
    /// When the next sample is due.
    next_sample: Time,
    interval: Duration,
}

impl StackSender {
    /// Sets the timer that begins the connection.
    pub fn schedule_start(&mut self, context: &mut Context<'_>, start: Time) {
        self.end.timer.set(context.events, start, self.end.target);
    }

    /// A datagram has arrived.
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        self.sample_before(context);
        self.end.receive(context, packet);
        if let Ok(endpoint) = &mut self.end.endpoint.0
            && let Some(round_trip) = endpoint.take_round_trip()
        {
            self.round_trips.add(round_trip);
        }
        self.go_on(context);
    }

    /// An entry of the timer has come up.
    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        if self.end.is_due(context) {
            self.sample_before(context);
            self.go_on(context);
        }
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        self.write(now);
        self.end.send(context, self.application.next_change(now));
        // Departures may have made room.
        if self.completed.is_none() && self.has_finished && self.end.state().complete {
            self.completed = Some(now);
        }
    }

    /// Writes the application's data, as far as the stack accepts it.
    fn write(&mut self, now: Time) {
        let Ok(endpoint) = &mut self.end.endpoint.0 else { return };
        self.application.advance(now, self.written);
        let produced = self.application.produced(now, self.written);
        if produced > self.written {
            self.written += endpoint.write(produced - self.written);
        }
        if !self.has_finished && self.written >= produced && self.application.is_finished(now) {
            endpoint.finish();
            self.has_finished = true;
        }
    }

    /// When everything was acknowledged.
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }

    /// Datagrams sent.
    pub fn sent(&self) -> Count {
        self.end.sent
    }

    /// State of its stack.
    pub fn state(&self) -> State {
        self.end.state()
    }

    /// Time and reason of the connection's failure.
    pub fn failed(&self) -> Option<&ConnectionFailed> {
        self.end.failed.as_ref()
    }

    /// Why this end has no stack.
    pub fn missing(&self) -> Option<&str> {
        self.end.endpoint.0.as_ref().err().map(String::as_str)
    }

    /// Round-trip times measured.
    pub fn round_trips(&self) -> &RttHistogram {
        &self.round_trips
    }

    /// Takes due samples; the state has not changed since.
    fn sample_before(&mut self, context: &mut Context<'_>) {
        if self.next_sample < context.now {
            self.take_samples(context.now, &mut context.network.samples.flows);
        }
    }

    /// Takes the remaining samples up to the end of the simulation.
    pub fn finish(&mut self, end: Time, samples: &mut Rows<FlowSample>) {
        if self.next_sample <= end {
            self.take_samples(end + Duration::from_picoseconds(1), samples);
        }
    }

    fn take_samples(&mut self, now: Time, samples: &mut Rows<FlowSample>) {
        let state = self.end.state();
        let sample = FlowSample {
            cwnd_bytes: state.window as f64,
            ssthresh_bytes: match state.ssthresh {
                None | Some(u64::MAX) => f64::INFINITY,
                Some(bytes) => bytes as f64,
            },
            in_flight_bytes: state.in_flight,
            pacing_bps: state.pacing_bps.unwrap_or(f64::NAN),
            srtt_s: state.smoothed_rtt.map_or(f64::NAN, Duration::seconds),
            sent_bytes: state.sent,
            acknowledged_bytes: state.read,
            delivered_bytes: state.read,
            phase: match state.ssthresh {
                Some(threshold) if state.window < threshold => Phase::SlowStart,
                _ => Phase::CongestionAvoidance,
            },
            ..FlowSample::UNKNOWN
        };
        let place = samples.place(self.end.flow as usize);
        while self.next_sample < now {
            samples.put(self.next_sample, place, sample);
            self.next_sample += self.interval;
        }
    }
}

/// The receiving end of a connection of a foreign stack.
#[derive(Clone, Debug)]
pub struct StackReceiver {
    end: End,
    /// If the run is not measured from its beginning, or with delays.
    observer: Option<Box<Observer>>,
}

impl StackReceiver {
    /// The same, measured from this time of the run on, with one-way delays or without.
    pub fn observed(self, from: Time, delays: bool) -> Self {
        Self { observer: Observer::new(from, delays), ..self }
    }

    /// One-way delays of its datagrams, if measured.
    pub fn delays(&self) -> Option<&Delays> {
        self.observer.as_ref()?.delays()
    }

    /// Bytes that the application has read, and wire bytes that arrived, since the run is measured.
    pub fn measured(&self) -> (u64, u64) {
        measured::since(self.observer.as_deref(), (self.read(), self.arrived().wire_bytes))
    }

    /// A datagram has arrived.
    pub fn on_packet(&mut self, context: &mut Context<'_>, packet: &Packet) {
        if self.observer.as_ref().is_some_and(|observer| observer.is_attentive()) {
            let (read, wire) = (self.read(), self.arrived().wire_bytes);
            if let Some(observer) = &mut self.observer {
                observer.note((packet.sent, context.now), read, wire);
            }
        }
        self.end.receive(context, packet);
        self.take_secrets(context);
        self.end.send(context, Time::NEVER);
    }

    /// An entry of the timer has come up.
    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        if self.end.is_due(context) {
            self.end.send(context, Time::NEVER);
        }
    }

    /// The receiver learns each secret before anything protected by it is sent.
    fn take_secrets(&mut self, context: &mut Context<'_>) {
        if let Some(recorder) = &mut context.network.recorder
            && recorder.keeps_payload()
            && let Ok(endpoint) = &mut self.end.endpoint.0
            && let Some(key_log) = endpoint.take_secrets()
        {
            recorder.add_secrets(Secrets { time: context.now, flow: self.end.flow, key_log });
        }
    }

    /// Time and reason of the connection's failure.
    pub fn failed(&self) -> Option<&ConnectionFailed> {
        self.end.failed.as_ref()
    }

    /// Datagrams that arrived.
    pub fn arrived(&self) -> Count {
        self.end.arrived
    }

    /// Bytes that the application has read, in order.
    pub fn read(&self) -> u64 {
        self.end.state().read
    }
}

//! UDP endpoints: a source without congestion control, and a counting sink.

use super::Context;
use super::measured::{self, Delays, Observer};
use crate::engine::random::Purpose;
use crate::engine::{EventQueue, Stream, Target};
use crate::packet::{Flags, NO_EXTRA, Packet, PacketKind};
use crate::plan::{Arrivals, UdpPlan};
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// IP and UDP header bytes.
pub const UDP_HEADER: u32 = 28;

/// One of the packet sizes.
#[derive(Clone, Copy, Debug)]
struct SizeInMix {
    size: u32,
    /// Cumulative fraction of packets up to this entry of the list.
    up_to: f64,
    /// Transmission interval of the packet at the current rate.
    interval: Duration,
}

/// A UDP source.
#[derive(Clone, Debug)]
pub struct UdpSource {
    flow: u32,
    /// The last packet sent: the next one changes only some fields. Boxed, because its cache-line
    /// alignment would apply to all senders.
    packet: Box<Packet>,
    packets: Vec<SizeInMix>,
    /// Mean time between packets at the current rate; zero while silent.
    interval: Duration,
    rate: Rate,
    /// Future rates, and the number already reached.
    rates: Vec<(Time, Rate)>,
    changes: usize,
    /// Until then the rate is constant and not zero.
    steady_until: Time,
    arrivals: Arrivals,
    stream: Stream,
    sizes: Stream,
    stop: Time,
    sent: u64,
    sent_bytes: u64,
}

impl UdpSource {
    /// A source that sends from `start` to before `stop`.
    pub fn new(flow: u32, route: u32, plan: &UdpPlan, seed: u64, stop: Time) -> Self {
        let all: f64 = plan.packets.iter().map(|&(_, weight)| weight).sum();
        let mut up_to = 0.0;
        let packets = plan.packets.iter().map(|&(size, weight)| {
            up_to += weight / all;
            SizeInMix { size: size.get() as u32, up_to, interval: Duration::ZERO }
        });
        let mut source = Self {
            flow,
            packet: Box::new(Packet {
                arrival: Time::ZERO,
                order: 0,
                sequence: 0,
                sent: Time::ZERO,
                echo: Time::NEVER,
                flow,
                hop: route,
                payload: 0,
                size: 0,
                kind: PacketKind::Datagram,
                flags: Flags::NONE.with_codepoint(plan.ecn),
                extra: NO_EXTRA,
                number: 0,
            }),
            packets: packets.collect(),
            interval: Duration::ZERO,
            rate: Rate::default(),
            rates: plan.rates.clone(),
            changes: 0,
            steady_until: Time::ZERO,
            arrivals: plan.arrivals,
            stream: Stream::new(seed, Purpose::FlowArrivals, flow as usize),
            sizes: Stream::new(seed, Purpose::PacketSize, flow as usize),
            stop,
            sent: 0,
            sent_bytes: 0,
        };
        source.change_rate();
        source
    }

    /// Switches to the next rate.
    fn change_rate(&mut self) {
        self.rate = self.rates.get(self.changes).map_or(Rate::default(), |&(_, rate)| rate);
        self.changes += 1;
        let (mut mean, mut before) = (0.0, 0.0);
        for kind in &mut self.packets {
            kind.interval = if self.rate == Rate::default() {
                Duration::ZERO
            } else {
                self.rate.transmission_time(Bytes(kind.size.into()))
            };
            mean += (kind.up_to - before) * kind.interval.picoseconds() as f64;
            before = kind.up_to;
        }
        self.interval = match self.packets[..] {
            [one] => one.interval,
            _ => Duration::from_picoseconds(mean as u64),
        };
        self.steady_until = match self.rates.get(self.changes) {
            _ if self.rate == Rate::default() => Time::ZERO,
            None => Time::NEVER,
            Some(&(change, _)) => change,
        };
    }

    /// Departure of a packet due `span` after `now` at the current rate, across changes: the number
    /// of bits until then is independent of the rate. [`Time::NEVER`] if the rate stays zero.
    #[inline]
    fn after(&mut self, now: Time, gap: Duration) -> Time {
        let next = now + gap;
        if next < self.steady_until { next } else { self.after_changes(now, gap) }
    }

    fn after_changes(&mut self, now: Time, gap: Duration) -> Time {
        let (mut from, mut gap) = (now, gap);
        while let Some(&(change, next)) = self.rates.get(self.changes)
            && (self.rate == Rate::default() || from + gap > change)
        {
            let change = change.max(from);
            let old = self.rate;
            let left = (from + gap).since(change);
            self.change_rate();
            gap = if old == Rate::default() {
                Duration::ZERO
            } else {
                left.scaled(old.bits_per_second(), next.bits_per_second())
            };
            from = change;
        }
        if self.rate == Rate::default() { Time::NEVER } else { from + gap }
    }

    /// Packets and payload bytes sent so far.
    pub fn sent(&self) -> (u64, u64) {
        (self.sent, self.sent_bytes)
    }

    /// Begins at this time. A Poisson source waits an interval first, a constant one sends at once.
    pub fn begin(&mut self, context: &mut Context<'_>, start: Time) {
        // The initial rate is the last one set by then.
        while self.rates.get(self.changes).is_some_and(|&(change, _)| change <= start) {
            self.change_rate();
        }
        let gap = match self.arrivals {
            Arrivals::Constant => Duration::ZERO,
            Arrivals::Poisson => self.stream.exponential(self.interval),
        };
        let first = self.after(start, gap);
        if first != Time::NEVER {
            self.set_timer(context.events, first);
        }
    }

    /// Sends the next packet at this time, as an event of its own.
    #[inline(always)]
    pub fn set_timer(&self, events: &mut EventQueue, next: Time) {
        events.push_here(next, Target::Application(self.flow));
    }

    /// Sends a packet that is due. Returns the departure of the next one, if any: the timer is not
    /// set.
    #[inline]
    pub fn on_timer(&mut self, context: &mut Context<'_>) -> Option<Time> {
        if context.now >= self.stop {
            return None;
        }
        let kind = match self.packets[..] {
            [one] => one,
            _ => {
                let drawn = self.sizes.uniform();
                // The last one if the sum of the weights has been rounded to less than one.
                let last = self.packets.len() - 1;
                self.packets[self.packets.iter().position(|kind| drawn < kind.up_to).unwrap_or(last)]
            }
        };
        let payload = kind.size.saturating_sub(UDP_HEADER);
        let packet = &mut *self.packet;
        packet.sequence = self.sent_bytes;
        packet.sent = context.now;
        packet.payload = payload;
        packet.size = kind.size as u16;
        self.sent += 1;
        self.sent_bytes += u64::from(payload);
        context.network.send_inline(context.events, context.now, packet);
        let gap = match self.arrivals {
            Arrivals::Constant => kind.interval,
            Arrivals::Poisson => self.stream.exponential(self.interval),
        };
        let next = self.after(context.now, gap);
        (next != Time::NEVER).then_some(next)
    }
}

/// A UDP sink.
#[derive(Clone, Debug, Default)]
pub struct UdpSink {
    /// Packets that arrived.
    pub packets: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
    observer: Option<Box<Observer>>,
}

impl UdpSink {
    /// A sink of a run that is measured from this time on, with one-way delays or without.
    pub fn new(measure_from: Time, delays: bool) -> Self {
        Self { observer: Observer::new(measure_from, delays), ..Self::default() }
    }

    /// One-way delays, if measured.
    pub fn delays(&self) -> Option<&Delays> {
        self.observer.as_ref()?.delays()
    }

    /// Payload and wire bytes since the run is measured.
    pub fn measured(&self) -> (u64, u64) {
        measured::since(self.observer.as_deref(), (self.payload_bytes, self.wire_bytes))
    }

    /// A datagram has arrived.
    #[inline]
    pub fn on_packet(&mut self, packet: &Packet) {
        if let Some(observer) = &mut self.observer {
            observer.note((packet.sent, packet.arrival), self.payload_bytes, self.wire_bytes);
        }
        self.packets += 1;
        self.payload_bytes += u64::from(packet.payload);
        self.wire_bytes += u64::from(packet.size);
    }
}

//! UDP endpoints: a source that knows no congestion, and a sink that counts.

use super::Context;
use crate::engine::random::Purpose;
use crate::engine::{Stream, Target, Timer};
use crate::network::packet::{Flags, NO_EXTRA, Packet};
use crate::plan::{Arrivals, UdpPlan};
use crate::record::packets::PacketKind;
use selfclock_congestion::units::{Duration, Time};

/// IP and UDP header bytes.
pub const UDP_HEADER: u32 = 28;

/// A UDP source.
#[derive(Clone, Debug)]
pub struct UdpSource {
    flow: u32,
    route: u32,
    size: u32,
    interval: Duration,
    arrivals: Arrivals,
    stream: Stream,
    stop: Time,
    timer: Timer,
    sent: u64,
    sent_bytes: u64,
}

impl UdpSource {
    /// A source that sends from `start` to before `stop`.
    pub fn new(flow: u32, route: u32, plan: &UdpPlan, seed: u64, stop: Time) -> Self {
        Self {
            flow,
            route,
            size: plan.packet.get() as u32,
            interval: plan.rate.transmission_time(plan.packet),
            arrivals: plan.arrivals,
            stream: Stream::new(seed, Purpose::FlowArrivals, flow as usize),
            stop,
            timer: Timer::default(),
            sent: 0,
            sent_bytes: 0,
        }
    }

    /// Packets and payload bytes sent so far.
    pub fn sent(&self) -> (u64, u64) {
        (self.sent, self.sent_bytes)
    }

    /// Begins at this time. A Poisson source waits an interval first, a constant one sends at once.
    pub fn begin(&mut self, context: &mut Context<'_>, start: Time) {
        let first = match self.arrivals {
            Arrivals::Constant => start,
            Arrivals::Poisson => start + self.stream.exponential(self.interval),
        };
        self.timer.set(context.events, first, Target::Application(self.flow));
    }

    /// An entry of its timer has come up.
    #[inline]
    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        let target = Target::Application(self.flow);
        if !self.timer.due(context.events, context.now, target) || context.now >= self.stop {
            return;
        }
        let payload = self.size.saturating_sub(UDP_HEADER);
        let packet = Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: self.sent_bytes,
            sent: context.now,
            echo: Time::NEVER,
            flow: self.flow,
            hop: self.route,
            payload,
            size: self.size as u16,
            kind: PacketKind::Datagram,
            flags: Flags::NONE,
            extra: NO_EXTRA,
            number: 0,
        };
        self.sent += 1;
        self.sent_bytes += u64::from(payload);
        context.network.send(context.events, context.now, packet);
        let wait = match self.arrivals {
            Arrivals::Constant => self.interval,
            Arrivals::Poisson => self.stream.exponential(self.interval),
        };
        self.timer.set(context.events, context.now + wait, target);
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
}

impl UdpSink {
    /// A datagram has arrived.
    #[inline]
    pub fn on_packet(&mut self, packet: &Packet) {
        self.packets += 1;
        self.payload_bytes += u64::from(packet.payload);
        self.wire_bytes += u64::from(packet.size);
    }
}

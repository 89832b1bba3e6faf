//! A router that forwards a number of packets per second, whatever their size.

use std::collections::VecDeque;

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::Timer;
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::parameter::{Kind, ParameterType, Value};
use selfclock_congestion::units::Duration;

/// Packets that may wait, in addition to the one in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub u64);

impl ParameterType for Limit {
    const KIND: Kind = Kind::OrWord(&Kind::Packets, "unlimited");
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Packets(packets) => Some(Self(packets)),
            Value::Choice(_) => Some(Self(u64::MAX)),
            _ => None,
        }
    }
}

selfclock_congestion::parameters! {
    /// Settings of a forwarding limit.
    Parameters {
        /// Packets that it forwards in a second.
        packets_per_second: f64 = 1.0, shown "", unit "packets/s", range (0.001, 1e12), source "";
        /// Packets that wait at most.
        limit: Limit = Limit(u64::MAX), shown "unlimited", unit "packets", range (0.0, f64::INFINITY), source "our choice";
    }
}
settings!(
    Parameters,
    "forwarding-limit",
    "Forwards a number of packets per second, whatever their size: all that enter its links wait in one queue.",
    "our choice"
);

/// One processor for all its links: a FIFO queue with a constant service time per packet.
#[derive(Clone, Debug)]
pub(crate) struct ForwardingLimit {
    /// Service time of a packet.
    service: Duration,
    /// Maximum number of waiting packets, excluding the one in service.
    limit: u64,
    /// The first is in service.
    waiting: VecDeque<Packet>,
    timer: Timer,
}

impl Mechanism for ForwardingLimit {
    type Settings = Parameters;

    /// Idle.
    fn new(Parameters { packets_per_second, limit }: Parameters, _: &RouterSite<'_>) -> Self {
        let service = Duration::from_seconds(1.0 / packets_per_second);
        Self { service, limit: limit.0, waiting: VecDeque::new(), timer: Timer::default() }
    }

    /// Queues the packet.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        if self.waiting.is_empty() {
            station.set_timer(&mut self.timer, station.now + self.service);
        } else if self.waiting.len() as u64 > self.limit {
            return Fate::Drop;
        }
        self.waiting.push_back(*packet);
        Fate::Taken
    }

    /// A packet has been forwarded.
    fn on_timer(&mut self, station: &mut Station<'_>) {
        if !station.timer_is_due(&mut self.timer) {
            return;
        }
        if let Some(packet) = self.waiting.pop_front() {
            station.release(packet);
        }
        if !self.waiting.is_empty() {
            station.set_timer(&mut self.timer, station.now + self.service);
        }
    }

    fn held(&self) -> u64 {
        self.waiting.len() as u64
    }
}

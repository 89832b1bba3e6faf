//! A router that forwards so many packets per second, whatever their size.

use std::collections::VecDeque;

use super::{Fate, Station};
use crate::engine::Timer;
use crate::packet::Packet;
use crate::plan::ForwardingLimitPlan;

/// One processor for all the links before which it stands: a FIFO queue with a constant service time per packet.
#[derive(Clone, Debug)]
pub struct ForwardingLimit {
    plan: ForwardingLimitPlan,
    /// The first is in service.
    waiting: VecDeque<Packet>,
    timer: Timer,
}

impl ForwardingLimit {
    /// Idle.
    pub fn new(plan: ForwardingLimitPlan) -> Self {
        Self { plan, waiting: VecDeque::new(), timer: Timer::default() }
    }

    /// The packet waits for its turn.
    pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &Packet) -> Fate {
        if self.waiting.is_empty() {
            station.set_timer(&mut self.timer, station.now + self.plan.service);
        } else if self.waiting.len() as u64 > self.plan.limit {
            return Fate::Drop;
        }
        self.waiting.push_back(*packet);
        Fate::Taken
    }

    /// A packet has been forwarded.
    pub fn on_timer(&mut self, station: &mut Station<'_>) {
        if !station.timer_is_due(&mut self.timer) {
            return;
        }
        if let Some(packet) = self.waiting.pop_front() {
            station.release(packet);
        }
        if !self.waiting.is_empty() {
            station.set_timer(&mut self.timer, station.now + self.plan.service);
        }
    }

    /// Packets that wait.
    pub fn held(&self) -> u64 {
        self.waiting.len() as u64
    }
}

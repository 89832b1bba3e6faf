//! Reordering: some packets are held for a time, and those behind them overtake them, as on paths whose packets take
//! several ways (RFC 4737).

use std::collections::VecDeque;

use super::{Fate, Station};
use crate::engine::{Stream, Timer};
use crate::packet::Packet;
use crate::plan::ReorderingPlan;
use selfclock_congestion::units::Time;

/// Holds packets at random, all for the same time.
#[derive(Clone, Debug)]
pub struct Reordering {
    plan: ReorderingPlan,
    stream: Stream,
    /// What is held, in the order of the time at which it goes on.
    held: VecDeque<(Time, Packet)>,
    timer: Timer,
}

impl Reordering {
    /// With a stream of random numbers of its own; nothing is held.
    pub fn new(plan: ReorderingPlan, stream: Stream) -> Self {
        Self { plan, stream, held: VecDeque::new(), timer: Timer::default() }
    }

    /// Holds the packet with the probability.
    pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &Packet) -> Fate {
        if !self.stream.happens(self.plan.probability) {
            return Fate::Pass;
        }
        self.held.push_back((station.now + self.plan.delay, *packet));
        self.set_timer(station);
        Fate::Taken
    }

    fn set_timer(&mut self, station: &mut Station<'_>) {
        if let Some((deadline, _)) = self.held.front() {
            station.set_timer(&mut self.timer, *deadline);
        }
    }

    /// What was held for long enough goes on.
    pub fn on_timer(&mut self, station: &mut Station<'_>) {
        if !station.timer_is_due(&mut self.timer) {
            return;
        }
        while let Some(&(deadline, packet)) = self.held.front()
            && deadline <= station.now
        {
            self.held.pop_front();
            station.release(packet);
        }
        self.set_timer(station);
    }

    /// Packets that are held.
    pub fn held(&self) -> u64 {
        self.held.len() as u64
    }
}

//! Token-bucket policer: drops what exceeds a rate and a burst, and holds nothing.

use super::{Fate, Station};
use crate::packet::Packet;
use crate::plan::PolicerPlan;
use selfclock_congestion::units::{Bytes, Time};

/// A bucket of tokens before each of its links. A token is the time that a byte takes at the policed rate, so the bucket
/// is a time: that at which it would be full (the virtual scheduling form of the leaky bucket).
#[derive(Clone, Debug)]
pub struct Policer {
    plan: PolicerPlan,
    /// For each link: when the bucket will be full.
    full_at: Vec<Time>,
}

impl Policer {
    /// Full buckets.
    pub fn new(plan: PolicerPlan, links: usize) -> Self {
        Self { plan, full_at: vec![Time::ZERO; links] }
    }

    /// Drops the packet if its bytes are not in the bucket.
    pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &Packet) -> Fate {
        let PolicerPlan { rate, burst } = self.plan;
        let full_at = &mut self.full_at[station.link];
        let after = (*full_at).max(station.now) + rate.transmission_time(Bytes(packet.size.into()));
        if after.since(station.now) > rate.transmission_time(burst) {
            return Fate::Drop;
        }
        *full_at = after;
        Fate::Pass
    }
}

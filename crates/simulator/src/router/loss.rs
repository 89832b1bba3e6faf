//! Loss of chosen kinds of packets: what happens to a mechanism when its own packets fail, and those alone.

use super::{Fate, Station};
use crate::engine::Stream;
use crate::network::Packet;
use crate::plan::LossOfKindsPlan;

/// Drops packets of some kinds at random.
#[derive(Clone, Debug)]
pub struct LossOfKinds {
    plan: LossOfKindsPlan,
    stream: Stream,
}

impl LossOfKinds {
    /// With a stream of random numbers of its own.
    pub fn new(plan: LossOfKindsPlan, stream: Stream) -> Self {
        Self { plan, stream }
    }

    /// Drops the packet, if it is one of the kinds, with the probability.
    pub fn on_packet(&mut self, _station: &mut Station<'_>, packet: &Packet) -> Fate {
        if self.plan.kinds.contains(&packet.kind) && self.stream.happens(self.plan.probability) {
            return Fate::Drop;
        }
        Fate::Pass
    }
}

//! Loss of chosen kinds of packets: what happens to a mechanism when its own packets fail, and those alone; outages, and the
//! regular losses that RFC 5166 measures a response with.

use super::{Fate, Station};
use crate::engine::Stream;
use crate::packet::Packet;
use crate::plan::{LossOfKindsPlan, LossPattern};
use selfclock_congestion::units::Time;

/// Drops packets of some kinds.
#[derive(Clone, Debug)]
pub struct LossOfKinds {
    plan: LossOfKindsPlan,
    stream: Stream,
    /// Packets that have passed since the last loss.
    passed: u64,
    /// Nothing is lost before this.
    quiet_until: Time,
}

impl LossOfKinds {
    /// With a stream of random numbers of its own.
    pub fn new(plan: LossOfKindsPlan, stream: Stream) -> Self {
        Self { plan, stream, passed: 0, quiet_until: Time::ZERO }
    }

    /// Drops the packet if it is one of the kinds, in its time, and its turn.
    pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &Packet) -> Fate {
        let now = station.now;
        if self.plan.kinds.contains(&packet.kind)
            && (self.plan.from..self.plan.until).contains(&now)
            && self.is_its_turn(now)
        {
            return Fate::Drop;
        }
        Fate::Pass
    }

    fn is_its_turn(&mut self, now: Time) -> bool {
        match self.plan.pattern {
            LossPattern::Random(probability) => self.stream.happens(probability),
            LossPattern::Every(packets) => {
                self.passed += 1;
                let lost = self.passed == packets;
                if lost {
                    self.passed = 0;
                }
                lost
            }
            LossPattern::Spaced(spacing) => {
                let lost = now >= self.quiet_until;
                if lost {
                    self.quiet_until = now + spacing;
                }
                lost
            }
        }
    }
}

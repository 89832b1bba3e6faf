//! Token-bucket policer: drops traffic beyond a rate and a burst, and holds nothing.

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::parameter::ABOVE_ZERO;
use selfclock_congestion::units::{Bytes, Rate, Time};

selfclock_congestion::parameters! {
    /// Settings of a policer.
    Parameters {
        /// Rate at which the bucket fills.
        rate: Rate = Rate::from_bits_per_second(1), shown "", unit "bit/s", range ABOVE_ZERO, source "";
        /// Bytes that the bucket holds: at least one packet, or nothing gets through.
        burst: Bytes = Bytes(1), shown "", unit "B", range ABOVE_ZERO, source "";
    }
}
settings!(
    Parameters,
    "policer",
    "Token bucket before each of its links: a packet that finds too few tokens is dropped, and nothing waits.",
    "RFC 2475, section 2.3.3.4"
);

/// A bucket of tokens before each of its links. A token is the time that a byte takes at the
/// policed rate, so the bucket is a time: when it will be full (the virtual scheduling form of the
/// leaky bucket).
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    settings: Parameters,
    /// When each link's bucket will be full.
    full_at: Vec<Time>,
}

impl Mechanism for Policer {
    type Settings = Parameters;

    /// Full buckets.
    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        Self { settings, full_at: vec![Time::ZERO; site.layout.links.len()] }
    }

    /// Drops the packet if the bucket has too few tokens.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let Parameters { rate, burst } = self.settings;
        let full_at = &mut self.full_at[station.link];
        let after = (*full_at).max(station.now) + rate.transmission_time(Bytes(packet.size.into()));
        if after.since(station.now) > rate.transmission_time(burst) {
            return Fate::Drop;
        }
        *full_at = after;
        Fate::Pass
    }

    fn note(settings: &Parameters, largest_packet: Option<Bytes>) -> Option<&'static str> {
        let is_small = largest_packet.is_some_and(|packet| settings.burst < packet);
        is_small.then_some("the burst of its policer is smaller than a packet: none passes")
    }
}

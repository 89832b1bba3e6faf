//! A router that modifies what it should only forward: windows, rates, options.

use std::collections::BTreeMap;

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::Stream;
use crate::named::settings;
use crate::packet::{Packet, PacketKind};
use selfclock_congestion::PeerOption;
use selfclock_congestion::parameter::ABOVE_ZERO;
use selfclock_congestion::units::{Bytes, Rate};

selfclock_congestion::choice! {
    /// Treatment of the options of an algorithm.
    OptionTampering {
        /// They pass as they are.
        None = "none",
        /// The last one comes again on each packet that has none.
        Duplicate = "duplicate",
        /// A packet carries that of the one before.
        Swap = "swap",
    }
}

selfclock_congestion::parameters! {
    /// Settings of a router that changes packets.
    Parameters {
        /// Probability that a packet is changed.
        probability: f64 = 1.0, shown "1", unit "", range (0.0, 1.0), source "our choice";
        /// Window that acknowledgements then advertise; "0 B" closes it.
        receive_window: Option<Bytes> = None, shown "as it is", unit "B", range (0.0, f64::INFINITY), source "our choice";
        /// Rate that resource discovery packets of FICCRD on their way back then allow.
        allowed_rate: Option<Rate> = None, shown "as it is", unit "bit/s", range ABOVE_ZERO, source "our choice";
        /// Options by which an algorithm speaks to its peer: the last one comes again on each
        /// packet that has none, or a packet carries that of the one before.
        options: OptionTampering = OptionTampering::None, shown "none", unit "", range (0.0, 0.0), source "our choice";
    }
}
settings!(
    Parameters,
    "tampering",
    "Changes what a router should only forward. Encrypted flows and UDP are out of its reach.",
    "our choice, for tests of faults"
);

/// Modifies packets at random.
#[derive(Clone, Debug)]
pub(crate) struct Tampering {
    settings: Parameters,
    stream: Stream,
    /// Whether each flow's transport header is unreadable.
    encrypted: Vec<bool>,
    /// The last option, by flow and kind of packet.
    options: BTreeMap<(u32, u8), PeerOption>,
}

impl Mechanism for Tampering {
    type Settings = Parameters;

    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        let encrypted =
            site.layout.flows.iter().map(|flow| flow.tcp.is_none_or(|tcp| tcp.encrypted)).collect();
        Self { settings, stream: site.stream(), encrypted, options: BTreeMap::new() }
    }

    /// Modifies the packet with the given probability, and forwards it.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        if !self.stream.happens(self.settings.probability) {
            return Fate::Pass;
        }
        if packet.kind == PacketKind::ResourceDiscovery {
            if let Some(rate) = self.settings.allowed_rate
                && let Some(resource) = &mut station.network.extras().of(packet).resource
                && resource.backward
            {
                resource.allowed = rate.bits_per_second() as f64;
            }
            return Fate::Pass;
        }
        if self.encrypted[station.network.flow_at(packet.hop)] {
            return Fate::Pass;
        }
        if let Some(window) = self.settings.receive_window
            && packet.kind == PacketKind::Ack
        {
            station.network.extras().of(packet).receive_window = Some(window.get());
        }
        if self.settings.options != OptionTampering::None {
            self.change_option(station, packet);
        }
        Fate::Pass
    }
}

impl Tampering {
    fn change_option(&mut self, station: &mut Station<'_>, packet: &mut Packet) {
        let extra = station.network.extras().get(packet.extra);
        let key = (packet.flow, packet.kind as u8);
        let option = match self.settings.options {
            OptionTampering::None => return,
            // Repeated on each packet without one. Beside SACK blocks there may be no room.
            OptionTampering::Duplicate if extra.option.is_none() && extra.sack_blocks == 0 => {
                self.options.get(&key).copied()
            }
            OptionTampering::Duplicate => {
                self.options.extend(extra.option.map(|option| (key, option)));
                return;
            }
            // In exchange for the previous packet's; the first has none to exchange.
            OptionTampering::Swap => {
                let Some(option) = extra.option else { return };
                self.options.insert(key, option)
            }
        };
        let Some(option) = option else { return };
        let before = extra.option.map_or(0, PeerOption::wire_length);
        packet.size = (u32::from(packet.size) - before + option.wire_length()) as u16;
        station.network.extras().of(packet).option = Some(option);
    }
}

//! A router that changes what it should only forward: windows, rates, options.

use std::collections::BTreeMap;

use super::{Fate, Station};
use crate::engine::Stream;
use crate::packet::{Packet, PacketKind};
use crate::plan::{OptionTampering, Plan, Protocol, TamperingPlan};
use selfclock_congestion::PeerOption;

/// Changes packets at random.
#[derive(Clone, Debug)]
pub struct Tampering {
    plan: TamperingPlan,
    stream: Stream,
    /// Of each flow of the plan: its transport header cannot be read.
    encrypted: Vec<bool>,
    /// The option that came last, of each flow and kind of packet.
    options: BTreeMap<(u32, u8), PeerOption>,
}

impl Tampering {
    /// With a stream of random numbers of its own.
    pub fn new(settings: TamperingPlan, plan: &Plan, stream: Stream) -> Self {
        let encrypted = plan.flows.iter().map(|flow| match &flow.protocol {
            Protocol::Udp(_) => true,
            protocol => protocol.tcp().is_some_and(|tcp| tcp.transport.encrypted),
        });
        Self { plan: settings, stream, encrypted: encrypted.collect(), options: BTreeMap::new() }
    }

    /// Changes the packet with the probability, and lets it go on.
    pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        if !self.stream.happens(self.plan.probability) {
            return Fate::Pass;
        }
        if packet.kind == PacketKind::ResourceDiscovery {
            if let Some(rate) = self.plan.allowed_rate
                && let Some(resource) = &mut station.network.extras.of(packet).resource
                && resource.backward
            {
                resource.allowed = rate.bits_per_second() as f64;
            }
            return Fate::Pass;
        }
        if self.encrypted[station.network.flow_at(packet.hop)] {
            return Fate::Pass;
        }
        if let Some(window) = self.plan.receive_window
            && packet.kind == PacketKind::Ack
        {
            station.network.extras.of(packet).receive_window = Some(window.get());
        }
        if self.plan.options != OptionTampering::None {
            self.change_option(station, packet);
        }
        Fate::Pass
    }

    fn change_option(&mut self, station: &mut Station<'_>, packet: &mut Packet) {
        let extra = station.network.extras.get(packet.extra);
        let key = (packet.flow, packet.kind as u8);
        let option = match self.plan.options {
            OptionTampering::None => return,
            // Once more on each packet that has none. Beside SACK blocks there may be no room for it.
            OptionTampering::Duplicate if extra.option.is_none() && extra.sack_blocks == 0 => {
                self.options.get(&key).copied()
            }
            OptionTampering::Duplicate => {
                self.options.extend(extra.option.map(|option| (key, option)));
                return;
            }
            // In the place of that of the packet before, whose own comes next; the first stays where it is.
            OptionTampering::Swap => {
                let Some(option) = extra.option else { return };
                self.options.insert(key, option)
            }
        };
        let Some(option) = option else { return };
        let before = extra.option.map_or(0, PeerOption::wire_length);
        packet.size = (u32::from(packet.size) - before + option.wire_length()) as u16;
        station.network.extras.of(packet).option = Some(option);
    }
}

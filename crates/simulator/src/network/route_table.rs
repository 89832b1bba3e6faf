//! The route table: the routes of all flows one after another, with their stops.

use super::gate::Gates;
use crate::plan::{CardStamps, Plan, Protocol};

/// A link of a route, or the end of a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop(u32);

impl Hop {
    /// Set on a link before which the packet stops, and on the end of a route.
    const STOP: u32 = 1 << 31;
    /// Set on a link preceded by code that needs events in order of time; see [`super::gate`].
    const GATE: u32 = 1 << 30;
    /// Set on the end of a route, where the packet stops before delivery.
    const END: u32 = 1 << 29;
    /// Set on the end of a route without a stop: its receiver is run ahead of the clock.
    const AHEAD: u32 = 1;
    /// Set on the end of a route whose last link coalesces packets.
    const COALESCES: u32 = 2;
    /// Set on a stop of another part of a divided network: the end of the path in this part. The
    /// number of the other part starts at bit [`Self::PART`]. See [`super::partition`].
    const FOREIGN: u32 = 4;
    /// First bit of the number of another part.
    const PART: u32 = 3;
    /// The link, or the flags of an end.
    const LINK: u32 = Self::END - 1;

    #[inline(always)]
    const fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
    /// Whether a packet stops here, or its path ends here.
    #[inline(always)]
    pub const fn stops(self) -> bool {
        self.has(Self::STOP)
    }
    #[inline(always)]
    pub const fn is_gate(self) -> bool {
        self.has(Self::GATE)
    }
    #[inline(always)]
    pub const fn is_end(self) -> bool {
        self.has(Self::END)
    }
    /// At the end: anything but a stop before delivery.
    #[inline(always)]
    pub const fn is_special(self) -> bool {
        self.has(Self::LINK)
    }
    /// At the end: the stop belongs to another part.
    #[inline(always)]
    pub const fn is_foreign(self) -> bool {
        self.has(Self::FOREIGN)
    }
    /// Makes the stop one of another part.
    pub const fn lead_to(&mut self, part: u32) {
        if !self.is_end() {
            self.0 = Self::STOP | Self::END;
        }
        self.0 |= Self::FOREIGN | part << Self::PART;
    }
    /// The part to which a packet goes from here.
    pub const fn part(self) -> usize {
        ((self.0 & Self::LINK) >> Self::PART) as usize
    }
    /// Sets the link's place among those of a part of the network.
    pub const fn set_place(&mut self, place: u32) {
        self.0 = (self.0 & !Self::LINK) | place;
    }
    /// At the end: whether the receiver is run ahead of the clock.
    #[inline(always)]
    pub const fn is_ahead(self) -> bool {
        self.has(Self::AHEAD)
    }
    /// At the end: whether the last link coalesces packets.
    #[inline(always)]
    pub const fn coalesces(self) -> bool {
        self.has(Self::COALESCES)
    }
    /// Index of the link.
    #[inline(always)]
    pub const fn link(self) -> usize {
        (self.0 & Self::LINK) as usize
    }
    /// Index of the link, where the packet neither stops nor meets a gate: no flags to mask.
    #[inline(always)]
    pub const fn link_passed(self) -> usize {
        self.0 as usize
    }
}

/// First links of a flow's two routes in the route table.
#[derive(Clone, Copy, Debug)]
pub struct FlowRoutes {
    /// For data.
    pub forward: u32,
    /// For acknowledgements.
    pub reverse: u32,
    /// Routers between the two ends, on the data path.
    pub routers: u8,
    /// Whether the only stop of data and ACK is at the sender.
    pub one_stop: bool,
}

/// Operator of the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// The simulation.
    Simulated,
    /// An external party, at the time of a clock: no receiver can be run ahead of it.
    Outside,
}

/// Makes the route table of a plan, and the start of each flow's routes. `gates`: the mechanisms
/// before links.
pub(super) fn route_table(plan: &Plan, gates: &Gates, hosts: Hosts) -> (Vec<Hop>, Vec<FlowRoutes>) {
    let feeders = feeders(plan, hosts);
    let is_gate = |link: usize| plan.links[link].discipline.is_managed() || !gates.before(link).is_empty();
    let mut table = Vec::new();
    // Also returns whether the end is the route's only stop.
    let mut add = |path: &[usize], ahead: bool| {
        let first = table.len();
        let mut is_unbroken = true;
        for (position, &link) in path.iter().enumerate() {
            let gate = is_gate(link);
            let stops = position > 0 && (gate || !matches!(feeders[link], Feeder::Link(_)));
            is_unbroken &= !gate && !stops;
            table.push(Hop(link as u32 | flag(stops, Hop::STOP) | flag(gate, Hop::GATE)));
        }
        let coalesces = path.last().is_some_and(|&link| !plan.links[link].coalescing.is_zero());
        let flags = flag(ahead, Hop::AHEAD) | flag(coalesces, Hop::COALESCES);
        table.push(Hop(Hop::STOP | Hop::END | flags));
        (first as u32, is_unbroken)
    };
    let flows = plan.flows.iter().enumerate().map(|(index, flow)| {
        // What a card stamps passes by way of the event queue.
        let is_stamped = flow.forward.last().is_some_and(|&link| {
            let link = &plan.links[link];
            !link.coalescing.is_zero() && link.coalescing_stamps == CardStamps::Arrival
        });
        // A UDP sink sends nothing.
        let receiver_ahead = !is_stamped
            && hosts == Hosts::Simulated
            && flow
                .reverse
                .first()
                .is_none_or(|&link| feeders[link] == Feeder::Receiver(index) && !is_gate(link));
        let (forward, data_unbroken) = add(&flow.forward, receiver_ahead);
        let routers = u8::try_from(flow.forward.len().saturating_sub(1)).unwrap_or(u8::MAX);
        let (reverse, acknowledgements_unbroken) = add(&flow.reverse, false);
        let is_tcp = matches!(flow.protocol, Protocol::Tcp(_));
        let one_stop = is_tcp && receiver_ahead && data_unbroken && acknowledgements_unbroken;
        FlowRoutes { forward, reverse, routers, one_stop }
    });
    let flows = flows.collect();
    (table, flows)
}

const fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

/// Source of everything that enters a link.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feeder {
    /// Nothing enters it.
    None,
    /// One upstream link: packets arrive in the order in which it delivers.
    Link(usize),
    /// The receiver of one flow.
    Receiver(usize),
    /// The sender of one flow: it sends at the clock's time.
    Sender,
    /// More than one of these.
    Several,
}

/// The feeder of each link.
fn feeders(plan: &Plan, hosts: Hosts) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::None; plan.links.len()];
    for (index, flow) in plan.flows.iter().enumerate() {
        // Each short connection has its own receiver.
        let receiver = match flow.protocol {
            Protocol::Connections(_) | Protocol::Stack(_) => Feeder::Several,
            _ if hosts == Hosts::Outside => Feeder::Sender,
            Protocol::Tcp(_) | Protocol::Udp(_) => Feeder::Receiver(index),
        };
        for (path, endpoint) in [(&flow.forward, Feeder::Sender), (&flow.reverse, receiver)] {
            for (position, &link) in path.iter().enumerate() {
                let feeder = if position == 0 { endpoint } else { Feeder::Link(path[position - 1]) };
                feeders[link] = match feeders[link] {
                    Feeder::None => feeder,
                    same if same == feeder => same,
                    _ => Feeder::Several,
                };
            }
        }
    }
    feeders
}

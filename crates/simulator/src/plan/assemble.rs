//! Consequences of a plan for the whole network: routes, queue sizes, and checks that need both.

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration};

use super::{Ecn, FlowPlan, LinkPlan, LinkSettings, PlanError, Protocol, QueueLimit, TcpPlan};
use crate::graph::route::{Edge, Routing, routes_by};
use crate::graph::topology::{PlacedWire, Topology};
use crate::shared::Shared;
use crate::stack::UDP_HEADER;
use std::collections::VecDeque;

/// Packet size if no flow gives one.
pub const USUAL_PACKET: Bytes = Bytes(1500);
/// The timestamps option with its padding.
const TIMESTAMPS: Bytes = Bytes(12);

/// Queue limit, before the flows that cross it are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueSize {
    /// Any number.
    Unlimited,
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// A multiple of the bandwidth-delay product: the rate times the largest base round-trip time
    /// of the TCP flows that cross the link (twice its own delay if there are none), but never less
    /// than one packet.
    Bdp(f64),
}

impl QueueSize {
    /// Whether there is no room at all.
    pub const fn is_nothing(self) -> bool {
        match self {
            Self::Unlimited => false,
            Self::Packets(packets) => packets == 0,
            Self::Bytes(size) => size.get() == 0,
            Self::Bdp(multiple) => multiple.is_nan() || multiple <= 0.0,
        }
    }
}

/// A link before it has a place in a network.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The link; name, ends and limit are filled in later.
    pub link: LinkPlan,
    /// Its queue limit.
    pub queue: QueueSize,
}

/// Finds the routes of the flows.
///
/// # Errors
/// A flow without a route, by its index.
pub fn find_routes(
    topology: &Topology<Wire>,
    routing: Routing,
    flows: &mut [FlowPlan],
) -> Result<(), (usize, PlanError)> {
    let edge = |link: &PlacedWire<Wire>| Edge { from: link.from, to: link.to, delay: link.wire.link.delay };
    let edges: Vec<Edge> = topology.links.iter().map(edge).collect();
    let pairs: Vec<(usize, usize)> =
        flows.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]).collect();
    let mut found = routes_by(routing, topology.nodes.len(), &edges, &pairs).into_iter();
    for (index, flow) in flows.iter_mut().enumerate() {
        let no_route = |from: usize, to: usize, acks| {
            let [from, to] = [from, to].map(|node| topology.nodes[node].to_string());
            (index, PlanError::NoRoute { from, to, acks })
        };
        let (forward, reverse) = (found.next().flatten(), found.next().flatten());
        let forward = forward.ok_or_else(|| no_route(flow.from, flow.to, false))?;
        flow.passes_equals = forward.has_equals && routing == Routing::Shortest;
        flow.forward = forward.links;
        if flow.protocol.answers() {
            flow.reverse = reverse.ok_or_else(|| no_route(flow.to, flow.from, true))?.links;
        }
    }
    Ok(())
}

/// Refuses CE marks to which no algorithm would respond.
///
/// # Errors
/// The algorithm ignores the marks of this feedback.
pub fn check_marks(control: &Selection, ecn: Ecn) -> Result<(), PlanError> {
    if ecn == Ecn::Off || control.responds_to_marks(ecn == Ecn::Accurate) {
        return Ok(());
    }
    Err(PlanError::Marks { label: control.label(), accurate: control.responds_to_marks(true) })
}

/// The groups of the flows, in order of first mention.
///
/// # Errors
/// A flow that cannot be in its group, by its index.
pub fn group<'a>(
    names: impl Iterator<Item = Option<&'a str>>,
    flows: &[FlowPlan],
) -> Result<Vec<Vec<usize>>, (usize, PlanError)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, name) in names.enumerate() {
        let Some(name) = name else { continue };
        match &flows[index].protocol {
            Protocol::Tcp(tcp) if tcp.control.forms_groups() => {}
            _ => return Err((index, PlanError::NoGroups)),
        }
        match groups.iter_mut().find(|(other, _)| *other == name) {
            None => groups.push((name, vec![index])),
            Some((_, members)) => {
                let [own, first] = [index, members[0]].map(|flow| (flows[flow].from, flows[flow].to));
                if own != first {
                    return Err((index, PlanError::GroupPaths));
                }
                members.push(index);
            }
        }
    }
    Ok(groups.into_iter().map(|(_, members)| members).collect())
}

/// Refuses flows that continue beyond a network card that coalesces: it hands packets to a host,
/// and later packets would overtake them on the way on.
///
/// # Errors
/// A flow that continues beyond such a card.
pub fn check_coalescing(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Result<(), PlanError> {
    let mut ends = vec![false; topology.links.len()];
    let paths = || flows.iter().flat_map(|flow| [(flow, &flow.forward), (flow, &flow.reverse)]);
    for (_, path) in paths() {
        if let Some(&last) = path.last() {
            ends[last] = !topology.links[last].wire.link.coalescing.is_zero();
        }
    }
    for (flow, path) in paths() {
        if let Some(&link) = path.iter().rev().skip(1).find(|&&link| ends[link]) {
            let link = topology.links[link].name.to_string();
            return Err(PlanError::Coalescing { flow: flow.name.to_string(), link });
        }
    }
    Ok(())
}

/// Inputs of a queue limit in BDP.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    /// Largest base round-trip time of the TCP flows.
    round_trip: Option<Duration>,
    /// Largest packet of any flow.
    packet: Option<Bytes>,
}

/// Wire size of a flow's largest data packet.
pub(super) fn full_packet(protocol: &Protocol) -> Bytes {
    let tcp_packet = |tcp: &TcpPlan| {
        let options = if tcp.transport.timestamps { TIMESTAMPS } else { Bytes::ZERO };
        tcp.transport.mss + tcp.transport.header + options
    };
    match protocol {
        Protocol::Tcp(tcp) => tcp_packet(tcp),
        Protocol::Connections(connections) => tcp_packet(&connections.tcp),
        Protocol::Udp(udp) => udp.packets.iter().map(|&(size, _)| size).max().unwrap_or(USUAL_PACKET),
        Protocol::Stack(stack) => Bytes(u64::from(stack.datagram) + u64::from(UDP_HEADER)),
    }
}

fn crossings(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<Crossing> {
    let mut crossings = vec![Crossing::default(); topology.links.len()];
    for flow in flows {
        let links = || flow.forward.iter().chain(&flow.reverse).copied();
        let delay = || links().fold(Duration::ZERO, |sum, link| sum + topology.links[link].wire.link.delay);
        let is_udp = matches!(flow.protocol, Protocol::Udp(_));
        let round_trip = (!is_udp).then(delay);
        let packet = full_packet(&flow.protocol);
        for link in links() {
            let crossing = &mut crossings[link];
            crossing.round_trip = crossing.round_trip.max(round_trip);
            crossing.packet = crossing.packet.max(Some(packet));
        }
    }
    crossings
}

/// The links, their queues in packets or bytes.
pub fn size_queues(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<LinkPlan> {
    let crossings = crossings(topology, flows);
    let mut alike = Alike::default();
    let plan = |(PlacedWire { name, from, to, wire }, crossing): (&PlacedWire<Wire>, &Crossing)| {
        let queue = match wire.queue {
            QueueSize::Unlimited => QueueLimit::Unlimited,
            QueueSize::Packets(packets) => QueueLimit::Packets(packets),
            QueueSize::Bytes(size) => QueueLimit::Bytes(size),
            QueueSize::Bdp(multiple) => QueueLimit::Bytes(bandwidth_delay(multiple, &wire.link, crossing)),
        };
        let settings = alike.with_queue(&wire.link.settings, queue);
        LinkPlan { name: name.clone(), from: *from, to: *to, settings }
    };
    topology.links.iter().zip(&crossings).map(plan).collect()
}

/// Settings of the last few links, so that equal links share them.
#[derive(Default)]
struct Alike {
    /// Without and with the limit of the queue.
    recent: VecDeque<(Shared<LinkSettings>, Shared<LinkSettings>)>,
}

impl Alike {
    /// The cables of a dumbbell have at most four kinds.
    const MOST: usize = 8;

    fn with_queue(&mut self, plain: &Shared<LinkSettings>, queue: QueueLimit) -> Shared<LinkSettings> {
        let is_it = |(before, after): &&(Shared<LinkSettings>, Shared<LinkSettings>)| {
            Shared::is_one(before, plain) && after.queue == queue
        };
        if let Some((_, after)) = self.recent.iter().find(is_it) {
            return after.clone();
        }
        let mut after = plain.clone();
        if after.queue != queue {
            after.queue = queue;
        }
        if self.recent.len() == Self::MOST {
            self.recent.pop_front();
        }
        self.recent.push_back((plain.clone(), after.clone()));
        after
    }
}

fn bandwidth_delay(multiple: f64, link: &LinkPlan, crossing: &Crossing) -> Bytes {
    let round_trip = crossing.round_trip.unwrap_or(link.delay.times(2));
    let bytes = Bytes((link.rate.bytes_in(round_trip).get() as f64 * multiple) as u64);
    bytes.max(crossing.packet.unwrap_or(USUAL_PACKET))
}

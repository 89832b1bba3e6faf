//! From the network of a scenario file to links: shapes built, queues sized.

use std::collections::{BTreeMap, BTreeSet};

use selfclock_congestion::units::{Bytes, Duration, Rate};

use super::error::{Problem, allowed};
use super::file::{
    File, GraphFile, LinkFile, Name, Network, Profile, Queue, QueueCounts, QueueSize, WireFile,
};
use super::reader::{Located, place_or, value_or};
use crate::network::topology::{DumbbellWires, Link, Topology, dumbbell, parking_lot};
use crate::plan::{
    DisciplinePlan, FlowPlan, LinkChange, LinkPlan, LossPlan, MarkAbove, Protocol, QueueLimit, TcpPlan,
};

/// A packet where no flow says how large.
pub const USUAL_PACKET: Bytes = Bytes(1500);
/// The timestamps option with its padding.
const TIMESTAMPS: Bytes = Bytes(12);

/// A link as written, with the defaults of its place in the network and of the profile.
#[derive(Clone, Debug)]
pub struct Wire {
    rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    queue: QueueSize,
    discipline: DisciplinePlan,
    mark_above: Option<MarkAbove>,
    counts_packet_in_service: bool,
    loss: LossPlan,
    jitter: Duration,
    /// Of the network cards at its ends.
    pub coalescing: Duration,
    changes: Vec<LinkChange>,
}

impl Wire {
    fn new(file: &WireFile, profile: Profile, default_queue: QueueSize) -> Self {
        let counts = match profile {
            Profile::Modern => QueueCounts::Waiting,
            Profile::Classic => QueueCounts::InSystem,
        };
        let queue = value_or(&file.queue, Queue::default());
        Self {
            rate: file.rate.value,
            delay: file.delay.value,
            queue: queue.limit.unwrap_or(default_queue),
            discipline: queue.discipline,
            mark_above: queue.mark_above,
            counts_packet_in_service: value_or(&file.queue_counts, counts) == QueueCounts::InSystem,
            loss: value_or(&file.loss, LossPlan::None),
            jitter: value_or(&file.jitter, Duration::ZERO),
            coalescing: value_or(&file.coalescing, Duration::ZERO),
            changes: changes(file),
        }
    }
}

/// What the path becomes; what a change does not name stays as it was.
fn changes(file: &WireFile) -> Vec<LinkChange> {
    let (mut rate, mut delay) = (file.rate.value, file.delay.value);
    let written = file.changes.iter().flat_map(|changes| &changes.value.0);
    written
        .map(|change| {
            rate = change.rate.unwrap_or(rate);
            delay = change.delay.unwrap_or(delay);
            LinkChange { at: change.at, rate, delay }
        })
        .collect()
}

/// The nodes and links of a file with so many flows.
pub fn build(file: &File, profile: Profile, flows: usize) -> Result<Topology<Wire>, Problem> {
    let bottleneck = |file: &WireFile| Wire::new(file, profile, QueueSize::Bdp(1.0));
    let access = |file: &WireFile| Wire::new(file, profile, QueueSize::Unlimited);
    match &file.network.value {
        Network::Dumbbell(file) => {
            let hosts = file.hosts.as_ref().map_or(flows, |hosts| hosts.value.0 as usize);
            let reverse = file.reverse.as_ref().unwrap_or(&file.bottleneck);
            let sink_access = file.sink_access.as_ref().unwrap_or(&file.access);
            let wires = DumbbellWires {
                bottleneck: bottleneck(&file.bottleneck.value),
                reverse: bottleneck(&reverse.value),
                access: access(&file.access.value),
                sink_access: access(&sink_access.value),
            };
            Ok(dumbbell(hosts, &wires))
        }
        Network::ParkingLot(file) => Ok(parking_lot(
            file.hops.value.0 as usize,
            &bottleneck(&file.hop.value),
            &access(&file.access.value),
        )),
        Network::Graph(file) => graph(file, bottleneck),
    }
}

fn graph(file: &GraphFile, wire: impl Fn(&WireFile) -> Wire) -> Result<Topology<Wire>, Problem> {
    let mut index = BTreeMap::new();
    for (position, node) in file.nodes.iter().enumerate() {
        if index.insert(node.value.0.as_str(), position).is_some() {
            return Err(node.place.problem(format!("a second node {:?}", node.value.0), ""));
        }
    }
    let mut links: Vec<Link<Wire>> = Vec::new();
    let mut names = BTreeSet::new();
    for Located { value: link, place } in &file.link {
        let from = find_node(&index, &link.from)?;
        let to = find_node(&index, &link.to)?;
        if from == to {
            return Err(link.to.place.problem("a link from a node to itself", ""));
        }
        let wire = wire(&wire_of(link));
        let [forward, reverse] = link_names(link);
        let mut add = |name: String, from, to| {
            if !names.insert(name.clone()) {
                let place = place_or(&link.name, place);
                return Err(place.problem(format!("a second link {name:?}"), "give each link its own name"));
            }
            links.push(Link { name, from, to, wire: wire.clone() });
            Ok(())
        };
        add(forward, from, to)?;
        if value_or(&link.duplex, true) {
            add(reverse, to, from)?;
        }
    }
    let nodes = file.nodes.iter().map(|node| node.value.0.clone()).collect();
    Ok(Topology { nodes, links })
}

/// Names of a link and of its other direction.
fn link_names(link: &LinkFile) -> [String; 2] {
    let (from, to) = (&link.from.value.0, &link.to.value.0);
    match &link.name {
        Some(name) => [name.value.0.clone(), format!("{}-reverse", name.value.0)],
        None => [format!("{from}-{to}"), format!("{to}-{from}")],
    }
}

fn wire_of(link: &LinkFile) -> WireFile {
    let LinkFile {
        name: _,
        from: _,
        to: _,
        duplex: _,
        rate,
        delay,
        queue,
        queue_counts,
        loss,
        jitter,
        coalescing,
        changes,
    } = link.clone();
    WireFile { rate, delay, queue, queue_counts, loss, jitter, coalescing, changes }
}

/// The index of a node.
pub fn find_node(index: &BTreeMap<&str, usize>, name: &Located<Name>) -> Result<usize, Problem> {
    let name_text = name.value.0.as_str();
    index.get(name_text).copied().ok_or_else(|| {
        name.place.problem(format!("unknown node {name_text:?}"), allowed(name_text, index.keys().copied()))
    })
}

/// What a queue in bandwidth-delay products depends on.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    /// Largest base round-trip time of the TCP flows.
    round_trip: Option<Duration>,
    /// Largest packet of any flow.
    packet: Option<Bytes>,
}

fn crossings(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<Crossing> {
    let mut crossings = vec![Crossing::default(); topology.links.len()];
    for flow in flows {
        let links = || flow.forward.iter().chain(&flow.reverse).copied();
        let delay = || links().fold(Duration::ZERO, |sum, link| sum + topology.links[link].wire.delay);
        let tcp_packet = |tcp: &TcpPlan| {
            let options = if tcp.transport.timestamps { TIMESTAMPS } else { Bytes::ZERO };
            tcp.transport.mss + tcp.transport.header + options
        };
        let (round_trip, packet) = match &flow.protocol {
            Protocol::Tcp(tcp) => (Some(delay()), tcp_packet(tcp)),
            Protocol::Connections(connections) => (Some(delay()), tcp_packet(&connections.tcp)),
            Protocol::Udp(udp) => {
                (None, udp.packets.iter().map(|&(size, _)| size).max().unwrap_or(USUAL_PACKET))
            }
        };
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
    let plan = |(link, crossing): (&Link<Wire>, &Crossing)| LinkPlan {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: link.wire.rate,
        delay: link.wire.delay,
        queue: match link.wire.queue {
            QueueSize::Unlimited => QueueLimit::Unlimited,
            QueueSize::Packets(packets) => QueueLimit::Packets(packets),
            QueueSize::Bytes(size) => QueueLimit::Bytes(size),
            QueueSize::Bdp(multiple) => QueueLimit::Bytes(bandwidth_delay(multiple, &link.wire, crossing)),
        },
        discipline: link.wire.discipline,
        mark_above: link.wire.mark_above,
        counts_packet_in_service: link.wire.counts_packet_in_service,
        loss: link.wire.loss,
        jitter: link.wire.jitter,
        coalescing: link.wire.coalescing,
        changes: link.wire.changes.clone(),
    };
    topology.links.iter().zip(&crossings).map(plan).collect()
}

/// The rate times the largest base round-trip time of the TCP flows that cross the link (twice its own delay
/// if there are none), but never less than one packet, without which nothing would get through.
fn bandwidth_delay(multiple: f64, wire: &Wire, crossing: &Crossing) -> Bytes {
    let round_trip = crossing.round_trip.unwrap_or(wire.delay.times(2));
    let bytes = Bytes((wire.rate.bytes_in(round_trip).get() as f64 * multiple) as u64);
    bytes.max(crossing.packet.unwrap_or(USUAL_PACKET))
}

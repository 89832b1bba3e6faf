//! From the network of a scenario file to links: shapes built, queues sized.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use selfclock_congestion::units::{Bytes, Duration, Rate};

use crate::delivery_trace::DeliveryTrace;
use crate::graph::topology::{DumbbellWires, PlacedWire, Topology, dumbbell, parking_lot};
use crate::plan::{FlowPlan, LinkChange, LinkPlan, LossPlan, Protocol, TcpPlan};
use crate::queue::{DisciplinePlan, QueueLimit};
use crate::scenario::delivery_trace::DeliveryTraces;
use crate::scenario::error::{Place, Problem, allowed};
use crate::scenario::reader::{Located, place_or, value_or};
use crate::scenario::table::link::{LinkTable, QueueCounts, WireTable, WrittenTrace};
use crate::scenario::table::network::{GraphTable, NetworkTable};
use crate::scenario::table::queue::{Queue, QueueSize};
use crate::scenario::table::value::Name;
use crate::scenario::table::{Profile, ScenarioTable};

/// A packet where no flow says how large.
pub const USUAL_PACKET: Bytes = Bytes(1500);
/// The timestamps option with its padding.
const TIMESTAMPS: Bytes = Bytes(12);

/// A link as written, with the defaults of its place in the network and of the profile.
#[derive(Clone, Debug)]
pub struct Wire {
    rate: Rate,
    trace: Option<Arc<DeliveryTrace>>,
    /// Propagation delay.
    pub delay: Duration,
    queue: QueueSize,
    discipline: DisciplinePlan,
    counts_packet_in_service: bool,
    loss: LossPlan,
    jitter: Duration,
    /// Of the network cards at its ends.
    pub coalescing: Duration,
    changes: Vec<LinkChange>,
}

impl Wire {
    fn new(
        file: &WireTable,
        place: &Place,
        (profile, default_queue): (Profile, QueueSize),
        traces: &mut DeliveryTraces,
    ) -> Result<Self, Problem> {
        let counts = match profile {
            Profile::Modern => QueueCounts::Waiting,
            Profile::Classic => QueueCounts::InSystem,
        };
        let queue = value_or(&file.queue, Queue::default());
        let (rate, trace) = match (&file.rate, &file.delivery_trace) {
            (Some(rate), None) => (rate.value, None),
            (None, Some(written)) => {
                let trace = match &written.value {
                    WrittenTrace::Inline(trace) => trace.clone(),
                    WrittenTrace::Path(path) => traces.get(path, &written.place)?,
                };
                (trace.rate(), Some(trace))
            }
            (Some(_), Some(trace)) => {
                return Err(trace
                    .place
                    .problem("the link has a rate already", "allowed: a rate or a delivery trace"));
            }
            (None, None) => {
                return Err(place.problem("missing key \"rate\"", "a link has a rate or a delivery trace"));
            }
        };
        if let (Some(_), Some(changes)) = (&trace, &file.changes)
            && changes.value.0.iter().any(|change| change.rate.is_some())
        {
            return Err(changes.place.problem(
                "changes the rate of a link that has none",
                "with a delivery trace only the delay can change",
            ));
        }
        Ok(Self {
            rate,
            trace,
            delay: file.delay.value,
            queue: queue.limit.unwrap_or(default_queue),
            discipline: queue.discipline,
            counts_packet_in_service: value_or(&file.queue_counts, counts) == QueueCounts::InSystem,
            loss: value_or(&file.loss, LossPlan::None),
            jitter: value_or(&file.jitter, Duration::ZERO),
            coalescing: value_or(&file.coalescing, Duration::ZERO),
            changes: changes(file, rate),
        })
    }
}

/// What the path becomes; what a change does not name stays as it was.
fn changes(file: &WireTable, rate: Rate) -> Vec<LinkChange> {
    let (mut rate, mut delay) = (rate, file.delay.value);
    let written = file.changes.iter().flat_map(|changes| &changes.value.0);
    written
        .map(|change| {
            rate = change.rate.unwrap_or(rate);
            delay = change.delay.unwrap_or(delay);
            LinkChange { at: change.at, rate, delay }
        })
        .collect()
}

/// The nodes and links of a file with this number of flows.
pub fn build(
    file: &ScenarioTable,
    profile: Profile,
    flows: usize,
    traces: &mut DeliveryTraces,
) -> Result<Topology<Wire>, Problem> {
    let mut wire_at =
        |file: &WireTable, place: &Place, queue| Wire::new(file, place, (profile, queue), traces);
    let (bottleneck, access) = (QueueSize::Bdp(1.0), QueueSize::Unlimited);
    let mut wire = |table: &Located<WireTable>, queue| wire_at(&table.value, &table.place, queue);
    match &file.network.value {
        NetworkTable::Dumbbell(file) => {
            let hosts = file.hosts.as_ref().map_or(flows, |hosts| hosts.value.0 as usize);
            let reverse = file.reverse.as_ref().unwrap_or(&file.bottleneck);
            let sink_access = file.sink_access.as_ref().unwrap_or(&file.access);
            let wires = DumbbellWires {
                bottleneck: wire(&file.bottleneck, bottleneck)?,
                reverse: wire(reverse, bottleneck)?,
                access: wire(&file.access, access)?,
                sink_access: wire(sink_access, access)?,
            };
            Ok(dumbbell(hosts, &wires))
        }
        NetworkTable::ParkingLot(file) => Ok(parking_lot(
            file.hops.value.0 as usize,
            &wire(&file.hop, bottleneck)?,
            &wire(&file.access, access)?,
        )),
        NetworkTable::Graph(file) => graph(file, |file, place| wire_at(file, place, bottleneck)),
    }
}

fn graph(
    file: &GraphTable,
    mut wire: impl FnMut(&WireTable, &Place) -> Result<Wire, Problem>,
) -> Result<Topology<Wire>, Problem> {
    let mut index = BTreeMap::new();
    for (position, node) in file.nodes.iter().enumerate() {
        if index.insert(node.value.0.as_str(), position).is_some() {
            return Err(node.place.problem(format!("a second node {:?}", node.value.0), ""));
        }
    }
    let mut links: Vec<PlacedWire<Wire>> = Vec::new();
    let mut names = BTreeSet::new();
    for Located { value: link, place } in &file.link {
        let from = find_node(&index, &link.from)?;
        let to = find_node(&index, &link.to)?;
        if from == to {
            return Err(link.to.place.problem("a link from a node to itself", ""));
        }
        let wire = wire(&link.wire, place)?;
        let [forward, reverse] = link_names(link);
        let mut add = |name: String, from, to| {
            if !names.insert(name.clone()) {
                let place = place_or(&link.name, place);
                return Err(place.problem(format!("a second link {name:?}"), "give each link its own name"));
            }
            links.push(PlacedWire { name, from, to, wire: wire.clone() });
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
fn link_names(link: &LinkTable) -> [String; 2] {
    let (from, to) = (&link.from.value.0, &link.to.value.0);
    match &link.name {
        Some(name) => [name.value.0.clone(), format!("{}-reverse", name.value.0)],
        None => [format!("{from}-{to}"), format!("{to}-{from}")],
    }
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
    let plan = |(link, crossing): (&PlacedWire<Wire>, &Crossing)| LinkPlan {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: link.wire.rate,
        trace: link.wire.trace.clone(),
        delay: link.wire.delay,
        queue: match link.wire.queue {
            QueueSize::Unlimited => QueueLimit::Unlimited,
            QueueSize::Packets(packets) => QueueLimit::Packets(packets),
            QueueSize::Bytes(size) => QueueLimit::Bytes(size),
            QueueSize::Bdp(multiple) => QueueLimit::Bytes(bandwidth_delay(multiple, &link.wire, crossing)),
        },
        discipline: link.wire.discipline,
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

//! From a scenario file to a plan: defaults filled in, names turned into indices, routes found, queues sized.

use std::collections::{BTreeMap, BTreeSet};

use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

use super::control::Control;
use super::error::{Place, Problem, allowed};
use super::file::{
    File, FlowFile, GraphFile, Interval, LinkFile, Name, Network, Profile, ProtocolName, QueueCounts,
    QueueSize, Traffic, TrafficFile, WireFile,
};
use super::limits::{self, Demand};
use super::reader::{Located, Maybe};
use super::transport::transport;
use crate::network::route::{Edge, routes};
use crate::network::topology::{DumbbellWires, Link, Topology, dumbbell, parking_lot};
use crate::plan::{
    Arrivals, FlowPlan, LinkPlan, LossPlan, Plan, Protocol, QueueLimit, RecordPlan, Source, TcpPlan, UdpPlan,
};

/// Longest run: half of the range of times, so that no sum of a time and a delay overflows.
const LONGEST_RUN: Duration = Duration::from_picoseconds(1 << 63);
/// Samples of a series where the file does not say.
const SAMPLES: u128 = 1_000;
/// Most rows of all series where the file does not say.
const ROWS: u128 = 2_000_000;
/// A packet where no flow says how large.
const USUAL_PACKET: Bytes = Bytes(1500);
/// The timestamps option with its padding.
const TIMESTAMPS: Bytes = Bytes(12);

/// The plan of a file.
pub fn resolve(file: &File, default_name: &str) -> Result<Plan, Problem> {
    let duration = file.duration.value.0;
    if duration > LONGEST_RUN {
        return Err(file.duration.place.problem("longer than 106 days", "at most 2^63 ps"));
    }
    let flows: u128 = file.flow.iter().map(|flow| u128::from(count(&flow.value))).sum();
    let interval = interval(file, flows);
    check_memory(file, flows, interval)?;

    let profile = value_or(&file.profile, Profile::Modern);
    let topology = build(file, profile, flows as usize)?;
    let mut flows = expand_flows(file, profile, &topology)?;
    find_routes(file, &topology, &mut flows)?;
    let links = size_queues(&topology, &flows);
    Ok(Plan {
        name: file.name.as_ref().map_or(default_name, |name| &name.value.0).to_owned(),
        seed: file.seed.as_ref().map_or(1, |seed| seed.value.0),
        duration,
        nodes: topology.nodes,
        links,
        flows,
        record: RecordPlan {
            interval,
            packets: file.record.as_ref().is_some_and(|record| value_or(&record.value.packets, false)),
        },
    })
}

fn value_or<T: Copy>(written: &Maybe<T>, default: T) -> T {
    written.as_ref().map_or(default, |written| written.value)
}

fn place_or<'a, T>(written: &'a Maybe<T>, default: &'a Place) -> &'a Place {
    written.as_ref().map_or(default, |written| &written.place)
}

fn count(flow: &FlowFile) -> u64 {
    flow.count.as_ref().map_or(1, |count| count.value.0)
}

// Memory

/// Nodes, links, and links on the longest route, without building them.
fn network_size(network: &Network, flows: u128) -> (u128, u128, u128) {
    match network {
        Network::Dumbbell(file) => {
            let hosts = file.hosts.as_ref().map_or(flows, |hosts| hosts.value.0.into());
            (2 * hosts + 2, 4 * hosts + 2, 3)
        }
        Network::ParkingLot(file) => {
            let hops = u128::from(file.hops.value.0);
            (3 * hops + 3, 6 * hops + 4, hops + 2)
        }
        Network::Graph(file) => {
            let nodes = file.nodes.len() as u128;
            (nodes, 2 * file.link.len() as u128, nodes)
        }
    }
}

/// Interval of the series: a thousandth of the duration, or longer so that their rows are at most two
/// million.
fn interval(file: &File, flows: u128) -> Option<Duration> {
    let written = file.record.as_ref().and_then(|record| record.value.interval.as_ref());
    match written.map_or(Interval::Auto, |interval| interval.value) {
        Interval::Off => None,
        Interval::Every(interval) => Some(interval),
        Interval::Auto => {
            let (_, links, _) = network_size(&file.network.value, flows);
            let samples = (ROWS / (flows + links)).clamp(1, SAMPLES) as u64;
            Some(Duration::from_picoseconds(file.duration.value.0.picoseconds().div_ceil(samples)))
        }
    }
}

fn check_memory(file: &File, flows: u128, interval: Option<Duration>) -> Result<(), Problem> {
    let (nodes, links, longest_route) = network_size(&file.network.value, flows);
    let samples = interval
        .map_or(0, |interval| 1 + u128::from(file.duration.value.0.picoseconds() / interval.picoseconds()));
    let largest = file.flow.iter().max_by_key(|flow| count(&flow.value));
    let flow_place = largest.map_or(&file.duration.place, |flow| place_or(&flow.value.count, &flow.place));
    let network_place = match &file.network.value {
        Network::Dumbbell(dumbbell) if dumbbell.hosts.is_none() => flow_place,
        Network::Dumbbell(dumbbell) => place_or(&dumbbell.hosts, &file.network.place),
        Network::ParkingLot(chain) => &chain.hops.place,
        Network::Graph(_) => &file.network.place,
    };
    let interval_place = file
        .record
        .as_ref()
        .map_or(&file.duration.place, |record| place_or(&record.value.interval, &file.duration.place));
    let rows = (flows + links).saturating_mul(samples);
    limits::check(&[
        Demand { count: flows, what: "flows", each: 2048, place: flow_place },
        Demand { count: nodes, what: "nodes", each: 128, place: network_place },
        Demand { count: links, what: "links", each: 1024, place: network_place },
        Demand {
            count: flows.saturating_mul(longest_route),
            what: "hops of routes",
            each: 16,
            place: flow_place,
        },
        Demand { count: rows, what: "rows of series", each: 80, place: interval_place },
    ])
}

// Network

/// A link as written, with the defaults of its place in the network and of the profile.
#[derive(Clone, Copy, Debug)]
struct Wire {
    rate: Rate,
    delay: Duration,
    queue: QueueSize,
    counts_packet_in_service: bool,
    loss: LossPlan,
    jitter: Duration,
}

impl Wire {
    fn new(file: &WireFile, profile: Profile, default_queue: QueueSize) -> Self {
        let counts = match profile {
            Profile::Modern => QueueCounts::Waiting,
            Profile::Classic => QueueCounts::InSystem,
        };
        Self {
            rate: file.rate.value,
            delay: file.delay.value,
            queue: value_or(&file.queue, default_queue),
            counts_packet_in_service: value_or(&file.queue_counts, counts) == QueueCounts::InSystem,
            loss: value_or(&file.loss, LossPlan::None),
            jitter: value_or(&file.jitter, Duration::ZERO),
        }
    }
}

fn build(file: &File, profile: Profile, flows: usize) -> Result<Topology<Wire>, Problem> {
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
            links.push(Link { name, from, to, wire });
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
    let LinkFile { name: _, from: _, to: _, duplex: _, rate, delay, queue, queue_counts, loss, jitter } =
        link.clone();
    WireFile { rate, delay, queue, queue_counts, loss, jitter }
}

fn find_node(index: &BTreeMap<&str, usize>, name: &Located<Name>) -> Result<usize, Problem> {
    let name_text = name.value.0.as_str();
    index.get(name_text).copied().ok_or_else(|| {
        name.place.problem(format!("unknown node {name_text:?}"), allowed(name_text, index.keys().copied()))
    })
}

// Flows

/// Every flow, without its routes.
fn expand_flows(file: &File, profile: Profile, topology: &Topology<Wire>) -> Result<Vec<FlowPlan>, Problem> {
    let index: BTreeMap<&str, usize> =
        topology.nodes.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
    let mut flows = Vec::new();
    let mut names = BTreeSet::new();
    for (position, Located { value: flow, place }) in file.flow.iter().enumerate() {
        let template = flow_template(file, profile, flow, place)?;
        let base =
            flow.name.as_ref().map_or_else(|| format!("flow{}", position + 1), |name| name.value.0.clone());
        for copy in 1..=count(flow) {
            let name = if count(flow) > 1 { format!("{base}-{copy}") } else { base.clone() };
            if !names.insert(name.clone()) {
                return Err(place_or(&flow.name, place).problem(format!("a second flow {name:?}"), ""));
            }
            let ends = [(&flow.from, "from", "source"), (&flow.to, "to", "sink")];
            let [from, to] =
                ends.map(|(written, key, role)| match (written, host(&file.network.value, flows.len())) {
                    (Some(written), _) => find_node(&index, written),
                    (None, Some(host)) => Ok(index[format!("{role}{host}").as_str()]),
                    (None, None) => {
                        Err(place.problem(format!("missing key {key:?}"), "in a graph a flow has no default"))
                    }
                });
            let (from, to) = (from?, to?);
            if from == to {
                return Err(place_or(&flow.to, place).problem("a flow from a node to itself", ""));
            }
            flows.push(FlowPlan { name, from, to, ..template.clone() });
        }
    }
    Ok(flows)
}

/// The number of the host that a flow uses if the file does not say: each pair in turn.
fn host(network: &Network, flow: usize) -> Option<u64> {
    let flow = flow as u64;
    match network {
        Network::Dumbbell(file) => Some(file.hosts.as_ref().map_or(flow, |hosts| flow % hosts.value.0) + 1),
        Network::ParkingLot(file) => Some(flow % (file.hops.value.0 + 1)),
        Network::Graph(_) => None,
    }
}

/// A flow without name, ends and routes.
fn flow_template(file: &File, profile: Profile, flow: &FlowFile, place: &Place) -> Result<FlowPlan, Problem> {
    let start = Time::ZERO + value_or(&flow.start, Duration::ZERO);
    let stop = flow.stop.as_ref().map_or(Time::NEVER, |stop| Time::ZERO + stop.value);
    if stop <= start {
        return Err(
            place_or(&flow.stop, place).problem("stops before it starts", "stop must be later than start")
        );
    }
    let protocol = match value_or(&flow.protocol, ProtocolName::Tcp) {
        ProtocolName::Tcp => Protocol::Tcp(Box::new(tcp(file, profile, flow)?)),
        ProtocolName::Udp => Protocol::Udp(udp(flow, place)?),
    };
    Ok(FlowPlan {
        name: String::new(),
        from: 0,
        to: 0,
        forward: Vec::new(),
        reverse: Vec::new(),
        start,
        start_jitter: value_or(&flow.start_jitter, Duration::ZERO),
        stop,
        protocol,
    })
}

fn tcp(file: &File, profile: Profile, flow: &FlowFile) -> Result<TcpPlan, Problem> {
    let layers: Vec<_> =
        [&file.transport, &flow.transport].into_iter().flatten().map(|layer| &layer.value).collect();
    let control =
        flow.congestion_control.as_ref().map_or_else(Control::default, |control| control.value.clone());
    let source = match &flow.traffic {
        None => Source::Bulk,
        Some(Located { value: Traffic::Bulk, .. }) => Source::Bulk,
        Some(Located { value: Traffic::Table(traffic), place }) => tcp_source(traffic, place)?,
    };
    Ok(TcpPlan {
        control: control.selection,
        control_name: control.name,
        source,
        transport: transport(profile, &layers)?,
    })
}

fn tcp_source(traffic: &TrafficFile, place: &Place) -> Result<Source, Problem> {
    refuse_key(&traffic.packet, "TCP sends segments of transport.mss")?;
    refuse_key(&traffic.arrivals, "only UDP has arrivals")?;
    match (&traffic.size, &traffic.rate) {
        (Some(size), None) => Ok(Source::Size(size.value.0)),
        (None, Some(rate)) => Ok(Source::Rate(rate.value)),
        _ => Err(place
            .problem("either size or rate is needed", "write { size = \"10 MB\" } or { rate = \"1 Mbps\" }")),
    }
}

fn udp(flow: &FlowFile, place: &Place) -> Result<UdpPlan, Problem> {
    refuse_key(&flow.congestion_control, "UDP has no congestion control")?;
    refuse_key(&flow.transport, "UDP has no transport settings")?;
    let help = "write traffic = { rate = \"1 Mbps\", packet = \"1500 B\", arrivals = \"constant\" }";
    let needs_rate = || place_or(&flow.traffic, place).problem("UDP traffic needs a rate", help);
    let Some(Traffic::Table(traffic)) = flow.traffic.as_ref().map(|traffic| &traffic.value) else {
        return Err(needs_rate());
    };
    refuse_key(&traffic.size, "UDP traffic has a rate, and ends at stop")?;
    Ok(UdpPlan {
        packet: traffic.packet.as_ref().map_or(USUAL_PACKET, |packet| packet.value.0),
        rate: traffic.rate.as_ref().ok_or_else(needs_rate)?.value,
        arrivals: value_or(&traffic.arrivals, Arrivals::Constant),
    })
}

fn refuse_key<T>(written: &Maybe<T>, why: &str) -> Result<(), Problem> {
    match written {
        Some(written) => Err(written.place.problem("not allowed here", why)),
        None => Ok(()),
    }
}

// Routes and queues

fn find_routes(file: &File, topology: &Topology<Wire>, flows: &mut [FlowPlan]) -> Result<(), Problem> {
    let edges: Vec<Edge> = topology
        .links
        .iter()
        .map(|link| Edge { from: link.from, to: link.to, delay: link.wire.delay })
        .collect();
    let pairs: Vec<(usize, usize)> =
        flows.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]).collect();
    let mut found = routes(topology.nodes.len(), &edges, &pairs).into_iter();
    let written = file.flow.iter().flat_map(|flow| std::iter::repeat_n(flow, count(&flow.value) as usize));
    for (flow, written) in flows.iter_mut().zip(written) {
        let no_route = |from: usize, to: usize, what: &str| {
            let [from, to] = [from, to].map(|node| &topology.nodes[node]);
            let place = place_or(&written.value.to, &written.place);
            place.problem(format!("no route from {from:?} to {to:?}{what}"), "")
        };
        let (forward, reverse) = (found.next().flatten(), found.next().flatten());
        flow.forward = forward.ok_or_else(|| no_route(flow.from, flow.to, ""))?;
        if matches!(flow.protocol, Protocol::Tcp(_)) {
            flow.reverse = reverse.ok_or_else(|| no_route(flow.to, flow.from, " for acknowledgements"))?;
        }
    }
    Ok(())
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
        let (round_trip, packet) = match &flow.protocol {
            Protocol::Tcp(tcp) => {
                let options = if tcp.transport.timestamps { TIMESTAMPS } else { Bytes::ZERO };
                let delay = links().fold(Duration::ZERO, |sum, link| sum + topology.links[link].wire.delay);
                (Some(delay), tcp.transport.mss + tcp.transport.header + options)
            }
            Protocol::Udp(udp) => (None, udp.packet),
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
fn size_queues(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<LinkPlan> {
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
        counts_packet_in_service: link.wire.counts_packet_in_service,
        loss: link.wire.loss,
        jitter: link.wire.jitter,
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

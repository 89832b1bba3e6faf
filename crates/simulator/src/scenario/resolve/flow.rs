//! From the flows of a scenario file to those of a plan: copies, ends and routes.

use std::collections::{BTreeMap, BTreeSet};

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Duration, Time};

use super::limits::{self, Demand};
use super::link::find_node;
use super::stack::{stack, stack_of};
use super::transport::transport;
use crate::graph::route::Routing;
use crate::graph::topology::Topology;
use crate::packet::Codepoint;
use crate::plan::assemble::{self, USUAL_PACKET};
use crate::plan::overhead::Overhead;
use crate::plan::{
    Activity, Arrivals, ConnectionsPlan, FlowPlan, Period, PlanError, Protocol, SizeDistribution, Source,
    TcpPlan, UdpPlan, Wire,
};
use crate::scenario::error::{Place, Problem};
use crate::scenario::reader::{Located, Maybe, place_or, value_or};
use crate::scenario::stack::Control;
use crate::scenario::table::flow::{Dscp, FlowTable, ProtocolName};
use crate::scenario::table::network::NetworkTable;
use crate::scenario::table::traffic::{Size, StepRate, Steps, Traffic, TrafficTable, UdpCodepoint};
use crate::scenario::table::value::Name;
use crate::scenario::table::{Profile, ScenarioTable};

/// Number of flows that a table describes.
pub fn copies(flow: &FlowTable) -> u64 {
    flow.count.as_ref().map_or(1, |count| count.value.0)
}

/// Every flow, without its routes.
pub fn expand(
    file: &ScenarioTable,
    profile: Profile,
    topology: &Topology<Wire>,
) -> Result<Vec<FlowPlan>, Problem> {
    let index: BTreeMap<&str, usize> =
        topology.nodes.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
    let count: u64 = file.flow.iter().map(|flow| copies(&flow.value)).sum();
    let mut flows = Vec::with_capacity(count as usize);
    let mut names = BTreeSet::new();
    for (position, Located { value: flow, place }) in file.flow.iter().enumerate() {
        let template = flow_template(file, profile, flow, place)?;
        let base =
            flow.name.as_ref().map_or_else(|| format!("flow{}", position + 1), |name| name.value.0.clone());
        let end = |written: &Maybe<Name>, key: &str, role: &str, position: usize| match (
            written,
            host(&file.network.value, position),
        ) {
            (Some(written), _) => find_node(&index, written),
            (None, Some(_)) if data_center_hosts(&file.network.value).is_some() => {
                let hosts = data_center_hosts(&file.network.value).unwrap_or(1);
                let shift = if role == "source" { 0 } else { hosts / 2 };
                Ok(index[format!("host{}", (position as u64 + shift) % hosts + 1).as_str()])
            }
            (None, Some(host)) => Ok(index[format!("{role}{host}").as_str()]),
            (None, None) => {
                Err(place.problem(format!("missing key {key:?}"), "in a graph a flow has no default"))
            }
        };
        for copy in 1..=copies(flow) {
            let name = if copies(flow) > 1 { format!("{base}-{copy}") } else { base.clone() };
            let name = crate::plan::Name::from(name);
            if !names.insert(name.clone()) {
                return Err(place_or(&flow.name, place).problem(format!("duplicate flow {name:?}"), ""));
            }
            let from = end(&flow.from, "from", "source", flows.len())?;
            let to = end(&flow.to, "to", "sink", flows.len())?;
            if from == to {
                return Err(place_or(&flow.to, place).problem("a flow from a node to itself", ""));
            }
            flows.push(FlowPlan { name, from, to, ..template.clone() });
        }
    }
    Ok(flows)
}

/// The default host of a flow: the pairs in turn.
fn host(network: &NetworkTable, flow: usize) -> Option<u64> {
    let flow = flow as u64;
    match network {
        NetworkTable::Dumbbell(file) => {
            Some(file.hosts.as_ref().map_or(flow, |hosts| flow % hosts.value.0) + 1)
        }
        NetworkTable::ParkingLot(file) => Some(flow % (file.hops.value.0 + 1)),
        NetworkTable::FatTree(_) | NetworkTable::LeafSpine(_) => Some(flow),
        NetworkTable::Graph(_) => None,
    }
}

/// Number of hosts of a data centre, which are named alike.
pub fn data_center_hosts(network: &NetworkTable) -> Option<u64> {
    match network {
        NetworkTable::FatTree(file) => Some(file.k.value.0 * file.k.value.0 * file.k.value.0 / 4),
        NetworkTable::LeafSpine(file) => Some(file.leaves.value.0 * file.hosts.value.0),
        NetworkTable::Dumbbell(_) | NetworkTable::ParkingLot(_) | NetworkTable::Graph(_) => None,
    }
}

/// A flow without name, ends and routes.
fn flow_template(
    file: &ScenarioTable,
    profile: Profile,
    flow: &FlowTable,
    place: &Place,
) -> Result<FlowPlan, Problem> {
    let start = Time::ZERO + value_or(&flow.start, Duration::ZERO);
    let stop = flow.stop.as_ref().map_or(Time::NEVER, |stop| Time::ZERO + stop.value);
    if stop <= start {
        return Err(PlanError::StopsFirst.at(place_or(&flow.stop, place)));
    }
    let protocol = match (stack_of(flow), value_or(&flow.protocol, ProtocolName::Tcp)) {
        (Some(name), _) => stack(file, profile, (flow, place), name)?,
        (None, ProtocolName::Tcp) => tcp(file, profile, flow)?,
        (None, ProtocolName::Udp) => Protocol::Udp(Box::new(udp(flow, place)?)),
    };
    if let Protocol::Connections(connections) = &protocol {
        let until = stop.min(Time::ZERO + file.duration.value.0);
        let each = until.since(start).picoseconds() / connections.interval.picoseconds();
        let count = u128::from(each) * u128::from(copies(flow));
        let place = place_or(&flow.traffic, place);
        limits::check(&[Demand { count, what: "short connections", each: 128, place }])?;
    }
    Ok(FlowPlan {
        name: Default::default(),
        from: 0,
        to: 0,
        forward: Vec::new(),
        reverse: Vec::new(),
        passes_equals: false,
        start,
        start_jitter: value_or(&flow.start_jitter, Duration::ZERO),
        stop,
        dscp: value_or(&flow.dscp, Dscp(0)).0,
        protocol,
    })
}

/// The file's flows, each table once per copy.
fn written(file: &ScenarioTable) -> impl Iterator<Item = &Located<FlowTable>> {
    file.flow.iter().flat_map(|flow| std::iter::repeat_n(flow, copies(&flow.value) as usize))
}

/// The groups of the flows, in order of first mention.
pub fn groups(file: &ScenarioTable, flows: &[FlowPlan]) -> Result<Vec<Vec<usize>>, Problem> {
    let names = written(file).map(|flow| flow.value.group.as_ref().map(|name| name.value.0.as_str()));
    assemble::group(names, flows).map_err(|(index, error)| {
        let place = written(file).nth(index).and_then(|flow| flow.value.group.as_ref());
        error.at(place.map_or(&file.network.place, |name| &name.place))
    })
}

fn tcp(file: &ScenarioTable, profile: Profile, flow: &FlowTable) -> Result<Protocol, Problem> {
    let layers: Vec<_> =
        [&file.transport, &flow.transport].into_iter().flatten().map(|layer| &layer.value).collect();
    let control = match flow.congestion_control.as_ref().map(|control| &control.value) {
        Some(Control::Ours(selection, None)) => (**selection).clone(),
        // A stack's algorithm is not TCP.
        Some(Control::Ours(..) | Control::Own(..)) | None => Selection::default(),
    };
    let traffic = match &flow.traffic {
        None => TcpTraffic::One(Source::Bulk),
        Some(Located { value: Traffic::Bulk, .. }) => TcpTraffic::One(Source::Bulk),
        Some(Located { value: Traffic::Table(traffic), place }) => tcp_traffic(traffic, place)?,
    };
    let transport = transport(profile, &layers)?;
    if let Err(error) = assemble::check_marks(&control, transport.ecn)
        && let Some(written) = layers.iter().rev().find_map(|layer| layer.ecn.as_ref())
    {
        return Err(error.at(&written.place));
    }
    let plan = |source| TcpPlan { control_name: control.label(), control, source, transport };
    Ok(match traffic {
        TcpTraffic::One(source) => Protocol::Tcp(plan(source).into()),
        TcpTraffic::Many { interval, size } => {
            Protocol::Connections(Box::new(ConnectionsPlan { tcp: plan(Source::Bulk), interval, size }))
        }
    })
}

/// The traffic of a TCP flow.
pub(super) enum TcpTraffic {
    /// One connection.
    One(Source),
    /// Short connections.
    Many { interval: Duration, size: SizeDistribution },
}

pub(super) fn tcp_traffic(traffic: &TrafficTable, place: &Place) -> Result<TcpTraffic, Problem> {
    refuse_key(&traffic.packet, "TCP sends segments of transport.mss")?;
    refuse_key(&traffic.arrivals, "only UDP has arrivals")?;
    refuse_key(&traffic.ecn, "TCP's is ecn of its transport: \"classic\" or \"accurate\"")?;
    if traffic.load.is_some() || traffic.interval.is_some() {
        return short_connections(traffic, place);
    }
    if let Some(steps) = &traffic.steps {
        return tcp_steps(traffic, &steps.value).map(TcpTraffic::One);
    }
    match (&traffic.size, &traffic.rate) {
        (Some(Located { value: Size(SizeDistribution::Constant(size)), .. }), None) => {
            refuse_key(&traffic.write, "it is the size of a write at a rate")?;
            Ok(TcpTraffic::One(Source::Size(*size)))
        }
        (Some(size), None) => Err(size.place.problem(
            "a distribution of sizes is for short connections",
            "add load = \"1 Mbps\" or interval = \"1 s\", or write one size",
        )),
        (None, Some(Located { value: rate, .. })) => Ok(TcpTraffic::One(match &traffic.write {
            None => Source::Rate(*rate),
            Some(write) => Source::Writes { rate: *rate, size: write.value.0 },
        })),
        _ => Err(place.problem(
            "either size, rate or steps are needed",
            "write { size = \"10 MB\" }, { rate = \"1 Mbps\" }, { steps = [{ at = \"5 s\", rate = \"off\" }] } or { load = \"1 Mbps\", size = \"30 kB\" }",
        )),
    }
}

/// An application that pauses or changes its rate.
fn tcp_steps(traffic: &TrafficTable, steps: &Steps) -> Result<Source, Problem> {
    refuse_key(&traffic.size, "steps change a rate; the flow ends at stop")?;
    let write = traffic.write.as_ref().map(|write| write.value.0);
    let activity = |rate: StepRate| match rate {
        StepRate::Bulk => Activity::Bulk,
        StepRate::Rate(rate) if rate.bits_per_second() == 0 => Activity::Silence,
        StepRate::Rate(rate) => Activity::Rate { rate, write },
    };
    let first = traffic.rate.as_ref().map_or(StepRate::Bulk, |rate| StepRate::Rate(rate.value));
    let all = std::iter::once((Time::ZERO, first)).chain(steps.0.iter().map(|(at, rate)| (*at, rate.value)));
    let periods: Vec<_> = all.map(|(from, rate)| Period { from, activity: activity(rate) }).collect();
    if let Some(write) = &traffic.write
        && !periods.iter().any(|period| matches!(period.activity, Activity::Rate { .. }))
    {
        return Err(write.place.problem("not allowed here", "it is the size of a write at a rate"));
    }
    Ok(Source::Steps(periods.into()))
}

fn short_connections(traffic: &TrafficTable, place: &Place) -> Result<TcpTraffic, Problem> {
    refuse_key(&traffic.rate, "the rate of short connections is load")?;
    refuse_key(&traffic.write, "short connections write all at once")?;
    refuse_key(&traffic.steps, "short connections have a load or an interval")?;
    let Some(Located { value: Size(size), .. }) = traffic.size else {
        return Err(
            place.problem("short connections need a size", "write { load = \"1 Mbps\", size = \"30 kB\" }")
        );
    };
    let interval = match (&traffic.load, &traffic.interval) {
        (Some(load), None) => {
            let seconds = size.mean() * 8.0 / load.value.bits_per_second() as f64;
            let interval = Duration::from_seconds(seconds);
            if load.value.bits_per_second() == 0 || interval.is_zero() {
                return Err(load.place.problem(
                    "the mean time between connections would be zero or infinite",
                    "a load above 0, below one connection per picosecond",
                ));
            }
            interval
        }
        (None, Some(interval)) => interval.value.0,
        _ => return Err(place.problem("load and interval are alternatives", "write one of them")),
    };
    Ok(TcpTraffic::Many { interval, size })
}

fn udp(flow: &FlowTable, place: &Place) -> Result<UdpPlan, Problem> {
    refuse_key(&flow.congestion_control, "UDP has no congestion control")?;
    refuse_key(&flow.transport, "UDP has no transport settings")?;
    refuse_key(&flow.group, "UDP has no congestion control")?;
    let help = "write traffic = { rate = \"1 Mbps\", packet = \"1500 B\", arrivals = \"constant\" }";
    let needs_rate = || place_or(&flow.traffic, place).problem("UDP traffic needs a rate", help);
    let Some(Traffic::Table(traffic)) = flow.traffic.as_ref().map(|traffic| &traffic.value) else {
        return Err(needs_rate());
    };
    refuse_key(&traffic.size, "UDP traffic has a rate, and ends at stop")?;
    refuse_key(&traffic.load, "UDP traffic has a rate")?;
    refuse_key(&traffic.interval, "UDP traffic has a rate")?;
    refuse_key(&traffic.write, "UDP sends packet by packet")?;
    let rate = traffic.rate.as_ref().ok_or_else(needs_rate)?.value;
    let mut rates = vec![(Time::ZERO, rate)];
    for (at, step) in traffic.steps.iter().flat_map(|steps| &steps.value.0) {
        match step.value {
            StepRate::Rate(rate) => rates.push((*at, rate)),
            StepRate::Bulk => {
                return Err(step.place.problem("UDP has no bulk traffic", "write a rate, or \"off\""));
            }
        }
    }
    Ok(UdpPlan {
        packets: traffic.packet.as_ref().map_or(vec![(USUAL_PACKET, 1.0)], |packet| packet.value.0.clone()),
        rates,
        arrivals: value_or(&traffic.arrivals, Arrivals::Constant),
        ecn: value_or(&traffic.ecn, UdpCodepoint(Codepoint::NotEct)).0,
    })
}

pub(super) fn refuse_key<T>(written: &Maybe<T>, why: &str) -> Result<(), Problem> {
    match written {
        Some(written) => Err(written.place.problem("not allowed here", why)),
        None => Ok(()),
    }
}

/// The overhead of each flow.
pub fn overheads(file: &ScenarioTable) -> impl Iterator<Item = Overhead> {
    written(file).map(|flow| value_or(&flow.value.overhead, Overhead::default()))
}

/// Finds the routes of the flows.
pub fn find_routes(
    file: &ScenarioTable,
    topology: &Topology<Wire>,
    flows: &mut [FlowPlan],
) -> Result<(), Problem> {
    let routing = routing(&file.network.value);
    assemble::find_routes(topology, routing, flows).map_err(|(index, error)| {
        let place = written(file)
            .nth(index)
            .map_or(&file.network.place, |flow| place_or(&flow.value.to, &flow.place));
        error.at(place)
    })?;
    for (flow, written) in flows.iter_mut().zip(written(file)) {
        if !written.value.route.0.is_empty() {
            take_route(topology, flow, &written.value.route.0)?;
        }
    }
    Ok(())
}

/// Leads a flow through these routers.
fn take_route(
    topology: &Topology<Wire>,
    flow: &mut FlowPlan,
    route: &[Located<Name>],
) -> Result<(), Problem> {
    let index: BTreeMap<&str, usize> =
        topology.nodes.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
    let mut stops = vec![flow.from];
    for name in route {
        stops.push(find_node(&index, name)?);
    }
    stops.push(flow.to);
    let link = |from, to| topology.links.iter().position(|link| (link.from, link.to) == (from, to));
    let mut forward = Vec::with_capacity(stops.len());
    for (position, pair) in stops.windows(2).enumerate() {
        let place = &route[position.min(route.len() - 1)].place;
        let [from, to] = [pair[0], pair[1]].map(|node| topology.nodes[node].as_str());
        let missing = || {
            place.problem(format!("no link from {from:?} to {to:?}"), "a route names each router on the way")
        };
        forward.push(link(pair[0], pair[1]).ok_or_else(missing)?);
    }
    flow.forward = forward;
    flow.passes_equals = false;
    if flow.protocol.answers() {
        let back: Option<Vec<usize>> = stops.windows(2).rev().map(|pair| link(pair[1], pair[0])).collect();
        flow.reverse = back.unwrap_or(std::mem::take(&mut flow.reverse));
    }
    Ok(())
}

/// Choice among equal paths in a network.
fn routing(network: &NetworkTable) -> Routing {
    let (written, usual) = match network {
        NetworkTable::Graph(file) => (&file.routing, Routing::Shortest),
        NetworkTable::FatTree(file) => (&file.routing, Routing::EqualCost),
        NetworkTable::LeafSpine(file) => (&file.routing, Routing::EqualCost),
        NetworkTable::Dumbbell(_) | NetworkTable::ParkingLot(_) => return Routing::Shortest,
    };
    value_or(written, usual)
}

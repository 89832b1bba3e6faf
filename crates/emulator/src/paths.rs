//! The plan of an emulation: the scenario's network, with slots for connections in place of its
//! flows.
//!
//! Queues and routers identify flows by their index in the plan, and real connections are unknown
//! in advance. So each pair of hosts that can reach each other has a path with a number of flows,
//! which connections occupy as they come.

use crate::error::EmulationError;
use crate::settings::Settings;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use selfclock_simulator::plan::{
    Arrivals, FlowPlan, Plan, Protocol, RecordPlan, Source, TcpPlan, Transport, UdpPlan,
};
use std::collections::BTreeMap;

/// Duration after which an unlimited emulation ends: sums of times stay far from their range.
const LONGEST: Duration = Duration::from_picoseconds(20 * 86_400 * 1_000_000_000_000);
/// Shorter intervals would sample single packets.
const SHORTEST_INTERVAL: Duration = Duration::from_milliseconds(10);
/// Interval of series of an unlimited emulation, unless the scenario has a shorter one: ten samples
/// a second.
const LONGEST_INTERVAL: Duration = Duration::from_milliseconds(100);

/// The routes between two hosts.
#[derive(Clone, Debug)]
pub struct Path {
    /// Source node of the forward route: that of a flow of the scenario between these hosts, if
    /// any.
    pub from: usize,
    /// Node that it ends at.
    pub to: usize,
    /// Differentiated services codepoint of that flow.
    pub dscp: u8,
    /// The first of its flows in the plan.
    pub first_slot: usize,
}

/// All paths, and the plan that has them.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The plan that the network is made from.
    pub plan: Plan,
    /// In the order of their flows.
    pub paths: Vec<Path>,
    /// Flows of each.
    pub slots_per_path: usize,
    /// Paths between two nodes, the lower one first.
    between: BTreeMap<(usize, usize), Vec<usize>>,
}

impl Paths {
    /// The paths between these nodes.
    ///
    /// # Errors
    /// There are none, or a number is out of range.
    pub fn new(scenario: &Plan, nodes: &[usize], settings: &Settings) -> Result<Self, EmulationError> {
        let slots_per_path = settings.flows_per_path;
        if !(1..=65_536).contains(&slots_per_path) {
            return Err(EmulationError::FlowsPerPath(slots_per_path));
        }
        let slots_per_path = slots_per_path as usize;
        let wanted = wanted(scenario, nodes);
        let pairs: Vec<_> =
            wanted.iter().flat_map(|path| [(path.from, path.to), (path.to, path.from)]).collect();
        let routes = scenario.routes(&pairs);
        let (mut flows, mut paths, mut between) = (Vec::new(), Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for (path, ways) in wanted.into_iter().zip(routes.chunks_exact(2)) {
            let [Some(forward), Some(reverse)] = ways else { continue };
            between.entry(ordered(path.from, path.to)).or_default().push(paths.len());
            let place = FlowPlan {
                forward: forward.clone(),
                reverse: reverse.clone(),
                dscp: path.dscp,
                protocol: Protocol::Tcp(placeholder(scenario, &path).into()),
                ..flow(String::new(), path.from, path.to)
            };
            let first_slot = flows.len();
            flows.extend((0..slots_per_path).map(|_| place.clone()));
            paths.push(Path { first_slot, ..path });
        }
        if paths.is_empty() {
            return Err(EmulationError::NoPath);
        }
        let duration = settings.duration.unwrap_or(LONGEST);
        let plan = Plan {
            duration,
            measure_from: Time::ZERO,
            measure_delays: false,
            flows: flows.into(),
            groups: Vec::new(),
            record: RecordPlan {
                interval: interval(scenario, settings),
                packets: settings.record,
                packets_from: Time::ZERO,
                packets_until: Time::NEVER,
                payload: false,
            },
            ..scenario.clone()
        };
        Ok(Self { plan, paths, slots_per_path, between })
    }

    /// The path of a packet with this codepoint from one node to another, and whether it goes
    /// forward on it.
    pub fn of(&self, from: usize, to: usize, dscp: u8) -> Option<(usize, bool)> {
        let paths = self.between.get(&ordered(from, to))?;
        let fits = |wants_dscp: bool, wants_from: bool| {
            paths.iter().copied().find(|&path| {
                let path = &self.paths[path];
                (!wants_dscp || path.dscp == dscp) && (!wants_from || path.from == from)
            })
        };
        // The one with this codepoint, leading from here, if there are several.
        let path = fits(true, true)
            .or_else(|| fits(true, false))
            .or_else(|| fits(false, true))
            .or_else(|| fits(false, false))?;
        Some((path, self.paths[path].from == from))
    }
}

/// The interval of series, independent of the scenario's duration.
fn interval(scenario: &Plan, settings: &Settings) -> Option<Duration> {
    let interval = scenario.record.interval?.max(SHORTEST_INTERVAL);
    Some(if settings.duration.is_some() { interval } else { interval.min(LONGEST_INTERVAL) })
}

/// The required paths: those of the scenario's flows, then of all other pairs of hosts.
fn wanted(scenario: &Plan, nodes: &[usize]) -> Vec<Path> {
    let mut wanted: Vec<Path> = Vec::new();
    let mut add = |from: usize, to: usize, dscp: u8, always: bool| {
        let is_there = wanted.iter().any(|path| {
            let same_way = (path.from, path.to) == (from, to);
            if always {
                same_way && path.dscp == dscp
            } else {
                same_way || (path.to, path.from) == (from, to)
            }
        });
        if !is_there {
            wanted.push(Path { from, to, dscp, first_slot: 0 });
        }
    };
    for flow in scenario.flows.iter().filter(|flow| nodes.contains(&flow.from) && nodes.contains(&flow.to)) {
        add(flow.from, flow.to, flow.dscp, true);
    }
    for (position, &from) in nodes.iter().enumerate() {
        nodes[position + 1..].iter().for_each(|&to| add(from, to, 0, false));
    }
    wanted
}

const fn ordered(one: usize, other: usize) -> (usize, usize) {
    if one <= other { (one, other) } else { (other, one) }
}

/// Header fields, readable by routers, of the scenario's TCP flow on this path; without timestamps,
/// which are not in the records of real segments.
fn placeholder(scenario: &Plan, path: &Path) -> TcpPlan {
    let same = scenario.flows.iter().filter(|flow| (flow.from, flow.to) == (path.from, path.to));
    let same = same.filter(|flow| flow.dscp == path.dscp).find_map(|flow| flow.protocol.tcp());
    let transport = same.map_or_else(Transport::modern, |tcp| tcp.transport.clone());
    tcp("tcp", Transport { timestamps: false, undo: false, ..transport })
}

fn tcp(algorithm: &str, transport: Transport) -> TcpPlan {
    let control_name = algorithm.to_owned();
    TcpPlan { control: Selection::default(), control_name, source: Source::Bulk, transport }
}

fn flow(name: String, from: usize, to: usize) -> FlowPlan {
    FlowPlan {
        name: name.into(),
        from,
        to,
        forward: Vec::new(),
        reverse: Vec::new(),
        passes_equals: false,
        start: Time::ZERO,
        start_jitter: Duration::ZERO,
        stop: Time::NEVER,
        dscp: 0,
        protocol: Protocol::Udp(Box::new(UdpPlan::steady(
            Bytes(1500),
            Rate::from_bits_per_second(0),
            Arrivals::Constant,
        ))),
    }
}

/// A flow observed by an emulation.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Node that sent most of its data.
    pub from: usize,
    /// The node at the other end.
    pub to: usize,
    /// The algorithm of its sender, "tcp" if unknown; `None` if it was no TCP connection.
    pub algorithm: Option<String>,
    /// Its first packet.
    pub start: Time,
}

/// The plan with the flows observed by an emulation in place of its own, for tables and figures.
/// Its flows cannot be run: their transport settings are unknown.
pub fn emulated(plan: &Plan, seen: &[Seen]) -> Plan {
    let pairs: Vec<_> = seen.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]).collect();
    let routes = plan.routes(&pairs);
    let flows = seen.iter().zip(routes.chunks_exact(2)).map(|(seen, ways)| {
        let way = |number: usize| ways[number].clone().unwrap_or_default();
        let mut flow =
            FlowPlan { forward: way(0), start: seen.start, ..flow(seen.name.clone(), seen.from, seen.to) };
        if let Some(algorithm) = &seen.algorithm {
            flow.reverse = way(1);
            flow.protocol = Protocol::Tcp(tcp(algorithm, Transport::modern()).into());
        }
        flow
    });
    Plan { flows: flows.collect::<Vec<_>>().into(), groups: Vec::new(), ..plan.clone() }
}

//! Plans drawn in a line: a network, what goes across it, for how long.
//!
//! What is not said is as in a scenario file that does not say it.
//!
//! ```
//! use selfclock_simulator::Simulation;
//! use selfclock_simulator::plan::{bdp, dumbbell, mbps, ms, s, tcp};
//!
//! let plan = dumbbell(mbps(100), ms(40))
//!     .queue(bdp(1.0))
//!     .flow("cubic")
//!     .flow(tcp("bbr3").start(ms(500)))
//!     .duration(s(5))
//!     .seed(1)
//!     .plan()?;
//! let outcome = Simulation::new(&plan).run()?;
//! assert!(outcome.summary.links[0].utilization > 0.8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod flow;

use std::collections::{BTreeMap, BTreeSet};

use selfclock_congestion::units::{Duration, Rate, Time};

use super::assemble::{check_coalescing, find_routes, group, size_queues};
use super::{
    DisciplinePlan, FlowPlan, LONGEST_RUN, LinkPlan, LossPlan, Plan, PlanError, QueueSize, RecordPlan,
    Transport, Wire,
};
use crate::graph::route::Routing;
use crate::graph::topology::{self, DumbbellWires, PlacedWire, Topology, link_names};
pub use flow::{Flow, tcp, udp};

/// Bits per second.
pub const fn bps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate)
}

/// Thousands of bits per second.
pub const fn kbps(rate: u64) -> Rate {
    bps(rate.saturating_mul(1_000))
}

/// Millions of bits per second.
pub const fn mbps(rate: u64) -> Rate {
    bps(rate.saturating_mul(1_000_000))
}

/// Thousands of millions of bits per second.
pub const fn gbps(rate: u64) -> Rate {
    bps(rate.saturating_mul(1_000_000_000))
}

/// Microseconds.
pub const fn us(time: u64) -> Duration {
    Duration::from_microseconds(time)
}

/// Milliseconds.
pub const fn ms(time: u64) -> Duration {
    Duration::from_milliseconds(time)
}

/// Seconds.
pub const fn s(time: u64) -> Duration {
    ms(time.saturating_mul(1_000))
}

/// Bandwidth-delay products.
pub const fn bdp(multiple: f64) -> QueueSize {
    QueueSize::Bdp(multiple)
}

/// Packets.
pub const fn packets(count: u64) -> QueueSize {
    QueueSize::Packets(count)
}

/// A pair of hosts per flow across one bottleneck; `rtt` is the round-trip time of the empty
/// network without transmission times. The access links have a hundred times the bottleneck's rate,
/// and each a tenth of the round-trip time, unless [`PlanBuilder::access`] changes them.
pub fn dumbbell(rate: Rate, rtt: Duration) -> PlanBuilder {
    let shape = Shape::Dumbbell { rtt, reverse: None };
    let access = (Rate::from_bits_per_second(rate.bits_per_second().saturating_mul(100)), rtt.scaled(1, 10));
    PlanBuilder::new("dumbbell", shape, wire(rate, Duration::ZERO), access)
}

/// Bottlenecks in a row, the first flow along all of them and each further one across the next. The
/// access links have a hundred times the rate of a hop, and a third of its delay, unless
/// [`PlanBuilder::access`] changes them.
pub fn parking_lot(hops: usize, rate: Rate, delay: Duration) -> PlanBuilder {
    let access = (Rate::from_bits_per_second(rate.bits_per_second().saturating_mul(100)), delay.scaled(1, 3));
    PlanBuilder::new("parking-lot", Shape::ParkingLot { hops }, wire(rate, delay), access)
}

/// Nodes without links: [`PlanBuilder::link`] adds them, and each flow names its source and
/// destination.
pub fn graph(nodes: &[&str]) -> PlanBuilder {
    let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
    let shape = Shape::Graph { nodes, links: Vec::new() };
    PlanBuilder::new("graph", shape, wire(Rate::default(), Duration::ZERO), Default::default())
}

/// A link with a queue of one bandwidth-delay product.
pub fn wire(rate: Rate, delay: Duration) -> Wire {
    Wire { link: LinkPlan::new("", (0, 0), rate, delay), queue: bdp(1.0) }
}

impl Wire {
    /// With this queue.
    #[must_use]
    pub fn queue(mut self, queue: QueueSize) -> Self {
        self.queue = queue;
        self
    }
}

#[derive(Clone, Debug)]
enum Shape {
    Dumbbell { rtt: Duration, reverse: Option<Wire> },
    ParkingLot { hops: usize },
    Graph { nodes: Vec<String>, links: Vec<(String, String, Wire)> },
}

/// A plan under construction: [`dumbbell`], [`parking_lot`] or [`graph`] begins it,
/// [`PlanBuilder::plan`] ends it.
#[derive(Clone, Debug)]
pub struct PlanBuilder {
    name: String,
    seed: u64,
    duration: Duration,
    measure_from: Time,
    measure_delays: bool,
    shape: Shape,
    bottleneck: Wire,
    access: (Rate, Duration),
    transport: Transport,
    flows: Vec<Flow>,
    record: Option<RecordPlan>,
    /// The first call that does not apply to this network.
    misplaced: Option<PlanError>,
}

impl PlanBuilder {
    fn new(name: &str, shape: Shape, bottleneck: Wire, access: (Rate, Duration)) -> Self {
        Self {
            name: name.to_owned(),
            seed: 1,
            duration: s(30),
            measure_from: Time::ZERO,
            measure_delays: false,
            shape,
            bottleneck,
            access,
            transport: Transport::modern(),
            flows: Vec::new(),
            record: None,
            misplaced: None,
        }
    }

    fn misplace(&mut self, what: &'static str, network: &'static str) {
        self.misplaced.get_or_insert(PlanError::Misplaced { what, network });
    }

    /// Sets the name in records.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// Sets the seed; default 1.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the duration; default 30 s.
    #[must_use]
    pub const fn duration(mut self, duration: Duration) -> Self {
        self.duration = duration;
        self
    }

    /// Measures rates, utilization and mean queues from this time on; default the beginning.
    #[must_use]
    pub const fn measure_from(mut self, from: Duration) -> Self {
        self.measure_from = Time::from_picoseconds(from.picoseconds());
        self
    }

    /// Measures one-way delays and waits, for their quantiles.
    #[must_use]
    pub const fn measure_delays(mut self) -> Self {
        self.measure_delays = true;
        self
    }

    /// Sets the size of the bottleneck queues.
    #[must_use]
    pub const fn queue(mut self, queue: QueueSize) -> Self {
        self.bottleneck.queue = queue;
        self
    }

    /// Sets the discipline of the bottleneck queues. Their size stays, one bandwidth-delay product
    /// unless [`PlanBuilder::queue`] sets it: see [`DisciplinePlan::usual_limit`].
    #[must_use]
    pub fn discipline(mut self, discipline: DisciplinePlan) -> Self {
        self.bottleneck.link.discipline = discipline;
        self
    }

    /// Sets random losses at the bottlenecks, each way.
    #[must_use]
    pub fn loss(mut self, loss: LossPlan) -> Self {
        self.bottleneck.link.loss = loss;
        self
    }

    /// Dumbbell: replaces the bottleneck on the way back.
    #[must_use]
    pub fn reverse(mut self, wire: Wire) -> Self {
        match &mut self.shape {
            Shape::Dumbbell { reverse, .. } => *reverse = Some(wire),
            _ => self.misplace("a way back", "a dumbbell"),
        }
        self
    }

    /// Sets rate and delay of the access links, each way. The round-trip time of a dumbbell stays.
    #[must_use]
    pub const fn access(mut self, rate: Rate, delay: Duration) -> Self {
        self.access = (rate, delay);
        self
    }

    /// Graph: adds a link each way between two nodes, named after them.
    #[must_use]
    pub fn link(mut self, from: &str, to: &str, wire: Wire) -> Self {
        match &mut self.shape {
            Shape::Graph { links, .. } => links.push((from.to_owned(), to.to_owned(), wire)),
            _ => self.misplace("a link", "a graph"),
        }
        self
    }

    /// Adds a flow. In a dumbbell it has its own pair of hosts.
    #[must_use]
    pub fn flow(mut self, flow: impl Into<Flow>) -> Self {
        self.flows.push(flow.into());
        self
    }

    /// With further flows.
    #[must_use]
    pub fn flows<F: Into<Flow>>(mut self, flows: impl IntoIterator<Item = F>) -> Self {
        self.flows.extend(flows.into_iter().map(Into::into));
        self
    }

    /// Sets the transport settings of all flows without their own.
    #[must_use]
    pub fn transport(mut self, transport: Transport) -> Self {
        self.transport = transport;
        self
    }

    /// Follows the papers' simulators: [`Transport::classic`], and queues that count the packet in
    /// service.
    #[must_use]
    pub fn classic(mut self) -> Self {
        self.bottleneck.link.counts_packet_in_service = true;
        self.transport(Transport::classic())
    }

    /// Sets the interval of the series; default a thousandth of the duration.
    #[must_use]
    pub const fn every(self, interval: Duration) -> Self {
        self.record(RecordPlan { interval: Some(interval), ..RecordPlan::NOTHING })
    }

    /// Records only the summary.
    #[must_use]
    pub const fn unrecorded(self) -> Self {
        self.record(RecordPlan::NOTHING)
    }

    /// With these records.
    #[must_use]
    pub const fn record(mut self, record: RecordPlan) -> Self {
        self.record = Some(record);
        self
    }

    /// The plan.
    ///
    /// # Errors
    /// Whatever a scenario file would be refused for.
    pub fn plan(self) -> Result<Plan, PlanError> {
        self.check()?;
        let topology = self.topology()?;
        if topology.links.iter().any(|link| link.wire.link.rate.bits_per_second() == 0) {
            return Err(PlanError::NoRate);
        }
        if topology.links.iter().any(|link| link.wire.queue.is_nothing()) {
            return Err(PlanError::NoQueue);
        }
        let mut flows = self.placed_flows(&topology)?;
        find_routes(&topology, Routing::Shortest, &mut flows).map_err(|(_, error)| error)?;
        check_coalescing(&topology, &flows)?;
        let groups = self.groups(&flows)?;
        let series = (flows.len() + topology.links.len()) as u128;
        Ok(Plan {
            name: self.name,
            seed: self.seed,
            duration: self.duration,
            measure_from: self.measure_from,
            measure_delays: self.measure_delays,
            links: size_queues(&topology, &flows).into(),
            nodes: topology.nodes.into(),
            flows: flows.into(),
            routers: Vec::new(),
            groups,
            record: self.record.unwrap_or_else(|| RecordPlan {
                interval: Some(RecordPlan::usual_interval(self.duration, series)),
                ..RecordPlan::NOTHING
            }),
        })
    }

    fn check(&self) -> Result<(), PlanError> {
        if let Some(misplaced) = &self.misplaced {
            return Err(misplaced.clone());
        }
        if self.duration.is_zero() || self.duration > LONGEST_RUN {
            return Err(PlanError::Duration);
        }
        if self.measure_from > Time::ZERO && self.measure_from >= Time::ZERO + self.duration {
            return Err(PlanError::MeasuresNothing);
        }
        if self.record.as_ref().is_some_and(|record| record.interval.is_some_and(Duration::is_zero)) {
            return Err(PlanError::NoInterval);
        }
        match self.shape {
            Shape::ParkingLot { hops: 0 } => Err(PlanError::NoHops),
            _ => Ok(()),
        }
    }

    fn topology(&self) -> Result<Topology<Wire>, PlanError> {
        let counts = self.bottleneck.link.counts_packet_in_service;
        let (rate, delay) = self.access;
        let mut access = wire(rate, delay).queue(QueueSize::Unlimited);
        access.link.counts_packet_in_service = counts;
        match &self.shape {
            Shape::Dumbbell { rtt, reverse } => {
                let around = delay.times(4);
                if around > *rtt {
                    return Err(PlanError::Access { access: around, rtt: *rtt });
                }
                let mut bottleneck = self.bottleneck.clone();
                bottleneck.link.delay = rtt.saturating_sub(around).scaled(1, 2);
                let mut reverse = reverse.clone().unwrap_or_else(|| bottleneck.clone());
                reverse.link.counts_packet_in_service |= counts;
                let wires =
                    DumbbellWires { bottleneck, reverse, access: access.clone(), sink_access: access };
                Ok(topology::dumbbell(self.flows.len(), &wires))
            }
            Shape::ParkingLot { hops } => Ok(topology::parking_lot(*hops, &self.bottleneck, &access)),
            Shape::Graph { nodes, links } => connect(nodes, links, counts),
        }
    }

    fn placed_flows(&self, topology: &Topology<Wire>) -> Result<Vec<FlowPlan>, PlanError> {
        let index: BTreeMap<&str, usize> =
            topology.nodes.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
        let mut names = BTreeSet::new();
        let mut flows = Vec::new();
        for (position, flow) in self.flows.iter().enumerate() {
            let name = flow.name.clone().unwrap_or_else(|| format!("flow{}", position + 1));
            if !names.insert(name.clone()) {
                return Err(PlanError::Twice { what: "flow", name });
            }
            let host = match self.shape {
                Shape::Dumbbell { .. } => Some(position + 1),
                Shape::ParkingLot { hops } => Some(position % (hops + 1)),
                Shape::Graph { .. } => None,
            };
            let usual = host.map(|host| (format!("source{host}"), format!("sink{host}")));
            let (from, to) = flow.ends.clone().or(usual).ok_or(PlanError::NoEnd("from"))?;
            let [from, to] =
                [from, to].map(|name| index.get(name.as_str()).copied().ok_or(PlanError::UnknownNode(name)));
            let (from, to) = (from?, to?);
            if from == to {
                return Err(PlanError::ToItself("flow"));
            }
            let start = Time::ZERO + flow.start;
            if flow.stop <= start {
                return Err(PlanError::StopsFirst);
            }
            flows.push(FlowPlan {
                name: name.into(),
                from,
                to,
                forward: Vec::new(),
                reverse: Vec::new(),
                passes_equals: false,
                start,
                start_jitter: flow.start_jitter,
                stop: flow.stop,
                dscp: flow.dscp,
                protocol: flow.protocol(&self.transport)?,
            });
        }
        Ok(flows)
    }

    fn groups(&self, flows: &[FlowPlan]) -> Result<Vec<Vec<usize>>, PlanError> {
        let named = self.flows.iter().map(|flow| flow.group.as_deref());
        group(named, flows).map_err(|(_, error)| error)
    }
}

/// Nodes and links by name.
fn connect(
    nodes: &[String],
    links: &[(String, String, Wire)],
    counts_packet_in_service: bool,
) -> Result<Topology<Wire>, PlanError> {
    let mut index = BTreeMap::new();
    for (position, node) in nodes.iter().enumerate() {
        if index.insert(node.as_str(), position).is_some() {
            return Err(PlanError::Twice { what: "node", name: node.clone() });
        }
    }
    let find =
        |name: &String| index.get(name.as_str()).copied().ok_or_else(|| PlanError::UnknownNode(name.clone()));
    let mut topology = Topology { nodes: nodes.iter().map(Into::into).collect(), links: Vec::new() };
    let mut names = BTreeSet::new();
    for (from, to, wire) in links {
        let ends = [find(from)?, find(to)?];
        if ends[0] == ends[1] {
            return Err(PlanError::ToItself("link"));
        }
        let mut wire = wire.clone();
        wire.link.counts_packet_in_service |= counts_packet_in_service;
        for (name, [from, to]) in link_names(None, from, to).into_iter().zip([ends, [ends[1], ends[0]]]) {
            if !names.insert(name.clone()) {
                return Err(PlanError::Twice { what: "link", name });
            }
            topology.links.push(PlacedWire { name: name.into(), from, to, wire: wire.clone() });
        }
    }
    Ok(topology)
}

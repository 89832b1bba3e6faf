//! A run, fully resolved: every default filled in, every unit converted, every name an index.
//!
//! A scenario file becomes a [`Plan`] (see [`crate::scenario`]), and a [`crate::Simulation`] is
//! built from one. Plans can also be built in Rust: see [`dumbbell`].

pub(crate) mod assemble;
mod build;
mod difference;
mod error;
mod expected;
mod flow;
mod link;
#[cfg(feature = "scenario-files")]
pub(crate) mod overhead;
mod router;
mod traffic;
mod transport;

pub use crate::queue::{DisciplinePlan, MarkAbove, QueueLimit};
pub use crate::router::MechanismPlan;
pub use crate::shared::Name;
pub use assemble::{QueueSize, Wire};
pub use build::{
    Flow, PlanBuilder, bdp, bps, dumbbell, gbps, graph, kbps, mbps, ms, packets, parking_lot, s, tcp, udp,
    us, wire,
};
pub use difference::Difference;
pub use error::PlanError;
pub use flow::{ConnectionsPlan, FlowPlan, Protocol, StackPlan, TcpPlan};
pub use link::{CardStamps, LinkChange, LinkPlan, LinkSettings, LossPlan};
pub use router::RouterPlan;
pub use traffic::{Activity, Arrivals, Period, SizeDistribution, Source, UdpPlan};
pub use transport::{
    AckClock, DelayedAck, Ecn, MisbehaviourPlan, ReceiveWindow, Recovery, RetransmissionTimer, RttSamples,
    Shaper, TimerArithmetic, Transport,
};

use crate::graph::route::{Edge, routes};
use crate::shared::Shared;
use selfclock_congestion::units::{Duration, Time};

/// Maximum length of a run: half of the range of times, so that no sum of a time and a delay
/// overflows.
pub const LONGEST_RUN: Duration = Duration::from_picoseconds(1 << 63);

/// Complete description of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// When the run ends.
    pub duration: Duration,
    /// Goodput, throughput, utilization and mean queues are those from this time on.
    pub measure_from: Time,
    /// Whether the one-way delay of each data packet and its wait at each link are measured, for
    /// the quantiles of both.
    pub measure_delays: bool,
    /// Names of the nodes.
    pub nodes: Shared<Vec<Name>>,
    /// One-way links.
    pub links: Shared<Vec<LinkPlan>>,
    /// Flows, in the order of the scenario.
    pub flows: Shared<Vec<FlowPlan>>,
    /// Router mechanisms, in the order in which a packet meets those before the same link.
    pub routers: Vec<RouterPlan>,
    /// Groups of parallel flows that share their knowledge of the path, each by the indices of its
    /// members.
    pub groups: Vec<Vec<usize>>,
    /// Records to keep.
    pub record: RecordPlan,
}

impl Plan {
    /// Whether a flow's algorithm is not built in.
    pub fn has_custom_algorithms(&self) -> bool {
        self.flows.iter().filter_map(|flow| flow.protocol.tcp()).any(|tcp| tcp.control.is_custom())
    }

    /// The links from one node to another, for each pair; `None` without a route. The shortest
    /// delay, as for flows.
    pub fn routes(&self, pairs: &[(usize, usize)]) -> Vec<Option<Vec<usize>>> {
        let edge = |link: &LinkPlan| Edge { from: link.from, to: link.to, delay: link.delay };
        let edges: Vec<Edge> = self.links.iter().map(edge).collect();
        routes(self.nodes.len(), &edges, pairs)
    }

    /// Whether a flow uses a foreign stack. Such a run cannot be copied.
    pub fn has_foreign_stacks(&self) -> bool {
        self.flows.iter().any(|flow| matches!(flow.protocol, Protocol::Stack(_)))
    }
}

/// Records to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlan {
    /// Interval of the sampled series; `None` without series.
    pub interval: Option<Duration>,
    /// Record every packet: send, enqueue, drop, deliver, acknowledge.
    pub packets: bool,
    /// Start and end of packet recording.
    pub packets_from: Time,
    /// See `packets_from`; [`Time::NEVER`] for the end of the run.
    pub packets_until: Time,
    /// Whether to keep, for recorded packets, the payload of foreign stacks' datagrams and their
    /// TLS secrets, for captures.
    pub payload: bool,
}

/// Default number of samples in a series.
const SAMPLES: u128 = 1_000;
/// Default maximum of rows in all series.
const ROWS: u128 = 2_000_000;

impl RecordPlan {
    /// The default interval of `series` series: a thousandth of the duration, or longer to limit
    /// their rows to two million.
    pub fn usual_interval(duration: Duration, series: u128) -> Duration {
        let samples = (ROWS / series.max(1)).clamp(1, SAMPLES) as u64;
        Duration::from_picoseconds(duration.picoseconds().div_ceil(samples))
    }

    /// Only the summary.
    pub const NOTHING: Self = Self {
        interval: None,
        packets: false,
        packets_from: Time::ZERO,
        packets_until: Time::NEVER,
        payload: false,
    };
}

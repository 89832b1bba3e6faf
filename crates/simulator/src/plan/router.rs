//! Mechanisms in routers.

use crate::packet::PacketKind;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// A mechanism in a router, or in several.
#[derive(Clone, Debug)]
pub struct RouterPlan {
    /// Links before which it stands.
    pub links: Vec<usize>,
    /// What it does.
    pub mechanism: MechanismPlan,
}

/// What a mechanism in a router does.
#[derive(Clone, Debug)]
pub enum MechanismPlan {
    /// Drops what exceeds a rate and a burst.
    Policer(PolicerPlan),
    /// Loses chosen kinds of packets.
    Loss(LossOfKindsPlan),
    /// Holds some packets, so that others overtake them.
    Reordering(ReorderingPlan),
    /// The router's part of XCP.
    Xcp,
    /// Core-stateless fair queueing.
    Csfq(CsfqPlan),
    /// Fair Intelligent Congestion Control Resource Discovery.
    Ficcrd(FiccrdPlan),
    /// Of two acknowledgements of a flow within this time the earlier is dropped.
    AckThinning(Duration),
    /// Forwards so many packets per second.
    ForwardingLimit(ForwardingLimitPlan),
    /// Answers Quick-Start Requests.
    QuickStart(QuickStartPlan),
    /// Changes what it should only forward.
    Tampering(TamperingPlan),
}

/// A router that changes packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TamperingPlan {
    /// Probability that a packet is changed.
    pub probability: f64,
    /// The window that acknowledgements then advertise.
    pub receive_window: Option<Bytes>,
    /// "ER" of the resource discovery packets of FICCRD on their way back.
    pub allowed_rate: Option<Rate>,
    /// What becomes of the options by which an algorithm speaks to its peer.
    pub options: OptionTampering,
}

/// What becomes of the options of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionTampering {
    /// Nothing.
    None,
    /// The last one comes again on each packet that has none.
    Duplicate,
    /// A packet carries that of the one before.
    Swap,
}

/// Core-stateless fair queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsfqPlan {
    /// Time constant of a flow's rate: "K", 100 ms.
    pub flow_constant: Duration,
    /// Time constant of a link's rates, and window of its fair share: "K_alpha" and "K_c", 200 ms.
    pub link_constant: Duration,
}

/// Loss of chosen kinds of packets.
#[derive(Clone, Debug, PartialEq)]
pub struct LossOfKindsPlan {
    /// Which of these packets are lost.
    pub pattern: LossPattern,
    /// Which kinds.
    pub kinds: Vec<PacketKind>,
    /// When the losses begin.
    pub from: Time,
    /// When they end.
    pub until: Time,
}

/// Which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossPattern {
    /// Each with this probability, independently.
    Random(f64),
    /// One in so many: this many pass less one, then one is lost.
    Every(u64),
    /// One, then none for this long.
    Spaced(Duration),
}

/// Packets that others overtake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderingPlan {
    /// Probability that a packet is held.
    pub probability: f64,
    /// For how long.
    pub delay: Duration,
}

/// FICCRD: a domain of routers. The defaults of [`FiccrdPlan::new`] are those of the paper's section 3.1 where it has them.
#[derive(Clone, Debug, PartialEq)]
pub struct FiccrdPlan {
    /// Its routers. The first and the last on a flow's way are the flow's edges.
    pub nodes: Vec<usize>,
    /// Weight of a rate in the mean allowed rate: "beta", 0.0625.
    pub beta: f64,
    /// Pressure at an empty queue: "a", 1.15.
    pub alpha: f64,
    /// Target of the queue over its size: "BUR", 0.5.
    pub utilization: f64,
    /// Reading of Table 1.
    pub rule: MaprRule,
    /// "K" of equation 1: 100 ms, as in CSFQ.
    pub rate_constant: Duration,
    /// Data packets for each resource discovery packet: 32, as in ATM.
    pub packets_per_discovery: u32,
    /// And at least one in this time, for a flow that sends: 100 ms. `None`: only by number.
    pub discovery_interval: Option<Duration>,
    /// Size of a resource discovery packet on the wire, bytes: 64.
    pub discovery_size: u16,
    /// How the ingress holds a source to the allowed rate.
    pub feedback: Feedback,
    /// Which round-trip time a window is computed with.
    pub rtt: EdgeRtt,
    /// Smallest window that is written, in segments: 2.
    pub floor: f64,
    /// Longest time for which an acknowledgement is held: 100 ms.
    pub longest_hold: Duration,
    /// Most flows in the table of an edge: 4096. Others are not controlled.
    pub flows: u32,
    /// What has a control loop.
    pub unit: ControlUnit,
}

impl FiccrdPlan {
    /// The defaults, for these routers.
    pub fn new(nodes: Vec<usize>) -> Self {
        Self {
            nodes,
            beta: 0.0625,
            alpha: 1.15,
            utilization: 0.5,
            rule: MaprRule::OuterElse,
            rate_constant: Duration::from_milliseconds(100),
            packets_per_discovery: 32,
            discovery_interval: Some(Duration::from_milliseconds(100)),
            discovery_size: 64,
            feedback: Feedback::Window,
            rtt: EdgeRtt::Current,
            floor: 2.0,
            longest_hold: Duration::from_milliseconds(100),
            flows: 4096,
            unit: ControlUnit::Flow,
        }
    }
}

/// Which rates count in the mean allowed rate, where Table 1 has the same line twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaprRule {
    /// All: equation 2.
    Literal,
    /// The else belongs to the outer condition: above the target only rates below the mean, else all.
    OuterElse,
    /// As in intelligent congestion control for ATM: above the target only rates below the mean, else only those above 7/8
    /// of it.
    Icc,
}

/// How an ingress holds a source to a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Not at all.
    None,
    /// Explicit window adaptation: it lowers the window in acknowledgements.
    Window,
    /// ACK bucket control: it holds acknowledgements back.
    AckBucket,
}

/// Which round-trip time a window is computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeRtt {
    /// The smoothed one.
    Current,
    /// The smallest.
    Base,
}

/// What has a control loop of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlUnit {
    /// Each flow.
    Flow,
    /// All flows with one DSCP between one pair of edges.
    Class,
}

/// A router that forwards so many packets per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardingLimitPlan {
    /// Time that a packet takes.
    pub service: Duration,
    /// Packets that wait at most, beside the one in service.
    pub limit: u64,
}

/// The router's part of Quick-Start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStartPlan {
    /// Part of a link's rate up to which requests are approved.
    pub share: f64,
    /// Time over which the load is measured, and for which approvals are remembered.
    pub interval: Duration,
}

/// Token-bucket policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerPlan {
    /// Rate at which the bucket fills.
    pub rate: Rate,
    /// What it holds.
    pub burst: Bytes,
}

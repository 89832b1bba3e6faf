//! A run, fully resolved: every default filled in, every unit converted, every name an index.
//!
//! A scenario file becomes a [`Plan`] (see [`crate::scenario`]), and a [`crate::Simulation`] is built from one.
//! A plan built by hand is as good.

use crate::network::DeliveryTrace;
use crate::packet::PacketKind;
pub use crate::queue::{DisciplinePlan, MarkAbove, QueueLimit};
use crate::shared::Shared;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

/// Everything a run needs to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// When the run ends.
    pub duration: Duration,
    /// Names of the nodes.
    pub nodes: Shared<Vec<String>>,
    /// One-way links.
    pub links: Shared<Vec<LinkPlan>>,
    /// Flows, in the order in which they were written.
    pub flows: Shared<Vec<FlowPlan>>,
    /// Mechanisms in routers, in the order in which a packet meets those that stand before the same link.
    pub routers: Vec<RouterPlan>,
    /// Groups of parallel flows that share what they know of their path, each by the indices of its members.
    pub groups: Vec<Vec<usize>>,
    /// What to record.
    pub record: RecordPlan,
}

impl Plan {
    /// Algorithms of other crates are among those of the flows.
    pub fn has_custom_algorithms(&self) -> bool {
        self.flows.iter().filter_map(|flow| flow.protocol.tcp()).any(|tcp| tcp.control.is_custom())
    }
}

impl FlowPlan {
    /// Name of the algorithm in records; none for UDP.
    pub fn algorithm(&self) -> Option<&str> {
        self.protocol.tcp().map(|tcp| tcp.control_name.as_str())
    }
}

/// A one-way link: a FIFO queue, then a transmitter, then a delay line.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Name in records.
    pub name: String,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// Rate of the transmitter; the mean rate of its trace, if it has one.
    pub rate: Rate,
    /// It sends only at the opportunities of this trace, and not at a rate.
    pub trace: Option<Arc<DeliveryTrace>>,
    /// Propagation delay.
    pub delay: Duration,
    /// What the queue holds at most.
    pub queue: QueueLimit,
    /// Who is dropped or marked, and who goes first.
    pub discipline: DisciplinePlan,
    /// The packet in service takes one of the queue's places (ns-2's way). If not, the limit is of waiting packets.
    pub counts_packet_in_service: bool,
    /// Random loss on the wire, after the queue.
    pub loss: LossPlan,
    /// Each packet is delayed by a further uniform random time in [0, jitter), without overtaking.
    pub jitter: Duration,
    /// The network card at the end of the link hands packets to its host together, when this time has passed since the first of
    /// them arrived (an absolute timer, such as RxAbsIntDelay of Intel's cards). Zero: each at once. For packets that end their
    /// way there; none may go on.
    pub coalescing: Duration,
    /// What the path is from a time on, in the order of time. What has been accepted before keeps the times it had then, and
    /// nothing overtakes.
    pub changes: Vec<LinkChange>,
}

impl LinkPlan {
    /// A link between these nodes with an unlimited drop-tail queue that does nothing to its packets but to delay them.
    pub fn new(name: &str, (from, to): (usize, usize), rate: Rate, delay: Duration) -> Self {
        Self {
            name: name.to_owned(),
            from,
            to,
            rate,
            trace: None,
            delay,
            queue: QueueLimit::Unlimited,
            discipline: DisciplinePlan::default(),
            counts_packet_in_service: false,
            loss: LossPlan::None,
            jitter: Duration::ZERO,
            coalescing: Duration::ZERO,
            changes: Vec::new(),
        }
    }
}

/// Rate and delay of a link from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkChange {
    /// When.
    pub at: Time,
    /// Rate of the transmitter from then on.
    pub rate: Rate,
    /// Propagation delay from then on.
    pub delay: Duration,
}

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

/// Random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossPlan {
    /// None.
    None,
    /// Each packet is lost with this probability, independently.
    Bernoulli(f64),
    /// A two-state Markov chain that steps once per packet.
    GilbertElliott {
        /// Probability to go from the good to the bad state.
        good_to_bad: f64,
        /// Probability to go from the bad to the good state.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// A flow from one node to another.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Name in records.
    pub name: String,
    /// Index of the node that sends data.
    pub from: usize,
    /// Index of the node that receives it.
    pub to: usize,
    /// Links that data takes.
    pub forward: Vec<usize>,
    /// Links that acknowledgements take; empty for UDP.
    pub reverse: Vec<usize>,
    /// When it starts.
    pub start: Time,
    /// A further uniform random delay of the start, in [0, start_jitter).
    pub start_jitter: Duration,
    /// When the application stops producing data; [`Time::NEVER`]: at the end of the run.
    pub stop: Time,
    /// Differentiated services codepoint of its packets.
    pub dscp: u8,
    /// TCP or UDP.
    pub protocol: Protocol,
}

/// How a flow sends.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp(Shared<TcpPlan>),
    /// Short TCP connections that come and go.
    Connections(Box<ConnectionsPlan>),
    /// UDP.
    Udp(UdpPlan),
}

impl Protocol {
    /// How its connections are, if it has any.
    pub fn tcp(&self) -> Option<&TcpPlan> {
        match self {
            Self::Tcp(tcp) => Some(tcp),
            Self::Connections(connections) => Some(&connections.tcp),
            Self::Udp(_) => None,
        }
    }
}

/// Short TCP connections between the same two nodes, as a web server has them. They start at random, independently of each
/// other: a Poisson process. Each is a connection of its own.
#[derive(Clone, Debug)]
pub struct ConnectionsPlan {
    /// What each is like, but for its source, which is a size.
    pub tcp: TcpPlan,
    /// Mean time from the start of one to the start of the next.
    pub interval: Duration,
    /// Payload of each.
    pub size: SizeDistribution,
}

/// Distribution of the sizes of short connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeDistribution {
    /// All are alike.
    Constant(Bytes),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Bytes,
    },
    /// Pareto, cut at both ends: the probability of more than x falls as x^-shape between them.
    Pareto {
        /// Smallest.
        minimum: Bytes,
        /// Largest.
        maximum: Bytes,
        /// Exponent, above 0.
        shape: f64,
    },
    /// The logarithm is normally distributed.
    Lognormal {
        /// Mean of the sizes, not of their logarithms.
        mean: Bytes,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}

/// A UDP source that knows no congestion.
#[derive(Clone, Debug)]
pub struct UdpPlan {
    /// Wire sizes of its packets, each with the weight with which it is drawn. At least one, and a positive weight.
    pub packets: Vec<(Bytes, f64)>,
    /// Mean rates on the wire, each from a time of the run on, ascending; the first from the start of the flow, whenever that
    /// is. At rate zero it is silent.
    pub rates: Vec<(Time, Rate)>,
    /// When packets leave.
    pub arrivals: Arrivals,
}

impl UdpPlan {
    /// Packets of one size at one rate.
    pub fn steady(packet: Bytes, rate: Rate, arrivals: Arrivals) -> Self {
        Self { packets: vec![(packet, 1.0)], rates: vec![(Time::ZERO, rate)], arrivals }
    }
}

/// Times between the packets of a UDP source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Constant, or with packets of several sizes in proportion to the size of the packet before: a constant bit rate.
    Constant,
    /// Exponentially distributed, whatever the size.
    Poisson,
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct TcpPlan {
    /// Start and window with their parameters.
    pub control: Selection,
    /// Name of the algorithm in records: "reno", or "reno+packet-pair" for window and start.
    pub control_name: String,
    /// What the application has to send.
    pub source: Source,
    /// Transport settings.
    pub transport: Transport,
}

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// As much as the connection takes.
    Bulk,
    /// So many bytes.
    Size(Bytes),
    /// Bytes at this rate, in writes of one segment: the connection is application-limited when it could carry more.
    Rate(Rate),
}

/// Transport settings of one connection; the named profiles are two values of this.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Payload of a full segment.
    pub mss: Bytes,
    /// TCP and IP header on the wire, without options.
    pub header: Bytes,
    /// Size of an acknowledgement without data and options on the wire.
    pub ack: Bytes,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Proportional rate reduction, RFC 9937: in a fast recovery with SACK or RACK the window comes down over a round trip.
    /// Other recoveries do not know it.
    pub prr: bool,
    /// Limited Transmit, RFC 3042: a new segment on each of the first two duplicate acknowledgements.
    pub limited_transmit: bool,
    /// No fast retransmit until everything outstanding at the last one, or at the last timeout, is acknowledged (RFC
    /// 6582, "recover"). Off: Reno as in 4.3BSD, which cuts the window again for each loss of one window. With SACK
    /// always on (RFC 6675).
    pub one_recovery_per_window: bool,
    /// Initial window, in segments.
    pub initial_window: f64,
    /// Initial slow start threshold, in segments; infinite: none.
    pub initial_ssthresh: f64,
    /// The receiver's buffer, which it advertises.
    pub receive_window: Bytes,
    /// The window scale option: without it no more than 65535 bytes can be advertised.
    pub window_scaling: bool,
    /// SYN and SYN-ACK before the first data. The third packet of the handshake is the first data segment.
    pub handshake: bool,
    /// Timestamps option: 12 bytes on every segment, a round-trip sample on every acknowledgement.
    pub timestamps: bool,
    /// Delayed acknowledgement.
    pub delayed_ack: DelayedAck,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Retransmission timer.
    pub timer: RetransmissionTimer,
    /// Grow the window only when it is what limits the sender.
    pub grow_only_when_limited: bool,
    /// Slow start and Reno's increase count acknowledged bytes (RFC 3465), not acknowledgements.
    pub byte_counting: bool,
    /// Space segments at `pacing_gain` × cwnd / srtt even where the algorithm does not ask for it; `None`: do not.
    pub pacing_gain: Option<f64>,
    /// A leaky bucket that shapes everything the sender sends.
    pub shaper: Option<Shaper>,
    /// The receiver knows the algorithm's option. If not, it ignores it.
    pub peer_knows_option: bool,
    /// What the receiver does that it must not; `None`: it is honest.
    pub misbehaviour: Option<MisbehaviourPlan>,
    /// Routers can neither read nor change its transport header (IPsec, QUIC).
    pub encrypted: bool,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery that the first new acknowledgement ends, RFC 2581.
    Reno,
    /// Fast recovery that partial acknowledgements keep up, RFC 6582.
    NewReno,
    /// Selective acknowledgements, RFC 6675.
    Sack,
    /// Selective acknowledgements, losses found by time, and a probe of the tail: RACK-TLP, RFC 8985.
    Rack,
}

impl Recovery {
    /// The receiver sends selective acknowledgements.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not used: a queue can only drop.
    Off,
    /// RFC 3168: the receiver says that there was a mark until the sender says that it has reduced its window.
    Classic,
    /// The receiver says how many bytes were marked, as AccECN (RFC 9768) does. Only the count is modelled, not how it is
    /// written into header and option: an acknowledgement does not grow by it.
    Accurate,
}

/// Delayed acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Acknowledge every so many full segments; 1: each.
    pub every: u32,
    /// Acknowledge at the latest after this time.
    pub timer: Duration,
    /// What the timer counts from.
    pub clock: AckClock,
}

/// What the delayed-acknowledgement timer counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckClock {
    /// The first segment not yet acknowledged.
    Segment,
    /// A free-running clock with this period, as in 4.4BSD: whatever waits is acknowledged at its ticks.
    Grid,
}

/// Retransmission timer, RFC 6298.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetransmissionTimer {
    /// Before the first round-trip sample.
    pub initial: Duration,
    /// Smallest value.
    pub minimum: Duration,
    /// Largest value.
    pub maximum: Duration,
    /// Clock granularity G. Zero: exact.
    pub granularity: Duration,
    /// Factor at each expiry.
    pub backoff: f64,
    /// How samples become srtt and rttvar.
    pub arithmetic: TimerArithmetic,
    /// Which segments are timed.
    pub samples: RttSamples,
}

/// How round-trip samples become srtt and rttvar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerArithmetic {
    /// RFC 6298 as written: RTO = SRTT + max(G, 4 RTTVAR).
    Rfc6298,
    /// Jacobson 1988 as in 4.3BSD: samples in whole ticks of G, srtt scaled by 8 and rttvar by 4 in integers.
    Bsd,
}

/// Which segments are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSamples {
    /// One at a time.
    OneAtATime,
    /// Every one that was sent once (with timestamps, or as a stack with a send time per segment does).
    EverySegment,
}

/// What a receiver does that it must not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MisbehaviourPlan {
    /// Acknowledgements in the place of one of new data; 1: the one.
    pub parts: u32,
    /// Acknowledges gaps as if nothing were missing, and so many segments beyond what has arrived.
    pub ahead: Option<u32>,
    /// Times that it repeats each acknowledgement.
    pub repeats: u32,
    /// At each so-manieth acknowledgement that reports data beyond a gap it throws that data away.
    pub renege_every: Option<u32>,
    /// What it multiplies the interval of a pair by before it reports it; it divides rates and feedback by that.
    pub interval_factor: f64,
}

impl MisbehaviourPlan {
    /// None: what an honest receiver does.
    pub const NONE: Self =
        Self { parts: 1, ahead: None, repeats: 0, renege_every: None, interval_factor: 1.0 };
}

/// A leaky bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Rate on the wire.
    pub rate: Rate,
    /// Bytes that may leave at once after an idle time.
    pub burst: Bytes,
}

/// What to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlan {
    /// Interval of the sampled series; `None`: no series.
    pub interval: Option<Duration>,
    /// Record every packet: send, enqueue, drop, deliver, acknowledge.
    pub packets: bool,
}

impl RecordPlan {
    /// Only the summary.
    pub const NOTHING: Self = Self { interval: None, packets: false };
}

impl Transport {
    /// What the receiver advertises: without the window scale option no more than 65535 bytes.
    pub fn advertised_window(&self) -> Bytes {
        if self.window_scaling { self.receive_window } else { self.receive_window.min(Bytes(65_535)) }
    }

    /// What a current stack does: RACK-TLP with PRR, timestamps, initial window 10, 200 ms minimum RTO, 40 ms delayed
    /// acknowledgement.
    pub fn modern() -> Self {
        Self {
            mss: Bytes(1448),
            header: Bytes(40),
            ack: Bytes(40),
            recovery: Recovery::Rack,
            prr: true,
            limited_transmit: true,
            one_recovery_per_window: true,
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: Bytes::MAX,
            window_scaling: true,
            handshake: true,
            timestamps: true,
            ecn: Ecn::Off,
            delayed_ack: DelayedAck {
                every: 2,
                timer: Duration::from_milliseconds(40),
                clock: AckClock::Segment,
            },
            timer: RetransmissionTimer {
                initial: Duration::from_milliseconds(1000),
                minimum: Duration::from_milliseconds(200),
                maximum: Duration::from_milliseconds(120_000),
                granularity: Duration::from_milliseconds(1),
                backoff: 2.0,
                arithmetic: TimerArithmetic::Rfc6298,
                samples: RttSamples::EverySegment,
            },
            grow_only_when_limited: true,
            byte_counting: true,
            pacing_gain: None,
            shaper: None,
            peer_knows_option: true,
            misbehaviour: None,
            encrypted: false,
        }
    }

    /// What the papers' simulators did: Reno, a 20-segment window, no handshake, every segment acknowledged,
    /// coarse timers.
    pub fn classic() -> Self {
        let mss = Bytes(1000);
        Self {
            mss,
            header: Bytes(40),
            ack: Bytes(40),
            recovery: Recovery::Reno,
            prr: false,
            limited_transmit: false,
            one_recovery_per_window: true,
            initial_window: 1.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: Bytes(20 * mss.get()),
            window_scaling: true,
            handshake: false,
            timestamps: false,
            ecn: Ecn::Off,
            delayed_ack: DelayedAck {
                every: 1,
                timer: Duration::from_milliseconds(200),
                clock: AckClock::Grid,
            },
            timer: RetransmissionTimer {
                initial: Duration::from_milliseconds(3000),
                minimum: Duration::from_milliseconds(1000),
                maximum: Duration::from_milliseconds(64_000),
                granularity: Duration::from_milliseconds(500),
                backoff: 2.0,
                arithmetic: TimerArithmetic::Bsd,
                samples: RttSamples::OneAtATime,
            },
            grow_only_when_limited: false,
            byte_counting: false,
            pacing_gain: None,
            shaper: None,
            peer_knows_option: true,
            misbehaviour: None,
            encrypted: false,
        }
    }
}

//! A run, fully resolved: every default filled in, every unit converted, every name an index.
//!
//! A scenario file becomes a [`Plan`] (see [`crate::scenario`]), and a [`crate::Simulation`] is built from one.
//! A plan built by hand is as good.

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

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
    pub nodes: Vec<String>,
    /// One-way links.
    pub links: Vec<LinkPlan>,
    /// Flows, in the order in which they were written.
    pub flows: Vec<FlowPlan>,
    /// Mechanisms in routers, in the order in which a packet meets those that stand before the same link.
    pub routers: Vec<RouterPlan>,
    /// Groups of parallel flows that share what they know of their path, each by the indices of its members.
    pub groups: Vec<Vec<usize>>,
    /// What to record.
    pub record: RecordPlan,
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
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// What the queue holds at most.
    pub queue: QueueLimit,
    /// Who is dropped or marked, and who goes first.
    pub discipline: DisciplinePlan,
    /// Drop-tail: mark, instead of dropping, what arrives above this threshold.
    pub mark_above: Option<MarkAbove>,
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
}

/// What a drop-tail queue holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Any number.
    Unlimited,
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
}

/// Queue discipline of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DisciplinePlan {
    /// First in, first out; what does not fit is dropped.
    DropTail,
    /// Controlled delay, RFC 8289.
    CoDel(CoDelPlan),
}

/// CoDel, RFC 8289.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelPlan {
    /// Time that a packet may spend in the queue: "TARGET", 5 ms.
    pub target: Duration,
    /// For how long it may take longer before a packet is dropped: "INTERVAL", 100 ms.
    pub interval: Duration,
    /// Mark, instead of dropping, what understands marks.
    pub ecn: bool,
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
    /// Of two acknowledgements of a flow within this time the earlier is dropped.
    AckThinning(Duration),
    /// Forwards so many packets per second.
    ForwardingLimit(ForwardingLimitPlan),
    /// Answers Quick-Start Requests.
    QuickStart(QuickStartPlan),
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

/// Threshold of a queue above which it marks packets congestion-experienced (RFC 3168) as they arrive, if their transport
/// understands marks: a step, as the K of DCTCP. The queue is that which the packet finds, without itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAbove {
    /// More than so many packets, counted as its limit counts them.
    Packets(u64),
    /// A packet will wait for longer than this.
    Wait(Duration),
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
    /// TCP or UDP.
    pub protocol: Protocol,
}

/// How a flow sends.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp(Box<TcpPlan>),
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
    /// Space segments at `pacing_gain` × cwnd / srtt even where the algorithm does not ask for it; `None`: do not.
    pub pacing_gain: Option<f64>,
    /// A leaky bucket that shapes everything the sender sends.
    pub shaper: Option<Shaper>,
    /// The receiver knows the algorithm's option. If not, it ignores it.
    pub peer_knows_option: bool,
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

impl Transport {
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
            pacing_gain: None,
            shaper: None,
            peer_knows_option: true,
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
            pacing_gain: None,
            shaper: None,
            peer_knows_option: true,
        }
    }
}

//! The structure of a scenario file: every table and key, as written, with nothing filled in.
//!
//! The comments of the keys are their descriptions in the JSON Schema.

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use serde_json::{Value as Json, json};
use std::sync::Arc;

use super::error::{Problem, allowed};
use super::queue::Queue;
use super::reader::{
    Field, Item, KeySchema, List, Located, Maybe, Needed, Read, Several, quantity_schema, table,
    table_schema, words,
};
use super::routers::RouterTable;
use super::units::{self, Dimension, Quantity};
use crate::delivery_trace::DeliveryTrace;
use crate::plan::{
    AckClock, Arrivals, Ecn, LossPlan, Recovery, RttSamples, SizeDistribution, TimerArithmetic,
};

table! {
    /// A selfclock scenario.
    File {
        /// Version of the file format: 1.
        schema: Needed<SchemaVersion>,
        /// Name in reports. Default: the name of the file without its extension.
        name: Maybe<Name>,
        /// One line for people.
        title: Maybe<String>,
        /// Simulated time.
        duration: Needed<Positive<Duration>>,
        /// Seed of every random stream. Default: 1.
        seed: Maybe<Seed>,
        /// Defaults of transport and queues: "modern" (a current stack) or "classic" (the simulators of the
        /// 1990s, where a queue limit counts the packet in service). Default: "modern".
        profile: Maybe<Profile>,
        /// Nodes and links.
        network: Needed<Network>,
        /// Flows, in the order in which records list them.
        flow: List<FlowFile>,
        /// Mechanisms in routers. Default: none.
        router: Several<RouterTable>,
        /// Transport settings of every flow, over the profile.
        transport: Maybe<TransportFile>,
        /// What to record.
        record: Maybe<RecordFile>,
    }

    /// Hosts in pairs across one bottleneck: source1..N, left, right, sink1..N.
    DumbbellFile {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Number of pairs of hosts. Default: the number of flows.
        hosts: Maybe<Count>,
        /// Link from left to right.
        bottleneck: Needed<WireFile>,
        /// Link from right to left. Default: as bottleneck.
        reverse: Maybe<WireFile>,
        /// Links between each source and left, each direction.
        access: Needed<WireFile>,
        /// Links between right and each sink, each direction. Default: as access.
        sink_access: Maybe<WireFile>,
    }

    /// Bottlenecks in a row: router0..N, source0 and sink0 at the ends, sourceI and sinkI at the ends of hop
    /// I.
    ParkingLotFile {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Number of bottlenecks.
        hops: Needed<Count>,
        /// Links between neighbouring routers, each direction.
        hop: Needed<WireFile>,
        /// Links between each host and its router, each direction.
        access: Needed<WireFile>,
    }

    /// Nodes and links one by one.
    GraphFile {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Names of the nodes.
        nodes: List<Name>,
        /// Links.
        link: List<LinkFile>,
    }

    /// What a link is made of.
    WireFile {
        /// Rate of the transmitter. A link has a rate or a delivery trace.
        rate: Maybe<Rate>,
        /// In the place of a rate: a file in Mahimahi's format, one line for each opportunity to send a packet of 1500 B, with
        /// its time in milliseconds. A relative path starts at the scenario file. The trace is repeated with its last time as
        /// the period.
        delivery_trace: Maybe<DeliveryTraceFile>,
        /// Propagation delay.
        delay: Needed<Duration>,
        /// What the queue holds at most. "1 bdp" is the rate times the largest base round-trip time
        /// of the TCP flows that cross the link. A table has the limit, the discipline and its settings.
        /// Default: "1 bdp"; "unlimited" for access links.
        queue: Maybe<Queue>,
        /// Whether the limit is of the packets that wait, or of those in the system, which includes the one
        /// in service. Default: "waiting"; "in-system" in the classic profile.
        queue_counts: Maybe<QueueCounts>,
        /// Random loss on the wire, after the queue. Default: none.
        loss: Maybe<LossPlan>,
        /// Each packet is delayed by a further uniform random time below this, without overtaking. Default:
        /// "0 s".
        jitter: Maybe<Duration>,
        /// The network cards at its ends hand packets to their host together, when this time has passed since the first of
        /// them arrived. Routers pass packets on at once. Default: "0 s".
        coalescing: Maybe<Duration>,
        /// Other rates and delays from times of the run on, as a change of the route brings them. Default: none.
        changes: Maybe<Changes>,
    }

    /// A link of a graph.
    LinkFile {
        /// Name in records. Default: the nodes, as "a-b". The other direction is "b-a", or the name and
        /// "-reverse".
        name: Maybe<Name>,
        /// Node that it leaves.
        from: Needed<Name>,
        /// Node that it enters.
        to: Needed<Name>,
        /// Make the same link in the other direction too. Default: true.
        duplex: Maybe<bool>,
        /// Rate of the transmitter. A link has a rate or a delivery trace.
        rate: Maybe<Rate>,
        /// In the place of a rate: a file in Mahimahi's format, one line for each opportunity to send a packet of 1500 B, with
        /// its time in milliseconds. A relative path starts at the scenario file. The trace is repeated with its last time as
        /// the period.
        delivery_trace: Maybe<DeliveryTraceFile>,
        /// Propagation delay.
        delay: Needed<Duration>,
        /// What the queue holds at most. "1 bdp" is the rate times the largest base round-trip time
        /// of the TCP flows that cross the link. A table has the limit, the discipline and its settings.
        /// Default: "1 bdp".
        queue: Maybe<Queue>,
        /// Whether the limit is of the packets that wait, or of those in the system, which includes the one
        /// in service. Default: "waiting"; "in-system" in the classic profile.
        queue_counts: Maybe<QueueCounts>,
        /// Random loss on the wire, after the queue. Default: none.
        loss: Maybe<LossPlan>,
        /// Each packet is delayed by a further uniform random time below this, without overtaking. Default:
        /// "0 s".
        jitter: Maybe<Duration>,
        /// The network cards at its ends hand packets to their host together, when this time has passed since the first of
        /// them arrived. Routers pass packets on at once. Default: "0 s".
        coalescing: Maybe<Duration>,
        /// Other rates and delays from times of the run on, as a change of the route brings them. Default: none.
        changes: Maybe<Changes>,
    }

    /// Each packet is lost with the same probability, independently.
    BernoulliFile {
        /// Probability of loss.
        probability: Needed<Probability>,
    }

    /// Gilbert-Elliott: a two-state Markov chain that steps once per packet.
    GilbertElliottFile {
        /// Probability to go from the good to the bad state.
        good_to_bad: Needed<Probability>,
        /// Probability to go from the bad to the good state.
        bad_to_good: Needed<Probability>,
        /// Probability of loss in the good state. Default: 0.
        loss_good: Maybe<Probability>,
        /// Probability of loss in the bad state. Default: 1.
        loss_bad: Maybe<Probability>,
    }

    /// A flow, or several that are alike.
    FlowFile {
        /// Name in records; with count above 1, followed by -1, -2 and so on. Default: "flow1", "flow2" and
        /// so on.
        name: Maybe<Name>,
        /// Number of flows. Default: 1.
        count: Maybe<Count>,
        /// Node that sends data. Default: flow i starts at source i, again from the first after the last
        /// (parking lot: the long path first). A graph has no default.
        from: Maybe<Name>,
        /// Node that receives data. Default: as for from, at the sinks.
        to: Maybe<Name>,
        /// How the flow sends. Default: "tcp".
        protocol: Maybe<ProtocolName>,
        /// Congestion control of a TCP flow: a window algorithm, a start algorithm, or a table. Default:
        /// "reno".
        congestion_control: Maybe<Selection>,
        /// When the flow starts. Default: "0 s".
        start: Maybe<Duration>,
        /// A further uniform random delay of the start, below this. Default: "0 s".
        start_jitter: Maybe<Duration>,
        /// When the application stops to produce data. Default: the end of the run.
        stop: Maybe<Duration>,
        /// What the application sends. Default: "bulk". UDP needs a table with a rate.
        traffic: Maybe<Traffic>,
        /// Differentiated services codepoint of its packets, 0 to 63. Default: 0.
        dscp: Maybe<Dscp>,
        /// Group of parallel flows that share what they know of their path. Flows of "adaptive" between the same nodes.
        group: Maybe<Name>,
        /// Transport settings of this flow, over those of all flows.
        transport: Maybe<TransportFile>,
    }

    /// What the application sends: a size or a rate; short connections have a size and a load or an interval; a UDP source
    /// has a rate, a packet size and arrivals.
    TrafficFile {
        /// So many bytes, then the flow is complete; of short connections, the size of each, or its distribution. TCP only.
        size: Maybe<Size>,
        /// Short connections that start at random (a Poisson process), each a TCP connection of its own: payload that they
        /// have to send per second. TCP only.
        load: Maybe<Rate>,
        /// Short connections, by the mean time between two starts. TCP only.
        interval: Maybe<Positive<Duration>>,
        /// TCP: rate at which the application writes. UDP: mean rate on the wire.
        rate: Maybe<Rate>,
        /// Changes of the rate of a UDP source, at times of the run. Default: none.
        steps: Maybe<Steps>,
        /// Wire size of a UDP packet, 1 to 65535 B; or a list of sizes with weights; or "imix", 40, 576 and 1500 B with the
        /// weights 7, 4 and 1. Default: "1500 B".
        packet: Maybe<PacketMix>,
        /// Times between UDP packets. Default: "constant".
        arrivals: Maybe<Arrivals>,
    }

    /// A delivery trace in the scenario itself, as records hold it.
    DeliveryTraceTable {
        /// Name of the file that it was read from.
        name: Maybe<String>,
        /// Times in milliseconds, each with the number of its opportunities if it has several: "1 2x3 5".
        opportunities: Needed<String>,
    }

    /// From a time on, another rate or delay of a link.
    ChangeFile {
        /// When, in the time of the run.
        at: Needed<Duration>,
        /// Rate of the transmitter from then on. Default: as before.
        rate: Maybe<Rate>,
        /// Propagation delay from then on. Default: as before.
        delay: Maybe<Duration>,
    }

    /// From a time on, a rate.
    StepFile {
        /// When, in the time of the run.
        at: Needed<Duration>,
        /// Mean rate on the wire from then on; "0 bps" is silence.
        rate: Needed<AnyRate>,
    }

    /// A size of packets, and how many have it.
    MixFile {
        /// Wire size, 1 to 65535 B.
        size: Needed<PacketSize>,
        /// Packets of this size, in proportion to those of the others.
        weight: Needed<Weight>,
    }

    /// A distribution of sizes.
    SizeFile {
        /// Exponential, Pareto between a minimum and a maximum, or lognormal.
        distribution: Needed<DistributionName>,
        /// Mean size. Exponential and lognormal.
        mean: Maybe<Positive<Bytes>>,
        /// Smallest size. Pareto.
        minimum: Maybe<Positive<Bytes>>,
        /// Largest size. Pareto.
        maximum: Maybe<Positive<Bytes>>,
        /// Exponent of the tail, 0.1 to 10. Pareto.
        shape: Maybe<Shape>,
        /// Standard deviation of the natural logarithm, 0 to 4. Lognormal.
        sigma: Maybe<Sigma>,
    }

    /// Transport settings. A key that is not written keeps the value of the profile.
    TransportFile {
        /// Payload of a full segment, 1 to 65535 B. Modern: "1448 B"; classic: "1000 B".
        mss: Maybe<PacketSize>,
        /// TCP and IP header on the wire, without options. "40 B".
        header: Maybe<HeaderSize>,
        /// Size of an acknowledgement on the wire, without data and options. "40 B".
        ack: Maybe<HeaderSize>,
        /// Loss recovery; "rack" is RACK-TLP, RFC 8985. Modern: "rack"; classic: "reno".
        recovery: Maybe<Recovery>,
        /// Proportional rate reduction, RFC 9937, in recoveries of "sack" and "rack". Modern: true; classic: false.
        prr: Maybe<bool>,
        /// Limited Transmit, RFC 3042. Modern: true; classic: false.
        limited_transmit: Maybe<bool>,
        /// No fast retransmit until everything outstanding at the last one, or at the last timeout, is acknowledged
        /// (RFC 6582); off: Reno as in 4.3BSD. With SACK always on. true.
        one_recovery_per_window: Maybe<bool>,
        /// Initial window: segments, or that of RFC 3390 (2 to 4 segments) or RFC 6928 (2 to 10) for the MSS. One segment
        /// after a lost SYN. Modern: "10 segments"; classic: "1 segment".
        initial_window: Maybe<InitialWindow>,
        /// Initial slow start threshold. "unlimited".
        initial_ssthresh: Maybe<Threshold>,
        /// The receiver's buffer. Modern: "unlimited"; classic: "20 segments".
        receive_window: Maybe<ReceiveWindow>,
        /// The window scale option: without it no more than 65535 bytes can be advertised. true.
        window_scaling: Maybe<bool>,
        /// SYN and SYN-ACK before the first data. Modern: true; classic: false.
        handshake: Maybe<bool>,
        /// Timestamps option: 12 bytes on every segment. Modern: true; classic: false.
        timestamps: Maybe<bool>,
        /// Explicit congestion notification: none, RFC 3168, or exact counts of marked bytes. "off".
        ecn: Maybe<Ecn>,
        /// Delayed acknowledgement. Modern: every 2 segments, 40 ms after the segment; classic: "off".
        delayed_ack: Maybe<OrOff<DelayedAckFile>>,
        /// Retransmission timer.
        timer: Maybe<TimerFile>,
        /// Grow the window only when it is what limits the sender. Modern: true; classic: false.
        grow_only_when_limited: Maybe<bool>,
        /// Slow start and Reno's increase count acknowledged bytes, in slow start up to two segments an acknowledgement
        /// (RFC 3465), not acknowledgements (RFC 5681). Modern: true; classic: false.
        byte_counting: Maybe<bool>,
        /// Space segments at this multiple of window / smoothed round-trip time even where the algorithm does
        /// not ask for it. "off".
        pacing_gain: Maybe<OrOff<Gain>>,
        /// A leaky bucket that shapes everything the sender sends. "off".
        shaper: Maybe<OrOff<ShaperFile>>,
        /// The receiver knows the algorithm's option. true.
        peer_knows_option: Maybe<bool>,
        /// What the receiver does that it must not: to see what that gains it, and what it costs others. None.
        misbehaviour: Maybe<MisbehaviourFile>,
        /// Routers can neither read nor change the transport header, as with IPsec and QUIC. false.
        encrypted: Maybe<bool>,
    }

    /// A receiver that wants more than its share, or is broken. A key that is not written keeps its value.
    MisbehaviourFile {
        /// Divides acknowledgements: so many in the place of one of new data. 1.
        ack_parts: Maybe<SmallCount>,
        /// Acknowledges what it has not got: gaps as if nothing were missing, and so many segments beyond what has arrived,
        /// 0 to 1000000. "off".
        ack_ahead: Maybe<OrOff<Ahead>>,
        /// Repeats each acknowledgement so many times, 0 to 1000. 0.
        ack_repeats: Maybe<Repeats>,
        /// At each so-manieth acknowledgement with SACK blocks it throws away the data that it has reported in them. "off".
        renege_every: Maybe<OrOff<SmallCount>>,
        /// Multiplies the interval of a pair by this, 0.001 to 1000, before it reports it; it divides Quick-Start rates and
        /// XCP feedback by it. 1.
        interval_factor: Maybe<ReportFactor>,
    }

    /// Delayed acknowledgement. A key that is not written keeps its value.
    DelayedAckFile {
        /// Acknowledge every so many full segments. Modern: 2; classic: 1.
        every: Maybe<SmallCount>,
        /// Acknowledge at the latest after this time. Modern: "40 ms"; classic: "200 ms".
        timer: Maybe<Positive<Duration>>,
        /// What the timer counts from: the first segment not yet acknowledged, or a free-running clock.
        /// Modern: "segment"; classic: "grid".
        clock: Maybe<AckClock>,
    }

    /// Retransmission timer. A key that is not written keeps its value.
    TimerFile {
        /// Before the first round-trip sample. Modern: "1 s"; classic: "3 s".
        initial: Maybe<Positive<Duration>>,
        /// Smallest value. Modern: "200 ms"; classic: "1 s".
        minimum: Maybe<Duration>,
        /// Largest value. Modern: "120 s"; classic: "64 s".
        maximum: Maybe<Positive<Duration>>,
        /// Clock granularity; "0 s" is exact. Modern: "1 ms"; classic: "500 ms".
        granularity: Maybe<Duration>,
        /// Factor at each expiry, 1 to 100. 2.
        backoff: Maybe<Backoff>,
        /// How samples become srtt and rttvar. Modern: "rfc6298"; classic: "bsd", in whole ticks of the
        /// granularity.
        arithmetic: Maybe<TimerArithmetic>,
        /// Which segments are timed. Modern: "every-segment"; classic: "one-at-a-time".
        samples: Maybe<RttSamples>,
    }

    /// A leaky bucket.
    ShaperFile {
        /// Rate on the wire.
        rate: Needed<Rate>,
        /// Bytes that may leave at once after an idle time.
        burst: Needed<Positive<Bytes>>,
    }

    /// What to record.
    RecordFile {
        /// Interval of the sampled series; "auto": a thousandth of the duration, or longer so that there are
        /// at most two million rows; "off": no series. Default: "auto".
        interval: Maybe<Interval>,
        /// Record every packet. Default: false.
        packets: Maybe<bool>,
    }
}

/// Defaults of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A current stack.
    Modern,
    /// The simulators of the 1990s.
    Classic,
}

/// What the limit of a queue is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCounts {
    /// Packets that wait.
    Waiting,
    /// Packets that wait and the one in service.
    InSystem,
}

/// How a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolName {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Shape of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyName {
    /// One bottleneck.
    Dumbbell,
    /// Bottlenecks in a row.
    ParkingLot,
    /// Nodes and links one by one.
    Graph,
}

/// Distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributionName {
    /// Exponential.
    Exponential,
    /// Pareto between two ends.
    Pareto,
    /// Lognormal.
    Lognormal,
}

words! {
    Profile { "modern" => Self::Modern, "classic" => Self::Classic, }
    QueueCounts { "waiting" => Self::Waiting, "in-system" => Self::InSystem, }
    ProtocolName { "tcp" => Self::Tcp, "udp" => Self::Udp, }
    DistributionName {
        "exponential" => Self::Exponential, "pareto" => Self::Pareto, "lognormal" => Self::Lognormal,
    }
    TopologyName { "dumbbell" => Self::Dumbbell, "parking-lot" => Self::ParkingLot, "graph" => Self::Graph, }
    Arrivals { "constant" => Self::Constant, "poisson" => Self::Poisson, }
    Recovery { "tahoe" => Self::Tahoe, "reno" => Self::Reno, "newreno" => Self::NewReno, "sack" => Self::Sack, "rack" => Self::Rack, }
    Ecn { "off" => Self::Off, "classic" => Self::Classic, "accurate" => Self::Accurate, }
    AckClock { "segment" => Self::Segment, "grid" => Self::Grid, }
    TimerArithmetic { "rfc6298" => Self::Rfc6298, "bsd" => Self::Bsd, }
    RttSamples { "one-at-a-time" => Self::OneAtATime, "every-segment" => Self::EverySegment, }
}

/// The network, by its shape.
#[derive(Clone, Debug)]
pub enum Network {
    /// One bottleneck.
    Dumbbell(Box<DumbbellFile>),
    /// Bottlenecks in a row.
    ParkingLot(Box<ParkingLotFile>),
    /// Nodes and links one by one.
    Graph(Box<GraphFile>),
}

impl Read for Network {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table")?;
        let topology: Needed<TopologyName> = Field::read_key(item, "topology")?;
        Ok(match topology.value {
            TopologyName::Dumbbell => Self::Dumbbell(Box::new(Read::read(item)?)),
            TopologyName::ParkingLot => Self::ParkingLot(Box::new(Read::read(item)?)),
            TopologyName::Graph => Self::Graph(Box::new(Read::read(item)?)),
        })
    }
    fn schema() -> Json {
        let shape = |name: &str, mut schema: Json| {
            schema["properties"]["topology"]["enum"] = json!([name]);
            schema
        };
        json!({ "oneOf": [
            shape("dumbbell", DumbbellFile::schema()),
            shape("parking-lot", ParkingLotFile::schema()),
            shape("graph", GraphFile::schema()),
        ] })
    }
}

impl Read for LossPlan {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table such as { probability = 0.01 }")?;
        if item.entries().iter().any(|entry| GILBERT_ELLIOTT.contains(&entry.place.last_key())) {
            let chain = GilbertElliottFile::read(item)?;
            return Ok(Self::GilbertElliott {
                good_to_bad: chain.good_to_bad.value.0,
                bad_to_good: chain.bad_to_good.value.0,
                loss_good: chain.loss_good.map_or(0.0, |loss| loss.value.0),
                loss_bad: chain.loss_bad.map_or(1.0, |loss| loss.value.0),
            });
        }
        let probability = BernoulliFile::read(item)?.probability.value.0;
        Ok(if probability == 0.0 { Self::None } else { Self::Bernoulli(probability) })
    }
    fn schema() -> Json {
        json!({ "oneOf": [BernoulliFile::schema(), GilbertElliottFile::schema()] })
    }
}

/// A key that shows which of the two kinds of loss is meant.
const GILBERT_ELLIOTT: [&str; 4] = ["good_to_bad", "bad_to_good", "loss_good", "loss_bad"];

/// What the application sends, as written.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// As much as the connection takes.
    Bulk,
    /// A size or a rate.
    Table(Box<TrafficFile>),
}

impl Read for Traffic {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if let Some(word) = item.value.as_str() {
            return match word {
                "bulk" => Ok(Self::Bulk),
                _ => Err(item.place.problem(
                    format!("unknown value {word:?}"),
                    "write \"bulk\", { size = \"10 MB\" }, { rate = \"1 Mbps\" } or { load = \"1 Mbps\", size = \"30 kB\" }",
                )),
            };
        }
        TrafficFile::read(item).map(|table| Self::Table(Box::new(table)))
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "bulk" }, TrafficFile::schema()] })
    }
}

/// Changes of a rate, as written: the time of each is later than that of the one before.
#[derive(Clone, Debug)]
pub struct Steps(pub Vec<(Time, Rate)>);

impl Read for Steps {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let mut steps: Vec<(Time, Rate)> = Vec::new();
        for Located { value: step, .. } in
            item.elements::<StepFile>("a list of tables such as { at = \"30 s\", rate = \"1 Mbps\" }")?
        {
            let at = Time::ZERO + step.at.value;
            if steps.last().is_some_and(|&(before, _)| at <= before) {
                return Err(step
                    .at
                    .place
                    .problem("not later than the step before", "steps must be in the order of time"));
            }
            steps.push((at, step.rate.value.0));
        }
        Ok(Self(steps))
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": StepFile::schema(), "minItems": 1 })
    }
}

/// What a link becomes from a time on, as written.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// Its rate, if that changes.
    pub rate: Option<Rate>,
    /// Its delay, if that changes.
    pub delay: Option<Duration>,
}

/// Changes of a link: the time of each is later than that of the one before.
#[derive(Clone, Debug)]
pub struct Changes(pub Vec<Change>);

impl Read for Changes {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let mut changes: Vec<Change> = Vec::new();
        let example = "a list of tables such as { at = \"30 s\", delay = \"40 ms\" }";
        for Located { value: file, place } in item.elements::<ChangeFile>(example)? {
            let at = Time::ZERO + file.at.value;
            if changes.last().is_some_and(|before| at <= before.at) {
                let help = "changes must be in the order of time";
                return Err(file.at.place.problem("not later than the change before", help));
            }
            let (rate, delay) = (file.rate.map(|rate| rate.value), file.delay.map(|delay| delay.value));
            if rate.is_none() && delay.is_none() {
                return Err(place.problem("changes nothing", "give a rate, a delay, or both"));
            }
            changes.push(Change { at, rate, delay });
        }
        Ok(Self(changes))
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": ChangeFile::schema(), "minItems": 1 })
    }
}

/// A delivery trace, as written.
#[derive(Clone, Debug)]
pub enum DeliveryTraceFile {
    /// The path of a file.
    Path(String),
    /// The trace itself.
    Inline(Arc<DeliveryTrace>),
}

impl Read for DeliveryTraceFile {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if let Some(path) = item.value.as_str() {
            return Ok(Self::Path(path.to_owned()));
        }
        item.table("the path of a file in quotes")?;
        let Located { value: text, place } = DeliveryTraceTable::read(item)?.opportunities;
        let trace = super::delivery_trace::parse_inline(&text)
            .map_err(|refusal| place.problem(refusal.message, refusal.help))?;
        Ok(Self::Inline(Arc::new(trace)))
    }
    fn schema() -> Json {
        json!({ "anyOf": [String::schema(), DeliveryTraceTable::schema()] })
    }
}

/// A rate, also zero.
#[derive(Clone, Copy, Debug)]
pub struct AnyRate(pub Rate);

impl Read for AnyRate {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.rate().map(Self)
    }
    fn schema() -> Json {
        quantity_schema(&[Dimension::Rate])
    }
}

/// Sizes of packets with their weights, as written.
#[derive(Clone, Debug)]
pub struct PacketMix(pub Vec<(Bytes, f64)>);

/// The "simple IMIX" of router tests: 40, 576 and 1500 B as 7 : 4 : 1, which stands for traffic observed in the Internet around
/// 2000 (Agilent, Mixed Packet Size Throughput, Journal of Internet Test Methodologies).
const SIMPLE_IMIX: [(Bytes, f64); 3] = [(Bytes(40), 7.0), (Bytes(576), 4.0), (Bytes(1500), 1.0)];

impl Read for PacketMix {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("imix") {
            return Ok(Self(SIMPLE_IMIX.to_vec()));
        }
        if item.value.as_array().is_none() {
            return PacketSize::read(item).map(|size| Self(vec![(size.0, 1.0)]));
        }
        let mix = item.elements::<MixFile>("a list")?;
        Ok(Self(mix.into_iter().map(|kind| (kind.value.size.value.0, kind.value.weight.value.0)).collect()))
    }
    fn schema() -> Json {
        let list = json!({ "type": "array", "items": MixFile::schema(), "minItems": 1 });
        json!({ "anyOf": [{ "const": "imix" }, PacketSize::schema(), list] })
    }
}

/// A size, or a distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub SizeDistribution);

impl Read for Size {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.value.as_table().is_none() {
            let size = Positive::<Bytes>::read(item)?.0;
            return Ok(Self(SizeDistribution::Constant(size)));
        }
        let file = SizeFile::read(item)?;
        let (keys, example): (&[&str], _) = match file.distribution.value {
            DistributionName::Exponential => {
                (&["mean"], "{ distribution = \"exponential\", mean = \"30 kB\" }")
            }
            DistributionName::Lognormal => {
                (&["mean", "sigma"], "{ distribution = \"lognormal\", mean = \"30 kB\", sigma = 1.5 }")
            }
            DistributionName::Pareto => (
                &["minimum", "maximum", "shape"],
                "{ distribution = \"pareto\", minimum = \"4 kB\", maximum = \"10 MB\", shape = 1.2 }",
            ),
        };
        for entry in item.entries() {
            let key = entry.place.last_key();
            if key != "distribution" && !keys.contains(&key) {
                return Err(entry
                    .place
                    .problem("not a key of this distribution", format!("write {example}")));
            }
        }
        let missing = || item.place.problem("a key is missing", format!("write {example}"));
        let bytes =
            |size: &Maybe<Positive<Bytes>>| size.as_ref().map(|size| size.value.0).ok_or_else(missing);
        Ok(Self(match file.distribution.value {
            DistributionName::Exponential => SizeDistribution::Exponential { mean: bytes(&file.mean)? },
            DistributionName::Lognormal => SizeDistribution::Lognormal {
                mean: bytes(&file.mean)?,
                sigma: file.sigma.as_ref().ok_or_else(missing)?.value.0,
            },
            DistributionName::Pareto => {
                let (minimum, maximum) = (bytes(&file.minimum)?, bytes(&file.maximum)?);
                if maximum < minimum {
                    let place = file.maximum.as_ref().map_or(&item.place, |maximum| &maximum.place);
                    return Err(place.problem("smaller than the minimum", format!("write {example}")));
                }
                let shape = file.shape.as_ref().ok_or_else(missing)?.value.0;
                SizeDistribution::Pareto { minimum, maximum, shape }
            }
        }))
    }
    fn schema() -> Json {
        json!({ "anyOf": [Positive::<Bytes>::schema(), SizeFile::schema()] })
    }
}

/// A receive window, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReceiveWindow {
    /// Any size.
    Unlimited,
    /// So many segments.
    Segments(f64),
    /// So many bytes.
    Bytes(Bytes),
}

impl Read for ReceiveWindow {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self::Unlimited);
        }
        match item.quantity(&[Dimension::Segments, Dimension::Size])? {
            Quantity::Size(size) => Ok(Self::Bytes(size)),
            Quantity::Segments(segments) => Ok(Self::Segments(segments)),
            _ => Err(item.expected("a window")),
        }
    }
    fn schema() -> Json {
        let quantity = quantity_schema(&[Dimension::Segments, Dimension::Size]);
        json!({ "anyOf": [{ "const": "unlimited" }, quantity] })
    }
}

/// At least one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segments(pub f64);

impl Read for Segments {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.quantity(&[Dimension::Segments])? {
            Quantity::Segments(segments) if segments >= 1.0 => Ok(Self(segments)),
            _ => Err(item.place.problem("less than one segment", units::example(&[Dimension::Segments]))),
        }
    }
    fn schema() -> Json {
        quantity_schema(&[Dimension::Segments])
    }
}

/// An initial window, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(f64),
    /// min(4 MSS, max(2 MSS, 4380 bytes)).
    Rfc3390,
    /// min(10 MSS, max(2 MSS, 14600 bytes)).
    Rfc6928,
}

impl InitialWindow {
    /// In segments of this size.
    pub fn segments(self, mss: Bytes) -> f64 {
        let formula = |most: u64, bytes: u64| {
            let window = (most * mss.get()).min((2 * mss.get()).max(bytes));
            window as f64 / mss.get() as f64
        };
        match self {
            Self::Segments(segments) => segments,
            Self::Rfc3390 => formula(4, 4380),
            Self::Rfc6928 => formula(10, 14_600),
        }
    }
}

impl Read for InitialWindow {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.value.as_str() {
            Some("rfc3390") => Ok(Self::Rfc3390),
            Some("rfc6928") => Ok(Self::Rfc6928),
            Some(word) if word.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                Err(item.place.problem(
                    format!("unknown initial window {word:?}"),
                    format!("{}, \"rfc3390\" or \"rfc6928\"", units::example(&[Dimension::Segments])),
                ))
            }
            _ => Segments::read(item).map(|segments| Self::Segments(segments.0)),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "enum": ["rfc3390", "rfc6928"] }, Segments::schema()] })
    }
}

/// A slow start threshold in segments; "unlimited" is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold(pub f64);

impl Read for Threshold {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self(f64::INFINITY));
        }
        Segments::read(item).map(|segments| Self(segments.0))
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "unlimited" }, Segments::schema()] })
    }
}

/// Interval of the sampled series, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// From the duration and the size of the network.
    Auto,
    /// No series.
    Off,
    /// This.
    Every(Duration),
}

impl Read for Interval {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.value.as_str() {
            Some("auto") => Ok(Self::Auto),
            Some("off") => Ok(Self::Off),
            _ => Positive::<Duration>::read(item).map(|interval| Self::Every(interval.0)),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "enum": ["auto", "off"] }, Duration::schema()] })
    }
}

/// A value, or the word "off".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrOff<T> {
    /// Not used.
    Off,
    /// Used, with this.
    On(T),
}

impl<T: Read> Read for OrOff<T> {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("off") {
            return Ok(Self::Off);
        }
        T::read(item).map(Self::On).map_err(|problem| problem.or_at(&item.place, "\"off\""))
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "off" }, T::schema()] })
    }
}

/// Above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive<T>(pub T);

impl<T: Read + Default + PartialEq> Read for Positive<T> {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let value = T::read(item)?;
        if value == T::default() {
            return Err(item.place.problem("must be above zero", ""));
        }
        Ok(Self(value))
    }
    fn schema() -> Json {
        T::schema()
    }
}

fn size_within(item: &Item<'_>, low: u64) -> Result<Bytes, Problem> {
    let size = item.bytes()?;
    if (low..=65_535).contains(&size.get()) {
        return Ok(size);
    }
    Err(item
        .place
        .problem(format!("{} B is out of range", size.get()), format!("allowed: {low} B to 65535 B")))
}

/// Size of a packet or of its payload: 1 to 65535 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSize(pub Bytes);

impl Read for PacketSize {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        size_within(item, 1).map(Self)
    }
    fn schema() -> Json {
        Bytes::schema()
    }
}

/// Size of a header: 0 to 65535 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderSize(pub Bytes);

impl Read for HeaderSize {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        size_within(item, 0).map(Self)
    }
    fn schema() -> Json {
        Bytes::schema()
    }
}

/// Declares numbers with a range.
macro_rules! ranges {
    ($($(#[$about:meta])* $name:ident($kind:ty) = $read:ident, $json:literal, $low:expr, $high:expr;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub $kind);

        impl Read for $name {
            fn read(item: &Item<'_>) -> Result<Self, Problem> {
                item.$read($low, $high).map(|number| Self(number as $kind))
            }
            fn schema() -> Json {
                json!({ "type": $json, "minimum": $low, "maximum": $high })
            }
        }
    )+};
}

ranges! {
    /// Version of the file format.
    SchemaVersion(u64) = integer, "integer", 1, 1;
    /// At least one.
    Count(u64) = integer, "integer", 1, i64::MAX;
    /// At least one, at most 2^32 - 1.
    SmallCount(u32) = integer, "integer", 1, i64::from(u32::MAX);
    /// Segments that are acknowledged before they arrive.
    Ahead(u32) = integer, "integer", 0, 1_000_000;
    /// Repetitions of an acknowledgement.
    Repeats(u32) = integer, "integer", 0, 1000;
    /// What a receiver multiplies what it reports by.
    ReportFactor(f64) = number_within, "number", 0.001, 1000.0;
    /// A seed.
    Seed(u64) = integer, "integer", 0, i64::MAX;
    /// A probability.
    Probability(f64) = number_within, "number", 0.0, 1.0;
    /// A differentiated services codepoint.
    Dscp(u8) = integer, "integer", 0, 63;
    /// Factor of a timer at each expiry.
    Backoff(f64) = number_within, "number", 1.0, 100.0;
    /// Weight of a packet size.
    Weight(f64) = number_within, "number", 0.001, 1e6;
    /// Exponent of a Pareto distribution.
    Shape(f64) = number_within, "number", 0.1, 10.0;
    /// Standard deviation of a logarithm.
    Sigma(f64) = number_within, "number", 0.0, 4.0;
    /// Factor of the pacing rate.
    Gain(f64) = number_within, "number", 0.01, 100.0;
}

/// Name of a node, link, flow or run. It may become the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

/// Longest name, in bytes.
const LONGEST_NAME: usize = 200;

impl Read for Name {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let name = item.string("a name")?;
        let forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\');
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains(forbidden) {
            let help = "1 to 200 bytes, no slash, no backslash, no control character";
            return Err(item.place.problem("not a name", help));
        }
        Ok(Self(name.to_owned()))
    }
    fn schema() -> Json {
        json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_NAME })
    }
}

//! A link: what it is made of, and in a graph its ends.

use super::queue::Queue;
use super::value::{Name, Positive, Probability};
use crate::delivery_trace::DeliveryTrace;
use crate::plan::{CardStamps, LossPlan};
use crate::scenario::delivery_trace;
use crate::scenario::error::Problem;
use crate::scenario::reader::{FromItem, Item, Located, Maybe, Needed, quantity_schema, table, words};
use selfclock_congestion::quantity::{Dimension, Quantity};
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use serde_json::{Value as Json, json};
use std::sync::Arc;

table! {
    /// Properties of a link.
    WireTable {
        /// Rate of the transmitter. A link has a rate or a delivery trace.
        rate: Maybe<Rate>,
        /// In the place of a rate: a file in Mahimahi's format, one line for each opportunity to
        /// send a packet of 1500 B, with its time in milliseconds. A relative path starts at the
        /// scenario file. The trace is repeated with its last time as the period.
        delivery_trace: Maybe<WrittenTrace>,
        /// Token bucket of a shaper, such as tbf or HTB: it fills at the rate, is full at the
        /// beginning, and leaves at once after a pause. A packet that finds too few tokens waits.
        /// Default: none, each packet takes its time at the rate.
        burst: Maybe<Positive<Bytes>>,
        /// With burst: rate at which packets leave that have their tokens, above rate. Default: all
        /// at once.
        peak_rate: Maybe<Rate>,
        /// Propagation delay.
        delay: Needed<Duration>,
        /// Queue limit. "1 bdp" is the rate times the largest base round-trip time of the TCP flows
        /// that cross the link. A table has the limit, the discipline and its settings. Default: "1
        /// bdp"; "unlimited" for access links.
        queue: Maybe<Queue>,
        /// Whether the limit is of the packets that wait, or of those in the system, which includes
        /// the one in service. Default: "waiting"; "in-system" in the classic profile.
        queue_counts: Maybe<QueueCounts>,
        /// The most packets on the link at a time, waiting, in transmission and on the wire
        /// together, as netem's "limit". A packet that finds as many is dropped. Default:
        /// "unlimited".
        total_limit: Maybe<TotalLimit>,
        /// Random loss on the wire, after the queue. Default: none.
        loss: Maybe<LossPlan>,
        /// Each packet is delayed by a further uniform random time below this, without overtaking.
        /// Default: "0 s".
        jitter: Maybe<Duration>,
        /// The network cards at its ends hand packets to their host together, when this time has
        /// passed since the first of them arrived. Routers pass packets on at once. Default: "0 s".
        coalescing: Maybe<Duration>,
        /// Meaning of the time stamps of these cards, for algorithms that time segments and ACKs:
        /// when a packet was handed over, or when it arrived. Default: "interrupt".
        coalescing_stamps: Maybe<CardStamps>,
        /// Other rates and delays from times of the run on, as a change of the route brings them.
        /// Default: none.
        changes: Maybe<Changes>,
    }

    /// A link of a graph.
    LinkTable {
        /// Name in records. Default: the nodes, as "a-b". The other direction is "b-a", or the name
        /// and "-reverse".
        name: Maybe<Name>,
        /// Node that it leaves.
        from: Needed<Name>,
        /// Node that it enters.
        to: Needed<Name>,
        /// Make the same link in the other direction too. Default: true.
        duplex: Maybe<bool>,
        ..wire: WireTable,
    }

    /// Each packet is lost with the same probability, independently.
    BernoulliTable {
        /// Probability of loss.
        probability: Needed<Probability>,
    }

    /// Gilbert-Elliott: a two-state Markov chain that steps once per packet.
    GilbertElliottTable {
        /// Probability to go from the good to the bad state.
        good_to_bad: Needed<Probability>,
        /// Probability to go from the bad to the good state.
        bad_to_good: Needed<Probability>,
        /// Probability of loss in the good state. Default: 0.
        loss_good: Maybe<Probability>,
        /// Probability of loss in the bad state. Default: 1.
        loss_bad: Maybe<Probability>,
    }

    /// Gilbert-Elliott in time: each state lasts for an exponentially distributed time, whatever is
    /// sent.
    BurstsTable {
        /// Mean time in the good state, in which the link begins.
        good: Needed<Positive<Duration>>,
        /// Mean time in the bad state.
        bad: Needed<Positive<Duration>>,
        /// Probability of loss in the good state. Default: 0.
        loss_good: Maybe<Probability>,
        /// Probability of loss in the bad state. Default: 1.
        loss_bad: Maybe<Probability>,
    }

    /// A delivery trace in the scenario itself, as records hold it.
    DeliveryTraceTable {
        /// Name of the file that it was read from.
        name: Maybe<String>,
        /// Times in milliseconds, each with the number of its opportunities if it has several: "1
        /// 2x3 5".
        opportunities: Needed<String>,
    }

    /// From a time on, another rate or delay of a link.
    ChangeTable {
        /// When, in the time of the run.
        at: Needed<Duration>,
        /// Rate of the transmitter from then on. Default: as before.
        rate: Maybe<Rate>,
        /// Propagation delay from then on. Default: as before.
        delay: Maybe<Duration>,
    }
}

/// Whether the queue limit includes the packet in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCounts {
    /// Packets that wait.
    Waiting,
    /// Packets that wait and the one in service.
    InSystem,
}

words! {
    QueueCounts { "waiting" => Self::Waiting, "in-system" => Self::InSystem, }
    CardStamps { "interrupt" => Self::Interrupt, "arrival" => Self::Arrival, }
}

/// The most packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalLimit(pub Option<u64>);

impl FromItem for TotalLimit {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self(None));
        }
        match item.quantity(&[Dimension::Packets])? {
            Quantity::Packets(packets) if packets > 0 => Ok(Self(Some(packets))),
            _ => Err(item
                .place
                .problem("a link with this limit carries nothing", "from \"1 packet\", or \"unlimited\"")),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "unlimited" }, quantity_schema(&[Dimension::Packets])] })
    }
}

impl FromItem for LossPlan {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table such as { probability = 0.01 }")?;
        let any = |keys: &[&str]| item.entries().iter().any(|entry| keys.contains(&entry.place.last_key()));
        if any(&BURSTS) {
            let chain = BurstsTable::read(item)?;
            return Ok(Self::Bursts {
                good: chain.good.value.0,
                bad: chain.bad.value.0,
                loss_good: chain.loss_good.map_or(0.0, |loss| loss.value.0),
                loss_bad: chain.loss_bad.map_or(1.0, |loss| loss.value.0),
            });
        }
        if any(&GILBERT_ELLIOTT) {
            let chain = GilbertElliottTable::read(item)?;
            return Ok(Self::GilbertElliott {
                good_to_bad: chain.good_to_bad.value.0,
                bad_to_good: chain.bad_to_good.value.0,
                loss_good: chain.loss_good.map_or(0.0, |loss| loss.value.0),
                loss_bad: chain.loss_bad.map_or(1.0, |loss| loss.value.0),
            });
        }
        let probability = BernoulliTable::read(item)?.probability.value.0;
        Ok(if probability == 0.0 { Self::None } else { Self::Bernoulli(probability) })
    }
    fn schema() -> Json {
        json!({ "oneOf": [BernoulliTable::schema(), GilbertElliottTable::schema(), BurstsTable::schema()] })
    }
}

/// Keys that only one kind of loss has, or that are taken for it.
const BURSTS: [&str; 2] = ["good", "bad"];
const GILBERT_ELLIOTT: [&str; 4] = ["good_to_bad", "bad_to_good", "loss_good", "loss_bad"];

/// A delivery trace, as written.
#[derive(Clone, Debug)]
pub enum WrittenTrace {
    /// The path of a file.
    Path(String),
    /// The trace itself.
    Inline(Arc<DeliveryTrace>),
}

impl FromItem for WrittenTrace {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if let Some(path) = item.value.as_str() {
            return Ok(Self::Path(path.to_owned()));
        }
        item.table("the path of a file in quotes")?;
        let Located { value: text, place } = DeliveryTraceTable::read(item)?.opportunities;
        let trace = delivery_trace::parse_inline(&text)
            .map_err(|refusal| place.problem(refusal.message, refusal.help))?;
        Ok(Self::Inline(Arc::new(trace)))
    }
    fn schema() -> Json {
        json!({ "anyOf": [String::schema(), DeliveryTraceTable::schema()] })
    }
}

/// A change of a link, as written.
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

impl FromItem for Changes {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let mut changes: Vec<Change> = Vec::new();
        let example = "a list of tables such as { at = \"30 s\", delay = \"40 ms\" }";
        for Located { value: file, place } in item.elements::<ChangeTable>(example)? {
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
        json!({ "type": "array", "items": ChangeTable::schema(), "minItems": 1 })
    }
}

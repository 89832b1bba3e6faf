//! Data that applications send.

use super::value::{PacketSize, Positive, ranges};
use crate::packet::Codepoint;
use crate::plan::{Arrivals, SizeDistribution};
use crate::scenario::error::Problem;
use crate::scenario::reader::{FromItem, Item, Located, Maybe, Needed, quantity_schema, table, words};
use selfclock_congestion::quantity::Dimension;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use serde_json::{Value as Json, json};

table! {
    /// The application's data: a size, a rate or steps; short connections have a size and a load or
    /// an interval; a UDP source has a rate, steps, a packet size and arrivals.
    TrafficTable {
        /// Bytes to send, then the flow is complete; of short connections, the size of each, or its
        /// distribution. TCP only.
        size: Maybe<Size>,
        /// Short connections that start at random (a Poisson process), each a TCP connection of its
        /// own: payload that they have to send per second. TCP only.
        load: Maybe<Rate>,
        /// Short connections, by the mean time between two starts. TCP only.
        interval: Maybe<Positive<Duration>>,
        /// TCP: rate at which the application writes. UDP: mean rate on the wire.
        rate: Maybe<Rate>,
        /// Size of one write of the application at its rate, such as a video frame, rounded up
        /// to whole segments. Default: one segment. TCP and stacks only.
        write: Maybe<Positive<Bytes>>,
        /// Changes of the application's rate, at times of the run; not for short connections.
        /// Without a `rate`, a TCP flow sends as much as it can until the first. Default: none.
        steps: Maybe<Steps>,
        /// Wire size of a UDP packet, 1 to 65535 B; or a list of sizes with weights; or "imix", 40,
        /// 576 and 1500 B with the weights 7, 4 and 1. Default: "1500 B".
        packet: Maybe<PacketMix>,
        /// Times between UDP packets. Default: "constant".
        arrivals: Maybe<Arrivals>,
        /// ECN field of UDP packets: queues mark what is ECN-capable, and the source does not
        /// respond. Default: "not-ect".
        ecn: Maybe<UdpCodepoint>,
    }

    /// From a time on, a rate.
    StepTable {
        /// When, in the time of the run.
        at: Needed<Duration>,
        /// From then on: a rate, as `rate` above; "off" or "0 bps", silence; or "bulk", as much as
        /// the connection takes, which UDP does not have.
        rate: Needed<StepRate>,
    }

    /// A size of packets, and how many have it.
    MixTable {
        /// Wire size, 1 to 65535 B.
        size: Needed<PacketSize>,
        /// Packets of this size, in proportion to those of the others.
        weight: Needed<Weight>,
    }

    /// A distribution of sizes.
    SizeTable {
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
    DistributionName {
        "exponential" => Self::Exponential, "pareto" => Self::Pareto, "lognormal" => Self::Lognormal,
    }
    Arrivals { "constant" => Self::Constant, "poisson" => Self::Poisson, }
}

/// ECN field of UDP packets; marks are the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpCodepoint(pub Codepoint);

words! {
    UdpCodepoint {
        "not-ect" => Self(Codepoint::NotEct), "ect(0)" => Self(Codepoint::Ect0), "ect(1)" => Self(Codepoint::Ect1),
    }
}

ranges! {
    /// Weight of a packet size.
    Weight(f64) = number_within, "number", 0.001, 1e6;
    /// Exponent of a Pareto distribution.
    Shape(f64) = number_within, "number", 0.1, 10.0;
    /// Standard deviation of a logarithm.
    Sigma(f64) = number_within, "number", 0.0, 4.0;
}

/// The application's data, as written.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// As much as the connection takes.
    Bulk,
    /// A size or a rate.
    Table(Box<TrafficTable>),
}

impl FromItem for Traffic {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if let Some(word) = item.value.as_str() {
            return match word {
                "bulk" => Ok(Self::Bulk),
                _ => Err(item.place.problem(
                    format!("unknown value {word:?}"),
                    "write \"bulk\", { size = \"10 MB\" }, { rate = \"1 Mbps\" }, { steps = [{ at = \"5 s\", rate = \"off\" }] } or { load = \"1 Mbps\", size = \"30 kB\" }",
                )),
            };
        }
        TrafficTable::read(item).map(|table| Self::Table(Box::new(table)))
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "bulk" }, TrafficTable::schema()] })
    }
}

/// Changes of a rate, as written: the time of each is later than that of the one before.
#[derive(Clone, Debug)]
pub struct Steps(pub Vec<(Time, Located<StepRate>)>);

impl FromItem for Steps {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let mut steps: Vec<(Time, Located<StepRate>)> = Vec::new();
        let example = "a list of tables such as { at = \"30 s\", rate = \"1 Mbps\" }";
        for Located { value: step, .. } in item.elements::<StepTable>(example)? {
            let at = Time::ZERO + step.at.value;
            if steps.last().is_some_and(|(before, _)| at <= *before) {
                return Err(step
                    .at
                    .place
                    .problem("not later than the step before", "steps must be in the order of time"));
            }
            steps.push((at, step.rate));
        }
        Ok(Self(steps))
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": StepTable::schema(), "minItems": 1 })
    }
}

/// The data that an application offers from a step on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRate {
    /// As much as the connection takes.
    Bulk,
    /// A rate; zero is silence.
    Rate(Rate),
}

impl FromItem for StepRate {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.value.as_str() {
            Some("bulk") => Ok(Self::Bulk),
            Some("off") => Ok(Self::Rate(Rate::default())),
            _ => item.rate().map(Self::Rate),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "enum": ["bulk", "off"] }, quantity_schema(&[Dimension::Rate])] })
    }
}

/// Sizes of packets with their weights, as written.
#[derive(Clone, Debug)]
pub struct PacketMix(pub Vec<(Bytes, f64)>);

/// The "simple IMIX" of router tests: 40, 576 and 1500 B as 7 : 4 : 1, modelled on Internet traffic
/// around 2000 (Agilent, Mixed Packet Size Throughput, Journal of Internet Test Methodologies).
const SIMPLE_IMIX: [(Bytes, f64); 3] = [(Bytes(40), 7.0), (Bytes(576), 4.0), (Bytes(1500), 1.0)];

impl FromItem for PacketMix {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("imix") {
            return Ok(Self(SIMPLE_IMIX.to_vec()));
        }
        if item.value.as_array().is_none() {
            return PacketSize::read(item).map(|size| Self(vec![(size.0, 1.0)]));
        }
        let mix = item.elements::<MixTable>("a list")?;
        Ok(Self(mix.into_iter().map(|kind| (kind.value.size.value.0, kind.value.weight.value.0)).collect()))
    }
    fn schema() -> Json {
        let list = json!({ "type": "array", "items": MixTable::schema(), "minItems": 1 });
        json!({ "anyOf": [{ "const": "imix" }, PacketSize::schema(), list] })
    }
}

/// A size, or a distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub SizeDistribution);

impl FromItem for Size {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.value.as_table().is_none() {
            let size = Positive::<Bytes>::read(item)?.0;
            return Ok(Self(SizeDistribution::Constant(size)));
        }
        let file = SizeTable::read(item)?;
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
        json!({ "anyOf": [Positive::<Bytes>::schema(), SizeTable::schema()] })
    }
}

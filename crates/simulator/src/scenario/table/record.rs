//! Records to keep.

use super::value::Positive;
use crate::scenario::error::Problem;
use crate::scenario::reader::{FromItem, Item, Maybe, table};
use selfclock_congestion::units::Duration;
use serde_json::{Value as Json, json};

table! {
    /// Records to keep.
    RecordTable {
        /// Interval of the sampled series; "auto": a thousandth of the duration, or longer so that
        /// there are at most two million rows; "off": no series. Default: "auto".
        interval: Maybe<Interval>,
        /// Record every packet. Default: false.
        packets: Maybe<bool>,
        /// Record packets from this time on. Default: "0 s".
        packets_from: Maybe<Duration>,
        /// Record packets until this time. Default: the end of the run.
        packets_until: Maybe<Duration>,
        /// Keep the payload of the datagrams of QUIC stacks, and their TLS secrets, for captures;
        /// `--pcap` does so by itself. Default: false.
        payload: Maybe<bool>,
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

impl FromItem for Interval {
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

//! The structure of a scenario file: every table and key, as written, without defaults; a file per
//! section.
//!
//! The comments of the keys are their descriptions in the JSON Schema.

pub mod flow;
pub mod link;
pub mod network;
pub mod queue;
pub mod record;
pub mod router;
pub mod traffic;
pub mod transport;
pub mod value;

use super::reader::{List, Maybe, Needed, Several, table, words};
use flow::FlowTable;
use network::NetworkTable;
use record::RecordTable;
use router::RouterTable;
use selfclock_congestion::units::Duration;
use transport::TransportTable;
use value::{Name, Positive, ranges};

table! {
    /// A selfclock scenario.
    ScenarioTable {
        /// Version of the file format: 1.
        schema: Needed<SchemaVersion>,
        /// Name in reports. Default: the name of the file without its extension.
        name: Maybe<Name>,
        /// One line for people.
        title: Maybe<String>,
        /// Simulated time.
        duration: Needed<Positive<Duration>>,
        /// Goodput, throughput, utilization and the means of queues are those from this time on,
        /// without what a run begins with, such as slow start. Default: "0 s".
        measure_from: Maybe<Duration>,
        /// Measure the one-way delay of every data packet and its wait at every link: quantiles of
        /// both are in the result. Default: false.
        measure_delays: Maybe<bool>,
        /// Seed of every random stream. Default: 1.
        seed: Maybe<Seed>,
        /// Defaults of transport and queues: "modern" (a current stack) or "classic" (the
        /// simulators of the 1990s, where a queue limit counts the packet in service). Default:
        /// "modern".
        profile: Maybe<Profile>,
        /// Nodes and links.
        network: Needed<NetworkTable>,
        /// Flows, in the order in which records list them.
        flow: List<FlowTable>,
        /// Mechanisms in routers. Default: none.
        router: Several<RouterTable>,
        /// Transport settings of every flow, over the profile.
        transport: Maybe<TransportTable>,
        /// Records to keep.
        record: Maybe<RecordTable>,
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

words! {
    Profile { "modern" => Self::Modern, "classic" => Self::Classic, }
}

ranges! {
    /// Version of the file format.
    SchemaVersion(u64) = integer, "integer", 1, 1;
    /// A seed.
    Seed(u64) = integer, "integer", 0, i64::MAX;
}

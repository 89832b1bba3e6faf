//! Flows.

use super::traffic::Traffic;
use super::transport::TransportTable;
use super::value::{Count, Name, ranges};
use crate::plan::overhead::Overhead;
use crate::scenario::error::Problem;
use crate::scenario::reader::{FromItem, Item, Maybe, Several, quantity_schema, table, words};
use crate::scenario::stack::{Control, StackName};
use selfclock_congestion::quantity::{Dimension, Quantity};
use selfclock_congestion::units::Duration;
use serde_json::Value as Json;

table! {
    /// A flow, or several that are alike.
    FlowTable {
        /// Name in records; with count above 1, followed by -1, -2 and so on. Default: "flow1",
        /// "flow2" and so on.
        name: Maybe<Name>,
        /// Number of flows. Default: 1.
        count: Maybe<Count>,
        /// Node that sends data. Default: flow i starts at source i, again from the first after the
        /// last (parking lot: the long path first). A graph has no default.
        from: Maybe<Name>,
        /// Node that receives data. Default: as for from, at the sinks.
        to: Maybe<Name>,
        /// Routers that data passes on its way, in order; its ACKs pass them in reverse, if links
        /// lead back. Default: the path of least delay.
        route: Several<Name>,
        /// How the flow sends. Default: "tcp".
        protocol: Maybe<ProtocolName>,
        /// A real QUIC stack that sends and receives in the place of the simulated TCP. Needs a
        /// build with it: make quic.
        stack: Maybe<StackName>,
        /// Congestion control of a TCP flow: a window algorithm, a start algorithm, or a table.
        /// Default: "reno". For a stack: its own controller, as "quinn:bbr", or one of ours in it,
        /// as "cubic@quinn". Default: the stack's.
        congestion_control: Maybe<Control>,
        /// When the flow starts. Default: "0 s".
        start: Maybe<Duration>,
        /// A further uniform random delay of the start, below this. Default: "0 s".
        start_jitter: Maybe<Duration>,
        /// Random processing time of each packet at the sending host, uniform below this, without
        /// overtaking: jitter of the first link on the flow's path. In packets: transmission times
        /// of its full packet on the slowest link of its path. Default: "0 s".
        overhead: Maybe<Overhead>,
        /// When the application stops to produce data. Default: the end of the run.
        stop: Maybe<Duration>,
        /// The application's data. Default: "bulk". UDP needs a table with a rate.
        traffic: Maybe<Traffic>,
        /// Differentiated services codepoint of its packets, 0 to 63. Default: 0.
        dscp: Maybe<Dscp>,
        /// Group of parallel flows that share what they know of their path. Flows of "adaptive"
        /// between the same nodes.
        group: Maybe<Name>,
        /// Transport settings of this flow, over those of all flows.
        transport: Maybe<TransportTable>,
    }
}

/// Units of an overhead.
const OVERHEAD: [Dimension; 2] = [Dimension::Time, Dimension::Packets];

impl FromItem for Overhead {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        Ok(match item.quantity(&OVERHEAD)? {
            Quantity::Packets(packets) => Self::Packets(packets),
            Quantity::Time(time) => Self::Time(time),
            _ => Self::default(),
        })
    }
    fn schema() -> Json {
        quantity_schema(&OVERHEAD)
    }
}

/// How a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolName {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

words! {
    ProtocolName { "tcp" => Self::Tcp, "udp" => Self::Udp, }
}

ranges! {
    /// A differentiated services codepoint.
    Dscp(u8) = integer, "integer", 0, 63;
}

//! The network, by its shape.

use super::link::{LinkTable, WireTable};
use super::value::{Count, Name};
use crate::scenario::error::Problem;
use crate::scenario::reader::{Field, FromItem, Item, List, Maybe, Needed, table, words};
use selfclock_congestion::units::Duration;
use serde_json::{Value as Json, json};

table! {
    /// Hosts in pairs across one bottleneck: source1..N, left, right, sink1..N.
    DumbbellTable {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Number of pairs of hosts. Default: the number of flows.
        hosts: Maybe<Count>,
        /// Link from left to right.
        bottleneck: Needed<WireTable>,
        /// Link from right to left. Default: as bottleneck.
        reverse: Maybe<WireTable>,
        /// Links between each source and left, each direction.
        access: Needed<WireTable>,
        /// Delay that the links of each source have beyond those of the source before it. Default:
        /// "0 s".
        access_step: Maybe<Duration>,
        /// Links between right and each sink, each direction. Default: as access.
        sink_access: Maybe<WireTable>,
    }

    /// Bottlenecks in a row: router0..N, source0 and sink0 at the ends, sourceI and sinkI at the
    /// ends of hop I.
    ParkingLotTable {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Number of bottlenecks.
        hops: Needed<Count>,
        /// Links between neighbouring routers, each direction.
        hop: Needed<WireTable>,
        /// Links between each host and its router, each direction.
        access: Needed<WireTable>,
    }

    /// Nodes and links one by one.
    GraphTable {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Names of the nodes.
        nodes: List<Name>,
        /// Links.
        link: List<LinkTable>,
    }
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

words! {
    TopologyName { "dumbbell" => Self::Dumbbell, "parking-lot" => Self::ParkingLot, "graph" => Self::Graph, }
}

/// The network, by its shape.
#[derive(Clone, Debug)]
pub enum NetworkTable {
    /// One bottleneck.
    Dumbbell(Box<DumbbellTable>),
    /// Bottlenecks in a row.
    ParkingLot(Box<ParkingLotTable>),
    /// Nodes and links one by one.
    Graph(Box<GraphTable>),
}

impl FromItem for NetworkTable {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table")?;
        let topology: Needed<TopologyName> = Field::read_key(item, "topology")?;
        Ok(match topology.value {
            TopologyName::Dumbbell => Self::Dumbbell(Box::new(FromItem::read(item)?)),
            TopologyName::ParkingLot => Self::ParkingLot(Box::new(FromItem::read(item)?)),
            TopologyName::Graph => Self::Graph(Box::new(FromItem::read(item)?)),
        })
    }
    fn schema() -> Json {
        let shape = |name: &str, mut schema: Json| {
            schema["properties"]["topology"]["enum"] = json!([name]);
            schema
        };
        json!({ "oneOf": [
            shape("dumbbell", DumbbellTable::schema()),
            shape("parking-lot", ParkingLotTable::schema()),
            shape("graph", GraphTable::schema()),
        ] })
    }
}

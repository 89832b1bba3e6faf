//! The network, by its shape.

use super::link::{LinkTable, WireTable};
use super::value::{Count, Name, ranges};
use crate::graph::route::Routing;
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
        /// Choice among paths of equal delay and length: "shortest", the first of them, or "ecmp",
        /// by a hash of the flow at each router. Default: "shortest".
        routing: Maybe<Routing>,
    }

    /// A fat tree of switches with k ports (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): k pods
    /// of k/2 edge and k/2 aggregation switches, k/2 hosts at each edge, (k/2)² cores.
    FatTreeTable {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Ports of a switch, an even number.
        k: Needed<Ports>,
        /// Links between switches, each direction.
        link: Needed<WireTable>,
        /// Links between hosts and their edge switches, each direction; a host's own queue is
        /// unlimited. Default: as link.
        host_link: Maybe<WireTable>,
        /// As in a graph. Default: "ecmp".
        routing: Maybe<Routing>,
    }

    /// Leaf and spine: every leaf is linked to every spine, hosts to their leaf.
    LeafSpineTable {
        /// Shape of the network.
        topology: Needed<TopologyName>,
        /// Number of leaves.
        leaves: Needed<Count>,
        /// Number of spines.
        spines: Needed<Count>,
        /// Number of hosts at each leaf.
        hosts: Needed<Count>,
        /// Links between leaves and spines, each direction.
        link: Needed<WireTable>,
        /// Links between hosts and their leaves, each direction; a host's own queue is unlimited.
        /// Default: as link.
        host_link: Maybe<WireTable>,
        /// As in a graph. Default: "ecmp".
        routing: Maybe<Routing>,
    }
}

ranges! {
    /// Ports of a switch of a fat tree.
    Ports(u64) = integer, "integer", 2, 128;
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
    /// Pods of switches and a core.
    FatTree,
    /// Leaves and spines.
    LeafSpine,
}

words! {
    TopologyName {
        "dumbbell" => Self::Dumbbell, "parking-lot" => Self::ParkingLot, "graph" => Self::Graph,
        "fat-tree" => Self::FatTree, "leaf-spine" => Self::LeafSpine,
    }
    Routing { "shortest" => Self::Shortest, "ecmp" => Self::EqualCost, }
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
    /// Pods of switches and a core.
    FatTree(Box<FatTreeTable>),
    /// Leaves and spines.
    LeafSpine(Box<LeafSpineTable>),
}

impl FromItem for NetworkTable {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table")?;
        let topology: Needed<TopologyName> = Field::read_key(item, "topology")?;
        Ok(match topology.value {
            TopologyName::Dumbbell => Self::Dumbbell(Box::new(FromItem::read(item)?)),
            TopologyName::ParkingLot => Self::ParkingLot(Box::new(FromItem::read(item)?)),
            TopologyName::Graph => Self::Graph(Box::new(FromItem::read(item)?)),
            TopologyName::FatTree => {
                let file: Box<FatTreeTable> = Box::new(FromItem::read(item)?);
                if file.k.value.0 % 2 == 1 {
                    return Err(file
                        .k
                        .place
                        .problem("an odd number of ports", "half of them lead up: 4, 6, 8 and so on"));
                }
                Self::FatTree(file)
            }
            TopologyName::LeafSpine => Self::LeafSpine(Box::new(FromItem::read(item)?)),
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
            shape("fat-tree", FatTreeTable::schema()),
            shape("leaf-spine", LeafSpineTable::schema()),
        ] })
    }
}

//! Mechanisms in routers: read by their names, and placed before links.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::error::{Problem, allowed};
use super::file::{File, Name};
use super::links::{Wire, find_node};
use super::named::{named_schemas, read_named};
use super::reader::{Field, Item, KeySchema, List, Located, Read, Several};
use crate::network::topology::Topology;
use crate::plan::{FlowPlan, RouterPlan};
use crate::router::MechanismPlan;
use crate::router::mechanism::Placement;

/// A mechanism, as written.
#[derive(Clone, Debug)]
pub struct RouterTable {
    mechanism: MechanismPlan,
    /// Names of the links or nodes where it stands; none: where its [`Placement`] says.
    names: List<Name>,
}

/// The key that says where a mechanism stands.
fn place_key(mechanism: &MechanismPlan) -> &'static str {
    match mechanism.placement() {
        Placement::Links | Placement::LinksOrAllOfRouters => "links",
        Placement::Nodes => "nodes",
    }
}

impl Read for RouterTable {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table")?;
        let mechanism = read_named(item, ("mechanism", "mechanism"), None, place_key)?;
        let names = match mechanism.placement() {
            Placement::LinksOrAllOfRouters => Several::read_key(item, place_key(&mechanism))?.0,
            Placement::Links | Placement::Nodes => List::read_key(item, place_key(&mechanism))?,
        };
        Ok(Self { mechanism, names })
    }

    fn schema() -> Json {
        let place = |mechanism: &MechanismPlan| {
            KeySchema {
            name: place_key(mechanism),
            about: match mechanism.placement() {
                Placement::Links => "Links before which it stands.",
                Placement::LinksOrAllOfRouters => {
                    "Links before which it stands. Default: all that leave a router."
                }
                Placement::Nodes => {
                    "Routers of the domain: it stands before all links that leave them. The first and the last on a flow's way are the flow's edges."
                }
            }
            .to_owned(),
            schema: <List<Name> as Field>::schema(),
            required: mechanism.placement() != Placement::LinksOrAllOfRouters,
        }
        };
        json!({ "oneOf": named_schemas("mechanism", "Mechanism in the router.", None, place) })
    }
}

/// The mechanisms of a file.
pub fn routers(
    file: &File,
    topology: &Topology<Wire>,
    flows: &[FlowPlan],
) -> Result<Vec<RouterPlan>, Problem> {
    let plan = |router: &Located<RouterTable>| {
        let RouterTable { mechanism, names } = &router.value;
        let links = match mechanism.placement() {
            Placement::Nodes => links_that_leave(&find_nodes(names, topology)?, topology),
            Placement::LinksOrAllOfRouters if names.is_empty() => links_of_routers(topology, flows),
            Placement::Links | Placement::LinksOrAllOfRouters => find_links(names, topology)?,
        };
        Ok(RouterPlan { links, mechanism: *mechanism })
    };
    file.router.0.iter().map(plan).collect()
}

fn links_that_leave(nodes: &[usize], topology: &Topology<Wire>) -> Vec<usize> {
    (0..topology.links.len()).filter(|&link| nodes.contains(&topology.links[link].from)).collect()
}

/// The links that leave a node at which no flow begins or ends.
fn links_of_routers(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<usize> {
    let hosts: BTreeSet<usize> = flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    let routers: Vec<usize> = (0..topology.nodes.len()).filter(|node| !hosts.contains(node)).collect();
    links_that_leave(&routers, topology)
}

/// The indices of nodes, each named once.
fn find_nodes(names: &[Located<Name>], topology: &Topology<Wire>) -> Result<Vec<usize>, Problem> {
    let index: BTreeMap<&str, usize> =
        topology.nodes.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
    each_once("node", names, |name| find_node(&index, name))
}

/// The indices of links, each named once.
fn find_links(names: &[Located<Name>], topology: &Topology<Wire>) -> Result<Vec<usize>, Problem> {
    let index: BTreeMap<&str, usize> =
        topology.links.iter().enumerate().map(|(position, link)| (link.name.as_str(), position)).collect();
    each_once("link", names, |name| {
        let text = name.value.0.as_str();
        index.get(text).copied().ok_or_else(|| {
            name.place.problem(format!("unknown link {text:?}"), allowed(text, index.keys().copied()))
        })
    })
}

fn each_once(
    what: &str,
    names: &[Located<Name>],
    find: impl Fn(&Located<Name>) -> Result<usize, Problem>,
) -> Result<Vec<usize>, Problem> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let index = find(name)?;
        if found.contains(&index) {
            return Err(name.place.problem(format!("{what} {:?} is named twice", name.value.0), ""));
        }
        found.push(index);
    }
    Ok(found)
}

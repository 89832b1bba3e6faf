//! Router mechanisms and their places.

use super::link::find_node;
use crate::graph::topology::Topology;
use crate::plan::{FlowPlan, RouterPlan, Wire};
use crate::router::mechanism::Placement;
use crate::scenario::error::{Problem, allowed};
use crate::scenario::reader::Located;
use crate::scenario::table::ScenarioTable;
use crate::scenario::table::router::RouterTable;
use crate::scenario::table::value::Name;
use std::collections::{BTreeMap, BTreeSet};

/// The mechanisms of a file.
pub fn routers(
    file: &ScenarioTable,
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

//! From the router mechanisms of a scenario file to those of a plan: links and nodes found by name.

use std::collections::BTreeMap;

use super::error::{Problem, allowed};
use super::file::{File, Name, RouterFile};
use super::links::Wire;
use super::reader::Located;
use crate::network::topology::Topology;
use crate::plan::{MechanismPlan, PolicerPlan, RouterPlan};

/// The mechanisms of a file.
pub fn routers(file: &File, topology: &Topology<Wire>) -> Result<Vec<RouterPlan>, Problem> {
    file.router.0.iter().map(|router| plan(&router.value, topology)).collect()
}

fn plan(file: &RouterFile, topology: &Topology<Wire>) -> Result<RouterPlan, Problem> {
    match file {
        RouterFile::Policer(policer) => Ok(RouterPlan {
            links: find_links(&policer.links, topology)?,
            mechanism: MechanismPlan::Policer(PolicerPlan {
                rate: policer.rate.value,
                burst: policer.burst.value.0,
            }),
        }),
    }
}

/// The indices of links, each named once.
fn find_links(names: &[Located<Name>], topology: &Topology<Wire>) -> Result<Vec<usize>, Problem> {
    let index: BTreeMap<&str, usize> =
        topology.links.iter().enumerate().map(|(position, link)| (link.name.as_str(), position)).collect();
    let mut links = Vec::with_capacity(names.len());
    for name in names {
        let text = name.value.0.as_str();
        let link = *index.get(text).ok_or_else(|| {
            name.place.problem(format!("unknown link {text:?}"), allowed(text, index.keys().copied()))
        })?;
        if links.contains(&link) {
            return Err(name.place.problem(format!("link {text:?} is named twice"), ""));
        }
        links.push(link);
    }
    Ok(links)
}

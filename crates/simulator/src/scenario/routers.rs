//! From the router mechanisms of a scenario file to those of a plan: links and nodes found by name.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{Problem, allowed};
use super::file::{File, Name, RouterFile};
use super::links::Wire;
use super::reader::Located;
use crate::network::topology::Topology;
use crate::plan::{FlowPlan, ForwardingLimitPlan, MechanismPlan, PolicerPlan, QuickStartPlan, RouterPlan};
use selfclock_congestion::units::Duration;

/// The mechanisms of a file.
pub fn routers(
    file: &File,
    topology: &Topology<Wire>,
    flows: &[FlowPlan],
) -> Result<Vec<RouterPlan>, Problem> {
    file.router.0.iter().map(|router| plan(&router.value, topology, flows)).collect()
}

fn plan(file: &RouterFile, topology: &Topology<Wire>, flows: &[FlowPlan]) -> Result<RouterPlan, Problem> {
    let (links, mechanism) = match file {
        RouterFile::Policer(policer) => {
            let (rate, burst) = (policer.rate.value, policer.burst.value.0);
            (find_links(&policer.links, topology)?, MechanismPlan::Policer(PolicerPlan { rate, burst }))
        }
        RouterFile::AckThinning(thinning) => {
            (find_links(&thinning.links, topology)?, MechanismPlan::AckThinning(thinning.interval.value.0))
        }
        RouterFile::ForwardingLimit(limit) => {
            let service = Duration::from_seconds(1.0 / limit.packets_per_second.value.0);
            let limit_packets = limit.limit.as_ref().map_or(u64::MAX, |limit| limit.value.0);
            let plan = ForwardingLimitPlan { service, limit: limit_packets };
            (find_links(&limit.links, topology)?, MechanismPlan::ForwardingLimit(plan))
        }
        RouterFile::QuickStart(quick_start) => {
            let written = &quick_start.links.0;
            let links = if written.is_empty() {
                links_of_routers(topology, flows)
            } else {
                find_links(written, topology)?
            };
            let plan = QuickStartPlan {
                share: quick_start.share.as_ref().map_or(0.9, |share| share.value.0),
                interval: quick_start
                    .interval
                    .as_ref()
                    .map_or(Duration::from_milliseconds(150), |interval| interval.value.0),
            };
            (links, MechanismPlan::QuickStart(plan))
        }
    };
    Ok(RouterPlan { links, mechanism })
}

/// The links that leave a node at which no flow begins or ends.
fn links_of_routers(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<usize> {
    let hosts: BTreeSet<usize> = flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    let routers = topology.links.iter().enumerate().filter(|(_, link)| !hosts.contains(&link.from));
    routers.map(|(index, _)| index).collect()
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

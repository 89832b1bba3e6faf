//! From the router mechanisms of a scenario file to those of a plan: links and nodes found by name.

use std::collections::BTreeMap;

use super::error::{Problem, allowed};
use super::file::{
    FiccrdFile, File, Floor, Fraction, Name, OrOff, PacketSize, Positive, Pressure, RouterFile, Share,
    SmallCount,
};
use super::links::{Wire, find_node};
use super::reader::{Located, value_or};
use crate::network::topology::Topology;
use crate::plan::{FiccrdPlan, LossOfKindsPlan, MechanismPlan, PolicerPlan, RouterPlan};
use selfclock_congestion::units::Bytes;

/// The mechanisms of a file.
pub fn routers(file: &File, topology: &Topology<Wire>) -> Result<Vec<RouterPlan>, Problem> {
    file.router.0.iter().map(|router| plan(&router.value, topology)).collect()
}

fn plan(file: &RouterFile, topology: &Topology<Wire>) -> Result<RouterPlan, Problem> {
    match file {
        RouterFile::Loss(loss) => Ok(RouterPlan {
            links: find_links(&loss.links, topology)?,
            mechanism: MechanismPlan::Loss(LossOfKindsPlan {
                probability: loss.probability.value.0,
                kinds: loss.kinds.iter().map(|kind| kind.value).collect(),
            }),
        }),
        RouterFile::Ficcrd(ficcrd) => ficcrd_plan(ficcrd, topology),
        RouterFile::Policer(policer) => Ok(RouterPlan {
            links: find_links(&policer.links, topology)?,
            mechanism: MechanismPlan::Policer(PolicerPlan {
                rate: policer.rate.value,
                burst: policer.burst.value.0,
            }),
        }),
    }
}

fn ficcrd_plan(file: &FiccrdFile, topology: &Topology<Wire>) -> Result<RouterPlan, Problem> {
    let index: BTreeMap<&str, usize> =
        topology.nodes.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
    let mut nodes = Vec::with_capacity(file.nodes.len());
    for name in &file.nodes {
        let node = find_node(&index, name)?;
        if nodes.contains(&node) {
            return Err(name.place.problem(format!("node {:?} is named twice", name.value.0), ""));
        }
        nodes.push(node);
    }
    let links =
        (0..topology.links.len()).filter(|&link| nodes.contains(&topology.links[link].from)).collect();
    let usual = FiccrdPlan::new(nodes);
    let ficcrd = FiccrdPlan {
        beta: value_or(&file.beta, Share(usual.beta)).0,
        alpha: value_or(&file.alpha, Pressure(usual.alpha)).0,
        utilization: value_or(&file.utilization, Fraction(usual.utilization)).0,
        rule: value_or(&file.rule, usual.rule),
        rate_constant: value_or(&file.rate_constant, Positive(usual.rate_constant)).0,
        packets_per_discovery: value_or(&file.packets_per_discovery, SmallCount(usual.packets_per_discovery))
            .0,
        discovery_interval: match value_or(&file.discovery_interval, OrOff::Off) {
            OrOff::On(interval) => Some(interval.0),
            OrOff::Off if file.discovery_interval.is_some() => None,
            OrOff::Off => usual.discovery_interval,
        },
        discovery_size: value_or(&file.discovery_size, PacketSize(Bytes(usual.discovery_size.into()))).0.get()
            as u16,
        feedback: value_or(&file.feedback, usual.feedback),
        rtt: value_or(&file.rtt, usual.rtt),
        floor: value_or(&file.floor, Floor(usual.floor)).0,
        longest_hold: value_or(&file.longest_hold, Positive(usual.longest_hold)).0,
        flows: value_or(&file.flows, SmallCount(usual.flows)).0,
        unit: value_or(&file.unit, usual.unit),
        ..usual
    };
    Ok(RouterPlan { links, mechanism: MechanismPlan::Ficcrd(ficcrd) })
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

//! From the router mechanisms of a scenario file to those of a plan: links and nodes found by name.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{Place, Problem, allowed};
use super::file::{
    FiccrdFile, File, Floor, Fraction, LossOfKindsFile, Name, OrOff, PacketSize, Positive, Pressure,
    Probability, RouterFile, Share, SmallCount,
};
use super::links::{Wire, find_node};
use super::reader::{Located, place_or, value_or};
use crate::network::topology::Topology;
use crate::plan::{
    CsfqPlan, FiccrdPlan, FlowPlan, ForwardingLimitPlan, LossOfKindsPlan, LossPattern, MechanismPlan,
    OptionTampering, PolicerPlan, QuickStartPlan, ReorderingPlan, RouterPlan, TamperingPlan,
};
use selfclock_congestion::units::{Bytes, Duration, Time};

/// The mechanisms of a file.
pub fn routers(
    file: &File,
    topology: &Topology<Wire>,
    flows: &[FlowPlan],
) -> Result<Vec<RouterPlan>, Problem> {
    file.router.0.iter().map(|router| plan(router, topology, flows)).collect()
}

fn plan(
    file: &Located<RouterFile>,
    topology: &Topology<Wire>,
    flows: &[FlowPlan],
) -> Result<RouterPlan, Problem> {
    let (links, mechanism) = match &file.value {
        RouterFile::Policer(policer) => {
            let (rate, burst) = (policer.rate.value, policer.burst.value.0);
            (find_links(&policer.links, topology)?, MechanismPlan::Policer(PolicerPlan { rate, burst }))
        }
        RouterFile::Loss(loss) => {
            (find_links(&loss.links, topology)?, MechanismPlan::Loss(loss_plan(loss, &file.place)?))
        }
        RouterFile::Reordering(reordering) => {
            let (probability, delay) = (reordering.probability.value.0, reordering.delay.value.0);
            let plan = ReorderingPlan { probability, delay };
            (find_links(&reordering.links, topology)?, MechanismPlan::Reordering(plan))
        }
        RouterFile::Xcp(xcp) => (find_links(&xcp.links, topology)?, MechanismPlan::Xcp),
        RouterFile::Csfq(csfq) => {
            let ms = Duration::from_milliseconds;
            let plan = CsfqPlan {
                flow_constant: value_or(&csfq.flow_constant, Positive(ms(100))).0,
                link_constant: value_or(&csfq.link_constant, Positive(ms(200))).0,
            };
            (find_links(&csfq.links, topology)?, MechanismPlan::Csfq(plan))
        }
        RouterFile::Tampering(tampering) => {
            let plan = TamperingPlan {
                probability: value_or(&tampering.probability, Probability(1.0)).0,
                receive_window: tampering.receive_window.as_ref().map(|window| window.value),
                allowed_rate: tampering.allowed_rate.as_ref().map(|rate| rate.value),
                options: value_or(&tampering.options, OptionTampering::None),
            };
            (find_links(&tampering.links, topology)?, MechanismPlan::Tampering(plan))
        }
        RouterFile::Ficcrd(ficcrd) => return ficcrd_plan(ficcrd, topology),
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

fn loss_plan(file: &LossOfKindsFile, place: &Place) -> Result<LossOfKindsPlan, Problem> {
    let pattern = match (&file.probability, &file.every, &file.spacing) {
        (Some(probability), None, None) => LossPattern::Random(probability.value.0),
        (None, Some(every), None) => LossPattern::Every(every.value.0),
        (None, None, Some(spacing)) => LossPattern::Spaced(spacing.value.0),
        _ => {
            let help = "probability, every or spacing";
            return Err(place.problem("needs one key that says which packets are lost", help));
        }
    };
    let from = Time::ZERO + value_or(&file.from, Duration::ZERO);
    let until = file.until.as_ref().map_or(Time::NEVER, |until| Time::ZERO + until.value);
    if until <= from {
        return Err(
            place_or(&file.until, place).problem("ends before it begins", "until must be later than from")
        );
    }
    let kinds = file.kinds.iter().map(|kind| kind.value).collect();
    Ok(LossOfKindsPlan { pattern, kinds, from, until })
}

/// The links that leave a node at which no flow begins or ends.
fn links_of_routers(topology: &Topology<Wire>, flows: &[FlowPlan]) -> Vec<usize> {
    let hosts: BTreeSet<usize> = flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    let routers = topology.links.iter().enumerate().filter(|(_, link)| !hosts.contains(&link.from));
    routers.map(|(index, _)| index).collect()
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

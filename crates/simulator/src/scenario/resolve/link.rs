//! From the network of a scenario file to nodes and wires.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use selfclock_congestion::units::{Duration, Rate};

use crate::delivery_trace::DeliveryTrace;
use crate::graph::topology::{
    DataCenterWires, DumbbellWires, PlacedWire, Topology, dumbbell_of, fat_tree, leaf_spine, link_names,
    parking_lot,
};
use crate::plan::{
    CardStamps, DisciplinePlan, LinkChange, LinkPlan, LinkSettings, LossPlan, QueueSize, Wire,
};
use crate::scenario::delivery_trace::DeliveryTraces;
use crate::scenario::error::{Place, Problem, allowed};
use crate::scenario::reader::{Located, place_or, value_or};
use crate::scenario::table::link::{QueueCounts, TotalLimit, WireTable, WrittenTrace};
use crate::scenario::table::network::{GraphTable, NetworkTable};
use crate::scenario::table::queue::Queue;
use crate::scenario::table::value::Name;
use crate::scenario::table::{Profile, ScenarioTable};

/// A link as written, with the defaults of its place and of the profile.
fn wire(
    file: &WireTable,
    place: &Place,
    (profile, default_queue): (Profile, QueueSize),
    traces: &mut DeliveryTraces,
) -> Result<Wire, Problem> {
    let counts = match profile {
        Profile::Modern => QueueCounts::Waiting,
        Profile::Classic => QueueCounts::InSystem,
    };
    let queue = value_or(&file.queue, Queue::default());
    let (rate, trace) = rate_or_trace(file, place, traces)?;
    if let (Some(_), Some(changes)) = (&trace, &file.changes)
        && changes.value.0.iter().any(|change| change.rate.is_some())
    {
        return Err(changes.place.problem(
            "changes the rate of a link that has none",
            "with a delivery trace only the delay can change",
        ));
    }
    check_bucket(file, rate)?;
    let settings = LinkSettings {
        burst: file.burst.as_ref().map(|burst| burst.value.0),
        peak_rate: file.peak_rate.as_ref().map(|peak| peak.value),
        trace,
        discipline: queue.discipline,
        counts_packet_in_service: value_or(&file.queue_counts, counts) == QueueCounts::InSystem,
        total_limit: value_or(&file.total_limit, TotalLimit(None)).0,
        loss: value_or(&file.loss, LossPlan::None),
        jitter: value_or(&file.jitter, Duration::ZERO),
        coalescing: value_or(&file.coalescing, Duration::ZERO),
        coalescing_stamps: value_or(&file.coalescing_stamps, CardStamps::Interrupt),
        changes: changes(file, rate),
        ..LinkSettings::new(rate, file.delay.value)
    };
    let link = LinkPlan::of("", (0, 0), settings);
    let usual = || queue.discipline.usual_limit().map_or(default_queue, |it| QueueSize::Packets(it.packets));
    Ok(Wire { link, queue: queue.limit.unwrap_or_else(usual) })
}

/// A bucket needs a constant rate, and a peak rate a bucket.
fn check_bucket(file: &WireTable, rate: Rate) -> Result<(), Problem> {
    if let (Some(peak), None) = (&file.peak_rate, &file.burst) {
        return Err(peak.place.problem("a peak rate without a bucket", "write a burst, or omit it"));
    }
    let Some(burst) = &file.burst else { return Ok(()) };
    if file.delivery_trace.is_some() {
        return Err(burst
            .place
            .problem("a bucket of a link that has no rate", "allowed: a rate or a delivery trace"));
    }
    if let Some(changes) = &file.changes
        && changes.value.0.iter().any(|change| change.rate.is_some())
    {
        return Err(changes
            .place
            .problem("changes the rate of a bucket", "with burst only the delay can change"));
    }
    match &file.peak_rate {
        Some(peak) if peak.value <= rate => {
            Err(peak.place.problem("not above the rate", "a peak rate above rate, or none"))
        }
        _ => Ok(()),
    }
}

fn rate_or_trace(
    file: &WireTable,
    place: &Place,
    traces: &mut DeliveryTraces,
) -> Result<(Rate, Option<Arc<DeliveryTrace>>), Problem> {
    match (&file.rate, &file.delivery_trace) {
        (Some(rate), None) => Ok((rate.value, None)),
        (None, Some(written)) => {
            let trace = match &written.value {
                WrittenTrace::Inline(trace) => trace.clone(),
                WrittenTrace::Path(path) => traces.get(path, &written.place)?,
            };
            Ok((trace.rate(), Some(trace)))
        }
        (Some(_), Some(trace)) => {
            Err(trace.place.problem("the link has a rate already", "allowed: a rate or a delivery trace"))
        }
        (None, None) => Err(place.problem("missing key \"rate\"", "a link has a rate or a delivery trace")),
    }
}

/// The new path; values not named in a change stay.
fn changes(file: &WireTable, rate: Rate) -> Vec<LinkChange> {
    let (mut rate, mut delay) = (rate, file.delay.value);
    let written = file.changes.iter().flat_map(|changes| &changes.value.0);
    written
        .map(|change| {
            rate = change.rate.unwrap_or(rate);
            delay = change.delay.unwrap_or(delay);
            LinkChange { at: change.at, rate, delay }
        })
        .collect()
}

/// Nodes and links of a file with this number of flows.
pub fn build(
    file: &ScenarioTable,
    profile: Profile,
    flows: usize,
    traces: &mut DeliveryTraces,
) -> Result<Topology<Wire>, Problem> {
    let mut wire_at = |file: &WireTable, place: &Place, queue| wire(file, place, (profile, queue), traces);
    let (bottleneck, access) = (QueueSize::Bdp(1.0), QueueSize::Unlimited);
    let mut wire = |table: &Located<WireTable>, queue| wire_at(&table.value, &table.place, queue);
    match &file.network.value {
        NetworkTable::Dumbbell(file) => {
            let hosts = file.hosts.as_ref().map_or(flows, |hosts| hosts.value.0 as usize);
            let reverse = file.reverse.as_ref().unwrap_or(&file.bottleneck);
            let sink_access = file.sink_access.as_ref().unwrap_or(&file.access);
            let wires = DumbbellWires {
                bottleneck: wire(&file.bottleneck, bottleneck)?,
                reverse: wire(reverse, bottleneck)?,
                access: wire(&file.access, access)?,
                sink_access: wire(sink_access, access)?,
            };
            let step = value_or(&file.access_step, Duration::ZERO);
            Ok(dumbbell_of(hosts, &wires, |host| longer(&wires.access, step.times(host as u64))))
        }
        NetworkTable::ParkingLot(file) => Ok(parking_lot(
            file.hops.value.0 as usize,
            &wire(&file.hop, bottleneck)?,
            &wire(&file.access, access)?,
        )),
        NetworkTable::FatTree(file) => {
            let link = wire(&file.link, bottleneck)?;
            let host = file.host_link.as_ref().map(|table| wire(table, bottleneck)).transpose()?;
            Ok(fat_tree(file.k.value.0 as usize, &data_center(link, host)))
        }
        NetworkTable::LeafSpine(file) => {
            let link = wire(&file.link, bottleneck)?;
            let host = file.host_link.as_ref().map(|table| wire(table, bottleneck)).transpose()?;
            let [leaves, spines, hosts] =
                [&file.leaves, &file.spines, &file.hosts].map(|count| count.value.0 as usize);
            Ok(leaf_spine(leaves, spines, hosts, &data_center(link, host)))
        }
        NetworkTable::Graph(file) => graph(file, |file, place| wire_at(file, place, bottleneck)),
    }
}

/// The wires of a data centre: a host waits for its own link, whatever the queue of a switch.
fn data_center(link: Wire, host: Option<Wire>) -> DataCenterWires<Wire> {
    let down = host.unwrap_or_else(|| link.clone());
    let mut up = down.clone();
    up.queue = QueueSize::Unlimited;
    up.link.discipline = DisciplinePlan::default();
    DataCenterWires { link, up, down }
}

/// A link with additional delay, including its changes.
fn longer(wire: &Wire, delay: Duration) -> Wire {
    if delay.is_zero() {
        return wire.clone();
    }
    let mut wire = wire.clone();
    wire.link.delay += delay;
    for change in &mut wire.link.changes {
        change.delay += delay;
    }
    wire
}

fn graph(
    file: &GraphTable,
    mut wire: impl FnMut(&WireTable, &Place) -> Result<Wire, Problem>,
) -> Result<Topology<Wire>, Problem> {
    let mut index = BTreeMap::new();
    for (position, node) in file.nodes.iter().enumerate() {
        if index.insert(node.value.0.as_str(), position).is_some() {
            return Err(node.place.problem(format!("duplicate node {:?}", node.value.0), ""));
        }
    }
    let mut links: Vec<PlacedWire<Wire>> = Vec::new();
    let mut names = BTreeSet::new();
    for Located { value: link, place } in &file.link {
        let from = find_node(&index, &link.from)?;
        let to = find_node(&index, &link.to)?;
        if from == to {
            return Err(link.to.place.problem("a link from a node to itself", ""));
        }
        let wire = wire(&link.wire, place)?;
        let name = link.name.as_ref().map(|name| name.value.0.as_str());
        let [forward, reverse] = link_names(name, &link.from.value.0, &link.to.value.0);
        let mut add = |name: String, from, to| {
            if !names.insert(name.clone()) {
                let place = place_or(&link.name, place);
                return Err(place.problem(format!("duplicate link {name:?}"), "give each link its own name"));
            }
            links.push(PlacedWire { name: name.into(), from, to, wire: wire.clone() });
            Ok(())
        };
        add(forward, from, to)?;
        if value_or(&link.duplex, true) {
            add(reverse, to, from)?;
        }
    }
    let nodes = file.nodes.iter().map(|node| node.value.0.as_str().into()).collect();
    Ok(Topology { nodes, links })
}

/// The index of a node.
pub fn find_node(index: &BTreeMap<&str, usize>, name: &Located<Name>) -> Result<usize, Problem> {
    let name_text = name.value.0.as_str();
    index.get(name_text).copied().ok_or_else(|| {
        name.place.problem(format!("unknown node {name_text:?}"), allowed(name_text, index.keys().copied()))
    })
}

//! From a scenario file to a plan: defaults, indices for names, routes, queue sizes.

mod flow;
mod limits;
mod link;
mod router;
mod stack;
mod transport;

use selfclock_congestion::units::{Duration, Time};

use super::delivery_trace::DeliveryTraces;
use super::error::Problem;
use super::reader::{place_or, value_or};
use super::table::network::NetworkTable;
use super::table::record::Interval;
use super::table::{Profile, ScenarioTable};
use crate::plan::assemble::{check_coalescing, size_queues};
use crate::plan::overhead::add_overheads;
use crate::plan::{LONGEST_RUN, Plan, PlanError, RecordPlan};
use crate::record::packets::MOST_RECORDS;
use flow::{copies, expand, find_routes, groups, overheads};
use limits::Demand;
use link::build;
use router::routers;

/// Bytes of a packet event: 48 in the record, and some 150 in the table made from it.
const BYTES_OF_AN_EVENT: u128 = 200;

/// The plan of a file.
pub fn resolve(
    file: &ScenarioTable,
    default_name: &str,
    traces: &mut DeliveryTraces,
) -> Result<Plan, Problem> {
    let duration = file.duration.value.0;
    if duration > LONGEST_RUN {
        return Err(file.duration.place.problem("longer than 106 days", "at most 2^63 ps"));
    }
    let measure_from = Time::ZERO + value_or(&file.measure_from, Duration::ZERO);
    if let Some(from) = file.measure_from.as_ref().filter(|from| from.value >= duration) {
        return Err(PlanError::MeasuresNothing.at(&from.place));
    }
    let flows: u128 = file.flow.iter().map(|flow| u128::from(copies(&flow.value))).sum();
    let interval = interval(file, flows);
    check_memory(file, flows, interval)?;

    let profile = value_or(&file.profile, Profile::Modern);
    let topology = build(file, profile, flows as usize, traces)?;
    let mut flows = expand(file, profile, &topology)?;
    find_routes(file, &topology, &mut flows)?;
    let groups = groups(file, &flows)?;
    check_coalescing(&topology, &flows).map_err(|error| error.at(&file.network.place))?;
    let mut links = size_queues(&topology, &flows);
    add_overheads(&mut links, &flows, overheads(file));
    let routers = routers(file, &topology, &flows)?;
    let plan = Plan {
        name: file.name.as_ref().map_or(default_name, |name| &name.value.0).to_owned(),
        seed: file.seed.as_ref().map_or(1, |seed| seed.value.0),
        duration,
        measure_from,
        measure_delays: value_or(&file.measure_delays, false),
        nodes: topology.nodes.into(),
        links: links.into(),
        flows: flows.into(),
        groups,
        routers,
        record: record_plan(file, interval)?,
    };
    if let Some(record) = file.record.as_ref().filter(|_| plan.record.packets) {
        // Each packet is recorded about twice per hop; a run stops at the maximum.
        let until = plan.record.packets_until.min(Time::ZERO + duration);
        let recorded = until.since(plan.record.packets_from);
        let part = recorded.seconds() / duration.seconds();
        let events = (2.0 * part * plan.expected_packet_hops()).min(MOST_RECORDS as f64);
        let place = place_or(&record.value.packets, &record.place);
        limits::check(&[Demand {
            count: events as u128,
            what: "packet events",
            each: BYTES_OF_AN_EVENT,
            place,
        }])?;
    }
    Ok(plan)
}

/// Records to keep, with samples at this interval.
fn record_plan(file: &ScenarioTable, interval: Option<Duration>) -> Result<RecordPlan, Problem> {
    let Some(record) = &file.record else { return Ok(RecordPlan { interval, ..RecordPlan::NOTHING }) };
    let record = &record.value;
    let plan = RecordPlan {
        interval,
        packets: value_or(&record.packets, false),
        packets_from: Time::ZERO + value_or(&record.packets_from, Duration::ZERO),
        packets_until: record.packets_until.as_ref().map_or(Time::NEVER, |until| Time::ZERO + until.value),
        payload: value_or(&record.payload, false),
    };
    if let Some(from) = record.packets_from.as_ref().filter(|from| from.value >= file.duration.value.0) {
        return Err(from.place.problem("is not before the end of the run", "must be earlier than duration"));
    }
    if let Some(until) = record.packets_until.as_ref().filter(|_| plan.packets_until <= plan.packets_from) {
        return Err(until.place.problem("records no time", "must be later than packets_from"));
    }
    Ok(plan)
}

/// Nodes, links, and links on the longest route, without building them.
fn network_size(network: &NetworkTable, flows: u128) -> (u128, u128, u128) {
    match network {
        NetworkTable::Dumbbell(file) => {
            let hosts = file.hosts.as_ref().map_or(flows, |hosts| hosts.value.0.into());
            (2 * hosts + 2, 4 * hosts + 2, 3)
        }
        NetworkTable::ParkingLot(file) => {
            let hops = u128::from(file.hops.value.0);
            (3 * hops + 3, 6 * hops + 4, hops + 2)
        }
        NetworkTable::Graph(file) => {
            let nodes = file.nodes.len() as u128;
            (nodes, 2 * file.link.len() as u128, nodes)
        }
        NetworkTable::FatTree(file) => {
            let k = u128::from(file.k.value.0);
            (5 * k * k / 4 + k * k * k / 4, 3 * k * k * k / 2, 6)
        }
        NetworkTable::LeafSpine(file) => {
            let [leaves, spines, hosts] =
                [&file.leaves, &file.spines, &file.hosts].map(|count| u128::from(count.value.0));
            (leaves + spines + leaves * hosts, 2 * leaves * (spines + hosts), 4)
        }
    }
}

/// Interval of the series: a thousandth of the duration, or longer to limit their rows to two
/// million.
fn interval(file: &ScenarioTable, flows: u128) -> Option<Duration> {
    let written = file.record.as_ref().and_then(|record| record.value.interval.as_ref());
    match written.map_or(Interval::Auto, |interval| interval.value) {
        Interval::Off => None,
        Interval::Every(interval) => Some(interval),
        Interval::Auto => {
            let (_, links, _) = network_size(&file.network.value, flows);
            Some(RecordPlan::usual_interval(file.duration.value.0, flows + links))
        }
    }
}

fn check_memory(file: &ScenarioTable, flows: u128, interval: Option<Duration>) -> Result<(), Problem> {
    let (nodes, links, longest_route) = network_size(&file.network.value, flows);
    let samples = interval
        .map_or(0, |interval| 1 + u128::from(file.duration.value.0.picoseconds() / interval.picoseconds()));
    let largest = file.flow.iter().max_by_key(|flow| copies(&flow.value));
    let flow_place = largest.map_or(&file.duration.place, |flow| place_or(&flow.value.count, &flow.place));
    let network_place = match &file.network.value {
        NetworkTable::Dumbbell(dumbbell) if dumbbell.hosts.is_none() => flow_place,
        NetworkTable::Dumbbell(dumbbell) => place_or(&dumbbell.hosts, &file.network.place),
        NetworkTable::ParkingLot(chain) => &chain.hops.place,
        NetworkTable::Graph(_) => &file.network.place,
        NetworkTable::FatTree(tree) => &tree.k.place,
        NetworkTable::LeafSpine(tree) => &tree.hosts.place,
    };
    let interval_place = file
        .record
        .as_ref()
        .map_or(&file.duration.place, |record| place_or(&record.value.interval, &file.duration.place));
    let rows = (flows + links).saturating_mul(samples);
    limits::check(&[
        Demand { count: flows, what: "flows", each: 2048, place: flow_place },
        Demand { count: nodes, what: "nodes", each: 128, place: network_place },
        Demand { count: links, what: "links", each: 1024, place: network_place },
        Demand {
            count: flows.saturating_mul(longest_route),
            what: "hops of routes",
            each: 16,
            place: flow_place,
        },
        Demand { count: rows, what: "rows of series", each: 96, place: interval_place },
    ])
}

//! The record of an emulation, replayed through the simulator's network.

use crate::emulator::EmulationError;
use crate::packet_rows::{self, Wanted, batches, link_of, named, numbers};
use crate::scenario::Scenario;
use arrow_array::RecordBatch;
use arrow_array::types::{UInt32Type, UInt64Type};
use pyo3::prelude::*;
use selfclock_congestion::units::{Duration, Time};
use selfclock_emulator::replay::{Findings, Recorded, Replay};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::PacketRecord;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The parts of an emulation's summary that a replay needs.
struct About {
    nodes: Vec<usize>,
    flows_per_path: u32,
    /// Slot of each connection in the plan, by name.
    slots: BTreeMap<String, u32>,
    end: Time,
}

impl About {
    fn read(plan: &Plan, summary: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(summary).map_err(|error| format!("the summary: {error}"))?;
        let emulation = document.get("emulation").ok_or("the summary is of no emulation")?;
        let damaged = || "the summary of the emulation is damaged".to_owned();
        let hosts = emulation["hosts"].as_array().ok_or_else(damaged)?;
        let node =
            |host: &Value| plan.nodes.iter().position(|node| Some(node.as_str()) == host["name"].as_str());
        let slot = |flow: &Value| Some((flow["name"].as_str()?.to_owned(), flow["slot"].as_u64()? as u32));
        let flows = document["flows"].as_array().ok_or_else(damaged)?;
        Ok(Self {
            nodes: hosts.iter().map(node).collect::<Option<_>>().ok_or_else(damaged)?,
            flows_per_path: emulation["flows_per_path"].as_u64().ok_or_else(damaged)? as u32,
            slots: flows.iter().map(slot).collect::<Option<_>>().ok_or_else(damaged)?,
            end: Time::ZERO + Duration::from_seconds(document["simulated_s"].as_f64().ok_or_else(damaged)?),
        })
    }
}

/// The first link of each packet, by number, which determines its direction.
fn first_links(path: &Path, plan: &Plan) -> Result<Vec<u32>, String> {
    let mut first: Vec<u32> = Vec::new();
    for batch in batches(path, Wanted { columns: Some(&["link", "packet"]), ..Wanted::default() })?.1 {
        let batch = batch.map_err(|error| error.to_string())?;
        let links = named::<UInt32Type, _>(&batch, "link", |name| link_of(plan, name));
        let (Some(links), Some(packets)) = (links, numbers::<UInt64Type>(&batch, "packet")) else {
            return Err(format!("{} is no packet record", path.display()));
        };
        for (link, packet) in links.into_iter().zip(packets) {
            let (Some(link), Some(packet)) = (link, packet) else { continue };
            let packet = packet as usize;
            if first.len() <= packet {
                first.resize(packet + 1, u32::MAX);
            }
            if first[packet] == u32::MAX {
                first[packet] = link;
            }
        }
    }
    Ok(first)
}

/// The rows of a part of the record. A name missing in the summary is resolved when its packet is
/// sent.
fn recorded(batch: &RecordBatch, plan: &Plan, about: &About, first: &[u32]) -> Option<Vec<Recorded>> {
    let records = packet_rows::records(batch, plan, |name| about.slots.get(name).copied())?;
    let first_of = |record: &PacketRecord| first.get(record.packet as usize).copied().unwrap_or(u32::MAX);
    Some(records.iter().map(|record| Recorded::of(record, first_of(record))).collect())
}

fn run(
    plan: &Plan,
    summary: &str,
    path: &Path,
    mut goes_on: impl FnMut(f64) -> PyResult<()>,
) -> PyResult<Findings> {
    let failed = |error: String| EmulationError::new_err(error);
    let about = About::read(plan, summary).map_err(failed)?;
    let first = first_links(path, plan).map_err(failed)?;
    let mut replay = Replay::new(plan, &about.nodes, about.flows_per_path)
        .map_err(|error| EmulationError::new_err(error.to_string()))?;
    let (rows, parts) = batches(path, Wanted::default()).map_err(failed)?;
    let mut done = 0;
    for batch in parts {
        let batch = batch.map_err(|error| failed(error.to_string()))?;
        let rows_here = recorded(&batch, plan, &about, &first)
            .ok_or_else(|| failed(format!("{} is no packet record", path.display())))?;
        replay.add(&rows_here);
        done += rows_here.len() as u64;
        goes_on(done as f64 / rows.max(1) as f64)?;
        if replay.is_enough() {
            break;
        }
    }
    Ok(replay.finish(about.end))
}

/// Replays an emulation's record through the simulator's network, and compares every event. Returns
/// the numbers of packets sent, dropped and marked, and the first differences.
#[pyfunction]
#[pyo3(signature = (scenario, summary, packets, progress = None))]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
pub fn replay(
    py: Python<'_>,
    scenario: &Scenario,
    summary: &str,
    packets: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64, u64, Vec<(f64, String)>)> {
    let goes_on = |done: f64| {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done,)).map(drop))
        })
    };
    let Findings { sent, dropped, marked, differences } =
        py.detach(|| run(scenario.plan(), summary, &packets, goes_on))?;
    let differences = differences.into_iter().map(|difference| (difference.time_s, difference.what));
    Ok((sent, dropped, marked, differences.collect()))
}

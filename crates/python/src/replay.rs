//! The record of an emulation, replayed through the simulator's network.

use crate::emulator::EmulationError;
use crate::scenario::Scenario;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, DictionaryArray, RecordBatch, RecordBatchReader};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::prelude::*;
use selfclock_congestion::units::{Duration, Time};
use selfclock_emulator::replay::{Findings, Recorded, Replay};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
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

/// Columns of numbers, by their names.
fn numbers<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> Option<Vec<Option<T::Native>>> {
    Some(batch.column_by_name(name)?.as_primitive_opt::<T>()?.iter().collect())
}

fn bits(batch: &RecordBatch, name: &str) -> Option<Vec<bool>> {
    Some(batch.column_by_name(name)?.as_boolean_opt()?.iter().map(|bit| bit == Some(true)).collect())
}

/// A column of names, each mapped by `of`.
fn named<K: arrow_array::types::ArrowDictionaryKeyType, T: Copy>(
    batch: &RecordBatch,
    name: &str,
    of: impl Fn(&str) -> Option<T>,
) -> Option<Vec<Option<T>>>
where
    K::Native: TryInto<usize>,
{
    let column: &DictionaryArray<K> = batch.column_by_name(name)?.as_any().downcast_ref()?;
    let values: Vec<Option<T>> =
        column.values().as_string_opt::<i32>()?.iter().map(|text| text.and_then(&of)).collect();
    let key = |key: Option<K::Native>| values.get(key?.try_into().ok()?).copied().flatten();
    Some(column.keys().iter().map(key).collect())
}

fn batches(path: &Path, wanted: Option<&[&str]>) -> Result<(u64, impl RecordBatchReader), String> {
    let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| problem(&error))?;
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| problem(&error))?;
    let rows = builder.metadata().file_metadata().num_rows() as u64;
    if let Some(wanted) = wanted {
        let mask = ProjectionMask::columns(builder.parquet_schema(), wanted.iter().copied());
        builder = builder.with_projection(mask);
    }
    Ok((rows, builder.build().map_err(|error| problem(&error))?))
}

/// The first link of each packet, by number, which determines its direction.
fn first_links(path: &Path, plan: &Plan) -> Result<Vec<u32>, String> {
    let mut first: Vec<u32> = Vec::new();
    for batch in batches(path, Some(&["link", "packet"]))?.1 {
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

fn link_of(plan: &Plan, name: &str) -> Option<u32> {
    plan.links.iter().position(|link| link.name == name).map(|link| link as u32)
}

fn by_name<T: Copy, const N: usize>(all: [T; N], name_of: fn(T) -> &'static str, name: &str) -> Option<T> {
    all.into_iter().find(|&one| name_of(one) == name)
}

/// The rows of a part of the record.
fn recorded(batch: &RecordBatch, plan: &Plan, about: &About, first: &[u32]) -> Option<Vec<Recorded>> {
    let time_s = numbers::<Float64Type>(batch, "time_s")?;
    let event =
        named::<UInt8Type, _>(batch, "event", |name| by_name(PacketEvent::ALL, PacketEvent::name, name))?;
    let kind = named::<UInt8Type, _>(batch, "kind", |name| by_name(PacketKind::ALL, PacketKind::name, name))?;
    let ecn = named::<UInt8Type, _>(batch, "ecn", |name| by_name(Codepoint::ALL, Codepoint::name, name))?;
    let link = named::<UInt32Type, _>(batch, "link", |name| link_of(plan, name))?;
    let flow = named::<UInt32Type, _>(batch, "flow", |name| about.slots.get(name).copied())?;
    let (ece, cwr) = (bits(batch, "ece")?, bits(batch, "cwr")?);
    let retransmission = bits(batch, "retransmission")?;
    let packet = numbers::<UInt64Type>(batch, "packet")?;
    let sequence = numbers::<UInt64Type>(batch, "sequence")?;
    let acknowledgement = numbers::<UInt64Type>(batch, "acknowledgement")?;
    let payload = numbers::<UInt32Type>(batch, "payload_bytes")?;
    let size = numbers::<UInt32Type>(batch, "size_bytes")?;
    let receive_window = numbers::<UInt64Type>(batch, "receive_window_bytes")?;
    let row = |row: usize| {
        let (kind, packet) = (kind[row]?, packet[row]?);
        let acknowledges = matches!(kind, PacketKind::Ack | PacketKind::SynAck);
        Some(Recorded {
            time_s: time_s[row]?,
            event: event[row]?,
            link: link[row].unwrap_or(u32::MAX),
            // A name missing in the summary is resolved when its packet is sent.
            slot: flow[row].unwrap_or(u32::MAX),
            kind,
            ecn: ecn[row]?,
            ece: ece[row],
            cwr: cwr[row],
            retransmission: retransmission[row],
            packet,
            sequence: if acknowledges { acknowledgement[row]? } else { sequence[row]? },
            payload: payload[row]?,
            size: size[row]?,
            receive_window: receive_window[row],
            first_link: first.get(packet as usize).copied().unwrap_or(u32::MAX),
        })
    };
    (0..batch.num_rows()).map(row).collect()
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
    let (rows, parts) = batches(path, None).map_err(failed)?;
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

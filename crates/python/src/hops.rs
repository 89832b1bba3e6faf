//! Packets on links, as tables.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt32Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::hops::{Fate, Follower, Hops};
use selfclock_simulator::record::packets::{PacketKind, PacketRecord};

use crate::outcome::Outcome;
use crate::packet_rows::{self, Wanted};
use crate::scenario::Scenario;
use crate::table::{Table, few_names, names};

/// Where packet events are.
#[derive(FromPyObject)]
pub enum Record<'py> {
    Memory(Bound<'py, Outcome>),
    File(PathBuf),
}

/// The part of a record that is followed.
#[derive(Clone, Copy)]
struct Asked {
    span_s: (f64, f64),
    flow: Option<u32>,
    most: usize,
}

impl Asked {
    fn add(&self, follower: &mut Follower, record: &PacketRecord) {
        let time_s = record.time.seconds();
        let is_within = self.span_s.0 <= time_s && time_s <= self.span_s.1;
        if is_within && self.flow.is_none_or(|flow| flow == record.flow) {
            follower.add(record);
        }
    }
}

/// The packets on links between two times, of one flow or all, at most the first `most` hops: a
/// table of hops, one of their packets, the end of the period, and whether the record is longer.
#[pyfunction]
#[pyo3(signature = (scenario, record, span_s, flow = None, most = None))]
pub fn hops(
    py: Python<'_>,
    scenario: &Scenario,
    record: Record<'_>,
    span_s: (f64, f64),
    flow: Option<u32>,
    most: Option<usize>,
) -> PyResult<(Table, Table, f64, bool)> {
    let plan = scenario.plan();
    let asked = Asked { span_s, flow, most: most.unwrap_or(usize::MAX) };
    let found = match record {
        Record::Memory(outcome) => {
            let outcome = outcome.get();
            py.detach(|| {
                let mut follower = Follower::new(plan, span_s.0, span_s.0, asked.most);
                for record in outcome.record().iter() {
                    asked.add(&mut follower, &record);
                    if follower.is_full() {
                        break;
                    }
                }
                follower.finish(span_s.1)
            })
        }
        Record::File(path) => py.detach(|| of_file(plan, &path, asked)).map_err(PyValueError::new_err)?,
    };
    let (until, cut) = (found.until, found.cut);
    Ok((hop_table(plan, &found)?, packet_table(plan, &found)?, until, cut))
}

fn of_file(plan: &Plan, path: &std::path::Path, asked: Asked) -> Result<Hops, String> {
    let mut follower = Follower::new(plan, asked.span_s.0, asked.span_s.0, asked.most);
    let flow = |name: &str| plan.flows.iter().position(|flow| flow.name == name).map(|flow| flow as u32);
    let wanted = Wanted { columns: Some(packet_rows::OF_HOPS), between_s: Some(asked.span_s) };
    for batch in packet_rows::batches(path, wanted)?.1 {
        let batch = batch.map_err(|error| error.to_string())?;
        let records = packet_rows::records(&batch, plan, flow)
            .ok_or_else(|| format!("{} is no packet record", path.display()))?;
        records.iter().for_each(|record| asked.add(&mut follower, record));
        if follower.is_full() {
            break;
        }
    }
    Ok(follower.finish(asked.span_s.1))
}

/// Times, null where they are not within the record.
fn times(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(values.map(|time| time.is_finite().then_some(time))))
}

fn counts(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

fn hop_table(plan: &Plan, found: &Hops) -> PyResult<Table> {
    let hops = || found.hops.iter();
    let links = plan.links.iter().map(|link| link.name.as_str());
    Table::new(vec![
        ("packet", counts(hops().map(|hop| hop.packet))),
        ("link", names(hops().map(|hop| hop.link).collect(), links)?),
        ("enter_s", times(hops().map(|hop| hop.enter))),
        ("start_s", times(hops().map(|hop| hop.start))),
        ("sent_s", times(hops().map(|hop| hop.sent))),
        ("arrive_s", times(hops().map(|hop| hop.arrive))),
        ("leave_s", times(hops().map(|hop| hop.leave))),
        ("fate", few_names(hops().map(|hop| hop.fate as u8).collect(), Fate::ALL.map(Fate::name))?),
    ])
}

fn packet_table(plan: &Plan, found: &Hops) -> PyResult<Table> {
    let packets = || found.packets.iter();
    let bits = |bit: fn(&PacketKind) -> bool| -> ArrayRef {
        Arc::new(BooleanArray::from_iter(packets().map(|packet| Some(bit(&packet.kind)))))
    };
    let again = packets().map(|packet| Some(packet.retransmission));
    let kinds = packets().map(|packet| packet.kind as u8).collect();
    let flows = plan.flows.iter().map(|flow| flow.name.as_str());
    Table::new(vec![
        // A name that the plan does not know has no flow; it is shown as one of the first.
        (
            "flow",
            names(
                packets()
                    .map(|packet| packet.flow)
                    .map(|flow| if flow == u32::MAX { 0 } else { flow })
                    .collect(),
                flows,
            )?,
        ),
        ("kind", few_names(kinds, PacketKind::ALL.map(PacketKind::name))?),
        ("returns", bits(|kind| kind.returns())),
        ("carries_data", bits(|kind| kind.carries_data())),
        ("retransmission", Arc::new(BooleanArray::from_iter(again))),
        ("size_bytes", counts(packets().map(|packet| packet.size))),
        ("number", counts(packets().map(|packet| packet.number))),
        ("marked_s", times(packets().map(|packet| packet.marked))),
        ("sent_s", times(packets().map(|packet| packet.sent))),
        ("delivered_s", times(packets().map(|packet| packet.delivered))),
    ])
}

/// Every kind of packet: name in records, word before its number, whether it travels from the
/// receiver of data to their sender, whether it carries data.
#[pyfunction]
pub fn packet_kinds() -> Vec<(&'static str, &'static str, bool, bool)> {
    let about = |kind: PacketKind| (kind.name(), kind.word(), kind.returns(), kind.carries_data());
    PacketKind::ALL.into_iter().map(about).collect()
}

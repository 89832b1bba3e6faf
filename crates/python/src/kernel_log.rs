//! Records of real connections: their replay, and their connections as traces. Available on every
//! system.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use selfclock_kernel::event::KernelEvent;
use selfclock_kernel::log::{Reader, replay, traces};
use selfclock_kernel::series::{Column, series};
use serde_json::json;

use crate::control::registry;

fn refused(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Replays a record, under its algorithm or another, and requires the recorded answers; returns its
/// extent, as JSON text.
#[pyfunction]
#[pyo3(signature = (log, algorithm=None))]
pub fn kernel_replay(py: Python<'_>, log: &[u8], algorithm: Option<&str>) -> PyResult<String> {
    let registry = registry().clone();
    let other = algorithm.map(|text| registry.read(text)).transpose().map_err(refused)?;
    let head = Reader::new(log).map_err(refused)?;
    let (about, own) = (head.about().to_owned(), head.selection(&registry));
    let label = other.as_ref().or(own.as_ref().ok()).map(selfclock_congestion::Selection::label);
    let done = py.detach(|| replay(&registry, log, other.as_ref())).map_err(refused)?;
    Ok(json!({
        "algorithm": label, "about": about, "events": done.events, "answers": done.answers,
        "options": done.options, "flows": done.flows, "phases": done.phases,
    })
    .to_string())
}

/// A connection: its number, its ports and its trace.
type Traced<'py> = (u64, u16, u16, Bound<'py, PyBytes>);

/// Hands over each connection of a record.
#[pyfunction]
pub fn kernel_traces<'py>(py: Python<'py>, log: &[u8]) -> PyResult<Vec<Traced<'py>>> {
    let registry = registry().clone();
    let mut all = Vec::new();
    let take = |last: KernelEvent, trace| all.push((last.id, last.port, last.peer_port, trace));
    py.detach(|| traces(&registry, log, take)).map_err(refused)?;
    Ok(all.into_iter().map(|(id, port, peer, trace)| (id, port, peer, PyBytes::new(py, &trace))).collect())
}

/// The connections of a record as the recorder's table of flows, in columns, sampled at this
/// interval in seconds.
#[pyfunction]
pub fn kernel_series<'py>(py: Python<'py>, log: &[u8], interval_s: f64) -> PyResult<Bound<'py, PyDict>> {
    let registry = registry().clone();
    let table = py.detach(|| series(&registry, log, (interval_s * 1e9) as u64)).map_err(refused)?;
    let columns = PyDict::new(py);
    for (name, column) in table.columns() {
        match column {
            Column::Reals(values) => columns.set_item(name, values)?,
            Column::Counts(values) => columns.set_item(name, values)?,
            Column::Names(values) => columns.set_item(name, values)?,
            Column::Flags(values) => columns.set_item(name, values)?,
        }
    }
    Ok(columns)
}

//! Algorithms that decide in the kernel: load, inspect, record, unload.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyLookupError, PyOSError, PyValueError};
use pyo3::prelude::*;
use selfclock_kernel::linux::LoadError;
use selfclock_kernel::linux::resident::{Recorder, Resident, Scope, State, description, find, install};
use selfclock_kernel::objects::{OBJECTS, object_of};
use serde_json::{Value, json};

use crate::kernel::Chosen;
use crate::kernel_custom;

/// The algorithms that are compiled for the kernel, as JSON text.
#[pyfunction]
pub fn kernel_objects() -> String {
    let row = |(label, object): &(&str, &[u8])| json!({ "algorithm": label, "bytes": object.len() });
    Value::Array(OBJECTS.iter().map(row).collect()).to_string()
}

/// Loads an algorithm, or that of a scenario's flow, and registers it under a name. Returns the
/// number of verified programs.
#[pyfunction]
pub fn kernel_load(py: Python<'_>, algorithm: Chosen<'_>, name: &str) -> PyResult<usize> {
    let selection = algorithm.selection()?;
    let label = match &algorithm {
        Chosen::Text(text) => text.clone(),
        Chosen::OfFlow(..) => selection.label(),
    };
    let object = object_of(&selection).ok_or_else(|| {
        PyLookupError::new_err(format!("{} is not compiled for the kernel", selection.label()))
    })?;
    let loaded = py.detach(|| install(object, &selection, &label, name));
    loaded.map(|loaded| loaded.programs).map_err(|error: LoadError| PyOSError::new_err(error.to_string()))
}

/// The description in an object of `selfclock kernel build`, JSON; `None` if it has none.
#[pyfunction]
pub fn kernel_describe(contents: &[u8]) -> Option<&str> {
    description(contents)
}

/// Loads an object of `selfclock kernel build` with these settings, and registers it under a name.
/// Returns the algorithm with its settings.
#[pyfunction]
pub fn kernel_load_object(py: Python<'_>, contents: &[u8], settings: &str, name: &str) -> PyResult<String> {
    let (selection, label) = kernel_custom::selection(contents, settings).map_err(PyValueError::new_err)?;
    let loaded = py.detach(|| install(contents, &selection, &label, name));
    loaded.map(|_| label).map_err(|error: LoadError| PyOSError::new_err(error.to_string()))
}

fn described(state: &State) -> Value {
    let totals = &state.totals;
    let restored = state
        .restored
        .iter()
        .map(|one| json!({ "namespace": one.place, "default": one.now, "previous": one.is_previous }));
    json!({
        "name": state.name, "algorithm": state.algorithm, "since": state.since, "registered": state.registered,
        "flows": totals.live(), "flows_so_far": totals.flows, "events": totals.events, "acks": totals.acks,
        "without_state": totals.without_state, "fallback_acks": totals.fallback_acks,
        "recorded": totals.recorded, "lost_records": totals.lost_records, "recorder": state.recorder,
        "default_of": state.defaults,
        "restored": restored.collect::<Vec<_>>(), "loader_lives": state.loader_lives,
    })
}

/// The algorithms that are in the kernel, as JSON text.
#[pyfunction]
pub fn kernel_residents(py: Python<'_>) -> PyResult<String> {
    let states = py.detach(|| find().map(|all| all.iter().map(Resident::state).collect::<Vec<_>>()))?;
    Ok(Value::Array(states.iter().map(described).collect()).to_string())
}

/// Unregisters one name or all; returns what was there, as JSON text.
#[pyfunction]
#[pyo3(signature = (name=None))]
pub fn kernel_unload_residents(py: Python<'_>, name: Option<&str>) -> PyResult<String> {
    let states = py.detach(|| {
        let mut all = find()?;
        all.retain(|resident| name.is_none_or(|name| resident.name == name));
        all.iter().map(Resident::unload).collect::<std::io::Result<Vec<_>>>()
    })?;
    Ok(Value::Array(states.iter().map(described).collect()).to_string())
}

/// The registered algorithm with this name, or the only one.
fn registered(name: Option<&str>) -> PyResult<Resident> {
    let mut all = find()?;
    all.retain(Resident::is_registered);
    all.retain(|resident| name.is_none_or(|name| resident.name == name));
    match (all.len(), all.pop()) {
        (1, Some(one)) => Ok(one),
        (0, _) => Err(PyLookupError::new_err(match name {
            Some(name) => format!("no algorithm is loaded as {name:?}"),
            None => "no algorithm is loaded".to_owned(),
        })),
        (count, _) => Err(PyLookupError::new_err(format!("{count} algorithms are loaded: name one of them"))),
    }
}

/// Makes one the default of this namespace, or of the host. Returns the former default.
#[pyfunction]
pub fn kernel_default(py: Python<'_>, name: &str, host: bool) -> PyResult<String> {
    let scope = if host { Scope::Host } else { Scope::Own };
    let resident = registered(Some(name))?;
    py.detach(|| resident.make_default(scope)).map_err(PyErr::from)
}

/// A recording of the connections of an algorithm in the kernel.
#[pyclass(frozen, module = "selfclock._core")]
#[derive(Debug)]
pub struct KernelRecorder {
    recorder: Arc<Recorder>,
    /// Name of the congestion control.
    #[pyo3(get)]
    name: String,
    /// The algorithm with its parameters.
    #[pyo3(get)]
    algorithm: String,
}

#[pymethods]
impl KernelRecorder {
    /// Begins to record connections that begin from now on.
    #[new]
    #[pyo3(signature = (path, name=None))]
    fn new(path: PathBuf, name: Option<&str>) -> PyResult<Self> {
        let resident = registered(name)?;
        let (name, algorithm) = (resident.name.clone(), resident.about.label());
        let recorder = Recorder::start(resident, &path)?;
        Ok(Self { recorder: Arc::new(recorder), name, algorithm })
    }

    /// Records until `stop`, or until the algorithm is gone.
    fn run(&self, py: Python<'_>) {
        py.detach(|| self.recorder.run());
    }

    /// Lets `run` return.
    fn stop(&self) {
        self.recorder.stop();
    }

    /// Counts of the recording so far, as JSON text.
    fn status(&self) -> String {
        let status = self.recorder.status();
        json!({
            "events": status.events, "flows": status.flows, "earlier": status.earlier, "cut": status.cut,
            "lost": status.lost, "passed_over": status.passed_over, "error": status.error, "gone": status.gone,
        })
        .to_string()
    }
}

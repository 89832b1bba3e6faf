//! Scenarios: read from a file or a text, checked, ready to run.

use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use selfclock_congestion::units::{Duration, Time};
use selfclock_emulator::{Seen, emulated};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::scenario;

use crate::control::registry;
use crate::senders::senders;

create_exception!(
    selfclock._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run; the message names file, line and key and says what is allowed."
);

/// A checked scenario.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Scenario {
    inner: scenario::Scenario,
}

impl Scenario {
    pub fn plan(&self) -> &Plan {
        &self.inner.plan
    }
    pub fn scenario(&self) -> &scenario::Scenario {
        &self.inner
    }
    /// Name used in messages in place of a file.
    pub fn source(&self) -> &str {
        &self.inner.source_name
    }
}

impl From<scenario::Scenario> for Scenario {
    fn from(inner: scenario::Scenario) -> Self {
        Self { inner }
    }
}

/// An error of a scenario or a grid as an exception.
pub fn raised(error: scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

#[pymethods]
impl Scenario {
    /// Reads a file; each override is "path=value", as `--set` takes it.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        let registry = registry().clone();
        scenario::Scenario::load_with(&registry, &path, &overrides).map(Self::from).map_err(raised)
    }

    /// Reads a text; `source_name` is the file name in messages.
    #[staticmethod]
    #[pyo3(signature = (text, source_name = "scenario", overrides = Vec::new()))]
    fn parse(text: &str, source_name: &str, overrides: Vec<String>) -> PyResult<Self> {
        let registry = registry().clone();
        scenario::Scenario::parse_with(&registry, text, source_name, &overrides)
            .map(Self::from)
            .map_err(raised)
    }

    /// The same scenario with another seed.
    fn with_seed(&self, seed: u64) -> Self {
        Self { inner: self.inner.clone().with_seed(seed) }
    }

    /// The same scenario with further overrides.
    #[pyo3(name = "with_overrides")]
    fn with(&self, overrides: Vec<String>) -> PyResult<Self> {
        self.inner.with(&overrides).map(Self::from).map_err(raised)
    }

    /// The same scenario without series and packets; its summary is the same.
    fn unrecorded(&self) -> Self {
        Self { inner: self.inner.clone().unrecorded() }
    }

    /// Every setting of the run with the defaults filled in, as text: two scenarios with the same
    /// text are the same run.
    #[getter]
    fn resolved(&self) -> String {
        format!("{:?}", self.inner.plan)
    }

    /// The same without the name, which affects only records.
    #[getter]
    fn settings(&self) -> String {
        format!("{:?}", Plan { name: String::new(), ..self.inner.plan.clone() })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.plan.name
    }
    #[getter]
    fn title(&self) -> Option<&str> {
        self.inner.title.as_deref()
    }
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.plan.seed
    }
    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.plan.duration.seconds()
    }
    #[getter]
    fn measure_from_s(&self) -> f64 {
        self.inner.plan.measure_from.seconds()
    }
    #[getter]
    fn text(&self) -> &str {
        &self.inner.text
    }
    #[getter]
    fn source_name(&self) -> &str {
        &self.inner.source_name
    }
    /// Estimated packet-hops of the run, if every flow fills its share of its path.
    #[getter]
    fn expected_packet_hops(&self) -> f64 {
        self.inner.plan.expected_packet_hops()
    }
    /// Notes on settings that probably do not mean what they say.
    #[getter]
    fn notes(&self) -> Vec<String> {
        scenario::notes(&self.inner.plan)
    }
    /// Names of flows that differ in nothing but their hosts, one list for each kind.
    #[getter]
    fn alike(&self) -> Vec<Vec<&str>> {
        scenario::alike(&self.inner.plan)
    }
    #[getter]
    fn records_packets(&self) -> bool {
        self.inner.plan.record.packets
    }
    #[getter]
    fn flow_names(&self) -> Vec<&str> {
        self.inner.plan.flows.iter().map(|flow| flow.name.as_str()).collect()
    }
    /// Algorithm of each flow by its name in records; "udp" for UDP.
    #[getter]
    fn algorithm_names(&self) -> Vec<&str> {
        self.inner.plan.flows.iter().map(|flow| flow.algorithm().unwrap_or("udp")).collect()
    }
    #[getter]
    fn link_names(&self) -> Vec<&str> {
        self.inner.plan.links.iter().map(|link| link.name.as_str()).collect()
    }

    /// Names of the nodes that send or receive data.
    #[getter]
    fn host_names(&self) -> Vec<&str> {
        let plan = &self.inner.plan;
        let hosts: std::collections::BTreeSet<usize> =
            plan.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
        hosts.into_iter().map(|host| plan.nodes[host].as_str()).collect()
    }

    /// The settings that runs with a common beginning must share, as text.
    #[getter]
    fn beginning(&self) -> String {
        self.inner.plan.beginning()
    }
    /// Time up to which runs of both scenarios are the same, ps; none if they differ from the
    /// beginning.
    fn same_until(&self, other: &Self) -> Option<u64> {
        self.inner.plan.same_until(&other.inner.plan).ok().map(|time| time.picoseconds())
    }
    #[getter]
    fn duration_ps(&self) -> u64 {
        self.inner.plan.duration.picoseconds()
    }
    /// Whether a flow has an algorithm written in Python.
    #[getter]
    fn has_own_algorithms(&self) -> bool {
        self.inner.plan.has_custom_algorithms()
    }
    /// Nodes, links and flows, as JSON text.
    #[getter]
    fn network(&self) -> String {
        scenario::network(&self.inner.plan).to_string()
    }
    /// Sender of each flow and its settings, as JSON text.
    #[getter]
    fn senders(&self) -> String {
        senders(&self.inner.plan)
    }
    /// Period of packet recording in seconds, if any.
    #[getter]
    fn recorded_span_s(&self) -> Option<(f64, f64)> {
        let record = &self.inner.plan.record;
        let until = record.packets_until.min(Time::ZERO + self.inner.plan.duration);
        record.packets.then(|| (record.packets_from.seconds(), until.seconds()))
    }

    /// Bytes offered by the delivery trace of a link up to each of these times; none without a
    /// trace or link.
    fn offered_bytes(&self, link: &str, times_s: Vec<f64>) -> Option<Vec<u64>> {
        let trace = self.inner.plan.links.iter().find(|each| each.name == link)?.trace.as_ref()?;
        let until = |&time: &f64| trace.offered_until(Time::ZERO + Duration::from_seconds(time));
        Some(times_s.iter().map(until).collect())
    }

    /// The scenario with the flows observed by an emulation in place of its own, for tables and
    /// figures: name, from, to, algorithm or "udp", start in seconds.
    fn emulated(&self, flows: Vec<(String, String, String, String, f64)>) -> PyResult<Self> {
        let nodes = &self.inner.plan.nodes;
        let node = |flow: &str, name: &str| {
            nodes.iter().position(|node| node == name).ok_or_else(|| {
                let allowed = nodes.join(", ");
                ScenarioError::new_err(format!("flow {flow:?}: {name:?} is no node; allowed: {allowed}"))
            })
        };
        let seen = flows.into_iter().map(|(name, from, to, algorithm, start_s)| {
            let (from, to) = (node(&name, &from)?, node(&name, &to)?);
            let start = Time::ZERO + Duration::from_seconds(start_s);
            let algorithm = Some(algorithm).filter(|name| name != "udp");
            Ok(Seen { name, from, to, algorithm, start })
        });
        let plan = emulated(&self.inner.plan, &seen.collect::<PyResult<Vec<_>>>()?);
        let mut inner = self.inner.clone();
        inner.plan = plan;
        Ok(Self { inner })
    }

    fn __repr__(&self) -> String {
        let plan = &self.inner.plan;
        format!(
            "<Scenario {:?}: {} flows, {} links, {} s, seed {}>",
            plan.name,
            plan.flows.len(),
            plan.links.len(),
            plan.duration.seconds(),
            plan.seed
        )
    }
}

/// The JSON Schema of scenario files that may name any registered algorithm, as JSON text.
#[pyfunction]
pub fn schema() -> String {
    scenario::schema(&registry()).to_string()
}

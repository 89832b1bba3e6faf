//! Algorithms in control of real connections: the loop of `selfclock kernel run`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use selfclock_congestion::Selection;
use selfclock_kernel::linux::options::OptionCounts;
use selfclock_kernel::linux::slots::SlotCounts;
use selfclock_kernel::linux::{FlowStatus, Options, Poll, Session, Status, Unloaded, check, list, unload};
use serde_json::{Value, json};

use crate::control::registry;
use crate::run::place;
use crate::scenario::Scenario;

/// Capabilities of this machine, as JSON text.
#[pyfunction]
pub fn kernel_check(py: Python<'_>) -> String {
    let findings = py.detach(check);
    let row = |finding: selfclock_kernel::linux::Finding| json!({ "what": finding.what, "good": finding.good, "found": finding.found });
    Value::Array(findings.into_iter().map(row).collect()).to_string()
}

fn unloaded(rows: Vec<Unloaded>) -> String {
    let row = |row: Unloaded| {
        json!({
            "name": row.name, "owner": row.owner, "registered": row.registered, "flows": row.flows,
            "flows_so_far": row.totals.flows, "without_slot": row.totals.without_slot,
            "lost_events": row.totals.lost_events, "fallbacks": row.totals.fallbacks,
        })
    };
    Value::Array(rows.into_iter().map(row).collect()).to_string()
}

/// Unregisters one congestion control, or all; returns what was there, as JSON text.
#[pyfunction]
#[pyo3(signature = (name=None))]
pub fn kernel_unload(name: Option<&str>) -> PyResult<String> {
    unload(name).map(unloaded).map_err(PyErr::from)
}

/// Objects in the kernel, as JSON text.
#[pyfunction]
pub fn kernel_list() -> PyResult<String> {
    list().map(unloaded).map_err(PyErr::from)
}

/// An algorithm: its text, or that of a scenario's flow, by index.
#[derive(FromPyObject)]
pub enum Chosen<'py> {
    Text(String),
    OfFlow(PyRef<'py, Scenario>, usize),
}

impl Chosen<'_> {
    pub fn selection(&self) -> PyResult<Selection> {
        match self {
            Self::Text(text) => {
                registry().read(text).map_err(|error| PyValueError::new_err(error.to_string()))
            }
            Self::OfFlow(scenario, index) => {
                let flow = scenario.plan().flows.get(*index);
                let tcp = flow.and_then(|flow| flow.protocol.tcp());
                let error = || PyValueError::new_err(format!("flow {index} has no TCP sender"));
                tcp.map(|tcp| tcp.control.clone()).ok_or_else(error)
            }
        }
    }
}

/// A congestion control in the kernel whose decisions are made in this process.
#[pyclass(frozen, module = "selfclock._core")]
#[derive(Debug)]
pub struct KernelSession(Arc<Session>);

#[pymethods]
impl KernelSession {
    /// Loads and registers it: a text such as "cubic+hystart++:beta=0.8", or a scenario and the
    /// index of a flow. `nap_us`: time between two polls of the ring; 0: busy; none: every event
    /// wakes.
    #[new]
    #[pyo3(signature = (algorithm, name, nap_us, realtime, record=None, sent=None, options=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        algorithm: Chosen<'_>,
        name: String,
        nap_us: Option<u64>,
        realtime: bool,
        record: Option<PathBuf>,
        sent: Option<String>,
        options: Option<PathBuf>,
    ) -> PyResult<Self> {
        let selection = algorithm.selection()?;
        let poll = match nap_us {
            None => Poll::Woken,
            Some(0) => Poll::Busy,
            Some(nap) => Poll::Nap(Duration::from_micros(nap)),
        };
        let options = Options { name, selection, poll, realtime, sent, options, record };
        let session = py.detach(|| Session::start(options));
        session.map(|session| Self(Arc::new(session))).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Drives connections until `stop`, or until another process ends it.
    fn run(&self, py: Python<'_>) {
        py.detach(|| self.0.run());
    }

    /// Unregisters the name and lets `run` return.
    fn stop(&self) {
        self.0.stop();
    }

    /// Connections left behind by an earlier process.
    #[getter]
    fn taken_over(&self) -> u32 {
        self.0.taken_over
    }

    /// Progress of the session, as JSON text.
    fn status(&self, py: Python<'_>) -> String {
        let status = py.detach(|| self.0.status());
        described(py, &status).to_string()
    }
}

fn counts(counts: &SlotCounts) -> Value {
    json!({
        "fallbacks": counts.fallbacks, "fallback_acks": counts.fallback_acks, "lost_events": counts.lost_events,
        "applied": counts.applied, "torn": counts.torn, "late": counts.late,
    })
}

fn option_counts(counts: &OptionCounts) -> Value {
    json!({
        "marked": counts.marked, "replied": counts.replied, "apart": counts.apart, "bundled": counts.bundled,
        "crowded": counts.crowded, "heard": counts.heard, "arrived": counts.arrived, "lost": counts.lost,
    })
}

fn flow(flow: &FlowStatus) -> Value {
    let FlowStatus { last, acknowledged, began, phase, counts: own } = flow;
    let peer = [last.peer_0, last.peer_1, last.peer_2, last.peer_3];
    let address = if last.family == 2 {
        std::net::Ipv4Addr::from(peer[0].to_le_bytes()).to_string()
    } else {
        let bytes: Vec<u8> = peer.iter().flat_map(|word| word.to_le_bytes()).collect();
        <[u8; 16]>::try_from(bytes)
            .map_or_else(|_| String::new(), |it| std::net::Ipv6Addr::from(it).to_string())
    };
    json!({
        "id": last.id, "port": last.port, "peer": address, "peer_port": last.peer_port,
        "age_s": last.now.saturating_sub(*began) as f64 * 1e-9, "acknowledged_bytes": acknowledged,
        "cwnd": last.cwnd, "ssthresh": last.ssthresh, "srtt_us": last.srtt_us, "mss_bytes": last.mss,
        "pacing_bytes_per_s": last.pacing, "retransmissions": last.total_retrans, "phase": phase,
        "fallback": last.fallback != 0, "counts": counts(own),
    })
}

fn described(py: Python<'_>, status: &Status) -> Value {
    let microseconds = |part| status.latency.quantile(part).map(|span| span as f64 / 1000.0);
    let failures = status.failures.iter().map(|(id, failure)| {
        let error = failure.reason.downcast_ref::<PyErr>();
        let place = error.and_then(|error| place(py, error)).unwrap_or_default();
        json!({ "flow": id, "time_s": failure.now.seconds(), "reason": format!("{}{place}", failure.reason) })
    });
    json!({
        "flows": status.flows.iter().map(flow).collect::<Vec<_>>(),
        "events": status.counts.events, "flows_so_far": status.counts.flows, "adopted": status.counts.adopted,
        "gaps": status.counts.gaps, "fallback_events": status.counts.fallback_events,
        "without_slot": status.totals.without_slot, "lost_events": status.totals.lost_events,
        "fallbacks": status.totals.fallbacks, "ended": counts(&status.ended),
        "options": status.options.as_ref().map(option_counts),
        "latency_us": { "p50": microseconds(0.5), "p99": microseconds(0.99), "p99.9": microseconds(0.999), "max": microseconds(1.0) },
        "processor_s": status.time.0 as f64 * 1e-9, "events_s": status.time.1 as f64 * 1e-9,
        "failures": failures.collect::<Vec<_>>(), "record_error": status.record_error,
        "realtime_error": status.realtime_error, "asked_to_stop": status.asked_to_stop,
    })
}

//! A scenario's network for real packets, in real time.

use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::PathBuf;

use crate::outcome::Outcome;
use crate::scenario::Scenario;

create_exception!(
    selfclock._core,
    EmulationError,
    PyRuntimeError,
    "An emulation that cannot begin, or that could not go on. The message is one line."
);

/// Name, descriptor of the TUN device and addresses of a host.
type HostArguments = (String, i32, Vec<String>);

/// Address and port.
pub type Address = (std::net::IpAddr, u16);

/// Path of a table, and its metadata.
type TableArguments = (PathBuf, Vec<(String, String)>);

/// The arguments of an emulation.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
struct Arguments {
    hosts: Vec<HostArguments>,
    packets: Option<TableArguments>,
    captures: Vec<(String, PathBuf)>,
    duration_s: Option<f64>,
    realtime: bool,
    spin_us: u64,
    flows_per_path: u32,
    bound_p99_s: f64,
    bound_worst_s: f64,
}

/// The links, queues and routers of a scenario for real packets, in real time.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Emulator(running::Running);

#[pymethods]
impl Emulator {
    #[new]
    #[pyo3(signature = (
        scenario, hosts, *, packets = None, captures = Vec::new(), duration_s = None, realtime = true, spin_us = 50,
        flows_per_path = 256, bound_p99_s = 0.001, bound_worst_s = 0.010,
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        scenario: &Scenario,
        hosts: Vec<HostArguments>,
        packets: Option<TableArguments>,
        captures: Vec<(String, PathBuf)>,
        duration_s: Option<f64>,
        realtime: bool,
        spin_us: u64,
        flows_per_path: u32,
        bound_p99_s: f64,
        bound_worst_s: f64,
    ) -> PyResult<Self> {
        let arguments = Arguments {
            hosts,
            packets,
            captures,
            duration_s,
            realtime,
            spin_us,
            flows_per_path,
            bound_p99_s,
            bound_worst_s,
        };
        running::Running::new(scenario.plan(), arguments).map(Self)
    }

    /// Relays packets until `stop_fd` becomes readable, or the duration is over.
    fn run(&self, py: Python<'_>, stop_fd: i32) -> PyResult<Outcome> {
        self.0.run(py, stop_fd)
    }

    /// Adds what is known outside: congestion control of sockets (own address and port, peer's,
    /// name), default of each host by node, notes.
    fn tell(
        &self,
        algorithms: Vec<(Address, Address, String)>,
        defaults: Vec<(String, String)>,
        notes: Vec<String>,
    ) -> PyResult<()> {
        self.0.tell(algorithms, defaults, notes)
    }

    /// Progress as JSON text.
    fn status(&self) -> PyResult<String> {
        self.0.status()
    }
}

#[cfg(target_os = "linux")]
#[path = "emulator_linux.rs"]
mod running;

/// Unavailable elsewhere.
#[cfg(not(target_os = "linux"))]
mod running {
    use super::{Address, Arguments, EmulationError, Outcome};
    use pyo3::prelude::*;
    use selfclock_simulator::plan::Plan;
    use std::convert::Infallible;

    pub struct Running(Infallible);

    impl Running {
        pub fn new(_: &Plan, _: Arguments) -> PyResult<Self> {
            let system = std::env::consts::OS;
            Err(EmulationError::new_err(format!(
                "the emulator needs Linux (TUN devices, network namespaces): this is {system}"
            )))
        }
        pub fn run(&self, _: Python<'_>, _: i32) -> PyResult<Outcome> {
            match self.0 {}
        }
        pub fn tell(
            &self,
            _: Vec<(Address, Address, String)>,
            _: Vec<(String, String)>,
            _: Vec<String>,
        ) -> PyResult<()> {
            match self.0 {}
        }
        pub fn status(&self) -> PyResult<String> {
            match self.0 {}
        }
    }
}

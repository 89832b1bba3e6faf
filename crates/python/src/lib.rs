//! `selfclock._core`: the simulator as a Python module.
//!
//! Thin on purpose. Tables cross as Arrow (PyCapsule protocol, no copy), everything else with
//! structure crosses as JSON text, which `python/selfclock` turns into typed objects.

use pyo3::prelude::*;

mod algorithms;
mod bench;
mod calls;
mod control;
mod emulator;
mod environment;
mod events;
mod examples;
mod grid;
mod hops;
mod interrupt;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod kernel_custom;
#[cfg(target_os = "linux")]
mod kernel_edge;
mod kernel_log;
#[cfg(target_os = "linux")]
mod kernel_resident;
mod memory;
mod outcome;
mod packet_file;
mod packet_rows;
mod packets;
mod parquet_file;
mod replay;
mod run;
mod scenario;
mod senders;
mod stream;
mod table;
mod trunk;

/// The compiled part of selfclock.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::algorithms::{
        algorithms, catalogue, control_table, known_elsewhere, queue_table, queues, routers, stacks,
    };
    #[pymodule_export]
    use super::bench::{footprint, run_bare_loop};
    #[pymodule_export]
    use super::control::{CongestionControl, register};
    #[pymodule_export]
    use super::emulator::{EmulationError, Emulator};
    #[pymodule_export]
    use super::environment::Environments;
    #[pymodule_export]
    use super::events::{
        Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RateSample, RecoveryEnded, Resumed,
        Sent, SpuriousLoss, Timeout,
    };
    #[pymodule_export]
    use super::examples::examples;
    #[pymodule_export]
    use super::grid::{Grid, grid_schema};
    #[pymodule_export]
    use super::hops::{hops, packet_kinds};
    #[pymodule_export]
    use super::interrupt::end_at_second_interrupt;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::kernel::{KernelSession, kernel_check, kernel_list, kernel_unload};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::kernel_edge::KernelEdge;
    #[pymodule_export]
    use super::kernel_log::{kernel_replay, kernel_series, kernel_traces};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::kernel_resident::{
        KernelRecorder, kernel_default, kernel_describe, kernel_load, kernel_load_object, kernel_objects,
        kernel_residents, kernel_unload_residents,
    };
    #[pymodule_export]
    use super::outcome::{Outcome, read_packets};
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::run::{RunError, run, run_many};
    #[pymodule_export]
    use super::scenario::{Scenario, ScenarioError, schema};
    #[pymodule_export]
    use super::stream::run_stream;
    #[pymodule_export]
    use super::table::{Column, Table};
    #[pymodule_export]
    use super::trunk::Trunk;

    /// Built-in QUIC stacks are registered like algorithms.
    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        #[cfg(feature = "quic")]
        selfclock_stacks::register();
        Ok(())
    }

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Digest of the sources of the algorithms and the simulator.
    #[pymodule_export]
    const ENGINE: &str = env!("SELFCLOCK_ENGINE");

    /// The commit of the build; empty if unknown.
    #[pymodule_export]
    const COMMIT: &str = env!("SELFCLOCK_COMMIT");
}

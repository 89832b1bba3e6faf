//! The reference of the speed cases, and the memory of a run.

use cpu_time::ThreadTime;
use pyo3::prelude::*;
use selfclock_simulator::{Simulation, bare_loop};

use crate::scenario::Scenario;

/// Events between counts of the packets in flight.
const SLICE: u64 = 50_000;

/// Moves packets without protocol or record: `flows` with `packets` in flight each, for `laps`
/// round trips. Returns the packet-hops and the CPU time.
#[pyfunction]
#[pyo3(name = "bare_loop")]
pub fn run_bare_loop(py: Python<'_>, flows: u64, packets: u64, trips: u64) -> (u64, f64) {
    py.detach(|| {
        let clock = ThreadTime::now();
        let hops = bare_loop::bare_loop(flows.max(1), packets.max(1), trips);
        (hops, clock.elapsed().as_secs_f64())
    })
}

/// Resident memory allocated by this process, without its program; `None` if unknown.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Runs a scenario and returns the simulation's memory before its first event, the maximum number
/// of packets in flight, and the memory then. `None` if unknown.
#[pyfunction]
pub fn footprint(py: Python<'_>, scenario: &Scenario) -> Option<(u64, u64, u64)> {
    let plan = scenario.plan();
    py.detach(|| {
        let before = resident()?;
        let mut simulation = Simulation::new(plan);
        let built = resident()?;
        let (mut most, mut then) = (0, built);
        while !simulation.advance(SLICE).ok()?.is_finished() {
            let (_, in_flight) = simulation.packets_sent_and_in_flight();
            if in_flight > most {
                (most, then) = (in_flight, resident()?);
            }
        }
        Some((built.saturating_sub(before), most, then.saturating_sub(before)))
    })
}

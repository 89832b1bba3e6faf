//! Any number of simulations in bounded memory: scenarios are requested as cores become free, and
//! results are handed over as soon as a run ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use selfclock_simulator::plan::Plan;

use crate::calls;
use crate::outcome::{Finished, Outcome};
use crate::run::{PATIENCE, RunError, With, run_with};
use crate::scenario::Scenario;
use crate::trunk::{CommonTrunk, Trunk};

/// Waiting scenarios per core, so that none waits for Python.
const WAITING_PER_CORE: usize = 4;

/// A plan, its number, and its shared beginning.
type Job = (usize, Plan, Option<Arc<CommonTrunk>>);

/// How the run of a plan ended.
type Ended = (usize, Plan, PyResult<Finished>);

/// Runs the items of `scenarios`, each with an optional trunk to start from, on `threads` threads
/// (default: one per core), and calls `finished` with the number of each, from 0, and its outcome
/// or error, in the order of completion. A failed run does not stop the others; an exception of
/// `finished` or of the iterator does.
#[pyfunction]
#[pyo3(signature = (scenarios, finished, threads = None))]
pub fn run_stream(
    py: Python<'_>,
    scenarios: &Bound<'_, PyAny>,
    finished: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(cores).max(1);
    let scenarios = scenarios.try_iter()?;
    let stop = Arc::new(AtomicBool::new(false));
    let (to_workers, jobs) = mpsc::channel();
    let (to_here, ended) = mpsc::channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        let start = |_| {
            let to_here = to_here.clone();
            let (jobs, stop) = (&jobs, &stop);
            scope.spawn(move || work(jobs, &to_here, stop))
        };
        let workers: Vec<_> = (0..threads).map(start).collect();
        let result = feed(py, scenarios, finished, threads * WAITING_PER_CORE, &to_workers, ended);
        stop.store(true, Ordering::Relaxed);
        drop(to_workers);
        // A worker in a Python algorithm waits for this thread to release the GIL, or never ends by
        // itself.
        while !workers.iter().all(ScopedJoinHandle::is_finished) {
            calls::interrupt_stopped(py);
            py.detach(|| thread::sleep(PATIENCE / 10));
        }
        result
    })
}

/// Takes jobs until there are none, or until stopped.
fn work(jobs: &Mutex<Receiver<Job>>, ended: &Sender<Ended>, stop: &Arc<AtomicBool>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, plan, trunk)) = job else { return };
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let goes_on = |_fraction: f64| {
            if stop.load(Ordering::Relaxed) { Err(RunError::new_err("stopped")) } else { Ok(()) }
        };
        // A panic of the simulator in one run is that run's error.
        let run = catch_unwind(AssertUnwindSafe(|| {
            run_with(&plan, Some(stop), With { trunk: trunk.as_deref(), writer: None }, goes_on)
        }));
        let run = run.unwrap_or_else(|_| Err(RunError::new_err("the simulation panicked")));
        if ended.send((number, plan, run)).is_err() {
            return;
        }
    }
}

/// Gives jobs to the workers and results to Python. Only this thread receives Python's signals.
fn feed(
    py: Python<'_>,
    scenarios: Bound<'_, PyIterator>,
    finished: &Bound<'_, PyAny>,
    most_waiting: usize,
    jobs: &Sender<Job>,
    mut ended: Receiver<Ended>,
) -> PyResult<()> {
    let mut scenarios = scenarios.enumerate().fuse();
    let mut waiting = 0;
    loop {
        while waiting < most_waiting
            && let Some((number, scenario)) = scenarios.next()
        {
            let (scenario, trunk): (Py<Scenario>, Option<Py<Trunk>>) = scenario?.extract()?;
            let trunk = trunk.map(|trunk| trunk.get().shared());
            let _ = jobs.send((number, scenario.get().plan().clone(), trunk));
            waiting += 1;
        }
        if waiting == 0 {
            return Ok(());
        }
        // A receiver may be used by one thread at a time, so it moves into the closure and back.
        let (message, receiver) = py.detach(move || (ended.recv_timeout(PATIENCE), ended));
        ended = receiver;
        match message {
            Ok((number, plan, run)) => {
                waiting -= 1;
                match run.and_then(|run| Outcome::new(py, plan, run)) {
                    Ok(outcome) => finished.call1((number, outcome))?,
                    Err(error) => finished.call1((number, error))?,
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("no worker is left")),
        }
        py.check_signals()?;
    }
}

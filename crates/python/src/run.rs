//! Running simulations with the GIL released, interruptibly.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use cpu_time::ThreadTime;
use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::prelude::*;
use selfclock_congestion::Time;
use selfclock_simulator::Simulation;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::MOST_RECORDS;

use crate::outcome::{Finished, Outcome};
use crate::scenario::Scenario;

/// Events between two looks at Python's signals: some tens of milliseconds.
const SLICE: u64 = 200_000;

/// How often the thread that waits for others looks at Python's signals.
pub const PATIENCE: Duration = Duration::from_millis(50);

create_exception!(selfclock._core, RunError, PyRuntimeError, "A run that could not be completed.");

/// Why a run did not come to its end.
pub enum Stopped {
    /// Someone else failed or was interrupted.
    Told,
    /// There was more to record than memory is set aside for.
    RecordOverflowed(Time),
}

impl From<Stopped> for PyErr {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Told => RunError::new_err("stopped"),
            Stopped::RecordOverflowed(time) => RunError::new_err(format!(
                "more than {MOST_RECORDS} packet events by {:.6} s of simulated time: shorten the run, or do not record \
                 packets",
                time.seconds()
            )),
        }
    }
}

/// Runs to the end unless `goes_on`, asked between slices with the fraction done, says no.
pub fn run_in_slices<E: From<Stopped>>(
    plan: &Plan,
    mut goes_on: impl FnMut(f64) -> Result<(), E>,
) -> Result<Finished, E> {
    let clock = ThreadTime::now();
    let mut simulation = Simulation::new(plan);
    loop {
        let over = simulation.advance(SLICE);
        if simulation.record_overflowed() {
            return Err(Stopped::RecordOverflowed(simulation.now()).into());
        }
        if over {
            break;
        }
        goes_on(simulation.now().seconds() / simulation.end().seconds())?;
    }
    let outcome = simulation.finish();
    Ok(Finished { outcome, cpu_s: clock.elapsed().as_secs_f64() })
}

fn signals_and_progress(py: Python<'_>, progress: Option<&Py<PyAny>>, done: f64) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, (done,)).map(drop),
        None => Ok(()),
    }
}

/// Runs one scenario; `progress` is called now and then with the fraction done.
#[pyfunction]
#[pyo3(signature = (scenario, progress = None))]
pub fn run(py: Python<'_>, scenario: &Scenario, progress: Option<Py<PyAny>>) -> PyResult<Outcome> {
    let plan = scenario.plan();
    let finished = py.detach(|| {
        run_in_slices(plan, |done| Python::attach(|py| signals_and_progress(py, progress.as_ref(), done)))
    })?;
    Outcome::new(py, plan.clone(), finished)
}

/// Progress of many runs is counted in thousandths of a run.
const WHOLE: u64 = 1000;

/// Runs many scenarios on `threads` threads (default: one per core). Results stand in the order of the scenarios and
/// do not depend on the number of threads: a simulation shares nothing with another.
#[pyfunction]
#[pyo3(signature = (scenarios, threads = None, progress = None))]
pub fn run_many(
    py: Python<'_>,
    scenarios: Vec<Py<Scenario>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Outcome>> {
    let plans: Vec<&Plan> = scenarios.iter().map(|scenario| scenario.get().plan()).collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let stop = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    let run_one = |plan: &&Plan| {
        let mut reported = 0;
        let mut report = |thousandths: u64| {
            let more = thousandths.clamp(reported, WHOLE) - reported;
            done.fetch_add(more, Ordering::Relaxed);
            reported += more;
        };
        if stop.load(Ordering::Relaxed) {
            return Err(Stopped::Told);
        }
        let finished = run_in_slices(plan, |fraction| {
            report((fraction * WHOLE as f64) as u64);
            if stop.load(Ordering::Relaxed) { Err(Stopped::Told) } else { Ok(()) }
        })?;
        report(WHOLE);
        Ok(finished)
    };
    // The workers run in the pool; this thread, the only one that Python delivers signals to, waits and looks.
    let finished = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let (pool, plans, run_one) = (&pool, &plans, &run_one);
            scope.spawn(move || {
                let all: Result<Vec<Finished>, Stopped> =
                    pool.install(|| plans.par_iter().map(run_one).collect());
                let _ = sender.send(all);
            });
            let mut interruption = Ok(());
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(all) => return interruption.map(|()| all),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err("a simulation panicked"));
                    }
                    Err(RecvTimeoutError::Timeout) if interruption.is_ok() => {
                        let fraction =
                            done.load(Ordering::Relaxed) as f64 / (plans.len() as u64 * WHOLE) as f64;
                        interruption =
                            Python::attach(|py| signals_and_progress(py, progress.as_ref(), fraction));
                        stop.store(interruption.is_err(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })?;
    finished?.into_iter().zip(plans).map(|(one, plan)| Outcome::new(py, plan.clone(), one)).collect()
}

//! Running simulations with the GIL released, interruptibly.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use cpu_time::{ProcessTime, ThreadTime};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use rayon::prelude::*;
use selfclock_congestion::units::Time;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::{Parallel, Progress, Simulation, Stopped};

use crate::calls::{self, Calls};
use crate::memory;
use crate::outcome::{Finished, Outcome, tap_of};
use crate::packet_file::{PacketFiles, PacketWriter};
use crate::scenario::Scenario;
use crate::trunk::{CommonTrunk, Trunk};

/// Events between two polls of Python's signals: some tens of milliseconds.
const SLICE: u64 = 200_000;

/// The same with packet records: they are handed on between two slices, some ten records per event.
const SLICE_RECORDED: u64 = 10_000;

/// The same with algorithms written in Python.
const SLICE_IN_PYTHON: u64 = 5_000;

/// With fewer events per call than this, Python takes more time than the engine: the GIL is then
/// held for a slice, because releasing and taking it costs a tenth of a call, and each time a wait
/// for another thread.
const EVENTS_PER_CALL: u64 = 16;

/// Interval at which the waiting thread polls Python's signals.
pub const PATIENCE: Duration = Duration::from_millis(50);

create_exception!(selfclock._core, RunError, PyRuntimeError, "A run that could not be completed.");

/// The exception for a run stopped because another failed or was interrupted.
fn told_to_stop() -> PyErr {
    RunError::new_err("stopped")
}

/// The exception for a run that stopped early.
pub fn run_error(stopped: &Stopped) -> PyErr {
    let Stopped::AlgorithmFailed { failure, .. } = stopped else {
        return RunError::new_err(stopped.to_string());
    };
    Python::attach(|py| {
        let error = failure.reason.downcast_ref::<PyErr>().map(|error| error.clone_ref(py));
        // Ctrl-C is not an error of the algorithm it interrupts.
        if let Some(error) = error.as_ref().filter(|error| error.is_instance_of::<PyKeyboardInterrupt>(py)) {
            return error.clone_ref(py);
        }
        let place = error.as_ref().and_then(|error| place(py, error)).unwrap_or_default();
        let failed = RunError::new_err(format!("{stopped}{place}"));
        failed.set_cause(py, error);
        failed
    })
}

/// Where an algorithm raised an exception: file, line and method, in parentheses. The traceback
/// begins in the method.
pub fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let traceback = error.traceback(py)?;
    let code = traceback.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
    let path: PathBuf = code.getattr("co_filename").ok()?.extract().ok()?;
    let (file, line) = (path.file_name()?.to_string_lossy(), traceback.getattr("tb_lineno").ok()?);
    Some(format!(" ({file}, line {line}, in {})", code.getattr("co_name").ok()?))
}

/// Runs to the end unless `goes_on`, called between slices with the completed fraction, returns
/// false.
/// `stop`, once set, lets [`calls::interrupt_stopped`] end a call of an algorithm that does not
/// return.
pub fn run_in_slices(
    plan: &Plan,
    stop: Option<&Arc<AtomicBool>>,
    goes_on: impl FnMut(f64) -> PyResult<()> + Send,
) -> PyResult<Finished> {
    run_with(plan, stop, With::default(), goes_on)
}

/// Initial and final state of a run, if there is any.
#[derive(Default)]
pub struct With<'a> {
    /// The beginning shared with other runs.
    pub trunk: Option<&'a CommonTrunk>,
    /// Writer of packet records during the run.
    pub writer: Option<PacketWriter<'a>>,
}

/// The same, with a shared beginning, and packet records written during the run.
pub fn run_with(
    plan: &Plan,
    stop: Option<&Arc<AtomicBool>>,
    with: With<'_>,
    goes_on: impl FnMut(f64) -> PyResult<()> + Send,
) -> PyResult<Finished> {
    if !plan.has_custom_algorithms() {
        let slice = if plan.record.packets { SLICE_RECORDED } else { SLICE };
        let run_slice = |simulation: &mut Simulation, until| simulation.advance_towards(until, slice);
        return advance(plan, with, run_slice, goes_on);
    }
    // A thread not started by Python has a thread state only while attached, and creating and
    // destroying one takes two system calls each. So there is one for the whole run, not one per
    // call.
    Python::attach(|py| {
        let calls = Calls::begin(py, plan, stop)?;
        let mut held = false;
        let run_slice = |simulation: &mut Simulation, until: Time| {
            let before = calls.count();
            let mut run = || simulation.advance_towards(until, SLICE_IN_PYTHON);
            let over = if held { Python::attach(|_| run()) } else { run() };
            held = calls.count() - before > SLICE_IN_PYTHON / EVENTS_PER_CALL;
            over
        };
        py.detach(|| advance(plan, with, run_slice, goes_on))
    })
}

/// Runs slice by slice.
fn advance(
    plan: &Plan,
    with: With<'_>,
    mut run_slice: impl FnMut(&mut Simulation, Time) -> Result<Progress, Stopped>,
    mut goes_on: impl FnMut(f64) -> PyResult<()>,
) -> PyResult<Finished> {
    let clock = ThreadTime::now();
    let With { trunk, mut writer } = with;
    let mut simulation = match trunk {
        Some(trunk) => trunk.branch(plan, &mut run_slice, &mut goes_on)?,
        None => Simulation::new(plan),
    };
    if plan.has_custom_algorithms()
        && let Some(bytes) = memory::for_a_run()
    {
        simulation.limit_memory(bytes);
    }
    while !run_slice(&mut simulation, Time::NEVER).map_err(|stopped| run_error(&stopped))?.is_finished() {
        if let Some(writer) = &mut writer {
            writer.write(simulation.take_packets())?;
        }
        goes_on(simulation.now().seconds() / simulation.end().seconds())?;
    }
    let mut outcome = simulation.finish();
    let mut packets_written = 0;
    if let Some(mut writer) = writer {
        writer.write(std::mem::take(&mut outcome.packets))?;
        packets_written = writer.finish()?;
    }
    Ok(Finished { outcome, packets_written, cpu_s: clock.elapsed().as_secs_f64(), undivided: None })
}

/// Runs on several threads, in stretches: a thousandth of the run at first, then as long as some
/// [`SLICE`]s take.
fn advance_on_threads(
    mut parallel: Parallel,
    mut goes_on: impl FnMut(f64) -> PyResult<()>,
) -> PyResult<Finished> {
    let clock = ProcessTime::now();
    let end = parallel.end();
    let (mut now, mut span) = (0, end.picoseconds() / 1000 + 1);
    loop {
        let before = parallel.events();
        now += span.min(end.picoseconds() - now);
        let until = Time::from_picoseconds(now);
        if parallel.advance_until(until).map_err(|stopped| run_error(&stopped))?.is_finished() {
            break;
        }
        goes_on(until.seconds() / end.seconds())?;
        match parallel.events() - before {
            ..SLICE => span = span.saturating_mul(2),
            few if few > 8 * SLICE => span = span / 2 + 1,
            _ => {}
        }
    }
    let outcome = parallel.finish();
    Ok(Finished { outcome, packets_written: 0, cpu_s: clock.elapsed().as_secs_f64(), undivided: None })
}

fn signals_and_progress(py: Python<'_>, progress: Option<&Py<PyAny>>, done: f64) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, (done,)).map(drop),
        None => Ok(()),
    }
}

/// Runs one scenario; `progress` is called now and then with the completed fraction. With
/// `packets`, a path and metadata, packet records are written there during the run, and `captures`
/// of hosts and links, by kind ("host", "link") and name. With a `trunk` the run starts from it.
/// Uses at most `threads` threads, and only one if more would not be faster.
#[pyfunction]
#[pyo3(signature = (scenario, progress = None, packets = None, captures = None, trunk = None, threads = 1))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    progress: Option<Py<PyAny>>,
    packets: Option<(PathBuf, Vec<(String, String)>)>,
    captures: Option<Vec<(String, String, PathBuf)>>,
    trunk: Option<&Trunk>,
    threads: usize,
) -> PyResult<Outcome> {
    let mut plan = scenario.plan().clone();
    let mut undivided = None;
    if threads > 1 {
        match py.detach(|| Parallel::worthwhile(&plan, threads)) {
            Ok(parallel) => {
                let finished = py.detach(|| {
                    advance_on_threads(parallel, |done| {
                        Python::attach(|py| signals_and_progress(py, progress.as_ref(), done))
                    })
                })?;
                return Outcome::new(py, plan, finished);
            }
            Err(why) => undivided = Some(why.to_string()),
        }
    }
    let captures = captures.into_iter().flatten();
    let captures = captures.map(|(kind, name, path)| Ok((tap_of(&plan, &kind, &name)?, path)));
    let captures = captures.collect::<PyResult<Vec<_>>>()?;
    plan.record.payload |= plan.has_foreign_stacks() && !captures.is_empty();
    let files = packets.map(|(parquet, metadata)| PacketFiles { parquet, metadata, captures });
    let trunk = trunk.map(Trunk::common);
    let finished = py.detach(|| {
        let writer = files.as_ref().map(|files| PacketWriter::create(&plan, files)).transpose()?;
        run_with(&plan, None, With { trunk, writer }, |done| {
            Python::attach(|py| signals_and_progress(py, progress.as_ref(), done))
        })
    })?;
    Outcome::new(py, plan, Finished { undivided, ..finished })
}

/// Progress of many runs is counted in thousandths of a run.
const WHOLE: u64 = 1000;

/// Runs many scenarios on `threads` threads (default: one per core). Results are in the order of
/// the scenarios and do not depend on the number of threads: simulations share nothing.
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
    let stop = Arc::new(AtomicBool::new(false));
    let done = AtomicU64::new(0);
    let run_one = |plan: &&Plan| {
        let mut reported = 0;
        let mut report = |thousandths: u64| {
            let more = thousandths.clamp(reported, WHOLE) - reported;
            done.fetch_add(more, Ordering::Relaxed);
            reported += more;
        };
        if stop.load(Ordering::Relaxed) {
            return Err(told_to_stop());
        }
        let finished = run_in_slices(plan, Some(&stop), |fraction| {
            report((fraction * WHOLE as f64) as u64);
            if stop.load(Ordering::Relaxed) { Err(told_to_stop()) } else { Ok(()) }
        })?;
        report(WHOLE);
        Ok(finished)
    };
    // The workers run in the pool; this thread, the only one that receives Python's signals, waits
    // and polls.
    let finished = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let (pool, plans, run_one) = (&pool, &plans, &run_one);
            scope.spawn(move || {
                let all: PyResult<Vec<Finished>> = pool.install(|| plans.par_iter().map(run_one).collect());
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
                    Err(RecvTimeoutError::Timeout) => Python::attach(calls::interrupt_stopped),
                }
            }
        })
    })?;
    finished?.into_iter().zip(plans).map(|(one, plan)| Outcome::new(py, plan.clone(), one)).collect()
}

//! Calls of algorithms written in Python, as other threads see them: the current call of a run, and
//! how to interrupt it.

use std::cell::RefCell;
use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use selfclock_congestion::Time;
use selfclock_simulator::plan::Plan;

/// Interval at which the watcher checks calls.
const LOOK: Duration = Duration::from_millis(500);

/// Number of checks after which a call is reported: 10 s.
const LONG: u32 = 20;

/// Declares the called methods, with their names in Python.
macro_rules! methods {
    ($($method:ident = $name:literal,)+) => {
        /// A method of an algorithm.
        #[derive(Clone, Copy, Debug)]
        pub enum Method {
            $($method,)+
        }

        /// Their names, in their order.
        const METHODS: &[&str] = &[$($name,)+];
    };
}

methods! {
    Init = "__init__",
    Established = "on_established",
    Ack = "on_ack",
    DuplicateAck = "on_duplicate_ack",
    Loss = "on_loss",
    EcnEcho = "on_ecn_echo",
    Timeout = "on_timeout",
    RecoveryEnded = "on_recovery_ended",
    SpuriousLoss = "on_spurious_loss",
    Resumed = "on_resumed",
    Sent = "on_sent",
}

/// A run that calls Python. Only its thread writes.
struct Run {
    /// Scenario and seed.
    name: String,
    /// Python's identifier of its thread.
    thread: c_long,
    /// Request to stop the run.
    stop: Option<Arc<AtomicBool>>,
    /// Number of calls begun plus calls ended: odd during a call.
    changes: AtomicU64,
    /// Last call: simulated time in picoseconds, number of the algorithm, method.
    now: AtomicU64,
    algorithm: AtomicUsize,
    method: AtomicUsize,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Run>>> = const { RefCell::new(None) };
}

/// Runs currently calling Python, and whether a thread watches them.
struct UnderWay {
    runs: Vec<Arc<Run>>,
    watched: bool,
}

static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay { runs: Vec::new(), watched: false });

/// Names of the algorithms, by their numbers.
static ALGORITHMS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Assigns a number to a new algorithm.
pub fn number_of(algorithm: &'static str) -> usize {
    let mut algorithms = locked(&ALGORITHMS);
    algorithms.push(algorithm);
    algorithms.len() - 1
}

/// The calls of a run on this thread, until it is dropped.
pub struct Calls(Arc<Run>);

impl Calls {
    /// Registers a run on this thread. `stop`, once set, lets [`interrupt_stopped`] end its calls.
    pub fn begin(py: Python<'_>, plan: &Plan, stop: Option<&Arc<AtomicBool>>) -> PyResult<Self> {
        let run = Arc::new(Run {
            name: format!("{}, seed {}", plan.name, plan.seed),
            thread: py.import("threading")?.call_method0("get_ident")?.extract::<u64>()? as c_long,
            stop: stop.cloned(),
            changes: AtomicU64::new(0),
            now: AtomicU64::new(0),
            algorithm: AtomicUsize::new(0),
            method: AtomicUsize::new(0),
        });
        CURRENT.set(Some(run.clone()));
        let mut under_way = locked(&UNDER_WAY);
        under_way.runs.push(run.clone());
        if !std::mem::replace(&mut under_way.watched, true) {
            thread::spawn(watch);
        }
        Ok(Self(run))
    }

    /// Calls so far.
    pub fn count(&self) -> u64 {
        self.0.changes.load(Ordering::Relaxed) / 2
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        CURRENT.set(None);
        locked(&UNDER_WAY).runs.retain(|run| !Arc::ptr_eq(run, &self.0));
    }
}

/// Makes a call, visible to other threads while it lasts.
#[inline]
pub fn during<R>(algorithm: usize, method: Method, now: Time, call: impl FnOnce() -> R) -> R {
    let change = || {
        CURRENT.with_borrow(|run| {
            if let Some(run) = run {
                // Only this thread writes.
                let changes = run.changes.load(Ordering::Relaxed);
                if changes % 2 == 0 {
                    run.now.store(now.picoseconds(), Ordering::Relaxed);
                    run.algorithm.store(algorithm, Ordering::Relaxed);
                    run.method.store(method as usize, Ordering::Relaxed);
                }
                run.changes.store(changes + 1, Ordering::Relaxed);
            }
        });
    };
    change();
    let returned = call();
    change();
    returned
}

/// Reports calls that last too long, until no run calls Python any more. Does not need the GIL: a
/// call that never returns may never release it.
fn watch() {
    struct Seen {
        run: Arc<Run>,
        changes: u64,
        looks: u32,
    }
    let mut seen: Vec<Seen> = Vec::new();
    loop {
        thread::sleep(LOOK);
        let runs = {
            let mut under_way = locked(&UNDER_WAY);
            if under_way.runs.is_empty() {
                under_way.watched = false;
                return;
            }
            under_way.runs.clone()
        };
        let mut before = std::mem::take(&mut seen);
        for run in runs {
            let changes = run.changes.load(Ordering::Relaxed);
            let same = before.iter().position(|seen| Arc::ptr_eq(&seen.run, &run) && seen.changes == changes);
            let looks = same.map_or(0, |place| before.swap_remove(place).looks + 1);
            if changes % 2 == 1 && looks == LONG {
                name(&run);
            }
            seen.push(Seen { run, changes, looks });
        }
    }
}

fn name(run: &Run) {
    let algorithm =
        locked(&ALGORITHMS).get(run.algorithm.load(Ordering::Relaxed)).copied().unwrap_or_default();
    let method = METHODS[run.method.load(Ordering::Relaxed)];
    let now = Time::from_picoseconds(run.now.load(Ordering::Relaxed));
    // A progress bar may occupy this line.
    eprintln!(
        "\rselfclock: {}: {algorithm} has been in {method} for {} s, at {:.6} s of simulated time; Ctrl-C ends it",
        run.name,
        (LOOK * LONG).as_secs(),
        now.seconds()
    );
}

/// Raises KeyboardInterrupt in the calls of runs that must stop.
#[allow(unsafe_code)]
pub fn interrupt_stopped(py: Python<'_>) {
    let exception = py.get_type::<PyKeyboardInterrupt>();
    for run in &locked(&UNDER_WAY).runs {
        if run.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            // SAFETY: this thread is attached to Python, and the exception is a class. An unknown
            // thread is ignored.
            unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(run.thread, exception.as_ptr()) };
        }
    }
}

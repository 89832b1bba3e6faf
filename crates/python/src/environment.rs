//! Runs controlled by Python, one step at a time, in parallel on all cores.

use cpu_time::ThreadTime;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use selfclock_congestion::Duration;
use selfclock_simulator::Stopped;
use selfclock_simulator::environment::{Command, Environment, NotSteerable, Step};
use selfclock_simulator::plan::{Plan, RecordPlan};

use crate::outcome::{Finished, Outcome};
use crate::run::run_error;
use crate::scenario::{Scenario, ScenarioError};

/// A run, and the CPU time that it has taken.
#[derive(Clone)]
struct Run {
    environment: Environment,
    cpu_s: f64,
}

impl Run {
    fn begin(plan: &Plan, flow: &str) -> Result<Self, NotSteerable> {
        let clock = ThreadTime::now();
        let environment = Environment::new(plan, flow)?;
        Ok(Self { environment, cpu_s: clock.elapsed().as_secs_f64() })
    }
    fn step(&mut self, command: Command, length: Duration) -> Result<Step, Stopped> {
        let clock = ThreadTime::now();
        let step = self.environment.step(command, length);
        self.cpu_s += clock.elapsed().as_secs_f64();
        step
    }
}

/// A slot for a run, and its next step.
#[derive(Clone, Default)]
struct Place {
    run: Option<Run>,
    order: Option<(Command, Duration)>,
}

/// Slots for runs, each with one flow controlled from outside.
#[pyclass(module = "selfclock._core")]
pub struct Environments {
    places: Vec<Place>,
    /// `None`: the calling thread does the work.
    pool: Option<rayon::ThreadPool>,
}

/// The numbers of a slot's next step: window (segments), pacing (bit/s on the wire; 0: none),
/// length (s; 0: no step).
const ORDER: usize = 3;

fn order(numbers: &[f64]) -> PyResult<Option<(Command, Duration)>> {
    let &[window, pacing_bps, length_s] = numbers else {
        return Err(PyValueError::new_err("an order is three numbers"));
    };
    if length_s == 0.0 {
        return Ok(None);
    }
    let sound = |number: f64| (0.0..f64::INFINITY).contains(&number);
    if !(sound(window) && sound(pacing_bps) && sound(length_s)) {
        return Err(PyValueError::new_err(format!(
            "window {window} segments, pacing {pacing_bps} bit/s, length {length_s} s: all are finite numbers from 0"
        )));
    }
    let pacing_bps = (pacing_bps > 0.0).then_some(pacing_bps);
    Ok(Some((Command { window, pacing_bps }, Duration::from_seconds(length_s))))
}

#[pymethods]
impl Environments {
    /// `places` environments on `threads` threads (default: one per core, at most one per
    /// environment).
    #[new]
    #[pyo3(signature = (number, threads = None))]
    fn new(number: usize, threads: Option<usize>) -> PyResult<Self> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(cores).clamp(1, number.max(1));
        let pool = (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
        let pool = pool.transpose().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { places: (0..number).map(|_| Place::default()).collect(), pool })
    }

    /// A copy whose runs continue from the same states, on as many threads.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let threads = self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads);
        let mut copy = Self::new(self.places.len(), Some(threads))?;
        copy.places = py.detach(|| self.places.clone());
        Ok(copy)
    }

    /// The names of the numbers of a step, in order.
    #[staticmethod]
    fn fields() -> Vec<&'static str> {
        Step::FIELDS.to_vec()
    }

    /// Starts a run of the scenario in one slot, up to the start of the controlled flow, whose
    /// algorithm is ignored. Returns the lowest rate of its path (bit/s), the RTT of a full segment
    /// without queues (s), the payload of such a segment (bytes), and the observation of an empty
    /// step.
    fn begin(
        &mut self,
        py: Python<'_>,
        place: usize,
        scenario: &Scenario,
        flow: &str,
        record: bool,
    ) -> PyResult<(f64, f64, u64, Vec<f64>)> {
        let slot = self.places.get_mut(place).ok_or_else(|| PyIndexError::new_err("no such place"))?;
        let mut plan = scenario.plan().clone();
        if !record {
            plan.record = RecordPlan { interval: None, packets: false, ..RecordPlan::NOTHING };
        }
        let begun = py.detach(|| Run::begin(&plan, flow));
        let run = begun.map_err(|error| match error {
            NotSteerable::Stopped(stopped) => run_error(&stopped),
            error => ScenarioError::new_err(format!("{}: {error}", scenario.source())),
        })?;
        let environment = &run.environment;
        let (rate, rtt) = (environment.path_rate(), environment.path_rtt());
        let begun = (
            rate.bits_per_second() as f64,
            rtt.seconds(),
            environment.mss().get(),
            environment.look().values().to_vec(),
        );
        slot.run = Some(run);
        Ok(begun)
    }

    /// Makes a step in every slot that has an order; `orders` and `steps` have a row per slot. Rows
    /// of the others do not change.
    fn step(&mut self, py: Python<'_>, orders: PyBuffer<f64>, steps: PyBuffer<f64>) -> PyResult<()> {
        let mut shown = steps.to_vec(py)?;
        let orders = orders.to_vec(py)?;
        let fields = Step::FIELDS.len();
        if orders.len() != self.places.len() * ORDER || shown.len() != self.places.len() * fields {
            return Err(PyValueError::new_err("not a row for each place"));
        }
        for (place, numbers) in self.places.iter_mut().zip(orders.chunks(ORDER)) {
            place.order = order(numbers)?;
            if place.order.is_some() && place.run.is_none() {
                return Err(PyRuntimeError::new_err("no run has begun in a place that is to step"));
            }
        }
        let work = |(place, row): (&mut Place, &mut [f64])| {
            if let (Some(run), Some((command, length))) = (&mut place.run, place.order.take()) {
                row.copy_from_slice(&run.step(command, length)?.values());
            }
            Ok::<(), Stopped>(())
        };
        let Self { places, pool } = self;
        let stepped = py.detach(|| match pool {
            None => places.iter_mut().zip(shown.chunks_mut(fields)).try_for_each(work),
            Some(pool) => {
                pool.install(|| places.par_iter_mut().zip(shown.par_chunks_mut(fields)).try_for_each(work))
            }
        });
        stepped.map_err(|stopped| run_error(&stopped))?;
        steps.copy_from_slice(py, &shown)
    }

    /// Summary and, if recorded, series of a run up to now; the run can continue.
    fn outcome(&self, py: Python<'_>, place: usize) -> PyResult<Outcome> {
        let run = self.places.get(place).and_then(|place| place.run.as_ref());
        let run = run.ok_or_else(|| PyIndexError::new_err("no run has begun there"))?;
        let (simulation, cpu_s) = (run.environment.simulation().clone(), run.cpu_s);
        let outcome = py.detach(|| simulation.finish());
        Outcome::new(
            py,
            run.environment.plan().clone(),
            Finished { outcome, packets_written: 0, cpu_s, undivided: None },
        )
    }
}

//! The common beginning of several scenarios' runs, which runs once.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::{self as simulator, Progress, Simulation, Stopped};

use crate::run::run_error;
use crate::scenario::{Scenario, ScenarioError};

/// A run up to just before a time, executed on first use.
#[pyclass(frozen, module = "selfclock._core")]
pub struct Trunk {
    common: Arc<CommonTrunk>,
}

/// State of a [`Trunk`] shared by threads.
pub struct CommonTrunk {
    plan: Plan,
    until: Time,
    whole: Mutex<Option<Arc<simulator::Trunk>>>,
}

impl Trunk {
    pub fn common(&self) -> &CommonTrunk {
        &self.common
    }
    pub fn shared(&self) -> Arc<CommonTrunk> {
        self.common.clone()
    }
}

#[pymethods]
impl Trunk {
    /// The run of a scenario up to this time, ps.
    #[new]
    fn new(scenario: &Scenario, until: u64) -> PyResult<Self> {
        let plan = scenario.plan().clone();
        let until = Time::ZERO + Duration::from_picoseconds(until);
        let end = Time::ZERO + plan.duration;
        if until == Time::ZERO || until > end {
            return Err(ScenarioError::new_err(format!(
                "a fork at {} s; allowed: after 0 s, up to {} s, the end of the run",
                until.seconds(),
                end.seconds()
            )));
        }
        Ok(Self { common: Arc::new(CommonTrunk { plan, until, whole: Mutex::new(None) }) })
    }
}

impl CommonTrunk {
    /// The run of a plan that starts from it. The first caller runs the trunk, and others wait.
    pub fn branch(
        &self,
        plan: &Plan,
        run_slice: &mut impl FnMut(&mut Simulation, Time) -> Result<Progress, Stopped>,
        goes_on: &mut impl FnMut(f64) -> PyResult<()>,
    ) -> PyResult<Simulation> {
        let trunk = {
            let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
            match &*whole {
                Some(trunk) => trunk.clone(),
                None => whole.insert(Arc::new(self.grow(run_slice, goes_on)?)).clone(),
            }
        };
        trunk.branch(plan).map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    fn grow(
        &self,
        run_slice: &mut impl FnMut(&mut Simulation, Time) -> Result<Progress, Stopped>,
        goes_on: &mut impl FnMut(f64) -> PyResult<()>,
    ) -> PyResult<simulator::Trunk> {
        let mut trunk = simulator::Trunk::new(&self.plan, self.until);
        while let Some(time) = trunk.next() {
            while !run_slice(trunk.simulation(), time).map_err(|stopped| run_error(&stopped))?.is_finished() {
                let simulation = trunk.simulation();
                goes_on(simulation.now().seconds() / simulation.end().seconds())?;
            }
            trunk.keep();
        }
        Ok(trunk)
    }
}

//! Runs that continue from a common beginning.

use super::Simulation;
use super::ends::{ReceivingEnd, SendingEnd, tcp_ends};
use crate::plan::{Difference, Plan, Protocol};
use crate::record::series::Sampling;
use selfclock_congestion::units::Time;
use std::fmt::Debug;

/// Why a run cannot continue as that of another plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotForked {
    /// The plans differ from the beginning.
    #[error(transparent)]
    Different(#[from] Difference),
    /// They differ from a time that is past, or already computed ahead of the clock.
    #[error("the scenarios differ from {:.6} s on, and the run that is forked has come to {:.6} s", .from.seconds(), .now.seconds())]
    Past {
        /// Time from which the plans differ.
        from: Time,
        /// Time of the run.
        now: Time,
    },
}

impl Simulation {
    /// A deep copy, which continues independently.
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// A copy that continues as the run of another plan, as if it had been that from the beginning.
    /// The plan may differ as far as [`Plan::same_until`] allows.
    ///
    /// # Errors
    /// If the plans differ from the beginning, or from a time that the run has reached. A link
    /// served ahead of the clock reaches a change earlier than the clock does, and a busy one
    /// counts as served until its queue is empty.
    pub fn fork_to(&self, plan: &Plan) -> Result<Self, NotForked> {
        let from = self.plan.same_until(plan)?;
        let past = |from| NotForked::Past { from, now: self.now };
        if self.now >= from {
            return Err(past(from));
        }
        for (index, (old, new)) in self.plan.links.iter().zip(&plan.links).enumerate() {
            let from = old.same_until(new)?;
            if self.network.links[index].busy_until() >= from {
                return Err(past(from));
            }
        }
        let mut fork = self.fork();
        for (index, (old, new)) in self.plan.links.iter().zip(&plan.links).enumerate() {
            if old.changes != new.changes {
                fork.network.links[index].change_plan(new, plan.seed, index);
            }
        }
        for index in 0..plan.flows.len() {
            if self.starts[index] > self.now {
                fork.plan_flow_anew(plan, index);
            }
        }
        fork.network.samples.change_plan(plan);
        if let Some(recorder) = &mut fork.network.recorder {
            recorder.change_plan(plan);
        }
        fork.has_custom = plan.has_custom_algorithms() || plan.has_foreign_stacks();
        fork.plan = plan.clone();
        Ok(fork)
    }

    /// Replaces the ends of a flow that has not started by those of another plan. Its timer is
    /// already set.
    fn plan_flow_anew(&mut self, plan: &Plan, index: usize) {
        let differs = |one: &dyn Debug, another: &dyn Debug| format!("{one:?}") != format!("{another:?}");
        if !differs(&self.plan.flows[index], &plan.flows[index]) {
            return;
        }
        let Protocol::Tcp(tcp) = &plan.flows[index].protocol else { return };
        let routes = self.network.flow_routes[index];
        let sampling = Sampling::of(plan, self.end);
        let (sender, receiver) = tcp_ends(plan, tcp, index, routes, self.starts[index], sampling);
        if let Some(SendingEnd::Tcp(planned)) = self.sources.get_mut(index) {
            *planned = sender.started_by(planned);
        }
        if let Some(planned) = self.sinks.get_mut(index) {
            *planned = ReceivingEnd::Tcp(receiver);
        }
    }
}

/// The common beginning of several plans' runs.
#[derive(Clone, Debug)]
pub struct Trunk {
    until: Time,
    /// Copies of the run at earlier times, and the current run.
    stages: Vec<Simulation>,
    /// Number of copy times reached.
    reached: usize,
}

impl Trunk {
    /// The beginning of a run, up to just before a time.
    pub fn new(plan: &Plan, until: Time) -> Self {
        Self { until, stages: vec![Simulation::new(plan)], reached: 0 }
    }

    /// The current run.
    pub fn simulation(&mut self) -> &mut Simulation {
        self.stages.last_mut().expect("there is always one")
    }

    /// The time to which to advance the run, before a call of [`Trunk::keep`]; `None` if the trunk
    /// is complete.
    ///
    /// A link served ahead of the clock reaches the time of the fork before the clock does. Copies
    /// an eighth and a 32nd before the end are early enough for all but the longest queues;
    /// otherwise a run starts from its beginning.
    pub fn next(&self) -> Option<Time> {
        let until = self.until.picoseconds().saturating_sub(1);
        let stages = [until - until / 8, until - until / 32, until];
        stages.get(self.reached).map(|&at| Time::from_picoseconds(at))
    }

    /// Stores the run at this time, and continues with a copy unless the trunk is complete.
    pub fn keep(&mut self) {
        self.reached += 1;
        if self.next().is_some() {
            let copy = self.simulation().fork();
            self.stages.push(copy);
        }
    }

    /// The run of a plan from the latest stage that it shares.
    ///
    /// # Errors
    /// If its beginning differs.
    pub fn branch(&self, plan: &Plan) -> Result<Simulation, NotForked> {
        let Some(first) = self.stages.first() else { return Ok(Simulation::new(plan)) };
        let from = first.plan.same_until(plan)?;
        if from < self.until {
            return Err(NotForked::Past { from, now: self.until });
        }
        let fork = self.stages.iter().rev().find_map(|stage| stage.fork_to(plan).ok());
        Ok(fork.unwrap_or_else(|| Simulation::new(plan)))
    }
}

//! Running plans to their end.
#![allow(dead_code)]

use selfclock_simulator::plan::{Plan, PlanBuilder};
use selfclock_simulator::{Outcome, Simulation};

/// The plan of a builder that has one.
pub fn plan(builder: PlanBuilder) -> Plan {
    builder.plan().unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end.
pub fn run(plan: &Plan) -> Outcome {
    Simulation::new(plan).run().expect("nothing stops the run")
}

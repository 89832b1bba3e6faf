//! Runs a scenario and prints its summary as JSON.

use selfclock_simulator::Simulation;
use selfclock_simulator::scenario::Scenario;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    selfclock_stacks::register();
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("summary FILE [KEY=VALUE]...")?);
    let overrides: Vec<String> = arguments.collect();
    let scenario = Scenario::load(&file, &overrides)?.unrecorded();
    let outcome = Simulation::new(&scenario.plan).run()?;
    println!("{}", serde_json::to_string_pretty(&outcome.summary)?);
    Ok(())
}

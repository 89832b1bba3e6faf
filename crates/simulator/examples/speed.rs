//! Runs one scenario, for profilers and instruction counters: `cargo run --release --example speed
//! -- FILE [PATH=VALUE ...]`.

use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: speed FILE [PATH=VALUE ...]");
        return ExitCode::from(2);
    };
    let overrides: Vec<String> = arguments.collect();
    let scenario = match Scenario::load(file.as_ref(), &overrides) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match Simulation::new(&scenario.plan).run() {
        Ok(Outcome { summary, .. }) => {
            println!("{} packet-hops, {} events", summary.packet_hops, summary.events);
            ExitCode::SUCCESS
        }
        Err(stopped) => {
            eprintln!("{stopped}");
            ExitCode::FAILURE
        }
    }
}

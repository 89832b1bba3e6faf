//! Runs one scenario on several threads: `cargo run --release --example threads -- FILE THREADS
//! [PATH=VALUE ...]`.

use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Parallel, Simulation};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_default();
    let threads: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let overrides: Vec<String> = arguments.collect();
    let scenario = match Scenario::load(file.as_ref(), &overrides) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let outcome = if threads == 1 {
        Simulation::new(&scenario.plan).run()
    } else {
        match Parallel::new(&scenario.plan, threads) {
            Ok(parallel) => parallel.run(),
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        }
    };
    match outcome {
        Ok(outcome) => {
            println!("{} packet-hops, {} events", outcome.summary.packet_hops, outcome.summary.events);
            ExitCode::SUCCESS
        }
        Err(stopped) => {
            eprintln!("{stopped}");
            ExitCode::FAILURE
        }
    }
}

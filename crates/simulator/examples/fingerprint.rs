//! Prints a fingerprint of a scenario's complete results, one line a file: `cargo run --release
//! --example fingerprint -- FILE ...`; `--short` in the place of files covers the short scenarios
//! of `tests/golden`, and `--list-short` lists them as JSON.
//!
//! A change that only makes the simulator faster must not change any line. Each scenario runs
//! twice, to its end or until a number of packets has been sent: without and with a record of every
//! packet. The number of events is excluded, because a faster simulator may need fewer.

#[path = "../tests/common/short.rs"]
pub mod short;

use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::fingerprint::fingerprint;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Simulation, Stopped};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use short::Short;

/// Number of packets that ends a run.
const PACKETS: u64 = 500_000;
const PACKETS_RECORDED: u64 = 30_000;

/// When this number of packets has been sent, at most the scenario's end.
fn time_of(plan: &Plan, packets: u64) -> Result<Duration, Stopped> {
    let mut simulation = Simulation::new(plan);
    while simulation.packets_sent_and_in_flight().0 < packets && !simulation.advance(1)?.is_finished() {}
    Ok(simulation.now().since(Time::ZERO))
}

fn fingerprint_of(plan: &Plan) -> Result<u64, Stopped> {
    Ok(fingerprint(Simulation::new(plan).run()?))
}

/// Both fingerprints of a scenario file, each with the length of its run, ps.
pub fn of_file(file: &Path) -> Result<String, Box<dyn Error>> {
    let mut plan = Scenario::load(file, &[])?.plan;
    let whole = time_of(&plan, PACKETS)?;
    let recorded = time_of(&plan, PACKETS_RECORDED)?;
    plan.duration = whole;
    let result = fingerprint_of(&plan)?;
    plan.duration = recorded;
    plan.record.packets = true;
    let packets = fingerprint_of(&plan)?;
    Ok(format!("{result:016x} {packets:016x} {} {}", whole.picoseconds(), recorded.picoseconds()))
}

/// The fingerprint of a short scenario, run once.
pub fn of_short(short: &Short) -> Result<String, Box<dyn Error>> {
    let file = short::folder().join(short.path).with_extension("toml");
    let plan = Scenario::load(&file, &short.overrides)?.plan;
    Ok(format!("{:016x}", fingerprint_of(&plan)?))
}

fn every_short() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for short in short::all() {
        match of_short(&short) {
            Ok(fingerprint) => println!("{fingerprint} {}: {}", short.path, short.name),
            Err(error) => {
                eprintln!("{error}");
                code = ExitCode::from(2);
            }
        }
    }
    code
}

/// Path, name and overrides of each short scenario.
pub fn list_short() -> serde_json::Value {
    let row = |short: Short| serde_json::json!({ "path": short.path, "name": short.name, "overrides": short.overrides });
    short::all().into_iter().map(row).collect()
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "--short") {
        return every_short();
    }
    if std::env::args().nth(1).is_some_and(|word| word == "--list-short") {
        println!("{}", list_short());
        return ExitCode::SUCCESS;
    }
    for file in std::env::args().skip(1) {
        match of_file(file.as_ref()) {
            Ok(fingerprint) => println!("{fingerprint} {file}"),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

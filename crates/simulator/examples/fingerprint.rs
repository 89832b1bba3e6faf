//! Prints a fingerprint of everything that scenarios leave behind, one line a file:
//! `cargo run --release --example fingerprint -- FILE ...`.
//!
//! A change that is to make the simulator faster and nothing else must not change a line. Each scenario is run twice: as
//! it is, up to a number of events, and for a shorter while with every packet recorded.

use selfclock_simulator::Simulation;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::scenario::Scenario;
use std::fmt::Write;
use std::process::ExitCode;

/// Events after which a run is ended where it is.
const EVENTS: u64 = 500_000;
const EVENTS_RECORDED: u64 = 30_000;

/// FNV-1a, 64 bits: the same on every machine and in every version.
struct Hash(u64);

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for &byte in text.as_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// Numbers print differently if one bit differs, so the text of an outcome stands for all of it.
fn fingerprint(plan: &Plan, events: u64) -> u64 {
    let mut simulation = Simulation::new(plan);
    simulation.advance(events);
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // A hash takes any text.
    let _ = write!(hash, "{:?}", simulation.finish());
    hash.0
}

fn main() -> ExitCode {
    for file in std::env::args().skip(1) {
        let mut plan = match Scenario::load(file.as_ref(), &[]) {
            Ok(scenario) => scenario.plan,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        };
        let whole = fingerprint(&plan, EVENTS);
        plan.record.packets = true;
        println!("{whole:016x} {:016x} {file}", fingerprint(&plan, EVENTS_RECORDED));
    }
    ExitCode::SUCCESS
}

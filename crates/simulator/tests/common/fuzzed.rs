//! What must hold of any input: run by the fuzzers of `fuzz/`, and by `corpus.rs` on what they have kept.
#![allow(dead_code)]

use selfclock_congestion::PeerOption;
use selfclock_congestion::units::Duration;
use selfclock_simulator::Simulation;
use selfclock_simulator::scenario::{Grid, Scenario};

/// A scenario is small enough to be run if it has no more flows and links than this.
const FLOWS: usize = 50;
const LINKS: usize = 200;
/// Events that are run of it: a fast link makes many.
const EVENTS: u64 = 20_000;

/// Any text is a scenario or an error that can be printed; a small scenario runs.
pub fn scenario(text: &str) {
    match Scenario::parse(text, "fuzz.toml", &[]) {
        Ok(scenario) if scenario.plan.flows.len() <= FLOWS && scenario.plan.links.len() <= LINKS => {
            let mut plan = scenario.plan;
            plan.duration = plan.duration.min(Duration::from_milliseconds(1000));
            let mut simulation = Simulation::new(&plan);
            if simulation.advance(EVENTS) {
                simulation.finish();
            }
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any text is a grid or an error that can be printed.
pub fn grid(text: &str) {
    match Grid::parse(text, "fuzz.toml") {
        Ok(grid) => assert!(!format!("{grid:?}").is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Option bytes are read or refused, and what is read says the same when it is written and read again.
pub fn options(bytes: &[u8]) {
    if let Ok(Some(option)) = PeerOption::decode(bytes) {
        let (written, length) = option.encode();
        assert_eq!(PeerOption::decode(&written[..length]), Ok(Some(option)));
        assert_eq!(length as u32, option.wire_length());
    }
}

//! Properties of any input: run by the fuzzers of `fuzz/`, and by `corpus.rs` on their findings.
#![allow(dead_code)]

use selfclock_congestion::PeerOption;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::delivery_trace::Server;
use selfclock_simulator::scenario::{Grid, Scenario, read_delivery_trace};
use selfclock_simulator::{Progress, Simulation};
use std::sync::Arc;

/// Maximum number of flows and links of a scenario that is run.
const FLOWS: usize = 50;
const LINKS: usize = 200;
/// Maximum number of events: a fast link makes many.
const EVENTS: u64 = 20_000;

/// Any text is a scenario or an error that can be printed; a small scenario runs.
pub fn scenario(text: &str) {
    match Scenario::parse(text, "fuzz.toml", &[]) {
        Ok(scenario) if scenario.plan.flows.len() <= FLOWS && scenario.plan.links.len() <= LINKS => {
            let mut plan = scenario.plan;
            plan.duration = plan.duration.min(Duration::from_milliseconds(1000));
            let mut simulation = Simulation::new(&plan);
            if simulation.advance(EVENTS).is_ok_and(Progress::is_finished) {
                simulation.finish();
            }
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any text is a grid of some points or an error that can be printed.
pub fn grid(text: &str) {
    let plain = "schema = 1\nduration = \"1 s\"\n[network]\ntopology = \"dumbbell\"\nbottleneck = { rate = \"1 Mbps\", delay = \"1 ms\" }\naccess = { rate = \"1 Gbps\", delay = \"1 ms\" }\n[[flow]]\n";
    let scenario = Scenario::parse(plain, "plain.toml", &[]).expect("a scenario");
    match Grid::over(scenario, text, "fuzz.toml") {
        Ok(grid) => assert!(grid.settings(grid.points() - 1).count() == grid.paths().count()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any bytes are a delivery trace or an error that can be printed. A trace survives the round trip
/// through a scenario's text, and that scenario runs; a link sends packets in order, after their
/// arrival, at opportunities, and within their capacity.
pub fn trace(bytes: &[u8]) {
    let trace = match read_delivery_trace(bytes, "fuzz.trace") {
        Ok(trace) => Arc::new(trace),
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let wire = format!(
        "{{ delivery_trace = {{ opportunities = \"{trace}\" }}, delay = \"1 ms\", queue = \"9 packets\" }}"
    );
    let text = format!(
        "schema = 1\nduration = \"1 s\"\n[network]\ntopology = \"dumbbell\"\nbottleneck = {wire}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n[[flow]]\n"
    );
    let plan = Scenario::parse(&text, "fuzz.toml", &[]).expect("what was read can be written").plan;
    assert_eq!(plan.links[0].trace.as_ref(), Some(&trace));
    let mut simulation = Simulation::new(&plan);
    if simulation.advance(EVENTS).is_ok_and(Progress::is_finished) {
        simulation.finish();
    }
    let mut server = Server::new(trace.clone());
    let (mut now, mut before) = (Time::ZERO, Time::ZERO);
    for &byte in bytes.iter().take(200) {
        now += Duration::from_microseconds(u64::from(byte) * 50);
        server.skip_until(now);
        let (start, end) = server.serve(40 + u32::from(byte) * 20);
        assert!(now < start && before <= start && start <= end);
        for at in [start, end].into_iter().filter(|&at| at < Time::NEVER) {
            let just_before = Time::from_picoseconds(at.picoseconds() - 1);
            assert!(trace.count_until(just_before) < trace.count_until(at), "no opportunity at {at:?}");
            let (used, offered) = server.used_and_offered_until(at);
            assert!(used <= offered);
        }
        before = end;
    }
}

/// Option bytes are read or refused, and a decoded option survives encoding and decoding.
pub fn options(bytes: &[u8]) {
    if let Ok(Some(option)) = PeerOption::decode(bytes) {
        let (written, length) = option.encode();
        assert_eq!(PeerOption::decode(&written[..length]), Ok(Some(option)));
        assert_eq!(length as u32, option.wire_length());
    }
}

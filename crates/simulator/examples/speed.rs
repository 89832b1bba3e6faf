//! Times one scenario: `cargo run --release --example speed -- FILE`.
use selfclock_simulator::Simulation;
use selfclock_simulator::scenario::Scenario;
fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a scenario file");
    let overrides: Vec<String> = arguments.collect();
    let scenario = Scenario::load(file.as_ref(), &overrides).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(&scenario.plan);
    while !simulation.advance(200_000) {}
    let summary = simulation.finish().summary;
    println!("{} hops {} events", summary.packet_hops, summary.events);
}

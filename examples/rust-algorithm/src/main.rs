//! Two flows with the algorithm of this crate and two with CUBIC share 20 Mbit/s.

use std::error::Error;

use my_aimd::Parameters;
use selfclock_congestion::registry::Registry;
use selfclock_simulator::Simulation;
use selfclock_simulator::scenario::Scenario;

const SCENARIO: &str = r#"
schema = 1
duration = "30 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "20 Mbps", delay = "20 ms", queue = "1 bdp" }
access = { rate = "1 Gbps", delay = "1 ms" }

[[flow]]
count = 2
congestion_control = { model = "my-aimd", increase = 2, decrease = 0.7 }

[[flow]]
count = 2
congestion_control = "cubic"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::built_in();
    registry.register_model(Parameters::default())?;
    let scenario = Scenario::parse_with(&registry, SCENARIO, "example", &[])?;
    for flow in Simulation::new(&scenario.plan).run()?.summary.flows {
        println!("{:8} {:8} {:5.2} Mbit/s", flow.name, flow.algorithm, flow.goodput_bps / 1e6);
    }
    Ok(())
}

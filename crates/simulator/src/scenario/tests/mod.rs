//! Whole scenarios: their plans, and the errors of invalid ones.

mod control;
mod errors;
mod files;
mod flow;
mod limits;
mod link;
mod named;
mod network;
mod overrides;
mod router;
mod schema;
mod traffic;
mod transport;

use crate::plan::{Plan, Protocol, TcpPlan};
use crate::scenario::{Scenario, ScenarioError};
use std::path::Path;

const DUMBBELL: &str = r#"schema = 1
duration = "10 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "500 kbps", delay = "100 ms", queue = "5 packets" }
access = { rate = "10 Mbps", delay = "5 ms" }

[[flow]]
name = "tcp"
"#;

const GRAPH: &str = r#"schema = 1
duration = "10 s"

[network]
topology = "graph"
nodes = ["a", "r", "b"]

[[network.link]]
from = "a"
to = "r"
rate = "10 Mbps"
delay = "5 ms"

[[network.link]]
from = "r"
to = "b"
rate = "1 Mbps"
delay = "20 ms"

[[flow]]
from = "a"
to = "b"
"#;

const PARKING_LOT: &str = r#"schema = 1
duration = "10 s"

[network]
topology = "parking-lot"
hops = 3
hop = { rate = "10 Mbps", delay = "10 ms" }
access = { rate = "1 Gbps", delay = "1 ms" }

[[flow]]
count = 5
"#;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text, "s.toml", &[])
}

fn plan(text: &str) -> Plan {
    parse(text).unwrap_or_else(|error| panic!("{error}")).plan
}

fn plan_with(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::parse(text, "s.toml", &overrides).unwrap_or_else(|error| panic!("{error}")).plan
}

/// The dumbbell with additional keys for its flow.
fn flow_with(keys: &str) -> Plan {
    plan(&format!("{DUMBBELL}{keys}\n"))
}

fn tcp(plan: &Plan, flow: usize) -> &TcpPlan {
    match &plan.flows[flow].protocol {
        Protocol::Tcp(tcp) => tcp,
        other => panic!("flow {flow} is no TCP connection: {other:?}"),
    }
}

fn route_names<'a>(plan: &'a Plan, route: &[usize]) -> Vec<&'a str> {
    route.iter().map(|&link| plan.links[link].name.as_str()).collect()
}

/// Line, column, key and message of the error, and part of its help.
#[track_caller]
fn refused(text: &str, place: (usize, usize), key: &str, message: &str, help: &str) {
    let error = parse(text).expect_err("the text should be refused");
    let found = (error.line(), error.column(), error.key.as_str(), error.message.as_str());
    assert_eq!(found, (Some(place.0), Some(place.1), key, message), "{error}");
    assert!(error.help.contains(help), "{help:?} in {error}");
}

/// The dumbbell with one text replaced.
fn edited(from: &str, to: &str) -> String {
    assert!(DUMBBELL.contains(from), "{from}");
    DUMBBELL.replacen(from, to, 1)
}

/// The dumbbell, whose flow has an additional line: the eleventh.
#[track_caller]
fn refused_flow(line: &str, column: usize, key: &str, message: &str, help: &str) {
    refused(&format!("{DUMBBELL}{line}\n"), (11, column), key, message, help);
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

//! Flows: copies and groups.

use super::{DUMBBELL, PARKING_LOT, edited, plan, plan_with, refused, refused_flow};
use crate::scenario::Scenario;

#[test]
fn copies_of_a_flow_use_the_pairs_in_turn() {
    let plan = plan_with(DUMBBELL, &["flow.0.count=3", "network.hosts=2"]);
    let names: Vec<&str> = plan.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["tcp-1", "tcp-2", "tcp-3"]);
    let from: Vec<&str> = plan.flows.iter().map(|flow| plan.nodes[flow.from].as_str()).collect();
    assert_eq!(from, ["source1", "source2", "source1"]);
    assert_eq!(plan_with(DUMBBELL, &["flow.0.count=3"]).nodes.len(), 8);
}

#[test]
fn ten_thousand_flows_resolve() {
    assert_eq!(plan_with(DUMBBELL, &["flow.0.count=10000"]).flows.len(), 10_000);
    assert_eq!(plan_with(PARKING_LOT, &["network.hops=1000", "flow.0.count=1001"]).flows.len(), 1_001);
}

#[test]
fn parallel_flows_form_groups() {
    let flows = "hosts = 1\n\n[[flow]]\ncount = 2\ncongestion_control = \"adaptive\"\ngroup = \"a\"\n\n\
                 [[flow]]\ncongestion_control = \"adaptive\"\ngroup = \"b\"\n\n\
                 [[flow]]\ncongestion_control = \"adaptive\"\ngroup = \"a\"\n";
    let one_host = format!("{}\n", flows.replacen("hosts = 1\n\n", "", 1));
    let text = edited("access = {", "hosts = 1\naccess = {") + &one_host;
    // Flow 0 has none; the copies of one flow and another one of the same group are one group.
    assert_eq!(plan(&text).groups, [vec![1, 2, 4], vec![3]]);
    assert!(plan(DUMBBELL).groups.is_empty());
}

#[test]
fn groups_are_of_adaptive_flows_with_one_path() {
    let only = "only flows of \"adaptive\" form groups";
    refused_flow("group = \"a\"", 9, "flow[0].group", only, "");
    refused_flow("group = \"\"", 9, "flow[0].group", "not a name", "1 to 200 bytes");
    // In a dumbbell each copy has its own hosts.
    let apart = format!("{DUMBBELL}congestion_control = \"adaptive\"\ncount = 2\ngroup = \"a\"\n");
    refused(
        &apart,
        (13, 9),
        "flow[0].group",
        "the flows of a group have one path",
        "hosts = 1 in a dumbbell",
    );
    let udp = format!("{DUMBBELL}protocol = \"udp\"\ntraffic = {{ rate = \"1 Mbps\" }}\ngroup = \"a\"\n");
    refused(&udp, (13, 9), "flow[0].group", "not allowed here", "UDP has no congestion control");
}

#[test]
fn flows_name_their_algorithm() {
    let udp = format!("{DUMBBELL}[[flow]]\nprotocol = \"udp\"\ntraffic = {{ rate = \"1 Mbps\" }}\n");
    let plan = Scenario::parse(&udp, "a.toml", &[]).expect("a scenario").plan;
    assert_eq!(plan.flows[0].algorithm(), Some("reno"));
    assert_eq!(plan.flows[1].algorithm(), None);
    assert!(!plan.has_custom_algorithms());
}

#[test]
fn stacks_that_are_not_built_in_say_how_to_have_them() {
    refused_flow("stack = \"quinn\"", 9, "flow[0].stack", "stack \"quinn\" is not built in", "make quic");
    refused_flow("stack = \"quin\"", 9, "flow[0].stack", "unknown stack \"quin\"", "did you mean \"quinn\"?");
    for word in ["noq:cubic", "cubic@noq"] {
        let line = format!("congestion_control = \"{word}\"");
        let said = "stack \"noq\" is not built in";
        refused_flow(&line, 22, "flow[0].congestion_control", said, "make quic");
    }
}

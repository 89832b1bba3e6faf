//! Shapes of a network, names and routes.

use super::{DUMBBELL, GRAPH, PARKING_LOT, plan, plan_with, refused, refused_flow, route_names, tcp};
use crate::plan::{QueueLimit, Transport};
use selfclock_congestion::units::{Bytes, Duration};

#[test]
fn a_dumbbell_resolves() {
    let plan = plan(DUMBBELL);
    assert_eq!((plan.name.as_str(), plan.seed, plan.duration), ("s", 1, Duration::from_milliseconds(10_000)));
    assert_eq!(*plan.nodes, ["left", "right", "source1", "sink1"]);
    let flow = &plan.flows[0];
    assert_eq!(route_names(&plan, &flow.forward), ["source1-left", "bottleneck", "right-sink1"]);
    assert_eq!(route_names(&plan, &flow.reverse), ["sink1-right", "reverse", "left-source1"]);
    assert_eq!(plan.links[0].queue, QueueLimit::Packets(5));
    assert_eq!(plan.links[2].queue, QueueLimit::Unlimited);
    assert_eq!(tcp(&plan, 0).control_name, "reno");
    assert_eq!(tcp(&plan, 0).transport, Transport::modern());
    assert_eq!(plan.record.interval, Some(Duration::from_milliseconds(10)));
}

/// The Nth source is N - 1 steps farther away, both ways, also after its path has changed; the
/// sinks are not.
#[test]
fn sources_of_a_dumbbell_lie_at_different_distances() {
    let stepped = DUMBBELL.replace(
        "access = {",
        "hosts = 3\naccess_step = \"7 ms\"\naccess = { changes = [{ at = \"1 s\", delay = \"1 ms\" }],",
    );
    let plan = plan(&stepped);
    let delay = |name: &str| {
        let link = plan.links.iter().find(|link| link.name == name).expect("a link");
        (link.delay, link.changes[0].delay)
    };
    let ms = Duration::from_milliseconds;
    assert_eq!(delay("source1-left"), (ms(5), ms(1)));
    assert_eq!(delay("source3-left"), (ms(19), ms(15)));
    assert_eq!(delay("left-source3"), (ms(19), ms(15)));
    assert_eq!(delay("right-sink3"), (ms(5), ms(1)));
}

#[test]
fn a_parking_lot_takes_the_long_path_first() {
    let plan = plan(PARKING_LOT);
    let long = ["source0-router0", "hop1", "hop2", "hop3", "router3-sink0"];
    assert_eq!(route_names(&plan, &plan.flows[0].forward), long);
    assert_eq!(route_names(&plan, &plan.flows[2].forward), ["source2-router1", "hop2", "router2-sink2"]);
    assert_eq!(route_names(&plan, &plan.flows[4].forward), long);
    // The long flow has the largest base round-trip time: 2 × (30 + 2) ms at 10 Mbit/s.
    assert_eq!(plan.links[0].queue, QueueLimit::Bytes(Bytes(80_000)));
}

#[test]
fn a_graph_resolves() {
    let plan = plan(GRAPH);
    assert_eq!(route_names(&plan, &plan.flows[0].forward), ["a-r", "r-b"]);
    assert_eq!(route_names(&plan, &plan.flows[0].reverse), ["b-r", "r-a"]);
    assert_eq!(plan.flows[0].name, "flow1");
}

#[test]
fn a_simplex_link_and_its_name() {
    let one_way = format!(
        "{GRAPH}[[network.link]]\nname = \"back\"\nfrom = \"b\"\nto = \"a\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nduplex = false\n"
    );
    let plan = plan(&one_way);
    assert_eq!(plan.links.len(), 5);
    assert_eq!(route_names(&plan, &plan.flows[0].reverse), ["back"]);
    let names = plan_with(GRAPH, &["network.link.0.name=up"]).links;
    assert_eq!((names[0].name.as_str(), names[1].name.as_str()), ("up", "up-reverse"));
}

#[test]
fn names_that_clash_or_do_not_exist() {
    refused(
        &format!("{DUMBBELL}[[flow]]\nname = \"tcp\"\n"),
        (12, 8),
        "flow[1].name",
        "duplicate flow \"tcp\"",
        "",
    );
    refused_flow(
        "from = \"source2\"",
        8,
        "flow[0].from",
        "unknown node \"source2\"",
        "did you mean \"source1\"? allowed: left",
    );
    refused_flow("to = \"left\"\nfrom = \"left\"", 6, "flow[0].to", "a flow from a node to itself", "");
    let again = GRAPH.replace("\"a\", \"r\", \"b\"", "\"a\", \"r\", \"b\", \"a\"");
    refused(&again, (6, 25), "network.nodes[3]", "duplicate node \"a\"", "");
    let link = "[[network.link]]\nfrom = \"a\"\nto = \"r\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n";
    refused(&format!("{GRAPH}{link}"), (23, 1), "network.link[2]", "duplicate link \"a-r\"", "its own name");
    let to_self = GRAPH.replacen("to = \"r\"", "to = \"a\"", 1);
    refused(&to_self, (10, 6), "network.link[0].to", "a link from a node to itself", "");
    let unknown = GRAPH.replacen("to = \"r\"", "to = \"q\"", 1);
    refused(&unknown, (10, 6), "network.link[0].to", "unknown node \"q\"", "allowed: a, b, r");
}

#[test]
fn nodes_without_a_route() {
    let alone = GRAPH
        .replace("\"a\", \"r\", \"b\"", "\"a\", \"r\", \"b\", \"c\"")
        .replace("to = \"b\"\n\n[[flow]]", "x");
    let alone = alone.replace("[[flow]]\nfrom = \"a\"\nto = \"b\"", "[[flow]]\nfrom = \"a\"\nto = \"c\"");
    refused(&alone, (22, 6), "flow[0].to", "no route from \"a\" to \"c\"", "");
    let one_way = GRAPH.replacen("delay = \"5 ms\"", "delay = \"5 ms\"\nduplex = false", 1);
    refused(&one_way, (23, 6), "flow[0].to", "no route from \"b\" to \"a\" for acknowledgements", "");
    let udp = format!("{one_way}protocol = \"udp\"\ntraffic = {{ rate = \"1 kbps\" }}\n");
    assert_eq!(plan(&udp).flows.len(), 1);
}

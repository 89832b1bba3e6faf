//! Whole scenarios: what they become, and what is said of those that are refused.

use std::path::Path;

use proptest::prelude::*;
use selfclock_congestion::registry::{ENTRIES, Registry};
use selfclock_congestion::units::{Bytes, Duration};
use serde_json::Value as Json;

use super::{Scenario, ScenarioError, schema};
use crate::named::Named as _;
use crate::plan::{
    AckClock, Arrivals, DisciplinePlan, Ecn, LossPlan, MarkAbove, MechanismPlan, Plan, Protocol, QueueLimit,
    RecordPlan, Recovery, SizeDistribution, Source, TcpPlan, TimerArithmetic, Transport,
};

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

/// The dumbbell with more keys for its flow.
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

/// What would be silently without effect.
#[test]
fn a_parameter_without_its_partner_is_refused() {
    for (alone, partner) in [
        ("window = \"reno\", beta_ecn = 0.7", "abe = true"),
        ("window = \"cubic\", beta_ecn = 0.7", "abe = true"),
        ("window = \"scalable\", linux_count = 50", "variant = \"linux\""),
        ("window = \"lotka-volterra\", physical_rate = \"1 Mbps\"", "physical = \"oracle\""),
        ("window = \"lotka-volterra\", available_rate = \"1 Mbps\"", "available = \"oracle\""),
    ] {
        let text = |keys: &str| format!("{DUMBBELL}congestion_control = {{ {keys} }}\n");
        let error = parse(&text(alone)).expect_err(alone);
        assert_eq!(error.message, format!("does nothing without {partner}"));
        assert!(error.line().is_some() && error.help.contains(partner), "{error}");
        parse(&text(&format!("{alone}, {partner}"))).expect(partner);
    }
    for name in ["physical", "available"] {
        let text = format!(
            "{DUMBBELL}congestion_control = {{ window = \"lotka-volterra\", {name} = \"oracle\" }}\n"
        );
        assert_eq!(parse(&text).expect_err(name).message, format!("does nothing without {name}_rate"));
    }
}

// What a scenario becomes

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
fn a_queue_of_one_bdp_holds_the_largest_base_round_trip() {
    // 1 Mbit/s × 2 × 25 ms = 6250 B; a link that no flow crosses: 2 × its own delay.
    let text = format!(
        "{GRAPH}[[network.link]]\nfrom = \"r\"\nto = \"b\"\nname = \"spare\"\nrate = \"8 Mbps\"\ndelay = \"30 ms\"\n"
    );
    let links = plan(&text).links;
    assert_eq!(links[2].queue, QueueLimit::Bytes(Bytes(6_250)));
    assert_eq!(links[4].queue, QueueLimit::Bytes(Bytes(60_000)));
    assert_eq!(
        plan_with(GRAPH, &["network.link.1.queue=0.5 bdp"]).links[2].queue,
        QueueLimit::Bytes(Bytes(3_125))
    );
    // Never less than a packet: 1448 B of payload, 40 B of header, 12 B of timestamps.
    assert_eq!(
        plan_with(GRAPH, &["network.link.1.queue=0.01 bdp"]).links[2].queue,
        QueueLimit::Bytes(Bytes(1_500))
    );
}

#[test]
fn a_queue_that_marks() {
    let of =
        |queue: &str| plan_with(DUMBBELL, &[&format!("network.bottleneck.queue={queue}")]).links[0].clone();
    let link = of("{ limit = \"400 packets\", mark_above = \"65 packets\" }");
    assert_eq!(link.queue, QueueLimit::Packets(400));
    assert_eq!(link.discipline.mark_above(), Some(MarkAbove::Packets(65)));
    // A table without a limit leaves the default, 1 bdp.
    let link = of("{ mark_above = \"1 ms\" }");
    assert!(matches!(link.queue, QueueLimit::Bytes(_)));
    assert_eq!(link.discipline.mark_above(), Some(MarkAbove::Wait(Duration::from_milliseconds(1))));
    assert_eq!(of("9 packets").discipline.mark_above(), None);
    let flow = plan_with(DUMBBELL, &["transport.ecn=accurate"]).flows[0].clone();
    assert!(matches!(flow.protocol, Protocol::Tcp(tcp) if tcp.transport.ecn == Ecn::Accurate));
}

#[test]
fn reverse_and_sink_access_follow_unless_written() {
    let links = plan(DUMBBELL).links;
    assert_eq!(links[1].queue, QueueLimit::Packets(5));
    assert_eq!(links[4].delay, Duration::from_milliseconds(5));
    let links = plan_with(
        DUMBBELL,
        &[
            "network.reverse={ rate = \"1 Mbps\", delay = \"1 ms\", queue = \"64 kB\" }",
            "network.sink_access.rate=1 Mbps",
            "network.sink_access.delay=9 ms",
        ],
    )
    .links;
    assert_eq!(links[1].queue, QueueLimit::Bytes(Bytes(64_000)));
    assert_eq!(
        (links[2].delay, links[4].delay),
        (Duration::from_milliseconds(5), Duration::from_milliseconds(9))
    );
}

#[test]
fn the_classic_profile_counts_the_packet_in_service() {
    assert!(!plan(DUMBBELL).links[0].counts_packet_in_service);
    let classic = plan_with(DUMBBELL, &["profile=classic"]);
    assert!(classic.links[0].counts_packet_in_service);
    assert_eq!(tcp(&classic, 0).transport, Transport::classic());
    let waiting = plan_with(DUMBBELL, &["profile=classic", "network.bottleneck.queue_counts=waiting"]);
    assert!(!waiting.links[0].counts_packet_in_service);
}

#[test]
fn the_settings_of_a_flow_go_over_those_of_all() {
    let text = format!(
        "{DUMBBELL}transport = {{ mss = \"512 B\", timer = {{ minimum = \"1 s\" }} }}\n[[flow]]\n\
         [transport]\nmss = \"1000 B\"\nrecovery = \"newreno\"\ntimer = {{ backoff = 3, granularity = \"10 ms\" }}\n"
    );
    let plan = plan(&text);
    let (first, second) = (&tcp(&plan, 0).transport, &tcp(&plan, 1).transport);
    assert_eq!((first.mss, second.mss), (Bytes(512), Bytes(1000)));
    assert_eq!((first.recovery, second.recovery), (Recovery::NewReno, Recovery::NewReno));
    assert_eq!((first.timer.backoff, second.timer.backoff), (3.0, 3.0));
    assert_eq!(first.timer.minimum, Duration::from_milliseconds(1000));
    assert_eq!(second.timer.minimum, Duration::from_milliseconds(200));
}

#[test]
fn a_window_in_segments_follows_the_mss() {
    let window = |overrides: &[&str]| tcp(&plan_with(DUMBBELL, overrides), 0).transport.receive_window;
    assert_eq!(window(&[]), Bytes::MAX);
    assert_eq!(window(&["profile=classic", "transport.mss=512 B"]), Bytes(20 * 512));
    assert_eq!(window(&["transport.receive_window=2.5 segments", "flow.0.transport.mss=100 B"]), Bytes(250));
    assert_eq!(window(&["transport.receive_window=64 kB"]), Bytes(64_000));
    assert_eq!(window(&["profile=classic", "transport.receive_window=unlimited"]), Bytes::MAX);
}

#[test]
fn every_transport_key() {
    let plan = flow_with(
        r#"[flow.transport]
mss = "512 B"
header = "20 B"
ack = "64 B"
recovery = "tahoe"
limited_transmit = false
initial_window = "2 segments"
initial_ssthresh = "20 segments"
receive_window = "20 segments"
window_scaling = false
handshake = false
timestamps = false
delayed_ack = { every = 3, timer = "200 ms", clock = "grid" }
timer = { initial = "3 s", minimum = "1 s", maximum = "64 s", granularity = "500 ms", backoff = 1.5, arithmetic = "bsd", samples = "one-at-a-time" }
grow_only_when_limited = false
pacing_gain = 1.2
shaper = { rate = "1 Mbps", burst = "3000 B" }
peer_knows_option = false"#,
    );
    let transport = &tcp(&plan, 0).transport;
    assert_eq!((transport.header, transport.ack), (Bytes(20), Bytes(64)));
    assert_eq!((transport.initial_window, transport.initial_ssthresh), (2.0, 20.0));
    assert_eq!((transport.delayed_ack.every, transport.delayed_ack.clock), (3, AckClock::Grid));
    assert_eq!((transport.timer.backoff, transport.timer.arithmetic), (1.5, TimerArithmetic::Bsd));
    assert_eq!(transport.pacing_gain, Some(1.2));
    assert_eq!(transport.shaper.map(|shaper| shaper.burst), Some(Bytes(3000)));
    let switches = [
        transport.limited_transmit,
        transport.window_scaling,
        transport.handshake,
        transport.timestamps,
        transport.grow_only_when_limited,
        transport.peer_knows_option,
    ];
    assert_eq!(switches, [false; 6]);
}

#[test]
fn a_flow_can_switch_off_what_all_flows_have() {
    let text = format!(
        "{DUMBBELL}transport = {{ pacing_gain = \"off\", shaper = \"off\", delayed_ack = \"off\", initial_ssthresh = \"unlimited\" }}\n\
         [transport]\npacing_gain = 2\nshaper = {{ rate = \"1 Mbps\", burst = \"3 kB\" }}\ninitial_ssthresh = \"4 segments\"\n"
    );
    let plan = plan(&text);
    let transport = &tcp(&plan, 0).transport;
    assert_eq!((transport.pacing_gain, transport.shaper, transport.delayed_ack.every), (None, None, 1));
    assert_eq!(transport.initial_ssthresh, f64::INFINITY);
}

#[test]
fn names_of_algorithms() {
    let name =
        |value: &str| tcp(&flow_with(&format!("congestion_control = {value}")), 0).control_name.clone();
    assert_eq!(name("\"reno\""), "reno");
    assert_eq!(name("\"packet-pair\""), "packet-pair");
    assert_eq!(name("\"slow-start\""), "reno");
    assert_eq!(name("{ window = \"reno\", start = \"packet-pair\" }"), "packet-pair");
    assert_eq!(name("{}"), "reno");
}

#[test]
fn parameters_of_algorithms() {
    let plan = flow_with(
        "congestion_control = { start = \"packet-pair\", tick = \"1 ms\", probing = \"both-sides\", safe_transmit = false, halved = \"window\" }",
    );
    let control = format!("{:?}", tcp(&plan, 0).control);
    for part in ["tick: 0.001 s", "probing: BothSides", "safe_transmit: false", "halved: Window"] {
        assert!(control.contains(part), "{part} in {control}");
    }
    let plan = flow_with("congestion_control = { segments_per_ack = 2 }");
    assert!(format!("{:?}", tcp(&plan, 0).control).contains("segments_per_ack: 2.0"));
}

#[test]
fn traffic() {
    let source = |value: &str| tcp(&flow_with(&format!("traffic = {value}")), 0).source;
    assert_eq!(source("\"bulk\""), Source::Bulk);
    assert_eq!(source("{ size = \"10 MB\" }"), Source::Size(Bytes(10_000_000)));
    assert!(
        matches!(source("{ rate = \"1 Mbps\" }"), Source::Rate(rate) if rate.bits_per_second() == 1_000_000)
    );
    let plan = flow_with("protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\", arrivals = \"poisson\" }");
    let Protocol::Udp(udp) = &plan.flows[0].protocol else { panic!("{plan:?}") };
    assert_eq!((&udp.packets[..], udp.arrivals), (&[(Bytes(1500), 1.0)][..], Arrivals::Poisson));
    assert!(plan.flows[0].reverse.is_empty());
}

#[test]
fn udp_steps_and_mixes() {
    let udp = |traffic: &str| {
        let plan = flow_with(&format!("protocol = \"udp\"\ntraffic = {traffic}"));
        let Protocol::Udp(udp) = plan.flows[0].protocol.clone() else { panic!("{plan:?}") };
        udp
    };
    let steps = udp(
        "{ rate = \"1 Mbps\", packet = \"imix\", steps = [{ at = \"3 s\", rate = \"0 bps\" }, { at = \"5 s\", rate = \"2 Mbps\" }] }",
    );
    let rates: Vec<_> =
        steps.rates.iter().map(|&(at, rate)| (at.seconds(), rate.bits_per_second())).collect();
    assert_eq!(rates, [(0.0, 1_000_000), (3.0, 0), (5.0, 2_000_000)]);
    assert_eq!(steps.packets, [(Bytes(40), 7.0), (Bytes(576), 4.0), (Bytes(1500), 1.0)]);
    let mix = udp(
        "{ rate = \"1 Mbps\", packet = [{ size = \"100 B\", weight = 1 }, { size = \"1 kB\", weight = 0.5 }] }",
    );
    assert_eq!(mix.packets, [(Bytes(100), 1.0), (Bytes(1000), 0.5)]);
    let key = "flow[0].traffic.steps[1].at";
    let line = "protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\", steps = [{ at = \"3 s\", rate = \"1 bps\" }, { at = \"3 s\", rate = \"2 bps\" }] }";
    let error = parse(&format!("{DUMBBELL}{line}\n")).unwrap_err();
    assert_eq!((error.line(), error.key.as_str()), (Some(12), key), "{error}");
    let line = "traffic = { rate = \"1 Mbps\", steps = [{ at = \"3 s\", rate = \"1 bps\" }] }";
    refused_flow(line, 38, "flow[0].traffic.steps", "not allowed here", "only UDP has steps");
}

#[test]
fn loss() {
    let loss =
        |value: &str| plan_with(DUMBBELL, &[&format!("network.bottleneck.loss={value}")]).links[0].loss;
    assert_eq!(loss("{ probability = 0.01 }"), LossPlan::Bernoulli(0.01));
    assert_eq!(loss("{ probability = 0 }"), LossPlan::None);
    let chain =
        LossPlan::GilbertElliott { good_to_bad: 0.1, bad_to_good: 0.5, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(loss("{ good_to_bad = 0.1, bad_to_good = 0.5 }"), chain);
}

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
fn series_are_coarser_in_a_large_network() {
    // 1000 flows and 4002 links: 399 samples of 5002 rows stay below two million.
    let plan = plan_with(DUMBBELL, &["flow.0.count=1000", "duration=399 s"]);
    assert_eq!(plan.record.interval, Some(Duration::from_milliseconds(1000)));
    let record = |value: &str| plan_with(DUMBBELL, &[&format!("record.interval={value}")]).record.interval;
    assert_eq!(record("off"), None);
    assert_eq!(record("20 ms"), Some(Duration::from_milliseconds(20)));
    assert!(plan_with(DUMBBELL, &["record.packets=true"]).record.packets);
}

#[test]
fn ten_thousand_flows_resolve() {
    assert_eq!(plan_with(DUMBBELL, &["flow.0.count=10000"]).flows.len(), 10_000);
    assert_eq!(plan_with(PARKING_LOT, &["network.hops=1000", "flow.0.count=1001"]).flows.len(), 1_001);
}

// What is refused

/// Line, column, key and message of the error, and part of its help.
#[track_caller]
fn refused(text: &str, place: (usize, usize), key: &str, message: &str, help: &str) {
    let error = parse(text).expect_err("the text should be refused");
    let found = (error.line(), error.column(), error.key.as_str(), error.message.as_str());
    assert_eq!(found, (Some(place.0), Some(place.1), key, message), "{error}");
    assert!(error.help.contains(help), "{help:?} in {error}");
}

/// The dumbbell with one text in the place of another.
fn edited(from: &str, to: &str) -> String {
    assert!(DUMBBELL.contains(from), "{from}");
    DUMBBELL.replacen(from, to, 1)
}

/// The dumbbell, whose flow has one more line: the eleventh.
#[track_caller]
fn refused_flow(line: &str, column: usize, key: &str, message: &str, help: &str) {
    refused(&format!("{DUMBBELL}{line}\n"), (11, column), key, message, help);
}

#[test]
fn parallel_flows_form_groups() {
    let flows = "hosts = 1\n\n[[flow]]\ncount = 2\ncongestion_control = \"adaptive\"\ngroup = \"a\"\n\n\
                 [[flow]]\ncongestion_control = \"adaptive\"\ngroup = \"b\"\n\n\
                 [[flow]]\ncongestion_control = \"adaptive\"\ngroup = \"a\"\n";
    let one_host = format!("{}\n", flows.replacen("hosts = 1\n\n", "", 1));
    let text = edited("access = {", "hosts = 1\naccess = {") + &one_host;
    // The first flow, 0, has none; the copies of one flow and another one of the same name are one group.
    assert_eq!(plan(&text).groups, [vec![1, 2, 4], vec![3]]);
    assert!(plan(DUMBBELL).groups.is_empty());
}

#[test]
fn groups_are_of_adaptive_flows_with_one_path() {
    let only = "only flows of \"adaptive\" form groups";
    refused_flow("group = \"a\"", 9, "flow[0].group", only, "");
    refused_flow("group = \"\"", 9, "flow[0].group", "not a name", "1 to 200 bytes");
    // In a dumbbell each copy has hosts of its own.
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
fn short_connections_are_read() {
    let size = "{ distribution = \"pareto\", minimum = \"4 kB\", maximum = \"10 MB\", shape = 1.5 }";
    let plan =
        parse(&format!("{DUMBBELL}traffic = {{ load = \"8 Mbps\", size = {size} }}\n")).expect("valid").plan;
    let Protocol::Connections(connections) = &plan.flows[0].protocol else { panic!("short connections") };
    let expected = SizeDistribution::Pareto { minimum: Bytes(4_000), maximum: Bytes(10_000_000), shape: 1.5 };
    assert_eq!(connections.size, expected);
    // Mean 4000 × 3 × (1 − 0.02) / (1 − 8 × 10⁻⁶) B at 1 MB/s.
    assert!(
        (connections.interval.seconds() / 0.011_760_094 - 1.0).abs() < 1e-6,
        "{:?}",
        connections.interval
    );
    let every =
        parse(&format!("{DUMBBELL}traffic = {{ interval = \"20 ms\", size = \"30 kB\" }}\n")).expect("valid");
    let Protocol::Connections(connections) = &every.plan.flows[0].protocol else {
        panic!("short connections")
    };
    assert_eq!(connections.interval, Duration::from_milliseconds(20));
    assert_eq!(connections.size, SizeDistribution::Constant(Bytes(30_000)));
}

#[test]
fn what_is_no_short_connection_is_refused() {
    let traffic = "flow[0].traffic";
    let case = |text: &str, column: usize, key: &str, message: &str, help: &str| {
        let key = format!("{traffic}{key}");
        refused_flow(&format!("traffic = {{ {text} }}"), column, &key, message, help);
    };
    case("load = \"1 Mbps\"", 11, "", "short connections need a size", "size = \"30 kB\"");
    case(
        "load = \"1 Mbps\", interval = \"1 s\", size = \"1 kB\"",
        11,
        "",
        "load and interval say the same",
        "one of them",
    );
    case("load = \"1 Mbps\", rate = \"1 Mbps\", size = \"1 kB\"", 37, ".rate", "not allowed here", "load");
    case(
        "size = { distribution = \"exponential\", mean = \"1 kB\" }",
        20,
        ".size",
        "a distribution of sizes is for short connections",
        "load",
    );
    let size = |size: &str| format!("load = \"1 Mbps\", size = {{ {size} }}");
    case(&size("distribution = \"zipf\""), 54, ".size.distribution", "unknown value \"zipf\"", "pareto");
    case(&size("distribution = \"pareto\""), 37, ".size", "a key is missing", "minimum = \"4 kB\"");
    case(
        &size("distribution = \"exponential\", mean = \"1 kB\", shape = 1.2"),
        84,
        ".size.shape",
        "not a key of this distribution",
        "mean = \"30 kB\"",
    );
    case(
        &size("distribution = \"pareto\", minimum = \"2 kB\", maximum = \"1 kB\", shape = 1.2"),
        92,
        ".size.maximum",
        "smaller than the minimum",
        "",
    );
    // 10 s at one connection per picosecond.
    case(
        "interval = \"1 ps\", size = \"1 kB\"",
        11,
        "",
        "needs about 1192092 GiB of memory, 1192092 GiB of it for 10000000000000 short connections",
        "at most 16 GiB",
    );
}

#[test]
fn an_error_reads_well() {
    let error = parse(&format!("{DUMBBELL}start = \"10\"\n")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.toml:11:9: flow[0].start: \"10\" has no unit\n   |\n11 | start = \"10\"\n   |         ^^^^ write a time such as \"10 s\" or \"100 ms\""
    );
}

#[test]
fn units_are_never_guessed() {
    refused(&edited("\"10 s\"", "10"), (2, 12), "duration", "10 has no unit", "a time such as \"10 s\"");
    refused(&edited("\"10 s\"", "1.5"), (2, 12), "duration", "1.5 has no unit", "");
    refused(&edited("\"10 s\"", "nan"), (2, 12), "duration", "nan has no unit", "");
    refused(
        &edited("\"10 s\"", "\"10 Mbps\""),
        (2, 12),
        "duration",
        "\"10 Mbps\": \"Mbps\" is a unit of rate",
        "ms",
    );
    let key = "network.bottleneck.rate";
    refused(&edited("\"500 kbps\"", "\"5 MB/s\""), (6, 23), key, "\"5 MB/s\": unknown unit \"MB/s\"", "Mbps");
    refused(&edited("\"500 kbps\"", "\"-5 Mbps\""), (6, 23), key, "\"-5 Mbps\" is negative", "write a rate");
    refused(&edited("\"500 kbps\"", "\"0 bps\""), (6, 23), key, "a rate must be above zero", "write a rate");
    refused(
        &edited("\"500 kbps\"", "\"99999999999 Gbps\""),
        (6, 23),
        key,
        "\"99999999999 Gbps\" is too large",
        "",
    );
}

#[test]
fn unknown_keys_list_the_allowed_ones() {
    refused(
        &format!("sede = 1\n{DUMBBELL}"),
        (1, 1),
        "sede",
        "unknown key",
        "did you mean \"seed\"? allowed: schema, name",
    );
    refused(
        &edited("delay =", "dealy ="),
        (6, 35),
        "network.bottleneck.dealy",
        "unknown key",
        "did you mean \"delay\"?",
    );
    refused(&edited("[[flow]]", "hops = 2\n[[flow]]"), (9, 1), "network.hops", "unknown key", "hosts");
    refused_flow(
        "transport = { mms = \"1 B\" }",
        15,
        "flow[0].transport.mms",
        "unknown key",
        "did you mean \"mss\"?",
    );
    refused(
        &format!("{DUMBBELL}[record]\npacket = true\n"),
        (12, 1),
        "record.packet",
        "unknown key",
        "interval, packets",
    );
}

#[test]
fn missing_keys_point_at_their_table() {
    refused("", (1, 1), "", "missing key \"schema\"", "");
    refused(&edited("schema = 1", ""), (1, 1), "", "missing key \"schema\"", "");
    refused(&edited("topology = \"dumbbell\"", ""), (4, 1), "network", "missing key \"topology\"", "");
    refused(&edited("rate = \"500 kbps\", ", ""), (6, 14), "network.bottleneck", "missing key \"rate\"", "");
    refused("schema = 1\nduration = \"1 s\"\n", (1, 1), "", "missing key \"network\"", "");
    refused(&GRAPH.replace("from = \"a\"\nto = \"b\"\n", ""), (20, 1), "flow[0]", "missing key \"from\"", "");
    let empty = format!("flow = []\n{}", edited("[[flow]]\nname = \"tcp\"\n", ""));
    refused(&empty, (1, 8), "flow", "is empty", "at least one is needed");
}

#[test]
fn wrong_types() {
    refused(
        &edited("schema = 1", "schema = \"1\""),
        (1, 10),
        "schema",
        "expected an integer, found a string",
        "",
    );
    refused(&edited("schema = 1", "schema = 2"), (1, 10), "schema", "2 is out of range", "allowed: 1");
    refused(
        &edited("\"10 s\"", "true"),
        (2, 12),
        "duration",
        "expected a string with a number and a unit, found true or false",
        "",
    );
    refused(
        "schema = 1\nduration = \"1 s\"\nnetwork = 3\n",
        (3, 11),
        "network",
        "expected a table, found an integer",
        "",
    );
    refused(
        &edited("name = \"tcp\"", "name = 3"),
        (10, 8),
        "flow[0].name",
        "expected a name, found an integer",
        "",
    );
    refused(&edited("name = \"tcp\"", "name = \"../x\""), (10, 8), "flow[0].name", "not a name", "no slash");
    refused(
        &edited("\"dumbbell\"", "\"dumbell\""),
        (5, 12),
        "network.topology",
        "unknown value \"dumbell\"",
        "did you mean \"dumbbell\"?",
    );
    refused_flow(
        "transport = { handshake = 1 }",
        27,
        "flow[0].transport.handshake",
        "expected true or false, found an integer",
        "",
    );
    refused_flow(
        "transport = { recovery = \"cubic\" }",
        26,
        "flow[0].transport.recovery",
        "unknown value \"cubic\"",
        "tahoe, reno, newreno, sack",
    );
    refused_flow(
        "transport = { delayed_ack = \"on\" }",
        29,
        "flow[0].transport.delayed_ack",
        "expected a table, found a string",
        "the only word allowed is \"off\"",
    );
    let router = "[[router]]\nmechanism = \"ficcrd\"\nnodes = [\"left\"]\n";
    refused(
        &format!("{DUMBBELL}{router}discovery_interval = 1\n"),
        (14, 22),
        "router[0].discovery_interval",
        "1 has no unit",
        "write a time such as \"10 s\" or \"100 ms\", or \"off\"",
    );
}

#[test]
fn syntax_errors_have_a_place() {
    let error = parse("schema = 1\nduration = \n").unwrap_err();
    assert_eq!(error.line(), Some(2), "{error}");
    let error = parse(&edited("[network]", "[network")).unwrap_err();
    assert_eq!(error.line(), Some(4), "{error}");
    let error = parse(&format!("{DUMBBELL}name = \"again\"\n")).unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(11), Some(1)), "{error}");
}

#[test]
fn numbers_out_of_range() {
    refused(&edited("\"10 s\"", "\"0 s\""), (2, 12), "duration", "must be above zero", "");
    refused(&edited("\"10 s\"", "\"3000 h\""), (2, 12), "duration", "longer than 106 days", "2^63 ps");
    for queue in ["0 packets", "0 B", "0 bdp"] {
        let text = edited("5 packets", queue);
        refused(&text, (6, 61), "network.bottleneck.queue", "a queue must hold something", "unlimited");
    }
    refused(
        &edited("bottleneck", "hosts = 0\nbottleneck"),
        (6, 9),
        "network.hosts",
        "0 is out of range",
        "allowed: from 1",
    );
    refused_flow("count = 0", 9, "flow[0].count", "0 is out of range", "allowed: from 1");
    refused(&format!("seed = -1\n{DUMBBELL}"), (1, 8), "seed", "-1 is out of range", "allowed: from 0");
    refused_flow(
        "transport = { mss = \"0 B\" }",
        21,
        "flow[0].transport.mss",
        "0 B is out of range",
        "1 B to 65535 B",
    );
    refused_flow(
        "transport = { mss = \"64 KiB\" }",
        21,
        "flow[0].transport.mss",
        "65536 B is out of range",
        "1 B to 65535 B",
    );
    refused_flow(
        "transport = { initial_window = \"0.5 segments\" }",
        32,
        "flow[0].transport.initial_window",
        "less than one segment",
        "",
    );
    refused_flow("stop = \"0 s\"", 8, "flow[0].stop", "stops before it starts", "later than start");
    for probability in ["1.5", "-0.1"] {
        let text = edited("queue = \"5 packets\"", &format!("loss = {{ probability = {probability} }}"));
        let message = format!("{probability} is out of range");
        refused(&text, (6, 76), "network.bottleneck.loss.probability", &message, "allowed: 0 to 1");
    }
    let text = edited("queue = \"5 packets\"", "loss = { probability = nan }");
    refused(
        &text,
        (6, 76),
        "network.bottleneck.loss.probability",
        "nan is not a finite number",
        "allowed: 0 to 1",
    );
}

#[test]
fn settings_that_do_not_fit_each_other() {
    let message = "the receive window is smaller than a segment";
    let line = "transport = { mss = \"1000 B\", receive_window = \"999 B\" }";
    refused_flow(line, 48, "flow[0].transport.receive_window", message, "at least 1000 B");
    let line = "transport = { timer = { minimum = \"5 s\", maximum = \"1 s\" } }";
    refused_flow(line, 23, "flow[0].transport.timer", "maximum 1 s is below minimum 5 s", "");
    let line = "transport = { timer = { arithmetic = \"bsd\", granularity = \"0 s\" } }";
    let message = "arithmetic \"bsd\" counts ticks of the granularity, which is zero";
    refused_flow(line, 23, "flow[0].transport.timer", message, "rfc6298");
    let udp = format!("{DUMBBELL}protocol = \"udp\"\n");
    refused(&udp, (9, 1), "flow[0]", "UDP traffic needs a rate", "traffic =");
}

#[test]
fn keys_of_the_other_protocol() {
    let udp = "protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\" }\n";
    let text = format!("{DUMBBELL}{udp}congestion_control = \"reno\"\n");
    refused(
        &text,
        (13, 22),
        "flow[0].congestion_control",
        "not allowed here",
        "UDP has no congestion control",
    );
    let text = format!("{DUMBBELL}{udp}transport = {{}}\n");
    refused(&text, (13, 13), "flow[0].transport", "not allowed here", "UDP has no transport settings");
    refused_flow(
        "traffic = { rate = \"1 Mbps\", packet = \"9 B\" }",
        39,
        "flow[0].traffic.packet",
        "not allowed here",
        "segments",
    );
    refused_flow("traffic = {}", 11, "flow[0].traffic", "either size or rate is needed", "10 MB");
    refused_flow("traffic = \"web\"", 11, "flow[0].traffic", "unknown value \"web\"", "bulk");
}

#[test]
fn algorithms_that_do_not_exist() {
    let key = "flow[0].congestion_control";
    refused_flow(
        "congestion_control = \"rena\"",
        22,
        key,
        "unknown algorithm \"rena\"",
        "did you mean \"reno\"? allowed: slow-start",
    );
    refused_flow(
        "congestion_control = 3",
        22,
        key,
        "expected the name of an algorithm, or a table, found an integer",
        "",
    );
    let line = "congestion_control = { window = \"packet-pair\" }";
    refused_flow(line, 33, "flow[0].congestion_control.window", "unknown window \"packet-pair\"", "reno");
    let line = "congestion_control = { tick = \"1 ms\" }";
    refused_flow(
        line,
        24,
        "flow[0].congestion_control.tick",
        "unknown parameter",
        "window, start, estimate, model, counting, halved",
    );
}

/// Marks that an algorithm does not respond to would let it take what others give up.
#[test]
fn a_model_takes_only_the_marks_it_responds_to() {
    for (control, ecn, fine) in [
        ("bbr3", "off", true),
        ("bbr3", "accurate", false),
        ("prague", "accurate", true),
        ("prague", "classic", false),
        ("cubic", "classic", true),
    ] {
        let text =
            format!("{DUMBBELL}congestion_control = \"{control}\"\ntransport = {{ ecn = \"{ecn}\" }}\n");
        match parse(&text) {
            Ok(_) => assert!(fine, "{control} {ecn}"),
            Err(error) => {
                assert!(!fine, "{error}");
                assert_eq!(error.key, "flow[0].transport.ecn");
            }
        }
    }
}

/// A model is start and window in one.
#[test]
fn models() {
    for control in ["\"bbr3\"", "{ model = \"bbr3\", headroom = 0.1, probe_wait = \"3 s\" }"] {
        let text = format!("{DUMBBELL}congestion_control = {control}\n");
        parse(&text).expect(control);
    }
    let key = "flow[0].congestion_control";
    for (other, column) in [("window = \"cubic\"", 49), ("start = \"limited\"", 48)] {
        let line = format!("congestion_control = {{ model = \"bbr3\", {other} }}");
        let part = other.split(' ').next().unwrap_or_default();
        let message = "bbr3 is start and window in one";
        refused_flow(&line, column, &format!("{key}.{part}"), message, "leave out either");
    }
    let line = "congestion_control = { model = \"bbr3\", tick = \"1 ms\" }";
    refused_flow(
        line,
        40,
        &format!("{key}.tick"),
        "unknown parameter",
        "allowed: model, startup_pacing_gain",
    );
    let line = "congestion_control = { model = \"bbr2\" }";
    refused_flow(line, 32, &format!("{key}.model"), "unknown model \"bbr2\"", "did you mean \"bbr3\"?");
}

#[test]
fn parameters_out_of_range() {
    let refused_parameter = |parameter: &str, message: &str, help: &str| {
        let line = format!("congestion_control = {{ start = \"packet-pair\", {parameter} }}");
        let error = parse(&format!("{DUMBBELL}{line}\n")).expect_err(parameter);
        assert_eq!((error.line(), error.message.as_str()), (Some(11), message), "{error}");
        assert!(error.help.contains(help), "{help:?} in {error}");
    };
    refused_parameter("tick = \"2 s\"", "\"2 s\" is out of range", "0.000001 to 1 s");
    refused_parameter("tick = 10", "10 has no unit", "\"100 ms\"");
    refused_parameter("probing = \"both\"", "unknown value \"both\"", "sender-only, both-sides");
    refused_parameter("safe_transmit = 1", "expected true or false, found an integer", "");
}

#[test]
fn names_that_clash_or_do_not_exist() {
    refused(
        &format!("{DUMBBELL}[[flow]]\nname = \"tcp\"\n"),
        (12, 8),
        "flow[1].name",
        "a second flow \"tcp\"",
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
    refused(&again, (6, 25), "network.nodes[3]", "a second node \"a\"", "");
    let link = "[[network.link]]\nfrom = \"a\"\nto = \"r\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n";
    refused(&format!("{GRAPH}{link}"), (23, 1), "network.link[2]", "a second link \"a-r\"", "its own name");
    let to_self = GRAPH.replacen("to = \"r\"", "to = \"a\"", 1);
    refused(&to_self, (10, 6), "network.link[0].to", "a link from a node to itself", "");
    let unknown = GRAPH.replacen("to = \"r\"", "to = \"q\"", 1);
    refused(&unknown, (10, 6), "network.link[0].to", "unknown node \"q\"", "allowed: a, b, r");
}

#[test]
fn a_path_that_changes() {
    let with = |changes: &str| DUMBBELL.replacen("queue = \"5 packets\"", &format!("changes = {changes}"), 1);
    let changes = plan(&with("[{ at = \"3 s\", rate = \"1 Mbps\" }, { at = \"5 s\", delay = \"10 ms\" }]"))
        .links[0]
        .changes
        .clone();
    let shown: Vec<_> = changes
        .iter()
        .map(|change| (change.at.seconds(), change.rate.bits_per_second(), change.delay.seconds()))
        .collect();
    assert_eq!(shown, [(3.0, 1_000_000, 0.1), (5.0, 1_000_000, 0.01)]);
    for (changes, key, message) in [
        ("[{ at = \"3 s\" }]", "network.bottleneck.changes[0]", "changes nothing"),
        (
            "[{ at = \"3 s\", delay = \"1 s\" }, { at = \"2 s\", delay = \"2 s\" }]",
            "network.bottleneck.changes[1].at",
            "not later than the change before",
        ),
        (
            "[{ at = \"3 s\", rate = \"0 bps\" }]",
            "network.bottleneck.changes[0].rate",
            "a rate must be above zero",
        ),
    ] {
        let error = parse(&with(changes)).unwrap_err();
        assert_eq!((error.key.as_str(), error.message.as_str()), (key, message), "{error}");
    }
}

#[test]
fn a_coalescing_host_is_the_end_of_a_route() {
    let coalescing = GRAPH.replacen("delay = \"5 ms\"", "delay = \"5 ms\"\ncoalescing = \"100 us\"", 1);
    // Acknowledgements end at "a", and nothing goes on from there; data passes "r".
    assert_eq!(plan(&coalescing).links[1].coalescing, Duration::from_microseconds(100));
    let ends = format!("{coalescing}[[flow]]\nfrom = \"a\"\nto = \"r\"\n");
    let message = "flow \"flow1\" goes on beyond link \"a-r\", at whose end packets are coalesced";
    refused(&ends, (4, 1), "network", message, "a host with coalescing can be the end of a route");
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

#[test]
fn what_no_memory_can_hold_is_refused_at_once() {
    let message = "needs about 6899 GiB of memory, 3814 GiB of it for 4000000002 links";
    refused_flow("count = 1000000000", 9, "flow[0].count", message, "at most 16 GiB");
    let text = edited("bottleneck =", "hosts = 9223372036854775807\nbottleneck =");
    let error = parse(&text).unwrap_err();
    assert_eq!(error.key, "network.hosts", "{error}");
    let error = parse(&PARKING_LOT.replace("hops = 3", "hops = 9223372036854775807")).unwrap_err();
    assert_eq!(error.key, "network.hops", "{error}");
    let flows = "[[flow]]\ncount = 9223372036854775807\n".repeat(4);
    let error = parse(&format!("{}{flows}", PARKING_LOT.replace("hops = 3", "hops = 9223372036854775807")))
        .unwrap_err();
    assert_eq!(error.key, "flow[4].count", "{error}");
    let error = parse(&format!("{DUMBBELL}[record]\ninterval = \"1 ps\"\n")).unwrap_err();
    assert_eq!((error.line(), error.key.as_str()), (Some(12), "record.interval"), "{error}");
    assert!(error.message.contains("rows of series"), "{error}");
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = "[".repeat(100_000);
    assert!(parse(&format!("schema = {deep}")).is_err());
    let _ = Scenario::parse(DUMBBELL, "s.toml", &[format!("seed={deep}")]).expect_err("not an integer");
    let path = "x.".repeat(10_000);
    let _ = Scenario::parse(DUMBBELL, "s.toml", &[format!("{path}x=1")]).expect_err("too deep");
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems() {
    assert_eq!(plan(&DUMBBELL.replace('\n', "\r\n")).flows.len(), 1);
    let text = edited("\"10 s\"", "10").replace('\n', "\r\n");
    refused(&text, (2, 12), "duration", "10 has no unit", "");
    assert_eq!(plan(&format!("\u{feff}{DUMBBELL}")).flows.len(), 1);
}

// Overrides

#[test]
fn overrides_edit_the_text_and_keep_the_rest() {
    let text = DUMBBELL.replace("duration = \"10 s\"", "duration = \"10 s\" # short");
    let overrides =
        ["duration=20s", "seed=3", "flow[0].transport.mss=512 B", "flow.*.transport.header=\"20 B\""];
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse(&text, "s.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.plan.duration, scenario.plan.seed), (Duration::from_milliseconds(20_000), 3));
    assert_eq!(tcp(&scenario.plan, 0).transport.mss, Bytes(512));
    assert!(scenario.text.contains("duration = \"20s\" # short"), "{}", scenario.text);
    assert!(
        scenario.text.contains("transport = { mss = \"512 B\", header = \"20 B\" }"),
        "{}",
        scenario.text
    );
    assert_eq!(parse(&scenario.text).map(|again| again.text), Ok(scenario.text));
}

#[test]
fn overrides_reach_every_kind_of_table() {
    let plan = plan_with(GRAPH, &["network.link.1.rate=2 Mbps", "network.nodes.0=a", "flow.*.name=x"]);
    assert_eq!(plan.links[2].rate.bits_per_second(), 2_000_000);
    let inline = "schema = 1\nduration = \"1 s\"\nnetwork = { topology = \"dumbbell\", bottleneck = { rate = \"1 Mbps\", delay = \"1 ms\" }, access = { rate = \"1 Mbps\", delay = \"1 ms\" } }\nflow = [{ name = \"a\" }, { name = \"b\" }]\n";
    let plan = plan_with(inline, &["flow.1.transport.mss=99 B", "network.access.delay=7 ms"]);
    assert_eq!(tcp(&plan, 1).transport.mss, Bytes(99));
    assert_eq!(plan.links[2].delay, Duration::from_milliseconds(7));
    assert_eq!(tcp(&plan, 0).transport.mss, Bytes(1448));
}

fn override_error(overrides: &[&str]) -> ScenarioError {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::parse(DUMBBELL, "s.toml", &overrides).expect_err("the override should be refused")
}

#[test]
fn an_error_of_an_override_names_it() {
    let error = override_error(&["seed=2", "flow.0.start=10", "flow.0.stop=9 s"]);
    assert_eq!(
        error.to_string(),
        "--set:1:14: flow[0].start: 10 has no unit\n  |\n1 | flow.0.start=10\n  |              ^^ write a time such as \"10 s\" or \"100 ms\""
    );
    assert_eq!(override_error(&["flow[1].start=1 s"]).key, "flow[1]");
    let error = override_error(&["flow.0.from=source2", "flow.0.count=2", "network.hosts=1"]);
    assert_eq!((error.key.as_str(), error.source_name.as_str()), ("flow[0].from", "--set"), "{error}");
}

#[test]
fn bad_paths() {
    for (text, column, message) in [
        ("seed", 1, "no \"=\""),
        ("=3", 1, "the path has an empty key"),
        ("network..rate=3", 1, "the path has an empty key"),
        ("flow.1.start=1 s", 6, "\"1\" is not an element"),
        ("flow.start=1 s", 6, "\"start\" is not an element"),
        ("flow.0={}", 6, "an element of a list"),
        ("duration.x=1 s", 10, "what is before \"x\" is not a table"),
        ("sede=3", 6, "unknown key"),
        ("flow.0.trnasport.mss=512 B", 22, "unknown key"),
    ] {
        let error = override_error(&[text]);
        assert_eq!((error.column(), error.message.as_str()), (Some(column), message), "{error}");
    }
}

#[test]
fn the_file_alone_must_be_valid() {
    let overrides = ["duration=10 s".to_owned()];
    let error = Scenario::parse(&edited("\"10 s\"", "10"), "s.toml", &overrides).unwrap_err();
    assert_eq!((error.source_name.as_str(), error.line()), ("s.toml", Some(2)), "{error}");
}

// Files

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn files_that_cannot_be_read() {
    let error = Scenario::load(Path::new("no such file.toml"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("no such file.toml: "), "{error}");
    let error = Scenario::load(&folder(), &[]).unwrap_err();
    assert_eq!(error.message, "is a directory", "{error}");
    let path = std::env::temp_dir().join(format!("selfclock-not-utf8-{}.toml", std::process::id()));
    std::fs::write(&path, b"schema = 1\n# \xff\n").expect("a file in the temporary folder");
    let error = Scenario::load(&path, &[]).unwrap_err();
    std::fs::remove_file(&path).expect("the file is there");
    assert_eq!(error.message, "is not UTF-8 text: byte 13 is invalid", "{error}");
}

#[test]
fn every_example_is_valid() {
    let mut examples = 0;
    for entry in std::fs::read_dir(folder().join("examples")).expect("the folder of examples") {
        let path = entry.expect("an entry").path();
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        // A grid names a scenario and varies it.
        if is_toml && !std::fs::read_to_string(&path).expect("a text").contains("\n[grid]") {
            let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(scenario.plan.name.as_str()));
            assert!(scenario.title.is_some());
            examples += 1;
        }
    }
    assert!(examples >= 2);
}

// Schema and reference

/// Calls `visit` with the name and schema of every key.
fn each_key(schema: &Json, visit: &mut impl FnMut(&str, &Json)) {
    match schema {
        Json::Object(object) => {
            for (name, key) in object.get("properties").and_then(Json::as_object).into_iter().flatten() {
                visit(name, key);
            }
            object.values().for_each(|value| each_key(value, visit));
        }
        Json::Array(values) => values.iter().for_each(|value| each_key(value, visit)),
        _ => {}
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema(&Registry::built_in());
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut keys = 0;
    each_key(&schema, &mut |name, key| {
        keys += 1;
        assert!(key["description"].as_str().is_some_and(|about| about.len() > 3), "{name}");
        let kinds = ["type", "enum", "const", "anyOf", "oneOf"];
        assert!(kinds.iter().any(|kind| key.get(kind).is_some()), "{name} has no type");
    });
    assert!(keys > 90, "{keys}");
    assert_eq!(schema["required"], serde_json::json!(["schema", "duration", "network", "flow"]));
    let table = &schema["properties"]["flow"]["items"]["properties"]["congestion_control"]["anyOf"][1];
    let starts = table["properties"]["start"]["enum"].as_array().expect("names of starts");
    assert!(starts.contains(&Json::from("packet-pair")) && !starts.contains(&Json::from("reno")));
    assert_eq!(table["properties"]["tick"]["type"], "string");
}

/// Every key of the schema stands in the reference as code, and no table of the reference names another. Parameters of
/// algorithms, queue disciplines and router mechanisms have tables elsewhere, made from the registry.
#[test]
fn the_reference_lists_every_key() {
    let path = folder().join("docs/scenario-reference.md");
    let reference = std::fs::read_to_string(path).expect("the reference");
    let mut names = std::collections::BTreeSet::new();
    each_key(&schema(&Registry::built_in()), &mut |name, _| {
        names.insert(name.to_owned());
    });
    let named = DisciplinePlan::all().map(|plan| plan.entry().parameters);
    let named = named.chain(MechanismPlan::all().map(|plan| plan.entry().parameters));
    let settings = ENTRIES.iter().map(|entry| entry.parameters).chain(named);
    let settings: std::collections::BTreeSet<&str> =
        settings.flatten().map(|parameter| parameter.name).collect();
    let is_parameter = |name: &str| settings.contains(name);
    for name in names.iter().filter(|name| !is_parameter(name)) {
        assert!(reference.contains(&format!("`{name}`")), "{name} is not in the reference");
    }
    for row in reference.lines().filter_map(|line| line.strip_prefix("| `")) {
        let name = row.split('`').next().unwrap_or_default();
        assert!(names.contains(name), "{name} is in the reference, but is no key");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = parse(&text);
    }

    /// A valid text with a piece cut out or replaced.
    #[test]
    fn no_damage_panics(
        which in 0..3usize, start in 0..500usize, length in 0..40usize, patch in "[ -~\n]{0,12}",
    ) {
        let text = [DUMBBELL, GRAPH, PARKING_LOT][which];
        let start = start.min(text.len());
        let end = (start + length).min(text.len());
        if let Err(error) = parse(&format!("{}{patch}{}", &text[..start], &text[end..])) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_override_panics(text in "[a-z0-9.*=\\[\\] \"{}]{0,30}") {
        let _ = Scenario::parse(DUMBBELL, "s.toml", &[text]);
    }

    #[test]
    fn no_value_panics(key in 0..6usize, value in "[ -~]{0,20}") {
        let keys = ["duration", "seed", "flow.0.count", "network.hosts", "flow.0.transport", "record.interval"];
        let _ = Scenario::parse(DUMBBELL, "s.toml", &[format!("{}={value}", keys[key])]);
    }
}

/// RFC 3390, section 1, and RFC 6928, section 2.
#[test]
fn initial_windows_by_name_follow_the_mss() {
    for (name, mss, segments) in [
        ("rfc3390", 536, 4.0),
        ("rfc3390", 1460, 3.0),
        ("rfc3390", 9000, 2.0),
        ("rfc6928", 1460, 10.0),
        ("rfc6928", 9000, 2.0),
    ] {
        let plan = flow_with(&format!("transport = {{ mss = \"{mss} B\", initial_window = \"{name}\" }}"));
        assert_eq!(tcp(&plan, 0).transport.initial_window, segments, "{name} {mss}");
    }
    refused_flow(
        "transport = { initial_window = \"rfc9999\" }",
        32,
        "flow[0].transport.initial_window",
        "unknown initial window \"rfc9999\"",
        "\"rfc3390\" or \"rfc6928\"",
    );
}

/// Without a list of links the router's part of Quick-Start stands before what leaves a router, and nothing else.
#[test]
fn mechanisms_of_the_ways_to_begin_are_read() {
    let plan = plan(&format!("{DUMBBELL}[[router]]\nmechanism = \"quick-start\"\n"));
    let names: Vec<&str> = plan.routers[0].links.iter().map(|&link| plan.links[link].name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "reverse", "left-source1", "right-sink1"]);
    let MechanismPlan::QuickStart(quick_start) = &plan.routers[0].mechanism else { panic!("quick-start") };
    assert_eq!((quick_start.share, quick_start.interval), (0.9, Duration::from_milliseconds(150)));
    let limit =
        "[[router]]\nmechanism = \"forwarding-limit\"\nlinks = [\"reverse\"]\npackets_per_second = 5000\n";
    let plan = self::plan(&format!("{DUMBBELL}{limit}"));
    let MechanismPlan::ForwardingLimit(limit) = &plan.routers[0].mechanism else {
        panic!("forwarding-limit")
    };
    assert_eq!((limit.packets_per_second, limit.limit.0), (5000.0, u64::MAX));
    refused(
        &format!(
            "{DUMBBELL}[[router]]\nmechanism = \"ack-thinning\"\nlinks = [\"reverse\"]\ninterval = \"0 s\"\n"
        ),
        (14, 12),
        "router[0].interval",
        "must be above zero",
        "",
    );
}

/// What further overrides make of a scenario is what they make of its text.
#[test]
fn a_scenario_with_further_overrides_is_the_text_with_them() {
    let overrides = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
    let first = Scenario::parse(DUMBBELL, "a.toml", &overrides(&["seed=7"])).expect("a scenario");
    let second = first.with(&overrides(&["duration=3 s"])).expect("a scenario");
    let both =
        Scenario::parse(DUMBBELL, "a.toml", &overrides(&["seed=7", "duration=3 s"])).expect("a scenario");
    assert_eq!((second.plan.seed, second.plan.duration), (7, Duration::from_milliseconds(3000)));
    assert_eq!(format!("{:?}", second.plan), format!("{:?}", both.plan));
    assert_eq!(first.plan.duration, Duration::from_milliseconds(10_000), "the first is as it was");
    let error = first.with(&overrides(&["durations=3 s"])).expect_err("no such key");
    assert!(error.to_string().contains("durations"), "{error}");
}

/// An override of anything else once brought the seed of the text back.
#[test]
fn a_seed_stays_until_an_override_sets_another() {
    let scenario = Scenario::parse(DUMBBELL, "a.toml", &[]).expect("a scenario").with_seed(u64::MAX);
    let with = |change: &str| scenario.with(&[change.to_owned()]).expect("a scenario").plan;
    assert_eq!(with("duration=3 s").seed, u64::MAX);
    assert_eq!(with("seed=1").seed, 1);
    let unrecorded = scenario.unrecorded();
    let with = |change: &str| unrecorded.with(&[change.to_owned()]).expect("a scenario").plan.record;
    assert_eq!(with("duration=3 s"), RecordPlan::NOTHING);
    assert!(with("record.packets=true").packets);
}

#[test]
fn flows_name_their_algorithm() {
    let udp = format!("{DUMBBELL}[[flow]]\nprotocol = \"udp\"\ntraffic = {{ rate = \"1 Mbps\" }}\n");
    let plan = Scenario::parse(&udp, "a.toml", &[]).expect("a scenario").plan;
    assert_eq!(plan.flows[0].algorithm(), Some("reno"));
    assert_eq!(plan.flows[1].algorithm(), None);
    assert!(!plan.has_custom_algorithms());
}

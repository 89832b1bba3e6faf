//! Plans built in Rust equal those of equivalent scenario files.

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration};
use selfclock_simulator::plan::{
    DisciplinePlan, Ecn, LossPlan, MarkAbove, PlanBuilder, PlanError, QueueSize, ReceiveWindow, RecordPlan,
    SizeDistribution, Transport, bdp, dumbbell, gbps, graph, kbps, mbps, ms, packets, parking_lot, s, tcp,
    udp, us, wire,
};
use selfclock_simulator::scenario::Scenario;

/// A dumbbell of 100 Mbit/s and 40 ms.
const NETWORK: &str = r#"
[network]
topology = "dumbbell"
bottleneck = { rate = "100 Mbps", delay = "12 ms", QUEUE }
access = { rate = "10 Gbps", delay = "4 ms" }
"#;

/// Asserts that every field of both is equal.
fn same(built: PlanBuilder, head: &str, network: &str, rest: &str) {
    let text = format!("schema = 1\n{head}\n{network}\n{rest}");
    let name = built.clone().plan().expect("a plan").name;
    let read = Scenario::parse(&text, &format!("{name}.toml"), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format!("{:#?}", built.plan().expect("a plan")), format!("{:#?}", read.plan), "{text}");
}

#[test]
fn a_dumbbell_is_that_of_a_file() {
    let network = NETWORK.replace(", QUEUE", "");
    let one = "[[flow]]\ncongestion_control = \"cubic\"\n";
    same(dumbbell(mbps(100), ms(40)).flow("cubic"), "duration = \"30 s\"", &network, one);
    let two = dumbbell(mbps(100), ms(40))
        .flow(tcp("cubic+hystart++").start(ms(5)).start_jitter(us(100)).stop(s(9)).dscp(46))
        .flow(tcp("bbr3").named("bulk").size(Bytes(1_000_000)))
        .duration(s(20))
        .seed(7)
        .named("dumbbell");
    let flows = r#"
[[flow]]
congestion_control = { window = "cubic", start = "hystart++" }
start = "5 ms"
start_jitter = "100 us"
stop = "9 s"
dscp = 46
[[flow]]
name = "bulk"
congestion_control = "bbr3"
traffic = { size = "1 MB" }
"#;
    same(two, "duration = \"20 s\"\nseed = 7", &network, flows);
}

#[test]
fn queues_and_losses_are_those_of_a_file() {
    let marking = DisciplinePlan::marking(MarkAbove::Packets(5));
    let built = dumbbell(mbps(100), ms(40))
        .queue(packets(50))
        .discipline(marking)
        .loss(LossPlan::Bernoulli(0.01))
        .transport(Transport { ecn: Ecn::Classic, ..Transport::modern() })
        .flow(tcp("reno").rate(kbps(500)))
        .flow(udp(mbps(3)))
        .record(RecordPlan { interval: Some(ms(50)), packets: true, ..RecordPlan::NOTHING })
        .duration(s(2));
    let network = NETWORK.replace(
        "QUEUE",
        "queue = { limit = \"50 packets\", mark_above = \"5 packets\" }, loss = { probability = 0.01 }",
    );
    let rest = r#"
[transport]
ecn = "classic"
[record]
interval = "50 ms"
packets = true
[[flow]]
traffic = { rate = "500 kbps" }
[[flow]]
protocol = "udp"
traffic = { rate = "3 Mbps" }
"#;
    same(built, "duration = \"2 s\"", &network, rest);
}

#[test]
fn the_classic_profile_is_that_of_a_file() {
    let built = dumbbell(kbps(500), ms(220)).access(mbps(10), ms(5)).queue(packets(5)).classic();
    let network = r#"
[network]
topology = "dumbbell"
bottleneck = { rate = "500 kbps", delay = "100 ms", queue = "5 packets" }
access = { rate = "10 Mbps", delay = "5 ms" }
"#;
    let flows = "[[flow]]\ncongestion_control = \"packet-pair\"\n[[flow]]\n";
    let built = built.flow("packet-pair").flow("reno").duration(s(10)).unrecorded();
    let head = "duration = \"10 s\"\nprofile = \"classic\"\nrecord = { interval = \"off\" }";
    same(built, head, network, flows);
}

#[test]
fn short_connections_and_another_way_back_are_those_of_a_file() {
    let built = dumbbell(mbps(100), ms(40))
        .reverse(wire(mbps(1), ms(12)).queue(QueueSize::Unlimited))
        .flow(tcp("reno").connections(ms(100), SizeDistribution::Exponential { mean: Bytes(30_000) }));
    let network = format!(
        "{}reverse = {{ rate = \"1 Mbps\", delay = \"12 ms\", queue = \"unlimited\" }}\n",
        NETWORK.replace(", QUEUE", "")
    );
    let flow = "[[flow]]\ntraffic = { interval = \"100 ms\", size = { distribution = \"exponential\", mean = \"30 kB\" } }\n";
    same(built, "duration = \"30 s\"", &network, flow);
}

#[test]
fn a_parking_lot_is_that_of_a_file() {
    let built = parking_lot(2, mbps(10), ms(9)).access(gbps(1), ms(2)).queue(bdp(2.0));
    let built = built.flow("cubic").flow("cubic").flow("reno");
    let network = r#"
[network]
topology = "parking-lot"
hops = 2
hop = { rate = "10 Mbps", delay = "9 ms", queue = "2 bdp" }
access = { rate = "1 Gbps", delay = "2 ms" }
"#;
    let flows = "[[flow]]\ncount = 2\nname = \"flow\"\ncongestion_control = \"cubic\"\n[[flow]]\n";
    let flows = flows.replace("count = 2\nname = \"flow\"\n", "");
    let flows = format!("[[flow]]\ncongestion_control = \"cubic\"\n{flows}");
    same(built, "duration = \"30 s\"", network, &flows);
}

#[test]
fn a_graph_is_that_of_a_file() {
    let built = graph(&["a", "r", "b"])
        .link("a", "r", wire(mbps(10), ms(5)).queue(packets(9)))
        .link("r", "b", wire(mbps(1), ms(20)))
        .flow(tcp("adaptive").between("a", "b").group("both"))
        .flow(tcp("adaptive").between("a", "b").group("both"))
        .flow(udp(kbps(1)).between("b", "a"));
    let network = r#"
[network]
topology = "graph"
nodes = ["a", "r", "b"]
[[network.link]]
from = "a"
to = "r"
rate = "10 Mbps"
delay = "5 ms"
queue = "9 packets"
[[network.link]]
from = "r"
to = "b"
rate = "1 Mbps"
delay = "20 ms"
"#;
    let member = "[[flow]]\ncongestion_control = \"adaptive\"\nfrom = \"a\"\nto = \"b\"\ngroup = \"both\"\n";
    let udp = "[[flow]]\nprotocol = \"udp\"\nfrom = \"b\"\nto = \"a\"\ntraffic = { rate = \"1 kbps\" }\n";
    same(built, "duration = \"30 s\"", network, &format!("{member}{member}{udp}"));
}

/// The messages with which files are refused.
#[test]
fn what_cannot_be_is_refused() {
    let path = || dumbbell(mbps(1), ms(20));
    let small = Transport { receive_window: ReceiveWindow::Fixed(Bytes(10)), ..Transport::modern() };
    let marks = Transport { ecn: Ecn::Accurate, ..Transport::modern() };
    let line = || graph(&["a", "b"]).link("a", "b", wire(mbps(1), ms(1)));
    for (built, said) in [
        (path().flow("renoo"), "no algorithm is named 'renoo'; did you mean 'reno'?"),
        (path().flow(tcp("reno").stop(Duration::ZERO)), "stops before it starts"),
        (path().flow(tcp("reno").between("source1", "sing1")), "unknown node \"sing1\""),
        (path().flow(tcp("reno").between("left", "left")), "a flow from a node to itself"),
        (path().flow("reno").flow(tcp("reno").named("flow1")), "duplicate flow \"flow1\""),
        (path().flow(tcp("reno").transport(small)), "the receive window is smaller than a segment"),
        (path().flow("bbr3").transport(marks), "bbr3 does not respond to these marks"),
        (path().flow(tcp("reno").group("g")), "only flows of \"adaptive\" form groups"),
        (
            path().flow(tcp("adaptive").group("g")).flow(tcp("adaptive").group("g")),
            "the flows of a group have one path",
        ),
        (path().queue(packets(0)).flow("reno"), "a queue must hold something"),
        (
            path().access(mbps(1), ms(6)).flow("reno"),
            "the access links take 0.024 s of a round trip of 0.02 s",
        ),
        (dumbbell(kbps(0), ms(1)).flow("reno"), "a rate must be above zero"),
        (path().duration(s(0)), "a run takes some time, and at most 106 days"),
        (path().duration(s(u64::MAX)), "a run takes some time, and at most 106 days"),
        (path().every(Duration::ZERO), "an interval must be above zero"),
        (parking_lot(0, mbps(1), ms(9)), "a parking lot needs a hop"),
        (
            parking_lot(1, mbps(1), ms(9)).reverse(wire(mbps(1), ms(9))),
            "a way back in another network than a dumbbell",
        ),
        (path().link("left", "right", wire(mbps(1), ms(1))), "a link in another network than a graph"),
        (line().flow("reno"), "missing key \"from\""),
        (line().link("b", "a", wire(mbps(1), ms(1))), "duplicate link \"b-a\""),
        (graph(&["a", "a"]), "duplicate node \"a\""),
        (graph(&["a", "b"]).flow(tcp("reno").between("a", "b")), "no route from \"a\" to \"b\""),
    ] {
        assert_eq!(built.plan().expect_err(said).to_string(), said);
    }
    let near = Selection::from_label("renoo").expect_err("unknown");
    assert_eq!(path().flow("renoo").plan().err(), Some(PlanError::Label(near)));
}

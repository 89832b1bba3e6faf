//! Links: queues, imperfections, changes.

use super::{DUMBBELL, GRAPH, parse, plan, plan_with, refused, tcp};
use crate::plan::{Ecn, LossPlan, MarkAbove, Protocol, QueueLimit, Transport};
use selfclock_congestion::units::{Bytes, Duration};

#[test]
fn a_queue_of_one_bdp_holds_the_largest_base_round_trip() {
    // 1 Mbit/s × 2 × 25 ms = 6250 B; a link without flows: 2 × its own delay.
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
    // ACKs end at "a", and nothing continues from there; data passes "r".
    assert_eq!(plan(&coalescing).links[1].coalescing, Duration::from_microseconds(100));
    let ends = format!("{coalescing}[[flow]]\nfrom = \"a\"\nto = \"r\"\n");
    let message = "flow \"flow1\" goes on beyond link \"a-r\", at whose end packets are coalesced";
    refused(&ends, (4, 1), "network", message, "a host with coalescing can be the end of a route");
}

//! The starts, in whole runs, with the router mechanisms they depend on.

mod common;

use common::run;
use selfclock_congestion::PeerOption;
use selfclock_congestion::option::{QuickStartOption, SwiftStartOption};
use selfclock_simulator::Outcome;
use selfclock_simulator::record::packets::PacketKind;
use selfclock_simulator::record::packets::{PacketEvent, PacketRecord};
use selfclock_simulator::scenario::Scenario;

/// 10 MB over the path of the Swift Start paper: 49.5 Mbit/s and 274 ms; segments of 1500 bytes on
/// the wire.
const PATH: &str = r#"
schema = 1
duration = "60 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "49.5 Mbps", delay = "136 ms", queue = "unlimited" }
access = { rate = "1 Gbps", delay = "0.5 ms" }
[[flow]]
congestion_control = { start = "START" }
traffic = { size = "10 MB" }
transport = { mss = "1460 B", timestamps = false, initial_window = "4 segments", receive_window = "unlimited", delayed_ack = { quick = false } }
[record]
interval = "off"
packets = true
"#;

fn outcome(start: &str, overrides: &[&str], more: &str) -> Outcome {
    let text = format!("{}{more}", PATH.replace("START", start));
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let scenario = Scenario::parse(&text, "start.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan)
}

fn data_sent(outcome: &Outcome) -> impl Iterator<Item = PacketRecord> {
    let is_data =
        |record: &PacketRecord| record.event == PacketEvent::Send && record.kind == PacketKind::Data;
    outcome.packets.iter().filter(is_data)
}

/// Data segments sent in each round trip, 274 ms and the packet time on each link, from the first
/// one on.
fn per_round_trip(outcome: &Outcome, rounds: usize) -> Vec<usize> {
    let first = data_sent(outcome).next().expect("data").time;
    let mut counts = vec![0; rounds];
    for record in data_sent(outcome) {
        let round = (record.time.since(first).seconds() / 0.2742) as usize;
        if let Some(count) = counts.get_mut(round) {
            *count += 1;
        }
    }
    counts
}

/// "The Swift Start sends only 4 segments each RTT" (section 4.2): no estimate under delayed
/// acknowledgements.
#[test]
fn swift_start_freezes_at_four_segments_under_delayed_acknowledgements() {
    let frozen =
        outcome("swift-start", &["flow.0.congestion_control.no_estimate=freeze", "duration=5 s"], "");
    assert_eq!(per_round_trip(&frozen, 16), [4; 16]);
    let fallback = outcome("swift-start", &["duration=3 s"], "");
    let plain = outcome("slow-start", &["duration=3 s"], "");
    assert_eq!(per_round_trip(&fallback, 8), per_round_trip(&plain, 8));
}

/// Capacity 274.7 ms × 49.5 Mbit/s = 1133 segments; the original sends an eighth of it in the
/// second round trip.
#[test]
fn swift_start_sends_a_part_of_the_capacity_where_every_segment_is_acknowledged() {
    let outcome = outcome("swift-start", &["flow.0.transport.delayed_ack=off", "duration=3 s"], "");
    let sent = per_round_trip(&outcome, 3);
    assert_eq!(sent[0], 4);
    // The window is in use until its first segment is acknowledged, a segment or two beside the
    // four before it.
    assert!((139..=146).contains(&sent[1]), "{sent:?}");
}

/// The intervals that the receiver reports, in microseconds.
fn reports(outcome: &Outcome) -> Vec<u32> {
    let report = |record: PacketRecord| match (record.event, record.option) {
        (PacketEvent::Send, Some(PeerOption::SwiftStart(SwiftStartOption::Reply { microseconds, .. }))) => {
            Some(microseconds)
        }
        _ => None,
    };
    outcome.packets.iter().filter_map(report).collect()
}

const THINNING: &str = r#"
[[router]]
mechanism = "ack-thinning"
links = ["reverse"]
interval = "5 ms"
"#;

/// The second of the pair has 1508 bytes, 243.7 µs at 49.5 Mbit/s: reported to the microsecond
/// whatever happens to the ACKs, and the link's rate is reached in the third round trip at the
/// latest.
#[test]
fn the_modified_swift_start_knows_the_link_whatever_happens_to_acknowledgements() {
    for (overrides, more) in [
        (["flow.0.transport.delayed_ack=off", "duration=3 s"], ""),
        (["flow.0.transport.delayed_ack.every=2", "duration=3 s"], ""),
        (["flow.0.transport.delayed_ack.every=2", "duration=3 s"], THINNING),
    ] {
        let outcome = outcome("modified-swift-start", &overrides, more);
        let told = reports(&outcome);
        assert!(!told.is_empty() && told.iter().all(|&interval| interval == 244), "{told:?}");
        let sent = per_round_trip(&outcome, 4);
        // 1127 segments a round trip at the rate of the link.
        assert!(sent[2] > 1100, "{overrides:?} {more}: {sent:?}");
        assert_eq!(outcome.summary.flows[0].retransmitted_segments, 0);
    }
}

/// Without a partner it is slow start: within 5 %, the bytes of the option.
#[test]
fn a_receiver_without_the_option_makes_it_slow_start() {
    let time = |start| {
        let outcome =
            outcome(start, &["flow.0.transport.peer_knows_option=false", "record.packets=false"], "");
        outcome.summary.flows[0].completion_s.expect("complete")
    };
    let (modified, plain) = (time("modified-swift-start"), time("slow-start"));
    assert!((modified / plain - 1.0).abs() < 0.05, "{modified} against {plain}");
}

/// A receiver that reports a tenth of the interval: with the bound no flight leaves faster than
/// twice the rate of the link, and without it at ten times.
#[test]
fn a_lying_receiver_gains_a_factor_of_two() {
    let fastest = |bound: &str| {
        let overrides = [
            "flow.0.transport.misbehaviour.interval_factor=0.1",
            &format!("flow.0.congestion_control.jump_bound={bound}"),
            "flow.0.congestion_control.largest_jump=1e9",
            "duration=1 s",
        ];
        let outcome = outcome("modified-swift-start", &overrides, "");
        // 100 segments in a row, from the second round trip on.
        let times: Vec<f64> = data_sent(&outcome).map(|record| record.time.seconds()).skip(10).collect();
        times.windows(101).map(|span| 100.0 * 12_000.0 / (span[100] - span[0])).fold(0.0, f64::max)
    };
    let link = 49.5e6;
    assert!((fastest("ack-clock") / link - 2.0).abs() < 0.1, "{}", fastest("ack-clock") / link);
    assert!((fastest("none") / link - 10.0).abs() < 0.5, "{}", fastest("none") / link);
}

const QUICK_START: &str = "\n[[router]]\nmechanism = \"quick-start\"\n";

/// 0.9 of 49.5 Mbit/s is 44.55: code 10, 40.96 Mbit/s, is approved, and 40.96e6 × 0.274 s / 12000
/// bit = 936 segments.
#[test]
fn quick_start_begins_at_what_the_routers_approve() {
    let approved = outcome("quick-start", &["duration=2 s"], QUICK_START);
    let sent = per_round_trip(&approved, 2);
    assert!((930..=940).contains(&sent[0]), "{sent:?}");
    let reported = approved.packets.iter().find_map(|record| match record.option {
        Some(PeerOption::QuickStart(QuickStartOption::Report { rate, .. })) => Some(rate),
        _ => None,
    });
    assert_eq!(reported, Some(10));
    let times: Vec<f64> = data_sent(&approved).map(|record| record.time.seconds()).take(900).collect();
    let rate = 899.0 * 12_000.0 / (times[899] - times[0]);
    assert!((rate / 40.96e6 - 1.0).abs() < 0.001, "paced at {rate}");
}

/// The link has become five times slower before the request: of 0.9 x 9.9 Mbit/s code 7, 5.12
/// Mbit/s, is approved. Routers used to keep a link's initial rate, and approved 40.96 Mbit/s here.
#[test]
fn quick_start_knows_the_rate_that_a_link_has() {
    let changes = "network.bottleneck.changes=[{ at = \"1 s\", rate = \"9.9 Mbps\" }]";
    let outcome = outcome("quick-start", &["duration=4 s", "flow.0.start=2 s", changes], QUICK_START);
    let approved = outcome.packets.iter().find_map(|record| match record.option {
        Some(PeerOption::QuickStart(QuickStartOption::Report { rate, .. })) => Some(rate),
        _ => None,
    });
    assert_eq!(approved, Some(7));
}

/// A router without Quick-Start decrements only the TTL of the IP header.
#[test]
fn quick_start_is_slow_start_where_a_router_does_not_understand() {
    let plain = per_round_trip(&outcome("slow-start", &["duration=2 s"], ""), 5);
    let some = format!("{QUICK_START}links = [\"bottleneck\"]\n");
    let refused = format!("{QUICK_START}share = 0.001\n");
    for routers in ["", &some, &refused] {
        assert_eq!(
            per_round_trip(&outcome("quick-start", &["duration=2 s"], routers), 5),
            plain,
            "{routers}"
        );
    }
}

/// Two simultaneous requests together get what one would have got.
#[test]
fn quick_start_does_not_approve_twice() {
    let overrides = ["flow.0.count=2", "duration=1 s"];
    let outcome = outcome("quick-start", &overrides, QUICK_START);
    let mut rates: Vec<u8> = outcome
        .packets
        .iter()
        .filter_map(|record| match record.option {
            Some(PeerOption::QuickStart(QuickStartOption::Response { rate, .. }))
                if record.event == PacketEvent::Send =>
            {
                Some(rate)
            }
            _ => None,
        })
        .collect();
    rates.sort_unstable();
    // 44.55 less 40.96 Mbit/s leaves 3.59: code 6, 2.56 Mbit/s.
    assert_eq!(rates, [6, 10]);
}

/// Of ACKs that arrive in pairs half are forwarded, and no single one is lost.
#[test]
fn thinning_leaves_one_of_two_acknowledgements() {
    let overrides = ["flow.0.transport.delayed_ack=off", "network.bottleneck.rate=10 Mbps"];
    let thinned = outcome("slow-start", &overrides, THINNING);
    let count = |event, kind| thinned.packets.iter().filter(|r| r.event == event && r.kind == kind).count();
    let (sent, dropped) =
        (count(PacketEvent::Send, PacketKind::Ack), count(PacketEvent::Drop, PacketKind::Ack));
    // 1.2 ms apart, within 5 ms: half, less what is alone at the end of flights.
    assert!((0.47..=0.5).contains(&(dropped as f64 / sent as f64)), "{dropped} of {sent}");
    let flow = &thinned.summary.flows[0];
    assert!(
        flow.completion_s.is_some() && flow.retransmitted_segments == 0 && flow.timeouts == 0,
        "{flow:?}"
    );
}

/// Short connections pass through all the mechanisms, and each completes if it has the time.
#[test]
fn short_connections_pass_the_mechanisms() {
    let overrides =
        ["flow.0.traffic={ load = \"5 Mbps\", size = \"50 kB\" }", "duration=20 s", "record.packets=false"];
    let mechanisms = format!("{THINNING}{QUICK_START}");
    for start in ["quick-start", "modified-swift-start"] {
        let flow = outcome(start, &overrides, &mechanisms).summary.flows[0].clone();
        let connections = flow.connections.as_ref().expect("short connections");
        // 250 in 20 s, of which those of the last second are in progress.
        assert!(connections.completed > 200, "{connections:?}");
        assert_eq!((flow.timeouts, flow.retransmitted_segments), (0, 0), "{flow:?}");
    }
}

/// Without a handshake the first data carries the request, and its ACK the response.
#[test]
fn quick_start_can_ask_with_the_first_data() {
    let overrides = ["flow.0.transport.handshake=false", "duration=2 s"];
    let outcome = outcome("quick-start", &overrides, QUICK_START);
    let sent = per_round_trip(&outcome, 2);
    // 936 segments of the approved rate, including those of the first four still in flight.
    assert_eq!(sent[0], 4);
    assert!((925..=940).contains(&sent[1]), "{sent:?}");
}

/// 5000 packets per second, data and ACKs together: 2/3 of them are data with one ACK for two, 40
/// Mbit/s of 1500-byte packets.
#[test]
fn a_router_forwards_so_many_packets() {
    let router = "\n[[router]]\nmechanism = \"forwarding-limit\"\nlinks = [\"bottleneck\", \"left-source1\"]\n\
                  packets_per_second = 5000\nlimit = \"2000 packets\"\n";
    let overrides = ["flow.0.traffic=bulk", "duration=60 s", "record.packets=false"];
    let outcome = outcome("slow-start", &overrides, router);
    let packets = outcome.summary.links[0].packets as f64 / 60.0;
    // Slow start overshoots by a window of 5,000 segments, and its recovery takes until 13 s, in
    // which half of the packets are data: at most a ninth is missing.
    assert!(
        packets < 5000.0 * 2.0 / 3.0 * 1.01 && packets > 8.0 / 9.0 * 5000.0 * 2.0 / 3.0,
        "{packets} data packets/s"
    );
}

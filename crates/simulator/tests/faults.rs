//! Every Nth loss, outages and reordering: mechanisms that make a network fail in prescribed ways.

mod common;

use common::run;
use selfclock_congestion::units::Duration;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::PacketKind;
use selfclock_simulator::record::packets::{PacketEvent, PacketRecord};
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};

/// A UDP stream of 1000 packets per second for 10 s, across a link at a tenth of its capacity.
const STREAM: &str = r#"
schema = 1
duration = "11 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "100 Mbps", delay = "10 ms", queue = "unlimited" }
access = { rate = "1 Gbps", delay = "1 ms" }
[[flow]]
protocol = "udp"
stop = "10 s"
traffic = { rate = "10 Mbps", packet = "1250 B" }
[record]
interval = "off"
packets = true
[[router]]
links = ["bottleneck"]
"#;

fn outcome(mechanism: &str) -> Outcome {
    let text = format!("{STREAM}{mechanism}\n");
    let scenario = Scenario::parse(&text, "faults.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan)
}

fn events(outcome: &Outcome, event: PacketEvent) -> Vec<PacketRecord> {
    let of_kind = |record: &PacketRecord| record.event == event && record.kind == PacketKind::Datagram;
    outcome.packets.iter().filter(of_kind).collect()
}

fn dropped(mechanism: &str) -> Vec<f64> {
    let outcome = outcome(&format!("mechanism = \"loss\"\nkinds = [\"datagram\"]\n{mechanism}"));
    let (sent, arrived) =
        (events(&outcome, PacketEvent::Send).len(), events(&outcome, PacketEvent::Deliver).len());
    let drops = events(&outcome, PacketEvent::Drop);
    assert_eq!(sent, 10_000);
    assert_eq!(sent, arrived + drops.len(), "a packet arrives or is dropped");
    assert_eq!(
        drops.len() as u64,
        outcome.summary.links[0].drops,
        "the link that it would have entered counts it"
    );
    drops.iter().map(|record| record.time.seconds()).collect()
}

/// Packet n reaches the router at n ms, plus 1 ms of delay and 10 us of transmission.
#[test]
fn one_in_so_many_is_lost() {
    let times = dropped("every = 100");
    assert_eq!(times.len(), 100);
    for (number, time) in times.iter().enumerate() {
        let expected = 0.001 * (100 * number + 99) as f64 + 0.00101;
        assert!((time - expected).abs() < 1e-9, "{number}: {time}, not {expected}");
    }
    assert_eq!(dropped("every = 1").len(), 10_000);
}

#[test]
fn one_is_lost_and_then_none_for_a_time() {
    let times = dropped("spacing = \"100 ms\"");
    assert_eq!(times.len(), 100);
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0] - 0.1).abs() < 1e-9), "{times:?}");
}

/// Everything that reaches the router from the first second to the third, and nothing else: 2000
/// packets.
#[test]
fn an_outage_begins_and_ends() {
    let times = dropped("probability = 1\nfrom = \"1 s\"\nuntil = \"3 s\"");
    assert_eq!(times.len(), 2000);
    assert!(times.iter().all(|time| (1.0..3.0).contains(time)));
}

/// Of 10,000 packets 1 % are held: 100, with a standard deviation of 10. A packet held for 10.5 ms
/// arrives after the ten sent behind it, unless these are held, too, and nothing is lost.
#[test]
fn what_is_held_is_overtaken() {
    let outcome = outcome("mechanism = \"reordering\"\nprobability = 0.01\ndelay = \"10.5 ms\"");
    let arrived: Vec<u64> =
        events(&outcome, PacketEvent::Deliver).iter().map(|record| record.packet).collect();
    assert_eq!(arrived.len(), 10_000);
    let late: Vec<usize> = (1..arrived.len()).filter(|&at| arrived[at] < arrived[at - 1]).collect();
    assert!((60..=140).contains(&late.len()), "{}", late.len());
    let mut behind = 0;
    for &at in &late {
        behind += arrived[..at].iter().filter(|&&packet| packet > arrived[at]).count();
    }
    // The last ten have fewer behind them.
    let mean = behind as f64 / late.len() as f64;
    assert!((9.5..=10.5).contains(&mean), "{mean}");
    let delay: Vec<f64> = events(&outcome, PacketEvent::Deliver)
        .iter()
        .zip(0..)
        .filter(|(_, at)| late.contains(at))
        .map(|(record, _)| {
            let sent = events(&outcome, PacketEvent::Send)[record.packet as usize - arrived[0] as usize];
            record.time.since(sent.time).seconds()
        })
        .collect();
    // 12 ms of wire, 10.5 ms held, 120 us of transmission.
    assert!(delay.iter().all(|delay| (0.0226..0.0229).contains(delay)), "{delay:?}");
}

#[test]
fn what_is_lost_must_be_said_once() {
    for keys in ["", "every = 2\nprobability = 0.1", "spacing = \"1 s\"\nevery = 2"] {
        let text = format!("{STREAM}mechanism = \"loss\"\nkinds = [\"datagram\"]\n{keys}\n");
        let error = Scenario::parse(&text, "faults.toml", &[]).expect_err("refused");
        assert_eq!(error.key, "router[0]");
        assert!(error.help.contains("probability, every, spacing or packets"), "{error}");
    }
    let text = format!(
        "{STREAM}mechanism = \"loss\"\nkinds = [\"datagram\"]\nevery = 2\nfrom = \"2 s\"\nuntil = \"1 s\"\n"
    );
    let error = Scenario::parse(&text, "faults.toml", &[]).expect_err("refused");
    assert_eq!(
        (error.key.as_str(), error.help.as_str()),
        ("router[0].until", "until must be later than from")
    );
}

/// Packets held by a mechanism at the end of a run count as in flight.
#[test]
fn what_a_mechanism_holds_is_in_flight() {
    let tcp = r#"
[[flow]]
[[router]]
links = ["reverse"]
mechanism = "ack-thinning"
interval = "20 ms"
"#;
    for (mechanism, held) in [
        ("mechanism = \"reordering\"\nprobability = 0.5\ndelay = \"15 ms\"\n", 5),
        ("mechanism = \"forwarding-limit\"\npackets_per_second = 900\n", 50),
        (&format!("mechanism = \"loss\"\nkinds = [\"datagram\"]\nevery = 2\n{tcp}"), 1),
    ] {
        let text = format!("{STREAM}{mechanism}");
        let plan = Scenario::parse(&text, "faults.toml", &[]).unwrap_or_else(|error| panic!("{error}")).plan;
        let mut most = 0;
        for milliseconds in (1000..1100).step_by(10) {
            let plan = Plan { duration: Duration::from_milliseconds(milliseconds), ..plan.clone() };
            let mut simulation = Simulation::new(&plan);
            while !simulation.advance(1_000_000).expect("nothing stops the run").is_finished() {}
            let (sent, in_flight) = simulation.packets_sent_and_in_flight();
            let outcome = simulation.finish();
            let ended = [PacketEvent::Deliver, PacketEvent::Drop];
            let ended = outcome.packets.iter().filter(|record| ended.contains(&record.event)).count() as u64;
            assert_eq!(sent, ended + in_flight, "{mechanism} at {milliseconds} ms");
            // 12 packets of the stream are in flight in any case.
            most = most.max(in_flight.saturating_sub(12));
        }
        assert!(most >= held, "{mechanism} has held {most}");
    }
}

/// TCP across 100 Mbit/s and 24 ms, with losses, and additional lines in the flow and after it.
fn tcp(loss: f64, flow: &str, more: &str) -> (Outcome, u64, usize) {
    let text = format!(
        r#"
schema = 1
duration = "10 s"
[network]
topology = "dumbbell"
hosts = 1
bottleneck = {{ rate = "100 Mbps", delay = "10 ms", queue = "60 packets", loss = {{ probability = {loss} }} }}
access = {{ rate = "1 Gbps", delay = "1 ms" }}
[record]
packets = true
[[flow]]
{flow}
{more}
"#
    );
    let plan = Scenario::parse(&text, "faults.toml", &[]).unwrap_or_else(|error| panic!("{error}")).plan;
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(1_000_000).expect("nothing stops the run").is_finished() {}
    let (_, in_flight) = simulation.packets_sent_and_in_flight();
    let extras = simulation.extras_in_use();
    (simulation.finish(), in_flight, extras)
}

/// A router that writes 20 kB into every ACK limits the sender to that: 13 segments of 1448 bytes
/// per round trip.
#[test]
fn a_window_that_a_router_writes_is_kept() {
    let tampering =
        "[[router]]\nmechanism = \"tampering\"\nlinks = [\"reverse\"]\nreceive_window = \"20 kB\"\n";
    let (outcome, in_flight, extras) = tcp(0.0, "", tampering);
    assert!(extras as u64 <= in_flight, "a place for every packet that has one, and none left over");
    let most = 13.0 * 1448.0 * 8.0 / 0.024;
    let goodput = outcome.summary.flows[0].goodput_bps;
    // The thirteenth waits for the first of the next round trip to be acknowledged: 12 of 13 at
    // least.
    assert!(goodput < most && goodput > 0.85 * most, "{goodput} of {most}");
}

/// Data that a receiver discards after SACKing it (RFC 2018, section 8) is retransmitted.
#[test]
fn what_a_receiver_takes_back_is_sent_again() {
    for recovery in ["sack", "rack"] {
        let flow = |every: &str| {
            let transport = format!("recovery = \"{recovery}\", misbehaviour = {{ renege_every = {every} }}");
            tcp(0.002, &format!("transport = {{ {transport} }}"), "").0.summary.flows.remove(0)
        };
        let (honest, reneging) = (flow("\"off\""), flow("20"));
        assert!(reneging.retransmitted_segments > honest.retransmitted_segments, "{recovery}: {reneging:?}");
        assert!(
            reneging.delivered_bytes > 0 && reneging.timeouts > honest.timeouts,
            "{recovery}: {reneging:?}"
        );
    }
}

/// The members of a group share losses and windows: they do not behave like two independent flows.
#[test]
fn members_of_a_group_know_of_each_other() {
    let adaptive = "congestion_control = \"adaptive\"\ncount = 2\n";
    let delivered = |flow: &str| {
        let flows = tcp(0.001, flow, "").0.summary.flows;
        [flows[0].delivered_bytes, flows[1].delivered_bytes]
    };
    let (alone, together) = (delivered(adaptive), delivered(&format!("{adaptive}group = \"pair\"")));
    assert!(together.iter().all(|&bytes| bytes > 1_000_000), "{together:?}");
    assert_ne!(alone, together);
}

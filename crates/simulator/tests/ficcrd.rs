//! FICCRD in whole runs: the paper's network, its lost figure 2 reconstructed.

use selfclock_congestion::units::Duration;
use selfclock_simulator::plan::{MechanismPlan, Plan, Protocol};
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::record::packets::PacketKind;
use selfclock_simulator::router::ficcrd::{ControlUnit, Feedback, Parameters};
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};

const BOTTLENECK: usize = 0;

/// Ten Reno flows across 10 Mbit/s, 20 ms and 200 packets; flow 0 has 120 ms of round trip, the
/// others 48 ms.
fn plan(seconds: u32) -> Plan {
    let mut links = String::new();
    let mut flows = String::new();
    let mut nodes = String::from("\"10\", \"11\", \"12\", \"13\"");
    let mut link = |from: &str, to: &str, delay: u32, queue: &str| {
        links += &format!(
            "[[network.link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbps\"\ndelay = \"{delay} ms\"\nqueue = \"{queue}\"\n"
        );
    };
    link("11", "12", 20, "200 packets");
    link("10", "11", 10, "unlimited");
    link("12", "13", 10, "unlimited");
    for number in 0..10 {
        nodes += &format!(", \"s{number}\", \"d{number}\"");
        let (ends, delay) = if number == 0 { (("10", "13"), 10) } else { (("11", "12"), 2) };
        link(&format!("s{number}"), ends.0, delay, "unlimited");
        link(ends.1, &format!("d{number}"), delay, "unlimited");
        flows += &format!("[[flow]]\nfrom = \"s{number}\"\nto = \"d{number}\"\n");
    }
    let text = format!(
        "schema = 1\nprofile = \"classic\"\nduration = \"{seconds} s\"\n\
         [transport]\nmss = \"4096 B\"\nreceive_window = \"32 segments\"\ninitial_ssthresh = \"32 segments\"\n\
         timer = {{ granularity = \"300 ms\", minimum = \"200 ms\" }}\n\
         [record]\ninterval = \"100 ms\"\npackets = true\n\
         [network]\ntopology = \"graph\"\nnodes = [{nodes}]\n{links}\n{flows}\n\
         [[router]]\nmechanism = \"ficcrd\"\nnodes = [\"10\", \"11\", \"12\", \"13\"]\n"
    );
    Scenario::parse(&text, "ficcrd", &[]).expect("a scenario").plan
}

fn settings(plan: &mut Plan) -> &mut Parameters {
    match &mut plan.routers[0].mechanism {
        MechanismPlan::Ficcrd(ficcrd) => ficcrd,
        _ => panic!("the mechanism of the plan"),
    }
}

fn run(plan: &Plan) -> Outcome {
    let mut simulation = Simulation::new(plan);
    while !simulation.advance(100_000).expect("nothing stops the run").is_finished() {}
    let (sent, in_flight) = simulation.packets_sent_and_in_flight();
    let consumed = simulation.packets_consumed();
    let outcome = simulation.finish();
    let ended = [PacketEvent::Deliver, PacketEvent::Drop, PacketEvent::Lose];
    let count = |kinds: &[PacketEvent]| {
        outcome.packets.iter().filter(|record| kinds.contains(&record.event)).count() as u64
    };
    assert_eq!(sent, count(&ended) + in_flight);
    assert!(consumed > 0);
    outcome
}

/// Jain's index of acknowledged data in the second half, and the samples of the bottleneck's queue
/// in it.
fn second_half(outcome: &Outcome, flows: usize) -> (f64, Vec<u64>, Vec<f64>) {
    let half = outcome.summary.simulated_s / 2.0;
    let series = outcome.flow_series.columns();
    let mut rates = vec![(u64::MAX, 0_u64); flows];
    for index in 0..series.time_s.len() {
        if series.time_s[index] >= half {
            let (first, last) = &mut rates[series.flow[index] as usize];
            *first = (*first).min(series.acknowledged_bytes[index]);
            *last = series.acknowledged_bytes[index];
        }
    }
    let rates: Vec<f64> = rates.iter().map(|&(first, last)| (last - first) as f64 * 8.0 / half).collect();
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
    let links = outcome.link_series.columns();
    let queue = (0..links.time_s.len())
        .filter(|&index| links.link[index] as usize == BOTTLENECK && links.time_s[index] >= half)
        .map(|index| links.queue_packets[index]);
    (sum * sum / (rates.len() as f64 * squares), queue.collect(), rates)
}

/// The claims of the paper: no drops, the queue at its target, the same share for a flow with 2.5
/// times the RTT. Each flow ends with a third of the window of 32 segments.
#[test]
fn window_adaptation_holds_the_queue_at_its_target() {
    let outcome = run(&plan(100));
    let (jain, queue, _) = second_half(&outcome, 10);
    assert_eq!(outcome.summary.links[BOTTLENECK].drops, 0);
    assert!(outcome.summary.links[BOTTLENECK].utilization > 0.99);
    assert!(jain > 0.99, "{jain}");
    let near = queue.iter().filter(|packets| (70..=130).contains(*packets)).count();
    assert!(near as f64 > 0.95 * queue.len() as f64, "{near} of {}", queue.len());
    // At least one in 100 ms for each of ten flows, less than 100 ms of start.
    let discoveries = outcome
        .packets
        .iter()
        .filter(|record| record.kind == PacketKind::ResourceDiscovery && record.event == PacketEvent::Send);
    assert!((9_900..=10_100).contains(&discoveries.count()));
}

/// Advertised windows are in units of the scale (131072 B need a shift of 2), with a right edge
/// that never moves left, and the same window on a duplicate.
#[test]
fn the_right_edge_never_moves_left() {
    let outcome = run(&plan(20));
    let mut edges = [(0_u64, u64::MAX); 10];
    let mut lowered = 0;
    for record in &outcome.packets {
        if record.kind == PacketKind::Ack && record.event == PacketEvent::Deliver {
            let (edge, acknowledged) = &mut edges[record.flow as usize];
            let now = record.acknowledgement + record.receive_window;
            assert!(now >= *edge, "{record:?} after {edge}");
            assert_eq!(record.receive_window % 4, 0);
            if record.acknowledgement == *acknowledged {
                assert_eq!(now, *edge);
            }
            (*edge, *acknowledged) = (now, record.acknowledgement);
            lowered += usize::from(record.receive_window < 32 * 4096);
        }
    }
    assert!(lowered > 1000, "{lowered}");
}

/// With a maximum hold of a second every ACK waits for its credit; with the 100 ms that are safe
/// for any timer the bucket cannot hold the excess of 32 segments in flight.
#[test]
fn an_ack_bucket_must_hold_long_enough() {
    let drops = |hold: u64| {
        let mut plan = plan(100);
        let ficcrd = settings(&mut plan);
        ficcrd.feedback = Feedback::AckBucket;
        ficcrd.longest_hold = Duration::from_milliseconds(hold);
        let outcome = run(&plan);
        let (jain, _, _) = second_half(&outcome, 10);
        (outcome.summary.links[BOTTLENECK].drops, jain)
    };
    let (long, fair) = drops(1000);
    assert!(long == 0 && fair > 0.99, "{long} {fair}");
    assert!(drops(100).0 > 0);
}

/// Two classes of two and eight flows share the link in halves, whatever their numbers of flows.
#[test]
fn classes_share_by_class() {
    let mut plan = plan(100);
    settings(&mut plan).unit = ControlUnit::Class;
    // One pair of edges for all.
    let mut flows: Vec<_> = plan.flows.drain(1..).collect();
    for flow in &mut flows[..2] {
        flow.dscp = 46;
    }
    plan.flows = flows.into();
    let (_, _, rates) = second_half(&run(&plan), 9);
    let (first, second) = (rates[..2].iter().sum::<f64>(), rates[2..].iter().sum::<f64>());
    assert!((first / second - 1.0).abs() < 0.1, "{first} {second}");
}

/// Routers cannot modify encrypted fields.
#[test]
fn an_encrypted_transport_is_left_alone() {
    let mut plan = plan(20);
    for flow in &mut plan.flows {
        let Protocol::Tcp(tcp) = &mut flow.protocol else { continue };
        tcp.transport.encrypted = true;
    }
    let outcome = run(&plan);
    assert!(outcome.summary.links[BOTTLENECK].drops > 0);
    assert!(
        outcome
            .packets
            .iter()
            .all(|record| record.kind != PacketKind::Ack || record.receive_window == 32 * 4096)
    );
}

/// A table of three flows controls three, and leaves the others alone.
#[test]
fn a_full_table_controls_no_more_flows() {
    let mut plan = plan(20);
    settings(&mut plan).flows = 3;
    let outcome = run(&plan);
    let mut touched = [false; 10];
    for record in &outcome.packets {
        let lowered = record.kind == PacketKind::Ack && record.receive_window < 32 * 4096;
        touched[record.flow as usize] |= lowered;
    }
    // Flow 0 has its own ingress and table.
    assert_eq!(touched.iter().filter(|&&touched| touched).count(), 4);
}

//! FICCRD in whole runs: the paper's network, as SPECS reads its lost figure 2.

use selfclock_congestion::units::Duration;
use selfclock_simulator::plan::{Feedback, FiccrdPlan, MechanismPlan, Plan};
use selfclock_simulator::record::packets::{PacketEvent, PacketKind};
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};

const BOTTLENECK: usize = 0;

/// Ten Reno flows across 10 Mbit/s, 20 ms and 200 packets; flow 0 has 120 ms of round trip, the others 48 ms.
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
    link("10", "11", 2, "unlimited");
    link("12", "13", 2, "unlimited");
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

fn settings(plan: &mut Plan) -> &mut FiccrdPlan {
    match &mut plan.routers[0].mechanism {
        MechanismPlan::Ficcrd(ficcrd) => ficcrd,
        _ => panic!("the mechanism of the plan"),
    }
}

fn run(plan: &Plan) -> Outcome {
    let mut simulation = Simulation::new(plan);
    while !simulation.advance(100_000) {}
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

/// Jain's index of what was acknowledged in the second half, and the samples of the bottleneck's queue in it.
fn second_half(outcome: &Outcome, flows: usize) -> (f64, Vec<u64>, Vec<f64>) {
    let half = outcome.summary.simulated_s / 2.0;
    let series = &outcome.flow_series;
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
    let links = &outcome.link_series;
    let queue = (0..links.time_s.len())
        .filter(|&index| links.link[index] as usize == BOTTLENECK && links.time_s[index] >= half)
        .map(|index| links.queue_packets[index]);
    (sum * sum / (rates.len() as f64 * squares), queue.collect(), rates)
}

#[test]
fn look() {
    for feedback in [Feedback::Window, Feedback::AckBucket] {
        let mut plan = plan(100);
        settings(&mut plan).feedback = feedback;
        let outcome = run(&plan);
        let (jain, queue, rates) = second_half(&outcome, 10);
        let rd = outcome.packets.iter().filter(|r| r.kind == PacketKind::ResourceDiscovery && r.event == PacketEvent::Send).count();
        eprintln!("{feedback:?} {jain} drops {} rd {rd} util {} rates {rates:?}\n {:?}", outcome.summary.links[0].drops, outcome.summary.links[0].utilization, queue.iter().step_by(10).collect::<Vec<_>>());
    }
    let _ = Duration::ZERO;
}

//! Same plan and seed, same bytes: run twice, in slices, beside others in threads.

mod common;

use common::run;
use selfclock_congestion::units::{Bytes, Time};
use selfclock_simulator::plan::{
    Arrivals, LossPlan, Plan, Protocol, RecordPlan, Recovery, Transport, UdpPlan, dumbbell, kbps, mbps, ms,
    packets, s, tcp,
};
use selfclock_simulator::{Outcome, Simulation};

/// Contains all randomness: loss, jitter, Poisson arrivals, start times.
fn plan(seed: u64) -> Plan {
    let flow = |label, recovery| {
        tcp(label).transport(Transport { recovery, ..Transport::modern() }).start_jitter(ms(300))
    };
    let mut plan = common::plan(
        dumbbell(mbps(5), ms(32))
            .access(mbps(20), ms(3))
            .queue(packets(12))
            .flow(flow("packet-pair", Recovery::Tahoe))
            .flow(flow("reno", Recovery::Reno))
            .flow(flow("packet-pair", Recovery::NewReno))
            .flow(flow("reno", Recovery::Sack))
            .flow(UdpPlan::steady(Bytes(900), kbps(700), Arrivals::Poisson))
            .duration(s(4))
            .seed(seed)
            .record(RecordPlan { interval: Some(ms(10)), packets: true, ..RecordPlan::NOTHING }),
    );
    plan.links[0].loss = LossPlan::Bernoulli(0.01);
    plan.links[1].jitter = ms(2);
    plan
}

/// Every bit of an outcome; floating-point numbers are printed so that different bits give
/// different text.
fn bytes_of(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

#[test]
fn two_runs_give_the_same_bytes_and_seeds_matter() {
    let first = bytes_of(&run(&plan(1)));
    assert_eq!(first, bytes_of(&run(&plan(1))));
    assert_ne!(first, bytes_of(&run(&plan(2))));
}

#[test]
fn it_does_not_matter_in_what_slices_a_run_is_advanced() {
    let whole = bytes_of(&run(&plan(3)));
    let mut simulation = Simulation::new(&plan(3));
    let mut slice = 1;
    while !simulation.advance(slice).expect("nothing stops the run").is_finished() {
        slice = slice % 1000 + 7;
    }
    assert_eq!(whole, bytes_of(&simulation.finish()));
}

#[test]
fn one_thread_or_many() {
    let alone: Vec<String> = (0..8).map(|seed| bytes_of(&run(&plan(seed)))).collect();
    let together: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || bytes_of(&run(&plan(seed))))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(alone == together);
}

#[test]
fn a_copy_of_a_run_under_way_goes_on_the_same() {
    let mut simulation = Simulation::new(&plan(5));
    simulation.advance(5000).expect("nothing stops the run");
    let mut copy = simulation.clone();
    while !simulation.advance(1000).expect("nothing stops the run").is_finished() {}
    while !copy.advance(1000).expect("nothing stops the run").is_finished() {}
    assert_eq!(bytes_of(&simulation.finish()), bytes_of(&copy.finish()));
}

/// A flow's random numbers are independent of other flows.
#[test]
fn another_flow_does_not_change_when_a_flow_starts() {
    let start_of_first = |flows: usize| {
        let mut plan = plan(9);
        plan.flows.truncate(flows);
        let packets = run(&plan).packets;
        packets.iter().find(|record| record.flow == 0).map(|record| record.time)
    };
    assert_eq!(start_of_first(1), start_of_first(5));
}

/// Silent flows that share links give every link several sources, so that nothing is run ahead of
/// the clock: each packet then stops at each link. Its fate must be the same, to the picosecond.
#[test]
fn running_ahead_of_the_clock_does_not_show() {
    let with_everything_ahead = |idle: bool| {
        let mut plan = plan(11);
        plan.flows.truncate(1);
        if let Protocol::Tcp(tcp) = &mut plan.flows[0].protocol {
            tcp.transport.recovery = Recovery::Sack;
        }
        let links = plan.links.len();
        if idle {
            // A silent flow through each link, there and back.
            for link in 0..links {
                let mut flow = plan.flows[0].clone();
                (flow.forward, flow.reverse) = (vec![link], vec![link]);
                flow.start = Time::NEVER;
                flow.start_jitter = ms(0);
                plan.flows.push(flow);
            }
        }
        let outcome = run(&plan);
        let events = outcome.summary.events;
        let mut packets: Vec<_> = outcome.packets.iter().collect();
        // Packets are numbered when sent, which is not always in the order of their times.
        for record in &mut packets {
            record.packet = 0;
        }
        packets.sort_by_key(|record| {
            (record.time, record.link, record.event as u8, record.sequence, record.acknowledgement)
        });
        (events, outcome.summary.flows[0].clone(), packets)
    };
    let (few, flow, packets) = with_everything_ahead(false);
    let (many, flow_by_stops, packets_by_stops) = with_everything_ahead(true);
    assert!(many > 3 * few, "the test must compare two ways: {few} and {many} events");
    assert!(flow.fast_retransmits > 0 && flow.timeouts == 0, "with recoveries");
    assert_eq!(format!("{flow:?}"), format!("{flow_by_stops:?}"));
    assert!(packets == packets_by_stops);
}

/// With more than 500 flows, the memory of the next packets is prefetched: that changes results no
/// more than the slices in which the run advances.
#[test]
fn many_flows_are_asked_for_ahead() {
    let mut plan = plan(3);
    let flow = plan.flows[0].clone();
    plan.flows = (0..600)
        .map(|number| {
            let mut flow = flow.clone();
            (flow.start, flow.start_jitter) = (Time::ZERO + ms(number % 40), ms(0));
            flow
        })
        .collect::<Vec<_>>()
        .into();
    plan.duration = ms(400);
    let whole = run(&plan);
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(77).expect("the record does not overflow").is_finished() {}
    assert!(whole.packets.len() > 5000, "{}", whole.packets.len());
    assert_eq!(bytes_of(&whole), bytes_of(&simulation.finish()));
}

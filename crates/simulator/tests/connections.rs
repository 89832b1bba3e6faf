//! Short connections that come and go.

mod common;

use common::{plan, run};
use selfclock_congestion::units::{Bytes, Duration};
use selfclock_simulator::Simulation;
use selfclock_simulator::plan::{
    DelayedAck, Flow, PlanBuilder, RecordPlan, SizeDistribution, Transport, dumbbell, gbps, mbps, ms,
    packets, s, tcp,
};
use selfclock_simulator::record::connections::ConnectionRecord;

fn connections(interval: Duration, size: SizeDistribution) -> Flow {
    tcp("cubic").connections(interval, size)
}

/// 48 ms there and back, 100 Mbit/s.
fn network(duration: Duration) -> PlanBuilder {
    dumbbell(mbps(100), ms(48)).access(gbps(1), ms(1)).queue(packets(400)).duration(duration).unrecorded()
}

/// 50,000 connections in 500 s: the delivered load is the offered load, arrivals are a Poisson
/// process, sizes have their mean, and nothing is left behind.
#[test]
fn fifty_thousand_connections_deliver_what_they_offer() {
    let (mean, interval) = (30_000, ms(10));
    let size = SizeDistribution::Exponential { mean: Bytes(mean) };
    let plan = plan(network(s(500)).flow(connections(interval, size)));
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(1_000_000).expect("nothing stops the run").is_finished() {}
    let (sent, in_flight) = simulation.packets_sent_and_in_flight();
    assert!(sent > 1_000_000 && in_flight < 1_000, "{sent} sent, {in_flight} in flight");
    let outcome = simulation.finish();
    let flow = &outcome.summary.flows[0];
    let summary = flow.connections.as_ref().expect("short connections");

    // Four standard errors: √50,000 connections, and 30,000 B / √50,000 of the mean size.
    let started = summary.started as f64;
    assert!((started - 50_000.0).abs() < 4.0 * 224.0, "{started}");
    let mean_size = summary.offered_bytes as f64 / started;
    assert!((mean_size / mean as f64 - 1.0).abs() < 4.0 / 224.0, "{mean_size}");

    // At a quarter of the link's rate all but the last few complete.
    assert!(summary.started - summary.completed < 60, "{} left", summary.started - summary.completed);
    let delivered = flow.delivered_bytes as f64 / summary.offered_bytes as f64;
    assert!((delivered - 1.0).abs() < 1e-3, "{delivered}");
    assert!((flow.goodput_bps / summary.offered_bps - delivered).abs() < 1e-9);

    // Counts in 1000 bins of 0.5 s: variance / mean is 1 for a Poisson process, standard error
    // √(2/1000) = 0.045.
    let mut bins = [0.0_f64; 1000];
    for record in &outcome.connections {
        bins[(record.start.seconds() / 0.5) as usize] += 1.0;
    }
    let mean_count = bins.iter().sum::<f64>() / 1000.0;
    let variance = bins.iter().map(|count| (count - mean_count) * (count - mean_count)).sum::<f64>() / 999.0;
    assert!((variance / mean_count - 1.0).abs() < 0.18, "{}", variance / mean_count);
}

/// One segment takes a round trip for the handshake and one for itself. The two hosts and the
/// bottleneck transmit a SYN of 52 B, its SYN-ACK, 1448 B of data with 52 B of headers and an ACK
/// of 52 B; the far ends are alike.
#[test]
fn a_connection_of_one_segment_takes_two_round_trips() {
    let transport = Transport {
        delayed_ack: DelayedAck { every: 1, ..Transport::modern().delayed_ack },
        ..Transport::modern()
    };
    // At one in 200 ms a connection hardly ever meets another.
    let flow = connections(ms(200), SizeDistribution::Constant(Bytes(1448))).transport(transport);
    let outcome = run(&plan(network(s(20)).flow(flow)));
    let transmission = |size: f64| size * 8.0 * (2.0 / 1e9 + 1.0 / 1e8);
    let expected = 2.0 * 0.048 + 3.0 * transmission(52.0) + transmission(1500.0);
    let times: Vec<f64> =
        outcome.connections.iter().filter_map(|record| record.completion).map(Duration::seconds).collect();
    assert!(times.len() > 50, "{}", times.len());
    let exact = times.iter().filter(|&&time| (time - expected).abs() < 1e-9).count();
    assert!(exact * 100 > times.len() * 95, "{exact} of {}: {expected} {times:?}", times.len());
    assert!(times.iter().all(|&time| time > expected - 1e-9));
}

fn starts(records: &[ConnectionRecord], flow: u32) -> Vec<(f64, u64)> {
    records
        .iter()
        .filter(|record| record.flow == flow)
        .map(|record| (record.start.seconds(), record.size))
        .collect()
}

/// In overload, connections meet losses and timeouts; the rest of the network changes neither a
/// connection's start nor its size. Every packet is accounted for, including those after a
/// connection's end.
#[test]
fn arrivals_do_not_depend_on_the_network_and_packets_are_conserved() {
    let size = SizeDistribution::Pareto { minimum: Bytes(2_000), maximum: Bytes(5_000_000), shape: 1.2 };
    let alone = network(s(10)).record(RecordPlan { interval: None, packets: true, ..RecordPlan::NOTHING });
    let alone = alone.flow(connections(ms(1), size));
    let crowded = alone.clone().flow(connections(ms(2), size)).flow("reno");
    let [alone, crowded] = [alone, crowded].map(plan);
    let (alone, outcome) = (run(&alone), run(&crowded));
    assert_eq!(starts(&alone.connections, 0), starts(&outcome.connections, 0));

    let flow = &outcome.summary.flows[0];
    assert!(flow.timeouts > 0 && flow.fast_retransmits > 0, "the test must see losses");
    assert!(outcome.summary.flows[2].goodput_bps > 0.0);
    let mut simulation = Simulation::new(&crowded);
    while !simulation.advance(1_000_000).expect("nothing stops the run").is_finished() {}
    let (sent, in_flight) = simulation.packets_sent_and_in_flight();
    let outcome = simulation.finish();
    let drops: u64 = outcome.summary.links.iter().map(|link| link.drops).sum();
    let delivered = outcome
        .packets
        .iter()
        .filter(|packet| packet.event == selfclock_simulator::record::packets::PacketEvent::Deliver)
        .count() as u64;
    assert_eq!(sent, in_flight + drops + delivered);
    // Every record names the flow that its connection belongs to.
    let counted = |flow: u32| outcome.packets.iter().any(|p| p.flow == flow && p.connection >= 3);
    assert!(counted(0) && counted(1) && !counted(2));
    assert!(outcome.packets.iter().all(|packet| packet.flow < 3));
}

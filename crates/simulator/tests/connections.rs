//! Short connections that come and go.

mod common;

use common::{Dumbbell, add_flow, bytes, ms, run, tcp};
use selfclock_congestion::units::Duration;
use selfclock_simulator::Simulation;
use selfclock_simulator::plan::{
    ConnectionsPlan, DelayedAck, Plan, Protocol, QueueLimit, SizeDistribution, Transport,
};
use selfclock_simulator::record::connections::ConnectionRecord;

fn connections(interval: Duration, size: SizeDistribution, transport: Transport) -> Protocol {
    let Protocol::Tcp(tcp) = tcp("slow-start", "cubic", transport) else { unreachable!("a TCP flow") };
    Protocol::Connections(Box::new(ConnectionsPlan { tcp: (*tcp).clone(), interval, size }))
}

/// 48 ms there and back, 100 Mbit/s.
fn plan(milliseconds: u64, pairs: usize) -> Plan {
    Dumbbell::new(pairs, (1_000_000_000, ms(1)), (100_000_000, ms(22)), QueueLimit::Packets(400))
        .plan(ms(milliseconds))
}

/// 50,000 connections in 500 s: what is delivered is what is offered, arrivals are a Poisson process, sizes have their
/// mean, and nothing is left behind.
#[test]
fn fifty_thousand_connections_deliver_what_they_offer() {
    let mut plan = plan(500_000, 1);
    let (mean, interval) = (30_000, ms(10));
    let size = SizeDistribution::Exponential { mean: bytes(mean) };
    add_flow(&mut plan, 0, connections(interval, size, Transport::modern()));
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

    // At a quarter of the link's rate all but the last few are complete.
    assert!(summary.started - summary.completed < 60, "{} left", summary.started - summary.completed);
    let delivered = flow.delivered_bytes as f64 / summary.offered_bytes as f64;
    assert!((delivered - 1.0).abs() < 1e-3, "{delivered}");
    assert!((flow.goodput_bps / summary.offered_bps - delivered).abs() < 1e-9);

    // Counts in 1000 bins of 0.5 s: variance / mean is 1 for a Poisson process, standard error √(2/1000) = 0.045.
    let mut bins = [0.0_f64; 1000];
    for record in &outcome.connections {
        bins[(record.start.seconds() / 0.5) as usize] += 1.0;
    }
    let mean_count = bins.iter().sum::<f64>() / 1000.0;
    let variance = bins.iter().map(|count| (count - mean_count) * (count - mean_count)).sum::<f64>() / 999.0;
    assert!((variance / mean_count - 1.0).abs() < 0.18, "{}", variance / mean_count);
}

/// One segment takes a round trip for the handshake and one for itself. The two hosts and the bottleneck transmit a SYN of
/// 52 B, its answer, 1448 B of data with 52 B of headers and an acknowledgement of 52 B; the second ends are alike.
#[test]
fn a_connection_of_one_segment_takes_two_round_trips() {
    let mut plan = plan(20_000, 1);
    let transport = Transport {
        delayed_ack: DelayedAck { every: 1, ..Transport::modern().delayed_ack },
        ..Transport::modern()
    };
    // At one in 200 ms a connection hardly ever meets another.
    add_flow(&mut plan, 0, connections(ms(200), SizeDistribution::Constant(bytes(1448)), transport));
    let outcome = run(&plan);
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

/// In a crowd too large for the link connections meet losses and timeouts; what else is in the network changes neither when
/// a connection starts nor its size. Every packet is accounted for, also those that come after a connection's end.
#[test]
fn arrivals_do_not_depend_on_the_network_and_packets_are_conserved() {
    let size = SizeDistribution::Pareto { minimum: bytes(2_000), maximum: bytes(5_000_000), shape: 1.2 };
    let mut alone = plan(10_000, 2);
    alone.record.packets = true;
    add_flow(&mut alone, 0, connections(ms(1), size, Transport::modern()));
    let mut crowded = alone.clone();
    add_flow(&mut crowded, 1, connections(ms(2), size, Transport::modern()));
    add_flow(&mut crowded, 1, tcp("slow-start", "reno", Transport::modern()));
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

//! RACK-TLP against SACK on lossy paths.

mod common;

use common::run;
use selfclock_congestion::units::Bytes;
use selfclock_simulator::plan::{
    LossPlan, Plan, Protocol, Recovery, Source, Transport, dumbbell, mbps, ms, packets, s, tcp,
};
use selfclock_simulator::record::summary::FlowSummary;

fn plan(recovery: Recovery, loss: f64, seed: u64) -> Plan {
    let network = dumbbell(mbps(10), ms(44)).access(mbps(100), ms(1)).queue(packets(60));
    let transport = Transport { recovery, ..Transport::modern() };
    let built = network.flow(tcp("reno").transport(transport)).duration(s(100)).seed(seed).unrecorded();
    let mut plan = common::plan(built);
    plan.links[0].loss = if loss > 0.0 { LossPlan::Bernoulli(loss) } else { LossPlan::None };
    plan
}

fn flow(recovery: Recovery, loss: f64, seed: u64) -> FlowSummary {
    run(&plan(recovery, loss, seed)).summary.flows.remove(0)
}

/// With rare losses both do the same; when retransmissions are lost, too, RACK needs fewer
/// timeouts.
#[test]
fn fewer_timeouts_where_much_is_lost() {
    for loss in [0.02, 0.05, 0.1] {
        let (mut sack, mut rack) = ((0, 0.0), (0, 0.0));
        for seed in 1..=3 {
            for (recovery, sum) in [(Recovery::Sack, &mut sack), (Recovery::Rack, &mut rack)] {
                let flow = flow(recovery, loss, seed);
                sum.0 += flow.timeouts;
                sum.1 += flow.goodput_bps / 3.0;
            }
        }
        println!(
            "loss {loss}: timeouts {} against {}, goodput {:.0} against {:.0}",
            rack.0, sack.0, rack.1, sack.1
        );
        assert!(2 * rack.0 < sack.0, "loss {loss}: timeouts {} against {}", rack.0, sack.0);
        assert!(rack.1 > sack.1, "loss {loss}: {} against {}", rack.1, sack.1);
    }
}

/// A path without reordering: everything retransmitted was lost, except for probes.
#[test]
fn nothing_is_sent_again_in_vain() {
    for loss in [0.0, 0.001, 0.02] {
        let outcome = run(&plan(Recovery::Rack, loss, 1));
        let flow = &outcome.summary.flows[0];
        let drops: u64 = outcome.summary.links.iter().map(|link| link.drops).sum();
        println!(
            "loss {loss}: {drops} drops, {} retransmitted, {} timeouts",
            flow.retransmitted_segments, flow.timeouts
        );
        assert!(
            flow.retransmitted_segments <= drops + drops / 50 + 2,
            "{loss}: {} of {drops}",
            flow.retransmitted_segments
        );
        if loss < 0.01 {
            assert_eq!(flow.timeouts, 0);
            let sack = super_sack(loss);
            assert!(flow.goodput_bps > 0.97 * sack, "{loss}: {} against {sack}", flow.goodput_bps);
        }
    }
}

fn super_sack(loss: f64) -> f64 {
    flow(Recovery::Sack, loss, 1).goodput_bps
}

/// Every transfer completes, and short ones rarely wait for the retransmission timer.
#[test]
fn short_transfers_complete() {
    let mut timeouts = [0, 0];
    for seed in 1..=40 {
        for (which, recovery) in [Recovery::Sack, Recovery::Rack].into_iter().enumerate() {
            let mut plan = plan(recovery, 0.1, seed);
            if let Protocol::Tcp(tcp) = &mut plan.flows[0].protocol {
                tcp.source = Source::Size(Bytes(20 * 1448));
            }
            let flow = run(&plan).summary.flows.remove(0);
            assert!(flow.completion_s.is_some(), "{recovery:?}, seed {seed}");
            timeouts[which] += flow.timeouts;
        }
    }
    println!("timeouts of 40 short transfers: SACK {}, RACK {}", timeouts[0], timeouts[1]);
    assert!(3 * timeouts[1] < 2 * timeouts[0], "{timeouts:?}");
}

/// Spreading the transmissions of a recovery costs nothing where the queue holds a BDP, and avoids
/// timeouts under heavy loss.
#[test]
fn proportional_rate_reduction_is_no_slower() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        for loss in [0.0, 0.001, 0.02] {
            let [without, with] = [false, true].map(|prr| {
                let mut sums = (0.0, 0);
                for seed in 1..=3 {
                    let mut plan = plan(recovery, loss, seed);
                    if let Protocol::Tcp(tcp) = &mut plan.flows[0].protocol {
                        tcp.transport.prr = prr;
                    }
                    let flow = run(&plan).summary.flows.remove(0);
                    sums = (sums.0 + flow.goodput_bps / 3.0, sums.1 + flow.timeouts);
                }
                sums
            });
            println!("{recovery:?}, loss {loss}: {with:?} with, {without:?} without");
            assert!(with.0 > 0.97 * without.0, "{recovery:?}, loss {loss}: {with:?} against {without:?}");
            assert!(
                with.1 <= without.1 + without.1 / 5 + 2,
                "{recovery:?}, loss {loss}: {with:?} against {without:?}"
            );
        }
    }
}

//! Undo of the response to a spurious loss: the Eifel algorithm (RFC 3522 and RFC 4015) in whole
//! simulations.

use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};

/// One flow for 20 s across 20 Mbit/s and 40 ms, with a router before the bottleneck.
fn outcome(control: &str, recovery: &str, undo: bool, router: &str) -> Outcome {
    let text = format!(
        r#"
        schema = 1
        duration = "20 s"
        [network]
        topology = "dumbbell"
        bottleneck = {{ rate = "20 Mbps", delay = "20 ms", queue = "2 bdp" }}
        access = {{ rate = "1 Gbps", delay = "1 ms" }}
        [[router]]
        links = ["bottleneck"]
        {router}
        [transport]
        recovery = "{recovery}"
        timestamps = true
        dsack = false
        frto = false
        undo = {undo}
        [[flow]]
        congestion_control = "{control}"
        "#
    );
    let scenario = Scenario::parse(&text, "undo", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut simulation = Simulation::new(&scenario.plan);
    while !simulation.advance(u64::MAX).expect("nothing stops the run").is_finished() {}
    simulation.finish()
}

const REORDERING: &str = r#"
        mechanism = "reordering"
        probability = 0.002
        delay = "15 ms""#;

/// One packet in 500 is 15 ms late, more than a quarter of the RTT. CUBIC takes each for a loss;
/// with undo its window is restored.
#[test]
fn reordering_costs_cubic_little_once_undone() {
    for recovery in ["newreno", "sack", "rack"] {
        let [off, on] =
            [false, true].map(|undo| outcome("cubic", recovery, undo, REORDERING).summary.flows.remove(0));
        println!("{recovery}: {:.2} against {:.2} Mbit/s", on.goodput_bps / 1e6, off.goodput_bps / 1e6);
        assert!(on.goodput_bps > 1.8 * off.goodput_bps, "{recovery}");
        assert!(on.goodput_bps > 16e6, "{recovery}: {}", on.goodput_bps);
    }
}

/// Three packets in a hundred are late, more than the 2 % of losses that BBR tolerates
/// (draft-ietf-ccwg-bbr-06, sections 2.8 and 5.5.11).
#[test]
fn reordering_costs_bbr_little_once_undone() {
    let router = REORDERING.replace("0.002", "0.03");
    for recovery in ["sack", "rack"] {
        let [off, on] =
            [false, true].map(|undo| outcome("bbr3", recovery, undo, &router).summary.flows.remove(0));
        println!("{recovery}: {:.2} against {:.2} Mbit/s", on.goodput_bps / 1e6, off.goodput_bps / 1e6);
        assert!(on.goodput_bps > 1.8 * off.goodput_bps, "{recovery}");
        assert!(on.goodput_bps > 17e6, "{recovery}: {}", on.goodput_bps);
    }
}

/// With losses but no reordering, there is nothing to undo. With RACK a timeout in a recovery does
/// not reduce the window a second time, so only goodputs can be compared.
#[test]
fn losses_are_not_undone() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "rack"] {
        for router in [
            "mechanism = \"loss\"\nkinds = [\"data\"]\nprobability = 0.005",
            "mechanism = \"loss\"\nkinds = [\"data\"]\nprobability = 0.05",
        ] {
            let [off, on] = [false, true].map(|undo| outcome("cubic", recovery, undo, router).summary);
            if recovery == "rack" {
                let [off, on] = [off, on].map(|summary| summary.flows[0].goodput_bps);
                println!("{on} and {off}");
                assert!(on > 0.9 * off, "{router}: {on} and {off}");
            } else {
                assert!(format!("{off:?}") == format!("{on:?}"), "{recovery}, {router}");
            }
        }
    }
}

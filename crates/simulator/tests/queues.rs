//! Queue disciplines and router mechanisms in whole runs.

mod common;

use common::{Dumbbell, add_flow, ms, tcp};
use selfclock_congestion::units::{Bytes, Duration, Rate};
use selfclock_simulator::plan::{
    CoDelPlan, DisciplinePlan, MechanismPlan, Plan, PolicerPlan, QueueLimit, RouterPlan, Transport,
};
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::{Outcome, Simulation};

/// Two Reno flows over 20 Mbit/s, 60 ms there and back.
fn plan(discipline: DisciplinePlan, limit: QueueLimit) -> Plan {
    let dumbbell = Dumbbell::new(2, (100_000_000, ms(10)), (20_000_000, ms(10)), limit);
    let mut plan = dumbbell.plan(Duration::from_seconds(20.0));
    plan.links[0].discipline = discipline;
    for pair in 0..2 {
        add_flow(&mut plan, pair, tcp("slow-start", "reno", Transport::modern()));
    }
    plan
}

/// Runs to the end. What was sent must have arrived, been dropped, ended in a router, or be on its way.
fn run(plan: &Plan) -> Outcome {
    let mut plan = plan.clone();
    plan.record.packets = true;
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(10_000) {}
    let (sent, in_flight) = simulation.packets_sent_and_in_flight();
    let outcome = simulation.finish();
    let ended = [PacketEvent::Deliver, PacketEvent::Drop, PacketEvent::Lose];
    let ended = outcome.packets.iter().filter(|record| ended.contains(&record.event)).count() as u64;
    assert_eq!(sent, ended + in_flight);
    outcome
}

fn codel() -> CoDelPlan {
    CoDelPlan {
        target: Duration::from_milliseconds(5),
        interval: Duration::from_milliseconds(100),
        ecn: false,
    }
}

/// CoDel holds the delay near its target where drop-tail fills the queue, and the link stays busy.
#[test]
fn codel_keeps_the_queue_short() {
    let limit = QueueLimit::Bytes(Bytes(400_000));
    let tail = run(&plan(DisciplinePlan::DropTail, limit)).summary.links[0].clone();
    let codel = run(&plan(DisciplinePlan::CoDel(codel()), limit)).summary.links[0].clone();
    assert!(tail.queue_mean_s > 0.05, "{tail:?}");
    // RFC 8289, section 4.2: a standing queue of the target; Reno's saw-tooth over 60 ms goes above it for a while.
    assert!(codel.queue_mean_s < 0.012, "{codel:?}");
    assert!(codel.utilization > 0.9 && codel.drops > 0, "{codel:?}");
}

/// A policer lets through its rate and no more, and nothing waits.
#[test]
fn a_policer_holds_a_rate() {
    let mut plan = plan(DisciplinePlan::DropTail, QueueLimit::Unlimited);
    let (rate, burst) = (Rate::from_bits_per_second(5_000_000), Bytes(30_000));
    let mechanism = MechanismPlan::Policer(PolicerPlan { rate, burst });
    plan.routers.push(RouterPlan { links: vec![0], mechanism });
    let link = run(&plan).summary.links[0].clone();
    let most = 5e6 / 8.0 * 20.0 + 30_000.0;
    assert!(link.bytes as f64 <= most, "the envelope of a token bucket: {link:?}");
    assert!(link.bytes as f64 > 0.7 * most && link.drops > 0, "{link:?}");
}

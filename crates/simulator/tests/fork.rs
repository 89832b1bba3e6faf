//! A fork equals the run from the beginning.

mod common;
#[path = "common/short.rs"]
pub mod short;

use common::run;
use proptest::prelude::*;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{NotForked, Outcome, Simulation, Trunk};

fn bytes_of(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// The run of a plan from the trunk of another one.
fn branch(trunk: &Plan, until: Time, plan: &Plan) -> Result<(Time, Outcome), NotForked> {
    let mut trunk = Trunk::new(trunk, until);
    while let Some(time) = trunk.next() {
        trunk.simulation().advance_until(time).expect("a built-in algorithm");
        trunk.keep();
    }
    let fork = trunk.branch(plan)?;
    Ok((fork.now(), fork.run().expect("a built-in algorithm")))
}

/// Every queue discipline, router mechanism, algorithm and transport of the fingerprints, forked in
/// the middle, and recorded packet by packet.
#[test]
fn a_fork_without_changes_is_the_run_itself() {
    // Every eleventh: eleven is coprime to the periods of the list.
    for (index, short) in short::all().iter().enumerate().step_by(11) {
        let file = short::folder().join(short.path).with_extension("toml");
        let mut plan = Scenario::load(&file, &short.overrides).unwrap_or_else(|error| panic!("{error}")).plan;
        plan.duration = plan.duration.min(Duration::from_milliseconds(1500));
        plan.record.packets = index % 2 == 0;
        let whole = bytes_of(&run(&plan));
        let part = 1 + index as u64 * 37 % 98;
        let until = Time::from_picoseconds(plan.duration.picoseconds() / 100 * part);
        let mut simulation = Simulation::new(&plan);
        simulation.advance_until(until).expect("a built-in algorithm");
        let forked = simulation.fork_to(&plan).expect("the same plan");
        for (what, copy) in [("the run", simulation.fork()), ("a fork", forked)] {
            let outcome = copy.run().expect("a built-in algorithm");
            assert!(
                bytes_of(&outcome) == whole,
                "{what} of {}: {} differs, forked at {until:?}",
                short.path,
                short.name
            );
        }
    }
}

fn text(network: &str, changes: &str, late: &str) -> String {
    let changes = if changes.is_empty() { String::new() } else { format!(", changes = [{changes}]") };
    format!(
        "schema = 1\nduration = \"3 s\"\n[record]\npackets = true\n[network]\ntopology = \"dumbbell\"\n\
         access = {{ rate = \"50 Mbps\", delay = \"2 ms\" }}\n{network}{changes} }}\n\
         [[flow]]\ncount = 2\ncongestion_control = \"cubic\"\n[[flow]]\n{late}\n"
    )
}

fn plan(text: &str) -> Plan {
    Scenario::parse(text, "fork.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).plan
}

prop_compose! {
    fn bottlenecks()(
        rate in 2_u64..30, delay in 1_u64..40, loss in prop_oneof![Just(0.0), Just(0.01)],
        queue in prop_oneof![Just("20 packets"), Just("1 bdp"), Just("unlimited")],
        discipline in prop_oneof![Just("drop-tail"), Just("codel"), Just("fq-codel"), Just("red")],
    ) -> String {
        let discipline = if queue == "unlimited" { "drop-tail" } else { discipline };
        let queue = format!("{{ discipline = \"{discipline}\", limit = \"{queue}\" }}");
        let loss = if loss > 0.0 { format!(", loss = {{ probability = {loss} }}") } else { String::new() };
        format!("bottleneck = {{ rate = \"{rate} Mbps\", delay = \"{delay} ms\", queue = {queue}{loss}")
    }
}

prop_compose! {
    /// A change at this time or later, ms.
    fn changes_from(first: u64)(at in first..3000, rate in 1_u64..40, delay in 1_u64..60) -> (u64, String) {
        (at, format!("{{ at = \"{at} ms\", rate = \"{rate} Mbps\", delay = \"{delay} ms\" }}"))
    }
}

fn in_order(mut changes: Vec<(u64, String)>) -> String {
    changes.sort();
    changes.dedup_by_key(|change| change.0);
    changes.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// With a change, a fork equals a run in which that change is scheduled from the start.
    #[test]
    fn a_fork_with_changes_is_the_run_of_their_scenario(
        network in bottlenecks(), until in 200_u64..2500,
        early in prop::collection::vec((0_u64..100, 1_u64..40), 0..2),
        (one, another) in (200_u64..2500).prop_flat_map(|first| (
            prop::collection::vec(changes_from(first), 0..3), prop::collection::vec(changes_from(first), 0..3))),
        controls in (prop::sample::select(&["reno", "bbr3", "vegas"][..]), prop::sample::select(&["cubic", "reno", "scalable"][..])),
    ) {
        let early = early.iter().map(|(at, rate)| (*at, format!("{{ at = \"{at} ms\", rate = \"{rate} Mbps\" }}")));
        let common: Vec<_> = early.collect();
        let late = |changes: Vec<(u64, String)>| {
            let later = changes.into_iter().filter(|(at, _)| *at >= until);
            in_order(common.iter().cloned().chain(later).collect())
        };
        let flow = |control: &str, timestamps: bool| format!(
            "start = \"{until} ms\"\ncongestion_control = \"{control}\"\ntransport = {{ timestamps = {timestamps} }}"
        );
        let trunk = plan(&text(&network, &late(one), &flow(controls.0, true)));
        let forked = plan(&text(&network, &late(another), &flow(controls.1, false)));
        let time = Time::ZERO + Duration::from_milliseconds(until);
        let (_, outcome) = branch(&trunk, time, &forked).expect("they differ later");
        prop_assert!(bytes_of(&outcome) == bytes_of(&run(&forked)), "of {forked:?}");
    }
}

const NETWORK: &str = "bottleneck = { rate = \"10 Mbps\", delay = \"20 ms\", queue = \"20 packets\"";

/// Otherwise the test above would compare runs from the beginning.
#[test]
fn a_fork_begins_late() {
    let late = "start = \"2 s\"";
    let (trunk, other) =
        (plan(&text(NETWORK, "", late)), plan(&text(NETWORK, "{ at = \"2 s\", rate = \"1 Mbps\" }", late)));
    let until = Time::ZERO + Duration::from_milliseconds(2000);
    let (begun, outcome) = branch(&trunk, until, &other).expect("they differ later");
    assert!(begun.seconds() > 1.7, "{begun:?}");
    assert_eq!(outcome.summary.links[0].rate_bps, 1_000_000);
}

#[test]
fn what_cannot_differ_is_said() {
    let base = plan(&text(NETWORK, "", "start = \"2 s\""));
    let until = Time::ZERO + Duration::from_milliseconds(1000);
    for (what, says) in [
        (
            text(&NETWORK.replace("20 packets", "30 packets"), "", "start = \"2 s\""),
            "link \"bottleneck\" cannot differ after a fork",
        ),
        (
            text(NETWORK, "", "start = \"1500 ms\""),
            "cannot differ after a fork: only a TCP connection of no group that starts later",
        ),
        (
            text(NETWORK, "", "start = \"2 s\"").replace("\"cubic\"", "\"reno\""),
            "and the run that is forked has come to",
        ),
        (
            text(NETWORK, "{ at = \"500 ms\", rate = \"1 Mbps\" }", "start = \"2 s\""),
            "differ from 0.500000 s on",
        ),
        (text(NETWORK, "", "start = \"2 s\"").replace("3 s", "4 s"), "the duration cannot differ"),
        (format!("seed = 5\n{}", text(NETWORK, "", "start = \"2 s\"")), "the seed cannot differ"),
    ] {
        let refused =
            branch(&base, until, &plan(&what)).expect_err("it differs from the beginning").to_string();
        assert!(refused.contains(says), "{refused}");
        assert_eq!(refused.lines().count(), 1);
    }
}

//! A run on several threads leaves behind what it leaves on one. Random networks, and parts that take turns at random, are in the
//! tests of `simulation::parallel`.

mod common;
#[path = "common/meeting.rs"]
pub mod meeting;

use common::run;
use meeting::plan;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::{NotDivided, Outcome, Parallel};

fn bytes_of(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// The outcome on so many threads, in two spans; and on how many it was.
fn on_threads(plan: &Plan, threads: usize) -> Result<(usize, Outcome), NotDivided> {
    let mut parallel = Parallel::new(plan, threads)?;
    let used = parallel.threads();
    let middle = Time::from_picoseconds(plan.duration.picoseconds() / 3);
    assert!(!parallel.advance_until(middle).expect("built-in algorithms").is_finished());
    assert!(parallel.advance_until(Time::NEVER).expect("built-in algorithms").is_finished());
    Ok((used, parallel.finish()))
}

/// Forty flows across one bottleneck, with losses, SACK blocks and a series.
const DUMBBELL: &str = "schema = 1\nduration = \"3 s\"\n[record]\ninterval = \"10 ms\"\n[network]\ntopology = \"dumbbell\"\n\
    bottleneck = { rate = \"200 Mbps\", delay = \"10 ms\", queue = \"100 packets\" }\n\
    access = { rate = \"100 Mbps\", delay = \"1 ms\" }\n[[flow]]\ncount = 40\ncongestion_control = \"cubic\"\n";

#[test]
fn a_dumbbell_is_divided_in_two() {
    let plan = plan(DUMBBELL);
    let alone = run(&plan);
    assert!(alone.summary.flows.iter().map(|flow| flow.fast_retransmits).sum::<u64>() > 40);
    for threads in [2, 3, 8] {
        let (used, outcome) = on_threads(&plan, threads).expect("forty flows");
        assert!(used >= 2 && bytes_of(&outcome) == bytes_of(&alone), "{used} threads");
    }
}

#[test]
fn what_runs_on_one_thread_is_said() {
    let refused =
        |text: &str, threads| on_threads(&plan(text), threads).map(|(used, _)| used).expect_err("one thread");
    assert_eq!(refused(DUMBBELL, 1), NotDivided::Nothing);
    let one = DUMBBELL.replace("count = 40", "count = 1").replace("duration = \"3 s\"", "duration = \"1 s\"");
    assert_eq!(refused(&one, 2), NotDivided::Nothing);
    let recorded = DUMBBELL.replace("[record]", "[record]\npackets = true");
    assert_eq!(refused(&recorded, 2), NotDivided::Packets);
    let short =
        format!("{DUMBBELL}traffic = {{ connections = {{ rate = \"10 Mbps\", size = \"20 kB\" }} }}\n");
    if let Ok(scenario) = selfclock_simulator::scenario::Scenario::parse(&short, "short.toml", &[]) {
        assert_eq!(Parallel::new(&scenario.plan, 2).map(drop), Err(NotDivided::Connections));
    }
}

/// A thread that fails does not leave the others waiting for it, and nothing is moved by a run that ends between two samples.
#[test]
fn a_run_may_end_anywhere() {
    let mut plan = plan(DUMBBELL);
    plan.duration = Duration::from_microseconds(777_777);
    let (_, outcome) = on_threads(&plan, 2).expect("forty flows");
    assert!(bytes_of(&outcome) == bytes_of(&run(&plan)));
}

//! A run on several threads produces the bytes of a single-threaded one. The tests of
//! `simulation::parallel` have random networks whose parts take turns at random; here are real
//! threads.

mod common;
#[path = "common/meeting.rs"]
pub mod meeting;

use common::run;
use meeting::plan;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::{Plan, SizeDistribution, dumbbell, mbps, ms, tcp};
use selfclock_simulator::{NotDivided, Outcome, Parallel};

fn bytes_of(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// The outcome on at most this many threads, in two spans; and their actual number.
fn on_threads(plan: &Plan, threads: usize) -> Result<(usize, Outcome), NotDivided> {
    let mut parallel = Parallel::new(plan, threads)?;
    let used = parallel.threads();
    let middle = Time::from_picoseconds(plan.duration.picoseconds() / 3);
    assert!(!parallel.advance_until(middle).expect("built-in algorithms").is_finished());
    let events = parallel.events();
    assert!(parallel.advance_until(Time::NEVER).expect("built-in algorithms").is_finished());
    assert!(parallel.events() > events && parallel.end() == Time::ZERO + plan.duration);
    Ok((used, parallel.finish()))
}

/// Forty flows across one bottleneck, with losses, SACK blocks and a series.
const DUMBBELL: &str = "schema = 1\nduration = \"3 s\"\n[record]\ninterval = \"10 ms\"\n[network]\ntopology = \"dumbbell\"\n\
    bottleneck = { rate = \"200 Mbps\", delay = \"10 ms\", queue = \"100 packets\" }\n\
    access = { rate = \"100 Mbps\", delay = \"1 ms\" }\n[[flow]]\ncount = 40\ncongestion_control = \"cubic\"\n";

#[test]
fn a_dumbbell_is_divided() {
    let plan = plan(DUMBBELL);
    let alone = run(&plan);
    assert!(alone.summary.flows.iter().map(|flow| flow.fast_retransmits).sum::<u64>() > 40);
    for threads in [2, 3] {
        let (used, outcome) = on_threads(&plan, threads).expect("forty flows");
        assert!((2..=threads).contains(&used), "{used} threads");
        assert!(bytes_of(&outcome) == bytes_of(&alone), "{used} threads");
    }
}

/// More than 500 flows: their state is prefetched, also where the next stop is in another part.
#[test]
fn many_flows_are_divided() {
    let plan = plan(
        &DUMBBELL.replace("count = 40", "count = 1200\nstart_jitter = \"100 ms\"").replace("3 s", "1 s"),
    );
    let (used, outcome) = on_threads(&plan, 3).expect("many flows");
    assert!(used == 3 && bytes_of(&outcome) == bytes_of(&run(&plan)));
}

#[test]
fn what_cannot_be_divided_says_why() {
    let refused = |plan: &Plan, threads| Parallel::new(plan, threads).map(|_| ()).expect_err("one thread");
    let of = |text: &str| refused(&plan(text), 2);
    assert_eq!(refused(&plan(DUMBBELL), 1), NotDivided::Nothing);
    assert_eq!(of(&DUMBBELL.replace("count = 40", "count = 1")), NotDivided::Nothing);
    assert_eq!(
        of(&DUMBBELL.replace("\"1 ms\"", "\"0 ms\"").replace("\"10 ms\", q", "\"0 ms\", q")),
        NotDivided::Nothing
    );
    assert_eq!(of(&DUMBBELL.replace("[record]", "[record]\npackets = true")), NotDivided::Packets);
    assert_eq!(of(&format!("{DUMBBELL}[[router]]\nmechanism = \"quick-start\"\n")), NotDivided::Routers);
    let short = tcp("cubic")
        .connections(ms(10), SizeDistribution::Constant(selfclock_congestion::units::Bytes(20_000)));
    let short = dumbbell(mbps(100), ms(48)).flow(short).plan().expect("a plan");
    assert_eq!(refused(&short, 2), NotDivided::Connections);
}

/// The number of threads affects only the run time.
#[test]
fn several_threads_are_used_where_they_are_quicker() {
    // 200 Mbit/s are 100,000 packet-hops a second: 50 a part in the millisecond of the access
    // links.
    let small = plan(DUMBBELL);
    assert_eq!(Parallel::worthwhile(&small, 2).map(|_| ()), Err(NotDivided::Small));
    // Two hundred times as many.
    let large =
        DUMBBELL.replace("100 Mbps", "10 Gbps").replace("200 Mbps", "40 Gbps").replace("3 s", "100 ms");
    let large = plan(&large);
    match Parallel::worthwhile(&large, 1000) {
        Ok(parallel) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            assert!((2..=cores).contains(&parallel.threads()));
            let outcome = parallel.run().expect("built-in algorithms");
            assert!(bytes_of(&outcome) == bytes_of(&run(&large)));
        }
        Err(why) => assert_eq!(why, NotDivided::OneCore),
    }
}

/// A run that ends between two samples.
#[test]
fn a_run_may_end_anywhere() {
    let mut plan = plan(DUMBBELL);
    plan.duration = Duration::from_microseconds(777_777);
    let (_, outcome) = on_threads(&plan, 2).expect("forty flows");
    assert!(bytes_of(&outcome) == bytes_of(&run(&plan)));
}

/// Rate and delay of the bottleneck change under a full queue; the shortest delay is the lookahead.
/// With fair queueing it serves packets in their turn.
#[test]
fn a_changing_link_is_divided() {
    let changes = "changes = [{ at = \"0.5 s\", rate = \"40 Mbps\" }, { at = \"1 s\", delay = \"2 ms\" }, \
                   { at = \"1.8 s\", rate = \"300 Mbps\", delay = \"30 ms\" }]";
    for discipline in ["drop-tail", "drr"] {
        let queue =
            format!("queue = {{ discipline = \"{discipline}\", limit = \"100 packets\" }}, {changes}");
        let plan = plan(&DUMBBELL.replacen("queue = \"100 packets\"", &queue, 1));
        let (used, outcome) = on_threads(&plan, 3).expect("forty flows");
        assert!(used > 1 && bytes_of(&outcome) == bytes_of(&run(&plan)), "{discipline}, {used} threads");
    }
}

//! Every algorithm on a real path: one flow, 100 Mbit/s, 48 ms, a queue of 400 packets (one bandwidth-delay
//! product).

mod common;

use common::{Dumbbell, add_flow, ms, run, tcp};
use selfclock_congestion::registry::{ENTRIES, Part};
use selfclock_simulator::plan::{QueueLimit, Transport};

struct Flow {
    name: String,
    goodput_bps: f64,
    timeouts: u64,
    rtt: f64,
}

fn flow(start: &str, window: &str) -> Flow {
    let dumbbell = Dumbbell::new(1, (1_000_000_000, ms(1)), (100_000_000, ms(22)), QueueLimit::Packets(400));
    let mut plan = dumbbell.plan(ms(30_000));
    add_flow(&mut plan, 0, tcp(start, window, Transport::modern()));
    let flow = run(&plan).summary.flows.remove(0);
    let rtt = flow.rtt_mean_s.expect("round-trip times");
    println!("{}: {:.1} Mbit/s, mean RTT {:.1} ms", flow.algorithm, flow.goodput_bps / 1e6, rtt * 1e3);
    Flow { name: flow.algorithm, goodput_bps: flow.goodput_bps, timeouts: flow.timeouts, rtt }
}

fn names(part: Part) -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().filter(move |entry| entry.part == part).map(|entry| entry.name)
}

/// After limited slow start, which does not overshoot by much, every window algorithm fills the path without a
/// timeout. Vegas leaves slow start early and then adds a segment per round trip: 417 round trips, 20 s, to fill
/// the path.
#[test]
fn every_window_algorithm_fills_the_path() {
    for window in names(Part::Window) {
        let flow = flow("limited", window);
        let expected = if window == "vegas" { 30e6 } else { 93e6 };
        assert!(flow.goodput_bps > expected, "{}: {} bit/s", flow.name, flow.goodput_bps);
        assert_eq!(flow.timeouts, 0, "{}", flow.name);
    }
}

/// FAST keeps 100 packets of 1500 B in the queue: 12 ms at 100 Mbit/s.
#[test]
fn fast_keeps_alpha_packets_in_the_queue() {
    let queueing = flow("limited", "fast").rtt - 0.048;
    assert!((queueing / 0.012 - 1.0).abs() < 0.05, "{queueing} s");
}

/// Slow start overshoots by a window, and an algorithm that then keeps 70 or 85 % goes on sending too much. More is
/// outstanding than the window by the time the timer expires; to go on from half of that would overshoot again,
/// dozens of times. From the window, it takes a few timeouts at most until enough eighths are off.
#[test]
fn a_small_decrease_does_not_lead_from_timeout_to_timeout() {
    for start in names(Part::Start) {
        for window in names(Part::Window) {
            let flow = flow(start, window);
            assert!(flow.timeouts <= 5, "{}: {} timeouts", flow.name, flow.timeouts);
        }
    }
}

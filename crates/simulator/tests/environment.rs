//! Runs stepped from outside, and the observations of a step.

mod common;

use common::run;
use selfclock_congestion::units::{Bytes, Duration, Time};
use selfclock_simulator::environment::{Command, Environment, NotSteerable, Step};
use selfclock_simulator::plan::{Plan, Transport, dumbbell, gbps, mbps, ms, packets};
use selfclock_simulator::{Outcome, Simulation, Stopped};

const MSS: f64 = 1448.0;
const WIRE: f64 = 1500.0;

/// Two pairs across 10 Mbit/s and 40 ms, with a queue of 30 packets; one flow in each.
fn plan(duration: f64) -> Plan {
    // Immediate ACKs: a closed form contains no timer.
    let mut transport = Transport::modern();
    transport.delayed_ack.every = 1;
    let network = dumbbell(mbps(10), ms(40)).access(gbps(1), ms(1)).queue(packets(30)).transport(transport);
    common::plan(network.flow("reno").flow("cubic").duration(Duration::from_seconds(duration)).unrecorded())
}

/// The steered flow alone.
fn alone(duration: f64) -> Environment {
    let mut plan = plan(duration);
    plan.flows.truncate(1);
    Environment::new(&plan, "flow1").expect("it is a TCP connection")
}

/// Steps of this length to the end.
fn steps(environment: &mut Environment, command: Command, length: f64) -> Vec<Step> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|step: &Step| step.over == 0.0) {
        seen.push(environment.step(command, Duration::from_seconds(length)).expect("nothing stops the run"));
    }
    seen
}

/// A window below the BDP: one window leaves per round trip of the empty path, which `path_rtt`
/// gives.
#[test]
fn a_window_is_sent_in_each_round_trip() {
    let mut environment = alone(10.0);
    let rtt = environment.path_rtt().seconds();
    let seen = steps(&mut environment, Command { window: 12.0, pacing_bps: None }, 0.5);
    assert_eq!(seen.len(), 20);
    for step in &seen[2..] {
        // After the first burst the bottleneck has spaced them, and none waits. The SYN was a
        // shorter packet.
        assert!((step.rtt_s / rtt - 1.0).abs() < 1e-9, "{step:?}, {rtt}");
        assert!(step.rtt_min_s < rtt && step.rtt_min_s > rtt - 2.0 * WIRE * 8.0 / 1e7, "{step:?}");
        // Half a second is not a whole number of round trips: one window more or less.
        let expected = 12.0 * MSS * 0.5 / rtt;
        assert!((step.delivered_bytes - expected).abs() <= 12.0 * MSS, "{step:?}, {expected}");
        assert_eq!((step.lost_bytes, step.timeouts, step.window_segments), (0.0, 0.0, 12.0));
        assert_eq!(step.in_flight_bytes, 12.0 * MSS);
    }
    let delivered: f64 = seen.iter().map(|step| step.delivered_bytes).sum();
    let outcome = environment.simulation().clone().finish();
    // Data delivered in the last half round trip has not been acknowledged.
    let missing = outcome.summary.flows[0].delivered_bytes as f64 - delivered;
    assert!((0.0..=12.0 * MSS).contains(&missing), "{missing}");
}

/// With an ample window, the sending rate is the pacing rate on the wire.
#[test]
fn a_pacing_rate_is_kept() {
    let mut environment = alone(10.0);
    let seen = steps(&mut environment, Command { window: 1000.0, pacing_bps: Some(4e6) }, 1.0);
    for step in &seen[1..] {
        let on_wire = step.sent_bytes * WIRE / MSS * 8.0 / step.length_s;
        // One segment more or less in a second of 333.
        assert!((on_wire / 4e6 - 1.0).abs() <= 1.0 / 333.0, "{on_wire}");
        assert_eq!(step.pacing_bps, 4e6);
        // Nothing ever waits at 10 Mbit/s.
        assert!((step.rtt_s / environment.path_rtt().seconds() - 1.0).abs() < 1e-9, "{step:?}");
    }
}

/// A window of twice BDP plus queue loses packets, and every loss is reported.
#[test]
fn losses_are_told() {
    let mut environment = alone(10.0);
    let seen = steps(&mut environment, Command { window: 150.0, pacing_bps: None }, 0.25);
    let lost: f64 = seen.iter().map(|step| step.lost_bytes).sum();
    let summary = environment.simulation().clone().finish().summary;
    assert!(summary.links[0].drops > 50, "{:?}", summary.links[0]);
    let dropped = summary.links[0].drops as f64 * MSS;
    // Losses of the last round trip are not known yet; an RTO marks everything in flight lost.
    let spurious = summary.flows[0].timeouts as f64 * 150.0 * MSS;
    assert!(lost <= dropped + spurious && lost >= dropped - 150.0 * MSS, "{lost} of {dropped}");
    let timeouts: f64 = seen.iter().map(|step| step.timeouts).sum();
    assert_eq!(timeouts, summary.flows[0].timeouts as f64);
}

/// A flow without commands does not depend on the length of the steps.
#[test]
fn results_do_not_depend_on_the_length_of_the_steps() {
    let summary = |length| {
        let mut environment = Environment::new(&plan(5.0), "flow1").expect("it is a TCP connection");
        steps(&mut environment, Command { window: 40.0, pacing_bps: Some(8e6) }, length);
        environment.simulation().clone().finish().summary
    };
    let (short, long) = (summary(0.003), summary(2.5));
    for (one, other) in short.flows.iter().zip(&long.flows) {
        assert!(one.delivered_bytes > 1_000_000, "{one:?}");
        assert_eq!((one.delivered_bytes, one.sent_segments), (other.delivered_bytes, other.sent_segments));
    }
    assert_eq!(short.events, long.events);
}

/// A run that is advanced in slices of time is the run.
#[test]
fn slices_of_time_change_nothing() {
    let plan = plan(3.0);
    let mut simulation = Simulation::new(&plan);
    let mut time = Time::ZERO;
    while !simulation.advance_until(time).expect("nothing stops the run").is_finished() {
        assert_eq!(simulation.now(), time);
        time += Duration::from_microseconds(12_345);
    }
    assert_eq!(simulation.now(), simulation.end());
    let totals = |outcome: Outcome| (outcome.summary.events, format!("{:?}", outcome.summary.flows));
    assert_eq!(totals(simulation.finish()), totals(run(&plan)));
}

/// The path stays silent for so long that the timer expires, which the agent observes.
#[test]
fn a_timeout_leaves_one_segment() {
    let mut plan = plan(10.0);
    plan.flows.truncate(1);
    // From 2 s on nothing arrives for 3 s.
    plan.links[0].changes = vec![selfclock_simulator::plan::LinkChange {
        at: Time::ZERO + Duration::from_seconds(2.0),
        rate: plan.links[0].rate,
        delay: Duration::from_seconds(3.0),
    }];
    let mut environment = Environment::new(&plan, "flow1").expect("it is a TCP connection");
    let command = Command { window: 10.0, pacing_bps: None };
    let before = environment.step(command, Duration::from_seconds(2.0)).expect("nothing stops the run");
    assert_eq!((before.timeouts, before.window_segments), (0.0, 10.0));
    let after = environment.step(command, Duration::from_seconds(2.0)).expect("nothing stops the run");
    assert!(after.timeouts >= 1.0, "{after:?}");
    assert_eq!(after.window_segments, 1.0);
    let again = environment.step(command, Duration::from_seconds(0.001)).expect("nothing stops the run");
    assert_eq!(again.window_segments, 10.0, "a step sets it");
}

/// The run begins with the flow; others have been active until then.
#[test]
fn a_late_flow_begins_with_the_first_step() {
    let mut plan = plan(10.0);
    plan.flows[0].start = Time::ZERO + Duration::from_seconds(4.0);
    let mut environment = Environment::new(&plan, "flow1").expect("it is a TCP connection");
    let before = environment.look();
    assert!(before.now_s < 4.0 && before.now_s > 3.999_999, "{before:?}");
    assert_eq!((before.sent_bytes, before.window_segments, before.rtt_s), (0.0, 10.0, 0.0));
    // A round trip of 40 to 76 ms for the handshake, depending on the other's queue, and less than
    // another.
    let first = environment
        .step(Command { window: 3.0, pacing_bps: None }, Duration::from_seconds(0.079))
        .expect("nothing stops the run");
    assert_eq!(first.sent_bytes, 3.0 * MSS);

    plan.flows[0].start = Time::ZERO + Duration::from_seconds(10.0);
    let late = Environment::new(&plan, "flow1").map(drop);
    assert!(matches!(late, Err(NotSteerable::StartsTooLate(flow)) if flow == "flow1"));
    let unknown = Environment::new(&plan, "flow7").map(drop).expect_err("there are two");
    assert_eq!(unknown.to_string(), "no flow is named \"flow7\"; there are flow1, flow2");
}

/// The completion of a finite connection is reported.
#[test]
fn a_complete_transfer_is_told() {
    let mut plan = plan(10.0);
    plan.flows.truncate(1);
    let selfclock_simulator::plan::Protocol::Tcp(tcp) = &mut plan.flows[0].protocol else { unreachable!() };
    tcp.source = selfclock_simulator::plan::Source::Size(Bytes(100_000));
    let mut environment = Environment::new(&plan, "flow1").expect("it is a TCP connection");
    let command = Command { window: 10.0, pacing_bps: None };
    // 70 segments in seven windows of a round trip each: 0.3 s or so.
    assert_eq!(
        environment.step(command, Duration::from_seconds(0.1)).expect("nothing stops the run").complete,
        0.0
    );
    let done = environment.step(command, Duration::from_seconds(1.0)).expect("nothing stops the run");
    assert_eq!((done.complete, done.over), (1.0, 0.0));
}

/// Scales for a learner: a rate of 10 Mbit/s, segments of 1448 bytes, 40 ms and the transmission
/// times.
#[test]
fn the_path_is_told() {
    let mut environment = Environment::new(&plan(1.0), "flow1").expect("it is a TCP connection");
    assert_eq!(environment.plan().flows.len(), 2);
    assert_eq!(environment.path_rate().bits_per_second(), 10_000_000);
    assert_eq!(environment.mss(), Bytes(1448));
    let step = environment
        .step(Command { window: 10.0, pacing_bps: None }, Duration::from_seconds(0.5))
        .expect("nothing stops the run");
    let values = step.values();
    let value = |name| values[Step::FIELDS.iter().position(|&field| field == name).expect("a field")];
    assert_eq!((value("now_s"), value("length_s")), (0.5, 0.5));
    assert_eq!(value("now_s"), step.now_s);
}

/// A NaN window ends the run, and each further step reports that again.
#[test]
fn an_invalid_window_stops_the_run() {
    let mut environment = Environment::new(&plan(1.0), "flow1").expect("it is a TCP connection");
    for _ in 0..2 {
        let command = Command { window: f64::NAN, pacing_bps: None };
        let stopped = environment.step(command, Duration::from_seconds(0.5)).expect_err("no window");
        let Stopped::AlgorithmFailed { flow, failure, .. } = &stopped else { panic!("{stopped}") };
        assert_eq!((flow.as_str(), failure.now), ("flow1", Time::ZERO));
        assert!(
            stopped.to_string().contains("seed 1, flow1: agent failed at 0.000000 s of simulated time"),
            "{stopped}"
        );
    }
}

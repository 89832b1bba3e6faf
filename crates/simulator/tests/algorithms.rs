//! Every algorithm on a real path: one flow, 100 Mbit/s, 48 ms, a queue of 400 packets (one
//! bandwidth-delay product).

mod common;

use common::{plan, run};
use selfclock_congestion::entry::Part;
use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::{ENTRIES, Selection};
use selfclock_simulator::Outcome;
use selfclock_simulator::plan::{
    self, DelayedAck, DisciplinePlan, Ecn, MarkAbove, PlanBuilder, RttSamples, Transport, bps, dumbbell,
    gbps, mbps, ms, packets, s, tcp,
};

struct Flow {
    name: String,
    goodput_bps: f64,
    timeouts: u64,
    rtt: f64,
}

/// 100 Mbit/s, 48 ms, 400 packets.
fn network() -> PlanBuilder {
    dumbbell(mbps(100), ms(48)).access(gbps(1), ms(1)).queue(packets(400)).unrecorded()
}

fn flow(start: &str, window: &str) -> Flow {
    let plan = plan(network().flow(tcp(&format!("{window}+{start}"))));
    let flow = run(&plan).summary.flows.remove(0);
    let rtt = flow.rtt_mean_s.expect("round-trip times");
    println!("{}: {:.1} Mbit/s, mean RTT {:.1} ms", flow.algorithm, flow.goodput_bps / 1e6, rtt * 1e3);
    Flow { name: flow.algorithm.to_string(), goodput_bps: flow.goodput_bps, timeouts: flow.timeouts, rtt }
}

fn names(part: Part) -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().filter(move |entry| entry.part == part).map(|entry| entry.name)
}

/// After limited slow start, which overshoots little, every window algorithm fills the path without
/// a timeout. Vegas leaves slow start early and then adds a segment per round trip: 417 round
/// trips, 20 s, to fill the path.
#[test]
fn every_window_algorithm_fills_the_path() {
    for window in names(Part::Window) {
        let flow = flow("limited", window);
        // Tri-S wanders down to half of the path under delayed acknowledgements.
        let expected = match window {
            "vegas" => 30e6,
            "tri-s" => 80e6,
            _ => 93e6,
        };
        assert!(flow.goodput_bps > expected, "{}: {} bit/s", flow.name, flow.goodput_bps);
        assert_eq!(flow.timeouts, 0, "{}", flow.name);
    }
}

/// Vegas, with delayed ACKs and every default, fills an empty path: only its own queue may stop its
/// growth. It takes up to BDP/1 round trips, one segment each: 334 of 40 ms. An RTT from the first
/// segment that an ACK covers, a base RTT of the shorter SYN, or an ACK delayed by its timer looks
/// like a queue of one or two segments: it stalled at 2 to 50 % of these paths.
#[test]
fn vegas_does_not_starve_under_delayed_acknowledgements() {
    for (rate_bps, one_way_ms) in [(100_000_000, 20), (100_000_000, 30), (20_000_000, 10), (20_000_000, 50)] {
        let bdp = rate_bps as f64 * one_way_ms as f64 * 2e-3 / 12_000.0;
        let plan = plan(
            dumbbell(bps(rate_bps), ms(2 * one_way_ms))
                .access(bps(100 * rate_bps), ms(1))
                .queue(packets(bdp as u64))
                .flow("vegas")
                .duration(s(60))
                .every(s(1)),
        );
        let outcome = run(&plan);
        let series = outcome.link_series.columns();
        let late: Vec<f64> = (0..series.link.len())
            .filter(|&index| series.link[index] == 0 && series.time_s[index] > 50.0)
            .map(|index| series.utilization[index])
            .collect();
        let utilization = late.iter().sum::<f64>() / late.len() as f64;
        println!("vegas: {rate_bps} bit/s, {one_way_ms} ms one way: utilization {utilization}");
        // One to three segments stay in the queue.
        assert!(utilization > 0.99, "{rate_bps} bit/s, {one_way_ms} ms: {utilization}");
    }
}

/// Linux's Vegas counts the samples of a round trip, and is Reno with two or fewer. It has one per
/// ACK, whatever the retransmission timer takes: with one segment timed per round trip it used to
/// be Reno.
#[test]
fn linux_vegas_does_not_need_the_samples_of_the_timer() {
    let goodputs = [RttSamples::EverySegment, RttSamples::OneAtATime].map(|samples| {
        let mut control = Selection::from_label("vegas").expect("listed");
        control.set("variant", Value::Choice("linux")).expect("a variant of it");
        let mut transport = Transport::modern();
        transport.timer.samples = samples;
        let network = dumbbell(mbps(20), ms(40)).access(gbps(1), ms(1)).queue(packets(400));
        let vegas = plan::Flow::from(control).transport(transport);
        let plan = plan(network.flow(vegas).duration(s(60)).unrecorded());
        let flow = run(&plan).summary.flows.remove(0);
        // 40 ms and three segments in the queue, after 15 s in which the 150 that slow start leaves
        // there drain, one per round trip: 54 ms in the mean. Reno fills the queue of 240 ms, and
        // has 236.
        let rtt = flow.rtt_mean_s.expect("round-trip times");
        assert!(rtt < 0.06, "{samples:?}: {rtt} s");
        flow.goodput_bps
    });
    assert_eq!(goodputs[0], goodputs[1]);
}

/// Tri-S oscillates around the window that fills the path, the BDP plus the segment in service. The
/// effect of a window is known two round trips later: two segments too far either way, and one
/// where the gradient is in between. Every segment is acknowledged, as in its original setting.
#[test]
fn tri_s_searches_around_the_window_that_fills_the_path() {
    for (rate_bps, one_way_ms) in [(100_000_000, 20), (10_000_000, 20), (20_000_000, 50)] {
        let product = rate_bps as f64 * one_way_ms as f64 * 2e-3 / 12_000.0;
        let transport = Transport {
            delayed_ack: DelayedAck { every: 1, ..Transport::modern().delayed_ack },
            ..Transport::modern()
        };
        let plan = plan(
            dumbbell(bps(rate_bps), ms(2 * one_way_ms))
                .access(bps(100 * rate_bps), ms(1))
                .queue(packets(2 * product as u64))
                .flow(tcp("tri-s").transport(transport))
                .duration(s(60))
                .every(ms(50)),
        );
        let outcome = run(&plan);
        let series = outcome.flow_series.columns();
        let late = (0..series.time_s.len()).filter(|&index| series.time_s[index] > 30.0);
        for window in late.map(|index| series.cwnd_bytes[index] / 1448.0) {
            assert!((window - product - 1.0).abs() < 4.0, "{rate_bps} bit/s: {window}, product {product}");
        }
    }
}

/// FAST keeps 100 packets of 1500 B in the queue: 12 ms at 100 Mbit/s.
#[test]
fn fast_keeps_alpha_packets_in_the_queue() {
    let queueing = flow("limited", "fast").rtt - 0.048;
    assert!((queueing / 0.012 - 1.0).abs() < 0.05, "{queueing} s");
}

/// Slow start overshoots by a window, and an algorithm that then keeps 70 or 85 % continues to send
/// too much. More than the window is outstanding when the timer expires; continuing from half of
/// that would overshoot again, dozens of times. From the window, a few timeouts suffice until
/// enough eighths are off.
#[test]
fn a_small_decrease_does_not_lead_from_timeout_to_timeout() {
    for start in names(Part::Start) {
        for window in names(Part::Window) {
            let flow = flow(start, window);
            assert!(flow.timeouts <= 5, "{}: {} timeouts", flow.name, flow.timeouts);
        }
    }
}

/// `flows` flows of one model, a second apart, on the same path for 40 s.
fn model(name: &str, flows: u64, transport: &Transport, mark_above: Option<MarkAbove>) -> Outcome {
    let each = (0..flows).map(|number| tcp(name).start(s(number)));
    let mut plan = plan(network().transport(transport.clone()).flows(each).duration(s(40)).every(ms(100)));
    if let Some(threshold) = mark_above {
        plan.links[0].discipline = DisciplinePlan::marking(threshold);
    }
    run(&plan)
}

/// Mean utilization and queue in packets of the bottleneck over the last 30 s.
fn bottleneck(outcome: &Outcome) -> (f64, f64) {
    let series = outcome.link_series.columns();
    let late: Vec<usize> = (0..series.link.len())
        .filter(|&index| series.link[index] == 0 && series.time_s[index] > 10.0)
        .collect();
    let mean = |value: &dyn Fn(usize) -> f64| {
        late.iter().map(|&index| value(index)).sum::<f64>() / late.len() as f64
    };
    (mean(&|index| series.utilization[index]), mean(&|index| series.queue_packets[index] as f64))
}

/// BBRv3 alone keeps the link busy and the queue short: it probes above the rate for one round in
/// some sixty, and enters ProbeRTT every 5 s with half a BDP in flight for 0.2 s, so 95 % and a
/// quarter of the BDP.
#[test]
fn bbr3_fills_the_path_with_a_short_queue() {
    let outcome = model("bbr3", 1, &Transport::modern(), None);
    let (utilization, queue) = bottleneck(&outcome);
    println!("bbr3: utilization {utilization}, queue {queue} packets");
    assert!(utilization > 0.95, "{utilization}");
    assert!(queue < 100.0, "{queue} packets");
    assert_eq!(outcome.summary.flows[0].timeouts, 0);
}

/// Prague, with marks above 20 packets, stays at the threshold and has no losses after slow start.
#[test]
fn prague_stays_at_the_marking_threshold() {
    let transport = Transport { ecn: Ecn::Accurate, ..Transport::modern() };
    let outcome = model("prague", 1, &transport, Some(MarkAbove::Packets(20)));
    let (utilization, queue) = bottleneck(&outcome);
    println!("prague: utilization {utilization}, queue {queue} packets, {:?}", outcome.summary.links[0]);
    assert!(outcome.summary.links[0].ce_marks > 100);
    assert!(utilization > 0.98, "{utilization}");
    assert!(queue < 25.0, "{queue} packets");
}

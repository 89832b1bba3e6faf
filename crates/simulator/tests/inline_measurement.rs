//! Inline measurement on real paths: the estimators' findings, and the resulting window; and the
//! effects of the hosts' network cards and of a scheduled UDP source.

mod common;

use common::run;
use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use selfclock_simulator::plan::{
    Arrivals, CardStamps, DelayedAck, Flow, Plan, Protocol, QueueSize, ReceiveWindow, Transport, UdpPlan,
    bps, dumbbell, graph, mbps, ms, s, wire,
};
use selfclock_simulator::record::series::FlowSeries;

/// With a round-trip time of 40 ms: 1666 packets of 1500 B.
const RATE: u64 = 500_000_000;

/// A measuring connection, beside UDP of this rate that enters at the router.
fn plan(control: Selection, udp: u64, coalescing: Duration, every: u32) -> Plan {
    let modern = Transport::modern();
    let transport = Transport {
        timestamps: false,
        mss: Bytes(1460),
        // As in the thesis: slow start ends where the link is full.
        initial_ssthresh: 1666.0,
        delayed_ack: DelayedAck { every, ..modern.delayed_ack },
        ..modern
    };
    let mut network = dumbbell(bps(RATE), ms(40))
        .access(bps(4 * RATE), ms(1))
        .queue(QueueSize::Bytes(Bytes(1666 * 1500)))
        .flow(Flow::from(control).transport(transport))
        .duration(s(15))
        .every(ms(50));
    if udp > 0 {
        network = network.flow(datagrams(bps(udp)));
    }
    let mut plan = common::plan(network);
    for link in &mut plan.links[2..] {
        link.coalescing = coalescing;
    }
    plan
}

/// UDP that enters at the router, in packets of a third of the size.
fn datagrams(rate: Rate) -> Flow {
    Flow::from(UdpPlan::steady(Bytes(500), rate, Arrivals::Constant)).between("left", "right")
}

/// Mean of a column after 5 s.
fn settled(series: &FlowSeries, column: &[f64]) -> f64 {
    let values: Vec<f64> =
        series.time_s.iter().zip(column).filter(|&(&time, _)| time > 5.0).map(|(_, &value)| value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// A connection measures physical and available bandwidth within 5 %, the window follows equation
/// 14 of the thesis within 5 %, nothing is lost any more and the link is full. The error is that of
/// some twenty measurements through cards whose interrupts are at least two packet times apart, and
/// of UDP packets of a third of the size.
#[test]
fn icim_and_the_lotka_volterra_window() {
    for (load, coalescing) in [(0.0, 100), (0.0, 0), (0.5, 100), (0.5, 0), (0.8, 100)] {
        let udp = (load * RATE as f64) as u64;
        let control = Selection::from_label("lotka-volterra").expect("listed");
        let outcome = run(&plan(control, udp, Duration::from_microseconds(coalescing), 1));
        let series = outcome.flow_series.columns();
        let (physical, available) = (RATE as f64, (1.0 - load) * RATE as f64);
        let found_available = settled(&series, &series.available_bps);
        let found_physical = settled(&series, &series.capacity_bps);
        let case = format!(
            "load {load}, {coalescing} us: {found_available:.4e} of {available:.4e}, {found_physical:.4e}"
        );
        assert!((found_available / available - 1.0).abs() < 0.05, "{case}");
        assert!((found_physical / physical - 1.0).abs() < 0.05, "{case}");
        let window = settled(&series, &series.cwnd_bytes) / 1460.0;
        let expected = (0.1 * physical + 0.9 * available) / 12000.0 * 0.0401;
        assert!((window / expected - 1.0).abs() < 0.05, "{case}: window {window} of {expected}");
        // Slow start's overshoot is over by then.
        let drops = &outcome.link_series.columns().drops[..series.time_s.len()];
        assert_eq!(drops[100], drops[drops.len() - 1], "{case}");
        assert!(outcome.summary.links[0].utilization > 0.9, "{case}");
    }
}

/// Bursts of one interrupt, as the thesis prints them, behind cards of 100 us at both hosts. By the
/// times at which the host has them twice of what there is comes out; by the cards' stamps of their
/// arrival at the receiver, which the ACKs tell, it is found within 12 %, although both hosts
/// process them together as before. A burst is then some four segments.
#[test]
fn cards_that_stamp_arrivals_falsify_nothing() {
    let found = |stamps: CardStamps, options: &[(&'static str, Value<'static>)]| {
        let mut control = Selection::from_label("lotka-volterra").expect("listed");
        let printed = [("span", Value::Number(0.0)), ("within_interrupt", Value::Switch(false))];
        for (name, value) in printed.iter().chain(options) {
            control.set(name, *value).expect("a parameter of ICIM");
        }
        let mut plan = plan(control, RATE / 2, Duration::from_microseconds(100), 1);
        for link in &mut plan.links[2..] {
            link.coalescing_stamps = stamps;
        }
        let series = run(&plan).flow_series.columns();
        settled(&series, &series.available_bps) / (RATE as f64 / 2.0)
    };
    let by_the_host = found(CardStamps::Interrupt, &[("reading", Value::Choice("edge"))]);
    assert!(by_the_host > 1.8, "{by_the_host}");
    let line = ("reading", Value::Choice("line"));
    let stamped = found(CardStamps::Arrival, &[line, ("clock", Value::Choice("receiver"))]);
    assert!((stamped - 1.0).abs() < 0.12, "{stamped}");
}

/// 100 Mbit/s and 60 ms, of which UDP takes 70 Mbit/s from 10 to 25 s: a burst then has no room for
/// eight gaps, and nothing is measured. The connection used to keep the last available bandwidth
/// forever, and left the link 70 % idle after the others had gone. Now it expires after 40 round
/// trips, and Reno's growth restores a window at which bursts can be measured. 1460 of 1500 B are
/// payload.
#[test]
fn an_available_bandwidth_that_nothing_confirms_is_forgotten() {
    let window = 500;
    let control = Selection::from_label("lotka-volterra").expect("listed");
    let transport = Transport {
        timestamps: false,
        mss: Bytes(1460),
        initial_ssthresh: window as f64,
        ..Transport::modern()
    };
    let plan = common::plan(
        dumbbell(mbps(100), ms(60))
            .access(mbps(400), ms(1))
            .queue(QueueSize::Bytes(Bytes(window * 1500)))
            .flow(Flow::from(control).transport(transport))
            .flow(datagrams(mbps(70)).start(s(10)).stop(s(25)))
            .duration(s(60))
            .every(s(1)),
    );
    let series = run(&plan).flow_series.columns();
    let own: Vec<usize> = (0..series.time_s.len()).filter(|&index| series.flow[index] == 0).collect();
    let megabits = |from: usize, until: usize| {
        let bytes = series.acknowledged_bytes[own[until]] - series.acknowledged_bytes[own[from]];
        bytes as f64 * 8.0 / 1e6 / (series.time_s[own[until]] - series.time_s[own[from]])
    };
    assert!(megabits(5, 9) > 90.0);
    assert!((20.0..30.0).contains(&megabits(15, 24)), "{}", megabits(15, 24));
    assert!(megabits(40, 59) > 85.0, "{}", megabits(40, 59));
}

/// Delayed ACKs halve the number of ACKs, and move that of a burst's first segment by less than one
/// segment's time.
#[test]
fn delayed_acknowledgements_do_not_hide_the_bandwidth() {
    let control = Selection::from_label("lotka-volterra").expect("listed");
    let outcome = run(&plan(control, RATE / 2, Duration::from_microseconds(100), 2));
    let series = outcome.flow_series.columns();
    let found = settled(&series, &series.available_bps);
    assert!((found / (RATE as f64 / 2.0) - 1.0).abs() < 0.1, "{found:.4e}");
}

/// Spaced segments measure the available bandwidth within 30 % if the hosts' cards interrupt for
/// each packet: a stream of five segments lasts a tenth of a millisecond, in which fluid traffic is
/// a dozen packets. With interrupts 1 ms apart they measure nothing: a stream arrives at one time,
/// no delay grows, and the range is widened without end.
#[test]
fn imtcp_needs_cards_that_interrupt_for_each_packet() {
    let found = |coalescing| {
        let mut control = Selection::from_label("reno+imtcp").expect("listed");
        control.set("pause", Value::Number(0.5)).expect("a parameter of ImTCP");
        let outcome = run(&plan(control, RATE / 2, coalescing, 1));
        let series = outcome.flow_series.columns();
        settled(&series, &series.available_bps) / (RATE as f64 / 2.0)
    };
    let exact = found(Duration::ZERO);
    assert!((exact - 1.0).abs() < 0.3, "{exact}");
    let coalesced = found(Duration::from_milliseconds(1));
    assert!(coalesced.is_nan() || coalesced > 2.0, "{coalesced}");
}

/// The pair with the smallest delay met no other packet: exactly the packet time of the narrowest
/// link.
#[test]
fn pairs_tell_the_physical_bandwidth_of_a_path_that_is_idle_at_times() {
    let control = Selection::from_label("reno+capacity").expect("listed");
    let mut plan = plan(control, RATE / 5, Duration::ZERO, 1);
    let Protocol::Tcp(tcp) = &mut plan.flows[0].protocol else { unreachable!() };
    tcp.transport.receive_window = ReceiveWindow::Fixed(Bytes(200 * 1460));
    let outcome = run(&plan);
    let series = outcome.flow_series.columns();
    let found = settled(&series, &series.capacity_bps);
    assert!((found / RATE as f64 - 1.0).abs() < 0.02, "{found:.4e}");
}

/// An estimator costs the connection almost nothing: Reno with ICIM beside it sends as much as
/// Reno, within 3 %. ("TCP with ICIM can transmit data with the same performance as Reno TCP".)
#[test]
fn measuring_does_not_slow_reno_down() {
    let goodput = |control: Selection| {
        run(&plan(control, 0, Duration::from_microseconds(100), 1)).summary.flows[0].goodput_bps
    };
    let reno = Selection::from_label("reno").expect("listed");
    let (alone, measuring) = (goodput(reno.clone()), goodput(reno.with_estimate("icim").expect("listed")));
    assert!(measuring > 0.97 * alone, "{measuring} {alone}");
}

/// Rates by schedule, sizes by weight: what arrives is the integral of the rates, and the mix has
/// its mean size.
#[test]
fn udp_with_a_schedule_and_a_mix() {
    let second = |seconds: u64| Time::ZERO + ms(1000 * seconds);
    let sizes = vec![(Bytes(40), 7.0), (Bytes(576), 4.0), (Bytes(1500), 1.0)];
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let udp = UdpPlan {
            packets: sizes.clone(),
            rates: vec![
                (Time::ZERO, mbps(40)),
                (second(10), mbps(0)),
                (second(20), mbps(10)),
                (second(30), mbps(20)),
            ],
            ..UdpPlan::steady(Bytes(40), mbps(40), arrivals)
        };
        let plan = common::plan(
            graph(&["a", "b"])
                .link("a", "b", wire(mbps(100), ms(1)).queue(QueueSize::Unlimited))
                .flow(Flow::from(udp).between("a", "b").start(s(2)))
                .duration(s(40))
                .every(s(10)),
        );
        let outcome = run(&plan);
        let bytes = &outcome.link_series.columns().bytes;
        let periods = [bytes[0], bytes[1] - bytes[0], bytes[2] - bytes[1], bytes[3] - bytes[2]];
        // 8 s at 40 Mbit/s, silence, 10 s at 10 and at 20 Mbit/s. With some 37,000 packets of mean
        // 340 B and root mean square 547 B in the smallest, three standard errors of a Poisson
        // stream are 2.5 %; constant arrivals miss a packet.
        let tolerance = if arrivals == Arrivals::Constant { 0.001 } else { 0.025 };
        for (period, expected) in periods.into_iter().zip([40e6, 0.0, 12.5e6, 25e6]) {
            assert!(
                (period as f64 - expected).abs() <= tolerance * expected + 1500.0,
                "{arrivals:?}: {periods:?}"
            );
        }
        let flow = &outcome.summary.flows[0];
        let mean = flow.throughput_bps * 38.0 / 8.0 / flow.delivered_segments as f64;
        assert!((mean / 340.33 - 1.0).abs() < 0.015, "{mean}");
    }
}

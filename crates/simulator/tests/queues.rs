//! Queue disciplines and router mechanisms in whole runs.

mod common;

use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Time};
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{
    Arrivals, DisciplinePlan, Ecn, Flow, LinkChange, Plan, Protocol, QueueSize, ReceiveWindow, RouterPlan,
    Transport, UdpPlan, dumbbell, gbps, kbps, mbps, ms, packets, s,
};
use selfclock_simulator::queue::QueueLimit;
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::record::summary::FlowSummary;
use selfclock_simulator::scenario::{self, Scenario};
use selfclock_simulator::{Outcome, Simulation};

/// Two Reno flows over 20 Mbit/s, 60 ms there and back.
fn plan(discipline: DisciplinePlan, limit: QueueSize) -> Plan {
    let network = dumbbell(mbps(20), ms(60)).access(mbps(100), ms(10)).queue(limit);
    let mut plan = common::plan(network.flow("reno").flow("reno").duration(s(20)).unrecorded());
    plan.links[0].discipline = discipline;
    plan
}

/// Runs to the end. Every packet sent must have arrived, been dropped, been consumed by a router,
/// or be in flight.
fn run(plan: &Plan) -> Outcome {
    let mut plan = plan.clone();
    plan.record.packets = true;
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(10_000).expect("nothing stops the run").is_finished() {}
    let (sent, in_flight) = simulation.packets_sent_and_in_flight();
    let outcome = simulation.finish();
    let ended = [PacketEvent::Deliver, PacketEvent::Drop, PacketEvent::Lose];
    let ended = outcome.packets.iter().filter(|record| ended.contains(&record.event)).count() as u64;
    assert_eq!(sent, ended + in_flight);
    outcome
}

fn named<T: Named>(name: &str, settings: &[(&str, Value<'_>)]) -> T {
    let mut plan = T::named(name).expect("a name");
    for (setting, value) in settings {
        plan.set(setting, *value).expect("a setting");
    }
    plan
}

/// Drop instead of marking.
const DROPS: (&str, Value<'_>) = ("ecn", Value::Switch(false));

/// With drop-tail the mean delay of the queue is some 100 ms; a managed queue keeps it near its
/// target, and the link busy: Reno that halves without a queue uses three quarters of a link.
#[test]
fn managers_keep_the_queue_short() {
    let limit = QueueSize::Bytes(Bytes(400_000));
    let delay = |discipline: DisciplinePlan| {
        let link = run(&plan(discipline, limit)).summary.links[0].clone();
        assert!(link.utilization > 0.75 && link.drops > 0, "{link:?}");
        link.queue_mean_s
    };
    assert!(delay(named("drop-tail", &[])) > 0.05);
    assert!(delay(named("drr", &[])) > 0.05);
    assert!(delay(named("codel", &[DROPS])) < 0.012);
    assert!(delay(named("fq-codel", &[DROPS])) < 0.012);
    assert!((0.005..0.020).contains(&delay(named("pie", &[]))));
    assert!((0.005..0.020).contains(&delay(named("fq-pie", &[]))));
    // 5 to 15 packets are 3 to 9 ms; the average shows the first overshoot of two flows late.
    assert!(delay(named("red", &[])) < 0.015);
    assert!(delay(named("red", &[("adaptive", Value::Switch(true))])) < 0.015);
}

/// With marks nothing is lost.
#[test]
fn managers_mark_what_understands_marks() {
    for discipline in [named("codel", &[]), named("fq-codel", &[])] {
        let mut plan = plan(discipline, QueueSize::Unlimited);
        for flow in &mut plan.flows {
            let Protocol::Tcp(tcp) = &mut flow.protocol else { continue };
            tcp.transport.ecn = Ecn::Classic;
        }
        let link = run(&plan).summary.links[0].clone();
        assert!(link.ce_marks > 0 && link.drops == 0, "{link:?}");
    }
}

/// A source of twice the rate beside one of a third of it: the small one gets what it sends, the
/// large one the rest.
#[test]
fn fair_queueing_protects_a_small_flow() {
    for discipline in [named("drr", &[]), named("fq-codel", &[DROPS])] {
        let mut plan = plan(discipline, packets(100));
        for (flow, (megabits, size)) in plan.flows.iter_mut().zip([(40, 1500), (6, 300)]) {
            flow.reverse.clear();
            let udp = UdpPlan::steady(Bytes(size), mbps(megabits), Arrivals::Poisson);
            flow.protocol = Protocol::Udp(Box::new(udp));
        }
        let flows = run(&plan).summary.flows;
        // Some of the last packets are still in flight; the large one gets 14 of the 20 Mbit/s.
        assert!((flows[1].throughput_bps / 6e6 - 1.0).abs() < 0.02, "{}", flows[1].throughput_bps);
        assert!((flows[0].throughput_bps / 14e6 - 1.0).abs() < 0.02, "{}", flows[0].throughput_bps);
    }
}

/// A limit in bytes holds with packets of several sizes. Found by the verifier: a discipline that
/// pushes out dropped one packet per arrival, however small, and the queue grew beyond its limit.
#[test]
fn pushing_out_makes_enough_room() {
    for discipline in [named("drr", &[]), named("fq-codel", &[DROPS])] {
        let udp = |size| UdpPlan::steady(Bytes(size), kbps(1500), Arrivals::Poisson);
        let network = dumbbell(mbps(1), ms(24)).access(mbps(100), ms(1)).queue(QueueSize::Bytes(Bytes(6000)));
        let mut plan = common::plan(network.flow(udp(40)).flow(udp(1500)).duration(s(5)).unrecorded());
        plan.links[0].discipline = discipline;
        let mut waiting = 0_i64;
        let outcome = run(&plan);
        for record in outcome.packets.iter().filter(|record| record.link == 0) {
            match record.event {
                PacketEvent::Enqueue => waiting += i64::from(record.size),
                PacketEvent::Transmit | PacketEvent::Drop => waiting -= i64::from(record.size),
                _ => {}
            }
            // The pushed-out packet leaves after the arriving one is counted.
            assert!(waiting <= 6000 + 1500, "{waiting} B at {:?}", record.time);
        }
        assert!(outcome.summary.links[0].drops > 100);
    }
}

/// A policer passes its rate and no more, and nothing waits.
#[test]
fn a_policer_holds_a_rate() {
    let mut plan = plan(DisciplinePlan::default(), QueueSize::Unlimited);
    let (rate, burst) = (mbps(5), Bytes(30_000));
    let mechanism = named("policer", &[("rate", Value::Rate(rate)), ("burst", Value::Bytes(burst))]);
    plan.routers.push(RouterPlan { links: vec![0], mechanism });
    let link = run(&plan).summary.links[0].clone();
    let most = 5e6 / 8.0 * 20.0 + 30_000.0;
    assert!(link.bytes as f64 <= most, "the envelope of a token bucket: {link:?}");
    assert!(link.bytes as f64 > 0.7 * most && link.drops > 0, "{link:?}");
}

/// XCP on 1 Gbit/s and 80 ms with ten flows: fair within five round trips, the link full, no
/// losses.
#[test]
fn xcp_is_fair_and_full_without_a_drop() {
    // An autotuned receive window begins below what the routers grant.
    let receive_window = ReceiveWindow::UNLIMITED;
    let transport = Transport { handshake: true, receive_window, ..Transport::modern() };
    let network =
        dumbbell(gbps(1), ms(80)).access(gbps(10), ms(10)).queue(QueueSize::Bytes(Bytes(10_000_000)));
    let flows = network.transport(transport).flows(["xcp"; 10]);
    let mut plan = common::plan(flows.duration(s(4)).every(ms(80)));
    plan.routers.push(RouterPlan { links: (0..plan.links.len()).collect(), mechanism: named("xcp", &[]) });
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(100_000).expect("nothing stops the run").is_finished() {}
    let outcome = simulation.finish();
    let bottleneck = &outcome.summary.links[0];
    assert_eq!(bottleneck.drops, 0, "{bottleneck:?}");
    // From the sixth round trip on, including the handshake's, everything is used: 1448 of 1516 B
    // are payload. Shares over one round trip have an index of 0.95 then, while the queue of the
    // first overshoot drains, and of 0.99 from the thirteenth on.
    let series = outcome.flow_series.columns();
    let at = |flow: u32, round: usize| {
        let own: Vec<u64> = (0..series.time_s.len())
            .filter(|&index| series.flow[index] == flow)
            .map(|index| series.acknowledged_bytes[index])
            .collect();
        own[round]
    };
    for round in 6..45 {
        let rates: Vec<f64> = (0..10).map(|flow| (at(flow, round + 1) - at(flow, round)) as f64).collect();
        let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
        let jain = sum * sum / (10.0 * squares);
        assert!(jain > if round < 13 { 0.95 } else { 0.99 }, "round {round}: {jain} {rates:?}");
        let used = sum * 8.0 / 0.08 / 1e9;
        assert!(used > 0.93, "round {round}: {used}");
    }
}

/// The rate of the link falls to a fifth after 4 s and recovers after 8 s. Routers used to keep a
/// link's initial rate: apparently spare capacity was distributed forever, until the standing
/// queue, alpha d S / beta = 1.1 MB here, outweighed it.
#[test]
fn xcp_knows_the_rate_that_a_link_has() {
    let network = dumbbell(mbps(100), ms(80)).access(gbps(1), ms(1)).queue(QueueSize::Unlimited);
    let mut plan = common::plan(network.flows(["xcp"; 2]).duration(s(12)).every(ms(80)));
    let change =
        |at: u64, megabits: u64| LinkChange { at: Time::ZERO + ms(at), rate: mbps(megabits), delay: ms(38) };
    plan.links[0].changes = vec![change(4000, 20), change(8000, 100)];
    plan.routers.push(RouterPlan { links: (0..plan.links.len()).collect(), mechanism: named("xcp", &[]) });
    let series = common::run(&plan).link_series.columns();
    let mean = |column: &dyn Fn(usize) -> f64, from: f64, until: f64| {
        let own = (0..series.time_s.len())
            .filter(|&index| series.link[index] == 0 && (from..until).contains(&series.time_s[index]));
        let values: Vec<f64> = own.map(column).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let utilization = |from, until| mean(&|index| series.utilization[index], from, until);
    let queue = |from, until| mean(&|index| series.queue_packets[index] as f64, from, until);
    println!(
        "{} {}; {} {}",
        utilization(6.0, 8.0),
        queue(6.0, 8.0),
        utilization(10.0, 12.0),
        queue(10.0, 12.0)
    );
    // 20 Mbit/s and 80 ms are 132 packets, 1.1 MB 730.
    assert!(utilization(6.0, 8.0) > 0.95 && queue(6.0, 8.0) < 30.0);
    assert!(utilization(10.0, 12.0) > 0.95 && queue(10.0, 12.0) < 30.0);
}

/// UDP of 2, 4, 6, 8 and 10 Mbit/s from this time on, across 20 Mbit/s.
fn unequal_sources(start: Duration, duration: Duration) -> Plan {
    let source = |megabits| UdpPlan::steady(Bytes(1000), mbps(megabits), Arrivals::Poisson);
    let flows = [2, 4, 6, 8, 10].map(|megabits| Flow::from(source(megabits)).start(start));
    let network = dumbbell(mbps(20), ms(60)).access(mbps(100), ms(10)).queue(packets(60));
    common::plan(network.flows(flows).duration(duration).unrecorded())
}

/// Sources of 2, 4, 6, 8 and 10 Mbit/s on 20 Mbit/s reduced to 8 before they begin, after 6 s: 1.6
/// for each. Routers used to keep a link's initial rate. And all of them, at any rate, were shut
/// out forever: the first packet after silence, whose flow has no rate yet, set the share to zero,
/// which no factor could raise.
#[test]
fn core_stateless_fair_queueing_knows_the_rate_that_a_link_has() {
    let mut plan = unequal_sources(s(6), s(25));
    plan.links[0].changes = vec![LinkChange { at: Time::ZERO + s(5), rate: mbps(8), delay: ms(10) }];
    plan.routers.push(RouterPlan { links: vec![0], mechanism: named("csfq", &[]) });
    for flow in run(&plan).summary.flows {
        let share = flow.throughput_bps / 1.6e6;
        assert!((0.88..1.12).contains(&share), "{}: {share}", flow.name);
    }
}

/// Five sources of 2, 4, 6, 8 and 10 Mbit/s on 20: the max-min share is 4.67, so 2, 4, and three
/// times 4.67. The estimate of the share is good to some percent (Stoica, figure 5).
#[test]
fn core_stateless_fair_queueing_gives_max_min_shares() {
    let mut plan = unequal_sources(Duration::ZERO, s(20));
    plan.routers.push(RouterPlan { links: vec![0], mechanism: named("csfq", &[]) });
    let flows = run(&plan).summary.flows;
    for (flow, expected) in flows.iter().zip([2.0, 4.0, 4.67, 4.67, 4.67]) {
        let share = flow.throughput_bps / 1e6 / expected;
        assert!((0.88..1.12).contains(&share), "{}: {share}", flow.name);
    }
}

/// Prague beside CUBIC over DualPI2: both get on the order of half, and Prague's packets wait less
/// than a millisecond or two, while CUBIC has the controller's target queue of 15 ms.
#[test]
fn dualpi2_couples_prague_and_cubic() {
    let mut plan = plan(named("dualpi2", &[]), QueueSize::Bytes(Bytes(1_000_000)));
    plan.duration = s(40);
    plan.links[0].rate = mbps(50);
    for (flow, (control, ecn)) in plan.flows.iter_mut().zip([("prague", Ecn::Accurate), ("cubic", Ecn::Off)])
    {
        let Protocol::Tcp(tcp) = &mut flow.protocol else { continue };
        tcp.control = Selection::from_label(control).expect("a known name");
        tcp.transport.ecn = ecn;
    }
    let mut simulation = Simulation::new(&plan);
    while !simulation.advance(100_000).expect("nothing stops the run").is_finished() {}
    let summary = simulation.finish().summary;
    let [prague, cubic] = &summary.flows[..] else { panic!("two flows") };
    let ratio = prague.goodput_bps / cubic.goodput_bps;
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
    assert!(summary.links[0].utilization > 0.9);
    // 60 ms of propagation and the transmission times.
    let wait = |flow: &FlowSummary| flow.rtt_mean_s.unwrap_or(0.0) - 0.0605;
    assert!(
        wait(prague) < 0.003 && (0.008..0.025).contains(&wait(cubic)),
        "{} {}",
        wait(prague),
        wait(cubic)
    );
}

/// A scenario whose bottleneck has this queue, for some flows of an algorithm.
fn parsed(path: (&str, &str), queue: &str, profile: &str, flow: &str) -> Plan {
    let (rate, delay) = path;
    let text = format!(
        "schema = 1\nprofile = \"{profile}\"\nduration = \"20 s\"\n[network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"{rate}\", delay = \"{delay}\", queue = {queue} }}\n\
         reverse = {{ rate = \"{rate}\", delay = \"{delay}\", queue = \"unlimited\" }}\n\
         access = {{ rate = \"10 Gbps\", delay = \"0 ms\" }}\n{flow}"
    );
    Scenario::parse(&text, "queues.toml", &[]).unwrap_or_else(|error| panic!("{error}")).plan
}

/// Four CUBIC flows.
const CUBIC: &str = "[[flow]]\ncongestion_control = \"cubic\"\ncount = 4\n";

/// A discipline without a limit has that of its source: tc-pie(8), tc-codel(8), RFC 8290, section
/// 5.2.3, sch_fq_pie.c, tc-dualpi2(8), tc-red (four times the maximum). It used to be one BDP.
#[test]
fn limits_are_those_of_the_sources() {
    let bdp = QueueLimit::Bytes(Bytes(62_500));
    for (discipline, expected) in [
        ("pie", QueueLimit::Packets(1000)),
        ("codel", QueueLimit::Packets(1000)),
        ("fq-codel", QueueLimit::Packets(10_240)),
        ("fq-pie", QueueLimit::Packets(10_240)),
        ("dualpi2", QueueLimit::Packets(10_000)),
        ("red", QueueLimit::Packets(60)),
        ("drr", bdp),
        ("drop-tail", bdp),
    ] {
        for profile in ["modern", "classic"] {
            let queue = format!("{{ discipline = \"{discipline}\" }}");
            let plan = parsed(("50 Mbps", "5 ms"), &queue, profile, CUBIC);
            assert_eq!(plan.links[0].queue, expected, "{discipline}");
            assert!(scenario::notes(&plan).is_empty(), "{:?}", scenario::notes(&plan));
            let given = format!("{{ discipline = \"{discipline}\", limit = \"7 packets\" }}");
            let plan = parsed(("50 Mbps", "5 ms"), &given, profile, CUBIC);
            assert_eq!(plan.links[0].queue, QueueLimit::Packets(7), "{discipline}");
        }
    }
}

/// On a path of 10 ms the default limit used to hold less than the controllers' targets, and PIE
/// and DualPI2 were drop-tail to the packet: a mean wait of 7.87 ms. Now they hold 15 ms (RFC 8033,
/// section 4.2; RFC 9332, appendix A.1), a fifth more while slow start overshoots.
#[test]
fn short_paths_have_the_delay_that_the_controllers_aim_at() {
    for discipline in ["pie", "dualpi2"] {
        let queue = format!("{{ discipline = \"{discipline}\" }}");
        let plan = parsed(("50 Mbps", "5 ms"), &queue, "modern", CUBIC);
        let link = Simulation::new(&plan).run().expect("nothing stops the run").summary.links[0].clone();
        assert!((0.013..0.018).contains(&link.queue_mean_s), "{discipline}: {}", link.queue_mean_s);
    }
}

/// A limit that is reached before the discipline acts is noted. By hand: 62,500 B at 50 Mbit/s are
/// 10 ms; 20 packets of 1500 B at 10 Mbit/s are 24 ms.
#[test]
fn a_limit_below_the_target_is_noted() {
    for (rate, queue, expected) in [
        (
            "50 Mbps",
            "{ discipline = \"pie\", limit = \"1 bdp\" }",
            "its queue holds 10 ms at most and pie aims at 15 ms",
        ),
        ("50 Mbps", "{ discipline = \"pie\", limit = \"1.6 bdp\" }", ""),
        ("10 Mbps", "{ discipline = \"codel\", limit = \"20 packets\" }", ""),
        (
            "10 Mbps",
            "{ discipline = \"codel\", limit = \"20 packets\", target = \"30 ms\" }",
            "and codel aims at 30 ms",
        ),
        ("10 Mbps", "{ discipline = \"red\", limit = \"5 packets\" }", "its queue holds 5 packets at most"),
        ("10 Mbps", "{ discipline = \"red\", limit = \"20 packets\" }", ""),
        ("10 Mbps", "{ discipline = \"drr\", limit = \"1 packet\" }", ""),
        ("10 Mbps", "\"1 packet\"", ""),
    ] {
        let plan = parsed((rate, "5 ms"), queue, "modern", CUBIC);
        let notes = scenario::notes(&plan);
        assert_eq!(notes.len(), usize::from(!expected.is_empty()), "{queue}: {notes:?}");
        assert!(notes.iter().all(|note| note.contains(expected)), "{queue}: {notes:?}");
    }
}

/// RED as DCTCP studies set it (Alizadeh et al. 2010: K = 65 packets at 10 Gbit/s): both thresholds
/// K, weight 1, marks and no drops. It used to be refused, and above the maximum everything was
/// dropped. Two equal flows share within the factor of 1.6 that a step at the same K in a drop-tail
/// queue has, too: their sawteeth lock.
#[test]
fn red_marks_from_a_step_on() {
    let red = "{ discipline = \"red\", limit = \"1000 packets\", minimum = \"65 packets\", \
               maximum = \"65 packets\", weight = 1.0, max_probability = 1.0, gentle = false, hard_drop = false }";
    let flow = "[transport]\necn = \"accurate\"\ntimer = { minimum = \"10 ms\" }\n\
                [[flow]]\ncount = 2\ncongestion_control = { model = \"prague\", pacing = false, virtual_rtt = \"0 s\" }\n";
    for queue in [red, "{ mark_above = \"65 packets\", limit = \"1000 packets\" }"] {
        let mut plan = parsed(("10 Gbps", "40 us"), queue, "modern", flow);
        plan.duration = ms(500);
        let summary = Simulation::new(&plan).run().expect("nothing stops the run").summary;
        let link = &summary.links[0];
        assert!(link.drops == 0 && link.ce_marks > 1000 && link.utilization > 0.95, "{link:?}");
        let ratio = summary.flows[0].goodput_bps / summary.flows[1].goodput_bps;
        assert!((1.0 / 1.6..1.6).contains(&ratio), "{ratio}");
    }
}

/// A bottleneck with this discipline, whose access links delay each packet at random.
fn contended(discipline: DisciplinePlan, ecn: Ecn, (seed, load, limit): (u64, u64, QueueSize)) -> Plan {
    let transport = Transport { ecn, ..Transport::modern() };
    let network = dumbbell(mbps(10), ms(30)).access(mbps(100), ms(2)).queue(limit).transport(transport);
    let first = if ecn == Ecn::Accurate { "prague" } else { "cubic" };
    let network = network.flow(first).flow("reno").flow("reno").seed(seed).duration(s(6));
    let mut plan = common::plan(network);
    plan.links[0].discipline = discipline;
    for link in plan.links.iter_mut().skip(2) {
        link.jitter = Duration::from_microseconds(700);
    }
    let mix = UdpPlan::steady(Bytes(400), kbps(load), Arrivals::Poisson);
    plan.flows[2].protocol = Protocol::Udp(Box::new(mix));
    plan
}

/// A managed queue decides on arrival as it would in the packet's turn. With packet records each is
/// held until then, and nothing else differs: totals and samples, bit by bit.
#[test]
fn queues_decide_alike() {
    let mut fewer = 0;
    for discipline in [
        named("codel", &[]),
        named("codel", &[("target", Value::Duration(ms(20)))]),
        named("codel", &[("target", Value::Duration(Duration::ZERO)), DROPS]),
        named("red", &[]),
        named("red", &[("adaptive", Value::Switch(true)), DROPS]),
        named("red", &[("hard_drop", Value::Switch(false)), ("weight", Value::Number(0.3))]),
        named("pie", &[]),
        named("pie", &[DROPS, ("update", Value::Duration(Duration::from_microseconds(1200)))]),
        named("fq-codel", &[]),
        named("fq-codel", &[("target", Value::Duration(Duration::ZERO)), ("flows", Value::Count(2)), DROPS]),
        named("fq-codel", &[("shared_backlog", Value::Switch(true))]),
        named("fq-pie", &[]),
        named("drr", &[]),
        named("drr", &[("quantum", Value::Bytes(Bytes(400)))]),
        named("dualpi2", &[]),
    ] {
        for seed in 1..=6 {
            let ecn = [Ecn::Classic, Ecn::Off, Ecn::Accurate][seed as usize / 2 % 3];
            let limit = match seed % 3 {
                0 => QueueSize::Unlimited,
                1 => QueueSize::Packets(40),
                _ => QueueSize::Bytes(Bytes(60_000)),
            };
            let mut plan = contended(discipline, ecn, (seed, seed * 1500, limit));
            plan.links[0].counts_packet_in_service = seed % 2 == 1;
            let told = |plan: &Plan| {
                let mut outcome = Simulation::new(plan).run().expect("nothing stops the run");
                let events = std::mem::take(&mut outcome.summary.events);
                (events, format!("{:?} {:?} {:?}", outcome.summary, outcome.link_series, outcome.flow_series))
            };
            let (short, found) = told(&plan);
            plan.record.packets = true;
            let (long, expected) = told(&plan);
            let same = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
            let around = |text: &str| text[same.saturating_sub(200)..(same + 40).min(text.len())].to_owned();
            assert!(
                found == expected,
                "{discipline:?}, seed {seed}: {} in the place of {}",
                around(&found),
                around(&expected)
            );
            fewer += u64::from(short < long);
        }
    }
    assert!(fewer >= 6 * 6, "packets that have to wait take the shortcut");
}

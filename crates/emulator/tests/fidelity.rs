//! Real packets at the times of simulated ones have the same fate: every event of every packet is
//! the same.

mod common;

use selfclock_congestion::parameter::Value;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use selfclock_emulator::replay::{Recorded, Replay};
use selfclock_emulator::{Header, Outcome};
use selfclock_simulator::Simulation;
use selfclock_simulator::delivery_trace::DeliveryTraceBuilder;
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{
    Arrivals, DisciplinePlan, Ecn, Flow, LinkChange, LossPlan, MechanismPlan, Plan, PlanBuilder, Protocol,
    RouterPlan, Transport, dumbbell, mbps, ms, packets, s, udp,
};
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord};
use selfclock_simulator::record::summary::Summary;
use std::collections::BTreeMap;
use std::sync::Arc;

fn of(builder: PlanBuilder) -> Plan {
    let mut plan = builder.plan().unwrap_or_else(|error| panic!("{error}"));
    plan.record.packets = true;
    plan
}

/// Three TCP flows and one of UDP that fill a queue. They begin in turn, the order of their slots.
fn busy(discipline: DisciplinePlan) -> Plan {
    let transport = Transport { ecn: Ecn::Classic, ..Transport::modern() };
    let network =
        dumbbell(mbps(20), ms(30)).access(mbps(200), ms(2)).queue(packets(60)).discipline(discipline);
    let flow = |label: &str, start| -> Flow {
        selfclock_simulator::plan::tcp(label).transport(transport.clone()).start(ms(start))
    };
    let network = network.flow(flow("cubic", 0)).flow(flow("reno", 7)).flow(udp(mbps(3)).start(ms(11)));
    of(network.duration(s(5)))
}

/// Poisson or constant datagrams across one link.
fn datagrams(rate: Rate, arrivals: Arrivals, discipline: DisciplinePlan) -> Plan {
    let network = dumbbell(mbps(10), ms(20)).access(mbps(1000), ms(1)).queue(packets(50));
    let mut plan = of(network.discipline(discipline).flow(udp(rate)).duration(s(10)));
    if let Protocol::Udp(udp) = &mut plan.flows[0].protocol {
        udp.arrivals = arrivals;
        udp.packets = vec![(Bytes(1000), 1.0)];
    }
    plan
}

struct Compared {
    simulated: Summary,
    records: Vec<PacketRecord>,
    emulated: Outcome,
}

/// Fields of an event that must be equal. A real packet's options and timestamps are not in its
/// record.
fn shown(record: &PacketRecord) -> (Time, PacketEvent, u32, u32, PacketKind, Codepoint, u64, u32, bool) {
    let PacketRecord { time, event, link, flow, kind, ecn, size, retransmission, .. } = *record;
    let number = if matches!(kind, PacketKind::Ack | PacketKind::SynAck) {
        record.acknowledgement
    } else {
        record.sequence
    };
    (time, event, link, flow, kind, ecn, number, size, retransmission)
}

/// Simulates a plan, then sends real packets at the same times. Simultaneous packets may come in
/// another order, so events are compared per packet, identified by send time, sender and content.
fn compare(plan: &Plan) -> Compared {
    let simulated = Simulation::new(plan).run().expect("nothing stops the run");
    let records: Vec<_> = simulated.packets.iter().collect();
    let hosts = common::hosts(plan);
    let mut emulation = common::emulation(plan);
    let mut marked = 0;
    for record in records.iter().filter(|record| record.event == PacketEvent::Send) {
        let host = &plan.nodes[common::sender(plan, record).0];
        let host = hosts.iter().position(|each| each.name == *host).expect("a host");
        common::advance(&mut emulation, record.time, |_, _, bytes| {
            let ecn = Header::read(bytes).expect("a packet").ecn;
            marked += usize::from(ecn == Codepoint::Ce);
        });
        emulation.send(record.time, host, &common::packet(plan, record));
    }
    let end = Time::ZERO + plan.duration;
    common::advance(&mut emulation, end, |_, _, bytes| {
        marked += usize::from(Header::read(bytes).expect("a packet").ecn == Codepoint::Ce);
    });
    let emulated = emulation.finish(end);
    let mut expected: Vec<_> = records.iter().map(shown).collect();
    let mut found: Vec<_> =
        emulated.packets.iter().map(|record| shown(&record)).filter(|event| event.0 <= end).collect();
    let key = |event: &(Time, PacketEvent, u32, u32, PacketKind, Codepoint, u64, u32, bool)| {
        (event.0, event.3, event.6, event.1 as u8, event.2, event.4 as u8)
    };
    expected.sort_by_key(key);
    found.sort_by_key(key);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected.len(), found.len());
    let delivered = records.iter().filter(|record| record.event == PacketEvent::Deliver);
    assert_eq!(
        marked,
        delivered.filter(|record| record.ecn == Codepoint::Ce).count(),
        "marks in real headers"
    );
    Compared { simulated: simulated.summary, records, emulated }
}

fn count(records: &[PacketRecord], event: PacketEvent) -> usize {
    records.iter().filter(|record| record.event == event).count()
}

#[test]
fn every_discipline_drops_and_marks_the_same() {
    for discipline in DisciplinePlan::all() {
        let name = discipline.entry().name;
        let Compared { records, .. } = compare(&busy(discipline));
        let (drops, marks) = (count(&records, PacketEvent::Drop), count(&records, PacketEvent::Mark));
        assert!(drops + marks > 20, "{name}: {drops} drops and {marks} marks show nothing");
    }
}

/// The emulator reads from real headers the fields that simulated hosts know.
#[test]
fn flows_are_followed_on_their_path() {
    let Compared { simulated, emulated, .. } = compare(&busy(DisciplinePlan::default()));
    for (own, seen) in simulated.flows.iter().zip(&emulated.report.flows) {
        let name = &own.name;
        assert_eq!((own.from.as_str(), own.to.as_str()), (seen.from.as_str(), seen.to.as_str()), "{name}");
        assert_eq!(own.sent_segments, seen.sent_segments, "{name}");
        if own.algorithm == "udp" {
            assert_eq!(Some(own.delivered_segments), seen.delivered_segments);
            assert_eq!(own.delivered_bytes, seen.delivered_bytes);
            continue;
        }
        assert_eq!(Some(own.retransmitted_segments), seen.retransmitted_segments, "{name}");
        assert!(own.retransmitted_segments > 0, "{name} shows nothing of retransmissions");
        // Data received and not yet acknowledged: a delayed ACK's two segments, and a hole's.
        let unknown = own.delivered_bytes - seen.delivered_bytes;
        assert!(unknown <= 2 * 1448, "{name}: {unknown} B");
        assert_eq!(own.rtt_min_s, seen.rtt_min_s, "{name}: the handshake");
        // With timestamps an ACK of retransmitted segments gives a sample on the path, too. Their
        // part of the samples, one for two segments, moves the mean by at most this part of itself,
        // since none exceeds twice the mean.
        let part = 2.0 * own.retransmitted_segments as f64 / own.sent_segments as f64;
        let (mean, seen) = (own.rtt_mean_s.expect("samples"), seen.rtt_mean_s.expect("samples"));
        assert!((seen / mean - 1.0).abs() < part, "{name}: {seen} s on the path, {mean} s at the sender");
        // A mean of other samples, or of half of them, is off by more than a tenth.
        assert!(part < 0.1, "{name}: {part} shows nothing");
    }
}

/// Constant rate: 1,000 bytes take 0.8 ms at 10 Mbit/s; at 12 Mbit/s every sixth is dropped.
#[test]
fn a_constant_rate() {
    let Compared { records, emulated, .. } =
        compare(&datagrams(mbps(12), Arrivals::Constant, DisciplinePlan::default()));
    let at_the_end: Vec<Time> = records
        .iter()
        .filter(|record| record.event == PacketEvent::Deliver)
        .map(|record| record.time)
        .collect();
    let full = &at_the_end[1000..];
    assert!(full.windows(2).all(|pair| pair[1].since(pair[0]) == Duration::from_microseconds(800)));
    let (sent, dropped) =
        (count(&records, PacketEvent::Send) as f64, count(&records, PacketEvent::Drop) as f64);
    // The queue of 50 packets fills first; one more is in service, and one may be in flight.
    assert!((dropped + 50.0 - sent / 6.0).abs() <= 2.0, "{dropped} of {sent}");
    assert_eq!(emulated.report.flows[0].dropped_packets, dropped as u64);
}

/// M/D/1 at a load of 0.6: the mean wait is rho / (2 (1 - rho)) = 0.75 services, 0.6 ms. 7,500
/// packets; a wait is correlated over some 1 / (1 - rho)^2 = 6 services, so the mean of some 1,200
/// independent ones with a deviation of about their mean is good to 3 %.
#[test]
fn random_arrivals_at_one_link() {
    let Compared { emulated, .. } =
        compare(&datagrams(mbps(6), Arrivals::Poisson, DisciplinePlan::default()));
    let bottleneck =
        emulated.report.links.iter().find(|link| link.rate_bps == 10_000_000).expect("it is there");
    assert!((bottleneck.queue_mean_s / 0.6e-3 - 1.0).abs() < 0.12, "{} s", bottleneck.queue_mean_s);
}

/// RFC 8289, section 4.1: after the first drop the next ones come interval / sqrt(count) apart.
#[test]
fn codel_drops_at_its_times() {
    let discipline = DisciplinePlan::named("codel").expect("it is listed");
    let mut plan = datagrams(mbps(11), Arrivals::Constant, discipline);
    plan.links.iter_mut().for_each(|link| link.queue = selfclock_simulator::plan::QueueLimit::Unlimited);
    let Compared { records, .. } = compare(&plan);
    let drops: Vec<Time> =
        records.iter().filter(|record| record.event == PacketEvent::Drop).map(|record| record.time).collect();
    // It drops when the transmitter asks for a packet, which it does every 0.8 ms.
    for (count, pair) in drops.windows(2).take(10).enumerate() {
        let expected = 0.1 / libm_sqrt(count as f64 + 1.0);
        let gap = pair[1].since(pair[0]).seconds();
        assert!((gap - expected).abs() < 0.0009, "drop {}: {gap} s, {expected} s", count + 2);
    }
}

fn libm_sqrt(value: f64) -> f64 {
    value.sqrt()
}

/// RFC 9332: a classic packet is dropped or marked with the square of half the probability with
/// which one of L4S is marked.
#[test]
fn dualpi2_couples_its_queues() {
    let discipline = DisciplinePlan::named("dualpi2").expect("it is listed");
    let transport = |ecn| Transport { ecn, ..Transport::modern() };
    let network =
        dumbbell(mbps(20), ms(20)).access(mbps(200), ms(2)).queue(packets(500)).discipline(discipline);
    let classic = selfclock_simulator::plan::tcp("reno").transport(transport(Ecn::Classic));
    let scalable = selfclock_simulator::plan::tcp("prague").transport(transport(Ecn::Accurate)).start(ms(9));
    let Compared { records, .. } = compare(&of(network.flow(classic).flow(scalable).duration(s(20))));
    let fraction = |flow: u32, codepoint: Codepoint| {
        let own = |record: &&PacketRecord| record.flow == flow && record.kind == PacketKind::Data;
        let own = records.iter().filter(own);
        let (mut marks, mut all) = (0.0, 0.0);
        for record in own {
            marks +=
                f64::from(u8::from(record.event == PacketEvent::Mark || record.event == PacketEvent::Drop));
            all += f64::from(u8::from(record.event == PacketEvent::Send && record.ecn == codepoint));
        }
        marks / all
    };
    let (classic, scalable) = (fraction(0, Codepoint::Ect0), fraction(1, Codepoint::Ect1));
    assert!(scalable > 10.0 * classic && classic > 0.0, "{classic} of classic packets, {scalable} of L4S");
}

/// A token bucket: in no interval more than its rate and its burst.
#[test]
fn a_policer_lets_through_its_rate_and_burst() {
    let mut mechanism = MechanismPlan::named("policer").expect("it is listed");
    let rate = Value::Rate(Rate::from_bits_per_second(4_000_000));
    mechanism.set("rate", rate).unwrap_or_else(|error| panic!("{error}"));
    mechanism.set("burst", Value::Bytes(Bytes(10_000))).unwrap_or_else(|error| panic!("{error}"));
    let mut plan = datagrams(mbps(6), Arrivals::Poisson, DisciplinePlan::default());
    let bottleneck = plan.links.iter().position(|link| link.rate == mbps(10)).expect("it is there");
    plan.routers = vec![RouterPlan { links: vec![bottleneck], mechanism }];
    let Compared { records, .. } = compare(&plan);
    let passed: Vec<Time> = records
        .iter()
        .filter(|record| record.event == PacketEvent::Enqueue && record.link as usize == bottleneck)
        .map(|record| record.time)
        .collect();
    assert!(count(&records, PacketEvent::Drop) > 1_000);
    for (index, &first) in passed.iter().enumerate() {
        for (more, &last) in passed.iter().enumerate().skip(index).take(100) {
            let bits = (more - index + 1) as f64 * 8_000.0;
            assert!(bits <= 80_000.0 + 4e6 * last.since(first).seconds() + 1e-3, "{first:?} to {last:?}");
        }
    }
}

/// Opportunities of a trace: one packet of up to 1,504 bytes at 0, 2, 2 and 7 ms of each 10.
#[test]
fn a_delivery_trace_gives_its_opportunities() {
    let mut builder = DeliveryTraceBuilder::default();
    for (milliseconds, count) in [(0, 1), (2, 2), (7, 1), (10, 1)] {
        builder.add(milliseconds, count).expect("in order");
    }
    let trace = Arc::new(builder.build().expect("a trace"));
    let mut plan = datagrams(mbps(6), Arrivals::Poisson, DisciplinePlan::default());
    let bottleneck = plan.links.iter().position(|link| link.rate == mbps(10)).expect("it is there");
    plan.links[bottleneck].rate = trace.rate();
    plan.links[bottleneck].trace = Some(trace.clone());
    let Compared { records, .. } = compare(&plan);
    let offered = |time: Time| trace.offered_until(time);
    let sent: Vec<&PacketRecord> = records
        .iter()
        .filter(|record| record.event == PacketEvent::Transmit && record.link as usize == bottleneck)
        .collect();
    assert!(sent.len() > 1_000);
    let mut bytes = 0;
    for record in sent {
        bytes += u64::from(record.size);
        assert!(bytes <= offered(record.time) + 1_504, "{} B by {:?}", bytes, record.time);
    }
}

#[test]
fn imperfect_links_and_changes_do_the_same() {
    let mut plan = busy(DisciplinePlan::default());
    plan.links[0].loss = LossPlan::Bernoulli(0.01);
    plan.links[0].jitter = ms(3);
    plan.links[0].changes = vec![LinkChange { at: Time::ZERO + s(2), rate: mbps(5), delay: ms(20) }];
    let Compared { records, .. } = compare(&plan);
    assert!(count(&records, PacketEvent::Lose) > 20);
}

/// It drops when the transmitter requests a packet, every 0.8 ms.
#[test]
fn a_record_is_replayed() {
    for discipline in ["drop-tail", "fq-codel", "dualpi2"] {
        let plan = busy(DisciplinePlan::named(discipline).expect("it is listed"));
        let Compared { emulated, .. } = compare(&plan);
        let records: Vec<_> = emulated.packets.iter().collect();
        let mut first_links = BTreeMap::new();
        for record in records.iter().filter(|record| record.link != u32::MAX) {
            first_links.entry(record.packet).or_insert(record.link);
        }
        let first = |number: u64| first_links.get(&number).copied().unwrap_or(u32::MAX);
        // Simulated hosts send at any picosecond.
        let whole = |record: &PacketRecord| (record.time.picoseconds() / 1_000) * 1_000;
        let hosts = common::hosts(&plan);
        let nodes: Vec<usize> =
            hosts.iter().filter_map(|host| plan.nodes.iter().position(|node| *node == host.name)).collect();
        let mut emulation = common::emulation(&plan);
        for record in records.iter().filter(|record| record.event == PacketEvent::Send) {
            let now = Time::from_picoseconds(whole(record));
            let host = &plan.nodes[common::sender(&plan, record).0];
            let host = hosts.iter().position(|each| each.name == *host).expect("a host");
            common::advance(&mut emulation, now, |_, _, _| {});
            emulation.send(now, host, &common::packet(&plan, record));
        }
        let end = Time::ZERO + plan.duration;
        common::advance(&mut emulation, end, |_, _, _| {});
        let own = emulation.finish(end);
        let mut recorded: Vec<Recorded> = own
            .packets
            .iter()
            .filter(|record| record.time <= end)
            .map(|record| Recorded::of(&record, first(record.packet)))
            .collect();
        let replay = |recorded: &[Recorded]| {
            let mut replay = Replay::new(&plan, &nodes, 1).expect("a network");
            recorded.chunks(1_000).for_each(|part| replay.add(part));
            replay.finish(end)
        };
        let findings = replay(&recorded);
        assert_eq!(findings.differences, [], "{discipline}");
        assert!(findings.dropped + findings.marked > 20, "{discipline}");
        let drop =
            recorded.iter().rposition(|event| event.event == PacketEvent::Deliver).expect("some arrive");
        recorded[drop].ecn = Codepoint::Ce;
        assert_eq!(replay(&recorded).differences.len(), 1, "{discipline}");
    }
}

//! Recorded arrivals, replayed through the same network from outside, meet the same drops, marks
//! and departures.

mod common;

use selfclock_congestion::parameter::Value;
use selfclock_congestion::units::{Duration, Rate, Time};
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{
    DisciplinePlan, Ecn, LossPlan, MechanismPlan, Plan, QueueSize, RouterPlan, Transport, dumbbell, mbps, ms,
    packets, s, udp, us,
};
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord};
use selfclock_simulator::wires::{Direction, Fate, Parcel, Wires};
use std::collections::BTreeMap;

/// Three flows that fill a queue, at times that do not coincide.
fn plan(discipline: DisciplinePlan) -> Plan {
    let transport = Transport { ecn: Ecn::Classic, ..Transport::modern() };
    let network =
        dumbbell(mbps(20), ms(30)).access(mbps(200), ms(2)).queue(packets(60)).discipline(discipline);
    let flows =
        ["cubic", "reno"].map(|label| selfclock_simulator::plan::tcp(label).transport(transport.clone()));
    let network = network.flows(flows.map(|flow| flow.start_jitter(us(777)))).flow(udp(mbps(3)));
    let mut plan = common::plan(network.duration(s(8)));
    plan.record.packets = true;
    plan
}

/// Arrival time and codepoint of a packet; `None` if it was dropped.
type Fates = BTreeMap<u64, Option<(Time, Codepoint)>>;

fn simulated(records: &[PacketRecord]) -> Fates {
    let fate = |record: &PacketRecord| match record.event {
        PacketEvent::Deliver => Some((record.packet, Some((record.time, record.ecn)))),
        PacketEvent::Drop | PacketEvent::Lose => Some((record.packet, None)),
        _ => None,
    };
    records.iter().filter_map(fate).collect()
}

/// Replays the sends of a record.
fn replayed(plan: &Plan, records: &[PacketRecord]) -> Fates {
    // Packets in flight when the run ends must be in flight here, too.
    let lasting = Plan { duration: plan.duration + Duration::from_milliseconds(1_000), ..plan.clone() };
    let mut wires = Wires::new(&lasting);
    let mut fates = Fates::new();
    let mut note = |left: selfclock_simulator::wires::Left<u64>| {
        let fate = match left.fate {
            Fate::Arrived { at, ecn, .. } => Some((at, ecn)),
            Fate::Dropped => None,
        };
        assert!(fates.insert(left.load, fate).is_none(), "a packet leaves the network once");
    };
    for record in records.iter().filter(|record| record.event == PacketEvent::Send) {
        if record.kind == PacketKind::ResourceDiscovery {
            continue;
        }
        wires.advance(record.time).for_each(&mut note);
        let answers = matches!(record.kind, PacketKind::Ack | PacketKind::SynAck);
        let parcel = Parcel {
            size: record.size as u16,
            ecn: record.ecn,
            kind: record.kind,
            sequence: if answers { record.acknowledgement } else { record.sequence },
            payload: record.payload,
            retransmission: record.retransmission,
            ..Parcel::datagram(0)
        };
        let direction = if answers { Direction::Backward } else { Direction::Forward };
        wires.send(record.time, record.flow as usize, direction, &parcel, record.packet);
    }
    wires.advance(Time::ZERO + plan.duration).for_each(&mut note);
    fates
}

/// Compares packet by packet; returns the numbers of dropped and of marked packets.
fn compare(plan: &Plan) -> (usize, usize) {
    let records: Vec<_> = common::run(plan).packets.iter().collect();
    let (expected, found) = (simulated(&records), replayed(plan, &records));
    for (packet, fate) in &expected {
        assert_eq!(found.get(packet), Some(fate), "packet {packet}");
    }
    assert_eq!(found.len(), expected.len(), "no other packet left the network");
    let drops = expected.values().filter(|fate| fate.is_none()).count();
    let marks = expected.values().flatten().filter(|(_, ecn)| *ecn == Codepoint::Ce).count();
    (drops, marks)
}

#[test]
fn every_discipline_drops_and_marks_the_same() {
    for discipline in DisciplinePlan::all() {
        let name = discipline.entry().name;
        let (drops, marks) = compare(&plan(discipline));
        assert!(drops + marks > 20, "{name}: {drops} drops and {marks} marks show nothing");
    }
}

#[test]
fn imperfect_links_lose_and_delay_the_same() {
    let mut plan = plan(DisciplinePlan::default());
    plan.links[0].loss = LossPlan::Bernoulli(0.01);
    plan.links[0].jitter = Duration::from_milliseconds(3);
    let (drops, _) = compare(&plan);
    assert!(drops > 50);
}

#[test]
fn routers_do_the_same() {
    for (name, setting, value) in [
        ("policer", "rate", Value::Rate(Rate::from_bits_per_second(8_000_000))),
        ("ack-thinning", "interval", Value::Duration(Duration::from_milliseconds(10))),
        ("loss", "probability", Value::Number(0.01)),
    ] {
        let mut mechanism = MechanismPlan::named(name).unwrap_or_else(|| panic!("{name}"));
        mechanism.set(setting, value).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut plan = plan(DisciplinePlan::default());
        let link = usize::from(name == "ack-thinning");
        plan.routers = vec![RouterPlan { links: vec![link], mechanism }];
        let (drops, _) = compare(&plan);
        assert!(drops > 20, "{name}: {drops} drops show nothing");
    }
}

/// One packet, by hand: 1,500 bytes take 120 microseconds at 100 Mbit/s and 1.2 ms at 10 Mbit/s,
/// beside 20 ms of delay.
#[test]
fn a_packet_takes_its_time() {
    let plan = common::plan(dumbbell(mbps(10), ms(40)).access(mbps(100), ms(2)).flow("reno").unrecorded());
    let mut wires = Wires::new(&plan);
    wires.send(Time::ZERO, 0, Direction::Forward, &Parcel::datagram(1500), ());
    wires.send(Time::ZERO, 0, Direction::Backward, &Parcel::datagram(1500), ());
    let due = Time::ZERO + Duration::from_microseconds(20_000 + 2 * 120 + 1_200);
    assert_eq!(wires.advance(Time::from_picoseconds(due.picoseconds() - 1)).count(), 0);
    let left: Vec<_> = wires.advance(due).collect();
    assert_eq!(left.len(), 2);
    for one in left {
        assert_eq!(one.fate, Fate::Arrived { at: due, ecn: Codepoint::NotEct, receive_window: None });
    }
    assert_eq!(wires.next_event(), None);
}

/// Forty different delays exceed the sorted lanes: later packets wait in epochs, which must be
/// opened. They once were not, and events looked for packets in the timers.
#[test]
fn packets_with_many_delays_arrive() {
    let mut plan = common::plan(
        dumbbell(mbps(100), ms(20)).queue(QueueSize::Unlimited).flows((0..40).map(|_| udp(mbps(1)))),
    );
    for flow in 0..plan.flows.len() {
        let access = plan.flows[flow].forward[0];
        plan.links[access].delay = Duration::from_microseconds(5_000 + 100 * flow as u64);
    }
    let mut wires = Wires::new(&plan);
    // The longest path first, so that each packet arrives before all earlier ones.
    for round in 0..50 {
        let now = Time::ZERO + Duration::from_microseconds(77 * round);
        wires.advance(now).for_each(drop);
        for flow in (0..40).rev() {
            wires.send(now, flow, Direction::Forward, &Parcel::datagram(200), (round, flow));
        }
    }
    let left: Vec<_> = wires.advance(Time::ZERO + s(1)).collect();
    assert!(left.iter().all(|left| left.fate.is_arrival() && left.flow == left.load.1));
    assert_eq!(left.len(), 2000);
    assert_eq!(wires.next_event(), None);
}

//! The published loop of each discipline, written once more from its text, beside the production
//! code: packet by packet, over random traffic.
//!
//! A reference shares nothing with the production code but the hash that chooses a queue and the
//! random numbers, which both draw at the same places. It is slow and keeps the names of its
//! source.

mod codel;
mod drop_tail;
mod drr;
mod dualpi2;
mod flow_queueing;
mod pie;
mod red;

use super::{AnyDiscipline, DisciplinePlan, ManagedQueue, QueueLimit};
use crate::engine::Stream;
use crate::engine::random::Purpose;
use crate::named::Named as _;
use crate::packet::{Flags, NO_EXTRA, Packet, PacketKind};
use crate::queue::managed::tests::site;
use selfclock_congestion::parameter::Value;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A packet as a reference sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    id: u32,
    flow: u32,
    size: u64,
    /// Its ECN field: 0 (not-ECT), 1 (ECT(1)), 2 (ECT(0)) or 3 (CE).
    ecn: u8,
    arrival: Time,
}

impl Item {
    /// Marks it; false if its transport does not understand that.
    fn mark(&mut self) -> bool {
        let capable = self.ecn != 0;
        if capable {
            self.ecn = 3;
        }
        capable
    }
}

/// Effects of an arrival or a departure: packets dropped, in order, and the one that leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    dropped: Vec<u32>,
    /// Number and ECN field.
    sent: Option<(u32, u8)>,
}

/// A published loop.
trait Published {
    fn enqueue(&mut self, now: Time, packet: Item, step: &mut Step);
    fn dequeue(&mut self, now: Time, step: &mut Step) -> Option<Item>;
}

/// Room of a queue.
#[derive(Clone, Copy, Debug)]
struct Room {
    packets: usize,
    bytes: u64,
}

impl Room {
    const ENDLESS: Self = Self { packets: usize::MAX, bytes: u64::MAX };

    fn packets(packets: usize) -> Self {
        Self { packets, ..Self::ENDLESS }
    }

    fn bytes(bytes: u64) -> Self {
        Self { bytes, ..Self::ENDLESS }
    }

    fn holds<'a>(self, waiting: impl Iterator<Item = &'a Item>) -> bool {
        let (packets, bytes) = waiting.fold((0, 0), |(count, sum), packet| (count + 1, sum + packet.size));
        packets <= self.packets && bytes <= self.bytes
    }

    fn limit(self) -> QueueLimit {
        match self {
            Self { packets: usize::MAX, bytes: u64::MAX } => QueueLimit::Unlimited,
            Self { packets: usize::MAX, bytes } => QueueLimit::Bytes(Bytes(bytes)),
            Self { packets, .. } => QueueLimit::Packets(packets as u64),
        }
    }
}

/// A first-in, first-out list with its bytes.
#[derive(Clone, Debug, Default)]
struct Fifo(VecDeque<Item>);

impl Fifo {
    fn bytes(&self) -> u64 {
        self.0.iter().map(|packet| packet.size).sum()
    }

    fn with(&self, packet: &Item, room: Room) -> bool {
        room.holds(self.0.iter().chain([packet]))
    }
}

/// Random traffic on a link. Phases of a few to hundreds of packet times have one load each,
/// between nothing and four times the rate; flows come and stay, or send one packet; some stand
/// still for minutes.
#[derive(Clone, Debug)]
struct Traffic {
    seed: u64,
    /// Rate at the beginning, bit/s.
    rate: u64,
    /// It changes tenfold up and down.
    changes: bool,
    sizes: &'static [u16],
    packets: u32,
}

/// Smallest and largest packets, and those between.
const MIXED: &[u16] = &[40, 64, 576, 1000, 1500, 1500, 1500, 9000, 65_000];
const USUAL: &[u16] = &[40, 1500, 1500, 1500];
const EQUAL: &[u16] = &[1500];

impl Traffic {
    /// Arrivals in order, and the rate from given times on.
    fn generate(&self) -> (Vec<Item>, Vec<(Time, u64)>) {
        let mut random = Stream::new(self.seed, Purpose::FlowArrivals, 7);
        let mut pick = |below: u64| random.bits() % below;
        let (mut arrivals, mut rates) = (Vec::new(), vec![(Time::ZERO, self.rate)]);
        let (mut now, mut rate, mut newest) = (0_u64, self.rate, 8_u32);
        let mean = self.sizes.iter().map(|&size| u64::from(size)).sum::<u64>() / self.sizes.len() as u64;
        while arrivals.len() < self.packets as usize {
            let load = [0, 3, 9, 10, 12, 20, 40][pick(7) as usize];
            let count = 1 + pick(300);
            let spacing = mean * 8 * 1_000_000_000_000 / rate;
            if load == 0 {
                now += spacing * [1, 30, 1000, 100_000][pick(4) as usize];
            }
            if self.changes && pick(3) == 0 {
                rate = (self.rate / [1, 10, 2, 1][pick(4) as usize]).max(1000);
                rates.push((Time::from_picoseconds(now), rate));
            }
            let active = 1 + pick(12) as u32;
            for _ in 0..if load == 0 { 0 } else { count } {
                // Bursts at one instant, or spaced evenly with jitter.
                if pick(4) > 0 {
                    now += spacing * 10 / load * (50 + pick(200)) / 100;
                }
                newest += u32::from(pick(20) == 0);
                let flow = if pick(15) == 0 { newest } else { pick(active.into()) as u32 };
                arrivals.push(Item {
                    id: arrivals.len() as u32,
                    flow,
                    size: self.sizes[pick(self.sizes.len() as u64) as usize].into(),
                    // A flow's transport is one of three.
                    ecn: [0, 2, 1][flow as usize % 3],
                    arrival: Time::from_picoseconds(now),
                });
            }
        }
        (arrivals, rates)
    }
}

/// A discipline with settings.
fn plan(name: &str, settings: &[(&str, Value<'_>)]) -> DisciplinePlan {
    let mut plan = DisciplinePlan::named(name).expect("a name");
    for (setting, value) in settings {
        plan.set(setting, *value).expect("a setting");
    }
    plan
}

/// Random numbers of the link.
fn stream(seed: u64) -> Stream {
    Stream::new(seed, Purpose::LinkQueue, 0)
}

fn packet_of(item: &Item) -> Packet {
    Packet {
        arrival: item.arrival,
        order: 0,
        sequence: 0,
        sent: item.arrival,
        echo: Time::NEVER,
        flow: item.flow,
        hop: 0,
        payload: 0,
        size: item.size as u16,
        kind: PacketKind::Data,
        flags: [Flags::NONE, Flags::ECT_1, Flags::ECT_0][usize::from(item.ecn)],
        extra: NO_EXTRA,
        number: item.id,
    }
}

/// The last step of the production code.
fn step_of(queue: &ManagedQueue, sent: Option<&Packet>) -> Step {
    let ecn = |packet: &Packet| match packet.flags {
        flags if flags.has(Flags::CE) => 3,
        flags if flags.has(Flags::ECT_1) => 1,
        flags if flags.has(Flags::ECT_0) => 2,
        _ => 0,
    };
    Step {
        dropped: queue.work.dropped.iter().map(|packet| packet.number).collect(),
        sent: sent.map(|packet| (packet.number, ecn(packet))),
    }
}

/// Tells the queue of changes of the rate until now, each at its time: what is due before one
/// has the rate before it.
fn follow(queue: &mut ManagedQueue, rates: &[(Time, u64)], told: &mut usize, now: Time) {
    while let Some(&(at, rate)) = rates.get(*told)
        && at <= now
    {
        if *told > 0 {
            queue.catch_up(Time::from_picoseconds(at.picoseconds().saturating_sub(1)), (0, 0));
        }
        queue.work.rate = Rate::from_bits_per_second(rate);
        *told += 1;
    }
}

/// Rate at a time.
fn rate_at(rates: &[(Time, u64)], time: Time) -> Rate {
    let index = rates.partition_point(|&(at, _)| at <= time) - 1;
    Rate::from_bits_per_second(rates[index].1)
}

/// Runs both over the same arrivals, each departure when the transmitter is free, and returns how
/// many packets were dropped and how many left marked.
fn compare(plan: DisciplinePlan, room: Room, traffic: &Traffic, reference: &mut dyn Published) -> (u64, u64) {
    let mut site = site();
    (site.rate, site.stream) = (Rate::from_bits_per_second(traffic.rate), stream(traffic.seed));
    let discipline = AnyDiscipline::new(plan, site).expect("a managed queue");
    let mut queue = ManagedQueue::new(discipline, room.limit(), false);
    let (arrivals, rates) = traffic.generate();
    let mut arrivals = arrivals.into_iter().peekable();
    let (mut free_at, mut told) = (Time::ZERO, 0);
    let (mut drops, mut marks) = (0, 0);
    loop {
        let next = arrivals.peek().map_or(Time::NEVER, |packet| packet.arrival);
        // At equal times departures precede arrivals.
        if !queue.is_empty() && free_at <= next {
            let mut expected = Step::default();
            follow(&mut queue, &rates, &mut told, free_at);
            let sent = queue.dequeue(free_at);
            let own = reference.dequeue(free_at, &mut expected);
            expected.sent = own.map(|packet| (packet.id, packet.ecn));
            let found = step_of(&queue, sent.as_ref());
            assert_eq!(found, expected, "departure at {free_at:?}, {plan:?}, {traffic:?}");
            drops += found.dropped.len() as u64;
            marks += u64::from(found.sent.is_some_and(|(_, ecn)| ecn == 3));
            if let Some(packet) = sent {
                let rate = queue.work.rate;
                free_at += rate.transmission_time(Bytes(packet.size.into()));
            }
            continue;
        }
        let Some(item) = arrivals.next() else { return (drops, marks) };
        let mut expected = Step::default();
        follow(&mut queue, &rates, &mut told, item.arrival);
        queue.enqueue(item.arrival, &packet_of(&item), None, true, (0, 0));
        reference.enqueue(item.arrival, item, &mut expected);
        let found = step_of(&queue, None);
        assert_eq!(found, expected, "arrival of {item:?}, {plan:?}, {traffic:?}");
        drops += found.dropped.len() as u64;
        free_at = free_at.max(item.arrival);
    }
}

/// Traffic of several seeds, rates and sizes.
fn traffics(changes: bool) -> impl Iterator<Item = Traffic> {
    (1..=12).map(move |seed| Traffic {
        seed,
        rate: [100_000, 1_000_000, 10_000_000, 100_000_000][seed as usize % 4],
        changes,
        sizes: [MIXED, USUAL, EQUAL][seed as usize % 3],
        packets: 6000,
    })
}

/// Rooms: endless, in packets, in bytes.
fn room(seed: u64) -> Room {
    [Room::ENDLESS, Room::packets(60), Room::bytes(200_000)][(seed / 3) as usize % 3]
}

/// A duration as a setting.
fn time(milliseconds: f64) -> Value<'static> {
    Value::Duration(Duration::from_picoseconds((milliseconds * 1e9) as u64))
}

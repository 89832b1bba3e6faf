//! RFC 8290, section 4: enqueue and dequeue of FQ-CoDel; the same with PIE for each queue (FQ-PIE).

use super::{
    Fifo, Item, Published, Room, Step, Stream, Time, Value, codel, compare, pie, plan, room, stream, time,
    traffics,
};
use crate::queue::codel::CoDelState;
use crate::queue::flow_queues::FlowQueues;
use selfclock_congestion::units::{Bytes, Duration};
use std::collections::{BTreeMap, VecDeque};

/// Manager of one queue, and what belongs to it.
trait Manager {
    /// False: the packet is refused.
    fn arrive(&mut self, queue: &Fifo, packet: &mut Item, random: &mut Stream) -> bool;
    fn entered(&mut self, packet: &Item);
    /// The next packet of the queue; `elsewhere` is what the other queues hold, bytes.
    fn take(&mut self, now: Time, queue: &mut Fifo, elsewhere: u64, dropped: &mut Vec<u32>) -> Option<Item>;
    fn on_overflow(&mut self, packets: u64);
    fn run_timer(&mut self, now: Time, queue: &Fifo);
}

struct FlowQueueing<'a, M> {
    quantum: i64,
    room: Room,
    /// Chooses a queue: the production code's hash.
    hash: FlowQueues<CoDelState>,
    random: Stream,
    manager: &'a dyn Fn() -> M,
    queues: BTreeMap<u32, (Fifo, M, i64)>,
    new_queues: VecDeque<u32>,
    old_queues: VecDeque<u32>,
}

impl<'a, M: Manager> FlowQueueing<'a, M> {
    fn new(flows: u32, quantum: u64, room: Room, seed: u64, manager: &'a dyn Fn() -> M) -> Self {
        let mut random = stream(seed);
        let hash = FlowQueues::new(flows, 1, random.bits());
        let (queues, new_queues, old_queues) = Default::default();
        Self { quantum: quantum as i64, room, hash, random, manager, queues, new_queues, old_queues }
    }

    fn run_timers(&mut self, now: Time) {
        for (queue, manager, _) in self.queues.values_mut() {
            manager.run_timer(now, queue);
        }
    }
}

impl<M: Manager> Published for FlowQueueing<'_, M> {
    fn enqueue(&mut self, now: Time, mut packet: Item, step: &mut Step) {
        let index = self.hash.index_of(packet.flow);
        let manager = self.manager;
        self.queues.entry(index).or_insert_with(|| (Fifo::default(), manager(), 0));
        self.run_timers(now);
        let (queue, manager, credits) = self.queues.get_mut(&index).expect("inserted");
        if !manager.arrive(queue, &mut packet, &mut self.random) {
            return step.dropped.push(packet.id);
        }
        manager.entered(&packet);
        queue.0.push_back(packet);
        // "If the queue is not currently active (i.e., if it is not in either the list of new
        // queues or the list of old queues), it is added to the end of the list of new queues, and
        // its number of credits is initiated to the configured quantum."
        if !self.new_queues.contains(&index) && !self.old_queues.contains(&index) {
            self.new_queues.push_back(index);
            *credits = self.quantum;
        }
        // "The queue with the largest current byte count is found and half the number of packets
        // from this queue (up to a maximum of 64 packets by default) are dropped from the head."
        while !self.room.holds(self.queues.values().flat_map(|(queue, ..)| queue.0.iter())) {
            let fattest = self.queues.values_mut().rev().max_by_key(|(queue, ..)| queue.bytes());
            let (queue, manager, _) = fattest.expect("something waits");
            let half = queue.0.len().div_ceil(2).min(64);
            step.dropped.extend(queue.0.drain(..half).map(|packet| packet.id));
            manager.on_overflow(half as u64);
        }
    }

    fn dequeue(&mut self, now: Time, step: &mut Step) -> Option<Item> {
        self.run_timers(now);
        loop {
            let is_new = !self.new_queues.is_empty();
            let list = if is_new { &mut self.new_queues } else { &mut self.old_queues };
            let index = list.pop_front()?;
            let all: u64 = self.queues.values().map(|(queue, ..)| queue.bytes()).sum();
            let (queue, manager, credits) = self.queues.get_mut(&index).expect("listed");
            // "It has already dequeued at least a quantum of bytes."
            if *credits <= 0 {
                *credits += self.quantum;
                self.old_queues.push_back(index);
                continue;
            }
            let elsewhere = all - queue.bytes();
            let Some(packet) = manager.take(now, queue, elsewhere, &mut step.dropped) else {
                // "If the queue selected for dequeue came from the list of new queues, it is moved
                // to the end of the list of old queues. If instead it came from the list of old
                // queues, that queue is removed from the list."
                if is_new {
                    self.old_queues.push_back(index);
                }
                continue;
            };
            *credits -= packet.size as i64;
            let list = if is_new { &mut self.new_queues } else { &mut self.old_queues };
            list.push_front(index);
            return Some(packet);
        }
    }
}

struct CoDel {
    k: codel::Constants,
    /// As in Linux.
    shared: bool,
    variables: codel::Variables,
}

impl Manager for CoDel {
    fn arrive(&mut self, _: &Fifo, _: &mut Item, _: &mut Stream) -> bool {
        true
    }
    fn entered(&mut self, packet: &Item) {
        self.variables.seen(packet);
    }
    fn take(&mut self, now: Time, queue: &mut Fifo, elsewhere: u64, dropped: &mut Vec<u32>) -> Option<Item> {
        let elsewhere = if self.shared { elsewhere } else { 0 };
        self.variables.deque(now, &self.k, queue, elsewhere, dropped)
    }
    fn on_overflow(&mut self, packets: u64) {
        if self.shared {
            self.variables.count += packets;
        }
    }
    fn run_timer(&mut self, _: Time, _: &Fifo) {}
}

/// With one queue, FQ-CoDel is CoDel: section 4.
#[test]
fn fq_codel_with_one_queue_is_codel() {
    for traffic in traffics(true) {
        let k = codel::Constants {
            target: Duration::from_milliseconds(5),
            interval: Duration::from_milliseconds(100),
            ecn: true,
        };
        let mut reference = codel::CoDel::new(k, Room::ENDLESS);
        let settings = [("flows", Value::Count(1))];
        compare(plan("fq-codel", &settings), Room::ENDLESS, &traffic, &mut reference);
    }
}

/// Few queues, so that flows share them, and many; quanta below and above a packet; new and sparse
/// flows beside bulk ones.
#[test]
fn fq_codel_is_that_of_the_rfc() {
    let (mut drops, mut marks) = (0, 0);
    for (flows, quantum) in [(1, 1514), (4, 300), (1024, 1514), (1024, 9000)] {
        for (shared, ecn) in [(false, false), (false, true), (true, true)] {
            for traffic in traffics(true) {
                let room = room(traffic.seed);
                let ms = Duration::from_milliseconds;
                let k = codel::Constants { target: ms(5), interval: ms(30), ecn };
                let manager = || CoDel { k, shared, variables: codel::Variables::default() };
                let mut reference = FlowQueueing::new(flows, quantum, room, traffic.seed, &manager);
                let settings = [
                    ("interval", time(30.0)),
                    ("ecn", Value::Switch(ecn)),
                    ("flows", Value::Count(flows.into())),
                    ("quantum", Value::Bytes(Bytes(quantum))),
                    ("shared_backlog", Value::Switch(shared)),
                ];
                let done = compare(plan("fq-codel", &settings), room, &traffic, &mut reference);
                (drops, marks) = (drops + done.0, marks + done.1);
            }
        }
    }
    assert!(drops > 10_000 && marks > 1000, "{drops} {marks}");
}

struct Pie {
    k: pie::Constants,
    variables: pie::Variables,
    next_update: Time,
    /// RFC 8033, section 4.3: from the time stamp of the packet that left last; zero of an empty
    /// queue.
    qdelay: f64,
}

impl Manager for Pie {
    fn arrive(&mut self, queue: &Fifo, packet: &mut Item, random: &mut Stream) -> bool {
        self.variables.enque(&self.k, self.qdelay, queue.bytes(), packet, random)
    }
    fn entered(&mut self, _: &Item) {}
    fn take(&mut self, now: Time, queue: &mut Fifo, _: u64, _: &mut Vec<u32>) -> Option<Item> {
        let packet = queue.0.pop_front()?;
        self.qdelay = if queue.0.is_empty() { 0.0 } else { now.since(packet.arrival).seconds() };
        Some(packet)
    }
    fn on_overflow(&mut self, _: u64) {}
    fn run_timer(&mut self, now: Time, queue: &Fifo) {
        if queue.0.is_empty() {
            self.qdelay = 0.0;
        }
        let qdelay = self.qdelay;
        self.variables.run_timer(&self.k, &mut self.next_update, now, |_| qdelay);
    }
}

#[test]
fn fq_pie_is_that_of_the_rfcs() {
    let (mut drops, mut marks) = (0, 0);
    for (flows, quantum) in [(1, 1514), (4, 300), (1024, 1514)] {
        for ecn in [false, true] {
            for traffic in traffics(true) {
                let room = room(traffic.seed);
                let ms = Duration::from_milliseconds;
                let k = pie::Constants { qdelay_ref: 0.015, t_update: ms(15), max_burst: ms(60), ecn };
                let manager = || Pie {
                    k,
                    variables: pie::Variables::new(&k),
                    next_update: Time::ZERO + k.t_update,
                    qdelay: 0.0,
                };
                let mut reference = FlowQueueing::new(flows, quantum, room, traffic.seed, &manager);
                let settings = [
                    ("burst", time(60.0)),
                    ("ecn", Value::Switch(ecn)),
                    ("flows", Value::Count(flows.into())),
                    ("quantum", Value::Bytes(Bytes(quantum))),
                ];
                let done = compare(plan("fq-pie", &settings), room, &traffic, &mut reference);
                (drops, marks) = (drops + done.0, marks + done.1);
            }
        }
    }
    assert!(drops > 10_000 && marks > 20, "{drops} {marks}");
}

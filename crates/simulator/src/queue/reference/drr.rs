//! Shreedhar and Varghese 1995, figure 3.

use super::{Bytes, Fifo, Item, Published, Room, Step, Time, Value, compare, plan, room, traffics};
use std::collections::{BTreeMap, VecDeque};

struct DeficitRoundRobin {
    quantum: u64,
    room: Room,
    queues: BTreeMap<u32, Fifo>,
    deficit_counter: BTreeMap<u32, u64>,
    active_list: VecDeque<u32>,
    /// The inner while loop of figure 3 runs for this flow.
    in_turn: Option<u32>,
}

impl DeficitRoundRobin {
    fn holds_too_much(&self) -> bool {
        !self.room.holds(self.queues.values().flat_map(|queue| queue.0.iter()))
    }
}

impl Published for DeficitRoundRobin {
    /// "Enqueuing module".
    fn enqueue(&mut self, _: Time, packet: Item, step: &mut Step) {
        let flow = packet.flow;
        if !self.active_list.contains(&flow) && self.in_turn != Some(flow) {
            self.active_list.push_back(flow);
            self.deficit_counter.insert(flow, 0);
        }
        self.queues.entry(flow).or_default().0.push_back(packet);
        // "FreeBuffer": from the longest queue, of several from that of the lowest number; from its
        // head, see `drr.rs`.
        while self.holds_too_much() {
            let longest = self.queues.iter().rev().max_by_key(|(_, queue)| queue.bytes());
            let (&flow, _) = longest.expect("something waits");
            let queue = self.queues.get_mut(&flow).expect("found");
            step.dropped.push(queue.0.pop_front().expect("it is the longest").id);
            if queue.0.is_empty() {
                self.active_list.retain(|&other| other != flow);
                self.in_turn = self.in_turn.filter(|&other| other != flow);
            }
        }
    }

    /// "Dequeuing module", which is left with each packet sent and entered again where it was left.
    fn dequeue(&mut self, _: Time, _: &mut Step) -> Option<Item> {
        loop {
            let flow = match self.in_turn {
                Some(flow) => flow,
                None => {
                    let flow = self.active_list.pop_front()?;
                    *self.deficit_counter.get_mut(&flow).expect("active") += self.quantum;
                    self.in_turn = Some(flow);
                    flow
                }
            };
            let queue = self.queues.get_mut(&flow).expect("active");
            let deficit_counter = self.deficit_counter.get_mut(&flow).expect("active");
            if let Some(&head) = queue.0.front()
                && head.size <= *deficit_counter
            {
                *deficit_counter -= head.size;
                queue.0.pop_front();
                if queue.0.is_empty() {
                    *deficit_counter = 0;
                    self.in_turn = None;
                }
                return Some(head);
            }
            self.in_turn = None;
            self.active_list.push_back(flow);
        }
    }
}

/// The first turn of a flow used to give it credit only, so that a new flow waited two rounds.
/// Quanta below and above a packet.
#[test]
fn deficit_round_robin_is_that_of_the_paper() {
    for quantum in [40, 500, 1500, 9000, 65_000] {
        for traffic in traffics(true) {
            let room = room(traffic.seed);
            let mut reference = DeficitRoundRobin {
                quantum,
                room,
                queues: BTreeMap::new(),
                deficit_counter: BTreeMap::new(),
                active_list: VecDeque::new(),
                in_turn: None,
            };
            let plan = plan("drr", &[("quantum", Value::Bytes(Bytes(quantum)))]);
            compare(plan, room, &traffic, &mut reference);
        }
    }
}

//! First in, first out: the batches of `drop_tail.rs` beside a plain list, with a limit.

use super::{Bytes, Fifo, Rate, Time, room, traffics};
use crate::queue::{DropTail, Places};

/// Each packet has room or not, as with a list of packets at a transmitter whose rate changes.
#[test]
fn drop_tail_is_a_list() {
    let mut drops = 0;
    for traffic in traffics(true) {
        let room = room(traffic.seed);
        let places = Places { limit: room.limit(), counts_packet_in_service: false };
        let mut queue = DropTail::new(places);
        let mut list: Vec<(Time, super::Item)> = Vec::new();
        let (arrivals, rates) = traffic.generate();
        let (mut free_at, mut previous) = (Time::ZERO, 0);
        for item in arrivals {
            let now = item.arrival;
            list.retain(|&(start, _)| start > now);
            let waiting = Fifo(list.iter().map(|&(_, packet)| packet).collect());
            let size = item.size as u32;
            if free_at > now {
                let accepted = queue.admits(now, size, previous, places);
                assert_eq!(accepted, waiting.with(&item, room), "{item:?}, {traffic:?}");
                if !accepted {
                    drops += 1;
                    continue;
                }
            }
            let start = free_at.max(now);
            let rate = rates.iter().rev().find(|&&(at, _)| at <= start).expect("from time 0").1;
            let time = Rate::from_bits_per_second(rate).transmission_time(Bytes(item.size));
            if free_at > now {
                queue.add(start, size, time, previous);
                list.push((start, item));
            } else {
                queue.serve_until(now);
            }
            (free_at, previous) = (start + time, size);
        }
    }
    assert!(drops > 1000, "{drops}");
}

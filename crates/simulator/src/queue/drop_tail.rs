//! A FIFO queue that refuses what does not fit.
//!
//! The transmitter serves packets in order and at a known rate, so when a packet is accepted the moment at which its
//! transmission begins is known. The queue is therefore a list of such moments: a packet waits until then, and
//! nothing has to happen when it leaves. Packets of one size follow each other at equal distances, so a batch of them is
//! one entry of the list however many they are.

use crate::engine::Ring;
use crate::plan::QueueLimit;
use selfclock_congestion::units::{Duration, Time};

/// Packets of one size and one transmission time that wait one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Beginning of transmission of the first.
    start: Time,
    /// Transmission time of each.
    each: Duration,
    size: u32,
    count: u32,
}

impl Batch {
    /// A packet of another batch can be one of this. A link whose rate changes has packets of one size with several times.
    #[inline]
    fn takes(&self, other: &Self) -> bool {
        self.size == other.size && self.each == other.each && self.count < u32::MAX
    }
}

/// The packets that wait, the one in service not among them.
#[derive(Clone, Debug)]
pub struct DropTail {
    /// The first batch. Empty: nothing waits.
    first: Batch,
    packets: u64,
    bytes: u64,
    /// Size of the packet in service while others wait.
    in_service: u32,
    counts_packet_in_service: bool,
    limit: QueueLimit,
    /// The batches behind the first.
    more: Ring<Batch>,
}

impl DropTail {
    /// A queue that holds `limit`. If `counts_packet_in_service`, the packet in service takes one of the places
    /// (ns-2's way); if not, the limit is of waiting packets.
    pub fn new(limit: QueueLimit, counts_packet_in_service: bool) -> Self {
        Self {
            first: Batch::default(),
            packets: 0,
            bytes: 0,
            in_service: 0,
            counts_packet_in_service,
            limit,
            more: Ring::default(),
        }
    }

    /// Forgets packets whose transmission has begun by `now`. A packet whose transmission begins just now no longer
    /// waits: at equal times departures come before arrivals.
    #[inline]
    pub fn serve_until(&mut self, now: Time) {
        while self.first.count > 0 && self.first.start <= now {
            self.first.start += self.first.each;
            self.first.count -= 1;
            self.packets -= 1;
            self.bytes -= u64::from(self.first.size);
            self.in_service = self.first.size;
            if self.first.count == 0
                && let Some(next) = self.more.pop()
            {
                self.first = next;
            }
        }
    }

    /// All that waited has been served.
    #[inline]
    pub fn serve_all(&mut self) {
        if !self.is_empty() {
            self.first.count = 0;
            self.more.clear();
            (self.packets, self.bytes) = (0, 0);
        }
    }

    /// There is room for a packet of `size` bytes behind the one in service. `previous` is the size of the packet
    /// accepted last: that is the one in service if nothing waits.
    #[inline]
    pub fn has_room(&self, size: u32, previous: u32) -> bool {
        let counted = self.counts_packet_in_service;
        match self.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.counted_packets() < limit,
            QueueLimit::Bytes(limit) => {
                let in_service = match (counted, self.is_empty()) {
                    (false, _) => 0,
                    (true, true) => previous,
                    (true, false) => self.in_service,
                };
                self.bytes + u64::from(in_service) + u64::from(size) <= limit.get()
            }
        }
    }

    /// Adds a packet whose transmission begins at `start`, when those before it have been transmitted, and takes so long;
    /// `previous` is the size of the packet accepted last.
    #[inline]
    pub fn add(&mut self, start: Time, size: u32, time: Duration, previous: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
        let batch = Batch { start, each: time, size, count: 1 };
        if self.first.count == 0 {
            self.in_service = previous;
            self.first = batch;
        } else if self.more.is_empty() && self.first.takes(&batch) {
            self.first.count += 1;
        } else {
            self.add_behind(batch);
        }
    }

    fn add_behind(&mut self, batch: Batch) {
        match self.more.last_mut() {
            Some(last) if last.takes(&batch) => last.count += 1,
            _ => self.more.push(batch),
        }
    }

    /// What it holds at most.
    pub fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// Nothing waits, or has waited and was not yet told that it was served.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.count == 0
    }

    /// Packets waiting.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets that take places, while one is in service.
    #[inline]
    pub fn counted_packets(&self) -> u64 {
        self.packets + u64::from(self.counts_packet_in_service)
    }

    /// Bytes waiting.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Beginning of transmission and size of each waiting packet.
    pub fn starts(&self) -> impl Iterator<Item = (Time, u32)> + '_ {
        let batches = std::iter::once(&self.first).chain(self.more.iter());
        batches.flat_map(|batch| {
            (0..u64::from(batch.count)).map(|before| (batch.start + batch.each.times(before), batch.size))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use selfclock_congestion::units::Bytes;

    fn at(picoseconds: u64) -> Time {
        Time::from_picoseconds(picoseconds)
    }

    fn ps(picoseconds: u64) -> Duration {
        Duration::from_picoseconds(picoseconds)
    }

    /// Packets of 10 bytes, each served in 10 ps, that all arrive at time 0; how many are accepted.
    fn accepted(limit: QueueLimit, counts_packet_in_service: bool) -> usize {
        let mut queue = DropTail::new(limit, counts_packet_in_service);
        let mut count = 1;
        while count < 100 && queue.has_room(10, 10) {
            queue.add(at(10 * count as u64), 10, ps(10), 10);
            count += 1;
        }
        count
    }

    #[test]
    fn the_packet_in_service_counts_or_not() {
        assert_eq!(accepted(QueueLimit::Packets(5), true), 5);
        assert_eq!(accepted(QueueLimit::Packets(5), false), 6);
        assert_eq!(accepted(QueueLimit::Bytes(Bytes(50)), true), 5);
        assert_eq!(accepted(QueueLimit::Bytes(Bytes(50)), false), 6);
        assert_eq!(accepted(QueueLimit::Unlimited, false), 100);
    }

    /// Packets of one size were one batch though the rate had changed between them, so those after the change left the count of
    /// the queue too soon, or too late, and what came found the wrong room.
    #[test]
    fn packets_of_two_rates_are_not_one_batch() {
        let mut queue = DropTail::new(QueueLimit::Packets(2), false);
        queue.add(at(10), 10, Duration::from_picoseconds(10), 10);
        queue.add(at(20), 10, Duration::from_picoseconds(100), 10);
        queue.add(at(120), 10, Duration::from_picoseconds(100), 10);
        for (now, waiting) in [(10, 2), (19, 2), (20, 1), (30, 1), (119, 1), (120, 0)] {
            queue.serve_until(at(now));
            assert_eq!(queue.packets(), waiting, "at {now} ps");
        }
    }

    /// A large packet in service counts with its own size, whatever came after it.
    #[test]
    fn bytes_in_service_are_those_of_the_packet_in_service() {
        let mut queue = DropTail::new(QueueLimit::Bytes(Bytes(120)), true);
        assert!(queue.has_room(20, 100));
        queue.add(at(100), 20, ps(20), 100);
        assert!(!queue.has_room(1, 20), "100 in service and 20 waiting");
        queue.serve_until(at(100));
        assert!(queue.has_room(100, 20), "20 in service");
        assert!(!queue.has_room(101, 20));
    }

    #[test]
    fn a_departure_makes_room_for_an_arrival_at_the_same_time() {
        let mut queue = DropTail::new(QueueLimit::Packets(1), false);
        queue.add(at(10), 10, ps(10), 10);
        queue.serve_until(at(9));
        assert!(!queue.has_room(10, 10));
        queue.serve_until(at(10));
        assert!(queue.has_room(10, 10));
    }

    proptest! {
        /// Against a list of packets, one by one, at a transmitter that takes a picosecond for a byte.
        #[test]
        fn batches_are_as_packets_one_by_one(steps in proptest::collection::vec((0_u64..400, 1_u32..4), 1..100)) {
            let mut queue = DropTail::new(QueueLimit::Unlimited, true);
            let mut list: Vec<(Time, u32)> = Vec::new();
            let (mut now, mut free_at, mut previous) = (0, 0, 0);
            for (wait, size) in steps {
                now += wait;
                let size = size * 100;
                queue.serve_until(at(now));
                list.retain(|&(start, _)| start > at(now));
                if free_at > now {
                    queue.add(at(free_at), size, ps(size.into()), previous);
                    list.push((at(free_at), size));
                }
                free_at = free_at.max(now) + u64::from(size);
                previous = size;
                prop_assert_eq!(queue.starts().collect::<Vec<_>>(), list.clone());
                prop_assert_eq!(queue.packets(), list.len() as u64);
                prop_assert_eq!(queue.bytes(), list.iter().map(|&(_, size)| u64::from(size)).sum::<u64>());
            }
        }
    }
}

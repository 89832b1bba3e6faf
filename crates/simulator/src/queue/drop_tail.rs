//! A FIFO queue that refuses what does not fit.
//!
//! The transmitter serves packets in order and at a known rate, so when a packet is accepted the moment at which its
//! transmission begins is known. The queue is therefore a list of such moments: a packet waits until then, and
//! nothing has to happen when it leaves.

use crate::engine::Ring;
use crate::plan::QueueLimit;
use selfclock_congestion::units::Time;

/// The packets that wait, the one in service not among them.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: QueueLimit,
    counts_packet_in_service: bool,
    /// Beginning of transmission and size in bytes of each waiting packet.
    waiting: Ring<(Time, u32)>,
    waiting_bytes: u64,
    /// Size of the packet in service while others wait.
    in_service: u32,
}

impl DropTail {
    /// A queue that holds `limit`. If `counts_packet_in_service`, the packet in service takes one of the places
    /// (ns-2's way); if not, the limit is of waiting packets.
    pub fn new(limit: QueueLimit, counts_packet_in_service: bool) -> Self {
        Self { limit, counts_packet_in_service, waiting: Ring::default(), waiting_bytes: 0, in_service: 0 }
    }

    /// Forgets packets whose transmission has begun by `now`. A packet whose transmission begins just now no longer
    /// waits: at equal times departures come before arrivals.
    #[inline]
    pub fn serve_until(&mut self, now: Time) {
        while let Some(&(start, size)) = self.waiting.front()
            && start <= now
        {
            self.waiting.drop_front();
            self.waiting_bytes -= u64::from(size);
            self.in_service = size;
        }
    }

    /// All that waited has been served.
    #[inline]
    pub fn serve_all(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.clear();
            self.waiting_bytes = 0;
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
                let in_service = match (counted, self.waiting.is_empty()) {
                    (false, _) => 0,
                    (true, true) => previous,
                    (true, false) => self.in_service,
                };
                self.waiting_bytes + u64::from(in_service) + u64::from(size) <= limit.get()
            }
        }
    }

    /// Adds a packet whose transmission begins at `start`; `previous` is the size of the packet accepted last.
    #[inline]
    pub fn add(&mut self, start: Time, size: u32, previous: u32) {
        if self.waiting.is_empty() {
            self.in_service = previous;
        }
        self.waiting.push((start, size));
        self.waiting_bytes += u64::from(size);
    }

    /// What it holds at most.
    pub fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// Nothing waits, or has waited and was not yet told that it was served.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Packets waiting.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Packets that take places, while one is in service.
    #[inline]
    pub fn counted_packets(&self) -> u64 {
        self.packets() + u64::from(self.counts_packet_in_service)
    }

    /// Bytes waiting.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Beginning of transmission of each waiting packet.
    pub fn starts(&self) -> impl Iterator<Item = (Time, u32)> + '_ {
        self.waiting.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_congestion::units::Bytes;

    fn at(picoseconds: u64) -> Time {
        Time::from_picoseconds(picoseconds)
    }

    /// Packets of 10 bytes, each served in 10 ps, that all arrive at time 0; how many are accepted.
    fn accepted(limit: QueueLimit, counts_packet_in_service: bool) -> usize {
        let mut queue = DropTail::new(limit, counts_packet_in_service);
        let mut count = 1;
        while count < 100 && queue.has_room(10, 10) {
            queue.add(at(10 * count as u64), 10, 10);
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

    /// A large packet in service counts with its own size, whatever came after it.
    #[test]
    fn bytes_in_service_are_those_of_the_packet_in_service() {
        let mut queue = DropTail::new(QueueLimit::Bytes(Bytes(120)), true);
        assert!(queue.has_room(20, 100));
        queue.add(at(100), 20, 100);
        assert!(!queue.has_room(1, 20), "100 in service and 20 waiting");
        queue.serve_until(at(100));
        assert!(queue.has_room(100, 20), "20 in service");
        assert!(!queue.has_room(101, 20));
    }

    #[test]
    fn a_departure_makes_room_for_an_arrival_at_the_same_time() {
        let mut queue = DropTail::new(QueueLimit::Packets(1), false);
        queue.add(at(10), 10, 10);
        queue.serve_until(at(9));
        assert!(!queue.has_room(10, 10));
        queue.serve_until(at(10));
        assert!(queue.has_room(10, 10));
    }
}

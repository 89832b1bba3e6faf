//! A FIFO queue with tail drop.
//!
//! The transmitter serves packets in order and at a known rate, so the start of a packet's
//! transmission is known on its acceptance. The queue is therefore a list of such times: a packet
//! waits until then, and its departure is not an event. Packets of one size follow each other at
//! equal distances, so a batch of them is one entry of the list whatever their number; and served
//! entries are removed only when the queue is next read.

use super::QueueLimit;
use crate::engine::Ring;
use crate::named::settings;
use selfclock_congestion::parameter::{Kind, ParameterType, Value};
use selfclock_congestion::units::{Duration, Time};

/// Threshold above which a queue CE-marks arriving packets (RFC 3168) of ECN-capable transports: a
/// step, like the K of DCTCP. The arriving packet itself is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAbove {
    /// More packets than this, counted as the limit counts them.
    Packets(u64),
    /// A packet will wait for longer than this.
    Wait(Duration),
}

impl ParameterType for MarkAbove {
    const KIND: Kind = Kind::Either(&Kind::Packets, &Kind::Duration);
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Packets(packets) => Some(Self::Packets(packets)),
            Value::Duration(wait) => Some(Self::Wait(wait)),
            _ => None,
        }
    }
}

selfclock_congestion::parameters! {
    /// Settings of a drop-tail queue.
    Parameters {
        /// Mark what understands marks (ECN) congestion-experienced if it finds more packets in the
        /// queue than this, or has to wait for longer.
        mark_above: Option<MarkAbove> = None, shown "never", unit "", range (0.0, f64::INFINITY), source "DCTCP's K, RFC 8257, section 3.1";
    }
}
settings!(
    Parameters,
    "drop-tail",
    "First in, first out; what does not fit is dropped.",
    "RFC 7567, section 2"
);

/// Packets of one size and one transmission time that wait in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Start of the first transmission.
    start: Time,
    /// End of the last transmission.
    end: Time,
    /// Transmission time of each.
    each: Duration,
    size: u32,
    count: u32,
}

impl Batch {
    /// Whether this packet continues the batch, without a gap.
    #[inline]
    fn is_followed_by(&self, next: &Self) -> bool {
        self.size == next.size && self.each == next.each && self.end == next.start && self.count < u32::MAX
    }

    /// Appends one packet.
    #[inline]
    fn extend(&mut self) {
        self.count += 1;
        self.end += self.each;
    }

    /// Like `extend`, if the end is known to be before [`Time::NEVER`].
    #[inline]
    fn extend_within_time(&mut self) {
        self.count += 1;
        self.end = self.end.after(self.each);
    }
}

/// The waiting packets, without the one in service. Fields used by every waiting packet come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct DropTail {
    /// The first batch. Empty if nothing waits.
    first: Batch,
    /// Room for packets behind the first, if the limit is in packets; zero if it is in bytes.
    room_behind: u32,
    /// Size of the packet in service while others wait.
    in_service: u32,
    /// The batches behind the first, once packets of different sizes have waited.
    behind: Option<Box<Behind>>,
}

/// The batches behind the first.
#[derive(Clone, Debug, Default)]
struct Behind {
    packets: u64,
    bytes: u64,
    batches: Ring<Batch>,
}

/// Queue limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The limit.
    pub limit: QueueLimit,
    /// Whether the packet in service occupies a place (as in ns-2); if not, the limit counts
    /// waiting packets.
    pub counts_packet_in_service: bool,
}

impl DropTail {
    /// A queue with these places.
    pub fn new(places: Places) -> Self {
        let room = match places.limit {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(limit) => limit.saturating_sub(places.counts_packet_in_service.into()),
            QueueLimit::Bytes(_) => 0,
        };
        Self {
            first: Batch::default(),
            room_behind: u32::try_from(room).unwrap_or(u32::MAX).saturating_sub(1),
            in_service: 0,
            behind: None,
        }
    }

    /// Removes packets whose transmission has begun by `now`. A transmission that begins at `now`
    /// counts: at equal times departures precede arrivals.
    #[inline]
    pub fn serve_until(&mut self, now: Time) {
        while self.first.count > 0 && self.first.start <= now {
            let first = &mut self.first;
            let late = now.since(first.start);
            let served = if late < first.each {
                1
            } else {
                (late.picoseconds() / first.each.picoseconds().max(1)).saturating_add(1)
            };
            let served = served.min(u64::from(first.count));
            first.start += first.each.times(served);
            first.count -= served as u32;
            self.in_service = first.size;
            if first.count == 0
                && let Some(behind) = self.behind.as_deref_mut()
                && let Some(next) = behind.batches.pop()
            {
                self.first = next;
                behind.packets -= u64::from(next.count);
                behind.bytes -= u64::from(next.count) * u64::from(next.size);
            }
        }
    }

    /// Empties the queue: all packets have been served.
    #[inline]
    pub fn serve_all(&mut self) {
        if !self.is_empty() {
            self.first.count = 0;
            if let Some(behind) = self.behind.as_deref_mut() {
                behind.batches.clear();
                (behind.packets, behind.bytes) = (0, 0);
            }
        }
    }

    /// The usual case: adds a packet of the same size as all waiting ones, whose transmission
    /// begins after theirs, and which has room even if none of them has been served yet. False: not
    /// the case, and nothing has changed. The end of its transmission must be a valid time.
    #[inline(always)]
    pub fn extend(&mut self, start: Time, size: u32) -> bool {
        let Self { first, room_behind, behind, .. } = self;
        // With one subtracted, an empty batch never has room.
        let has_room = first.count.wrapping_sub(1) < *room_behind;
        // A batch that ended earlier has been served. With another batch behind the first, the end
        // is later.
        let is_last = behind.as_deref().is_none_or(|behind| behind.packets == 0);
        if first.end == start && first.size == size && has_room && is_last {
            first.extend_within_time();
            return true;
        }
        false
    }

    /// Whether packets of this size could follow the waiting ones until `end`, in one batch.
    pub fn ends_alike(&self, end: Time, size: u32) -> bool {
        let Batch { count, end: ends, size: each, .. } = self.first;
        count > 0 && ends == end && each == size && self.is_uniform()
    }

    /// Appends this many packets like the waiting ones; see [`DropTail::ends_alike`].
    pub fn extend_by(&mut self, packets: u32) {
        self.first.end += self.first.each.times(packets.into());
        self.first.count += packets;
    }

    /// Replaces the served queue by this many packets of this size and transmission time, behind
    /// another of them, whose transmission ends at `end`.
    pub fn hold(&mut self, packets: u32, size: u32, each: Duration, end: Time) {
        self.serve_all();
        let start = Time::ZERO + end.since(Time::ZERO + each.times(packets.into()));
        self.first = Batch { start, end, each, size, count: packets };
        self.in_service = size;
    }

    /// Whether all waiting packets have the same size.
    #[inline]
    pub fn is_uniform(&self) -> bool {
        self.behind.as_deref().is_none_or(|behind| behind.packets == 0)
    }

    /// Whether a packet of `size` bytes has room at `now` behind the one in service; if not, it is
    /// dropped. `previous` is the last accepted size: that of the packet in service if nothing
    /// waits.
    #[inline(always)]
    pub fn admits(&mut self, now: Time, size: u32, previous: u32, places: Places) -> bool {
        self.serve_until(now);
        let bytes = || {
            let in_service = match (places.counts_packet_in_service, self.is_empty()) {
                (false, _) => 0,
                (true, true) => previous,
                (true, false) => self.in_service,
            };
            self.bytes() + u64::from(in_service) + u64::from(size)
        };
        places.limit.allows(self.counted_packets(places) + 1, bytes)
    }

    /// Adds a packet whose transmission begins at `start`, after those before it, and takes `time`;
    /// `previous` is the last accepted size.
    #[inline(always)]
    pub fn add(&mut self, start: Time, size: u32, time: Duration, previous: u32) {
        let batch = Batch { start, end: start + time, each: time, size, count: 1 };
        if self.first.count == 0 {
            self.in_service = previous;
            self.first = batch;
        } else if self.is_uniform() && self.first.is_followed_by(&batch) {
            self.first.extend();
        } else {
            self.add_behind(batch);
        }
    }

    fn add_behind(&mut self, batch: Batch) {
        let behind = self.behind.get_or_insert_default();
        behind.packets += 1;
        behind.bytes += u64::from(batch.size);
        match behind.batches.last_mut() {
            Some(last) if last.is_followed_by(&batch) => last.extend(),
            _ => {
                behind.batches.push(batch);
            }
        }
    }

    /// Size of the packet in service; `previous` is the last accepted size.
    #[inline]
    pub fn in_service(&self, previous: u32) -> u32 {
        if self.is_empty() { previous } else { self.in_service }
    }

    /// Whether nothing waits, apart from packets already in service.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.count == 0
    }

    /// Packets waiting.
    #[inline]
    pub fn packets(&self) -> u64 {
        u64::from(self.first.count) + self.behind.as_deref().map_or(0, |behind| behind.packets)
    }

    /// Packets that occupy places, while one is in service.
    #[inline]
    pub fn counted_packets(&self, places: Places) -> u64 {
        self.packets() + u64::from(places.counts_packet_in_service)
    }

    /// Bytes waiting.
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.first.count) * u64::from(self.first.size)
            + self.behind.as_deref().map_or(0, |behind| behind.bytes)
    }

    /// Start of transmission and size of each waiting packet.
    pub fn starts(&self) -> impl Iterator<Item = (Time, u32)> + '_ {
        let behind = self.behind.iter().flat_map(|behind| behind.batches.iter());
        let batches = std::iter::once(&self.first).chain(behind);
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

    /// Packets of 10 bytes, each served in 10 ps, that all arrive at time 0; returns how many are
    /// accepted.
    fn accepted(limit: QueueLimit, counts_packet_in_service: bool) -> usize {
        let places = Places { limit, counts_packet_in_service };
        let mut queue = DropTail::new(places);
        let mut count = 1;
        while count < 100 && queue.admits(at(0), 10, 10, places) {
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

    /// Packets of one size were one batch even across a change of rate, so those after the change
    /// left the count of the queue too soon, or too late, and later arrivals found the wrong room.
    #[test]
    fn packets_of_two_rates_are_not_one_batch() {
        let mut queue =
            DropTail::new(Places { limit: QueueLimit::Packets(2), counts_packet_in_service: false });
        queue.add(at(10), 10, Duration::from_picoseconds(10), 10);
        queue.add(at(20), 10, Duration::from_picoseconds(100), 10);
        queue.add(at(120), 10, Duration::from_picoseconds(100), 10);
        for (now, waiting) in [(10, 2), (19, 2), (20, 1), (30, 1), (119, 1), (120, 0)] {
            queue.serve_until(at(now));
            assert_eq!(queue.packets(), waiting, "at {now} ps");
        }
    }

    /// A large packet in service counts with its own size, whatever follows it.
    #[test]
    fn bytes_in_service_are_those_of_the_packet_in_service() {
        let places = Places { limit: QueueLimit::Bytes(Bytes(120)), counts_packet_in_service: true };
        let mut queue = DropTail::new(places);
        assert!(queue.admits(at(0), 20, 100, places));
        queue.add(at(100), 20, ps(20), 100);
        assert!(!queue.admits(at(0), 1, 20, places), "100 in service and 20 waiting");
        assert!(queue.admits(at(100), 100, 20, places), "20 in service");
        assert!(!queue.admits(at(100), 101, 20, places));
    }

    #[test]
    fn a_departure_makes_room_for_an_arrival_at_the_same_time() {
        let places = Places { limit: QueueLimit::Packets(1), counts_packet_in_service: false };
        let mut queue = DropTail::new(places);
        queue.add(at(10), 10, ps(10), 10);
        assert!(!queue.admits(at(9), 10, 10, places));
        assert!(queue.admits(at(10), 10, 10, places));
    }

    proptest! {
        /// Against a list of packets, one by one, at a transmitter that takes one or two
        /// picoseconds per byte: the transmission time can change while packets of the same size
        /// wait.
        #[test]
        fn batches_are_as_packets_one_by_one(
            steps in proptest::collection::vec((0_u64..400, 1_u32..3, 0_u32..8), 1..100),
            look in proptest::bool::ANY,
        ) {
            let mut queue =
                DropTail::new(Places { limit: QueueLimit::Unlimited, counts_packet_in_service: true });
            let mut list: Vec<(Time, u32)> = Vec::new();
            let (mut now, mut free_at, mut previous, mut slow) = (0, 0, (0, 0), 1);
            for (wait, size, change) in steps {
                now += wait;
                let size = size * 100;
                slow = if change == 0 { 3 - slow } else { slow };
                let time = u64::from(size) * slow;
                if free_at > now {
                    let same = previous == (size, time);
                    if !same || !queue.extend(at(free_at), size) {
                        queue.serve_until(at(now));
                        queue.add(at(free_at), size, ps(time), previous.0);
                    }
                    list.push((at(free_at), size));
                }
                free_at = free_at.max(now) + time;
                previous = (size, time);
                if look {
                    queue.serve_until(at(now));
                    list.retain(|&(start, _)| start > at(now));
                    prop_assert_eq!(queue.starts().collect::<Vec<_>>(), list.clone());
                    prop_assert_eq!(queue.packets(), list.len() as u64);
                    prop_assert_eq!(queue.bytes(), list.iter().map(|&(_, size)| u64::from(size)).sum::<u64>());
                }
            }
            queue.serve_until(at(now));
            list.retain(|&(start, _)| start > at(now));
            prop_assert_eq!(queue.starts().collect::<Vec<_>>(), list);
        }
    }
}

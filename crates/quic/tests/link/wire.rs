//! A link of a fixed rate with a tail-drop queue, delay, random loss and reordering.

use std::time::{Duration, Instant};

use super::{Codepoint, Datagram};

/// UDP and IPv4 on the wire.
const HEADER: u64 = 28;

/// A generator of random numbers: SplitMix64.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// From 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// One direction of the link.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Bit/s.
    pub rate: f64,
    pub delay: Duration,
    /// Bytes that wait at most.
    pub queue: u64,
    /// Part of the datagrams that is lost at random.
    pub loss: f64,
    /// Part of the datagrams that takes half a delay longer, so that others overtake it.
    pub late: f64,
    /// Bytes in the queue from which on a datagram that may be is marked.
    pub mark_above: u64,
    /// Nothing arrives that leaves between these times.
    pub outage: Option<(Instant, Instant)>,
    pub random: Random,
    pub dropped: u64,
    pub reordered: u64,
    pub marked: u64,
    /// When the last bit of what has been taken leaves.
    pub free: Option<Instant>,
}

impl Wire {
    /// Without loss and reordering.
    pub fn new(rate: f64, delay: Duration, queue: u64) -> Self {
        Self {
            rate,
            delay,
            queue,
            loss: 0.0,
            late: 0.0,
            mark_above: u64::MAX,
            outage: None,
            random: Random(1),
            dropped: 0,
            reordered: 0,
            marked: 0,
            free: None,
        }
    }

    /// When a datagram arrives that leaves now; `None`: never.
    pub fn carry(&mut self, now: Instant, datagram: &mut Datagram) -> Option<Instant> {
        let size = datagram.data.len() as u64 + HEADER;
        let begin = self.free.map_or(now, |free| free.max(now));
        let waiting = ((begin - now).as_secs_f64() * self.rate / 8.0) as u64;
        let out = self.outage.is_some_and(|(from, to)| from <= now && now < to);
        if self.random.uniform() < self.loss || out || waiting + size > self.queue {
            self.dropped += 1;
            return None;
        }
        if waiting > self.mark_above && datagram.ecn == Codepoint::Capable {
            datagram.ecn = Codepoint::Marked;
            self.marked += 1;
        }
        let free = begin + Duration::from_secs_f64(size as f64 * 8.0 / self.rate);
        self.free = Some(free);
        let late = self.random.uniform() < self.late;
        self.reordered += u64::from(late);
        Some(free + self.delay + if late { self.delay / 2 } else { Duration::ZERO })
    }
}

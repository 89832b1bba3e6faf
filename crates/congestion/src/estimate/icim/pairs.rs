//! The physical bandwidth from pairs of segments, with the available bandwidth: reference 17 of the
//! thesis, of which the abstract was available ("essentially based on the packet pair technique,
//! but also consider the estimated available bandwidth values").
//!
//! Two segments that leave at the same time are S apart on the sender's link. In a bottleneck that
//! stays busy between them they leave R = (P + (C - A) S) / C apart on the average, so that
//!
//! C = (P - A S) / (R - S)
//!
//! with the mean R of many pairs. On a path whose narrowest link is not the tightest A is less than
//! what that link has left, and C comes out too small: "the physical bandwidth is likely to be
//! underestimated" (thesis, section 2.1.3).

use crate::units::{Bytes, Time};
use alloc::collections::VecDeque;

/// Pairs in the mean. Our choice: where half of the link is in use a spacing has a standard
/// deviation of about a third of R, so the mean is known to 2 %.
const STORED: usize = 256;
/// Fewest pairs in the mean.
const FEWEST: usize = 32;
/// Most pairs on their way that are remembered.
const ON_THEIR_WAY: usize = 1024;

/// A pair on its way: the ends of its first and of its second segment, and the arrival of the ACK
/// of the first.
#[derive(Clone, Copy, Debug)]
struct Pair {
    first: Bytes,
    second: Bytes,
    arrived: Option<Time>,
}

/// The pairs of a connection.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    on_their_way: VecDeque<Pair>,
    /// Departure and end of the last segment, and bytes sent.
    last: Option<(Time, Bytes)>,
    sent: Bytes,
    /// Bits of a full segment on the wire.
    packet: f64,
    /// Spacings of arrived pairs, s.
    spacings: VecDeque<f64>,
}

impl Pairs {
    /// A segment with this payload leaves; `full`: the size of a full one on the wire.
    pub fn on_sent(&mut self, now: Time, size: Bytes, full: Bytes) {
        self.sent += size;
        self.packet = full.get() as f64 * 8.0;
        if let Some((before, first)) = self.last
            && before == now
            && self.on_their_way.len() < ON_THEIR_WAY
        {
            self.on_their_way.push_back(Pair { first, second: self.sent, arrived: None });
        }
        self.last = Some((now, self.sent));
    }

    /// An ACK arrived, by the chosen clock.
    pub fn on_ack(&mut self, arrived: Time, acknowledged: Bytes, sent: Bytes) {
        self.sent = sent;
        while let Some(pair) = self.on_their_way.front()
            && pair.second <= acknowledged
        {
            // An ACK of more than the second segment tells nothing of its arrival.
            if let Some(first) = pair.arrived.filter(|_| pair.second == acknowledged) {
                if self.spacings.len() == STORED {
                    self.spacings.pop_front();
                }
                self.spacings.push_back(arrived.since(first).seconds());
            }
            self.on_their_way.pop_front();
        }
        if let Some(pair) = self.on_their_way.front_mut()
            && pair.first == acknowledged
        {
            pair.arrived = Some(arrived);
        }
    }

    /// A loss: what is on its way is not acknowledged segment by segment.
    pub fn abandon(&mut self) {
        self.on_their_way.clear();
        self.last = None;
    }

    /// The physical bandwidth in bit/s, with pairs this far apart on the sender's link, s, where
    /// this much is available, bit/s.
    pub fn capacity(&self, spacing: f64, available: f64) -> Option<f64> {
        let count = self.spacings.len();
        let mean = self.spacings.iter().sum::<f64>() / count.max(1) as f64;
        let capacity = (self.packet - available * spacing) / (mean - spacing);
        (count >= FEWEST && mean > spacing && capacity.is_finite() && capacity > 0.0).then_some(capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn at(nanoseconds: u64) -> Time {
        Time::ZERO + Duration::from_picoseconds(nanoseconds * 1000)
    }

    /// Pairs of 1500 B, whose ACKs are this far apart.
    fn after(spacings: &[u64]) -> Pairs {
        let mut pairs = Pairs::default();
        for (number, &spacing) in spacings.iter().enumerate() {
            let begin = number as u64 * 100_000;
            for _ in 0..2 {
                pairs.on_sent(at(begin), Bytes(1460), Bytes(1500));
            }
            let sent = 2 * 1460 * (number as u64 + 1);
            pairs.on_ack(at(begin + 50_000), Bytes(sent - 1460), Bytes(sent));
            pairs.on_ack(at(begin + 50_000 + spacing), Bytes(sent), Bytes(sent));
        }
        pairs
    }

    /// A card of 10 Gbit/s, S = 1.2 us, and a link of 5 Gbit/s: R = 2.4 us where it is idle, and
    /// (12,000 + 2.5e9 * 1.2e-6)/5e9 = 3 us where half of it is in use.
    #[test]
    fn the_mean_spacing_with_what_is_available_is_the_capacity() {
        for (spacings, available) in [([2400; 40], 5e9), ([3000; 40], 2.5e9)] {
            let found = after(&spacings).capacity(1.2e-6, available).expect("enough pairs");
            assert!((found / 5e9 - 1.0).abs() < 1e-9, "{found}");
        }
        assert!(after(&[2400; 20]).capacity(1.2e-6, 5e9).is_none(), "too few");
    }

    /// Spacing not known: the packet pair, P/R.
    #[test]
    fn without_the_spacing_it_is_the_packet_pair() {
        let found = after(&[2400; 40]).capacity(0.0, 1e9).expect("enough pairs");
        assert!((found / 5e9 - 1.0).abs() < 1e-9, "{found}");
    }

    /// Segments of different times are no pair, an ACK of both is no spacing, and a card that hands
    /// over both at once shows none.
    #[test]
    fn what_is_no_pair() {
        let mut pairs = Pairs::default();
        pairs.on_sent(at(0), Bytes(1460), Bytes(1500));
        pairs.on_sent(at(1), Bytes(1460), Bytes(1500));
        assert!(pairs.on_their_way.is_empty());
        pairs.on_sent(at(1), Bytes(1460), Bytes(1500));
        pairs.on_ack(at(100), Bytes(4380), Bytes(4380));
        assert!(pairs.on_their_way.is_empty() && pairs.spacings.is_empty());
        assert!(after(&[0; 40]).capacity(1.2e-6, 5e9).is_none());
    }
}

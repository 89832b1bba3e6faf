//! The bursts of a measurement: as planned, as sent, and as acknowledged.

use super::reading::Shown;
use crate::units::{Bytes, Time};

/// Maximum number of bursts in a measurement: k, the one for the physical bandwidth, and the one
/// that closes the last.
pub const MOST: usize = 10;

/// One burst.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Intended rate, bit/s, and length, s.
    rate: f64,
    span: f64,
    /// When it began, and its first byte.
    pub sent: Time,
    pub first: Bytes,
    /// Bits on the wire so far.
    pub bits: f64,
    /// When that byte was acknowledged, s since the beginning of the connection.
    pub acknowledged: f64,
}

impl Burst {
    const fn planned(rate: f64, span: f64) -> Self {
        Self { rate, span, sent: Time::ZERO, first: Bytes::ZERO, bits: 0.0, acknowledged: 0.0 }
    }

    /// Whether its length, above zero, has passed.
    pub fn is_over(&self, now: Time) -> bool {
        let lasted = now.since(self.sent);
        !lasted.is_zero() && lasted.seconds() >= self.span
    }

    /// Packets of this many bits due now, to last until the next ACKs, `gap` seconds later.
    pub fn due(&self, now: Time, gap: f64, packet: f64) -> f64 {
        let seconds = now.since(self.sent).seconds() + gap;
        let whole = self.span.max(gap);
        libm::ceil(self.rate * seconds.min(whole) / packet) - self.bits / packet
    }
}

/// The last ACKs that arrived together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interrupt {
    pub at: Time,
    /// Bytes acknowledged before these ACKs, and with them.
    before: Bytes,
    with: Bytes,
}

impl Interrupt {
    /// Begins the next interrupt.
    pub const fn begin(&mut self, now: Time) {
        *self = Self { at: now, before: self.with, with: self.with };
    }

    /// Adds one of its ACKs.
    pub const fn take(&mut self, acknowledged_total: Bytes) {
        self.with = acknowledged_total;
    }

    /// When the segment with this byte arrived at the receiver, s since the beginning of the
    /// connection, less a constant.
    ///
    /// A card's interrupt comes a fixed time after its first packet. Between the first packets of
    /// two interrupts the others arrived in sequence, so a segment's position among them gives its
    /// arrival time.
    fn arrival(&self, byte: Bytes, next: Time, within: bool) -> f64 {
        let place = if within && self.with > self.before {
            byte.saturating_sub(self.before).get() as f64 / (self.with - self.before).get() as f64
        } else {
            0.0
        };
        self.at.since(Time::ZERO).seconds() + place * next.since(self.at).seconds()
    }
}

/// The bursts of a measurement.
#[derive(Clone, Debug)]
pub struct Bursts {
    pub all: [Burst; MOST],
    /// Planned bursts; the next one closes the last of them.
    pub planned: usize,
    /// Bursts that search the range.
    pub searching: usize,
    /// Bursts whose first segment's ACK has a known time.
    pub acknowledged: usize,
}

impl Default for Bursts {
    fn default() -> Self {
        Self { all: [Burst::planned(0.0, 0.0); MOST], planned: 0, searching: 0, acknowledged: 0 }
    }
}

impl Bursts {
    /// Plans `count` bursts of `span` seconds, with rates from `low` to `high` bit/s.
    pub fn plan(&mut self, count: usize, low: f64, high: f64, span: f64) {
        for (i, burst) in self.all[..count].iter_mut().enumerate() {
            let part = i as f64 / (count - 1) as f64;
            *burst = Burst::planned(low + (high - low) * part, span);
        }
        (self.searching, self.planned, self.acknowledged) = (count, count, 0);
    }

    /// Plans one more burst, outside the range.
    pub const fn plan_another(&mut self, rate: f64, span: f64) {
        self.all[self.planned] = Burst::planned(rate, span);
        self.planned += 1;
    }

    /// Bits to store before the first burst: the largest cumulative excess of the bursts over TCP's
    /// own throughput, bit/s, with none shorter than `gap` seconds.
    pub fn beyond(&self, throughput: f64, gap: f64) -> f64 {
        let (mut beyond, mut most) = (0.0, 0.0_f64);
        for burst in &self.all[..self.planned] {
            beyond += (burst.rate - throughput) * burst.span.max(gap);
            most = most.max(beyond);
        }
        most
    }

    /// The next interrupt begins: matches the complete one with those of the first `begun` bursts
    /// whose first segment it covers.
    pub fn match_interrupt(&mut self, interrupt: &Interrupt, next: Time, begun: usize, within: bool) {
        while self.acknowledged < begun && interrupt.with > self.all[self.acknowledged].first {
            let burst = &mut self.all[self.acknowledged];
            burst.acknowledged = interrupt.arrival(burst.first, next, within);
            self.acknowledged += 1;
        }
    }

    /// Results of the bursts planned so far.
    pub fn shown(&self) -> [Shown; MOST] {
        let mut shown = [Shown::default(); MOST];
        for (i, pair) in self.all[..=self.planned].windows(2).enumerate() {
            shown[i] = Shown {
                bits: pair[0].bits,
                sent: pair[1].sent.since(pair[0].sent).seconds(),
                arrived: pair[1].acknowledged - pair[0].acknowledged,
            };
        }
        shown
    }
}

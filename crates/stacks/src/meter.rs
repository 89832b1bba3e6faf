//! Counters of a connection's controller that the stack itself does not expose.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Marks a missing sample.
const NONE: u64 = u64::MAX;

/// Counters of one connection, written by its controller and read by its end.
#[derive(Debug)]
pub struct Meter {
    in_flight: AtomicU64,
    sent: AtomicU64,
    congestion_events: AtomicU64,
    persistent_congestions: AtomicU64,
    lost_packets: AtomicU64,
    /// Sample of the ACK frame being processed, ns.
    under_way: AtomicU64,
    /// Sample not yet taken, ns.
    sample: AtomicU64,
    smoothed: AtomicU64,
    minimum: AtomicU64,
    /// Bytes read by the receiving application, at the other end.
    pub read: AtomicU64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            in_flight: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            congestion_events: AtomicU64::new(0),
            persistent_congestions: AtomicU64::new(0),
            lost_packets: AtomicU64::new(0),
            under_way: AtomicU64::new(NONE),
            sample: AtomicU64::new(NONE),
            smoothed: AtomicU64::new(NONE),
            minimum: AtomicU64::new(NONE),
            read: AtomicU64::new(0),
        }
    }
}

impl Meter {
    pub fn on_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Relaxed);
        self.in_flight.fetch_add(bytes, Relaxed);
    }

    /// Packets of one ACK frame come in the order of their numbers, so the last is the largest,
    /// whose time counts (RFC 9002, section 5.1).
    pub fn on_ack(&self, now: Instant, sent: Instant, smoothed: Duration) {
        let sample = now.duration_since(sent).as_nanos() as u64;
        self.under_way.store(sample, Relaxed);
        // Before the first sample a stack has a guess; the sample is then the smoothed one (RFC
        // 9002, section 5.3).
        let is_first = self.minimum.load(Relaxed) == NONE;
        self.smoothed.store(if is_first { sample } else { smoothed.as_nanos() as u64 }, Relaxed);
    }

    pub fn on_end_acks(&self, in_flight: u64) {
        self.in_flight.store(in_flight, Relaxed);
        let sample = self.under_way.swap(NONE, Relaxed);
        if sample != NONE {
            self.sample.store(sample, Relaxed);
            self.minimum.fetch_min(sample, Relaxed);
        }
    }

    /// Counts losses that the controller responds to; it receives every loss as detected.
    pub fn on_congestion_event(&self, (before, after): (u64, u64), persistent: bool, lost: u64) {
        self.congestion_events.fetch_add(u64::from(after < before), Relaxed);
        self.persistent_congestions.fetch_add(u64::from(persistent), Relaxed);
        self.in_flight.store(self.in_flight().saturating_sub(lost), Relaxed);
    }

    pub fn on_packet_lost(&self) {
        self.lost_packets.fetch_add(1, Relaxed);
    }

    pub fn lost_packets(&self) -> u64 {
        self.lost_packets.load(Relaxed)
    }
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }
    pub fn congestion_events(&self) -> u64 {
        self.congestion_events.load(Relaxed)
    }
    pub fn persistent_congestions(&self) -> u64 {
        self.persistent_congestions.load(Relaxed)
    }
    pub fn take_sample(&self) -> Option<Duration> {
        span(self.sample.swap(NONE, Relaxed))
    }
    pub fn smoothed(&self) -> Option<Duration> {
        span(self.smoothed.load(Relaxed))
    }
    pub fn minimum(&self) -> Option<Duration> {
        span(self.minimum.load(Relaxed))
    }
}

fn span(nanoseconds: u64) -> Option<Duration> {
    (nanoseconds != NONE).then(|| Duration::from_nanos(nanoseconds))
}

//! A window without prior probing leaves evenly over one round-trip time, or a part of it at once
//! and then the rest.

use crate::decision::Pacing;
use crate::event::Sent;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};

/// One such round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacedRoundTrip {
    interval: Duration,
    end: Time,
    /// Payload that may still leave at once.
    burst: Bytes,
}

impl PacedRoundTrip {
    /// From `now` on, `segments` over one RTT, after an initial burst of `burst` segments.
    pub fn new(now: Time, rtt: Duration, segments: f64, burst: f64, state: &WindowState) -> Self {
        Self {
            interval: Duration::from_seconds(rtt.seconds() / segments.max(1.0)),
            end: now + rtt,
            burst: Bytes((burst.max(0.0) * state.mss.get() as f64) as u64),
        }
    }

    /// Whether a round-trip time has passed.
    pub fn is_over(&self, now: Time) -> bool {
        now >= self.end
    }

    /// A segment left.
    pub fn on_sent(&mut self, event: &Sent) {
        self.burst = self.burst.saturating_sub(event.size);
    }

    /// Spacing wanted now.
    pub fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        // The share of the round-trip time rounds to zero for a very large window: no spacing.
        if self.burst >= state.mss || self.interval.is_zero() {
            return None;
        }
        Some(Pacing { interval: self.interval, size: state.full_segment_on_wire(), tick: Duration::ZERO })
    }
}

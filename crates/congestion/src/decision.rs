//! A congestion control's decision, and the view of it that a recorder takes.

use crate::names;
use crate::state::{PathEstimate, WindowState};
use crate::units::{Bytes, Duration, PICOSECONDS_PER_SECOND};

/// Release times of segments that the window allows but that should not leave in one burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacing {
    /// Time between two releases of `size`; a smaller segment waits in proportion.
    pub interval: Duration,
    /// Wire size of the segment that `interval` belongs to.
    pub size: Bytes,
    /// Period of the clock that does the releasing: releases fall on its ticks. Zero: any time.
    pub tick: Duration,
}

impl Pacing {
    /// Interval in seconds between segments of this size on the wire. A rate too low for the
    /// connection ever to go on is a segment an hour.
    pub fn every(seconds: f64, size: Bytes) -> Self {
        const LONGEST: Duration = Duration::from_picoseconds(3600 * PICOSECONDS_PER_SECOND);
        let interval = Duration::from_seconds(seconds).clamp(Duration::from_picoseconds(1), LONGEST);
        Self { interval, size, tick: Duration::ZERO }
    }
    /// The rate on the wire, as transports ask for that space by rate instead of interval
    /// (`sk_pacing_rate` in Linux).
    pub fn bytes_per_second(&self) -> f64 {
        self.size.get() as f64 / self.interval.seconds()
    }
    /// Segments of this size at this rate in bit/s, both on the wire; above 0.
    pub fn at_wire_rate(bits_per_second: f64, size: Bytes) -> Self {
        Self::every(size.get() as f64 * 8.0 / bits_per_second, size)
    }
}

/// Segments that must leave back to back and marked, because what happens to them is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Two full segments of new data, back to back, past the pacing.
    Pair,
}

/// Which part a segment plays in a probe; says which option it must carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbePart {
    /// None.
    Single,
    /// First of a pair.
    PairFirst,
    /// Second of a pair.
    PairSecond,
}

/// Permission to send at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Payload that may be in flight.
    pub window: Bytes,
    /// Spacing of the segments that the window allows; `None`: ACKs are the clock.
    pub pacing: Option<Pacing>,
    /// Send the next new data as this probe when it fits in the window.
    pub probe: Option<Probe>,
    /// New data that may leave before the next ACK, whatever the window: with it an estimator holds
    /// segments back and releases them as a train. Nothing is held back while nothing is in flight,
    /// or there would be no next one.
    pub allowance: Bytes,
}

names! {
    /// Phase of a congestion control.
    #[repr(u8)]
    pub enum Phase {
        /// Below ssthresh.
        SlowStart = 0 => "slow start",
        /// At or above ssthresh.
        CongestionAvoidance = 1 => "congestion avoidance",
        /// Between loss detection and the end of the recovery.
        Recovery = 2 => "recovery",
        /// After a recovery, still spacing segments (packet-pair, section 4.2.2 of the paper).
        SafeTransmit = 3 => "safe-transmit",
        /// BBR: looking for the bandwidth of the path.
        Startup = 4 => "startup",
        /// BBR: emptying the queue that the startup left.
        Drain = 5 => "drain",
        /// BBR, ProbeBW_DOWN: slower than the path, to empty the queue.
        ProbeDown = 6 => "probe down",
        /// BBR, ProbeBW_CRUISE: as fast as the path.
        ProbeCruise = 7 => "probe cruise",
        /// BBR, ProbeBW_REFILL: a round trip with the path full before it sends faster.
        ProbeRefill = 8 => "probe refill",
        /// BBR, ProbeBW_UP: faster than the path was, to see whether it can carry more.
        ProbeUp = 9 => "probe up",
        /// BBR, ProbeRTT: half the path, to measure the round-trip time without a queue.
        ProbeRtt = 10 => "probe RTT",
        /// A window that was estimated, or granted by the routers, is spread over a round trip
        /// (Swift Start, Quick-Start).
        PacedStart = 11 => "paced start",
    }
}

/// The state a recorder wants to see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window, in segments of the maximum size (may be fractional).
    pub cwnd_segments: f64,
    /// Slow start threshold, in segments; infinite until the first loss unless set.
    pub ssthresh_segments: f64,
    /// Its phase.
    pub phase: Phase,
    /// The estimator's view of the path.
    pub path: PathEstimate,
}

/// Full segments spaced so that payload leaves at this many bytes per second; no spacing at rate
/// zero.
#[inline]
pub(crate) fn paced_at(payload_rate: f64, state: &WindowState) -> Option<Pacing> {
    if payload_rate.is_nan() || payload_rate <= 0.0 {
        return None;
    }
    Some(Pacing::every(state.mss.get() as f64 / payload_rate, state.full_segment_on_wire()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records have phases by number and by name.
    #[test]
    fn phases_have_names_and_numbers_of_their_own() {
        for (number, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, number);
            assert!(!phase.name().is_empty());
            assert!(Phase::ALL[..number].iter().all(|other| other.name() != phase.name()), "{phase:?}");
        }
        assert_eq!(Phase::ProbeRtt.name(), "probe RTT");
    }

    /// Spacing is never zero, which would release everything at once, and never above an hour,
    /// which would overflow.
    #[test]
    fn spacing_within_bounds() {
        let size = Bytes(1250);
        // 10 kbit at 1 Mbit/s.
        assert_eq!(Pacing::at_wire_rate(1e6, size).interval, Duration::from_milliseconds(10));
        assert_eq!(Pacing::at_wire_rate(1e6, size).bytes_per_second(), 125_000.0);
        assert_eq!(
            Pacing::every(0.25, size),
            Pacing { interval: Duration::from_milliseconds(250), size, tick: Duration::ZERO }
        );
        for (seconds, picoseconds) in
            [(0.0, 1), (f64::INFINITY, 3_600_000_000_000_000), (3601.0, 3_600_000_000_000_000)]
        {
            assert_eq!(Pacing::every(seconds, size).interval.picoseconds(), picoseconds);
        }
    }
}

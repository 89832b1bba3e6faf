//! A congestion control's decision, and its snapshot for a recorder.

use crate::names;
use crate::state::{PathEstimate, WindowState};
use crate::units::{Bytes, Duration, PICOSECONDS_PER_SECOND};

/// Release times of segments that the window allows but that should not leave in one burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacing {
    /// Time between two releases of `size`; a smaller segment waits in proportion.
    pub interval: Duration,
    /// Wire size of the segment to which `interval` applies.
    pub size: Bytes,
    /// Period of the release clock: releases fall on its ticks. Zero: any time.
    pub tick: Duration,
}

impl Pacing {
    /// An interval in seconds between segments of this size on the wire, at most an hour: a
    /// connection never stalls.
    pub fn every(seconds: f64, size: Bytes) -> Self {
        Self { interval: interval(seconds), size, tick: Duration::ZERO }
    }
    /// The rate on the wire, in bytes/s, for transports configured by rate instead of interval
    /// (`sk_pacing_rate` in Linux).
    pub fn bytes_per_second(&self) -> f64 {
        self.size.get() as f64 / self.interval.seconds()
    }
    /// Segments of this size at this rate in bit/s, both on the wire; above 0.
    pub fn at_wire_rate(bits_per_second: f64, size: Bytes) -> Self {
        Self::every(size.get() as f64 * 8.0 / bits_per_second, size)
    }
}

/// An interval between releases: never zero, which would release everything at once, and at most an
/// hour, so that a connection never stalls.
#[inline]
fn interval(seconds: f64) -> Duration {
    const LONGEST: Duration = Duration::from_picoseconds(3600 * PICOSECONDS_PER_SECOND);
    Duration::from_seconds(seconds).clamp(Duration::from_picoseconds(1), LONGEST)
}

/// Segments that must leave back to back and marked, because their fate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// Two full segments of new data, back to back, past the pacing.
    Pair,
}

/// Role of a segment in a probe, which determines its option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbePart {
    /// None.
    Single,
    /// First of a pair.
    PairFirst,
    /// Second of a pair.
    PairSecond,
}

/// Current permission to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// Payload that may be in flight.
    pub window: Bytes,
    /// Spacing of the segments that the window allows; `None` leaves it to the ACK clock.
    pub pacing: Option<Pacing>,
    /// Probe to send as the next new data, once it fits in the window.
    pub probe: Option<Probe>,
    /// New data that may leave before the next ACK, whatever the window: an estimator uses it to
    /// hold segments back and release them as a train. It does not apply while nothing is in
    /// flight, since no ACK would follow.
    pub allowance: Bytes,
}

names! {
    /// Phase of a congestion control.
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Phase {
        /// Below ssthresh.
        SlowStart = 0 => "slow start",
        /// At or above ssthresh.
        CongestionAvoidance = 1 => "congestion avoidance",
        /// Between the detection of a loss and the end of recovery.
        Recovery = 2 => "recovery",
        /// After a recovery, still spacing segments (packet-pair, section 4.2.2 of the paper).
        SafeTransmit = 3 => "safe-transmit",
        /// BBR: searching for the bandwidth of the path.
        Startup = 4 => "startup",
        /// BBR: draining the queue that Startup built.
        Drain = 5 => "drain",
        /// BBR, ProbeBW_DOWN: below the estimated bandwidth, to drain the queue.
        ProbeDown = 6 => "probe down",
        /// BBR, ProbeBW_CRUISE: at the estimated bandwidth.
        ProbeCruise = 7 => "probe cruise",
        /// BBR, ProbeBW_REFILL: one round trip with a full path before probing.
        ProbeRefill = 8 => "probe refill",
        /// BBR, ProbeBW_UP: above the estimated bandwidth, to probe for more.
        ProbeUp = 9 => "probe up",
        /// BBR, ProbeRTT: half the BDP in flight, to measure the RTT without a queue.
        ProbeRtt = 10 => "probe RTT",
        /// An estimated or router-granted window is spread over a round trip (Swift Start,
        /// Quick-Start).
        PacedStart = 11 => "paced start",
    }
}

/// State for a recorder.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Congestion window, in full segments (may be fractional).
    pub cwnd_segments: f64,
    /// Slow start threshold, in segments; infinite until the first loss unless set.
    pub ssthresh_segments: f64,
    /// Its phase.
    pub phase: Phase,
    /// The estimator's view of the path.
    pub path: PathEstimate,
}

/// Interval between full segments of `mss` bytes at this many bytes of payload per second; none at
/// rate zero.
#[inline]
pub(crate) fn interval_at(payload_rate: f64, mss: f64) -> Option<Duration> {
    (payload_rate > 0.0).then(|| interval(mss / payload_rate))
}

/// Paces full segments at this many bytes of payload per second; no pacing at rate zero.
#[inline]
pub(crate) fn paced_at(payload_rate: f64, state: &WindowState) -> Option<Pacing> {
    let interval = interval_at(payload_rate, state.mss.get() as f64)?;
    Some(Pacing { interval, size: state.full_segment_on_wire(), tick: Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records identify phases by number and by name.
    #[test]
    fn phases_have_names_and_numbers_of_their_own() {
        for (number, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, number);
            assert!(!phase.name().is_empty());
            assert!(Phase::ALL[..number].iter().all(|other| other.name() != phase.name()), "{phase:?}");
        }
        assert_eq!(Phase::ProbeRtt.name(), "probe RTT");
    }

    /// The interval is never zero, which would release everything at once, and never above an hour,
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

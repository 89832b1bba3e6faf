//! A limit on the flight of user-defined algorithms: a window that erroneously doubles with every
//! ACK would otherwise take all memory before any error.

use crate::plan::{FlowPlan, LinkPlan, Plan, Protocol, QueueLimit};
use selfclock_congestion::units::{Bytes, Duration, Rate};
use std::error::Error;
use std::fmt;

/// The largest window that TCP can express: "a maximum [...] of 2^30 bytes" (RFC 7323, section 2.3:
/// a shift of 14).
pub const LARGEST_WINDOW: u64 = 1 << 30;

/// Number of times a path may be filled before it counts as an error. Slow start fills BDP and
/// queue twice before it detects a loss; the factor of two above that is our choice.
const FILLS: u64 = 4;

/// Memory per segment in flight: 64 bytes in transit and 24 at its sender, in rings that grow by an
/// eighth, and the receiver's share.
const BYTES_PER_SEGMENT: u64 = 128;

/// Maximum payload in flight for a connection of this flow; unlimited for built-in algorithms.
pub fn most_in_flight(plan: &Plan, flow: &FlowPlan) -> Bytes {
    if !flow.protocol.tcp().is_some_and(|tcp| tcp.control.is_custom()) {
        return Bytes::MAX;
    }
    let slowest = flow.forward.iter().map(|&link| fastest(&plan.links[link])).min();
    let rate = slowest.map_or(0.0, |rate| rate.bits_per_second() as f64);
    let delays = flow.forward.iter().chain(&flow.reverse).map(|&link| longest(&plan.links[link]));
    let rtt = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
    let queues = flow.forward.iter().map(|&link| match plan.links[link].queue {
        QueueLimit::Unlimited => 0,
        // Maximum size of a packet (RFC 791).
        QueueLimit::Packets(packets) => packets.saturating_mul(u64::from(u16::MAX)),
        QueueLimit::Bytes(bytes) => bytes.get(),
    });
    let queued = queues.fold(0, u64::saturating_add);
    let bdp = rate / 8.0 * rtt.seconds();
    Bytes((bdp as u64).saturating_add(queued).saturating_mul(FILLS).max(LARGEST_WINDOW))
}

fn fastest(link: &LinkPlan) -> Rate {
    link.changes.iter().map(|change| change.rate).fold(link.rate, Rate::max)
}

fn longest(link: &LinkPlan) -> Duration {
    link.changes.iter().map(|change| change.delay).fold(link.delay, Duration::max)
}

/// Segments in flight per flow with a user-defined algorithm, such that all of them together stay
/// within this memory.
pub fn segments_within(plan: &Plan, memory: u64) -> u64 {
    let of_tcp = plan.flows.iter().filter(|flow| matches!(flow.protocol, Protocol::Tcp(_)));
    let custom = of_tcp.filter_map(|flow| flow.protocol.tcp()).filter(|tcp| tcp.control.is_custom()).count();
    memory / BYTES_PER_SEGMENT / (custom as u64).max(1)
}

/// Maximum number of segments in flight of an algorithm. Beyond it the algorithm counts as runaway.
#[derive(Clone, Copy, Debug)]
pub struct InFlightLimit {
    segments: usize,
    /// Whether memory sets the limit, instead of the path.
    by_memory: bool,
}

impl Default for InFlightLimit {
    fn default() -> Self {
        Self { segments: usize::MAX, by_memory: false }
    }
}

impl InFlightLimit {
    /// No more than this number of segments.
    pub fn lower_to(&mut self, segments: u64, by_memory: bool) {
        let segments = usize::try_from(segments).unwrap_or(usize::MAX);
        if segments < self.segments {
            *self = Self { segments, by_memory };
        }
    }

    /// Whether no further segment may leave with this number in flight.
    pub fn is_reached(&self, segments: usize) -> bool {
        segments >= self.segments
    }

    /// Payload of this number of full segments.
    pub fn bytes(&self, mss: u64) -> u64 {
        (self.segments as u64).saturating_mul(mss)
    }

    /// The error of an algorithm that exceeds it.
    pub fn exceeded(&self, segments: usize, bytes: Bytes, cwnd: f64) -> Runaway {
        Runaway { segments, bytes, cwnd, by_memory: self.by_memory }
    }
}

/// A flow exceeded its limit of data in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Runaway {
    /// Segments in flight.
    pub segments: usize,
    /// Payload in flight.
    pub bytes: Bytes,
    /// Value of cwnd, segments.
    pub cwnd: f64,
    /// Whether memory sets the limit, instead of the path.
    pub by_memory: bool,
}

impl fmt::Display for Runaway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segments, bytes, cwnd, by_memory } = *self;
        let megabytes = bytes.get() / 1_000_000;
        write!(f, "cwnd is {cwnd} segments, and {segments} segments ({megabytes} MB) are in flight: ")?;
        f.write_str(if by_memory {
            "this machine has no memory for more"
        } else {
            "more than the largest TCP window, 1 GiB (RFC 7323), and than four times the path's capacity"
        })
    }
}

impl Error for Runaway {}

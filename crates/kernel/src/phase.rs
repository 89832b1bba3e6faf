//! Kinds of events, as a record counts them: what a connection went through.

use std::collections::BTreeMap;

use crate::event::{KernelEvent, flag, kind, state};

/// How often each kind of event was there.
pub type Phases = BTreeMap<&'static str, u64>;

/// Every kind of event.
pub const PHASES: [&str; 16] = [
    "begin",
    "end",
    "fast recovery",
    "timeout",
    "repeated timeout",
    "reduction for a mark",
    "undo",
    "restart from idle",
    "segment sent",
    "option of the peer",
    "data with an option",
    "segment with an option",
    "echo of a mark",
    "application-limited ACK",
    "ACK with SACK",
    "other",
];

/// The kind of an event, one of [`PHASES`]. An ACK that is several of them counts as the first: an
/// echo, then application-limited, then SACK.
pub const fn phase(event: &KernelEvent) -> &'static str {
    match event.kind {
        kind::INIT => "begin",
        kind::RELEASE => "end",
        kind::UNDO => "undo",
        kind::START => "restart from idle",
        kind::SENT => "segment sent",
        kind::HEARD => "option of the peer",
        kind::ARRIVED => "data with an option",
        kind::WROTE => "segment with an option",
        kind::STATE if event.new_state == state::RECOVERY => "fast recovery",
        kind::STATE if event.new_state == state::LOSS && event.state == state::LOSS => "repeated timeout",
        kind::STATE if event.new_state == state::LOSS => "timeout",
        kind::STATE if event.new_state == state::CWR => "reduction for a mark",
        kind::ACK if event.ecn & 1 != 0 && event.flag & flag::ECE != 0 => "echo of a mark",
        kind::ACK if event.app_limited != 0 => "application-limited ACK",
        kind::ACK if event.flag & flag::DATA_SACKED != 0 => "ACK with SACK",
        _ => "other",
    }
}

//! Values passed between the three stages of a sender: the information in an ACK, and the response.

use super::scoreboard::Advance;
use selfclock_congestion::{Duration, PeerOption, RestartCause, Time};

/// Information in an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// When it arrived.
    pub now: Time,
    /// Its cumulative acknowledgement number.
    pub acknowledgement: u64,
    /// Bytes acknowledged cumulatively; zero for a duplicate.
    pub advance: Advance,
    /// Whether it reports the duplicate of a retransmission (D-SACK).
    pub duplicate: bool,
    /// The same of a tail loss probe.
    pub probe_duplicate: bool,
    /// Payload newly SACKed.
    pub sacked: u64,
    /// Send time of the newest newly SACKed segment that was sent only once.
    pub newest_sacked: Option<Time>,
    /// Send time of the oldest one.
    pub oldest_sacked: Option<Time>,
    /// Round-trip time of the newest segment it acknowledges cumulatively, if measurable.
    pub rtt: Option<Duration>,
    /// Payload newly reported as CE-marked.
    pub marked: u64,
    /// Whether it echoes a CE mark.
    pub congestion_echo: bool,
    /// The echoed timestamp.
    pub echo: Option<Time>,
    /// The peer's option.
    pub option: Option<PeerOption>,
}

/// Response to an ACK or an expired timer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// FlightSize before an ACK showing that a tail loss probe recovered a loss.
    pub repaired_by_probe: Option<u64>,
    /// Kind of ACK.
    pub ack: AckKind,
    /// Whether fast recovery was active when the ACK arrived.
    pub was_recovering: bool,
    /// Payload in flight after the ACK.
    pub in_flight: u64,
    /// Total payload marked lost, after the ACK.
    pub lost_total: u64,
    /// Whether fast recovery has ended.
    pub ended: bool,
    /// Whether the last fast retransmit or timeout was spurious: nothing was lost, and the response
    /// is undone.
    pub spurious: bool,
    /// Further event for the congestion control.
    pub event: Option<Event>,
    /// Action on the retransmission timer before anything is sent.
    pub timer: RetransmissionTimer,
    /// Whether the next retransmission leaves regardless of window and pacing.
    pub retransmit_first: bool,
}

impl Verdict {
    /// A fast retransmit: it is counted, and the retransmission timer restarts after it.
    pub fn is_fast_retransmit(&self) -> bool {
        matches!(
            self.event,
            Some(Event::Loss { .. } | Event::Restart { cause: RestartCause::TahoeFastRetransmit, .. })
        )
    }
}

/// Kind of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckKind {
    /// None, or an ACK while nothing was outstanding.
    #[default]
    Stray,
    /// It acknowledges new data.
    NewData,
    /// A duplicate that counts: the number of consecutive ones.
    Duplicate(u32),
    /// A duplicate without information.
    Repetition,
}

/// An event for a congestion control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A loss was detected; fast recovery begins.
    Loss {
        /// FlightSize of RFC 5681, bytes.
        flight_size: u64,
        /// Payload known to be lost, bytes.
        lost: u64,
        /// False if an ECN-Echo of the same window of data has already reduced the window.
        reduces: bool,
    },
    /// Everything outstanding counts as lost.
    Restart {
        /// FlightSize of RFC 5681, bytes.
        flight_size: u64,
        /// Whether the first outstanding segment had timed out before.
        repeated: bool,
        /// Why.
        cause: RestartCause,
    },
    /// The first congestion echo of a window of data.
    CongestionEcho {
        /// FlightSize of RFC 5681, bytes.
        flight_size: u64,
    },
}

/// Action on the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetransmissionTimer {
    /// Nothing.
    #[default]
    Keep,
    /// Restart with the current timeout.
    Restart,
    /// Nothing is outstanding.
    Cancel,
}

//! Values passed between the three acts of a sender: the news from an ACK, and its consequences.

use super::scoreboard::Advance;
use selfclock_congestion::{Duration, PeerOption, RestartCause, Time};

/// A sender's news from an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// When it arrived.
    pub now: Time,
    /// Its cumulative acknowledgement number.
    pub acknowledgement: u64,
    /// Bytes acknowledged cumulatively; none if it is a duplicate.
    pub advance: Advance,
    /// It carries SACK blocks.
    pub has_blocks: bool,
    /// Payload newly SACKed.
    pub sacked: u64,
    /// When the newest of the newly SACKed segments was sent that were sent only once.
    pub newest_sacked: Option<Time>,
    /// Round-trip time of the newest segment that it acknowledges cumulatively, if it could be
    /// measured.
    pub rtt: Option<Duration>,
    /// Payload newly reported as CE-marked.
    pub marked: u64,
    /// It reports a CE mark.
    pub congestion_echo: bool,
    /// The timestamp that it echoes.
    pub echo: Option<Time>,
    /// The peer's option.
    pub option: Option<PeerOption>,
}

/// Consequences of an ACK or an expired timer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// FlightSize before an ACK that shows a tail loss probe to have repaired a loss.
    pub repaired_by_probe: Option<u64>,
    /// Kind of ACK.
    pub ack: AckKind,
    /// A fast recovery was under way when the ACK arrived.
    pub was_recovering: bool,
    /// Payload in flight after the ACK.
    pub in_flight: u64,
    /// Payload ever marked lost, after the ACK.
    pub lost_total: u64,
    /// The fast recovery has ended.
    pub ended: bool,
    /// The last fast retransmit or timeout was spurious: nothing was lost, and what followed from
    /// it is to be undone.
    pub spurious: bool,
    /// Further event for the congestion control.
    pub event: Option<Event>,
    /// Action on the retransmission timer before anything is sent.
    pub timer: RetransmissionTimer,
    /// The next retransmission leaves whatever window and pacing say.
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
    /// None, or it came while nothing was outstanding.
    #[default]
    Stray,
    /// It acknowledges new data.
    NewData,
    /// A duplicate that counts: how many there are in a row.
    Duplicate(u32),
    /// A duplicate without news.
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
        /// False where an ECN-Echo of the same window of data has reduced the window.
        reduces: bool,
    },
    /// Everything outstanding counts as lost.
    Restart {
        /// FlightSize of RFC 5681, bytes.
        flight_size: u64,
        /// The first segment outstanding had timed out before.
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
    /// It restarts with the timeout of now.
    Restart,
    /// Nothing is outstanding.
    Cancel,
}

//! Was a recovery or a timeout spurious?
//!
//! Two signs. The ACK of a segment echoes the timestamp of the copy that arrived first: if that is
//! older than the first retransmission, the original was late, not lost (the Eifel detection
//! algorithm, RFC 3522). And a receiver that reports every retransmission as a duplicate (D-SACK)
//! had everything already (RFC 3708). The conditions are those of Linux (`tcp_may_undo` and
//! `tcp_packet_delayed`), whose names are in quotation marks. A third sign is in `timeout`.

use selfclock_congestion::Time;

/// The last response to a loss or a timeout, as long as it can be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    /// SND.UNA at the response: "undo_marker".
    marker: Option<u64>,
    /// Retransmissions that no D-SACK has reported, once there was one: "undo_retrans".
    unreported: Option<u32>,
    /// First retransmission of the recovery or of consecutive timeouts: "retrans_stamp".
    retransmitted: Option<Time>,
}

impl Undo {
    /// A response begins, with this number of earlier retransmissions still in the network, which
    /// D-SACK may report, too.
    pub fn begin(&mut self, una: u64, in_network: u32) {
        self.marker = Some(una);
        self.unreported = (in_network > 0).then_some(in_network);
    }

    /// No retransmission is in the network: the next one is the first.
    pub fn forget_retransmissions(&mut self) {
        self.retransmitted = None;
    }

    /// A response that must stay: the reduction answers a mark, too, or a loss that was repaired.
    pub fn give_up(&mut self) {
        self.marker = None;
    }

    /// Whether there is a response to undo.
    pub fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// A segment is retransmitted.
    pub fn on_retransmission(&mut self, now: Time) {
        self.retransmitted.get_or_insert(now);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// Whether a D-SACK that ends at this byte may be of a retransmission since the response.
    pub fn covers(&self, end: u64) -> bool {
        self.marker.is_some_and(|marker| end > marker)
    }

    /// D-SACK reports this number of retransmissions.
    pub fn on_duplicates(&mut self, count: u32) {
        self.unreported = self.unreported.map(|unreported| unreported.saturating_sub(count));
    }

    /// Whether every retransmission was a duplicate.
    pub fn is_all_duplicate(&self) -> bool {
        self.is_possible() && self.unreported == Some(0)
    }

    /// Whether an ACK of new data, which echoes this timestamp, is of an original that was late:
    /// the echo is older than the first retransmission, or there was none.
    pub fn is_late(&self, echo: Option<Time>) -> bool {
        self.is_possible()
            && self.retransmitted.is_none_or(|retransmitted| echo.is_some_and(|echo| echo < retransmitted))
    }

    /// The same for the first ACK of new data only, as in RFC 3522. Without SACK a later one may be
    /// of segments that were sent twice.
    pub fn is_first_ack_late(&mut self, echo: Option<Time>) -> bool {
        let retransmitted = self.retransmitted.take();
        echo.zip(retransmitted).is_some_and(|(echo, retransmitted)| echo < retransmitted)
    }
}

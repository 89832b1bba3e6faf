//! The Eifel detection algorithm, RFC 3522: was a retransmission needed?
//!
//! The ACK of a segment echoes the timestamp of the copy that arrived first. If that is older than
//! the first retransmission of a recovery, the original was not lost but late. Names in quotation
//! marks are those of the RFC.

use selfclock_congestion::Time;

/// State of the detection in one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Eifel {
    /// "RetransmitTS": when the first retransmission of a recovery left that no ACK of new data has
    /// followed.
    retransmitted: Option<Time>,
}

impl Eifel {
    /// A fast retransmit, or one of the retransmission timer, leaves now. Of several timeouts in a
    /// row the first counts: an ACK of any of their retransmissions shows that the original was
    /// lost.
    pub fn on_retransmission(&mut self, now: Time) {
        self.retransmitted.get_or_insert(now);
    }

    /// "An acceptable ACK": one of new data. Returns true if the retransmission was spurious.
    pub fn on_new_ack(&mut self, echo: Option<Time>) -> bool {
        let retransmitted = self.retransmitted.take();
        echo.zip(retransmitted).is_some_and(|(echo, retransmitted)| echo < retransmitted)
    }
}

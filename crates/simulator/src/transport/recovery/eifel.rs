//! The Eifel detection algorithm, RFC 3522: was a retransmission spurious?
//!
//! The ACK of a segment echoes the timestamp of the copy that arrived first. If that is older than
//! the first retransmission of a recovery, the original was late, not lost. Names in quotation
//! marks are those of the RFC.

use selfclock_congestion::Time;

/// State of the detection in one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Eifel {
    /// "RetransmitTS": send time of a recovery's first retransmission, until an ACK of new data.
    retransmitted: Option<Time>,
}

impl Eifel {
    /// A fast retransmit or a timeout's retransmission leaves now. The first of several consecutive
    /// timeouts counts: an ACK of any of their retransmissions shows that the original was lost.
    pub fn on_retransmission(&mut self, now: Time) {
        self.retransmitted.get_or_insert(now);
    }

    /// "An acceptable ACK": one of new data. Returns true if the retransmission was spurious.
    pub fn on_new_ack(&mut self, echo: Option<Time>) -> bool {
        let retransmitted = self.retransmitted.take();
        echo.zip(retransmitted).is_some_and(|(echo, retransmitted)| echo < retransmitted)
    }
}

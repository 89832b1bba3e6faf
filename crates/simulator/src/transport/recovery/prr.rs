//! Proportional rate reduction: in fast recovery the window follows the delivered data (RFC 9937).
//!
//! Otherwise a sender that has halved its window is silent until half of its flight is
//! acknowledged, and then sends one segment per ACK. With it the transmissions are spread over the
//! whole round trip. Names in quotation marks are those of the RFC.

/// State of one recovery. Numbers are of payload, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prr {
    /// "ssthresh": the final window.
    ssthresh: u64,
    /// "RecoverFS": the data to be delivered when recovery began.
    flight: u64,
    /// "prr_delivered".
    delivered: u64,
    mss: u64,
    last: Progress,
    window: u64,
    /// Payload retransmitted since the recovery began.
    retransmitted: u64,
}

/// Progress of a connection; all fields only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// SND.UNA plus SACKed bytes.
    pub delivered: u64,
    /// SND.UNA.
    pub una: u64,
    /// Total ever marked lost.
    pub lost: u64,
}

impl Prr {
    /// Begins a recovery. `before` is the state before the ACK that begins it, `next` SND.NXT, and
    /// `in_flight` the current flight; one segment may leave in any case: "Force a fast retransmit
    /// upon entering recovery".
    pub fn new(ssthresh: u64, mss: u64, before: Progress, next: u64, in_flight: u64) -> Self {
        Self {
            ssthresh,
            flight: next.saturating_sub(before.delivered).max(1),
            delivered: 0,
            mss,
            last: before,
            window: in_flight + mss,
            retransmitted: 0,
        }
    }

    /// Payload is retransmitted.
    pub fn on_retransmission(&mut self, size: u64) {
        self.retransmitted += size;
    }

    /// Processes an ACK. `new` is the new data sent since recovery began: with retransmissions it
    /// is "prr_out".
    pub fn on_ack(&mut self, now: Progress, in_flight: u64, new: u64) {
        let sent = new + self.retransmitted;
        let delivered = now.delivered.saturating_sub(self.last.delivered);
        if delivered == 0 {
            return;
        }
        // "SafeACK": it advances, and reports no further loss.
        let safe = now.una > self.last.una && now.lost == self.last.lost;
        self.last = now;
        self.delivered += delivered;
        let mut count = if in_flight > self.ssthresh {
            // "SndCnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out"
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(sent)
        } else {
            // "SndCnt = MAX(prr_delivered - prr_out, DeliveredData)", and one segment more if it is
            // safe
            let count = self.delivered.saturating_sub(sent).max(delivered) + if safe { self.mss } else { 0 };
            count.min(self.ssthresh - in_flight)
        };
        if sent == 0 {
            count = count.max(self.mss);
        }
        self.window = in_flight + count;
    }

    /// "cwnd": the current limit of data in flight.
    pub fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(delivered: u64, una: u64) -> Progress {
        Progress { delivered: delivered * 1000, una: una * 1000, lost: 1000 }
    }

    /// One of 20 segments is lost and the window halved, SACK by SACK: one segment for every two
    /// ACKs.
    #[test]
    fn one_loss_by_hand() {
        let mut prr = Prr::new(10_000, 1000, progress(0, 0), 20_000, 18_000);
        let mut sent = 0;
        let mut sends = Vec::new();
        for sacked in 1..=19 {
            // Lost, SACKed, and sent since.
            let in_flight = 19_000 - sacked * 1000 + sent;
            prr.on_ack(progress(sacked, 0), in_flight, sent);
            let count = (prr.window() - in_flight) / 1000;
            sent += count * 1000;
            sends.push(count);
        }
        // prr_delivered / 2 grows by a whole segment at every second, until at the sixteenth (19 -
        // 16 + 7 segments) at most ssthresh is in flight; then one for one.
        assert_eq!(sends, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert_eq!(sent, 10_000);
    }

    /// More was lost than the window is reduced by: delivered data is replaced, plus a segment for
    /// every ACK that advances, up to ssthresh.
    #[test]
    fn below_ssthresh_by_hand() {
        let mut prr = Prr::new(10_000, 1000, progress(0, 0), 20_000, 3000);
        prr.on_ack(progress(1, 0), 3000, 0);
        assert_eq!(prr.window(), 4000);
        prr.on_ack(progress(2, 0), 3000, 1000);
        assert_eq!(prr.window(), 4000, "not safe: it does not advance");
        prr.on_ack(progress(3, 1), 3000, 2000);
        assert_eq!(prr.window(), 5000);
        let loss = Progress { lost: 2000, ..progress(4, 2) };
        prr.on_ack(loss, 3000, 4000);
        assert_eq!(prr.window(), 4000, "not safe: a further loss");
        prr.on_ack(Progress { lost: 2000, ..progress(5, 3) }, 9500, 4000);
        assert_eq!(prr.window(), 10_000);
    }

    #[test]
    fn nothing_delivered_changes_nothing() {
        let mut prr = Prr::new(10_000, 1000, progress(5, 0), 20_000, 12_000);
        prr.on_ack(progress(5, 0), 15_000, 3000);
        assert_eq!(prr.window(), 13_000);
    }
}

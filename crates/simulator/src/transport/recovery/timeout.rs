//! After a retransmission timeout: was it spurious? Forward RTO-recovery (RFC 5682).
//!
//! The first ACK that advances releases new data instead of retransmissions. If then an ACK or a
//! SACK block is of data that was never retransmitted, it was late, not lost. As in Linux
//! (`tcp_process_loss`), without SACK as well; names in quotation marks are Linux's.

use super::verdict::{News, Verdict};
use super::{LossRecovery, RackTlp};

/// State between a timeout and the ACK of everything then outstanding ("TCP_CA_Loss").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum AfterTimeout {
    /// No timeout, or it is over.
    #[default]
    Over,
    /// Everything lost is retransmitted.
    Conventional,
    /// Whether the timeout was spurious is not yet decided ("frto").
    Undecided,
}

impl LossRecovery {
    /// The retransmission timer expires. `repeated`: for the same segment again.
    pub(super) fn enter_timeout(&mut self, repeated: bool) {
        self.holds_back = false;
        if !self.undoes {
            return;
        }
        let recovering = self.fast.is_some() || self.after_timeout != AfterTimeout::Over;
        if !recovering {
            self.undo.forget_retransmissions();
        }
        if !self.is_reduced(repeated) {
            self.undo.begin(self.una, 0);
        }
        // "retransmit SND.UNA if no previous loss recovery or recurring timeout(s) on SND.UNA"
        let undecided = self.frto && (!recovering || repeated);
        self.after_timeout = if undecided { AfterTimeout::Undecided } else { AfterTimeout::Conventional };
    }

    /// Whether the window has been reduced for the data outstanding: by an earlier timeout of the
    /// same segment, or by the recovery that the timeout ends. "Reduce ssthresh if it has not yet
    /// been made inside this window" (Linux, `tcp_enter_loss`).
    pub(super) fn is_reduced(&self, repeated: bool) -> bool {
        repeated || self.undoes && self.rack.is_some() && self.fast.is_some()
    }

    /// An ACK after a timeout, before further losses are marked.
    #[cold]
    pub(super) fn judge_after_timeout(&mut self, news: &News, verdict: &mut Verdict) {
        let new = news.advance.bytes > 0;
        let Some(point) = self.recover else { return self.leave_timeout() };
        let is_over = self.una >= point;
        if new && self.is_spurious(news) {
            return self.undo_response(true, verdict);
        }
        if self.after_timeout == AfterTimeout::Undecided {
            if self.is_of_originals(news) {
                return self.undo_response(true, verdict);
            }
            if self.next > point {
                if news.sacked > 0 || !new && !news.duplicate {
                    self.after_timeout = AfterTimeout::Conventional;
                }
            } else if new && !is_over {
                // New data, if there is any: see `abandons_frto`.
                self.recover = Some(self.next);
                self.holds_back = true;
                return;
            }
        }
        if is_over {
            if self.undo.is_all_duplicate() {
                return self.undo_response(false, verdict);
            }
            if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
                rack.on_recovery_end();
            }
            self.leave_timeout();
        }
    }

    fn leave_timeout(&mut self) {
        self.after_timeout = AfterTimeout::Over;
    }

    /// Whether the ACK reports data that was outstanding at the timeout and never retransmitted
    /// ("FLAG_ORIG_SACK_ACKED"). Without SACK it may have waited at the receiver for a
    /// retransmission that the same ACK covers.
    fn is_of_originals(&self, news: &News) -> bool {
        let before = |sent| sent <= self.reduced;
        let tells = self.method.uses_sack() || !news.advance.any_retransmitted;
        tells && news.advance.oldest_sent_once.is_some_and(before) || news.oldest_sacked.is_some_and(before)
    }

    /// Nothing new could be sent instead of the retransmissions that F-RTO holds back: they are
    /// due.
    pub fn abandons_frto(&mut self) -> bool {
        let abandons = self.holds_back
            && self.after_timeout == AfterTimeout::Undecided
            && self.recover == Some(self.next);
        if abandons {
            (self.holds_back, self.after_timeout) = (false, AfterTimeout::Conventional);
        }
        abandons
    }
}

//! Responses to an ACK or an expired timer.

use super::duplicates::Inflation;
use super::prr::Prr;
use super::rack::Conditions;
use super::scoreboard::{DUPLICATE_THRESHOLD, Segment};
use super::timeout::AfterTimeout;
use super::undo::Undo;
use super::verdict::{AckKind, Event, News, RetransmissionTimer, Verdict};
use super::{FastRecovery, LossRecovery, RackTlp};
use crate::plan::Recovery;
use crate::transport::rto::RttEstimator;
use selfclock_congestion::{RestartCause, Time};

impl LossRecovery {
    /// Responds to an ACK.
    pub fn judge(&mut self, news: &News, rtt: &RttEstimator) -> Verdict {
        let mut verdict = Verdict { was_recovering: self.fast.is_some(), ..Verdict::default() };
        self.holds_back = false;
        if news.congestion_echo {
            // "ECE, hence prohibit cwnd undoing, the reduction is required" (Linux,
            // `tcp_fastretrans_alert`).
            self.undo.give_up();
        }
        let new = news.advance.bytes > 0;
        if let Some(RackTlp { probe, .. }) = self.rack.as_deref_mut()
            && probe.on_ack(news.acknowledgement, news.probe_duplicate || !new && news.sacked == 0)
        {
            verdict.repaired_by_probe = Some(self.board.outstanding_bytes() + news.advance.bytes);
            self.undo.give_up();
        }
        if new {
            self.judge_new_data(news, rtt, &mut verdict);
        } else if !self.board.is_empty() {
            self.judge_duplicate(news, rtt, &mut verdict);
        } else if news.duplicate {
            self.judge_spurious(news, &mut verdict);
        }
        if news.congestion_echo && verdict.ack != AckKind::Stray {
            self.judge_echo(&mut verdict);
        }
        verdict
    }

    /// Undoes what an ACK shows to be spurious: of a timeout, a recovery, or one that is over.
    #[inline]
    fn judge_spurious(&mut self, news: &News, verdict: &mut Verdict) {
        if self.after_timeout != AfterTimeout::Over {
            self.judge_after_timeout(news, verdict);
        } else if self.undo.is_possible() {
            self.judge_recovery(news, verdict);
        }
    }

    #[cold]
    fn judge_recovery(&mut self, news: &News, verdict: &mut Verdict) {
        let new = news.advance.bytes > 0;
        let point = self.fast.as_deref().map(|fast| fast.point).filter(|_| self.method.uses_sack());
        let Some(point) = point.filter(|_| new) else {
            if self.undo.is_all_duplicate() || new && !self.method.uses_sack() && self.is_spurious(news) {
                self.undo_response(!self.method.uses_sack(), verdict);
            }
            return;
        };
        let is_late = self.undo.is_late(self.echo(news));
        if self.una < point && is_late {
            // "If there are no retransmits out then we can undo. Otherwise we clock out new packets
            // but do not mark more packets lost or retransmit more" (Linux,
            // `tcp_try_undo_partial`).
            self.holds_back = self.board.resent_bytes() > 0;
            if !self.holds_back {
                self.undo_response(true, verdict);
            }
        } else if is_late || self.undo.is_all_duplicate() {
            self.undo_response(false, verdict);
        }
    }

    /// Whether an ACK of new data shows that the last retransmissions were spurious.
    pub(super) fn is_spurious(&mut self, news: &News) -> bool {
        if self.method.uses_sack() {
            self.undo.is_all_duplicate() || self.undo.is_late(self.echo(news))
        } else {
            self.undo.is_first_ack_late(self.echo(news))
        }
    }

    fn echo(&self, news: &News) -> Option<Time> {
        news.echo.filter(|_| self.timestamps)
    }

    fn judge_new_data(&mut self, news: &News, rtt: &RttEstimator, verdict: &mut Verdict) {
        verdict.ack = AckKind::NewData;
        verdict.timer = RetransmissionTimer::Restart;
        self.duplicates = 0;
        self.judge_spurious(news, verdict);
        if self.holds_back && self.fast.is_some() {
            self.note_in_flight(verdict);
            return self.reduce_proportionally();
        }
        if let Some(FastRecovery { point, .. }) = self.fast.as_deref().copied() {
            verdict.ended = match self.method {
                // "When the next ACK arrives that acknowledges previously unacknowledged data, a
                // TCP MUST set cwnd to ssthresh" (RFC 5681, section 3.2, step 6).
                Recovery::Tahoe | Recovery::Reno => true,
                Recovery::NewReno | Recovery::Sack | Recovery::Rack => news.acknowledgement >= point,
            };
            if self.method == Recovery::NewReno && !verdict.ended {
                self.judge_partial_ack(news, rtt, verdict);
            }
        }
        self.mark_losses(news.now, rtt, verdict.ended);
        self.note_in_flight(verdict);
        if self.board.is_empty() {
            verdict.timer = RetransmissionTimer::Cancel;
        }
        // An ACK that advances and newly SACKs data "is counted as a duplicate acknowledgment [...]
        // even if it [...] moves the cumulative acknowledgment point" (RFC 6675, section 2), and a
        // known loss begins a recovery.
        if self.method == Recovery::Sack
            && self.fast.is_none()
            && news.sacked > 0
            && self.board.sacked_bytes() > 0
        {
            self.duplicates = 1;
        }
        if self.method.uses_sack() {
            self.begin_if_lost(news.now, rtt, verdict);
        }
    }

    /// Spurious: recovery ends, and segments marked lost are in flight after all (`unmarks`) unless
    /// only the retransmissions are known to have been needless.
    ///
    /// Our choice: segments below the edge of RFC 6675's IsLost are left to the retransmission
    /// timer, because the SACK blocks that marked them remain. RACK accounts for the reordering.
    #[cold]
    pub(super) fn undo_response(&mut self, unmarks: bool, verdict: &mut Verdict) {
        verdict.spurious = true;
        if unmarks {
            self.board.unmark_losses();
            if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
                rack.on_unmarked(&self.board);
            }
        }
        self.undo = Undo::default();
        self.after_timeout = AfterTimeout::Over;
        self.fast = None;
        self.prr = None;
        if self.method.uses_sack() {
            // Without SACK, duplicate ACKs may still come from segments sent twice.
            self.recover = None;
        }
    }

    /// RFC 6582, section 3.2: "retransmit the first unacknowledged segment".
    fn judge_partial_ack(&mut self, news: &News, rtt: &RttEstimator, verdict: &mut Verdict) {
        let Some(FastRecovery { inflation, .. }) = self.fast.as_deref_mut() else { return };
        if !inflation.on_partial_ack(news.advance.bytes, self.mss) {
            verdict.timer = RetransmissionTimer::Keep;
        }
        inflation.begin_round(news.now, rtt.minimum(), self.board.len());
        self.board.mark_first_lost();
        verdict.retransmit_first = true;
    }

    fn judge_duplicate(&mut self, news: &News, rtt: &RttEstimator, verdict: &mut Verdict) {
        if news.duplicate || self.after_timeout != AfterTimeout::Over {
            self.judge_spurious(news, verdict);
        }
        // With SACK only ACKs with news count (RFC 6675, section 2).
        if self.method.uses_sack() && news.sacked == 0 {
            verdict.ack = AckKind::Repetition;
            if verdict.spurious {
                self.mark_losses(news.now, rtt, false);
                self.begin_if_lost(news.now, rtt, verdict);
            }
            return;
        }
        self.duplicates += 1;
        verdict.ack = AckKind::Duplicate(self.duplicates);
        self.mark_losses(news.now, rtt, false);
        self.note_in_flight(verdict);
        if let Some(FastRecovery { inflation, .. }) = self.fast.as_deref_mut() {
            if !self.method.uses_sack() {
                inflation.on_duplicate(self.mss);
            }
            return self.begin_if_lost(news.now, rtt, verdict);
        }
        let begins = match self.method {
            Recovery::Rack => self.board.bytes_to_retransmit() > 0,
            // As soon as the information suffices.
            Recovery::Sack => self.board.begins_recovery(self.duplicates),
            // Once, at the third.
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => self.duplicates == DUPLICATE_THRESHOLD,
        };
        if begins && self.may_begin() {
            self.begin(news.now, rtt, verdict);
        }
    }

    /// The receiver has reported a CE mark. "TCP should not react to congestion indications more
    /// than once every window of data": only after everything outstanding at the last reduction, of
    /// whatever cause, is acknowledged.
    fn judge_echo(&mut self, verdict: &mut Verdict) {
        // Up to that point, inclusive, the receiver may not have seen CWR, which the next segment
        // carries.
        let reduced_before = self.echoed.max(self.recover).is_some_and(|point| self.una <= point);
        if self.fast.is_none() && !reduced_before {
            verdict.event = Some(Event::CongestionEcho { flight_size: self.flight_before_ack() });
            self.echoed = Some(self.next);
        }
    }

    /// Responds to an expired retransmission timer.
    pub fn on_timeout(&mut self, now: Time, rtt: &RttEstimator) -> Verdict {
        let repeated = self.board.front().is_some_and(Segment::had_timed_out);
        if self.board.front().is_some_and(Segment::is_sacked) {
            self.forget_sacks();
        }
        let reduced = self.is_reduced(repeated);
        self.enter_timeout(repeated);
        let event = self.restart(now, rtt, reduced, RestartCause::TimerExpired);
        self.duplicates = 0;
        self.board.note_timeout_of_first();
        if self.undoes && !self.method.uses_sack() {
            self.undo.on_retransmission(now);
        }
        Verdict { event: Some(event), retransmit_first: true, ..Verdict::default() }
    }

    /// Responds to an expired RACK reordering timer.
    pub fn on_reordering_timer(&mut self, now: Time, rtt: &RttEstimator) -> Verdict {
        self.before = self.progress();
        self.holds_back = false;
        self.detect_by_time(now, rtt);
        self.judge_detected(now, rtt)
    }

    /// Responds to losses found by [`LossRecovery::detect_by_time`].
    pub fn judge_detected(&mut self, now: Time, rtt: &RttEstimator) -> Verdict {
        let mut verdict = Verdict::default();
        self.begin_if_lost(now, rtt, &mut verdict);
        verdict
    }

    fn note_in_flight(&self, verdict: &mut Verdict) {
        verdict.in_flight = self.board.pipe_bytes();
        verdict.lost_total = self.board.lost_total();
    }

    /// Marks the losses that an ACK reveals, and ends recovery if it did.
    fn mark_losses(&mut self, now: Time, rtt: &RttEstimator, ended: bool) {
        if self.method == Recovery::Sack && (self.fast.is_some() || !self.waits_for_recovery_point()) {
            self.board.mark_lost_below_edge();
        }
        if ended {
            self.fast = None;
            self.prr = None;
            if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
                rack.on_recovery_end();
            }
        }
        if self.rack.is_some() {
            self.detect_by_time(now, rtt);
        } else {
            self.reduce_proportionally();
        }
    }

    fn begin_if_lost(&mut self, now: Time, rtt: &RttEstimator, verdict: &mut Verdict) {
        let begins = if self.fast.is_none() {
            self.board.bytes_to_retransmit() > 0 && self.may_begin()
        } else {
            self.reduces_again && self.retransmission_lost
        };
        if begins {
            self.begin(now, rtt, verdict);
        }
    }

    /// Whether a loss begins a recovery: once per window of data, or because a retransmission is
    /// lost after a timeout. "Loss in two successive windows of data, or the loss of a
    /// retransmission, should be taken as two indications of congestion and, therefore, cwnd (and
    /// ssthresh) MUST be lowered twice in this case" (RFC 5681, section 4.3). Only RACK sees such a
    /// loss. Without a reduction, a window far above what the path delivers would be retransmitted
    /// again and again; Linux, too, then enters recovery (`FLAG_LOST_RETRANS` in `TCP_CA_Loss`).
    ///
    /// In fast recovery nothing begins where proportional rate reduction, or an algorithm that
    /// controls its window itself, already sends no more than is delivered; Linux's
    /// `TCP_CA_Recovery` is the same. Without either the sentence of RFC 5681 holds there, too.
    fn may_begin(&self) -> bool {
        self.retransmission_lost || !self.waits_for_recovery_point()
    }

    /// Whether SND.NXT of the last timeout or fast retransmit has not been reached: "a new recovery
    /// phase [...] MUST NOT be initiated until HighACK is greater than or equal to the new value of
    /// RecoveryPoint" (RFC 6675, section 5.1). Without SACK the ACK must cover more than `recover`
    /// (RFC 6582, section 3.2), because at `recover` itself duplicate ACKs may still come from
    /// segments sent twice.
    fn waits_for_recovery_point(&self) -> bool {
        self.recover.is_some_and(|recover| match self.method {
            Recovery::Sack | Recovery::Rack => self.una < recover,
            _ => self.one_recovery_per_window && self.una <= recover,
        })
    }

    /// FlightSize of RFC 5681, section 3.2: without segments sent by Limited Transmit.
    fn flight_size(&self) -> u64 {
        self.flight_above(self.una)
    }

    /// FlightSize as an ACK arrives: one that reveals a loss, or echoes a mark, may acknowledge
    /// much of the window, too, and what it acknowledges was in flight (Linux takes the window).
    fn flight_before_ack(&self) -> u64 {
        self.flight_above(self.before.una)
    }

    fn flight_above(&self, una: u64) -> u64 {
        (self.next - una).saturating_sub(self.limited_transmit_bytes)
    }

    /// Begins a fast retransmit and, except for Tahoe, fast recovery.
    fn begin(&mut self, now: Time, rtt: &RttEstimator, verdict: &mut Verdict) {
        verdict.retransmit_first = true;
        self.begin_undo(now);
        if self.method == Recovery::Tahoe {
            verdict.event = Some(self.restart(now, rtt, false, RestartCause::TahoeFastRetransmit));
            return;
        }
        // "The TCP sender's congestion window should be reduced only once in response to a series
        // of dropped and/or CE packets from a single window of data" (RFC 3168, section 6.1.2).
        let reduces = !self.classic_ecn || self.echoed.is_none_or(|echoed| self.una >= echoed);
        if self.rack.is_none() {
            self.board.mark_first_lost();
        }
        let mut flight_size = self.flight_before_ack();
        if self.waits_for_recovery_point() {
            // What the timeout took for lost is not in flight, unless it was retransmitted.
            let newly_lost = self.board.lost_total() - self.before.lost;
            flight_size = flight_size.min(self.board.pipe_bytes() + newly_lost);
        }
        let lost = self.board.bytes_to_retransmit();
        verdict.event = Some(Event::Loss { flight_size, lost, reduces });
        (self.recover, self.reduced) = (Some(self.next), now);
        let inflation = Inflation::new(now, self.mss, self.board.len());
        if let Some(RackTlp { probe, .. }) = self.rack.as_deref_mut() {
            // The loss that a probe may have repaired is answered: once per window of data.
            probe.forget();
        }
        self.fast = Some(Box::new(FastRecovery { point: self.next, inflation }));
    }

    /// A recovery begins: what is needed to undo it.
    fn begin_undo(&mut self, now: Time) {
        (self.after_timeout, self.holds_back) = (AfterTimeout::Over, false);
        if !self.undoes {
            return;
        }
        let resent = self.board.resent_bytes();
        if resent == 0 && !self.board.front().is_some_and(Segment::was_retransmitted) {
            self.undo.forget_retransmissions();
        }
        let probe = self.rack.as_deref().is_some_and(|tlp| tlp.probe.is_retransmission());
        self.undo.begin(self.una, resent.div_ceil(self.mss) as u32 + u32::from(probe));
        if !self.method.uses_sack() {
            self.undo.on_retransmission(now);
        }
    }

    /// The congestion control has responded to the loss that began this recovery: proportional rate
    /// reduction ends at its window.
    pub fn reduce_to(&mut self, window: u64) {
        if self.uses_prr {
            let prr = Prr::new(window, self.mss, self.before, self.next, self.board.pipe_bytes());
            self.prr = Some(Box::new(prr));
            self.reduce_proportionally();
        }
    }

    /// Everything outstanding counts as lost.
    fn restart(&mut self, now: Time, rtt: &RttEstimator, repeated: bool, cause: RestartCause) -> Event {
        let flight_size = self.flight_size();
        let conditions = self.rack_conditions(rtt);
        match self.rack.as_deref_mut() {
            Some(RackTlp { rack, probe, .. }) => {
                rack.on_timeout(&mut self.board, now, conditions);
                probe.forget();
            }
            None => self.board.mark_all_lost(),
        }
        self.fast = None;
        self.prr = None;
        (self.recover, self.reduced) = (Some(self.next), now);
        self.limited_transmit_bytes = 0;
        Event::Restart { flight_size, repeated, cause }
    }

    /// The receiver has reneged: otherwise it would have acknowledged the first outstanding
    /// segment, which it reported. "After a retransmit timeout the data sender SHOULD turn off all
    /// of the SACKed bits, since the timeout might indicate that the data receiver has reneged"
    /// (RFC 2018, section 5); with this test other bits can stay (RFC 6675, section 5.1).
    #[cold]
    fn forget_sacks(&mut self) {
        let forgotten = self.board.forget_sacks();
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_reneging(&mut self.board, &forgotten);
        }
    }

    /// Reduces the window in proportion to the data delivered since the last call. Called for every
    /// ACK in recovery, after losses are marked.
    #[inline]
    fn reduce_proportionally(&mut self) {
        let Some(&FastRecovery { point, .. }) = self.fast.as_deref() else { return };
        let now = self.progress();
        if let Some(prr) = self.prr.as_deref_mut() {
            prr.on_ack(now, self.board.pipe_bytes(), self.next - point);
        }
    }

    fn rack_conditions(&self, rtt: &RttEstimator) -> Conditions {
        Conditions {
            in_recovery: self.fast.is_some() || self.waits_for_recovery_point(),
            minimum_rtt: rtt.minimum().unwrap_or_default(),
            smoothed_rtt: rtt.smoothed().unwrap_or_default(),
        }
    }

    /// Marks segments lost by RACK's rule.
    #[inline]
    pub fn detect_by_time(&mut self, now: Time, rtt: &RttEstimator) {
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut()
            && rack.nothing_overtaken()
        {
            self.retransmission_lost = false;
            return self.reduce_proportionally();
        }
        self.detect_overtaken(now, rtt);
    }

    #[inline(never)]
    fn detect_overtaken(&mut self, now: Time, rtt: &RttEstimator) {
        let conditions = self.rack_conditions(rtt);
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            self.retransmission_lost = rack.detect(&mut self.board, now, conditions, self.reduced);
        }
        self.reduce_proportionally();
    }
}

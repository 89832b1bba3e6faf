//! Loss recovery: what is outstanding, what of it is lost, when a recovery begins and ends.
//!
//! The second of a sender's three acts. [`LossRecovery`] takes what was learnt from an ACK ([`News`]), or that a timer has
//! expired, and returns a [`Verdict`]; then it says what is in flight and which segment is the next retransmission. It sends
//! nothing, sets no timer, and knows neither the network nor the congestion control.
//!
//! `duplicates` is Reno and NewReno, `sack` RFC 6675, `rack` RFC 8985 with its `tail_probe`, `prr` RFC 9937.

mod duplicates;
mod prr;
mod rack;
mod sack;
mod scoreboard;
mod tail_probe;
#[cfg(test)]
mod tests;
mod verdict;

pub use scoreboard::{Advance, Scoreboard, Segment};
pub use verdict::{AckKind, Event, News, RetransmissionTimer, Verdict};

use super::rto::RttEstimator;
use crate::plan::{Ecn, Recovery, Transport};
use duplicates::Inflation;
use prr::{Progress, Prr};
use rack::{Conditions, Rack};
use scoreboard::DUPLICATE_THRESHOLD;
use selfclock_congestion::{Duration, RestartCause, Time};
use tail_probe::{Purpose, TailProbe};

/// A fast recovery under way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FastRecovery {
    /// "RecoveryPoint": an ACK of everything below ends it.
    point: u64,
    /// Without SACK.
    inflation: Inflation,
}

/// RACK with its loss probe. One timer serves both.
#[derive(Clone, Debug, Default)]
struct RackTlp {
    rack: Rack,
    probe: TailProbe,
    purpose: Purpose,
}

/// What becomes of the timer of RACK and TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackTimer {
    /// Nothing.
    Keep,
    /// It does not expire.
    Cancel,
    /// It expires then.
    Set(Time),
}

/// Loss recovery of one connection. What every ACK touches stands first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LossRecovery {
    /// SND.UNA: everything below is acknowledged.
    una: u64,
    /// SND.NXT: the next new byte.
    next: u64,
    duplicates: u32,
    method: Recovery,
    uses_prr: bool,
    limited_transmit: bool,
    one_recovery_per_window: bool,
    classic_ecn: bool,
    /// New data that Limited Transmit sent since the last new ACK.
    limited_transmit_bytes: u64,
    rack: Option<Box<RackTlp>>,
    fast: Option<FastRecovery>,
    board: Scoreboard,
    mss: u64,
    /// Before the ACK that is being processed.
    before: Progress,
    prr: Option<Box<Prr>>,
    /// SND.NXT at the last timeout or fast retransmit. Duplicate ACKs below it may come from segments that were sent twice,
    /// and begin no new recovery (RFC 6582, section 4).
    recover: Option<u64>,
    /// SND.NXT at the last reaction to a CE mark.
    echoed: Option<u64>,
}

impl LossRecovery {
    /// Of a connection with this transport, before anything is sent.
    pub fn new(transport: &Transport) -> Self {
        let delayed = transport.delayed_ack;
        let rack = (transport.recovery == Recovery::Rack).then(|| {
            let maximum_ack_delay = if delayed.every > 1 { delayed.timer } else { Duration::ZERO };
            Box::new(RackTlp { probe: TailProbe::new(maximum_ack_delay), ..RackTlp::default() })
        });
        Self {
            una: 0,
            next: 0,
            duplicates: 0,
            method: transport.recovery,
            uses_prr: transport.prr && transport.recovery.uses_sack(),
            limited_transmit: transport.limited_transmit,
            one_recovery_per_window: transport.one_recovery_per_window,
            classic_ecn: transport.ecn == Ecn::Classic,
            limited_transmit_bytes: 0,
            rack,
            fast: None,
            board: Scoreboard::default(),
            mss: transport.mss.get(),
            before: Progress::default(),
            prr: None,
            recover: None,
            echoed: None,
        }
    }

    /// SND.UNA: everything below is acknowledged.
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.una
    }
    /// SND.NXT: the next new byte.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }
    /// The segments outstanding.
    #[inline(always)]
    pub fn outstanding(&self) -> &Scoreboard {
        &self.board
    }
    /// Losses are found by time.
    #[inline(always)]
    pub fn uses_rack(&self) -> bool {
        self.rack.is_some()
    }
    /// A fast recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.fast.is_some()
    }
    /// No recovery, and no duplicate ACK since the last new one.
    #[inline(always)]
    pub fn is_calm(&self) -> bool {
        self.duplicates == 0 && self.fast.is_none()
    }
    /// A tail loss probe is not accounted for.
    pub fn awaits_probe(&self) -> bool {
        self.rack.as_deref().is_some_and(|tlp| tlp.probe.is_outstanding())
    }

    // --- learn --------------------------------------------------------------------------------------------------

    /// Before anything of an ACK is taken.
    #[inline(always)]
    pub fn begin_ack(&mut self) {
        self.before = self.progress();
    }

    /// The receiver holds the bytes from `start` to before `end`. `delivered` is called with index and segment for each that
    /// this is news of.
    pub fn take_block(
        &mut self,
        (start, end): (u64, u64),
        (echo, minimum_rtt): (Option<Time>, Option<Duration>),
        news: &mut News,
        mut delivered: impl FnMut(usize, &Segment),
    ) {
        if !self.method.uses_sack() || start >= end || start < news.acknowledgement || end > self.next {
            return;
        }
        let (now, rack) = (news.now, &mut self.rack);
        news.sacked += self.board.sack_each(start, end, |index, segment| {
            if !segment.was_retransmitted() {
                news.newest_sacked = news.newest_sacked.max(Some(segment.sent));
            }
            delivered(index, segment);
            if let Some(RackTlp { rack, .. }) = rack.as_deref_mut() {
                rack.on_delivered(index, segment, now, echo, minimum_rtt);
                rack.note_sacked();
            }
        });
    }

    /// The receiver has everything below `acknowledgement`, which is beyond SND.UNA.
    #[inline(always)]
    pub fn take_cumulative<const RACK: bool>(
        &mut self,
        now: Time,
        acknowledgement: u64,
        echo: Option<Time>,
        minimum_rtt: Option<Duration>,
    ) -> Advance {
        if RACK && let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_cumulative_ack(&self.board, acknowledgement, now, echo, minimum_rtt);
        }
        let advance = self.board.advance(acknowledgement);
        self.una = acknowledgement;
        self.limited_transmit_bytes = 0;
        advance
    }

    // --- judge --------------------------------------------------------------------------------------------------

    /// What follows from an ACK.
    pub fn judge(&mut self, news: &News, rtt: &RttEstimator) -> Verdict {
        let mut verdict = Verdict { was_recovering: self.fast.is_some(), ..Verdict::default() };
        let new = news.advance.bytes > 0;
        if let Some(RackTlp { probe, .. }) = self.rack.as_deref_mut()
            && probe.on_ack(news.acknowledgement, !new && !news.has_blocks)
        {
            verdict.repaired_by_probe = Some(self.board.outstanding_bytes() + news.advance.bytes);
        }
        if new {
            self.judge_new_data(news, rtt, &mut verdict);
        } else if !self.board.is_empty() {
            self.judge_duplicate(news, rtt, &mut verdict);
        }
        if news.congestion_echo && verdict.ack != AckKind::Stray {
            self.judge_echo(&mut verdict);
        }
        verdict
    }

    fn judge_new_data(&mut self, news: &News, rtt: &RttEstimator, verdict: &mut Verdict) {
        verdict.ack = AckKind::NewData;
        verdict.timer = RetransmissionTimer::Restart;
        self.duplicates = 0;
        if let Some(FastRecovery { point, .. }) = self.fast {
            verdict.ended = match self.method {
                // "When the next ACK arrives that acknowledges previously unacknowledged data, a TCP MUST set cwnd to
                // ssthresh" (RFC 5681, section 3.2, step 6).
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
        // An ACK that advances and tells of newly SACKed data "is counted as a duplicate acknowledgment [...] even if it [...]
        // moves the cumulative acknowledgment point" (RFC 6675, section 2), and a loss that is known of begins a recovery.
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

    /// RFC 6582, section 3.2: "retransmit the first unacknowledged segment".
    fn judge_partial_ack(&mut self, news: &News, rtt: &RttEstimator, verdict: &mut Verdict) {
        let Some(FastRecovery { inflation, .. }) = &mut self.fast else { return };
        if !inflation.on_partial_ack(news.advance.bytes, self.mss) {
            verdict.timer = RetransmissionTimer::Keep;
        }
        inflation.begin_round(news.now, rtt.minimum(), self.board.len());
        self.board.mark_first_lost();
        verdict.retransmit_first = true;
    }

    fn judge_duplicate(&mut self, news: &News, rtt: &RttEstimator, verdict: &mut Verdict) {
        // With SACK only ACKs that tell something count (RFC 6675, section 2).
        if self.method.uses_sack() && news.sacked == 0 {
            verdict.ack = AckKind::Repetition;
            return;
        }
        self.duplicates += 1;
        verdict.ack = AckKind::Duplicate(self.duplicates);
        self.mark_losses(news.now, rtt, false);
        self.note_in_flight(verdict);
        if let Some(FastRecovery { inflation, .. }) = &mut self.fast {
            if !self.method.uses_sack() {
                inflation.on_duplicate(self.mss);
            }
            return;
        }
        let begins = match self.method {
            Recovery::Rack => self.board.bytes_to_retransmit() > 0,
            // As soon as the information is there.
            Recovery::Sack => self.board.begins_recovery(self.duplicates),
            // Once, at the third.
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => self.duplicates == DUPLICATE_THRESHOLD,
        };
        if begins && !self.waits_for_recovery_point() {
            self.begin(news.now, rtt, verdict);
        }
    }

    /// The receiver has told of a CE mark. "TCP should not react to congestion indications more than once every window of
    /// data": not before what was outstanding at the last reduction, of whatever cause, is acknowledged.
    fn judge_echo(&mut self, verdict: &mut Verdict) {
        // Up to and at that point the receiver may not have seen CWR, which comes on the next segment.
        let reduced_before = self.echoed.max(self.recover).is_some_and(|point| self.una <= point);
        if self.fast.is_none() && !reduced_before {
            verdict.event = Some(Event::CongestionEcho { flight_size: self.flight_size() });
            self.echoed = Some(self.next);
        }
    }

    /// What follows from an expiry of the retransmission timer.
    pub fn on_timeout(&mut self, now: Time, rtt: &RttEstimator) -> Verdict {
        let repeated = self.board.front().is_some_and(Segment::had_timed_out);
        if self.board.front().is_some_and(Segment::is_sacked) {
            self.forget_sacks();
        }
        let event = self.restart(now, rtt, repeated, RestartCause::TimerExpired);
        self.duplicates = 0;
        self.board.note_timeout_of_first();
        Verdict { event: Some(event), retransmit_first: true, ..Verdict::default() }
    }

    /// What follows from an expiry of the reordering timer of RACK.
    pub fn on_reordering_timer(&mut self, now: Time, rtt: &RttEstimator) -> Verdict {
        self.before = self.progress();
        self.detect_by_time(now, rtt);
        self.judge_detected(now, rtt)
    }

    /// What follows from losses that [`LossRecovery::detect_by_time`] has found.
    pub fn judge_detected(&mut self, now: Time, rtt: &RttEstimator) -> Verdict {
        let mut verdict = Verdict::default();
        self.begin_if_lost(now, rtt, &mut verdict);
        verdict
    }

    fn note_in_flight(&self, verdict: &mut Verdict) {
        verdict.in_flight = self.board.pipe_bytes();
        verdict.lost_total = self.board.lost_total();
    }

    /// Marks what an ACK shows to be lost, and ends the recovery if it did.
    fn mark_losses(&mut self, now: Time, rtt: &RttEstimator, ended: bool) {
        if self.method == Recovery::Sack && (self.fast.is_some() || !self.waits_for_recovery_point()) {
            self.board.mark_lost_below_edge();
        }
        if ended {
            self.fast = None;
            self.prr = None;
        }
        if self.rack.is_some() {
            self.detect_by_time(now, rtt);
        } else {
            self.reduce_proportionally();
        }
    }

    fn begin_if_lost(&mut self, now: Time, rtt: &RttEstimator, verdict: &mut Verdict) {
        if self.fast.is_none() && self.board.bytes_to_retransmit() > 0 && !self.waits_for_recovery_point() {
            self.begin(now, rtt, verdict);
        }
    }

    /// SND.NXT at the last timeout or fast retransmit is not reached: "a new recovery phase [...] MUST NOT be initiated until
    /// HighACK is greater than or equal to the new value of RecoveryPoint" (RFC 6675, section 5.1). Without SACK the ACK must
    /// cover more than `recover` (RFC 6582, section 3.2), for at `recover` itself duplicate ACKs may still come from segments
    /// that were sent twice.
    fn waits_for_recovery_point(&self) -> bool {
        self.recover.is_some_and(|recover| match self.method {
            Recovery::Sack | Recovery::Rack => self.una < recover,
            _ => self.one_recovery_per_window && self.una <= recover,
        })
    }

    /// FlightSize of RFC 5681 without what Limited Transmit sent, as its section 3.2 has it.
    fn flight_size(&self) -> u64 {
        self.board.outstanding_bytes().saturating_sub(self.limited_transmit_bytes)
    }

    /// A fast retransmit, and, but for Tahoe, a fast recovery.
    fn begin(&mut self, now: Time, rtt: &RttEstimator, verdict: &mut Verdict) {
        verdict.retransmit_first = true;
        if self.method == Recovery::Tahoe {
            verdict.event = Some(self.restart(now, rtt, false, RestartCause::TahoeFastRetransmit));
            return;
        }
        // "The TCP sender's congestion window should be reduced only once in response to a series of dropped and/or CE packets
        // from a single window of data" (RFC 3168, section 6.1.2).
        let reduces = !self.classic_ecn || self.echoed.is_none_or(|echoed| self.una >= echoed);
        verdict.event = Some(Event::Loss { flight_size: self.flight_size(), reduces });
        self.recover = Some(self.next);
        let inflation = Inflation::new(now, self.mss, self.board.len());
        self.fast = Some(FastRecovery { point: self.next, inflation });
        if self.rack.is_none() {
            self.board.mark_first_lost();
        }
    }

    /// The congestion control has reacted to the loss with which this recovery began: its window is what proportional rate
    /// reduction comes down to.
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
                probe.on_timeout();
            }
            None => self.board.mark_all_lost(),
        }
        self.fast = None;
        self.prr = None;
        self.recover = Some(self.next);
        self.limited_transmit_bytes = 0;
        Event::Restart { flight_size, repeated, cause }
    }

    /// What the receiver has reported to hold it has not kept: if it had the first segment outstanding, it would have
    /// acknowledged it. "After a retransmit timeout the data sender SHOULD turn off all of the SACKed bits, since the timeout
    /// might indicate that the data receiver has reneged" (RFC 2018, section 5); with this test of it others can stay
    /// (RFC 6675, section 5.1).
    #[cold]
    fn forget_sacks(&mut self) {
        let forgotten = self.board.forget_sacks();
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_reneging(&mut self.board, &forgotten);
        }
    }

    #[inline(always)]
    fn progress(&self) -> Progress {
        Progress {
            delivered: self.una + self.board.sacked_bytes(),
            una: self.una,
            lost: self.board.lost_total(),
        }
    }

    /// What has been delivered since the last call lets the window come down. For every ACK in a recovery, after losses are
    /// marked.
    #[inline]
    fn reduce_proportionally(&mut self) {
        let Some(FastRecovery { point, .. }) = self.fast else { return };
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

    /// Marks what RACK takes for lost by now.
    #[inline]
    pub fn detect_by_time(&mut self, now: Time, rtt: &RttEstimator) {
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut()
            && rack.nothing_overtaken()
        {
            return self.reduce_proportionally();
        }
        self.detect_overtaken(now, rtt);
    }

    #[inline(never)]
    fn detect_overtaken(&mut self, now: Time, rtt: &RttEstimator) {
        let conditions = self.rack_conditions(rtt);
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.detect(&mut self.board, now, conditions);
        }
        self.reduce_proportionally();
    }

    // --- asked before something is sent -------------------------------------------------------------------------

    /// Payload that counts as in flight against this window.
    #[inline]
    pub fn pipe(&self, window: u64) -> u64 {
        let pipe = self.board.pipe_bytes();
        if self.is_calm() { pipe } else { self.pipe_after_duplicates(pipe, window) }
    }

    fn pipe_after_duplicates(&self, pipe: u64, window: u64) -> u64 {
        if let Some(prr) = self.prr.as_deref()
            && pipe > 0
        {
            // What the window has beyond that of the reduction counts as in flight.
            return (pipe + window).saturating_sub(prr.window());
        }
        match self.fast {
            // With SACK the scoreboard knows.
            Some(FastRecovery { inflation, .. }) if !self.method.uses_sack() => {
                pipe.saturating_add_signed(-inflation.bytes())
            }
            // RFC 3042: one new segment on each of the first two duplicate ACKs.
            None if self.duplicates > 0 && self.duplicates < DUPLICATE_THRESHOLD => match self.method {
                Recovery::Sack | Recovery::Rack if self.limited_transmit => pipe,
                Recovery::Sack | Recovery::Rack => pipe + self.board.sacked_bytes(),
                _ if self.limited_transmit => pipe.saturating_sub(u64::from(self.duplicates) * self.mss),
                _ => pipe,
            },
            _ => pipe,
        }
    }

    /// Payload that counts as in flight against this window when a retransmission leaves: Limited Transmit is for new data
    /// (RFC 3042).
    pub fn pipe_for_retransmission(&self, window: u64) -> u64 {
        if self.fast.is_some() { self.pipe(window) } else { self.board.pipe_bytes() }
    }

    /// Index of the next retransmission.
    #[inline]
    pub fn next_retransmission(&mut self) -> Option<usize> {
        if self.board.bytes_to_retransmit() == 0 {
            return None;
        }
        match self.rack.as_deref_mut() {
            Some(RackTlp { rack, .. }) => rack.next_retransmission(&self.board),
            None => self.board.next_retransmission(),
        }
    }

    /// Index of a segment that may be lost, for when there is no new data: rule 3 of RFC 6675's NextSeg.
    pub fn next_possibly_lost(&mut self) -> Option<usize> {
        let asks = self.method == Recovery::Sack && self.fast.is_some();
        asks.then(|| self.board.next_possibly_lost()).flatten()
    }

    // --- told of what is sent -----------------------------------------------------------------------------------

    /// New data of this size leaves. Returns its first byte.
    #[inline(always)]
    pub fn on_new_data(&mut self, now: Time, size: u64) -> u64 {
        let sequence = self.next;
        self.next += size;
        self.board.push(sequence, size as u16, now);
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_sent(self.board.len() - 1);
        }
        sequence
    }

    /// New data of this size is about to leave beside a window of this size: Limited Transmit is what the window alone would
    /// not let go.
    pub fn note_limited_transmit(&mut self, size: u64, window: u64) {
        if self.duplicates > 0
            && self.fast.is_none()
            && self.board.pipe_bytes() + self.board.sacked_bytes() + size > window
        {
            self.limited_transmit_bytes += size;
        }
    }

    /// The segment at this index is retransmitted.
    pub fn retransmit(&mut self, index: usize, now: Time) -> Segment {
        let segment = self.board.retransmit(index, now);
        self.note_retransmission(index, &segment);
        segment
    }

    fn note_retransmission(&mut self, index: usize, segment: &Segment) {
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_sent(index);
        }
        if let Some(prr) = self.prr.as_deref_mut() {
            prr.on_retransmission(u64::from(segment.length));
        }
    }

    // --- the timer of RACK and TLP ------------------------------------------------------------------------------

    /// What becomes of the timer, once everything that can be sent has been. `set` is whether it is set, `retransmission` when
    /// the retransmission timer expires.
    #[inline]
    pub fn rack_timer(
        &mut self,
        now: Time,
        rtt: &RttEstimator,
        after_new_ack: bool,
        set: bool,
        retransmission: Time,
    ) -> RackTimer {
        let Some(RackTlp { rack, probe, purpose }) = self.rack.as_deref_mut() else { return RackTimer::Keep };
        if let Some(deadline) = rack.deadline() {
            *purpose = Purpose::Reordering;
            return RackTimer::Set(deadline);
        }
        // Section 7.2: not in recovery, not with SACKed segments, and no second probe while one is unaccounted for.
        let possible = self.fast.is_none()
            && self.recover.is_none_or(|recover| self.una >= recover)
            && !self.board.is_empty()
            && self.board.sacked_bytes() == 0
            && self.board.bytes_to_retransmit() == 0
            && !probe.is_outstanding();
        if !possible {
            return RackTimer::Cancel;
        }
        if !probe.restarts(self.next, after_new_ack, set && *purpose == Purpose::Probe) {
            return RackTimer::Keep;
        }
        *purpose = Purpose::Probe;
        let timeout = probe.timeout(rtt.smoothed(), self.board.len());
        RackTimer::Set((now + timeout).min(retransmission))
    }

    /// The timer of RACK and TLP is set to probe the tail.
    pub fn timer_is_for_probe(&self) -> bool {
        self.rack.as_deref().is_some_and(|tlp| tlp.purpose == Purpose::Probe)
    }

    /// The last segment leaves once more as a tail loss probe. Returns its index, too.
    pub fn retransmit_as_probe(&mut self, now: Time) -> (usize, Segment) {
        let index = self.board.len() - 1;
        let segment = self.board.probe(index, now);
        self.note_retransmission(index, &segment);
        (index, segment)
    }

    /// A tail loss probe was sent.
    pub fn on_probe_sent(&mut self, retransmission: bool) {
        if let Some(RackTlp { probe, .. }) = self.rack.as_deref_mut() {
            probe.on_sent(self.next, retransmission);
        }
    }

    // --- series -------------------------------------------------------------------------------------------------

    /// Payload known to have arrived: acknowledged, SACKed, or, without SACK, told of by duplicate ACKs, each of which stands
    /// for one segment.
    pub fn delivered(&self) -> u64 {
        let beyond = match self.fast {
            _ if self.method.uses_sack() => self.board.sacked_bytes(),
            Some(FastRecovery { inflation, .. }) => inflation.bytes().max(0) as u64,
            None => u64::from(self.duplicates) * self.mss,
        };
        self.next.min(self.una + beyond)
    }
}

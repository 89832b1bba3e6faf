//! Loss recovery: what is outstanding, what of it is lost, when recovery begins and ends.
//!
//! The second of a sender's three stages. [`LossRecovery`] receives the information of an ACK
//! ([`News`]), or an expired timer, and returns a [`Verdict`]; then it tells what is in flight and
//! which segment to retransmit next. It sends nothing, sets no timer, and knows neither the network
//! nor the congestion control.
//!
//! `judge` comes to the verdict. `duplicates` is Reno and NewReno, `sack` RFC 6675, `rack` RFC 8985
//! with its `tail_probe`, `prr` RFC 9937. `undo` and `timeout` (F-RTO) find out what was spurious.

mod duplicates;
mod judge;
mod prr;
mod rack;
mod sack;
mod scoreboard;
mod tail_probe;
#[cfg(test)]
mod tests;
mod timeout;
mod undo;
#[cfg(test)]
mod undo_tests;
mod verdict;

pub use scoreboard::{Advance, Scoreboard, Segment};
pub use verdict::{AckKind, Event, News, RetransmissionTimer, Verdict};

use super::rto::RttEstimator;
use crate::plan::{Ecn, Recovery, TimerArithmetic, Transport};
use duplicates::Inflation;
use prr::{Progress, Prr};
use rack::Rack;
use scoreboard::DUPLICATE_THRESHOLD;
use selfclock_congestion::{Duration, Time};
use tail_probe::{Purpose, TailProbe};
use timeout::AfterTimeout;
use undo::Undo;

/// Smallest time beyond two round trips for a tail loss probe (Linux, `TCP_TIMEOUT_MIN_US`).
const LEAST_MARGIN: Duration = Duration::from_milliseconds(2);

/// An active fast recovery.
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

/// Action on the timer shared by RACK and TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackTimer {
    /// Nothing.
    Keep,
    /// Cancel it.
    Cancel,
    /// It expires then.
    Set(Time),
}

/// Loss recovery of one connection. Fields used by every ACK come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LossRecovery {
    /// SND.UNA: everything below is acknowledged.
    una: u64,
    /// SND.NXT: the next new byte.
    next: u64,
    duplicates: u32,
    method: Recovery,
    after_timeout: AfterTimeout,
    /// Retransmissions wait: new data, if any, leaves instead until the next ACK.
    holds_back: bool,
    uses_prr: bool,
    limited_transmit: bool,
    one_recovery_per_window: bool,
    classic_ecn: bool,
    /// Whether the loss of a retransmission within a fast recovery reduces the window again.
    reduces_again: bool,
    /// Whether the response to a spurious loss or timeout is undone.
    undoes: bool,
    frto: bool,
    /// Whether ACKs echo timestamps.
    timestamps: bool,
    /// New data sent by Limited Transmit since the last cumulative ACK.
    limited_transmit_bytes: u64,
    rack: Option<Box<RackTlp>>,
    fast: Option<Box<FastRecovery>>,
    board: Scoreboard,
    mss: u64,
    /// Progress before the current ACK.
    before: Progress,
    prr: Option<Box<Prr>>,
    /// SND.NXT at the last timeout or fast retransmit. Duplicate ACKs below it may come from
    /// segments sent twice, and begin no new recovery (RFC 6582, section 4).
    recover: Option<u64>,
    /// Time of that timeout or fast retransmit.
    reduced: Time,
    /// Whether the current event shows that a retransmission sent since then is lost.
    retransmission_lost: bool,
    /// SND.NXT at the last response to a CE mark.
    echoed: Option<u64>,
    undo: Undo,
    /// Retransmissions so far, and duplicates that D-SACK has reported.
    retransmissions: u64,
    reported_duplicates: u64,
}

impl LossRecovery {
    /// For a connection with this transport, before anything is sent.
    pub fn new(transport: &Transport) -> Self {
        let delayed = transport.delayed_ack;
        let rack = (transport.recovery == Recovery::Rack).then(|| {
            let probe = match transport.timer.arithmetic {
                TimerArithmetic::Linux => TailProbe::new(transport.timer.minimum, LEAST_MARGIN),
                _ if delayed.every > 1 => TailProbe::new(delayed.timer, Duration::ZERO),
                _ => TailProbe::new(Duration::ZERO, Duration::ZERO),
            };
            Box::new(RackTlp { probe, ..RackTlp::default() })
        });
        Self {
            una: 0,
            next: 0,
            duplicates: 0,
            method: transport.recovery,
            after_timeout: AfterTimeout::Over,
            holds_back: false,
            uses_prr: transport.prr && transport.recovery.uses_sack(),
            limited_transmit: transport.limited_transmit,
            one_recovery_per_window: transport.one_recovery_per_window,
            classic_ecn: transport.ecn == Ecn::Classic,
            reduces_again: !transport.prr && transport.recovery == Recovery::Rack,
            undoes: transport.undo,
            frto: transport.frto,
            timestamps: transport.timestamps,
            limited_transmit_bytes: 0,
            rack,
            fast: None,
            board: Scoreboard::default(),
            mss: transport.mss.get(),
            before: Progress::default(),
            prr: None,
            recover: None,
            reduced: Time::ZERO,
            retransmission_lost: false,
            echoed: None,
            undo: Undo::default(),
            retransmissions: 0,
            reported_duplicates: 0,
        }
    }

    /// The congestion control reduces the window in fast recovery itself.
    pub fn leave_reduction(&mut self) {
        self.reduces_again = false;
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
    /// Whether losses are detected by time.
    #[inline(always)]
    pub fn uses_rack(&self) -> bool {
        self.rack.is_some()
    }
    /// Whether fast recovery is active.
    #[cfg(test)]
    pub fn is_recovering(&self) -> bool {
        self.fast.is_some()
    }
    /// Neither recovery, nor an unsettled timeout, nor a duplicate ACK since the last cumulative
    /// one.
    #[inline(always)]
    pub fn is_calm(&self) -> bool {
        self.duplicates == 0 && self.fast.is_none() && self.after_timeout == AfterTimeout::Over
    }
    /// Whether a tail loss probe is still unaccounted for.
    pub fn awaits_probe(&self) -> bool {
        self.rack.as_deref().is_some_and(|tlp| tlp.probe.is_outstanding())
    }

    #[inline(always)]
    fn progress(&self) -> Progress {
        Progress {
            delivered: self.una + self.board.sacked_bytes(),
            una: self.una,
            lost: self.board.lost_total(),
        }
    }

    // --- learn
    // --------------------------------------------------------------------------------------------------

    /// Whether it is that of Linux, RACK.
    pub fn is_linux(&self) -> bool {
        self.rack.is_some()
    }

    /// Payload that this ACK is the first to report.
    pub fn delivered_by_ack(&self) -> u64 {
        self.progress().delivered - self.before.delivered
    }

    /// Call before processing an ACK.
    #[inline(always)]
    pub fn begin_ack(&mut self) {
        self.before = self.progress();
    }

    /// The receiver holds the bytes from `start` to before `end`. Calls `delivered` with index and
    /// segment for each newly reported one.
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
                let oldest = news.oldest_sacked.map_or(segment.sent, |oldest| oldest.min(segment.sent));
                news.oldest_sacked = Some(oldest);
            }
            delivered(index, segment);
            if let Some(RackTlp { rack, .. }) = rack.as_deref_mut() {
                rack.on_delivered(index, segment, now, echo, minimum_rtt);
                rack.note_sacked();
            }
        });
    }

    /// If the first of an ACK's SACK blocks reports a duplicate (D-SACK): it lies below the
    /// cumulative ACK, or within the second block (RFC 2883, section 5). Called before anything
    /// else of the ACK is processed. More duplicates than retransmissions are the network's.
    pub fn take_duplicate(&mut self, blocks: &[(u64, u64)], news: &mut News) {
        let Some(&(start, end)) = blocks.first() else { return };
        let within_second = blocks.get(1).is_some_and(|second| second.0 <= start && end <= second.1);
        let is_duplicate = start < news.acknowledgement || within_second;
        if !self.method.uses_sack() || start >= end || end > self.next || !is_duplicate {
            return;
        }
        let segments = (end - start).div_ceil(self.mss);
        self.reported_duplicates += segments;
        if self.reported_duplicates > self.retransmissions {
            return;
        }
        news.duplicate = true;
        let outstanding = self.board.retransmitted_within(start, end);
        if let Some(RackTlp { rack, probe, .. }) = self.rack.as_deref_mut() {
            news.probe_duplicate = segments == 1 && probe.ends_at(end);
            if !news.probe_duplicate {
                rack.on_duplicate(news.acknowledgement, self.next);
            }
            if let Some(first) = outstanding.first_sacked {
                rack.note_reordering(first);
            }
        }
        if self.undo.covers(end) {
            self.undo.on_duplicates(if end <= self.una { segments as u32 } else { outstanding.segments });
        }
    }

    /// "RACK.fack", to be read before an ACK with SACK blocks is processed.
    pub fn highest_delivered(&self) -> u64 {
        self.rack.as_deref().map_or(u64::MAX, |own| own.rack.highest())
    }

    /// The receiver has everything below `acknowledgement`, which is beyond SND.UNA. `highest`:
    /// [`LossRecovery::highest_delivered`] before the ACK; anything beyond it without blocks.
    #[inline(always)]
    pub fn take_cumulative<const RACK: bool>(
        &mut self,
        now: Time,
        (acknowledgement, highest): (u64, u64),
        echo: Option<Time>,
        minimum_rtt: Option<Duration>,
    ) -> Advance {
        if RACK && let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_cumulative_ack(&self.board, (acknowledgement, highest), now, echo, minimum_rtt);
        }
        let advance = self.board.advance(acknowledgement);
        self.una = acknowledgement;
        self.limited_transmit_bytes = 0;
        advance
    }

    // --- asked before something is sent
    // -------------------------------------------------------------------------

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
            // The window's excess over that of the reduction counts as in flight.
            return (pipe + window).saturating_sub(prr.window());
        }
        match self.fast.as_deref() {
            // With SACK the scoreboard knows.
            Some(FastRecovery { inflation, .. }) if !self.method.uses_sack() => {
                pipe.saturating_add_signed(-inflation.bytes())
            }
            None if self.sent_beyond_timeout() => self.pipe_after_timeout(pipe),
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

    /// Payload that counts as in flight against this window for a retransmission: Limited Transmit
    /// is for new data (RFC 3042).
    pub fn pipe_for_retransmission(&self, window: u64) -> u64 {
        if self.fast.is_some() { self.pipe(window) } else { self.pipe_after_timeout(self.board.pipe_bytes()) }
    }

    /// Whether F-RTO may have sent new data beyond what was outstanding at a timeout, of which no
    /// SACK blocks tell.
    fn sent_beyond_timeout(&self) -> bool {
        self.frto && self.after_timeout != AfterTimeout::Over && !self.method.uses_sack()
    }

    /// Each duplicate ACK says that a segment of that data has arrived. "Lower inflight to clock
    /// out (re)transmissions" (Linux, `tcp_process_loss`): otherwise the next hole waits for the
    /// timer.
    fn pipe_after_timeout(&self, pipe: u64) -> u64 {
        if !self.sent_beyond_timeout() {
            return pipe;
        }
        let beyond = self.recover.map_or(0, |point| self.next.saturating_sub(point));
        pipe.saturating_sub(beyond.min(u64::from(self.duplicates) * self.mss))
    }

    /// Index of the next retransmission.
    #[inline(always)]
    pub fn next_retransmission(&mut self) -> Option<usize> {
        if self.board.bytes_to_retransmit() == 0 || self.holds_back {
            return None;
        }
        match self.rack.as_deref_mut() {
            Some(RackTlp { rack, .. }) => rack.next_retransmission(&self.board),
            None => self.board.next_retransmission(),
        }
    }

    /// Index of a possibly lost segment, for use without new data: rule 3 of RFC 6675's NextSeg.
    pub fn next_possibly_lost(&mut self) -> Option<usize> {
        let asks = self.method == Recovery::Sack && self.fast.is_some();
        asks.then(|| self.board.next_possibly_lost()).flatten()
    }

    // --- told of what is sent
    // -----------------------------------------------------------------------------------

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

    /// New data of this size is about to leave with a window of this size: Limited Transmit is what
    /// exceeds the window.
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
        if self.undoes && self.method.uses_sack() {
            self.undo.on_retransmission(now);
        }
        self.note_retransmission(index, &segment);
        segment
    }

    fn note_retransmission(&mut self, index: usize, segment: &Segment) {
        self.retransmissions += 1;
        if let Some(RackTlp { rack, .. }) = self.rack.as_deref_mut() {
            rack.on_sent(index);
        }
        if let Some(prr) = self.prr.as_deref_mut() {
            prr.on_retransmission(u64::from(segment.length));
        }
    }

    // --- the timer of RACK and TLP
    // ------------------------------------------------------------------------------

    /// Action on the timer, after everything possible has been sent. `set` is whether it is set,
    /// `retransmission` when the retransmission timer expires.
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
        // Section 7.2: not in recovery, not with SACKed segments, and no second probe while one is
        // unaccounted for.
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

    /// Whether the timer of RACK and TLP is set for a tail probe.
    pub fn timer_is_for_probe(&self) -> bool {
        self.rack.as_deref().is_some_and(|tlp| tlp.purpose == Purpose::Probe)
    }

    /// Retransmits the last segment as a tail loss probe. Also returns its index.
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

    // --- series
    // -------------------------------------------------------------------------------------------------

    /// Payload known to have arrived: acknowledged, SACKed, or, without SACK, reported by duplicate
    /// ACKs, one segment each.
    pub fn delivered(&self) -> u64 {
        let beyond = match self.fast.as_deref() {
            _ if self.method.uses_sack() => self.board.sacked_bytes(),
            Some(FastRecovery { inflation, .. }) => inflation.bytes().max(0) as u64,
            None => u64::from(self.duplicates) * self.mss,
        };
        self.next.min(self.una + beyond)
    }
}

//! The shortcut for a plain ACK.
//!
//! *When it applies.* The ACK acknowledges new data and carries nothing else: no SACK blocks, no
//! option, no ECN count, no window lowered by a router. Nothing outstanding is SACKed or lost, no
//! recovery is active, no duplicate ACK and no loss probe is unaccounted for. And the window alone
//! decides what leaves: the algorithm neither paces nor probes and uses neither delivery rates nor
//! events of sent segments.
//!
//! *What it skips.* [`super::Sender::on_ack`] would learn no more, and find no loss; the only
//! decision is the window, which stays constant while segments leave. Without RACK it does not
//! maintain state that only recovery needs.
//!
//! *Which test proves it equal.* `plain_acks_take_no_part_in_the_result` in `shortcut_tests.rs`
//! shows the same ACKs to two senders, one of which takes no shortcut; `batches_change_nothing` in
//! `simulation/batch.rs` does so with whole simulations.

use super::tell::Advanced;
use super::{Opportunity, Sender, learn};
use crate::packet::{NO_EXTRA, Packet};
use crate::transport::Context;
use selfclock_congestion::units::Time;

impl Sender {
    /// Whether the shortcut applies to this ACK, which is neither old nor beyond the data sent.
    #[inline(always)]
    pub(super) fn is_plain_ack(&self, packet: &Packet) -> bool {
        packet.extra & self.plain == NO_EXTRA
            && packet.sequence > self.recovery.una()
            && self.sends_plainly()
            && self.recovery.outstanding().is_plain()
    }

    /// Whether the window alone decides what leaves; also with pending retransmissions.
    #[inline(always)]
    pub(super) fn sends_plainly(&self) -> bool {
        self.window_alone && self.recovery.is_calm() && !self.wants_more()
    }

    /// Whether a user-defined algorithm currently needs more than a window, or one that must be
    /// watched.
    #[inline(always)]
    pub(super) fn wants_more(&self) -> bool {
        self.custom && self.custom_wants_more()
    }

    #[inline(never)]
    fn custom_wants_more(&self) -> bool {
        let controller = &self.congestion.controller;
        !controller.sets_window_alone() || controller.window().get() > self.in_flight_limit.bytes(self.mss)
    }

    /// The window in a plain ACK, if it grows.
    #[inline(always)]
    pub(super) fn take_plain_window(&mut self, window: Option<u64>) {
        if let Some(window) = window {
            (self.advertised_window, self.receive_window) = (window, window);
        }
    }

    /// A plain ACK: the three stages.
    #[inline(always)]
    pub(super) fn on_plain_ack(&mut self, context: &mut Context<'_>, packet: &Packet) {
        self.take_plain_window(packet.window());
        if self.recovery.uses_rack() {
            self.take_plain_ack::<true>(context, packet.sequence, packet.echo);
            self.follow_plain_ack::<true>(context);
        } else {
            self.take_plain_ack::<false>(context, packet.sequence, packet.echo);
            self.follow_plain_ack::<false>(context);
        }
    }

    /// Learn and judge.
    #[inline(always)]
    pub(super) fn take_plain_ack<const RACK: bool>(
        &mut self,
        context: &mut Context<'_>,
        acknowledgement: u64,
        echo: Time,
    ) {
        let Self { recovery, estimators, congestion, .. } = self;
        let now = context.now;
        if RACK {
            recovery.begin_ack();
        }
        let minimum_rtt = if RACK { estimators.rtt.minimum() } else { None };
        let advance = recovery.take_cumulative::<RACK>(
            now,
            (acknowledgement, u64::MAX),
            learn::echo_of(echo),
            minimum_rtt,
        );
        let range = (acknowledgement, recovery.next());
        let rtt = estimators.take_rtt_sample(now, range, echo, &advance);
        if RACK {
            recovery.detect_by_time(now, &estimators.rtt);
        }
        let board = recovery.outstanding();
        let in_flight = if RACK { board.pipe_bytes() } else { board.outstanding_bytes() };
        let next = recovery.next();
        let ack = Advanced { now, size: advance.bytes, acknowledgement, next, rtt, in_flight };
        congestion.plain_ack(&ack, &estimators.rtt);
        if self.recovery.outstanding().is_empty() {
            self.retransmission_timer.cancel();
        } else {
            self.restart_retransmission_timer(context);
        }
    }

    /// Send.
    #[inline(always)]
    pub(super) fn follow_plain_ack<const RACK: bool>(&mut self, context: &mut Context<'_>) {
        if RACK && !self.recovery.outstanding().is_plain() {
            let verdict = self.recovery.judge_detected(context.now, &self.estimators.rtt);
            self.follow(context, &verdict);
            self.transmit_generally(context, Opportunity::NewAck);
        } else if self.wants_more() {
            self.transmit_generally(context, Opportunity::NewAck);
        } else {
            self.transmit_plainly(context);
        }
        if RACK {
            self.set_rack_timer(context, Opportunity::NewAck);
        }
        self.note_completion(context.now);
    }

    /// Sends new data up to the window. There is nothing to retransmit.
    #[inline(always)]
    pub(super) fn transmit_plainly(&mut self, context: &mut Context<'_>) {
        let produced = self.application.produced(context.now, self.recovery.next());
        let limit = self.limit(produced);
        self.note_pause(context.now, limit);
        // Sending leaves the window unchanged, and advances the other by its size.
        let window = self.congestion.controller.window().get();
        let mut pipe = self.recovery.outstanding().pipe_bytes();
        loop {
            let left = limit.saturating_sub(self.recovery.next());
            if left == 0 {
                self.note_end(false, pipe);
                if self.receive_window < self.mss {
                    self.await_window(context, produced);
                }
                return;
            }
            let size = self.mss.min(left);
            if size < self.mss && limit < produced && pipe > 0 {
                self.note_end(false, pipe);
                return;
            }
            if pipe + size > window {
                self.note_end(true, pipe);
                return;
            }
            let sequence = self.put_outstanding(context, size);
            self.totals.sent += 1;
            let push = size == left && limit == produced;
            self.outbox.send_plainly(context, sequence, size as u32, push);
            pipe += size;
        }
    }

    /// Window (true), application or receiver ended a round of sending.
    #[inline(always)]
    pub(super) fn note_end(&mut self, by_window: bool, in_flight: u64) {
        let range = (self.recovery.una(), self.recovery.next());
        self.congestion.note_end(by_window, in_flight, range);
    }

    /// New data of this size is outstanding from now on. Returns its first byte.
    #[inline(always)]
    pub(super) fn put_outstanding(&mut self, context: &mut Context<'_>, size: u64) -> u64 {
        self.last_sent = context.now;
        let sequence = self.recovery.on_new_data(context.now, size);
        self.estimators.on_new_data(context.now, self.recovery.next());
        if !self.retransmission_timer.is_set() {
            self.restart_retransmission_timer(context);
        }
        sequence
    }
}

//! The last of a sender's three stages: what leaves now.
//!
//! Retransmissions before new data, both limited by the window and the outbox.

use super::usage::End;
use super::{Connection, Opportunity, Sender};
use crate::engine::Target;
use crate::packet::Flags;
use crate::transport::Context;
use crate::transport::outbox::Outgoing;
use crate::transport::recovery::Segment;
use selfclock_congestion::{Bytes, Decision, Duration, Pacing, Probe, ProbePart, Time};
use std::sync::Arc;

/// Bounds of a round of sending.
#[derive(Clone, Copy)]
struct Bounds {
    /// Payload that the application has produced.
    produced: u64,
    /// Byte up to which application and receiver allow new data.
    limit: u64,
}

impl Sender {
    /// Byte up to which the receiver and the `produced` data allow new data.
    #[inline(always)]
    pub(super) fn limit(&self, produced: u64) -> u64 {
        produced.min(self.recovery.una().saturating_add(self.receive_window))
    }

    fn bounds(&self, now: Time) -> Bounds {
        let produced = self.application.produced(now, self.recovery.next());
        Bounds { produced, limit: self.limit(produced) }
    }

    /// Sends what may be sent now.
    #[inline]
    pub(super) fn transmit(&mut self, context: &mut Context<'_>, opportunity: Opportunity) {
        if self.connection != Connection::Established {
            return;
        }
        if self.sends_plainly() && self.recovery.outstanding().bytes_to_retransmit() == 0 {
            self.transmit_plainly(context);
        } else {
            self.transmit_generally(context, opportunity);
        }
    }

    /// Data up to `limit` may leave now. Tells the congestion control if the application or the
    /// receiver, not the window, has kept the connection silent. The first data are no resumption.
    #[inline(always)]
    pub(super) fn note_pause(&mut self, now: Time, limit: u64) {
        if self.recovery.outstanding().is_empty()
            && !self.congestion.limited_by_window
            && limit > self.recovery.next()
            && self.recovery.next() > 0
        {
            self.congestion.resumed(now, now.since(self.last_sent), &self.estimators.rtt);
        }
    }

    /// Sends what may be sent now, by all rules.
    #[inline(never)]
    pub(super) fn transmit_generally(&mut self, context: &mut Context<'_>, opportunity: Opportunity) {
        if self.held {
            self.congestion.limited_by_window = true;
            return;
        }
        // Probes belong to the beginning of a flight, not to data held back from it.
        let begins = matches!(opportunity, Opportunity::NewAck | Opportunity::Application);
        let may_probe = std::mem::take(&mut self.holds_pair) || begins;
        let bounds = self.bounds(context.now);
        self.note_pause(context.now, bounds.limit);
        let mut end = self.transmit_within(context, bounds, may_probe);
        if end != End::Held && self.recovery.abandons_frto() {
            end = self.transmit_within(context, bounds, false);
        }
        let window = self.congestion.controller.window().get();
        let in_flight = self.recovery.outstanding().pipe_bytes();
        let (una, next) = (self.recovery.una(), self.recovery.next());
        let usage = &mut self.congestion.usage;
        if end == End::Held {
            let missing = self.recovery.outstanding().bytes_to_retransmit();
            let waiting = bounds.limit.saturating_sub(next).saturating_add(missing);
            // A bulk transfer without a receive window has no limit.
            let fills = self.recovery.pipe(window).saturating_add(waiting) > window;
            usage.note_held(fills, window, in_flight, (una, next));
        } else {
            usage.note(end == End::Window, in_flight, (una, next));
        }
        self.congestion.limited_by_window = end != End::Data;
    }

    /// Sends what may be sent now, and returns what ended it.
    fn transmit_within(&mut self, context: &mut Context<'_>, bounds: Bounds, mut may_probe: bool) -> End {
        loop {
            let decision = self.congestion.controller.decision();
            let pacing = self.pacing(&decision);
            let window = decision.window.get();
            if let Some(index) = self.recovery.next_retransmission() {
                if !self.owes_retransmission && !self.has_room_for_retransmission(window) {
                    return End::Window;
                }
                if !self.outbox.may_leave(context, pacing, self.mss) {
                    return End::Held;
                }
                self.owes_retransmission = false;
                self.retransmit(context, index, pacing);
                continue;
            }
            let pipe = self.recovery.pipe(window);
            let size = match self.next_size(bounds, pipe, &decision) {
                Ok(size) => size,
                Err(End::Data) if self.recovery.next() >= bounds.limit => {
                    return self.on_nothing_new(context, bounds, pipe, &decision);
                }
                Err(end) => return end,
            };
            if may_probe
                && decision.probe == Some(Probe::Pair)
                && self.has_room_for_pair(bounds, pipe, window)
            {
                may_probe = false;
                // An algorithm that paces knows when its pairs are due.
                let spacing = if decision.pacing.is_some() { None } else { pacing };
                if !self.outbox.may_leave_pair(context, spacing, self.mss) {
                    self.holds_pair = true;
                    return End::Held;
                }
                self.send_new(context, self.mss, ProbePart::PairFirst, pacing);
                self.send_new(context, self.mss, ProbePart::PairSecond, pacing);
                continue;
            }
            if self.in_flight_limit.is_reached(self.recovery.outstanding().len()) {
                self.run_away(context.now);
                return End::Window;
            }
            if !self.outbox.may_leave(context, pacing, size) {
                return End::Held;
            }
            self.recovery.note_limited_transmit(size, window);
            self.send_new(context, size, ProbePart::Single, pacing);
        }
    }

    /// Size of the next segment of new data, or what ends the round.
    #[inline]
    fn next_size(&self, bounds: Bounds, pipe: u64, decision: &Decision) -> Result<u64, End> {
        let left = bounds.limit.saturating_sub(self.recovery.next());
        let size = self.mss.min(left);
        // The receiver's window has room for part of a segment: wait for more (RFC 9293,
        // 3.8.6.2.1).
        if left == 0 || size < self.mss && bounds.limit < bounds.produced && pipe > 0 {
            return Err(End::Data);
        }
        if pipe + size > decision.window.get() {
            return Err(End::Window);
        }
        // Held back beyond the allowance: the next ACK asks again.
        if size > decision.allowance.get() && pipe > 0 {
            return Err(End::Held);
        }
        Ok(size)
    }

    fn has_room_for_retransmission(&self, window: u64) -> bool {
        let pipe = self.recovery.pipe_for_retransmission(window);
        pipe + self.mss <= window || pipe == 0
    }

    fn has_room_for_pair(&self, bounds: Bounds, pipe: u64, window: u64) -> bool {
        pipe + 2 * self.mss <= window
            && bounds.limit - self.recovery.next() >= 2 * self.mss
            && self.outbox.passes_pairs(self.mss)
    }

    /// When a probe with this payload, which asks no window, may leave, if not now.
    pub(super) fn held_until(&self, now: Time, payload: u64) -> Option<Time> {
        let pacing = self.pacing(&self.congestion.controller.decision());
        Some(self.outbox.earliest(pacing, payload)).filter(|&release| release > now)
    }

    /// No new data may leave. Returns what ends the round.
    fn on_nothing_new(
        &mut self,
        context: &mut Context<'_>,
        bounds: Bounds,
        pipe: u64,
        decision: &Decision,
    ) -> End {
        let window = decision.window.get();
        if self.receive_window < self.mss {
            self.await_window(context, bounds.produced);
        }
        if let Some(rate) = &mut self.estimators.rate
            && self.recovery.next() >= bounds.produced
            && pipe < window
        {
            // Everything possible has been sent, and every loss is retransmitted.
            rate.mark_app_limited(self.recovery.outstanding().pipe_bytes());
        }
        let pacing = self.pacing(decision);
        while self.recovery.pipe(window) + self.mss <= window {
            let Some(index) = self.recovery.next_possibly_lost() else { break };
            if !self.outbox.may_leave(context, pacing, self.mss) {
                return End::Held;
            }
            self.retransmit(context, index, pacing);
        }
        End::Data
    }

    /// The current pacing: the transport's if the algorithm requests none.
    pub(super) fn pacing(&self, decision: &Decision) -> Option<Pacing> {
        decision.pacing.or_else(|| {
            let gain = self.pacing_gain?;
            let smoothed = self.estimators.rtt.smoothed()?;
            let segments = decision.window.get() as f64 / self.mss as f64;
            let interval = Duration::from_seconds(smoothed.seconds() / (gain * segments));
            let size = Bytes(self.mss + u64::from(self.outbox.overhead()));
            Some(Pacing { interval, size, tick: Duration::ZERO })
        })
    }

    /// A user-defined algorithm exceeds its limit in flight: it fails, and its window is one
    /// segment.
    #[cold]
    fn run_away(&mut self, now: Time) {
        let board = self.recovery.outstanding();
        let cwnd = self.congestion.controller.snapshot().cwnd_segments;
        let runaway = self.in_flight_limit.exceeded(board.len(), Bytes(board.outstanding_bytes()), cwnd);
        self.congestion.controller.fail(now, Arc::new(runaway));
    }

    fn send_new(&mut self, context: &mut Context<'_>, size: u64, part: ProbePart, pacing: Option<Pacing>) {
        let option = self.congestion.controller.option_for(part);
        let sequence = self.put_outstanding(context, size);
        let index = self.recovery.outstanding().len() - 1;
        self.estimators.note_sending(context.now, index, &self.recovery);
        let flags = self.outbox.take_data_flags().with(self.push(context.now, sequence + size));
        self.put_on_wire(context, Outgoing { sequence, payload: size as u32, option, flags, pacing });
    }

    /// PSH of a segment that ends before `end`: on the last of what the application has written
    /// ("A sender that is not implementing the PUSH flag [...] MUST set the PSH bit in the last
    /// buffered segment", RFC 9293, section 3.9.1.2).
    fn push(&self, now: Time, end: u64) -> Flags {
        let ends = end == self.application.produced(now, u64::MAX);
        if ends { Flags::PUSH } else { Flags::NONE }
    }

    /// Retransmits the segment at this index.
    pub(super) fn retransmit(&mut self, context: &mut Context<'_>, index: usize, pacing: Option<Pacing>) {
        let segment = self.recovery.retransmit(index, context.now);
        self.put_on_wire_again(context, index, segment, pacing);
    }

    fn put_on_wire_again(
        &mut self,
        context: &mut Context<'_>,
        index: usize,
        segment: Segment,
        pacing: Option<Pacing>,
    ) {
        self.last_sent = context.now;
        self.estimators.note_sending(context.now, index, &self.recovery);
        self.estimators.on_retransmission(&segment);
        self.totals.retransmitted += 1;
        if !self.retransmission_timer.is_set() {
            self.restart_retransmission_timer(context);
        }
        let Segment { sequence, length, .. } = segment;
        let flags = self.outbox.retransmission_flags().with(self.push(context.now, segment.end()));
        self.put_on_wire(context, Outgoing { sequence, payload: length.into(), option: None, flags, pacing });
    }

    fn put_on_wire(&mut self, context: &mut Context<'_>, outgoing: Outgoing) {
        self.totals.sent += 1;
        self.outbox.send(context, &outgoing);
        if !self.congestion.controller.only_grows() {
            self.tell_sent(context.now, &outgoing);
        }
    }

    /// Reports a sent segment to the congestion control, if it uses that event.
    fn tell_sent(&mut self, now: Time, outgoing: &Outgoing) {
        let board = self.recovery.outstanding();
        let Bounds { produced, limit } = self.bounds(now);
        let (next, in_flight) = (self.recovery.next(), board.pipe_bytes());
        let window = self.congestion.controller.window().get();
        // Payload that the window would allow now without pacing.
        let waiting = limit.saturating_sub(next) + board.bytes_to_retransmit();
        let room = window.saturating_sub(self.recovery.pipe(window));
        let held_back = if outgoing.pacing.is_some() { waiting.min(room) } else { 0 };
        let app_limited = next >= produced && board.bytes_to_retransmit() == 0 && in_flight < window;
        self.congestion.sent(now, outgoing.payload, in_flight, held_back, app_limited);
    }

    /// "TLP_send_probe": a new segment if there is one, otherwise the last one again, whatever the
    /// window; then the retransmission timer is reset.
    pub(super) fn send_tail_probe(&mut self, context: &mut Context<'_>) {
        if self.recovery.outstanding().is_empty() {
            return;
        }
        let left = self.bounds(context.now).limit.saturating_sub(self.recovery.next());
        let pacing = self.pacing(&self.congestion.controller.decision());
        if left == 0 {
            let (index, segment) = self.recovery.retransmit_as_probe(context.now);
            self.put_on_wire_again(context, index, segment, pacing);
        } else {
            self.send_new(context, self.mss.min(left), ProbePart::Single, pacing);
        }
        self.recovery.on_probe_sent(left == 0);
        self.plain = 0;
        self.restart_retransmission_timer(context);
    }

    /// The window is closed and nothing is outstanding whose ACK could open it: the timer probes
    /// it.
    #[cold]
    pub(super) fn await_window(&mut self, context: &mut Context<'_>, produced: u64) {
        let nothing_outstanding = self.recovery.outstanding().is_empty();
        if nothing_outstanding && self.recovery.next() < produced && !self.retransmission_timer.is_set() {
            let deadline = context.now + self.estimators.rtt.probe_timeout(self.window_probes);
            let target = Target::Retransmission(self.outbox.flow());
            self.retransmission_timer.set(context.events, deadline, target);
        }
    }

    /// "The sending TCP peer must regularly transmit at least one octet of new data [...] even if
    /// the send window is zero, in order to 'probe' the window" (RFC 9293, section 3.8.6.1).
    #[cold]
    pub(super) fn probe_window(&mut self, context: &mut Context<'_>) {
        if self.bounds(context.now).produced > self.recovery.next() {
            self.window_probes = self.window_probes.saturating_add(1);
            let pacing = self.pacing(&self.congestion.controller.decision());
            self.send_new(context, 1, ProbePart::Single, pacing);
        }
    }

    pub(super) fn send_syn(&mut self, context: &mut Context<'_>) {
        self.connection = Connection::SynSent(context.now);
        let option = self.congestion.controller.option_for_syn();
        if self.totals.timeouts == 0 {
            self.first_syn = context.now;
        }
        self.outbox.send_syn(context, option, self.totals.timeouts > 0);
        self.restart_retransmission_timer(context);
    }
}

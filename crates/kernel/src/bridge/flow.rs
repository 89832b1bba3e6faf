//! One kernel connection: translates its events for [`selfclock_congestion`], and decisions into
//! answers.

#[cfg(not(target_arch = "bpf"))]
use alloc::{boxed::Box, vec::Vec};

use selfclock_congestion::composition::Composition;
use selfclock_congestion::trace::Recorder;
use selfclock_congestion::{
    Acknowledged, Algorithm, Bytes, Controller, DuplicateAck, Duration, EcnEcho, Established, Event,
    LossDetected, MssChanged, PeerOption, ProbePart, Rate, RateSample, RecoveryEnded, Resumed, Sent, Setup,
    SpuriousLoss, Time, Timeout,
};

use super::answer::{Answer, NO_THRESHOLD};
use super::counter::Counter;
use super::history::LossHistory;
#[cfg(not(target_arch = "bpf"))]
use super::options::{Block, Exchange};
use crate::event::{KernelEvent, flag, kind, state};

/// The receiver of a connection's events: its algorithm, or a recorder around it.
pub trait Control {
    /// Composition of the algorithm.
    type Algorithm: Composition;
    /// Something happens.
    fn on(&mut self, event: &Event);
    /// The connection.
    fn controller(&self) -> &Controller<Self::Algorithm>;
    /// The option for the next segment.
    fn option_for(&mut self, part: ProbePart) -> Option<PeerOption>;
}

impl<A: Composition> Control for Controller<A> {
    type Algorithm = A;
    #[inline(always)]
    fn on(&mut self, event: &Event) {
        Self::on(self, event);
    }
    #[inline(always)]
    fn controller(&self) -> &Self {
        self
    }
    fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        Self::option_for(self, part)
    }
}

impl Control for Recorder {
    type Algorithm = Algorithm;
    fn on(&mut self, event: &Event) {
        Self::on(self, event);
    }
    fn controller(&self) -> &Controller {
        Self::controller(self)
    }
    fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        Self::option_for(self, part)
    }
}

/// A connection of the kernel under an algorithm.
#[derive(Clone, Debug)]
pub struct Flow<C> {
    control: C,
    /// Time of the first event, ns.
    began: u64,
    /// `bytes_acked` at the first event, and at the last.
    acked: (u64, u64),
    last: KernelEvent,
    history: LossHistory,
    /// Segments delivered and lost so far, and CE-marked, in bytes.
    delivered: Counter,
    lost: Counter,
    /// `tp_delivered_ce` as last reported to the algorithm.
    marked: u32,
    minimum_rtt_us: Option<u32>,
    duplicates: u32,
    /// `data_segs_out` as last reported to the algorithm.
    sent: u32,
    /// A window reduction whose cause, CE mark or loss, the next ACK shows: FlightSize and lost
    /// bytes at its start.
    reduction: Option<(Bytes, Bytes)>,
    /// The state that has ended, reported after the ACK that ended it; `OPEN` for none.
    ended: u8,
    /// Increase of the window per delivered segment at the last ACK.
    slope: f64,
    /// Options, once a segment has carried one.
    #[cfg(not(target_arch = "bpf"))]
    exchange: Option<Box<Exchange>>,
    /// Of the options: 0 of a flow seen from its beginning. Of any other the kernel part must count
    /// anew.
    #[cfg(not(target_arch = "bpf"))]
    generation: u64,
}

/// Bits/s in a byte per microsecond. The kernel has no 128-bit integers, which limits an interval
/// to 2.3 TB.
const BITS_PER_MICROSECOND: u64 = 8_000_000;

const fn microseconds(count: u32) -> Duration {
    Duration::from_microseconds(count as u64)
}

/// Set-up of a connection from its first event, whether new or taken over.
pub fn setup(first: &KernelEvent) -> Setup {
    let ip_header = if first.family == 2 { 20 } else { 40 };
    Setup {
        mss: Bytes(u64::from(first.mss.max(1))),
        header: Bytes(ip_header + u64::from(first.tcp_header)),
        initial_window: first.cwnd.into(),
        initial_ssthresh: if first.ssthresh >= NO_THRESHOLD { f64::INFINITY } else { first.ssthresh.into() },
        receive_window: Bytes::MAX,
        seed: first.id,
        ..Setup::default()
    }
}

impl<C: Control> Flow<C> {
    /// Starts a connection at its first event. `control` makes its algorithm.
    pub fn new(first: &KernelEvent, control: impl FnOnce(Setup) -> C) -> Self {
        let control = control(setup(first));
        Self {
            slope: first_slope(control.controller()),
            control,
            began: first.now,
            acked: (first.bytes_acked, first.bytes_acked),
            last: *first,
            history: LossHistory::default(),
            delivered: Counter::new(first.tp_delivered, first.mss),
            lost: Counter::new(first.tp_lost, first.mss),
            marked: first.tp_delivered_ce,
            minimum_rtt_us: None,
            duplicates: 0,
            sent: first.data_segs_out,
            reduction: None,
            ended: state::OPEN,
            #[cfg(not(target_arch = "bpf"))]
            exchange: None,
            #[cfg(not(target_arch = "bpf"))]
            generation: if first.kind == kind::INIT { 0 } else { first.now },
        }
    }

    /// Its algorithm.
    pub const fn control(&self) -> &C {
        &self.control
    }

    /// Ends the flow and returns its algorithm.
    pub fn into_control(self) -> C {
        self.control
    }

    /// The last event.
    pub const fn last(&self) -> &KernelEvent {
        &self.last
    }

    /// Time of the first event, ns.
    pub const fn began(&self) -> u64 {
        self.began
    }

    /// Payload acknowledged since the first event.
    pub const fn acknowledged(&self) -> u64 {
        self.acked.1 - self.acked.0
    }

    /// Processes an event. Returns the resulting decision for the kernel.
    pub fn on(&mut self, event: &KernelEvent) -> Answer {
        match event.kind {
            kind::ACK => self.ack(event),
            kind::SENT => self.answer(event, |flow, now| flow.on_packet(event, now)),
            _ => self.change(event),
        }
    }

    /// An ACK arrived: [`Flow::on`] for events of this kind.
    #[inline(always)]
    pub fn ack(&mut self, event: &KernelEvent) -> Answer {
        self.answer(event, |flow, now| flow.on_ack(event, now))
    }

    /// Something happened that is neither an ACK nor a packet: [`Flow::on`] for events of these
    /// kinds.
    #[inline(always)]
    pub fn change(&mut self, event: &KernelEvent) -> Answer {
        self.answer(event, |flow, now| flow.on_change(event, now))
    }

    #[inline(always)]
    fn answer(&mut self, event: &KernelEvent, does: impl FnOnce(&mut Self, Time)) -> Answer {
        let now = Time::from_picoseconds(event.now.saturating_sub(self.began).min(u64::MAX / 1000) * 1000);
        if event.mss != self.last.mss && event.mss > 0 {
            self.tell(MssChanged::new(now, Bytes(event.mss.into())));
        }
        self.delivered.count(event.tp_delivered, event.mss);
        self.lost.count(event.tp_lost, event.mss);
        does(self, now);
        self.last = *event;
        let Setup { mss, header, .. } = setup(event);
        Answer::of(self.control.controller(), mss, header, self.slope)
    }

    fn on_change(&mut self, event: &KernelEvent, now: Time) {
        match event.kind {
            kind::INIT if event.srtt_us > 0 => {
                self.tell(Established::new(now, Some(microseconds(event.srtt_us))));
            }
            kind::STATE => self.on_state(event, now),
            kind::UNDO => {
                self.reduction = None;
                self.tell(SpuriousLoss::new(now));
                self.slope = first_slope(self.control.controller());
            }
            kind::START => {
                self.resume(event, now);
                let mss = Bytes(event.mss.into());
                // The segment itself is not counted yet.
                self.sent = event.data_segs_out.wrapping_add(1);
                self.tell_sent(Sent::new(now, mss, mss), event.app_limited != 0);
            }
            _ => {}
        }
    }

    /// A segment leaves after a pause: the fields of a rate sample say how long nothing has left,
    /// and the retransmission timeout, or 0 if the window does not restart after idle. The first
    /// data of a connection are no resumption; and a paced flow that the application does not
    /// limit has been held by the pacer.
    fn resume(&mut self, event: &KernelEvent, now: Time) {
        let is_paced = self.control.controller().decision().pacing.is_some();
        if event.data_segs_out == 0 || is_paced && event.app_limited == 0 {
            return;
        }
        let timeout = match event.rtt_us {
            1.. => microseconds(event.rtt_us as u32),
            _ => Duration::from_picoseconds(u64::MAX),
        };
        self.tell(Resumed::new(now, microseconds(event.interval_us.max(0) as u32), timeout));
        self.slope = first_slope(self.control.controller());
    }

    #[cfg(target_arch = "bpf")]
    fn tell(&mut self, event: impl Into<Event>) {
        self.control.on(&event.into());
    }

    #[cfg(not(target_arch = "bpf"))]
    fn tell(&mut self, event: impl Into<Event>) {
        let mut event = event.into();
        let Some(exchange) = &mut self.exchange else { return self.control.on(&event) };
        let heard = exchange.complete(&mut event);
        self.control.on(&event);
        if heard {
            exchange.answer(&mut self.control);
        }
    }

    /// Its options.
    #[cfg(not(target_arch = "bpf"))]
    fn exchange(&mut self) -> (&mut Exchange, &mut C) {
        let generation = self.generation;
        let exchange = self.exchange.get_or_insert_with(|| Box::new(Exchange::new(generation)));
        (exchange, &mut self.control)
    }

    /// An event about options: an ACK with one has arrived, or a segment has left with one.
    #[cfg(not(target_arch = "bpf"))]
    pub fn on_option(&mut self, event: &KernelEvent) {
        let (exchange, control) = self.exchange();
        match event.kind {
            kind::HEARD => exchange.hear(event),
            _ => exchange.wrote(event, control),
        }
    }

    /// The options for its next segments, for the kernel part, if they have changed.
    #[cfg(not(target_arch = "bpf"))]
    pub fn outgoing(&mut self) -> Option<Vec<u8>> {
        let exchange = self.exchange.as_mut()?;
        exchange.prepare(&mut self.control);
        exchange.changes(self.control.controller().decision().probe.is_some())
    }

    /// The options of the segment that left last with some, as the algorithm gave them.
    #[cfg(not(target_arch = "bpf"))]
    pub fn wrote(&self) -> Option<Block> {
        self.exchange.as_ref()?.last()
    }

    fn tell_sent(&mut self, mut sent: Sent, app_limited: bool) {
        sent.app_limited = app_limited;
        self.tell(sent);
    }

    fn tell_loss(&mut self, now: Time, flight_size: Bytes, lost: Bytes) {
        let mut loss = LossDetected::new(now, flight_size);
        loss.lost = lost;
        self.tell(loss);
    }

    /// A device took a packet of one or more segments.
    fn on_packet(&mut self, event: &KernelEvent, now: Time) {
        let mss = u64::from(event.mss.max(1));
        // A restart from idle was reported before this packet.
        let fresh = event.data_segs_out.wrapping_sub(self.sent).min(event.acked_sacked);
        self.sent = event.data_segs_out;
        let mut left = u64::from(event.delivered.max(0) as u32);
        let mut in_flight = u64::from(event.prior_in_flight) * mss;
        for _ in 0..fresh {
            let size = left.min(mss);
            left -= size;
            in_flight += size;
            self.tell_sent(Sent::new(now, Bytes(size), Bytes(in_flight)), event.app_limited != 0);
        }
    }

    fn on_ack(&mut self, event: &KernelEvent, now: Time) {
        if let Some((flight_size, lost)) = self.reduction.take() {
            if self.echoes_mark(event) {
                self.tell(EcnEcho::new(now, flight_size));
            } else {
                self.tell_loss(now, flight_size, lost);
            }
        }
        let bytes = |segments: u32| Bytes(u64::from(segments) * u64::from(event.mss));
        let sent = event.data_segs_out.wrapping_sub(self.sent);
        if sent > 0 && sent < 1 << 30 {
            self.sent = event.data_segs_out;
            let in_flight = bytes(event.prior_in_flight.max(sent));
            self.tell_sent(Sent::new(now, bytes(sent), in_flight), event.app_limited != 0);
        }
        if event.rtt_us > 0 {
            let rtt = event.rtt_us as u32;
            self.minimum_rtt_us = Some(self.minimum_rtt_us.map_or(rtt, |least| least.min(rtt)));
        }
        // Not since the last event: a change of state on this ACK is reported before it.
        let marked = bytes(event.tp_delivered_ce.wrapping_sub(self.marked));
        self.marked = event.tp_delivered_ce;
        let rate = self.control.controller().wants_rate_samples().then(|| self.rate_sample(event));
        if event.bytes_acked > self.acked.1 {
            self.on_advance(event, now, marked, rate);
        } else if event.prior_in_flight > 0
            && (event.flag & flag::DATA_SACKED != 0 || event.flag & flag::NOT_DUPLICATE == 0)
        {
            self.duplicates += 1;
            let mut told = DuplicateAck::new(now, self.duplicates);
            told.rtt = (event.rtt_us > 0).then(|| microseconds(event.rtt_us as u32));
            (told.in_flight, told.marked, told.rate) = (bytes(in_flight(event)), marked, rate);
            self.tell(told);
        }
        if self.ended != state::OPEN {
            self.ended = state::OPEN;
            self.tell(RecoveryEnded::new(now));
        }
    }

    /// The cumulative ACK advanced.
    fn on_advance(&mut self, event: &KernelEvent, now: Time, marked: Bytes, rate: Option<RateSample>) {
        let advanced = event.bytes_acked - self.acked.1;
        self.acked.1 = event.bytes_acked;
        // What SACK blocks had reported before does not count again, as in Linux, which passes
        // newly delivered segments to tcp_cong_avoid().
        let size = advanced.min(u64::from(event.acked_sacked) * u64::from(event.mss)).max(1);
        self.duplicates = 0;
        let before = self.control.controller().snapshot();
        let slow_start = before.cwnd_segments < before.ssthresh_segments;
        // After a timeout the window grows again; the ACK that ends it counts, too.
        let is_reducing = |state| matches!(state, state::CWR | state::RECOVERY);
        let recovering = is_reducing(event.state) || is_reducing(self.ended) || self.echoes_mark(event);
        let total = self.acknowledged();
        let mut told = Acknowledged::new(now, Bytes(size));
        told.acknowledged_total = Bytes(total);
        told.sent_total = Bytes(total + u64::from(event.snd_nxt.wrapping_sub(event.snd_una)));
        told.rtt = (event.rtt_us > 0).then(|| microseconds(event.rtt_us as u32));
        told.smoothed_rtt = (event.srtt_us > 0).then(|| microseconds(event.srtt_us));
        told.minimum_rtt = self.minimum_rtt_us.map(microseconds);
        told.in_flight = Bytes(u64::from(in_flight(event)) * u64::from(event.mss));
        // The kernel's rule, tcp_is_cwnd_limited().
        told.window_limited =
            event.cwnd_limited != 0 || slow_start && event.cwnd < event.max_packets_out.saturating_mul(2);
        (told.recovering, told.marked, told.rate) = (recovering, marked, rate);
        self.tell(told);
        if !recovering {
            let grown = self.control.controller().snapshot().cwnd_segments - before.cwnd_segments;
            self.slope = (grown * f64::from(event.mss) / size as f64).clamp(0.0, 1.0);
        }
    }

    fn echoes_mark(&self, event: &KernelEvent) -> bool {
        event.ecn & 1 != 0 && event.flag & flag::ECE != 0
    }

    fn on_state(&mut self, event: &KernelEvent, now: Time) {
        let bytes = |segments: u32| Bytes(u64::from(segments) * u64::from(event.mss));
        let flight_size = bytes(event.packets_out);
        let lost = bytes(event.lost_out);
        if matches!(event.new_state, state::CWR | state::RECOVERY) {
            self.slope = 0.0;
        }
        match event.new_state {
            state::CWR if event.state < state::CWR => self.reduction = Some((flight_size, lost)),
            state::RECOVERY if event.state < state::CWR => self.tell_loss(now, flight_size, lost),
            state::LOSS => {
                self.reduction = None;
                self.ended = state::OPEN;
                // tcp_enter_loss() asks for a threshold once for a flight: not when the timer
                // expires again, nor while a reduction of this flight lasts.
                let repeated = event.delivered == 0;
                let mut timeout = Timeout::new(now, flight_size);
                timeout.repeated = repeated;
                self.tell(timeout);
                self.slope = first_slope(self.control.controller());
            }
            state::OPEN | state::DISORDER if event.state >= state::CWR => self.ended = event.state,
            _ => {}
        }
    }

    fn rate_sample(&mut self, event: &KernelEvent) -> RateSample {
        let mss = u64::from(event.mss);
        let bytes = |segments: u32| Bytes(u64::from(segments) * mss);
        let lost = self.history.lost_since(event.prior_delivered, event.tp_delivered, event.tp_lost);
        let lost = Bytes(self.lost.since(event.tp_lost.wrapping_sub(lost)));
        let since = Bytes(self.delivered.since(event.prior_delivered));
        let valid = event.delivered > 0 && event.interval_us > 0;
        let mut sample = RateSample::default();
        sample.delivered = if event.delivered > 0 {
            // The sample's segments are the newest: tcp_rate_gen() takes delivered -
            // prior_delivered.
            Bytes(self.delivered.since(event.tp_delivered.wrapping_sub(event.delivered as u32)))
        } else {
            Bytes::ZERO
        };
        if valid {
            let interval = event.interval_us as u64;
            let delivered = sample.delivered.get().min(u64::MAX / BITS_PER_MICROSECOND);
            sample.delivery_rate = Rate::from_bits_per_second(delivered * BITS_PER_MICROSECOND / interval);
            sample.interval = Duration::from_microseconds(interval);
        }
        sample.delivered_total = Bytes(self.delivered.bytes());
        sample.prior_delivered = sample.delivered_total.saturating_sub(since);
        sample.newly_acked = bytes(event.acked_sacked);
        sample.newly_lost = bytes(event.losses.max(0) as u32);
        sample.lost = lost;
        // A stock kernel does not store the flight size with a segment: without reordering it is
        // what has been delivered or lost since the segment left.
        sample.tx_in_flight = since + lost;
        sample.is_app_limited = event.app_limited != 0;
        sample
    }
}

/// Growth per delivered segment before an ACK has shown it: one in slow start, and none outside.
fn first_slope<A: Composition>(controller: &Controller<A>) -> f64 {
    let state = controller.snapshot();
    if controller.only_grows() && state.cwnd_segments < state.ssthresh_segments { 1.0 } else { 0.0 }
}

/// Segments in flight, as `tcp_packets_in_flight` counts them.
pub const fn in_flight(event: &KernelEvent) -> u32 {
    (event.packets_out.saturating_add(event.retrans_out))
        .saturating_sub(event.sacked_out.saturating_add(event.lost_out))
}

//! One connection of the kernel: its events as those of [`selfclock_congestion`], its decisions as
//! answers.

use selfclock_congestion::composition::Composition;
use selfclock_congestion::trace::Recorder;
use selfclock_congestion::{
    Acknowledged, Algorithm, Bytes, Controller, DuplicateAck, Duration, EcnEcho, Established, Event,
    LossDetected, MssChanged, Rate, RateSample, RecoveryEnded, Sent, Setup, SpuriousLoss, Time, Timeout,
};

use super::answer::{Answer, NO_THRESHOLD};
use super::history::LossHistory;
use crate::event::{KernelEvent, flag, kind, state};

/// The receiver of a connection's events: its algorithm, or a recorder around it.
pub trait Control {
    /// Composition of the algorithm.
    type Algorithm: Composition;
    /// Something happens.
    fn on(&mut self, event: &Event);
    /// The connection.
    fn controller(&self) -> &Controller<Self::Algorithm>;
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
}

impl Control for Recorder {
    type Algorithm = Algorithm;
    fn on(&mut self, event: &Event) {
        Self::on(self, event);
    }
    fn controller(&self) -> &Controller {
        Self::controller(self)
    }
}

/// A connection of the kernel under an algorithm.
#[derive(Clone, Debug)]
pub struct Flow<C> {
    control: C,
    /// Of the first event, ns.
    began: u64,
    /// `bytes_acked` at the first event, and at the last.
    acked: (u64, u64),
    last: KernelEvent,
    history: LossHistory,
    minimum_rtt_us: Option<u32>,
    duplicates: u32,
    /// `data_segs_out` that has been told.
    sent: u32,
    /// The window is being reduced, and whether by a mark the ACK that follows will tell.
    /// FlightSize and loss of that moment.
    reduction: Option<(Bytes, Bytes)>,
    /// Recovery is over, which is told after the ACK that ended it.
    ended: bool,
    /// Increase of the window per delivered segment at the last ACK.
    slope: f64,
}

/// Bits/s in a byte per microsecond. There are no numbers of 128 bits in a kernel: 2.3 TB in an
/// interval are the most.
const BITS_PER_MICROSECOND: u64 = 8_000_000;

const fn microseconds(count: u32) -> Duration {
    Duration::from_microseconds(count as u64)
}

/// Set-up of a connection whose first event is this: a new one, or one that is taken over.
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
    /// A connection whose first event is this. `control` makes its algorithm.
    pub fn new(first: &KernelEvent, control: impl FnOnce(Setup) -> C) -> Self {
        Self {
            control: control(setup(first)),
            began: first.now,
            acked: (first.bytes_acked, first.bytes_acked),
            last: *first,
            history: LossHistory::default(),
            minimum_rtt_us: None,
            duplicates: 0,
            sent: first.data_segs_out,
            reduction: None,
            ended: false,
            slope: 0.0,
        }
    }

    /// Its algorithm.
    pub const fn control(&self) -> &C {
        &self.control
    }

    /// Its algorithm, and the flow is gone.
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

    /// Something happened. Returns what the kernel is to do now.
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
                self.slope = 0.0;
                self.tell(SpuriousLoss::new(now));
            }
            kind::START => {
                let mss = Bytes(event.mss.into());
                // The segment itself is not counted yet.
                self.sent = event.data_segs_out.wrapping_add(1);
                self.tell_sent(Sent::new(now, mss, mss), true);
            }
            _ => {}
        }
    }

    fn tell(&mut self, event: impl Into<Event>) {
        self.control.on(&event.into());
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

    /// A device takes a packet of one or more segments.
    fn on_packet(&mut self, event: &KernelEvent, now: Time) {
        let mss = u64::from(event.mss.max(1));
        // A restart from idle has been told already, as the kernel told of it: before the packet.
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
        let marked = bytes(event.tp_delivered_ce.wrapping_sub(self.last.tp_delivered_ce));
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
        if self.ended {
            self.ended = false;
            self.tell(RecoveryEnded::new(now));
        }
    }

    /// The cumulative ACK advanced.
    fn on_advance(&mut self, event: &KernelEvent, now: Time, marked: Bytes, rate: Option<RateSample>) {
        let size = event.bytes_acked - self.acked.1;
        self.acked.1 = event.bytes_acked;
        self.duplicates = 0;
        let before = self.control.controller().snapshot();
        let slow_start = before.cwnd_segments < before.ssthresh_segments;
        let recovering =
            matches!(event.state, state::CWR | state::RECOVERY) || self.ended || self.echoes_mark(event);
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
        self.slope = 0.0;
        match event.new_state {
            state::CWR if event.state < state::CWR => self.reduction = Some((flight_size, lost)),
            state::RECOVERY if event.state < state::CWR => self.tell_loss(now, flight_size, lost),
            state::LOSS => {
                self.reduction = None;
                self.ended = false;
                // The kernel counts this timeout after it has told of it.
                let repeated = event.state == state::LOSS && event.retransmits > 0;
                let mut timeout = Timeout::new(now, flight_size);
                timeout.repeated = repeated;
                self.tell(timeout);
            }
            state::OPEN | state::DISORDER if event.state >= state::CWR => self.ended = true,
            _ => {}
        }
    }

    fn rate_sample(&mut self, event: &KernelEvent) -> RateSample {
        let mss = u64::from(event.mss);
        let bytes = |segments: u32| Bytes(u64::from(segments) * mss);
        let lost = self.history.lost_since(event.prior_delivered, event.tp_delivered, event.tp_lost);
        let valid = event.delivered > 0 && event.interval_us > 0;
        let mut sample = RateSample::default();
        if valid {
            let interval = event.interval_us as u64;
            let delivered = (event.delivered as u64 * mss).min(u64::MAX / BITS_PER_MICROSECOND);
            sample.delivery_rate = Rate::from_bits_per_second(delivered * BITS_PER_MICROSECOND / interval);
            sample.interval = Duration::from_microseconds(interval);
        }
        sample.delivered = bytes(event.delivered.max(0) as u32);
        sample.delivered_total = bytes(event.tp_delivered);
        sample.prior_delivered = bytes(event.prior_delivered);
        sample.newly_acked = bytes(event.acked_sacked);
        sample.newly_lost = bytes(event.losses.max(0) as u32);
        sample.lost = bytes(lost);
        // A stock kernel does not note the flight with a segment: what has been delivered or lost
        // since it left is what was in flight then, if nothing is reordered.
        sample.tx_in_flight =
            bytes(event.tp_delivered.wrapping_sub(event.prior_delivered).wrapping_add(lost));
        sample.is_app_limited = event.app_limited != 0;
        sample
    }
}

/// Segments in flight, as `tcp_packets_in_flight` counts them.
pub const fn in_flight(event: &KernelEvent) -> u32 {
    (event.packets_out.saturating_add(event.retrans_out))
        .saturating_sub(event.sacked_out.saturating_add(event.lost_out))
}

//! All events from a sender to its congestion control.

use super::usage::WindowUse;
use crate::plan::{Ecn, TcpPlan, Transport};
use crate::transport::recovery::{AckKind, Event, LossRecovery, News, Verdict};
use crate::transport::rto::RttEstimator;
use selfclock_congestion::{
    Acknowledged, Bytes, Controller, DuplicateAck, Duration, EcnEcho, Established, HandshakeLost,
    LossDetected, PeerOption, RateSample, RecoveryEnded, Resumed, Sent, Setup, SpuriousLoss, Stamped, Time,
    Timeout,
};

/// A sender's congestion control, with the state for its events.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Congestion {
    /// The algorithm.
    pub controller: Controller,
    /// Whether window or pacing, not application or receiver, ended the last round of sending.
    pub limited_by_window: bool,
    /// Whether the window limits the sender, over a window of data.
    pub usage: WindowUse,
    grow_only_when_limited: bool,
    classic_ecn: bool,
}

/// The common part of all events of cumulative ACKs.
pub(super) struct Advanced {
    pub now: Time,
    pub size: u64,
    pub acknowledgement: u64,
    pub next: u64,
    pub rtt: Option<Duration>,
    pub in_flight: u64,
}

impl Congestion {
    /// The congestion control of a connection whose data segments have this much overhead on the
    /// wire, bytes.
    pub fn new(plan: &TcpPlan, overhead: u32, seed: u64) -> Self {
        let transport = &plan.transport;
        Self {
            controller: plan.control.controller(Setup {
                mss: transport.mss,
                header: Bytes(overhead.into()),
                initial_window: transport.initial_window,
                initial_ssthresh: transport.initial_ssthresh,
                receive_window: transport.advertised_window(),
                selective_acks: transport.recovery.uses_sack(),
                byte_counting: transport.byte_counting,
                restart_after_idle: transport.restart_after_idle,
                paced: transport.pacing_gain.is_some(),
                seed,
            }),
            limited_by_window: true,
            usage: WindowUse::new(),
            grow_only_when_limited: transport.grow_only_when_limited,
            classic_ecn: transport.ecn == Ecn::Classic,
        }
    }

    /// Application, receiver or the window ended a round of sending.
    #[inline(always)]
    pub(super) fn note_end(&mut self, by_window: bool, in_flight: u64, range: (u64, u64)) {
        self.limited_by_window = by_window;
        self.usage.note(by_window, in_flight, range);
    }

    /// Whether the window alone decides what leaves, and when: the algorithm needs no pacing,
    /// probes, options or events of sent segments; nor does this transport pace.
    pub fn is_window_alone(&self, transport: &Transport) -> bool {
        let unspaced = transport.pacing_gain.is_none() && transport.shaper.is_none();
        unspaced && (self.controller.only_grows() || self.controller.is_custom())
    }

    /// The handshake is over.
    pub fn established(&mut self, now: Time, rtt: Option<Duration>, option: Option<PeerOption>) {
        let mut event = Established::new(now, rtt);
        event.option = option;
        self.controller.on_established(&event);
    }

    /// The clocks' times of the ACK that is about to be told. Without a stamp of the card its
    /// arrival is now.
    pub(super) fn stamped(&mut self, now: Time, card: Time, peer: Time) {
        let card = if card == Time::ZERO { now } else { card };
        self.controller.on_stamped(&Stamped::new(now, card, peer));
    }

    /// An ACK of new data without further information.
    #[inline(always)]
    pub(super) fn plain_ack(&mut self, ack: &Advanced, rtt: &RttEstimator) {
        self.controller.on_ack(&self.acknowledged(ack, rtt));
    }

    #[inline(always)]
    fn acknowledged(&self, ack: &Advanced, rtt: &RttEstimator) -> Acknowledged {
        let mut event = Acknowledged::new(ack.now, Bytes(ack.size));
        event.acknowledged_total = Bytes(ack.acknowledgement);
        event.sent_total = Bytes(ack.next);
        event.rtt = ack.rtt;
        event.smoothed_rtt = rtt.smoothed();
        event.minimum_rtt = rtt.minimum();
        event.in_flight = Bytes(ack.in_flight);
        event.window_limited =
            self.usage.is_limited() || !self.grow_only_when_limited || self.uses_half_in_slow_start();
        event
    }

    /// "In slow start, ensure cwnd grows to twice what was ACKed": Linux's `tcp_is_cwnd_limited`,
    /// which lets a window grow there while it is less than twice the most outstanding; a window of
    /// which half is in use is also "validated" in RFC 7661, section 4.3.
    #[inline(never)]
    fn uses_half_in_slow_start(&self) -> bool {
        let window = self.controller.window().get();
        self.controller.in_slow_start() && window < self.usage.most().saturating_mul(2)
    }

    /// An ACK with loss recovery's response, except for its event. `rate` is the ACK's delivery
    /// rate sample.
    pub fn ack(
        &mut self,
        news: &News,
        verdict: &Verdict,
        recovery: &LossRecovery,
        rtt: &RttEstimator,
        rate: Option<RateSample>,
    ) {
        let now = news.now;
        if let Some(flight_size) = verdict.repaired_by_probe {
            // "Repaired the single loss": the congestion control gets a loss event, though nothing
            // is left to recover.
            self.controller.on_loss(&LossDetected::new(now, Bytes(flight_size)));
            self.controller.on_recovery_ended(&RecoveryEnded::new(now));
        }
        // In Linux the ACK that ends a recovery is one of congestion avoidance, with what it newly
        // delivers (`tcp_ack` asks `tcp_cong_control` after `tcp_fastretrans_alert`).
        let grows = verdict.ended && recovery.is_linux();
        if grows {
            self.controller.on_recovery_ended(&RecoveryEnded::new(now));
        }
        let (in_flight, marked, option) = (Bytes(verdict.in_flight), Bytes(news.marked), news.option);
        match verdict.ack {
            AckKind::Stray | AckKind::Repetition => {}
            AckKind::NewData => {
                let ack = Advanced {
                    now,
                    size: news.advance.bytes,
                    acknowledgement: news.acknowledgement,
                    next: recovery.next(),
                    rtt: news.rtt,
                    in_flight: verdict.in_flight,
                };
                // "The sending TCP SHOULD NOT increase the congestion window in response to the
                // receipt of an ECN-Echo ACK packet" (RFC 3168, section 6.1.2).
                let recovering = verdict.was_recovering && !grows || news.congestion_echo && self.classic_ecn;
                let mut event = self.acknowledged(&ack, rtt);
                if grows {
                    event.size = Bytes(recovery.delivered_by_ack());
                }
                (event.recovering, event.marked) = (recovering, marked);
                (event.rate, event.option) = (rate, option);
                self.controller.on_ack(&event);
            }
            AckKind::Duplicate(count) => {
                let mut event = DuplicateAck::new(now, count);
                event.rtt = news.newest_sacked.map(|sent| now.since(sent));
                (event.in_flight, event.marked) = (in_flight, marked);
                (event.rate, event.option) = (rate, option);
                self.controller.on_duplicate_ack(&event);
            }
        }
        if verdict.ended && !grows {
            self.controller.on_recovery_ended(&RecoveryEnded::new(now));
        }
        if verdict.spurious {
            self.controller.on_spurious_loss(&SpuriousLoss::new(now));
        }
    }

    /// An event that requires a response. Returns true if the window is reduced.
    pub fn event(&mut self, now: Time, event: Event) -> bool {
        match event {
            Event::Loss { reduces: false, .. } => return false,
            Event::Loss { flight_size, lost, .. } => {
                let mut event = LossDetected::new(now, Bytes(flight_size));
                event.lost = Bytes(lost);
                self.controller.on_loss(&event);
            }
            Event::Restart { flight_size, repeated, cause } => {
                let mut event = Timeout::new(now, Bytes(flight_size));
                (event.repeated, event.cause) = (repeated, cause);
                self.controller.on_timeout(&event);
            }
            Event::CongestionEcho { flight_size } => {
                self.controller.on_ecn_echo(&EcnEcho::new(now, Bytes(flight_size)));
            }
        }
        true
    }

    /// A SYN was lost.
    pub fn handshake_loss(&mut self, now: Time) {
        self.controller.on_handshake_loss(&HandshakeLost::new(now));
    }

    /// Data is about to leave after a pause; the last segment left so long ago.
    #[cold]
    pub fn resumed(&mut self, now: Time, idle: Duration, rtt: &RttEstimator) {
        self.controller.on_resumed(&Resumed::new(now, idle, rtt.timeout()));
    }

    /// A segment with this payload has left. `held_back`: payload that the window allows but pacing
    /// holds back; `app_limited`: the application has no more to send, though the window has room.
    pub fn sent(&mut self, now: Time, payload: u32, in_flight: u64, held_back: u64, app_limited: bool) {
        let mut event = Sent::new(now, Bytes(payload.into()), Bytes(in_flight));
        event.held_back = Bytes(held_back);
        event.app_limited = app_limited;
        self.controller.on_sent(&event);
    }
}

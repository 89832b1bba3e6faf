//! Quick-Start, RFC 4782: the sender requests a rate, and uses it from the first round trip on if
//! all routers approve.
//!
//! Section numbers below are those of RFC 4782. The request travels with the SYN, or, without a
//! handshake, with the first data, and is not repeated. (The RFC allows one per round-trip time,
//! also in the middle of a connection.)

use super::limited::{self, Limited};
use crate::decision::{Pacing, Phase, ProbePart};
use crate::entry::{Entry, Need, RouterPartner};
use crate::event::{Acknowledged, EcnEcho, Established, LossDetected, Timeout};
use crate::option::{
    PeerOption, QUICK_START_NONCE_BITS, QuickStartOption, quick_start_nonce_mask, quick_start_rate,
};
use crate::parameters;
use crate::part::StartPart;
use crate::random::Random;
use crate::receiver::{AckRequest, INITIAL_TTL, Partner, ReceiverPart};
use crate::state::{Setup, WindowState};
use crate::units::{Bytes, Duration, Rate, Time};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "quick-start",
    about: "Asks the routers for a rate with the SYN and begins at what all of them approve; limited slow start then. \
            Plain slow start where a router does not understand, or refuses.",
    source: "RFC 4782",
    parameters: Parameters::TABLE,
    // A router that does not decrement the QS TTL voids the approval of all the others (section
    // 4.4).
    router: Some(RouterPartner { mechanism: "quick-start", everywhere: true, without: "it is slow start" }),
    needs: &[Need::Pacing],
    ..Entry::START
};

parameters! {
    /// Parameters of Quick-Start.
    Parameters {
        /// Code of the rate asked for: N is 40000·2^N bit/s, 1 is 80 kbit/s and 15 is 1.31 Gbit/s.
        quick_start_request: f64 = 15.0, shown "15", unit "", range (1.0, 15.0),
            source "RFC 4782 section 3.1; that it asks for the most is our choice";
        /// Window above which slow start is limited after Quick-Start.
        max_ssthresh: f64 = 100.0, shown "100", unit "segments", range (2.0, 1e9),
            source "RFC 3742 section 2: max_ssthresh of 100 MSS; RFC 4782 asks for Limited Slow-Start";
    }
}

/// Where Quick-Start is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The response is outstanding.
    Asked,
    /// Quick-Start mode: at this rate, until data sent after this much is acknowledged.
    QuickStart { rate: Rate, sent_before: Bytes },
    /// Quick-Start is over, but not all data sent in it is acknowledged: the bytes sent when it
    /// began and when it ended.
    Proving { begin: Bytes, end: Bytes },
    /// Limited slow start.
    Limited,
    /// Nothing was approved, or data sent in Quick-Start mode was lost: slow start.
    Refused,
}

/// Quick-Start.
#[derive(Clone, Debug)]
pub struct QuickStart {
    parameters: Parameters,
    stage: Stage,
    /// The request has left.
    asked: bool,
    ttl: u8,
    nonce: u32,
    /// Report of the used rate, for the routers.
    report: Option<u8>,
    initial_window: f64,
    /// Unit of acknowledgement.
    acknowledged: Bytes,
}

impl QuickStart {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            stage: Stage::Asked,
            asked: false,
            ttl: 0,
            nonce: 0,
            report: None,
            initial_window: 1.0,
            acknowledged: Bytes::ZERO,
        }
    }

    fn request(&mut self) -> Option<PeerOption> {
        if core::mem::replace(&mut self.asked, true) {
            return None;
        }
        let (rate, ttl, nonce) = (self.parameters.quick_start_request as u8, self.ttl, self.nonce);
        Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl, nonce }))
    }

    /// The rate approved by all routers; 0 if one lacks Quick-Start, or the receiver overstates the
    /// rate.
    fn approved(&self, option: Option<PeerOption>) -> Option<u8> {
        let Some(PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference, nonce })) = option
        else {
            return None;
        };
        // Section 4.4: a TTL Diff that differs from the request's shows a router without
        // Quick-Start; of the nonce, the last 2K bits must be the original ones.
        let understood = ttl_difference == INITIAL_TTL.wrapping_sub(self.ttl);
        let genuine = (nonce ^ self.nonce) & quick_start_nonce_mask(rate) == 0
            && f64::from(rate) <= self.parameters.quick_start_request;
        Some(if understood && genuine { rate } else { 0 })
    }

    fn begin_quick_start(&mut self, rate: u8, rtt: Option<Duration>, sent: Bytes, state: &mut WindowState) {
        let bits = quick_start_rate(rate);
        // QS-cwnd = R T / (MSS + H), R in bytes per second.
        let window = rtt
            .map_or(0.0, |rtt| bits as f64 / 8.0 * rtt.seconds() / state.full_segment_on_wire().get() as f64);
        // A window not above the present one is not used.
        if window > state.cwnd {
            state.cwnd = window;
            self.stage = Stage::QuickStart { rate: Rate::from_bits_per_second(bits), sent_before: sent };
            self.report = Some(rate);
        } else {
            self.stage = Stage::Refused;
            self.report = Some(0);
        }
    }
}

impl StartPart for QuickStart {
    fn begin(&mut self, setup: &Setup, state: &mut WindowState) {
        let mut random = Random::new(setup.seed);
        // The QS TTL starts at random, so that no router can guess the initial value.
        self.ttl = (random.bits() >> 56) as u8;
        self.nonce = (random.bits() >> (64 - QUICK_START_NONCE_BITS)) as u32;
        self.initial_window = state.cwnd;
    }

    fn option_for_syn(&mut self) -> Option<PeerOption> {
        self.request()
    }

    fn partner(&self) -> Partner {
        Partner::new(QuickStartReceiver)
    }

    fn on_established(&mut self, event: &Established, state: &mut WindowState) {
        match self.approved(event.option) {
            Some(rate) => self.begin_quick_start(rate, event.rtt, Bytes::ZERO, state),
            None => self.stage = Stage::Refused,
        }
        self.initial_window = self.initial_window.min(state.cwnd);
    }

    fn on_ack(&mut self, event: &Acknowledged, _state: &WindowState) {
        self.acknowledged = event.acknowledged_total;
        if let Stage::Proving { end, .. } = self.stage
            && event.acknowledged_total >= end
        {
            self.stage = Stage::Limited;
        }
    }

    fn holds_window(&self) -> bool {
        matches!(self.stage, Stage::Asked | Stage::QuickStart { .. })
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self.stage {
            Stage::Asked => match self.approved(event.option) {
                Some(rate) => self.begin_quick_start(rate, event.minimum_rtt, event.sent_total, state),
                None => self.stage = Stage::Refused,
            },
            Stage::QuickStart { sent_before, .. } if event.acknowledged_total > sent_before => {
                // The first ACK of data sent in Quick-Start mode ends it, and discards the unused
                // part of the window.
                let used = state.segments(event.in_flight) + state.segments(event.size);
                state.cwnd = state.cwnd.min(used.max(self.initial_window));
                self.stage = Stage::Proving { begin: sent_before, end: event.sent_total };
            }
            Stage::QuickStart { .. } => {}
            Stage::Proving { .. } | Stage::Limited => {
                let max_ssthresh = self.parameters.max_ssthresh;
                Limited::new(limited::Parameters { max_ssthresh }).grow(event, state);
            }
            Stage::Refused => state.cwnd += state.slow_start_step(event.size),
        }
    }

    /// A loss of data sent in Quick-Start mode: back to the window without Quick-Start, and
    /// ssthresh at most half of the delivered part.
    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        let begin = match self.stage {
            Stage::QuickStart { sent_before, .. } => sent_before,
            Stage::Proving { begin, .. } => begin,
            Stage::Asked | Stage::Limited | Stage::Refused => {
                self.stage = Stage::Refused;
                return;
            }
        };
        let delivered = state.segments(self.acknowledged.saturating_sub(begin));
        state.ssthresh = state.ssthresh.min((delivered / 2.0).max(2.0));
        state.cwnd = state.cwnd.min(self.initial_window);
        self.stage = Stage::Refused;
    }

    fn on_ecn_echo(&mut self, _event: &EcnEcho) {
        self.stage = Stage::Refused;
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.stage = Stage::Refused;
    }

    /// In Quick-Start mode segments are spaced at the approved rate.
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        let Stage::QuickStart { rate, .. } = self.stage else { return None };
        let size = state.full_segment_on_wire();
        Some(Pacing { interval: rate.transmission_time(size), size, tick: Duration::ZERO })
    }

    fn option_for(&mut self, _part: ProbePart) -> Option<PeerOption> {
        if let Some(rate) = self.report.take() {
            let nonce = self.nonce;
            return Some(PeerOption::QuickStart(QuickStartOption::Report { rate, nonce }));
        }
        // Without a handshake the first data carries the request.
        if self.stage == Stage::Asked { self.request() } else { None }
    }

    fn phase(&self) -> Option<Phase> {
        matches!(self.stage, Stage::QuickStart { .. }).then_some(Phase::PacedStart)
    }
}

/// Answers a Quick-Start Request with what arrived of it (section 4.3).
#[derive(Clone, Copy, Debug)]
struct QuickStartReceiver;

impl ReceiverPart for QuickStartReceiver {
    fn on_syn(&mut self, _now: Time, option: Option<PeerOption>, ttl: u8) -> Option<PeerOption> {
        let Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl: qs_ttl, nonce })) = option
        else {
            return None;
        };
        // TTL Diff is the TTL of the IP header less the QS TTL, modulo 256.
        let ttl_difference = ttl.wrapping_sub(qs_ttl);
        Some(PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference, nonce }))
    }

    fn on_data(&mut self, now: Time, option: Option<PeerOption>, ttl: u8) -> AckRequest {
        let option = self.on_syn(now, option, ttl);
        AckRequest { immediately: option.is_some(), option, ..AckRequest::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, setup, state};

    fn begun() -> (QuickStart, WindowState, (u8, u8, u32)) {
        let mut start = QuickStart::new(Parameters::default());
        let mut state = state(10.0);
        let setup = Setup { initial_ssthresh: f64::INFINITY, ..setup() };
        start.begin(&setup, &mut state);
        let Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl, nonce })) =
            start.option_for_syn()
        else {
            panic!("no request on the SYN");
        };
        assert_eq!(rate, 15);
        assert_eq!(start.option_for_syn(), None, "a second SYN does not ask again");
        (start, state, (rate, ttl, nonce))
    }

    fn answer(rate: u8, ttl_difference: u8, nonce: u32) -> Established {
        Established {
            option: Some(PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference, nonce })),
            ..Established::new(Time::ZERO, Some(Duration::from_milliseconds(100)))
        }
    }

    /// N = 7: 5.12 Mbit/s, 64000 bytes in 100 ms, 61.54 segments of 1040 bytes.
    #[test]
    fn the_window_is_what_the_rate_needs() {
        let (mut start, mut state, (_, ttl, nonce)) = begun();
        // Two routers have approved, and the rate is reduced: the upper bits of the nonce have
        // changed.
        let event = answer(7, INITIAL_TTL.wrapping_sub(ttl), nonce ^ (0x3fff << 14));
        start.on_established(&event, &mut state);
        assert!((state.cwnd - 64_000.0 / 1040.0).abs() < 1e-9, "{}", state.cwnd);
        let pacing = start.pacing(&state).expect("at the rate");
        assert_eq!(pacing.interval, Duration::from_microseconds(1625));
        let report = QuickStartOption::Report { rate: 7, nonce };
        assert_eq!(start.option_for(ProbePart::Single), Some(PeerOption::QuickStart(report)));
        assert_eq!(start.option_for(ProbePart::Single), None);

        // The first ACK ends it; only 30 segments were used.
        let event = Acknowledged { in_flight: Bytes(29_000), sent_total: Bytes(30_000), ..ack_at(0.2, 0.1) };
        start.on_ack(&event, &state);
        start.grow(&event, &mut state);
        assert_eq!((state.cwnd, start.pacing(&state)), (30.0, None));
    }

    #[test]
    fn a_router_that_does_not_understand_or_a_forged_nonce_means_slow_start() {
        let (start, _, (_, ttl, nonce)) = begun();
        let right = INITIAL_TTL.wrapping_sub(ttl);
        for event in [
            answer(7, right.wrapping_sub(1), nonce),
            answer(7, right, nonce ^ 1),
            answer(7, right, nonce ^ (1 << 13)),
            answer(0, right, nonce),
            Established { option: None, ..answer(0, 0, 0) },
        ] {
            let (mut start, mut state) = (start.clone(), state(10.0));
            start.on_established(&event, &mut state);
            assert_eq!((state.cwnd, start.pacing(&state)), (10.0, None));
            let event = ack_at(0.2, 0.1);
            start.on_ack(&event, &state);
            assert!(!start.holds_window());
            start.grow(&event, &mut state);
            assert_eq!(state.cwnd, 11.0);
        }
    }

    /// 40 of 61 segments were delivered: ssthresh at most 20, and the window as without
    /// Quick-Start.
    #[test]
    fn a_loss_in_quick_start_falls_back_to_the_initial_window() {
        let (mut start, mut state, (_, ttl, nonce)) = begun();
        start.on_established(&answer(7, INITIAL_TTL.wrapping_sub(ttl), nonce), &mut state);
        for segment in 1..=40 {
            let event = Acknowledged {
                acknowledged_total: Bytes(segment * 1000),
                sent_total: Bytes(61_000),
                in_flight: Bytes(61_000 - segment * 1000),
                ..ack_at(0.2, 0.1)
            };
            start.on_ack(&event, &state);
            start.grow(&event, &mut state);
        }
        // The window algorithm has halved.
        (state.cwnd, state.ssthresh) = (30.0, 30.0);
        start.on_loss(&LossDetected::new(Time::ZERO, Bytes(21_000)), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (10.0, 20.0));
    }

    /// A CE mark or a timeout in Quick-Start mode ends it, like a loss.
    #[test]
    fn what_ends_it() {
        for (name, end) in crate::fixtures::ends() {
            let (mut start, mut state, (_, ttl, nonce)) = begun();
            start.on_established(&answer(7, INITIAL_TTL.wrapping_sub(ttl), nonce), &mut state);
            assert!(start.holds_window() && start.phase() == Some(Phase::PacedStart));
            end(&mut start, &mut state);
            crate::fixtures::is_plain_slow_start(&mut start, &mut state, name);
        }
    }

    /// "The QS TTL" has 8 bits and the nonce 30, all of them random.
    #[test]
    fn every_bit_is_drawn() {
        let (mut ones, mut zeros) = ((0, 0), (u8::MAX, u32::MAX));
        for seed in 0..200 {
            let mut start = QuickStart::new(Parameters::default());
            let setup = Setup { initial_ssthresh: f64::INFINITY, seed, ..setup() };
            start.begin(&setup, &mut state(10.0));
            ones = (ones.0 | start.ttl, ones.1 | start.nonce);
            zeros = (zeros.0 & start.ttl, zeros.1 & start.nonce);
        }
        assert_eq!((ones, zeros), ((0xff, 0x3fff_ffff), (0, 0)));
    }

    /// Without a handshake the first data carries the request, and its ACK serves only as the
    /// response.
    #[test]
    fn asked_with_data() {
        let (request, mut state, _) = begun();
        let mut start = QuickStart { asked: false, ..request };
        let Some(PeerOption::QuickStart(QuickStartOption::Request { ttl, nonce, .. })) =
            start.option_for(ProbePart::Single)
        else {
            panic!("no request")
        };
        assert_eq!(start.option_for(ProbePart::Single), None, "once");
        assert!(start.holds_window(), "it waits for the answer");
        let option = answer(7, INITIAL_TTL.wrapping_sub(ttl), nonce).option;
        let sent_total = Bytes(10_000);
        let event = Acknowledged { option, sent_total, ..ack_at(0.1, 0.1) };
        start.on_ack(&event, &state);
        start.grow(&event, &mut state);
        assert!((state.cwnd - 64_000.0 / 1040.0).abs() < 1e-9, "{}", state.cwnd);
        // Data sent before the response does not end it; the first data sent after it does.
        for (acknowledged, holds) in [(10_000, true), (10_001, false)] {
            let event =
                Acknowledged { acknowledged_total: Bytes(acknowledged), sent_total, ..ack_at(0.2, 0.1) };
            start.on_ack(&event, &state);
            start.grow(&event, &mut state);
            assert_eq!(start.holds_window(), holds, "{acknowledged}");
        }
    }

    /// 40 kbit/s for 100 ms are less than half a segment: a rate not above the initial window is
    /// reported as unused.
    #[test]
    fn an_approval_that_is_of_no_use() {
        let (mut start, mut state, (_, ttl, nonce)) = begun();
        start.on_established(&answer(1, INITIAL_TTL.wrapping_sub(ttl), nonce), &mut state);
        assert_eq!((state.cwnd, start.holds_window()), (10.0, false));
        let report = QuickStartOption::Report { rate: 0, nonce };
        assert_eq!(start.option_for(ProbePart::Single), Some(PeerOption::QuickStart(report)));
    }

    /// RFC 4782, section 3.1: all three routers decremented both, or one of them only the TTL of
    /// the IP header.
    #[test]
    fn the_difference_of_the_times_to_live_is_told() {
        let mut part = QuickStartReceiver;
        for (ttl, difference) in [(197, 120), (198, 119)] {
            let request = QuickStartOption::Request { rate: 5, ttl, nonce: 7 };
            let response = QuickStartOption::Response { rate: 5, ttl_difference: difference, nonce: 7 };
            let answer = part.on_syn(Time::ZERO, Some(PeerOption::QuickStart(request)), INITIAL_TTL - 3);
            assert_eq!(answer, Some(PeerOption::QuickStart(response)));
        }
        assert_eq!(part.on_syn(Time::ZERO, None, INITIAL_TTL), None);
    }
}

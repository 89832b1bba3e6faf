//! XCP, Katabi, Handley and Rohrs 2002: routers determine the change of the window in each packet.
//! The sender's part: it puts its window and round-trip time on every segment, and applies the
//! returned feedback.
//!
//! Without feedback it is Reno: "the sender must check whether the receiver and the routers along
//! the path are XCP-enabled. If they are not, the sender reverts to TCP or another conventional
//! protocol" (section 8.2). A receiver that supports XCP returns the header it gets; a path without
//! XCP routers returns the request unchanged.

use crate::decision::Pacing;
use crate::entry::{Entry, RouterPartner};
use crate::event::{Acknowledged, LossDetected, Timeout};
use crate::option::{PeerOption, XcpOption};
use crate::parameters;
use crate::part::ModelPart;
use crate::receiver::{AckRequest, Partner, ReceiverPart};
use crate::state::WindowState;
use crate::units::{Duration, Time};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "xcp",
    about: "Changes its window by what the routers on the path say, packet by packet. Needs routers with the mechanism xcp; \
            without them it is Reno.",
    source: "Katabi, Handley, Rohrs, SIGCOMM 2002; draft-falk-xcp-spec",
    parameters: Parameters::TABLE,
    router: Some(RouterPartner { mechanism: "xcp", everywhere: false, without: "it is Reno" }),
    ..Entry::MODEL
};

parameters! {
    /// Parameters of XCP.
    Parameters {
        /// Part of the window that is kept at a loss: of a queue that does not know XCP, on the
        /// path.
        loss_beta: f64 = 0.5, shown "0.5", unit "", range (0.1, 0.99),
            source "RFC 5681 section 3.1, equation 4";
    }
}

/// XCP.
#[derive(Clone, Debug)]
pub struct Xcp {
    parameters: Parameters,
    smoothed_rtt: Option<Duration>,
    /// The receiver has replied.
    has_partner: bool,
}

/// The demand: a source with much to send requests the maximum, and routers only ever lower it.
const ALL: i32 = i32::MAX;

impl Xcp {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, smoothed_rtt: None, has_partner: false }
    }
}

impl ModelPart for Xcp {
    fn partner(&self) -> Partner {
        Partner::new(XcpReceiver)
    }

    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.smoothed_rtt = event.smoothed_rtt;
        let said = match event.option {
            Some(PeerOption::Xcp(XcpOption::Reply { feedback })) => Some(feedback),
            _ => None,
        };
        self.has_partner |= said.is_some();
        if event.recovering {
            return;
        }
        match said {
            Some(ALL) => as_reno(event, state),
            // "cwnd = max(cwnd + H_feedback, s)"
            Some(feedback) => {
                let change = XcpOption::bytes(feedback) / state.mss.get() as f64;
                state.cwnd = (state.cwnd + change).max(1.0);
            }
            None if !self.has_partner => as_reno(event, state),
            None => {}
        }
    }

    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        state.cwnd = (state.cwnd * self.parameters.loss_beta).max(1.0).min(state.cwnd);
        state.ssthresh = state.cwnd.max(2.0);
    }

    fn on_timeout(&mut self, _event: &Timeout, state: &mut WindowState) {
        state.ssthresh = (state.cwnd * self.parameters.loss_beta).max(2.0);
    }

    fn option_for(&mut self, state: &WindowState) -> Option<PeerOption> {
        let window = (state.cwnd * state.mss.get() as f64).min(f64::from(u32::MAX)) as u32;
        let rtt = self.smoothed_rtt.unwrap_or(Duration::ZERO).picoseconds() / 1_000_000;
        let rtt_us = u32::try_from(rtt).unwrap_or(u32::MAX);
        Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, feedback: ALL }))
    }

    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
}

/// Returns the routers' remainder of the request.
#[derive(Clone, Copy, Debug)]
struct XcpReceiver;

impl ReceiverPart for XcpReceiver {
    fn on_data(&mut self, _now: Time, option: Option<PeerOption>, _ttl: u8) -> AckRequest {
        let Some(PeerOption::Xcp(XcpOption::Request { feedback, rtt_us, .. })) = option else {
            return AckRequest::default();
        };
        // Before the first round-trip sample no router has processed it.
        let feedback = if rtt_us == 0 { 0 } else { feedback };
        let option = Some(PeerOption::Xcp(XcpOption::Reply { feedback }));
        // Each packet has its own feedback: a delayed ACK must not drop any.
        AckRequest { immediately: true, option, ..AckRequest::default() }
    }
}

/// RFC 5681, section 3.1; a window that is not used does not grow (RFC 7661, section 4.4).
fn as_reno(event: &Acknowledged, state: &mut WindowState) {
    if !event.window_limited {
        return;
    }
    let acknowledged = state.counted(event.size);
    state.cwnd += if state.cwnd < state.ssthresh { acknowledged } else { acknowledged / state.cwnd };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack, state};
    use crate::units::Bytes;

    fn reply(feedback: i32) -> Acknowledged {
        Acknowledged { option: Some(PeerOption::Xcp(XcpOption::Reply { feedback })), ..ack(1000) }
    }

    /// Feedback counts in sixteenths of a byte, and a segment has 1000 B.
    #[test]
    fn the_window_is_what_the_routers_say() {
        let mut xcp = Xcp::new(Parameters::default());
        let mut state = state(10.0);
        xcp.on_ack(&reply(16 * 2500), &mut state);
        assert_eq!(state.cwnd, 12.5);
        xcp.on_ack(&reply(-16 * 500), &mut state);
        assert_eq!(state.cwnd, 12.0);
        // "cwnd = max(cwnd + H_feedback, s)"
        xcp.on_ack(&reply(i32::MIN), &mut state);
        assert_eq!(state.cwnd, 1.0);
        // No feedback, no change; and none during recovery.
        xcp.on_ack(&ack(1000), &mut state);
        xcp.on_ack(&Acknowledged { recovering: true, ..reply(16_000) }, &mut state);
        assert_eq!(state.cwnd, 1.0);
    }

    /// The feedback equals the demand: no router on the path supports XCP. Each ACK would add 134
    /// MB to the window and fill an unlimited queue up to the memory's size; and with a silent
    /// receiver the window would never grow.
    #[test]
    fn without_routers_or_without_a_partner_it_is_reno() {
        for unanswered in [reply(i32::MAX), ack(1000)] {
            let mut xcp = Xcp::new(Parameters::default());
            let mut state = state(10.0);
            state.ssthresh = 12.0;
            for window in [11.0, 12.0, 12.0 + 1.0 / 12.0] {
                xcp.on_ack(&unanswered, &mut state);
                assert!((state.cwnd - window).abs() < 1e-12, "{}", state.cwnd);
            }
            xcp.on_ack(&Acknowledged { recovering: true, ..unanswered }, &mut state);
            assert!((state.cwnd - 12.0 - 1.0 / 12.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_it_asks_for() {
        let mut xcp = Xcp::new(Parameters::default());
        let mut state = state(12.5);
        let request =
            |window, rtt_us| Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, feedback: i32::MAX }));
        assert_eq!(xcp.option_for(&state), request(12_500, 0), "no round-trip time yet");
        let smoothed_rtt = Some(Duration::from_microseconds(81_234));
        xcp.on_ack(&Acknowledged { smoothed_rtt, ..reply(0) }, &mut state);
        assert_eq!(xcp.option_for(&state), request(12_500, 81_234));
        // The fields have 32 bits: 4.3 GB, and more than an hour.
        state.cwnd = 1e8;
        xcp.on_ack(&Acknowledged { smoothed_rtt: Some(Duration::MAX), ..reply(0) }, &mut state);
        assert_eq!(xcp.option_for(&state), request(u32::MAX, u32::MAX));
        assert_eq!(xcp.pacing(&state), None);
    }

    /// A queue on the path without XCP: half, as in TCP, and at least one segment.
    #[test]
    fn losses() {
        let mut xcp = Xcp::new(Parameters::default());
        let mut state = state(12.0);
        let loss = LossDetected::new(Time::ZERO, Bytes(12_000));
        for (window, threshold) in [(6.0, 6.0), (3.0, 3.0), (1.5, 2.0), (1.0, 2.0), (1.0, 2.0)] {
            xcp.on_loss(&loss, &mut state);
            assert_eq!((state.cwnd, state.ssthresh), (window, threshold));
        }
        state.cwnd = 12.0;
        let timeout = Timeout::new(Time::ZERO, Bytes(12_000));
        xcp.on_timeout(&timeout, &mut state);
        assert_eq!(state.ssthresh, 6.0);
        state.cwnd = 1.0;
        xcp.on_timeout(&timeout, &mut state);
        assert_eq!(state.ssthresh, 2.0);
    }
}

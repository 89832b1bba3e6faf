//! XCP, Katabi, Handley and Rohrs 2002: routers say by how much the window of each packet's flow is to change. The sender's
//! part: it puts its window and round-trip time on every segment, and does what comes back.

use super::ModelPart;
use crate::controller::WindowState;
use crate::event::{Acknowledged, LossDetected, Pacing, Timeout};
use crate::option::{PeerOption, XcpOption};
use crate::parameters;
use crate::registry::{Entry, Part};
use crate::units::Duration;

/// What `selfclock algorithms` says.
pub const ENTRY: Entry = Entry {
    name: "xcp",
    part: Part::Model,
    about: "Changes its window by what the routers on the path say, packet by packet. Needs routers with the mechanism xcp; \
            without them it takes all that it can until something is lost.",
    source: "Katabi, Handley, Rohrs, SIGCOMM 2002; draft-falk-xcp-spec",
    parameters: Parameters::TABLE,
};

parameters! {
    /// Parameters of XCP.
    Parameters {
        /// Part of the window that is kept at a loss: of a queue that does not know XCP, on the path.
        loss_beta: f64 = 0.5, shown "0.5", unit "", range (0.1, 0.99),
            source "RFC 5681 section 3.1, equation 4";
    }
}

/// XCP.
#[derive(Clone, Debug)]
pub struct Xcp {
    parameters: Parameters,
    smoothed_rtt: Option<Duration>,
}

impl Xcp {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, smoothed_rtt: None }
    }
}

impl ModelPart for Xcp {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.smoothed_rtt = event.smoothed_rtt;
        let Some(PeerOption::Xcp(XcpOption::Reply { feedback })) = event.option else { return };
        if !event.recovering {
            // "cwnd = max(cwnd + H_feedback, s)"
            let change = XcpOption::bytes(feedback) / state.mss.get() as f64;
            state.cwnd = (state.cwnd + change).max(1.0);
        }
    }

    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        state.cwnd = (state.cwnd * self.parameters.loss_beta).max(1.0).min(state.cwnd);
        state.ssthresh = state.cwnd.max(2.0);
    }

    fn on_timeout(&mut self, _event: &Timeout, state: &mut WindowState) {
        state.ssthresh = (state.cwnd * self.parameters.loss_beta).max(2.0);
    }

    /// A source with much to send wants whatever it can get: the routers only ever lower it.
    fn option_for(&mut self, state: &WindowState) -> Option<PeerOption> {
        let window = (state.cwnd * state.mss.get() as f64).min(f64::from(u32::MAX)) as u32;
        let rtt = self.smoothed_rtt.unwrap_or(Duration::ZERO).picoseconds() / 1_000_000;
        let rtt_us = u32::try_from(rtt).unwrap_or(u32::MAX);
        Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, feedback: i32::MAX }))
    }

    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::tests::{ack, state};
    use crate::event::RestartCause;
    use crate::units::{Bytes, Time};

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
        // Nothing said, nothing done; and not during a repair.
        xcp.on_ack(&ack(1000), &mut state);
        xcp.on_ack(&Acknowledged { recovering: true, ..reply(16_000) }, &mut state);
        assert_eq!(state.cwnd, 1.0);
    }

    #[test]
    fn what_it_asks_for() {
        let mut xcp = Xcp::new(Parameters::default());
        let mut state = state(12.5);
        let request =
            |window, rtt_us| Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, feedback: i32::MAX }));
        assert_eq!(xcp.option_for(&state), request(12_500, 0), "no round-trip time yet");
        let smoothed_rtt = Some(Duration::from_microseconds(81_234));
        xcp.on_ack(&Acknowledged { smoothed_rtt, ..ack(1000) }, &mut state);
        assert_eq!(xcp.option_for(&state), request(12_500, 81_234));
        // Fields of 32 bits: 4.3 GB, and more than an hour.
        state.cwnd = 1e8;
        xcp.on_ack(&Acknowledged { smoothed_rtt: Some(Duration::MAX), ..ack(1000) }, &mut state);
        assert_eq!(xcp.option_for(&state), request(u32::MAX, u32::MAX));
        assert_eq!(xcp.pacing(&state), None);
    }

    /// A queue on the path that does not know XCP: half, as in TCP, and one segment at least.
    #[test]
    fn losses() {
        let mut xcp = Xcp::new(Parameters::default());
        let mut state = state(12.0);
        let loss = LossDetected { now: Time::ZERO, flight_size: Bytes(12_000) };
        for (window, threshold) in [(6.0, 6.0), (3.0, 3.0), (1.5, 2.0), (1.0, 2.0), (1.0, 2.0)] {
            xcp.on_loss(&loss, &mut state);
            assert_eq!((state.cwnd, state.ssthresh), (window, threshold));
        }
        state.cwnd = 12.0;
        let cause = RestartCause::TimerExpired;
        let timeout = Timeout { now: Time::ZERO, flight_size: Bytes(12_000), repeated: false, cause };
        xcp.on_timeout(&timeout, &mut state);
        assert_eq!(state.ssthresh, 6.0);
        state.cwnd = 1.0;
        xcp.on_timeout(&timeout, &mut state);
        assert_eq!(state.ssthresh, 2.0);
    }
}

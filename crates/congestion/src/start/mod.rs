//! How a connection begins, and begins again after a timeout: the part in charge while cwnd < ssthresh.
//!
//! A new way to begin is a file, declared below (rustfmt finds files by these declarations), and a line in the list.

pub mod bbr_startup;
pub mod hoe;
pub mod hystart_plus_plus;
pub mod limited;
pub mod modified_swift_start;
mod paced_round_trip;
pub mod packet_pair;
pub mod quick_start;
pub mod slow_start;
pub mod swift_start;

use crate::algorithms::algorithms;
use crate::controller::{Setup, WindowState};
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, Pacing, Phase, Probe, ProbePart, Sent,
    Timeout,
};
use crate::option::PeerOption;
use crate::receiver::{PacketPairReceiver, QuickStartReceiver, ReceiverPart};
use crate::units::Bytes;

algorithms! {
    /// One of the ways to begin. An enum, not a trait object: the per-acknowledgement path has no dynamic dispatch.
    Start, chosen by StartChoice {
        slow_start::SlowStart,
        limited::Limited,
        hystart_plus_plus::HyStartPlusPlus in Box,
        packet_pair::PacketPair in Box,
        swift_start::SwiftStart,
        modified_swift_start::ModifiedSwiftStart in Box,
        quick_start::QuickStart,
        bbr_startup::BbrStartup,
        hoe::Hoe in Box,
    }
}

impl StartChoice {
    /// What it needs at the receiver.
    pub(crate) fn receiver(&self) -> ReceiverPart {
        match self {
            Self::PacketPair(parameters) => {
                ReceiverPart::PacketPair(Box::new(PacketPairReceiver::new(*parameters)))
            }
            Self::ModifiedSwiftStart(_) => ReceiverPart::SwiftStart(Box::default()),
            Self::QuickStart(_) => ReceiverPart::QuickStart(QuickStartReceiver),
            _ => ReceiverPart::Plain,
        }
    }
}

/// What a start is told. It hears of everything, also in congestion avoidance, because some of them watch on;
/// it changes the window only where it is given it to change.
pub trait StartPart {
    /// The connection begins; the window is the initial one.
    fn begin(&mut self, _setup: &Setup, _state: &mut WindowState) {}
    /// The option that the SYN carries. Asked for each SYN.
    fn option_for_syn(&mut self) -> Option<PeerOption> {
        None
    }
    /// The handshake is complete, and no data has left.
    fn on_established(&mut self, _event: &Established, _state: &mut WindowState) {}
    /// An acknowledgement advanced, in whatever phase; the window is still as it was before it.
    fn on_ack(&mut self, _event: &Acknowledged, _state: &WindowState) {}
    /// It is in charge of the window also where cwnd is not below ssthresh.
    fn holds_window(&self) -> bool {
        false
    }
    /// Grow the window on this acknowledgement; cwnd is below ssthresh, or the start holds the window, and no loss is
    /// under repair.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// An acknowledgement repeated.
    fn on_duplicate_ack(&mut self, _event: &DuplicateAck) {}
    /// A loss was detected, and the window algorithm has set the window for it. What is set here counts; cwnd stays at or
    /// below what it was before the loss.
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {}
    /// The receiver echoed a congestion mark. Nothing is to be repaired.
    fn on_ecn_echo(&mut self, _event: &EcnEcho) {}
    /// The connection starts again from one segment.
    fn on_timeout(&mut self, _event: &Timeout) {}
    /// A segment left.
    fn on_sent(&mut self, _event: &Sent) {}
    /// Spacing wanted now.
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
    /// Probe wanted for the next new data.
    fn probe(&self, _state: &WindowState) -> Option<Probe> {
        None
    }
    /// New data that may leave before the next acknowledgement, whatever the window.
    fn allowance(&self, _state: &WindowState) -> Bytes {
        Bytes::MAX
    }
    /// The option that the next segment of new data carries.
    fn option_for(&mut self, _part: ProbePart) -> Option<PeerOption> {
        None
    }
    /// It has a use for the delivery rates that acknowledgements measure. Most have none. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// A phase of its own that it is in, outside of slow start.
    fn phase(&self) -> Option<Phase> {
        None
    }
}

impl Start {
    /// It leaves the clock to the acknowledgements and the options to others: the usual case, for which the code below
    /// looks no further.
    #[inline]
    pub(crate) const fn only_grows(&self) -> bool {
        matches!(self, Self::SlowStart(_) | Self::Limited(_) | Self::HyStartPlusPlus(_))
    }
    #[inline(never)]
    fn own_on_ack(&mut self, event: &Acknowledged, state: &WindowState) {
        each!(self, part => part.on_ack(event, state))
    }
    #[inline(never)]
    fn own_grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, part => part.grow(event, state))
    }
    #[inline(never)]
    fn own_on_sent(&mut self, event: &Sent) {
        each!(self, part => part.on_sent(event))
    }
    #[inline(never)]
    fn own_pacing(&self, state: &WindowState) -> Option<Pacing> {
        each!(self, part => part.pacing(state))
    }
    #[inline(never)]
    fn own_probe(&self, state: &WindowState) -> Option<Probe> {
        each!(self, part => part.probe(state))
    }
    #[inline(never)]
    fn own_allowance(&self, state: &WindowState) -> Bytes {
        each!(self, part => part.allowance(state))
    }
    #[inline(never)]
    fn own_option_for(&mut self, probe_part: ProbePart) -> Option<PeerOption> {
        each!(self, part => part.option_for(probe_part))
    }
    #[inline(never)]
    fn own_hold(&self) -> bool {
        each!(self, part => part.holds_window())
    }
}

impl StartPart for Start {
    fn begin(&mut self, setup: &Setup, state: &mut WindowState) {
        each!(self, part => part.begin(setup, state))
    }
    fn option_for_syn(&mut self) -> Option<PeerOption> {
        each!(self, part => part.option_for_syn())
    }
    fn on_established(&mut self, event: &Established, state: &mut WindowState) {
        each!(self, part => part.on_established(event, state))
    }
    #[inline]
    fn holds_window(&self) -> bool {
        !self.only_grows() && self.own_hold()
    }
    #[inline]
    fn on_ack(&mut self, event: &Acknowledged, state: &WindowState) {
        if !matches!(self, Self::SlowStart(_) | Self::Limited(_)) {
            self.own_on_ack(event, state);
        }
    }
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self {
            Self::SlowStart(start) => start.grow(event, state),
            _ => self.own_grow(event, state),
        }
    }
    fn on_duplicate_ack(&mut self, event: &DuplicateAck) {
        each!(self, part => part.on_duplicate_ack(event))
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        each!(self, part => part.on_loss(event, state))
    }
    fn on_ecn_echo(&mut self, event: &EcnEcho) {
        each!(self, part => part.on_ecn_echo(event))
    }
    fn on_timeout(&mut self, event: &Timeout) {
        each!(self, part => part.on_timeout(event))
    }
    #[inline]
    fn on_sent(&mut self, event: &Sent) {
        if !self.only_grows() {
            self.own_on_sent(event);
        }
    }
    #[inline]
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        if self.only_grows() { None } else { self.own_pacing(state) }
    }
    #[inline]
    fn probe(&self, state: &WindowState) -> Option<Probe> {
        if self.only_grows() { None } else { self.own_probe(state) }
    }
    #[inline]
    fn allowance(&self, state: &WindowState) -> Bytes {
        if self.only_grows() { Bytes::MAX } else { self.own_allowance(state) }
    }
    #[inline]
    fn option_for(&mut self, probe_part: ProbePart) -> Option<PeerOption> {
        if self.only_grows() { None } else { self.own_option_for(probe_part) }
    }
    fn wants_rate_samples(&self) -> bool {
        each!(self, part => part.wants_rate_samples())
    }
    fn phase(&self) -> Option<Phase> {
        each!(self, part => part.phase())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::controller::tests::ack;
    use crate::event::RestartCause;
    use crate::units::Time;

    /// Tells a start of something.
    type Tell = fn(&mut dyn StartPart, &mut WindowState);

    /// A loss, a mark and a timeout.
    pub fn ends() -> [(&'static str, Tell); 3] {
        const NOW: Time = Time::ZERO;
        const FLIGHT: Bytes = Bytes(10_000);
        [
            ("loss", |start, state| start.on_loss(&LossDetected { now: NOW, flight_size: FLIGHT }, state)),
            ("mark", |start, _| start.on_ecn_echo(&EcnEcho { now: NOW, flight_size: FLIGHT })),
            ("timeout", |start, _| {
                let cause = RestartCause::TimerExpired;
                start.on_timeout(&Timeout { now: NOW, flight_size: FLIGHT, repeated: false, cause });
            }),
        ]
    }

    /// Nothing is left of what a start had to say: it is slow start as in RFC 5681, a segment for an acknowledgement.
    pub fn is_plain_slow_start(start: &mut dyn StartPart, state: &mut WindowState, after: &str) {
        let event = Acknowledged { size: Bytes(3 * state.mss.get()), ..ack(0) };
        start.on_ack(&event, state);
        assert!(!start.holds_window(), "after a {after}");
        assert_eq!(
            (start.pacing(state), start.probe(state), start.phase()),
            (None, None, None),
            "after a {after}"
        );
        let before = state.cwnd;
        start.grow(&event, state);
        assert_eq!(state.cwnd, before + 1.0, "after a {after}");
    }
}

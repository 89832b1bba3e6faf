//! Algorithms that own both the start and the window: a model of the path, or a rule of their own, says how much may
//! be in flight from the first segment to the last.
//!
//! A new algorithm is a file, declared below (rustfmt finds files by these declarations), and a line in the list.

pub mod bbr3;
pub mod prague;
pub mod xcp;

use crate::algorithms::algorithms;
use crate::controller::{Setup, WindowState};
use crate::custom::Reason;
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, Pacing, Phase, RecoveryEnded, Sent,
    Timeout,
};
use crate::option::PeerOption;

algorithms! {
    /// One of the models. An enum, not a trait object: the per-acknowledgement path has no dynamic dispatch.
    #[expect(clippy::large_enum_variant, reason = "a controller boxes the whole of it")]
    Model, chosen by ModelChoice {
        bbr3::Bbr3,
        prague::Prague,
        xcp::Xcp,
    }
}

/// What a model is told. It hears of everything and is alone in changing the window. What it sets is then held between
/// one segment and the largest window there can be, a loss never raises the window, and after a timeout it is one
/// segment.
pub trait ModelPart {
    /// The connection begins.
    fn begin(&mut self, _setup: &Setup, _state: &WindowState) {}
    /// It has a use for delivery rate samples.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// The handshake is complete, and no data has left. Without a handshake there is no such event.
    fn on_established(&mut self, _event: &Established, _state: &mut WindowState) {}
    /// An acknowledgement advanced.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// An acknowledgement repeated.
    fn on_duplicate_ack(&mut self, _event: &DuplicateAck, _state: &mut WindowState) {}
    /// A loss was detected.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The receiver echoed a congestion mark, for the first time in a window of data. Only a model of another crate is
    /// told; the built-in ones learn of marks from [`Acknowledged::marked`], which counts them.
    fn on_ecn_echo(&mut self, _event: &EcnEcho, _state: &mut WindowState) {}
    /// The connection starts again from one segment.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
    /// A repair is complete.
    fn on_recovery_ended(&mut self, _event: &RecoveryEnded, _state: &mut WindowState) {}
    /// A segment left.
    fn on_sent(&mut self, _event: &Sent, _state: &mut WindowState) {}
    /// The option that the next segment of new data carries.
    fn option_for(&mut self, _state: &WindowState) -> Option<PeerOption> {
        None
    }
    /// Spacing wanted now.
    fn pacing(&self, state: &WindowState) -> Option<Pacing>;
    /// For now it sets nothing but the window: no spacing, no options, and it ignores [`ModelPart::on_sent`]. The sender
    /// then takes its shortest path, and does not call these. Only a model of another crate is asked.
    fn sets_window_alone(&self) -> bool {
        false
    }
    /// A phase of its own that it is in.
    fn phase(&self) -> Option<Phase> {
        None
    }
    /// Why it cannot go on. Only a model of another crate is asked, after every event; the first answer ends the run.
    fn failure(&mut self) -> Option<Reason> {
        None
    }
}

impl ModelPart for Model {
    fn begin(&mut self, setup: &Setup, state: &WindowState) {
        each!(self, model => model.begin(setup, state))
    }
    fn wants_rate_samples(&self) -> bool {
        each!(self, model => model.wants_rate_samples())
    }
    #[inline]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, model => model.on_ack(event, state))
    }
    fn on_duplicate_ack(&mut self, event: &DuplicateAck, state: &mut WindowState) {
        each!(self, model => model.on_duplicate_ack(event, state))
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        each!(self, model => model.on_loss(event, state))
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        each!(self, model => model.on_timeout(event, state))
    }
    fn on_recovery_ended(&mut self, event: &RecoveryEnded, state: &mut WindowState) {
        each!(self, model => model.on_recovery_ended(event, state))
    }
    #[inline]
    fn on_sent(&mut self, event: &Sent, state: &mut WindowState) {
        each!(self, model => model.on_sent(event, state))
    }
    #[inline]
    fn option_for(&mut self, state: &WindowState) -> Option<PeerOption> {
        each!(self, model => model.option_for(state))
    }
    #[inline]
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        each!(self, model => model.pacing(state))
    }
    fn phase(&self) -> Option<Phase> {
        each!(self, model => model.phase())
    }
}

/// Full segments spaced so that their payload leaves at so many bytes per second; no spacing at rate zero.
#[inline]
pub(crate) fn paced_at(payload_rate: f64, state: &WindowState) -> Option<Pacing> {
    if payload_rate.is_nan() || payload_rate <= 0.0 {
        return None;
    }
    Some(Pacing::every(state.mss.get() as f64 / payload_rate, state.full_segment_on_wire()))
}

#[cfg(test)]
mod harness;

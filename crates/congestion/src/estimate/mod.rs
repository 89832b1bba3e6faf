//! What a path can carry, and what it does, estimated from what comes back.
//!
//! An estimator that can be chosen by name runs beside a start and a window algorithm, which find what it has measured in
//! [`crate::controller::WindowState::path`]. A new one is a file, declared below, and a line in the list.

pub mod ack_clock;
pub mod capacity;
pub mod icim;
pub mod imtcp;
pub mod pair_interval;
pub mod pairs;
pub mod round_trip;
pub mod search_range;
pub mod windowed_maximum;

use crate::algorithms::algorithms;
use crate::controller::WindowState;
use crate::event::{Acknowledged, Pacing, Sent};
use crate::units::{Bytes, Time};

algorithms! {
    /// One of the estimators. An enum, not a trait object: the per-acknowledgement path has no dynamic dispatch.
    #[expect(clippy::large_enum_variant, reason = "there is one per connection that measures, in a box")]
    Estimate, chosen by EstimateChoice {
        icim::Icim,
        imtcp::ImTcp,
        pairs::Pairs,
    }
}

/// What is known of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathEstimate {
    /// Available bandwidth A on the wire, bit/s: the capacity less what others use of it.
    pub available_bps: Option<f64>,
    /// Physical bandwidth K of the narrowest link, bit/s.
    pub capacity_bps: Option<f64>,
}

/// What an estimator is told.
pub trait EstimatePart {
    /// An acknowledgement advanced; before start and window algorithm hear of it.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A segment left.
    fn on_sent(&mut self, event: &Sent, state: &WindowState);
    /// A loss, a mark or a timeout: what is under way measures nothing any more.
    fn abandon(&mut self, now: Time);
    /// Payload of new data that may leave before the next acknowledgement.
    fn allowance(&self, state: &WindowState) -> Bytes;
    /// Spacing of what may leave.
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
}

impl EstimatePart for Estimate {
    #[inline]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, part => part.on_ack(event, state))
    }
    #[inline]
    fn on_sent(&mut self, event: &Sent, state: &WindowState) {
        each!(self, part => part.on_sent(event, state))
    }
    fn abandon(&mut self, now: Time) {
        each!(self, part => part.abandon(now))
    }
    #[inline]
    fn allowance(&self, state: &WindowState) -> Bytes {
        each!(self, part => part.allowance(state))
    }
    #[inline]
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        each!(self, part => part.pacing(state))
    }
}

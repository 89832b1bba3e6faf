//! Estimates of a path's capacity and available bandwidth from its ACKs.
//!
//! An estimator that can be chosen by name runs beside a start and a window algorithm, which read
//! its findings in [`crate::state::WindowState::path`]. A new one is a file, declared below, and a
//! line in the list.

pub mod ack_clock;
pub mod capacity;
pub mod icim;
pub mod imtcp;
pub mod pair_interval;
pub mod pairs;
pub mod round_trip;
pub mod search_range;
pub mod windowed_maximum;

use crate::decision::Pacing;
use crate::dispatch::algorithms;
use crate::event::{Acknowledged, Resumed, Sent, Stamped};
use crate::part::{EstimatePart, estimate_methods};
use crate::state::WindowState;
use crate::units::{Bytes, Time};

algorithms! {
    /// One of the estimators.
    #[expect(clippy::large_enum_variant, reason = "there is one per connection that measures, in a box")]
    Estimate, chosen by EstimateChoice {
        icim::Icim,
        imtcp::ImTcp,
        pairs::Pairs,
    }
}

impl EstimatePart for Estimate {
    estimate_methods! { each }
}

//! How the window grows and shrinks once slow start is over.
//!
//! A start grows the window while it is below ssthresh, the window algorithm above, so any start goes with any
//! window algorithm. Those that watch the delay (Vegas, FAST) have a say in slow start too: they can end it
//! ([`WindowPart::on_ack`]), and Vegas lets the start grow in every other round trip only
//! ([`WindowPart::holds_slow_start`]). How much an acknowledgement adds in slow start stays with the start.
//!
//! A new algorithm is a file, declared below (rustfmt finds files by these declarations), and a line in the list.

pub mod reno;

use crate::algorithms::algorithms;
use crate::controller::WindowState;
use crate::event::{Acknowledged, LossDetected, Timeout};

algorithms! {
    /// One of the window algorithms. An enum, not a trait object: the per-acknowledgement path has no dynamic
    /// dispatch.
    Window, chosen by WindowChoice {
        reno::Reno,
    }
}

/// What a window algorithm is told.
pub trait WindowPart {
    /// An acknowledgement advanced, in whatever phase; called before any growth. Most algorithms have no use for
    /// it.
    #[inline]
    fn on_ack(&mut self, _event: &Acknowledged, _state: &mut WindowState) {}
    /// The start is not to grow the window now, although cwnd is below ssthresh.
    #[inline]
    fn holds_slow_start(&self) -> bool {
        false
    }
    /// Grow on this acknowledgement; cwnd is at or above ssthresh and no loss is under repair.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A loss was detected: set ssthresh, and cwnd for the time of the repair and after.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The connection starts again from one segment: set ssthresh.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
}

impl WindowPart for Window {
    #[inline]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, part => part.on_ack(event, state))
    }
    #[inline]
    fn holds_slow_start(&self) -> bool {
        each!(self, part => part.holds_slow_start())
    }
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, part => part.grow(event, state))
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        each!(self, part => part.on_loss(event, state))
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        each!(self, part => part.on_timeout(event, state))
    }
}

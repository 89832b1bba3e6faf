//! How the window grows and shrinks once slow start is over.

pub mod reno;

use crate::controller::WindowState;
use crate::event::{Acknowledged, LossDetected, Timeout};
use reno::Reno;

/// One of the window algorithms. An enum, not a trait object: the per-acknowledgement path has no dynamic dispatch.
#[derive(Clone, Debug)]
pub enum Window {
    /// Reno, RFC 5681.
    Reno(Reno),
}

/// What a window algorithm is told.
pub trait WindowPart {
    /// Grow on this acknowledgement; cwnd is at or above ssthresh and no loss is under repair.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A loss was detected: set ssthresh, and cwnd for the time of the repair and after.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The connection starts again from one segment: set ssthresh.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
}

macro_rules! each {
    ($window:expr, $part:ident => $call:expr) => {
        match $window {
            Window::Reno($part) => $call,
        }
    };
}

impl WindowPart for Window {
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

//! Why an algorithm of another crate could not continue.

#[cfg(not(target_has_atomic = "ptr"))]
pub(crate) use alloc::rc::Rc as Shared;
#[cfg(target_has_atomic = "ptr")]
pub(crate) use alloc::sync::Arc as Shared;
use core::error::Error;
use core::fmt;

use crate::units::Time;

/// Why an algorithm could not continue.
#[derive(Clone, Debug)]
pub struct Failure {
    /// At which event.
    pub now: Time,
    /// Why.
    pub reason: Reason,
}

/// The error that made an algorithm give up.
pub type Reason = Shared<dyn Error + Send + Sync>;

/// An invalid window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidWindow {
    /// cwnd has this value: negative, or not a number.
    Cwnd(f64),
    /// ssthresh has this value: negative, or not a number.
    Ssthresh(f64),
}

impl fmt::Display for InvalidWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value) = match self {
            Self::Cwnd(value) => ("cwnd", value),
            Self::Ssthresh(value) => ("ssthresh", value),
        };
        write!(f, "{name} was set to {value}: it is a number of segments from 0")
    }
}

impl Error for InvalidWindow {}

//! The monotonic clock as simulated time.

use selfclock_congestion::units::{Duration, Time};
use std::time::Instant;

/// Time since an emulation began, in whole nanoseconds, the resolution of the system's clock. A
/// record that stores seconds as 64-bit floating point restores it exactly for three months.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that starts now.
    #[allow(clippy::disallowed_methods, reason = "real packets come at the time of a clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Now.
    #[allow(clippy::disallowed_methods, reason = "real packets come at the time of a clock")]
    pub fn now(&self) -> Time {
        let nanoseconds = Instant::now().duration_since(self.0).as_nanos() as u64;
        Time::ZERO + Duration::from_picoseconds(nanoseconds * 1_000)
    }
}

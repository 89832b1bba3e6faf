//! The clock of a stack.

use std::time::Instant;

use selfclock_congestion::Time;

/// Converts instants to times since the start of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that starts now.
    pub const fn starting(now: Instant) -> Self {
        Self(now)
    }

    /// Times before the start are clamped to it.
    pub fn time(&self, instant: Instant) -> Time {
        Time::ZERO + instant.saturating_duration_since(self.0).into()
    }
}

//! Conversion between simulated time and the stacks' `Instant`.

use selfclock_congestion::units::Time;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// Time zero of every run. An `Instant` can only come from the clock; the stacks use differences
/// only.
#[allow(clippy::disallowed_methods, reason = "the time itself is never looked at")]
static BASE: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Rounds down to nanoseconds, the resolution of an `Instant`.
pub fn instant(time: Time) -> Instant {
    *BASE + Duration::from_nanos(time.picoseconds() / PICOSECONDS_PER_NANOSECOND)
}

/// The exact time of an instant of a run.
pub fn time(instant: Instant) -> Time {
    let nanoseconds = instant.saturating_duration_since(*BASE).as_nanos() as u64;
    Time::from_picoseconds(nanoseconds.saturating_mul(PICOSECONDS_PER_NANOSECOND))
}

/// Converts to the simulator's duration.
pub fn duration(span: Duration) -> selfclock_congestion::units::Duration {
    let nanoseconds = span.as_nanos() as u64;
    selfclock_congestion::units::Duration::from_picoseconds(
        nanoseconds.saturating_mul(PICOSECONDS_PER_NANOSECOND),
    )
}

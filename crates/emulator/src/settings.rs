//! Settings of an emulation.

use crate::lateness::Bound;
use selfclock_congestion::units::Duration;

/// Settings of an emulation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections between two hosts that queues and routers distinguish at a time.
    pub flows_per_path: u32,
    /// Duration; `None` to run until stopped.
    pub duration: Option<Duration>,
    /// Record every packet event.
    pub record: bool,
    /// Bounds on the lateness of a valid run.
    pub bound: Bound,
}

impl Default for Settings {
    fn default() -> Self {
        Self { flows_per_path: 256, duration: None, record: false, bound: Bound::default() }
    }
}

//! How a scenario is emulated.

use crate::lateness::Bound;
use selfclock_congestion::units::Duration;

/// Settings of an emulation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections between two hosts that queues and routers tell apart at one time.
    pub flows_per_path: u32,
    /// It ends after this time; `None`: when it is told to.
    pub duration: Option<Duration>,
    /// Record every packet event.
    pub record: bool,
    /// Lateness up to which a run is valid.
    pub bound: Bound,
}

impl Default for Settings {
    fn default() -> Self {
        Self { flows_per_path: 256, duration: None, record: false, bound: Bound::default() }
    }
}

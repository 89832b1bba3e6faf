//! Window reductions shared by several algorithms.

use crate::choice;
use crate::event::Timeout;
use crate::state::WindowState;

choice! {
    /// Reduction for a loss in slow start, and for an RTO, after which there is slow start.
    SlowStartLoss {
        /// As much as any loss of a window of this size.
        Usual = "usual",
        /// Half of the window, as in ns-2.
        Half = "half",
        /// Half of the window, and so does the first loss of the connection, wherever it comes:
        /// ns-2.
        HalfAndFirst = "half-and-first",
    }
}

impl SlowStartLoss {
    /// Whether a loss takes half, given slow start and an earlier loss.
    pub fn halves(self, in_slow_start: bool, lost_before: bool) -> bool {
        match self {
            Self::Usual => false,
            Self::Half => in_slow_start,
            Self::HalfAndFirst => in_slow_start || !lost_before,
        }
    }
}

/// ssthresh after a timeout, where a loss leaves `kept` of the window.
pub fn time_out_to(kept: f64, slow_start_loss: SlowStartLoss, event: &Timeout, state: &mut WindowState) {
    if !event.repeated {
        let left = match slow_start_loss {
            SlowStartLoss::Usual => kept,
            SlowStartLoss::Half | SlowStartLoss::HalfAndFirst => state.window_in_use() / 2.0,
        };
        state.ssthresh = left.max(2.0);
    }
}

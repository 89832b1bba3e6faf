//! Losses by the number of segments delivered, which the kernel does not store per segment.

/// Stored reports. Only reports with a new loss are stored; when more arrive, the oldest is
/// dropped, and segments sent before it see fewer losses.
const REPORTS: usize = 64;

/// Segments marked lost, at every report. A stock kernel does not store with a segment how many had
/// been lost when it left; this history yields the number at the last report before it.
#[derive(Clone, Debug)]
pub struct LossHistory {
    /// (delivered, lost) at the reports that brought a loss, as a circular buffer.
    reports: [(u32, u32); REPORTS],
    /// Reports so far.
    count: u32,
}

impl Default for LossHistory {
    fn default() -> Self {
        Self { reports: [(0, 0); REPORTS], count: 0 }
    }
}

/// Whether `a` is not after `b`, modulo 2^32.
const fn not_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) <= 0
}

impl LossHistory {
    const fn report(&self, number: u32) -> (u32, u32) {
        self.reports[number as usize % REPORTS]
    }

    /// Segments lost since the sending of a segment that left when `prior_delivered` had been
    /// delivered. `delivered` and `lost` are the current counts.
    pub fn lost_since(&mut self, prior_delivered: u32, delivered: u32, lost: u32) -> u32 {
        let oldest = self.count.saturating_sub(REPORTS as u32);
        // The last report not after the sending, or the oldest, by bisection in a fixed number of
        // steps, which the verifier can bound.
        let (mut low, mut high) = (oldest, self.count);
        for _ in 0..=REPORTS.ilog2() {
            let middle = low + (high - low) / 2;
            if middle > low && not_after(self.report(middle).0, prior_delivered) {
                low = middle;
            } else if middle > low {
                high = middle;
            }
        }
        let then = if self.count == 0 { lost } else { self.report(low).1 };
        if self.count == 0 || self.report(self.count - 1).1 != lost {
            self.reports[self.count as usize % REPORTS] = (delivered, lost);
            self.count += 1;
        }
        lost.wrapping_sub(then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lost since sending, by hand: 3 segments were lost between the reports at 10 and 20
    /// delivered, one more at 30.
    #[test]
    fn losses_since_a_segment_left() {
        let mut history = LossHistory::default();
        assert_eq!(history.lost_since(0, 10, 0), 0);
        assert_eq!(history.lost_since(0, 20, 3), 3);
        assert_eq!(history.lost_since(10, 30, 4), 4);
        // It left after the report at 20, when 3 had been lost.
        assert_eq!(history.lost_since(20, 40, 4), 1);
        assert_eq!(history.lost_since(30, 50, 4), 0);
        assert_eq!(history.count, 3, "reports that brought a loss");
    }

    /// The counters of the kernel wrap.
    #[test]
    fn counters_wrap() {
        let mut history = LossHistory::default();
        history.lost_since(u32::MAX - 1, u32::MAX, u32::MAX);
        assert_eq!(history.lost_since(u32::MAX, 5, 1), 2);
        assert_eq!(history.lost_since(5, 9, 1), 0);
    }
}

//! Losses by the number of segments delivered: what the kernel does not keep for each segment that it sends.

use std::collections::VecDeque;

/// Segments marked lost, at every report. A stock kernel does not note with a segment how many had been lost when it left;
/// here is what was lost at the last report before it.
#[derive(Clone, Debug, Default)]
pub struct LossHistory {
    /// (delivered, lost) at the reports that a segment in flight may have followed.
    reports: VecDeque<(u32, u32)>,
}

/// `a` is not after `b`, both counted modulo 2^32.
const fn not_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) <= 0
}

impl LossHistory {
    /// Segments lost since the sending of a segment that left when `prior_delivered` had been delivered. `delivered` and `lost`
    /// are the numbers now.
    pub fn lost_since(&mut self, prior_delivered: u32, delivered: u32, lost: u32) -> u32 {
        while self.reports.get(1).is_some_and(|next| not_after(next.0, prior_delivered)) {
            self.reports.pop_front();
        }
        let then = self.reports.front().map_or(lost, |report| report.1);
        self.reports.push_back((delivered, lost));
        lost.wrapping_sub(then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lost since sending, by hand: 3 segments were lost between the reports at 10 and 20 delivered, one more at 30.
    #[test]
    fn losses_since_a_segment_left() {
        let mut history = LossHistory::default();
        assert_eq!(history.lost_since(0, 10, 0), 0);
        assert_eq!(history.lost_since(0, 20, 3), 3);
        assert_eq!(history.lost_since(10, 30, 4), 4);
        // It left after the report at 20, when 3 had been lost.
        assert_eq!(history.lost_since(20, 40, 4), 1);
        assert_eq!(history.lost_since(30, 50, 4), 0);
        assert!(history.reports.len() <= 3);
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

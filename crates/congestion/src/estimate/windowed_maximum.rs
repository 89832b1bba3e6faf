//! The maximum of recent samples.

/// A windowed maximum in constant space, by Kathleen Nichols' algorithm (Linux, lib/win_minmax.c):
/// the best sample and the best two of those after it. Time is any non-decreasing counter. The
/// maximum of no samples is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMaximum([(u64, f64); 3]);

impl WindowedMaximum {
    /// Adds a sample; returns the maximum over the last `window`.
    pub fn update(&mut self, now: u64, window: u64, value: f64) -> f64 {
        let sample = (now, value);
        let [first, second, third] = &mut self.0;
        if value >= first.1 || now.saturating_sub(third.0) > window {
            // A new best, or an expired window.
            self.0 = [sample; 3];
            return value;
        }
        if value >= second.1 {
            (*second, *third) = (sample, sample);
        } else if value >= third.1 {
            *third = sample;
        }
        let age = now.saturating_sub(first.0);
        if age > window {
            // The best has expired: the second takes its place, and the third the second's.
            (*first, *second, *third) = (*second, *third, sample);
            if now.saturating_sub(first.0) > window {
                (*first, *second, *third) = (*second, *third, sample);
            }
        } else if second.0 == first.0 && age > window / 4 {
            // A quarter of the window without a second best: take one from the second quarter.
            (*second, *third) = (sample, sample);
        } else if third.0 == second.0 && age > window / 2 {
            // Half of the window without a third: take one from the last half.
            *third = sample;
        }
        self.0[0].1
    }

    /// The maximum as of the last sample.
    pub const fn get(&self) -> f64 {
        self.0[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Never below the maximum of the second half of the window, never above that of the whole
    /// window.
    #[test]
    fn against_a_plain_maximum() {
        let mut filter = WindowedMaximum::default();
        let mut random = Random::new(7);
        let mut samples: Vec<f64> = Vec::new();
        for now in 0..5000_usize {
            let value = random.uniform() + if now % 97 == 0 { 1.0 } else { 0.0 };
            samples.push(value);
            let maximum = filter.update(now as u64, 10, value);
            let over =
                |span: usize| samples[now.saturating_sub(span)..].iter().fold(0.0, |a: f64, b| a.max(*b));
            assert!(maximum <= over(11), "at {now}: {maximum} above {}", over(11));
            assert!(maximum >= over(2), "at {now}: {maximum} below {}", over(2));
        }
    }

    #[test]
    fn an_old_maximum_is_forgotten() {
        let mut filter = WindowedMaximum::default();
        filter.update(0, 10, 5.0);
        for now in 1..=10 {
            assert_eq!(filter.update(now, 10, 1.0), 5.0);
        }
        assert_eq!(filter.update(11, 10, 1.0), 1.0);
    }

    /// The three best by hand, window 8: the best, the best after it, the best after that.
    #[test]
    fn the_next_best_take_over() {
        let mut filter = WindowedMaximum::default();
        let expected: [(u64, f64, f64, [f64; 3]); 10] = [
            (0, 9.0, 9.0, [9.0, 9.0, 9.0]),
            // All three are equal for the first quarter of the window, and the third equals the
            // second for the first half.
            (2, 5.0, 9.0, [9.0, 9.0, 9.0]),
            (3, 7.0, 9.0, [9.0, 7.0, 7.0]),
            (4, 6.0, 9.0, [9.0, 7.0, 7.0]),
            (5, 6.5, 9.0, [9.0, 7.0, 6.5]),
            (8, 1.0, 9.0, [9.0, 7.0, 6.5]),
            // The best is more than 8 old.
            (9, 2.0, 7.0, [7.0, 6.5, 2.0]),
            (12, 1.0, 6.5, [6.5, 2.0, 1.0]),
            (13, 2.0, 6.5, [6.5, 2.0, 2.0]),
            (14, 8.0, 8.0, [8.0, 8.0, 8.0]),
        ];
        for (now, sample, maximum, three) in expected {
            assert_eq!(filter.update(now, 8, sample), maximum, "at {now}");
            assert_eq!(filter.get(), maximum);
            assert_eq!(filter.0.map(|(_, value)| value), three, "at {now}");
        }
        // Two can expire together, and all three.
        let mut filter = WindowedMaximum::default();
        for (now, sample) in [(0, 9.0), (3, 8.0), (5, 7.0)] {
            filter.update(now, 8, sample);
        }
        assert_eq!(filter.update(12, 8, 1.0), 7.0);
        assert_eq!(filter.update(13, 8, 0.5), 7.0);
        assert_eq!(filter.update(14, 8, 0.5), 1.0);
        assert_eq!(filter.update(100, 8, 0.1), 0.1);
    }

    /// "A quarter of the window without a second best: take one from the second quarter", and from
    /// the last half the third.
    #[test]
    fn later_ones_stand_in() {
        let mut filter = WindowedMaximum::default();
        filter.update(0, 8, 9.0);
        filter.update(2, 8, 3.0);
        assert_eq!(filter.0[1].0, 0, "a quarter is not over");
        filter.update(3, 8, 2.0);
        assert_eq!(filter.0, [(0, 9.0), (3, 2.0), (3, 2.0)]);
        filter.update(4, 8, 1.0);
        assert_eq!(filter.0[2].0, 3, "a half is not over");
        filter.update(5, 8, 1.0);
        assert_eq!(filter.0, [(0, 9.0), (3, 2.0), (5, 1.0)]);
    }
}

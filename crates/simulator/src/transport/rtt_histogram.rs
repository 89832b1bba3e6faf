//! Distribution of round-trip samples in bins of constant relative width.

use crate::engine::memory::prefetch;
use selfclock_congestion::units::{Duration, PICOSECONDS_PER_SECOND};

/// Bins per doubling: each 1/64 of its octave wide, so a quantile is within 0.8 %.
const BINS_PER_OCTAVE_LOG2: u32 = 6;

/// A histogram that holds only the range of bins that occur: a few hundred bytes for a path,
/// nothing when empty.
#[derive(Clone, Debug, Default)]
pub struct RttHistogram {
    first_bin: usize,
    counts: Vec<u32>,
    total: u64,
    sum: Sum,
}

/// A sum of times, ps. Aligned as a u64: every sender has one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed(8))]
struct Sum(u128);

fn bin(picoseconds: u64) -> usize {
    let value = picoseconds.max(1 << BINS_PER_OCTAVE_LOG2);
    let octave = value.ilog2();
    let within = (value >> (octave - BINS_PER_OCTAVE_LOG2)) as usize & ((1 << BINS_PER_OCTAVE_LOG2) - 1);
    (octave as usize) << BINS_PER_OCTAVE_LOG2 | within
}

fn middle_of(bin: usize) -> f64 {
    let octave = (bin >> BINS_PER_OCTAVE_LOG2) as u32;
    let within = bin & ((1 << BINS_PER_OCTAVE_LOG2) - 1);
    let width = (1_u64 << (octave - BINS_PER_OCTAVE_LOG2)) as f64;
    ((1_u64 << BINS_PER_OCTAVE_LOG2) as f64 + within as f64 + 0.5) * width
}

fn low_end_of(bin: usize) -> f64 {
    let octave = (bin >> BINS_PER_OCTAVE_LOG2) as u32;
    let within = bin & ((1 << BINS_PER_OCTAVE_LOG2) - 1);
    let width = (1_u64 << (octave - BINS_PER_OCTAVE_LOG2)) as f64;
    ((1_u64 << BINS_PER_OCTAVE_LOG2) as f64 + within as f64) * width
}

impl RttHistogram {
    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, sample: Duration) {
        let bin = bin(sample.picoseconds());
        self.total += 1;
        self.sum.0 += u128::from(sample.picoseconds());
        match bin.checked_sub(self.first_bin).and_then(|index| self.counts.get_mut(index)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.add_outside(bin),
        }
    }

    /// Prefetches the counts, few of which an unchanging path uses.
    #[inline(always)]
    pub fn prefetch(&self) {
        if let Some(count) = self.counts.last() {
            prefetch::<0, 4, u32>(count);
        }
    }

    #[cold]
    fn add_outside(&mut self, bin: usize) {
        self.make_room_for(bin);
        self.counts[bin - self.first_bin] += 1;
    }

    fn make_room_for(&mut self, bin: usize) {
        if self.counts.is_empty() {
            self.first_bin = bin;
        }
        if bin < self.first_bin {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first_bin - bin));
            self.first_bin = bin;
        }
        let index = bin - self.first_bin;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
    }

    /// Adds the samples of another.
    pub fn merge(&mut self, other: &Self) {
        self.total += other.total;
        self.sum.0 += other.sum.0;
        for (index, &count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let bin = other.first_bin + index;
            if bin < self.first_bin || bin - self.first_bin >= self.counts.len() {
                self.make_room_for(bin);
            }
            let sum = &mut self.counts[bin - self.first_bin];
            *sum = sum.saturating_add(count);
        }
    }

    /// Mean of the samples, s.
    pub fn mean_seconds(&self) -> Option<f64> {
        (self.total > 0).then(|| { self.sum.0 } as f64 / self.total as f64 / PICOSECONDS_PER_SECOND as f64)
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.total
    }

    /// The same as [`Self::quantile_seconds`], as if the samples of a bin were spread evenly over
    /// it: closer where many samples lie; 0 without any.
    pub fn interpolated_seconds(&self, fraction: f64) -> f64 {
        let wanted = fraction * self.total as f64;
        let mut below = 0.0;
        for (index, &count) in self.counts.iter().enumerate() {
            let count = f64::from(count);
            if count > 0.0 && below + count >= wanted {
                let bin = self.first_bin + index;
                let half = middle_of(bin) - low_end_of(bin);
                let value = low_end_of(bin) + 2.0 * half * ((wanted - below) / count).clamp(0.0, 1.0);
                return value / PICOSECONDS_PER_SECOND as f64;
            }
            below += count;
        }
        0.0
    }

    /// The value below which this fraction of the samples lies, s; within 0.8 %.
    pub fn quantile_seconds(&self, fraction: f64) -> Option<f64> {
        let wanted = (fraction * self.total as f64) as u64;
        let mut below = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            below += u64::from(count);
            if below > wanted {
                return Some(middle_of(self.first_bin + index) / PICOSECONDS_PER_SECOND as f64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_within_one_per_cent(mut samples in proptest::collection::vec(1_000_u64..10_000_000_000_000, 1..300)) {
            let mut histogram = RttHistogram::default();
            for &sample in &samples {
                histogram.add(Duration::from_picoseconds(sample));
            }
            samples.sort_unstable();
            let exact = samples[(0.95 * samples.len() as f64) as usize] as f64 / 1e12;
            let found = histogram.quantile_seconds(0.95).expect("samples");
            prop_assert!((found / exact - 1.0).abs() < 0.01, "{} {}", found, exact);
        }
    }

    #[test]
    fn merged_is_as_if_all_had_been_added_to_one() {
        let (mut all, mut merged, mut other) =
            (RttHistogram::default(), RttHistogram::default(), RttHistogram::default());
        for milliseconds in [300, 20, 21, 5, 900, 21] {
            let sample = Duration::from_milliseconds(milliseconds);
            all.add(sample);
            if milliseconds % 2 == 0 { merged.add(sample) } else { other.add(sample) }
        }
        merged.merge(&other);
        merged.merge(&RttHistogram::default());
        assert_eq!(format!("{merged:?}"), format!("{all:?}"));
    }

    #[test]
    fn empty_has_none() {
        assert_eq!(RttHistogram::default().quantile_seconds(0.5), None);
        assert_eq!(RttHistogram::default().mean_seconds(), None);
    }
}

//! Distribution of durations, in buckets of 1/16 octave: quantiles are at most 6 % too high.

const PARTS: u64 = 16;

/// Durations, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; 64 * PARTS as usize], total: 0 }
    }
}

const fn bucket(span: u64) -> usize {
    if span < PARTS {
        return span as usize;
    }
    let octave = span.ilog2() as u64;
    ((octave - 3) * PARTS + ((span >> (octave - 4)) - PARTS)) as usize
}

/// Upper end of a bucket.
const fn upper(bucket: u64) -> u64 {
    if bucket < PARTS {
        return bucket;
    }
    let (octave, part) = (bucket / PARTS + 3, bucket % PARTS);
    ((PARTS + part + 1) << (octave - 4)) - 1
}

impl Histogram {
    /// Counts one more.
    pub fn add(&mut self, span: u64) {
        self.counts[bucket(span)] += 1;
        self.total += 1;
    }

    /// Number of samples.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The duration that this fraction of the samples does not exceed; `None` without samples.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let rank = (self.total as f64 * part).ceil().max(1.0) as u64;
        let mut below = 0;
        let place = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        Some(upper(place as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1 to 1000 ns the median is 500, within a bucket.
    #[test]
    fn quantiles() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=1000).for_each(|span| histogram.add(span));
        for (part, exact) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = histogram.quantile(part).expect("not empty") as f64;
            assert!((exact..=exact * 1.0625).contains(&found), "{part}: {found}");
        }
        assert_eq!(histogram.total(), 1000);
    }

    /// Buckets follow one another without a gap, up to the longest span.
    #[test]
    fn every_span_has_a_bucket() {
        for span in (0..10_000).chain([u64::MAX / 3, u64::MAX - 1, u64::MAX]) {
            let own = bucket(span);
            assert!(own < 64 * PARTS as usize && (own == 0 || upper(own as u64 - 1) < span), "{span}");
            assert!(own + 1 >= 60 * PARTS as usize || span <= upper(own as u64), "{span}");
        }
    }
}

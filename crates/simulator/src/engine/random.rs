//! Random numbers: one stream per consumer.
//!
//! Every consumer (a link's loss, a link's jitter, a flow) has its own stream, named by purpose and
//! index. Adding a flow or a link does not change the draws of another.

use rand::Rng;
use rand_pcg::Pcg64;
use selfclock_congestion::units::Duration;

/// Purpose of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Random loss on a link.
    LinkLoss = 1,
    /// Jitter of a link.
    LinkJitter = 2,
    /// Start time of a flow.
    FlowStart = 3,
    /// Packet times of a flow.
    FlowArrivals = 4,
    /// Draws of a flow's congestion control.
    FlowControl = 5,
    /// Sizes of the short connections of a flow.
    ConnectionSize = 6,
    /// Packet sizes of a flow.
    PacketSize = 7,
    /// Draws of a link's queue discipline.
    LinkQueue = 16,
    /// Draws of a router mechanism.
    Router = 17,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of a run with this seed for this purpose and index.
    pub fn new(seed: u64, purpose: Purpose, index: usize) -> Self {
        // The generator's own stream number separates the sequences; the seed only selects the
        // position in them.
        let stream = (purpose as u128) << 64 | index as u128;
        Self(Pcg64::new(u128::from(seed), stream))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * SCALE
    }

    /// True with this probability.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Uniform in [0, `limit`).
    #[inline]
    pub fn duration_below(&mut self, limit: Duration) -> Duration {
        Duration::from_picoseconds((self.uniform() * limit.picoseconds() as f64) as u64)
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        // 1 − u is in (0, 1], so the logarithm is finite.
        let factor = -libm::log(1.0 - self.uniform());
        Duration::from_picoseconds((factor * mean.picoseconds() as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_purpose_index_and_seed() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).uniform();
        let reference = first(1, Purpose::LinkLoss, 0);
        assert_eq!(reference, first(1, Purpose::LinkLoss, 0));
        assert_ne!(reference, first(2, Purpose::LinkLoss, 0));
        assert_ne!(reference, first(1, Purpose::LinkJitter, 0));
        assert_ne!(reference, first(1, Purpose::LinkLoss, 1));
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated_and_uniform() {
        const DRAWS: usize = 100_000;
        let mut a = Stream::new(1, Purpose::FlowArrivals, 0);
        let mut b = Stream::new(1, Purpose::FlowArrivals, 1);
        let (mut sum, mut product) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let (x, y) = (a.uniform(), b.uniform());
            sum += x;
            product += (x - 0.5) * (y - 0.5);
        }
        // Standard errors: 0.289/sqrt(n) = 9.1e-4 and (1/12)/sqrt(n) = 2.6e-4; five of them.
        assert!((sum / DRAWS as f64 - 0.5).abs() < 4.6e-3);
        assert!((product / DRAWS as f64).abs() < 1.3e-3);
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut stream = Stream::new(3, Purpose::FlowArrivals, 0);
        let mean = Duration::from_milliseconds(10);
        let total: f64 = (0..100_000).map(|_| stream.exponential(mean).seconds()).sum();
        // Standard error mean/sqrt(n) = 0.32 %; four of them.
        assert!((total / 100_000.0 / 0.010 - 1.0).abs() < 0.013);
    }
}

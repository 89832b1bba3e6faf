//! Sizes of short connections.

use crate::engine::Stream;
use crate::plan::SizeDistribution;

impl SizeDistribution {
    /// Mean, bytes.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant(size) => size.get() as f64,
            Self::Exponential { mean } | Self::Lognormal { mean, .. } => mean.get() as f64,
            Self::Pareto { minimum, maximum, shape } => {
                let (low, high) = (minimum.get() as f64, maximum.get() as f64);
                if low == high {
                    return low;
                }
                // The integral of x over the density α L^α x^(-α-1) / (1 - (L/H)^α), which at α = 1
                // is a logarithm.
                let kept = 1.0 - libm::pow(low / high, shape);
                if shape == 1.0 {
                    return low * libm::log(high / low) / kept;
                }
                shape * low / (shape - 1.0) * (1.0 - libm::pow(low / high, shape - 1.0)) / kept
            }
        }
    }

    /// A size, bytes, rounded to the nearest, at least 1.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let size = match *self {
            Self::Constant(size) => return size.get(),
            // 1 − u is in (0, 1], so the logarithm is finite.
            Self::Exponential { mean } => -libm::log(1.0 - stream.uniform()) * mean.get() as f64,
            Self::Pareto { minimum, maximum, shape } => {
                let (low, high) = (minimum.get() as f64, maximum.get() as f64);
                let cut = stream.uniform() * (1.0 - libm::pow(low / high, shape));
                low * libm::pow(1.0 - cut, -1.0 / shape)
            }
            Self::Lognormal { mean, sigma } => {
                // Box and Muller. The mean of exp(sigma z) is exp(sigma²/2).
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.uniform()));
                let normal = radius * libm::cos(std::f64::consts::TAU * stream.uniform());
                mean.get() as f64 * libm::exp(sigma * (normal - sigma / 2.0))
            }
        };
        (size + 0.5).max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::Purpose;
    use selfclock_congestion::units::Bytes;

    const DRAWS: usize = 200_000;

    fn draws(distribution: SizeDistribution) -> Vec<u64> {
        let mut stream = Stream::new(5, Purpose::ConnectionSize, 0);
        (0..DRAWS).map(|_| distribution.draw(&mut stream)).collect()
    }

    /// The mean of 200,000 draws within four standard errors of the closed form, and the fraction
    /// above some sizes within four of the distribution function.
    fn check(distribution: SizeDistribution, deviation: f64, above: &[(f64, f64)]) {
        let draws = draws(distribution);
        let mean = draws.iter().sum::<u64>() as f64 / DRAWS as f64;
        let error = 4.0 * deviation / (DRAWS as f64).sqrt();
        assert!((mean - distribution.mean()).abs() < error + 1.0, "{distribution:?}: {mean}");
        for &(size, expected) in above {
            let found = draws.iter().filter(|&&draw| draw as f64 > size).count() as f64 / DRAWS as f64;
            let error = 4.0 * (expected * (1.0 - expected) / DRAWS as f64).sqrt();
            assert!((found - expected).abs() < error + 1e-4, "{distribution:?} above {size}: {found}");
        }
    }

    #[test]
    fn means_and_tails_are_those_of_the_distributions() {
        check(SizeDistribution::Constant(Bytes(12_345)), 0.0, &[]);
        let exponential = SizeDistribution::Exponential { mean: Bytes(30_000) };
        check(exponential, 30_000.0, &[(30_000.0, libm::exp(-1.0)), (90_000.0, libm::exp(-3.0))]);
        // The standard deviation of exp(N(m, 1)) is its mean times √(e − 1); half of it lies above
        // mean / √e.
        let lognormal = SizeDistribution::Lognormal { mean: Bytes(30_000), sigma: 1.0 };
        check(lognormal, 39_320.0, &[(30_000.0 / libm::exp(0.5), 0.5)]);
    }

    #[test]
    fn pareto_is_bounded() {
        for shape in [1.0, 1.2, 2.5] {
            let (low, high) = (4_000.0_f64, 1e6_f64);
            let distribution =
                SizeDistribution::Pareto { minimum: Bytes(low as u64), maximum: Bytes(high as u64), shape };
            let kept = 1.0 - libm::pow(low / high, shape);
            let above = |size: f64| (libm::pow(low / size, shape) - libm::pow(low / high, shape)) / kept;
            // No deviation exceeds that of all at the two ends with this mean: √((m − L)(H − m)).
            let mean = distribution.mean();
            let deviation = ((mean - low) * (high - mean)).sqrt();
            check(distribution, deviation, &[(8e3, above(8e3)), (1e5, above(1e5))]);
            let all = draws(distribution);
            assert!(all.iter().all(|&size| (4_000..=1_000_000).contains(&size)));
        }
    }
}

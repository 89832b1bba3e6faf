//! Random numbers for algorithms, from the connection's seed.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): eight bytes of state, and one call is three
/// multiplications.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits() >> 11) as f64 * SCALE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_and_repeatable() {
        let mut random = Random::new(1);
        let numbers: Vec<f64> = (0..100_000).map(|_| random.uniform()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        // The standard deviation of the mean is 1/sqrt(12·100000) = 0.0009.
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mut again = Random::new(1);
        assert!(numbers.iter().all(|number| *number == again.uniform()));
    }

    /// The first numbers of the reference implementation (splitmix64.c of Sebastiano Vigna) from
    /// the seed 1234567.
    #[test]
    fn the_published_sequence() {
        let mut random = Random::new(1_234_567);
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(published.map(|_| random.bits()), published);
        // 53 bits of the first.
        assert_eq!(
            Random::new(1_234_567).uniform(),
            (6_457_827_717_110_365_317_u64 >> 11) as f64 / (1_u64 << 53) as f64
        );
    }
}

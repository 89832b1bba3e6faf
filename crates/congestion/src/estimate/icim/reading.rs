//! Interprets the spacings of a measurement's bursts: which grew, and the line through those.

use crate::choice;
use crate::estimate::capacity::FASTEST;

choice! {
    /// Which bursts must have grown.
    Verdict {
        /// The first that grew and every later one.
        Strict = "strict",
        /// The first that grew.
        First = "first",
    }
}

choice! {
    /// Definition of a measurement's result.
    Reading {
        /// The rate of the first burst whose spacing grew.
        Edge = "edge",
        /// The rate at which spacings begin to grow, extrapolated from their growth.
        Line = "line",
    }
}

/// A burst that has been answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Bits of the burst.
    pub bits: f64,
    /// S and R, s.
    pub sent: f64,
    pub arrived: f64,
}

impl Shown {
    /// B, bit/s.
    pub fn rate(&self) -> f64 {
        self.bits / self.sent
    }
    /// R/S.
    pub fn growth(&self) -> f64 {
        self.arrived / self.sent
    }
}

/// The first burst of the range whose spacing grew.
pub fn first_that_grew(search: &[Shown], lambda: f64, verdict: Verdict) -> Option<usize> {
    let grew = |burst: &Shown| burst.growth() > lambda;
    match verdict {
        Verdict::First => search.iter().position(grew),
        Verdict::Strict => {
            let kept = search.iter().rposition(|burst| !grew(burst)).map_or(0, |last| last + 1);
            (kept < search.len()).then_some(kept)
        }
    }
}

/// While the bottleneck stays busy, R/S − 1 = (B − A)/C: a line over the rates of the bursts, which
/// crosses zero at A and has the slope 1/C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// A, bit/s.
    pub available: f64,
    /// C, bit/s, if the line determines it.
    pub capacity: Option<f64>,
}

impl Line {
    /// Least squares through bursts of which the fastest is at least [`FASTEST`] times the slowest.
    /// `None` if they are closer, or fit no such line.
    pub fn through(bursts: &[Shown]) -> Option<Self> {
        let (mean_rate, mean_growth) = means(bursts);
        let low = bursts.iter().map(Shown::rate).fold(f64::INFINITY, f64::min);
        let high = bursts.iter().map(Shown::rate).fold(0.0, f64::max);
        let (mut products, mut squares) = (0.0, 0.0);
        for burst in bursts {
            let rate = burst.rate() - mean_rate;
            products += rate * (burst.growth() - mean_growth);
            squares += rate * rate;
        }
        let capacity = squares / products;
        let available = mean_rate - capacity * (mean_growth - 1.0);
        let sound = high >= FASTEST * low && capacity.is_finite() && available > 0.0 && capacity > 0.0;
        sound.then_some(Self { available, capacity: Some(capacity) })
    }

    /// Least squares with a known slope: through the mean of the bursts.
    pub fn of_capacity(bursts: &[Shown], capacity: f64) -> Option<Self> {
        let (mean_rate, mean_growth) = means(bursts);
        let available = mean_rate - capacity * (mean_growth - 1.0);
        (available > 0.0).then_some(Self { available, capacity: None })
    }
}

/// Mean rate and mean growth.
fn means(bursts: &[Shown]) -> (f64, f64) {
    let count = bursts.len() as f64;
    let sum = |of: fn(&Shown) -> f64| bursts.iter().map(of).sum::<f64>() / count;
    (sum(Shown::rate), sum(Shown::growth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    /// Bursts of 10 ms with these rates, in Mbit/s, that come through a link of `capacity` with
    /// `available` free.
    fn bursts(rates: &[f64], available: f64, capacity: f64) -> Vec<Shown> {
        let shown = |&rate: &f64| Shown {
            bits: rate * 1e6 * 0.01,
            sent: 0.01,
            arrived: 0.01 * (1.0 + (rate - available) / capacity),
        };
        rates.iter().map(shown).collect()
    }

    #[test]
    fn the_line_leaves_the_axis_at_the_available_bandwidth() {
        let line = Line::through(&bursts(&[40.0, 50.0, 90.0], 40.0, 200.0)).expect("on a line");
        assert!(near(line.available, 40e6) && near(line.capacity.expect("told"), 200e6), "{line:?}");
        // The fastest must exceed the slowest by half.
        assert!(Line::through(&bursts(&[40.0, 59.9], 40.0, 200.0)).is_none());
        assert!(Line::through(&bursts(&[40.0, 60.1], 40.0, 200.0)).is_some());
        // Falling, level, and crossing zero below zero.
        assert!(Line::through(&bursts(&[40.0, 90.0], 40.0, -200.0)).is_none());
        assert!(Line::through(&bursts(&[40.0, 90.0], 40.0, f64::INFINITY)).is_none());
        assert!(Line::through(&bursts(&[40.0, 90.0], -1.0, 200.0)).is_none());
        // Three points on no common line, fitted by least squares: growths 1, 1.1 and 1.5 at 40, 60
        // and 80; by hand the slope is (20 × 0.3 + 20 × 0.2) / 800 = 0.0125, the growth 1.2 at 60,
        // so 1 at 44.
        let mut three = bursts(&[40.0, 60.0, 80.0], 40.0, 200.0);
        (three[1].arrived, three[2].arrived) = (0.011, 0.015);
        let line = Line::through(&three).expect("of least squares");
        assert!(near(line.available, 44e6) && near(line.capacity.expect("told"), 80e6), "{line:?}");
    }

    #[test]
    fn a_line_of_known_slope_goes_through_the_middle() {
        let line = Line::of_capacity(&bursts(&[50.0, 55.0], 40.0, 200.0), 200e6).expect("more than nothing");
        assert!(near(line.available, 40e6) && line.capacity.is_none(), "{line:?}");
        // 12.5 Mbit/s above the available half of that link would give 1.0625.
        let line = Line::of_capacity(&bursts(&[50.0, 55.0], 40.0, 200.0), 100e6).expect("more than nothing");
        assert!(near(line.available, 46.25e6), "{line:?}");
        assert!(Line::of_capacity(&bursts(&[50.0], 10.0, 40.0), 50e6).is_none(), "nothing is free");
    }
}

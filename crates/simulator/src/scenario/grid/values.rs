//! The values of a path: a list, numbers in a range, or random draws of either.

use std::collections::BTreeSet;
use std::ops::Range;

use rand_mt::Mt;

use super::Setting;

/// A key of the scenario and its possible values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Path in the syntax of `--set`.
    pub path: String,
    /// Byte range of the path in the text.
    pub span: Range<usize>,
    /// Possible values of the key.
    pub values: Values,
}

/// Possible values of a key.
#[derive(Clone, Debug)]
pub enum Values {
    /// Each as TOML, with its byte range in the text.
    List(Vec<(String, Range<usize>)>),
    /// Numbers in a range.
    Range(ValueRange),
}

/// Numbers in a range.
#[derive(Clone, Debug)]
pub struct ValueRange {
    /// One end.
    pub from: f64,
    /// The other end.
    pub to: f64,
    /// Unit of both ends, empty for bare numbers.
    pub unit: String,
    /// Number of values; `None` in random draws.
    pub steps: Option<u64>,
    /// Whether ratios are even, instead of spacing.
    pub logarithmic: bool,
    /// Whole numbers only.
    pub whole: bool,
}

/// Points drawn at random.
#[derive(Clone, Debug)]
pub struct Random {
    /// How many.
    pub draws: u64,
    /// Seed of the draws.
    pub seed: u64,
    /// Distribution to draw from.
    pub over: Vec<Axis>,
}

/// The distinct values of a grid path.
pub fn spread(axis: &Axis) -> Vec<Setting> {
    match &axis.values {
        Values::List(values) => (0..values.len()).map(|which| axis.listed(values, which)).collect(),
        Values::Range(range) => {
            let steps = range.steps.unwrap_or(2);
            let mut known = BTreeSet::new();
            let each = (0..steps).map(|step| range.at(step as f64 / (steps - 1) as f64));
            each.filter(|toml| known.insert(toml.clone())).map(|toml| axis.between(toml)).collect()
        }
    }
}

/// Random points, determined by the seed.
pub fn draw(random: &Random) -> Vec<Vec<Setting>> {
    let mut fraction = Fractions::new(random.seed);
    let mut one = |axis: &Axis| {
        let fraction = fraction.next();
        match &axis.values {
            Values::List(values) => axis.listed(values, (fraction * values.len() as f64) as usize),
            Values::Range(range) => axis.between(range.at(fraction)),
        }
    };
    (0..random.draws).map(|_| random.over.iter().map(&mut one).collect()).collect()
}

impl Axis {
    /// Upper bound on the number of values.
    pub fn most(&self) -> usize {
        match &self.values {
            Values::List(values) => values.len(),
            Values::Range(range) => range.steps.unwrap_or(1) as usize,
        }
    }

    fn listed(&self, values: &[(String, Range<usize>)], which: usize) -> Setting {
        let (toml, span) = values[which].clone();
        Setting { path: self.path.clone(), toml, span, path_span: self.span.clone() }
    }

    fn between(&self, toml: String) -> Setting {
        Setting { path: self.path.clone(), toml, span: self.span.clone(), path_span: self.span.clone() }
    }
}

impl ValueRange {
    /// The value at a fraction of the range, as TOML, with six significant digits inside it.
    fn at(&self, fraction: f64) -> String {
        let (low, high) = (self.from, self.to);
        let number = if fraction == 0.0 {
            low
        } else if fraction == 1.0 {
            high
        } else if self.logarithmic {
            six_digits(low * libm::exp(fraction * libm::log(high / low)))
        } else {
            six_digits(low + fraction * (high - low))
        };
        // A TOML integer has no point and, as zero, no sign.
        let text =
            if self.whole { format!("{:.0}", number.round_ties_even() + 0.0) } else { number.to_string() };
        if self.unit.is_empty() { text } else { format!("\"{text} {}\"", self.unit) }
    }
}

fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// Random numbers in [0, 1), equal to Python's `random.Random(seed).random()`, which earlier
/// versions used.
struct Fractions(Mt);

impl Fractions {
    fn new(seed: u64) -> Self {
        let words = [seed as u32, (seed >> 32) as u32];
        Self(Mt::new_with_key(words.into_iter().take(if seed >> 32 == 0 { 1 } else { 2 })))
    }

    fn next(&mut self) -> f64 {
        let high = u64::from(self.0.next_u32() >> 5);
        let low = u64::from(self.0.next_u32() >> 6);
        (high << 26 | low) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by CPython 3.11.
    #[test]
    fn fractions_are_those_of_python() {
        let known = [
            (0, [0.8444218515250481, 0.7579544029403025]),
            (1, [0.13436424411240122, 0.8474337369372327]),
            (1099511627781, [0.5043802970418443, 0.2686044399723282]),
            (9223372036854775807, [0.3166448820870279, 0.631259308253863]),
        ];
        for (seed, expected) in known {
            let mut fractions = Fractions::new(seed);
            assert_eq!([fractions.next(), fractions.next()], expected, "{seed}");
        }
    }

    fn range(from: f64, to: f64) -> ValueRange {
        ValueRange { from, to, unit: String::new(), steps: None, logarithmic: false, whole: false }
    }

    #[test]
    fn a_value_of_a_range_has_six_digits_inside_it_and_its_ends_as_they_are() {
        let third = ValueRange { unit: "Mbps".to_owned(), ..range(0.0, 1.0) };
        assert_eq!(third.at(1.0 / 3.0), "\"0.333333 Mbps\"");
        let wide = ValueRange { logarithmic: true, ..range(1e-9, 1e12) };
        assert_eq!([0.0, 0.5, 1.0].map(|at| wide.at(at)), ["0.000000001", "31.6228", "1000000000000"]);
        let whole = ValueRange { whole: true, ..range(-1.0, 2.0) };
        assert_eq!([0.0, 0.3, 0.5, 1.0].map(|at| whole.at(at)), ["-1", "0", "0", "2"]);
    }

    #[test]
    fn whole_numbers_come_once() {
        let axis = Axis {
            path: "flow.0.count".to_owned(),
            span: 0..0,
            values: Values::Range(ValueRange { steps: Some(9), whole: true, ..range(1.0, 3.0) }),
        };
        let values: Vec<String> = spread(&axis).into_iter().map(|setting| setting.toml).collect();
        assert_eq!(values, ["1", "2", "3"]);
    }
}

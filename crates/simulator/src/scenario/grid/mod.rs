//! Grids: the scenarios of a sweep, which differ from one scenario in some values.
//!
//! ```
//! use selfclock_simulator::Simulation;
//! use selfclock_simulator::scenario::{Grid, Scenario};
//!
//! let text = r#"
//! schema = 1
//! duration = "2 s"
//! [network]
//! topology = "dumbbell"
//! bottleneck = { rate = "10 Mbps", delay = "20 ms", queue = "1 bdp" }
//! access = { rate = "1 Gbps", delay = "1 ms" }
//! [[flow]]
//! "#;
//! let grid = r#"
//! schema = 1
//! scenario = "as above"
//! seeds = 3
//! [grid]
//! "flow.0.congestion_control" = ["reno", "cubic"]
//! "network.bottleneck.queue" = { from = "0.5 bdp", to = "2 bdp", steps = 3, scale = "log" }
//! "#;
//! let grid = Grid::over(Scenario::parse(text, "base.toml", &[])?, grid, "grid.toml")?;
//! assert_eq!((grid.points(), grid.runs()), (6, 18));
//!
//! // The last path changes fastest.
//! let written: Vec<String> = grid.settings(4).map(|setting| setting.to_string()).collect();
//! assert_eq!(written[0], "flow.0.congestion_control=\"cubic\"");
//! assert_eq!(written[1], "network.bottleneck.queue=\"1 bdp\"");
//! let scenario = grid.scenario_at(4)?.with_seed(grid.seeds[1]);
//! assert!(Simulation::new(&scenario.plan).run()?.summary.flows[0].goodput_bps > 5e6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod values;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use selfclock_congestion::registry::Registry;
use toml_edit::Value;

use super::error::{Place, ScenarioError};
use super::{Scenario, notes, read_text, stem};
use file::Written;
pub use file::grid_schema;
use values::{draw, spread};

/// Maximum number of runs in a grid: more than any sweep has time for, to catch typing errors.
const MOST_RUNS: u128 = 10_000_000;
/// Number of points tried for values that no point accepts; the runs show anything left undecided.
const PATIENCE: usize = 10_000;
/// Number of points read for notes.
const NOTED: u64 = 100;

/// A scenario, and the values in which its points differ.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Name in reports.
    pub name: String,
    /// Settings common to all points.
    pub scenario: Scenario,
    /// The grid as TOML.
    pub text: String,
    /// Identifies the grid in messages.
    pub source_name: String,
    /// Seeds of each point.
    pub seeds: Vec<u64>,
    /// Probability with which a confidence interval holds the mean.
    pub confidence: f64,
    /// The points are every combination of one alternative per factor.
    factors: Vec<Vec<Alternative>>,
}

/// Settings applied together.
type Alternative = Vec<Setting>;

/// A key of the scenario and a value for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Path in the syntax of `--set`.
    pub path: String,
    /// Value, as TOML.
    pub toml: String,
    /// Byte range in the grid's text of the value, or of its range.
    span: Range<usize>,
    /// Byte range of the path in the grid's text.
    path_span: Range<usize>,
}

/// A value for display in tables.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// A text: a quantity with its unit, or a list or table as TOML.
    Text(String),
    /// A number without a point.
    Integer(i64),
    /// A number with a point.
    Number(f64),
    /// True or false.
    Switch(bool),
}

/// In the syntax of `--set`: `PATH=VALUE`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.toml)
    }
}

impl Grid {
    /// Reads a grid file and its scenario; values are only tried by [`Self::check`].
    ///
    /// # Errors
    /// Any error in either file.
    pub fn load(registry: &Registry, path: &Path) -> Result<Self, ScenarioError> {
        let source_name = path.display().to_string();
        let unlocated = |message| ScenarioError::unlocated(&source_name, message);
        let text = read_text(path).map_err(unlocated)?;
        let written = Written::read(&text, &source_name)?;
        let base = path.parent().unwrap_or(Path::new("")).join(&written.scenario);
        let scenario = Scenario::load_with(registry, &base, &[])
            .map_err(|error| unlocated(format!("scenario: {error}")))?;
        Self::expand(written, scenario, &text, &source_name, stem(&source_name))
    }

    /// The grid of a text over this scenario, whatever scenario the text names; `source_name`
    /// identifies the text in messages. Its default name is the scenario's. Values are only tried
    /// by [`Self::check`].
    ///
    /// # Errors
    /// Any error in the text, or in a value common to all points.
    pub fn over(scenario: Scenario, text: &str, source_name: &str) -> Result<Self, ScenarioError> {
        let name = scenario.plan.name.clone();
        Self::expand(Written::read(text, source_name)?, scenario, text, source_name, &name)
    }

    fn expand(
        written: Written,
        mut scenario: Scenario,
        text: &str,
        source_name: &str,
        name: &str,
    ) -> Result<Self, ScenarioError> {
        for setting in &written.fixed {
            let set = scenario.with(&[setting.to_string()]);
            scenario = set.map_err(|error| setting.blame(error, source_name, text))?;
        }
        let seeds = if written.seeds.is_empty() { vec![scenario.plan.seed] } else { written.seeds };
        let mut factors = Vec::new();
        if !written.points.is_empty() {
            factors.push(written.points);
        }
        let draws = written.random.as_ref().map_or(1, |random| random.draws);
        let sizes = [seeds.len() as u64, factors.first().map_or(1, Vec::len) as u64, draws];
        let mut runs = sizes.into_iter().fold(1, |product: u128, size| product.saturating_mul(size.into()));
        for axis in &written.axes {
            // A refused grid is not built.
            let size = if runs > MOST_RUNS {
                axis.most()
            } else {
                factors.push(spread(axis).into_iter().map(|setting| vec![setting]).collect());
                factors[factors.len() - 1].len()
            };
            runs = runs.saturating_mul(size as u128);
        }
        if runs > MOST_RUNS {
            let message = format!("{} runs; allowed: at most {}", grouped(runs), grouped(MOST_RUNS));
            return Err(ScenarioError::unlocated(source_name, message));
        }
        factors.extend(written.random.as_ref().map(draw));
        Ok(Self {
            name: written.name.unwrap_or_else(|| name.to_owned()),
            scenario,
            text: text.to_owned(),
            source_name: source_name.to_owned(),
            seeds,
            confidence: written.confidence,
            factors,
        })
    }

    /// Number of points.
    pub fn points(&self) -> u64 {
        self.factors.iter().map(|factor| factor.len() as u64).product()
    }

    /// Number of points times number of seeds.
    pub fn runs(&self) -> u64 {
        self.points() * self.seeds.len() as u64
    }

    /// The varied paths, in the order of the file.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.settings(0).map(|setting| setting.path.as_str())
    }

    /// The settings of a point, counted from 0; the last factor changes fastest.
    pub fn settings(&self, point: u64) -> impl Iterator<Item = &Setting> {
        let mut below = self.points();
        self.factors.iter().flat_map(move |factor| {
            below /= factor.len() as u64;
            &factor[(point / below) as usize % factor.len()]
        })
    }

    /// The scenario of a point, without records: a sweep keeps only its summary.
    ///
    /// # Errors
    /// The settings of the point contradict each other.
    pub fn scenario_at(&self, point: u64) -> Result<Scenario, ScenarioError> {
        let overrides: Vec<String> = self.settings(point).map(ToString::to_string).collect();
        self.scenario.with(&overrides).map(Scenario::unrecorded)
    }

    /// The distinct notes on the scenarios of the first points.
    pub fn notes(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        let scenarios = (0..self.points().min(NOTED)).filter_map(|point| self.scenario_at(point).ok());
        scenarios.flat_map(|it| notes(&it.plan)).filter(|note| known.insert(note.clone())).collect()
    }

    /// Refuses values that no point accepts. Values that some points accept only fail at the
    /// others.
    ///
    /// # Errors
    /// The error of the value, at its place in the grid.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let mut tries = PATIENCE;
        for (number, factor) in self.factors.iter().enumerate() {
            for (which, alternative) in factor.iter().enumerate().take(PATIENCE) {
                let Some(refusal) = self.refusal(alternative) else { continue };
                let points = self.points_with(number, which);
                let mut tried = 0;
                let all_refuse = points.take(tries).all(|point| {
                    tried += 1;
                    self.refusal(self.settings(point)).is_some()
                });
                tries -= tried;
                if all_refuse && tries > 0 {
                    let alone = |setting| Some((setting, self.refusal([setting])?));
                    let (setting, refusal) =
                        alternative.iter().find_map(alone).unwrap_or((&alternative[0], refusal));
                    return Err(setting.blame(refusal, &self.source_name, &self.text));
                }
            }
        }
        Ok(())
    }

    /// The points with one alternative of a factor.
    fn points_with(&self, number: usize, which: usize) -> impl Iterator<Item = u64> {
        let below: u64 = self.factors[number + 1..].iter().map(|factor| factor.len() as u64).product();
        let size = self.factors[number].len() as u64;
        (0..self.points() / (below * size))
            .flat_map(move |high| (0..below).map(move |low| (high * size + which as u64) * below + low))
    }

    fn refusal<'a>(&self, settings: impl IntoIterator<Item = &'a Setting>) -> Option<ScenarioError> {
        let overrides: Vec<String> = settings.into_iter().map(ToString::to_string).collect();
        self.scenario.with(&overrides).err()
    }
}

impl Setting {
    /// The value for display in tables.
    pub fn value(&self) -> SettingValue {
        match self.toml.parse() {
            Ok(Value::String(text)) => SettingValue::Text(text.into_value()),
            Ok(Value::Integer(number)) => SettingValue::Integer(number.into_value()),
            Ok(Value::Float(number)) => SettingValue::Number(number.into_value()),
            Ok(Value::Boolean(on)) => SettingValue::Switch(on.into_value()),
            _ => SettingValue::Text(self.toml.clone()),
        }
    }

    /// A scenario's error caused by this setting, at its origin in the grid.
    fn blame(&self, error: ScenarioError, source_name: &str, text: &str) -> ScenarioError {
        let of_path = ["unknown key", "the parent of"].iter().any(|start| error.message.starts_with(start));
        let span = if of_path { &self.path_span } else { &self.span };
        let key = if error.key.is_empty() { self.path.clone() } else { error.key };
        Place { key, span: span.clone() }.problem(error.message, error.help).in_text(source_name, text)
    }
}

/// Digits in groups of three: 10,000,000.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

//! Scenario files: TOML to [`Plan`], with errors that point at the line.
//!
//! ```
//! use selfclock_simulator::scenario::Scenario;
//!
//! let text = r#"
//! schema = 1
//! duration = "10 s"
//! [network]
//! topology = "dumbbell"
//! bottleneck = { rate = "500 kbps", delay = "100 ms", queue = "5 packets" }
//! access = { rate = "10 Mbps", delay = "5 ms" }
//! [[flow]]
//! congestion_control = "packet-pair"
//! "#;
//! let scenario = Scenario::parse(text, "example.toml", &["flow.0.start=1 s".into()])?;
//! assert_eq!(scenario.plan.flows[0].start.seconds(), 1.0);
//!
//! let error = Scenario::parse(text, "example.toml", &["flow.0.start=1".into()]).unwrap_err();
//! assert_eq!(error.message, "1 has no unit");
//! # Ok::<(), selfclock_simulator::scenario::ScenarioError>(())
//! ```

mod alike;
mod choice;
mod control;
mod delivery_trace;
mod error;
mod grid;
mod layer;
mod named;
mod network;
mod notes;
mod overrides;
mod reader;
mod resolve;
mod schema;
mod stack;
mod table;
#[cfg(test)]
mod tests;
mod toml_text;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use selfclock_congestion::registry::Registry;
use toml_edit::DocumentMut;

pub use alike::alike;
pub use choice::{control_table, queue_table};
pub use delivery_trace::{DeliveryTraceError, parse as read_delivery_trace};
pub use error::{Location, ScenarioError};
pub use grid::{Grid, Setting, SettingValue, grid_schema};
pub(crate) use layer::KeyDefault;
pub use network::network;
pub use notes::notes;
pub use schema::schema;
pub(crate) use schema::transport_defaults;

use crate::plan::{Plan, RecordPlan};
use delivery_trace::DeliveryTraces;
use error::{Place, Problem};
use overrides::Override;
use reader::{FromItem as _, Item};
use table::ScenarioTable;

/// A scenario: the run, and its text.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The run.
    pub plan: Plan,
    /// A line for humans.
    pub title: Option<String>,
    /// The TOML text with overrides and delivery traces: enough to repeat the run.
    pub text: String,
    /// Name of the file.
    pub source_name: String,
    /// Algorithms available to it.
    registry: Registry,
    /// Base of relative paths of delivery traces.
    folder: PathBuf,
}

/// In place of the file name in errors.
const OVERRIDE: &str = "--set";
/// Maximum size of a scenario file, in bytes.
const LARGEST_FILE: u64 = 64 << 20;

impl Scenario {
    /// Reads a file. An override is `PATH=VALUE`, such as `network.bottleneck.rate=10 Mbps` or
    /// `flow.*.transport.mss=512 B`.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, ScenarioError> {
        Self::load_with(&Registry::built_in(), path, overrides)
    }

    /// Reads a file that may name any algorithm of the registry.
    pub fn load_with(registry: &Registry, path: &Path, overrides: &[String]) -> Result<Self, ScenarioError> {
        let source_name = path.display().to_string();
        let text = read_text(path).map_err(|message| ScenarioError::unlocated(&source_name, message))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(registry, &text, &source_name, folder, overrides)
    }

    /// Reads a text, which must be valid alone; an error caused by an override names it. Relative
    /// paths start at the working directory.
    pub fn parse(text: &str, source_name: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        Self::parse_with(&Registry::built_in(), text, source_name, overrides)
    }

    /// Reads a text that may name any algorithm of the registry.
    pub fn parse_with(
        registry: &Registry,
        text: &str,
        source_name: &str,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        Self::read(registry, text, source_name, Path::new(""), overrides)
    }

    fn read(
        registry: &Registry,
        text: &str,
        source_name: &str,
        folder: &Path,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        let reader = Reader { registry, stem: stem(source_name), folder };
        let checked = reader.check(text).map_err(|problem| problem.in_text(source_name, text))?;
        let checked =
            if overrides.is_empty() { checked } else { reader.apply(text, source_name, overrides)? };
        let Checked { plan, title, text } = checked;
        let source_name = source_name.to_owned();
        Ok(Self { plan, title, text, source_name, registry: registry.clone(), folder: folder.to_owned() })
    }

    /// The same scenario with further overrides. The effects of [`Self::with_seed`] and
    /// [`Self::unrecorded`] persist unless overridden.
    pub fn with(&self, overrides: &[String]) -> Result<Self, ScenarioError> {
        let reader = Reader { registry: &self.registry, stem: stem(&self.source_name), folder: &self.folder };
        let Checked { mut plan, title, text } = reader.apply(&self.text, &self.source_name, overrides)?;
        let sets = |key| overrides.iter().any(|change| Override::parse(change).is_ok_and(|it| it.is_in(key)));
        if !sets("seed") {
            plan.seed = self.plan.seed;
        }
        if self.plan.record == RecordPlan::NOTHING && !sets("record") {
            plan.record = RecordPlan::NOTHING;
        }
        Ok(Self { plan, title, text, ..self.clone() })
    }

    /// The same scenario with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// The same scenario without series and packets; its summary is the same.
    #[must_use]
    pub fn unrecorded(mut self) -> Self {
        self.plan.record = RecordPlan::NOTHING;
        self
    }
}

struct Checked {
    plan: Plan,
    title: Option<String>,
    text: String,
}

/// Default name of a scenario.
fn stem(source_name: &str) -> &str {
    Path::new(source_name).file_stem().and_then(|stem| stem.to_str()).unwrap_or("scenario")
}

/// Context in which a text is read.
struct Reader<'a> {
    /// Available algorithms.
    registry: &'a Registry,
    /// Default name of the scenario.
    stem: &'a str,
    /// Base of relative paths of delivery traces.
    folder: &'a Path,
}

impl Reader<'_> {
    fn check(&self, text: &str) -> Result<Checked, Problem> {
        let value = toml_text::parse(text)?;
        let item = Item { value: &value, place: Place::default(), registry: self.registry };
        let file = ScenarioTable::read(&item)?;
        let mut traces = DeliveryTraces::new(self.folder);
        let plan = resolve::resolve(&file, self.stem, &mut traces)?;
        Ok(Checked { plan, title: file.title.map(|title| title.value), text: traces.inline(text) })
    }

    /// Applies overrides to a valid text and reads the result.
    fn apply(&self, text: &str, source_name: &str, overrides: &[String]) -> Result<Checked, ScenarioError> {
        let edited = edit(text, source_name, overrides)?;
        self.check(&edited).map_err(|problem| {
            let written = edited.get(problem.place.span.clone()).unwrap_or_default().to_owned();
            self.blame(text, source_name, overrides, problem, &written)
        })
    }

    /// Locates a problem caused by overrides in the first one that causes it: at its path, or at
    /// its value.
    fn blame(
        &self,
        text: &str,
        source_name: &str,
        overrides: &[String],
        problem: Problem,
        written: &str,
    ) -> ScenarioError {
        let is_there_after = |changes: usize| {
            edit(text, source_name, &overrides[..changes]).is_ok_and(|edited| {
                let same =
                    |other: Problem| other.message == problem.message && other.place.key == problem.place.key;
                self.check(&edited).is_err_and(same)
            })
        };
        let changes =
            (1..overrides.len()).find(|&changes| is_there_after(changes)).unwrap_or(overrides.len());
        let change = overrides[changes - 1].as_str();
        let value = overrides::value_span(change);
        let mut found = change[value.clone()].match_indices(written);
        let span = match (found.next(), found.next()) {
            (Some((start, _)), None) if !written.is_empty() => {
                value.start + start..value.start + start + written.len()
            }
            _ => value,
        };
        let place = Place { key: problem.place.key.clone(), span };
        Problem { place, ..problem }.in_text(OVERRIDE, change)
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("is a directory".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(format!("is larger than {} MiB", LARGEST_FILE >> 20));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("is not UTF-8 text: byte {} is invalid", error.utf8_error().valid_up_to()))
}

/// The text with overrides applied, not yet validated.
fn edit(text: &str, source_name: &str, overrides: &[String]) -> Result<String, ScenarioError> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        ScenarioError::unlocated(source_name, error.message().to_owned())
    })?;
    for change in overrides {
        Override::parse(change)
            .and_then(|parsed| parsed.apply(&mut document))
            .map_err(|problem| problem.in_text(OVERRIDE, change))?;
    }
    Ok(document.to_string())
}

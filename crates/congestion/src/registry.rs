//! Every part of an algorithm by name.

#[cfg(feature = "text")]
mod known;
#[cfg(feature = "text")]
mod label;
#[cfg(feature = "text")]
mod written;

use alloc::vec::Vec;

use core::fmt;

#[cfg(feature = "text")]
pub use known::answer;
#[cfg(feature = "text")]
pub use label::{LabelError, Setting, nearest, with_settings};
#[cfg(feature = "text")]
pub use written::WrittenError;

use crate::controller::Controller;
use crate::custom::{Custom, CustomChoice};
use crate::entry::{Entry, InRecovery, Marks, Need, RouterPartner};
use crate::estimate::{self, EstimateChoice};
use crate::model::{self, ModelChoice};
use crate::open::{AnyModel, AnyStart, AnyWindow};
use crate::parameter::{Parameter, ParameterError, Value};
use crate::part::{EstimatePart, ModelPart, StartPart, WindowPart};
use crate::receiver::Partner;
use crate::start::{self, StartChoice};
use crate::state::Setup;
use crate::window::{self, WindowChoice};

/// Every name available to scenarios: the starts, the windows, the models, then the estimators.
pub const ENTRIES: &[Entry] = &{
    const KINDS: [&[Entry]; 4] = [start::ENTRIES, window::ENTRIES, model::ENTRIES, estimate::ENTRIES];
    const COUNT: usize = KINDS[0].len() + KINDS[1].len() + KINDS[2].len() + KINDS[3].len();
    let mut all = [start::ENTRIES[0]; COUNT];
    let (mut kind, mut i, mut next) = (0, 0, 0);
    while next < COUNT {
        if i == KINDS[kind].len() {
            (kind, i) = (kind + 1, 0);
        } else {
            all[next] = KINDS[kind][i];
            (i, next) = (i + 1, next + 1);
        }
    }
    all
};

/// The start if only a window is named.
pub const DEFAULT_START: &str = start::slow_start::ENTRY.name;
/// The window if only a start is named.
pub const DEFAULT_WINDOW: &str = window::reno::ENTRY.name;

/// The word for no estimator.
pub const NO_ESTIMATE: &str = "none";

/// The built-in and user-defined algorithms available to scenarios.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    starts: Vec<CustomChoice<dyn AnyStart>>,
    windows: Vec<CustomChoice<dyn AnyWindow>>,
    models: Vec<CustomChoice<dyn AnyModel>>,
}

/// Why an algorithm was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistrationError {
    /// A built-in algorithm has this name.
    BuiltIn,
    /// The name does not consist of 1 to 60 lower-case letters, digits, `-` and `_`, beginning with
    /// a letter.
    BadName,
    /// The name of this parameter is also a reserved word of a scenario.
    ReservedParameter(&'static str),
    /// Its entry and the model itself differ on who sets the window in recovery.
    Contradiction,
}

/// Reserved words beside the parameters in a scenario.
pub const RESERVED: [&str; 4] = ["window", "start", "estimate", "model"];

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("a built-in algorithm has this name"),
            Self::BadName => f.write_str(
                "a name has 1 to 60 lower-case letters, digits, '-' and '_', and begins with a letter",
            ),
            Self::Contradiction => {
                f.write_str("its entry and the model differ on who sets the window in recovery")
            }
            Self::ReservedParameter(name) => write!(f, "a parameter cannot be named {name:?}"),
        }
    }
}

impl core::error::Error for RegistrationError {}

impl Registry {
    /// The built-in algorithms.
    pub const fn built_in() -> Self {
        Self { starts: Vec::new(), windows: Vec::new(), models: Vec::new() }
    }

    /// Adds a user-defined start; replaces an earlier algorithm of this name.
    pub fn register_start(&mut self, custom: impl Custom<Part: StartPart>) -> Result<(), RegistrationError> {
        self.make_room(custom.entry())?;
        self.starts.push(CustomChoice::<dyn AnyStart>::new(custom));
        Ok(())
    }

    /// Adds a user-defined window algorithm; replaces an earlier algorithm of this name.
    pub fn register_window(
        &mut self,
        custom: impl Custom<Part: WindowPart>,
    ) -> Result<(), RegistrationError> {
        self.make_room(custom.entry())?;
        self.windows.push(CustomChoice::<dyn AnyWindow>::new(custom));
        Ok(())
    }

    /// Adds a user-defined model; replaces an earlier algorithm of this name.
    pub fn register_model(&mut self, custom: impl Custom<Part: ModelPart>) -> Result<(), RegistrationError> {
        let owns = custom.entry().recovery == InRecovery::Algorithm;
        if custom.build().owns_window_in_recovery() != owns {
            return Err(RegistrationError::Contradiction);
        }
        self.make_room(custom.entry())?;
        self.models.push(CustomChoice::<dyn AnyModel>::new(custom));
        Ok(())
    }

    /// Checks a row, and removes an earlier algorithm of this name.
    fn make_room(&mut self, entry: Entry) -> Result<(), RegistrationError> {
        let mut characters = entry.name.chars();
        let good = characters.next().is_some_and(|first| first.is_ascii_lowercase())
            && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
            && entry.name.len() <= 60;
        if !good {
            return Err(RegistrationError::BadName);
        }
        if ENTRIES.iter().any(|other| other.name == entry.name) {
            return Err(RegistrationError::BuiltIn);
        }
        if let Some(reserved) = entry.parameters.iter().find(|parameter| RESERVED.contains(&parameter.name)) {
            return Err(RegistrationError::ReservedParameter(reserved.name));
        }
        self.starts.retain(|other| other.entry().name != entry.name);
        self.windows.retain(|other| other.entry().name != entry.name);
        self.models.retain(|other| other.entry().name != entry.name);
        Ok(())
    }

    /// The built-in algorithms, then the user-defined starts, window algorithms and models.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + Clone {
        let starts = self.starts.iter().map(CustomChoice::entry);
        let windows = self.windows.iter().map(CustomChoice::entry);
        let models = self.models.iter().map(CustomChoice::entry);
        ENTRIES.iter().copied().chain(starts).chain(windows).chain(models)
    }

    /// The named start and window, with the window's usual estimator; `None` if a name is unknown.
    pub fn parts(&self, start: &str, window: &str) -> Option<Selection> {
        let start =
            StartChoice::named(start).or_else(|| find(&self.starts, start).map(StartChoice::Custom))?;
        let window =
            WindowChoice::named(window).or_else(|| find(&self.windows, window).map(WindowChoice::Custom))?;
        let estimate = usual_estimate(&window);
        Some(Choice::Parts { start, window, estimate }.into())
    }

    /// The model with this name.
    pub fn model(&self, name: &str) -> Option<Selection> {
        let model = ModelChoice::named(name).or_else(|| find(&self.models, name).map(ModelChoice::Custom))?;
        Some(Choice::Model(model).into())
    }
}

/// The user-defined algorithm with this name.
fn find<P: ?Sized>(choices: &[CustomChoice<P>], name: &str) -> Option<CustomChoice<P>> {
    choices.iter().find(|choice| choice.entry().name == name).cloned()
}

/// The estimator of a window algorithm if none is chosen.
fn usual_estimate(window: &WindowChoice) -> Option<EstimateChoice> {
    EstimateChoice::named(window.entry().estimate?)
}

/// A start and a window, optionally with an estimator, or a model; with their parameters, chosen by
/// name.
#[derive(Clone)]
pub struct Selection {
    choice: Choice,
    /// Derived from the choice's parameters, so it does not distinguish selections.
    settings: Vec<(&'static str, Value<'static>)>,
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Selection").field(&self.choice).finish()
    }
}

#[derive(Clone, Debug)]
enum Choice {
    Parts { start: StartChoice, window: WindowChoice, estimate: Option<EstimateChoice> },
    Model(ModelChoice),
}

impl From<Choice> for Selection {
    fn from(choice: Choice) -> Self {
        Self { choice, settings: Vec::new() }
    }
}

/// Slow start and Reno.
impl Default for Selection {
    fn default() -> Self {
        Self::new(DEFAULT_START, DEFAULT_WINDOW).expect("the defaults are listed")
    }
}

impl Selection {
    /// Whether it is a model, which is start and window in one.
    pub const fn is_model(&self) -> bool {
        matches!(self.choice, Choice::Model(_))
    }

    /// The built-in start and window with these names: [`Registry::parts`].
    pub fn new(start: &str, window: &str) -> Option<Self> {
        Registry::built_in().parts(start, window)
    }

    /// The built-in model with this name: [`Registry::model`].
    pub fn model(name: &str) -> Option<Self> {
        Registry::built_in().model(name)
    }

    /// A user-defined model, without a registry.
    pub fn custom(custom: impl Custom<Part: ModelPart>) -> Self {
        Choice::Model(ModelChoice::Custom(CustomChoice::<dyn AnyModel>::new(custom))).into()
    }

    /// The same start and window with the named estimator, or without one; `None` if the estimator
    /// is unknown, or a model has been chosen.
    pub fn with_estimate(self, name: &str) -> Option<Self> {
        let Choice::Parts { start, window, .. } = self.choice else { return None };
        let estimate = if name == NO_ESTIMATE { None } else { Some(EstimateChoice::named(name)?) };
        Some(Self { choice: Choice::Parts { start, window, estimate }, settings: self.settings })
    }

    /// The name of the estimator, if it is not the window's usual one.
    pub fn unusual_estimate(&self) -> Option<&'static str> {
        let Choice::Parts { window, estimate, .. } = &self.choice else { return None };
        let name =
            |choice: &Option<EstimateChoice>| choice.as_ref().map_or(NO_ESTIMATE, |it| it.entry().name);
        let (own, usual) = (name(estimate), name(&usual_estimate(window)));
        (own != usual).then_some(own)
    }

    /// Whether a part is user-defined.
    pub const fn is_custom(&self) -> bool {
        match &self.choice {
            Choice::Parts { start, window, .. } => {
                matches!(start, StartChoice::Custom(_)) || matches!(window, WindowChoice::Custom(_))
            }
            Choice::Model(model) => matches!(model, ModelChoice::Custom(_)),
        }
    }

    /// Registry rows of the selection: of the window algorithm, the start and the estimator, or of
    /// the model.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let rows = match &self.choice {
            Choice::Parts { start, window, estimate } => {
                [Some(window.entry()), Some(start.entry()), estimate.as_ref().map(EstimateChoice::entry)]
            }
            Choice::Model(model) => [Some(model.entry()), None, None],
        };
        rows.into_iter().flatten()
    }

    /// The response to CE marks: the window algorithm's, or the model's.
    pub fn marks(&self) -> Marks {
        self.entries().next().map_or(Marks::Ignored, |entry| entry.marks)
    }

    /// Whether it reduces its window when CE marks are echoed, counted (`accurate`) or as in RFC
    /// 3168.
    pub fn responds_to_marks(&self, accurate: bool) -> bool {
        match self.marks() {
            Marks::Ignored => false,
            Marks::Once => true,
            Marks::InProportion => accurate,
        }
    }

    /// Whether parallel flows under it can share their knowledge: [`crate::window::Group`].
    pub fn forms_groups(&self) -> bool {
        self.entries().any(|entry| entry.groups)
    }

    /// The router mechanisms that it depends on.
    pub fn routers(&self) -> impl Iterator<Item = RouterPartner> {
        self.entries().filter_map(|entry| entry.router)
    }

    /// Requirements beyond a transport that respects a window and reports ACKs.
    pub fn needs(&self) -> impl Iterator<Item = (&'static str, Need)> {
        self.entries().flat_map(|entry| entry.needs.iter().map(move |&need| (entry.name, need)))
    }

    /// The parameter of the selection with this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters().find(|parameter| parameter.name == name)
    }

    /// Every parameter of the selected window, start and estimator, or of the model.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.entries().flat_map(|entry| entry.parameters)
    }

    /// Sets a parameter of the selection.
    pub fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        let result = match &mut self.choice {
            Choice::Parts { start, window, estimate } => {
                let mut result = window.set(name, value);
                if result == Err(ParameterError::Unknown) {
                    result = start.set(name, value);
                }
                match estimate {
                    Some(estimate) if result == Err(ParameterError::Unknown) => estimate.set(name, value),
                    _ => result,
                }
            }
            Choice::Model(model) => model.set(name, value),
        };
        if result.is_ok()
            && let Some(parameter) = self.parameter(name)
            && let Some(value) = value.kept(parameter.kind)
        {
            self.settings.retain(|(other, _)| *other != parameter.name);
            self.settings.push((parameter.name, value));
        }
        result
    }

    /// The parameters that were set, with their values.
    pub fn settings(&self) -> &[(&'static str, Value<'static>)] {
        &self.settings
    }

    /// The parameters as a kernel object takes them: their number, then each as 64 bits
    /// ([`ParameterType::to_word`](crate::parameter::ParameterType::to_word)), those of the start
    /// before those of the window. `None` with an estimator, or a user-defined part without
    /// [`Custom::words`]: there is no such object.
    pub fn parameter_words(&self) -> Option<Vec<u64>> {
        let mut words = alloc::vec![0];
        match &self.choice {
            Choice::Parts { start, window, estimate: None } => {
                start.words(|word| words.push(word))?;
                window.words(|word| words.push(word))?;
            }
            Choice::Parts { .. } => return None,
            Choice::Model(model) => model.words(|word| words.push(word))?,
        }
        words[0] = words.len() as u64 - 1;
        Some(words)
    }

    /// The sender's part for a new connection.
    pub fn controller(&self, setup: Setup) -> Controller {
        match &self.choice {
            Choice::Parts { start, window, estimate } => Controller::new(
                setup,
                start.build(),
                window.build(),
                estimate.as_ref().map(EstimateChoice::build),
            ),
            Choice::Model(model) => Controller::with_model(setup, model.build()),
        }
    }

    /// Whether a new connection uses [`Stamped`](crate::Stamped): the receiver must then tell when
    /// segments arrived.
    pub fn wants_stamps(&self) -> bool {
        match &self.choice {
            Choice::Parts { estimate, .. } => {
                estimate.as_ref().is_some_and(|estimate| estimate.build().wants_stamps())
            }
            Choice::Model(_) => false,
        }
    }

    /// The receiver's part for a new connection.
    pub fn partner(&self) -> Partner {
        match &self.choice {
            Choice::Parts { start, .. } => start.build().partner(),
            Choice::Model(model) => model.build().partner(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Part;

    /// A default is declared as a value and as the text that tables show. Read back, the text is
    /// the value; the few others say in words what the default depends on.
    #[test]
    #[cfg(feature = "text")]
    fn defaults_are_what_tables_show() {
        let (mut read, mut in_words) = (0, Vec::new());
        for entry in ENTRIES {
            let plain = Selection::from_label(entry.name).expect(entry.name);
            for parameter in entry.parameters {
                let mut set = plain.clone();
                match set.set_written(parameter.name, parameter.default) {
                    Ok(()) => assert_eq!(
                        format!("{set:?}"),
                        format!("{plain:?}"),
                        "{} {}",
                        entry.name,
                        parameter.name
                    ),
                    Err(_) => in_words.push((entry.name, parameter.name, parameter.default)),
                }
                read += 1;
            }
        }
        assert!(read > 100 && in_words.len() * 5 < read, "{read}: {in_words:?}");
    }

    #[test]
    fn every_entry_can_be_chosen() {
        for entry in ENTRIES {
            let selection = Selection::from_label(entry.name).expect(entry.name);
            for parameter in entry.parameters {
                assert!(selection.parameter(parameter.name).is_some());
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, entry) in ENTRIES.iter().enumerate() {
            assert!(ENTRIES[..i].iter().all(|earlier| earlier.name != entry.name), "{}", entry.name);
        }
    }

    /// A scenario holds the keys of start, window and estimator in one table.
    #[test]
    fn no_parameter_belongs_to_two_parts() {
        let of =
            |part| ENTRIES.iter().filter(move |entry| entry.part == part).flat_map(|entry| entry.parameters);
        for (one, other) in
            [(Part::Start, Part::Window), (Part::Estimate, Part::Window), (Part::Estimate, Part::Start)]
        {
            for parameter in of(one) {
                assert!(of(other).all(|same| same.name != parameter.name), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn estimators_go_with_any_window() {
        let cubic = Selection::new("slow-start", "cubic").expect("both are listed");
        assert_eq!(cubic.unusual_estimate(), None);
        assert_eq!(cubic.with_estimate("icim").expect("listed").unusual_estimate(), Some("icim"));
        let own = Selection::from_label("lotka-volterra").expect("listed");
        assert_eq!(own.unusual_estimate(), None, "ICIM goes without saying");
        assert_eq!(own.clone().with_estimate("none").expect("allowed").unusual_estimate(), Some("none"));
        assert!(own.with_estimate("reno").is_none());
    }
}

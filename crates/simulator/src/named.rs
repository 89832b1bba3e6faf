//! Components of a scenario chosen by name, with settings: queue disciplines, router mechanisms.
//!
//! Each has a file with its [`Settings`], declared by `parameters!`, and a line in the list of its
//! kind. Scenario files, their JSON Schema, the reference and `selfclock algorithms` are generated
//! from there.

use selfclock_congestion::parameter::{Parameter, ParameterError, Value};

/// Description of a named component, without an instance.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in scenarios.
    pub name: &'static str,
    /// Its purpose, in one sentence.
    pub about: &'static str,
    /// RFC or paper.
    pub source: &'static str,
    /// Its settings.
    pub parameters: &'static [Parameter],
}

/// Contradictory settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The setting to point at; empty if none stands out.
    pub parameter: &'static str,
    /// The error.
    pub message: &'static str,
    /// Allowed values.
    pub help: &'static str,
}

/// The settings of a named component. The defaults are those of its entry.
pub trait Settings: Default {
    /// The row in the list of its kind.
    const ENTRY: Entry;

    /// Sets one by its name.
    ///
    /// # Errors
    /// If no setting has this name, or the value is of another kind or out of range.
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;

    /// Checks the settings in combination.
    ///
    /// # Errors
    /// If two settings contradict each other.
    fn check(&self) -> Result<(), Contradiction> {
        Ok(())
    }
}

/// A kind of named components: the choice of one, with its settings.
pub trait Named: Sized {
    /// All of them, with their defaults.
    fn all() -> impl Iterator<Item = Self> + Clone;

    /// Description of the chosen one.
    fn entry(&self) -> Entry;

    /// Sets a setting by its name.
    ///
    /// # Errors
    /// As [`Settings::set`].
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;

    /// Checks the settings in combination.
    ///
    /// # Errors
    /// As [`Settings::check`].
    fn check(&self) -> Result<(), Contradiction>;

    /// The one with this name, with its defaults.
    fn named(name: &str) -> Option<Self> {
        Self::all().find(|choice| choice.entry().name == name)
    }
}

/// Implements [`Settings`] for a struct that `parameters!` declared.
macro_rules! settings {
    ($kind:ty, $name:literal, $about:literal, $source:literal $(, check $check:expr)?) => {
        impl $crate::named::Settings for $kind {
            const ENTRY: $crate::named::Entry = $crate::named::Entry {
                name: $name,
                about: $about,
                source: $source,
                parameters: Self::TABLE,
            };
            fn set(
                &mut self,
                name: &str,
                value: selfclock_congestion::parameter::Value<'_>,
            ) -> Result<(), selfclock_congestion::parameter::ParameterError> {
                // The function that `parameters!` declares takes precedence over the trait's.
                <$kind>::set(self, name, value)
            }
            $(fn check(&self) -> Result<(), $crate::named::Contradiction> {
                $check(self)
            })?
        }
    };
}
pub(crate) use settings;

/// Declares a kind of named components: a [`Named`] enum of the settings of each, `Parameters` in
/// its module.
macro_rules! named {
    ($(#[$about:meta])+ $kind:ident { $($module:ident::$name:ident,)+ }) => {
        $(#[$about])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "a plan has one for each queue or router")]
        pub enum $kind {
            $(#[doc = concat!("[`", stringify!($module), "`].")] $name($module::Parameters),)+
        }

        impl $crate::named::Named for $kind {
            fn all() -> impl Iterator<Item = Self> + Clone {
                [$(Self::$name($module::Parameters::default())),+].into_iter()
            }
            fn entry(&self) -> $crate::named::Entry {
                match self {
                    $(Self::$name(_) => <$module::Parameters as $crate::named::Settings>::ENTRY,)+
                }
            }
            fn set(
                &mut self,
                name: &str,
                value: selfclock_congestion::parameter::Value<'_>,
            ) -> Result<(), selfclock_congestion::parameter::ParameterError> {
                match self {
                    $(Self::$name(settings) => settings.set(name, value),)+
                }
            }
            fn check(&self) -> Result<(), $crate::named::Contradiction> {
                match self {
                    $(Self::$name(settings) => $crate::named::Settings::check(settings),)+
                }
            }
        }
    };
}
pub(crate) use named;

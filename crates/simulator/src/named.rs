//! Things of a scenario that are chosen by name and have settings: queue disciplines, mechanisms in routers.
//!
//! Each has a file with its [`Settings`], declared by `parameters!`, and a line in the list of its kind. Scenario files,
//! their JSON Schema, the reference and `selfclock algorithms` know it from there.

use selfclock_congestion::parameter::{Parameter, ParameterError, Value};

/// What is known of a named thing without making one.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in scenarios.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// RFC or paper.
    pub source: &'static str,
    /// Its settings.
    pub parameters: &'static [Parameter],
}

/// Settings that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The setting to point at.
    pub parameter: &'static str,
    /// What is wrong with it.
    pub message: &'static str,
    /// What is allowed.
    pub help: &'static str,
}

/// The settings of a named thing. The defaults are those of its entry.
pub trait Settings: Default {
    /// The row in the list of its kind.
    const ENTRY: Entry;

    /// Sets one by its name.
    ///
    /// # Errors
    /// If no setting has this name, or the value is of another kind or out of range.
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;

    /// Checks what one setting alone cannot show.
    ///
    /// # Errors
    /// If two settings contradict each other.
    fn check(&self) -> Result<(), Contradiction> {
        Ok(())
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
                // The function that `parameters!` declares, which goes before that of the trait.
                <$kind>::set(self, name, value)
            }
            $(fn check(&self) -> Result<(), $crate::named::Contradiction> {
                $check(self)
            })?
        }
    };
}
pub(crate) use settings;

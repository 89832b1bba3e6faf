//! An algorithm with its parameters as one text: `cubic+hystart++:beta=0.8`.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{LabelError, Registry, Selection, nearest, with_settings};
use crate::parameter::{Kind, Parameter, ParameterError, Value};
use crate::quantity::{self, Dimension, Quantity};

/// Why a text names no algorithm, or does not set a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrittenError {
    /// No algorithm has this label.
    Label(LabelError),
    /// A parameter was not set.
    Setting {
        /// The parameter as written.
        name: String,
        /// The error, and the allowed values.
        message: String,
    },
}

impl fmt::Display for WrittenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(error) => error.fmt(f),
            Self::Setting { name, message } => write!(f, "{name}: {message}"),
        }
    }
}

impl core::error::Error for WrittenError {}

impl From<LabelError> for WrittenError {
    fn from(error: LabelError) -> Self {
        Self::Label(error)
    }
}

impl Registry {
    /// The algorithm of a label with the settings behind it: a number, `true` or `false`, a
    /// quantity with its unit or a word, and a list of words in brackets.
    ///
    /// ```
    /// use selfclock_congestion::Registry;
    ///
    /// let registry = Registry::built_in();
    /// assert_eq!(registry.read("cubic+hystart++:beta=0.8")?.settings().len(), 1);
    /// let error = registry.read("cubic:betta=0.8").unwrap_err();
    /// assert_eq!(error.to_string(), "betta: unknown parameter of cubic; did you mean 'beta'?");
    /// # Ok::<(), selfclock_congestion::registry::WrittenError>(())
    /// ```
    ///
    /// # Errors
    /// There is no such algorithm, or a setting is no parameter of it, has an impossible value, or
    /// would do nothing.
    pub fn read(&self, text: &str) -> Result<Selection, WrittenError> {
        let (label, settings) = with_settings(text);
        let mut selection = self.select(label)?;
        for setting in settings {
            selection.set_written(&text[setting.name], &text[setting.value])?;
        }
        selection.check_requirements()?;
        Ok(selection)
    }
}

impl Selection {
    /// Sets a parameter to a value as written in a label's settings.
    ///
    /// # Errors
    /// The parameter is unknown, or the value is not allowed.
    pub fn set_written(&mut self, name: &str, written: &str) -> Result<(), WrittenError> {
        let refuse = |message: String| WrittenError::Setting { name: name.to_owned(), message };
        let Some(parameter) = self.parameter(name) else { return Err(refuse(self.unknown(name))) };
        let value = value(parameter.kind, unquoted(written)).map_err(refuse)?;
        self.set(name, value).map_err(|error| {
            refuse(match error {
                ParameterError::OutOfRange(low, high) => {
                    let unit = if parameter.unit.is_empty() { "" } else { " " };
                    format!("{written} is outside of {low} to {high}{unit}{}", parameter.unit)
                }
                error => format!("{written}: {error}"),
            })
        })
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.parameters().map(|parameter| parameter.name).collect();
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None if names.is_empty() => "it has none".to_owned(),
            None => format!("it has {}", names.join(", ")),
        };
        format!("unknown parameter of {}; {help}", self.label())
    }

    /// Refuses a parameter that has no effect without another.
    ///
    /// # Errors
    /// Such a parameter has been set.
    pub fn check_requirements(&self) -> Result<(), WrittenError> {
        let set =
            |name: &str| self.settings().iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        for &Parameter { name, default, requires, .. } in self.parameters() {
            let Some((other, wanted)) = requires else { continue };
            let met = set(other).is_some_and(|value| as_scenarios_write(value) == wanted);
            let (culprit, missing) = match set(name) {
                Some(_) if !met => (name, format!("{other} = {wanted}")),
                None if met && default.is_empty() => (other, name.to_owned()),
                _ => continue,
            };
            let message = format!("does nothing without {missing}");
            return Err(WrittenError::Setting { name: culprit.to_owned(), message });
        }
        Ok(())
    }
}

/// A value in the form of [`Parameter::requires`].
fn as_scenarios_write(value: Value<'_>) -> String {
    match value {
        Value::Switch(on) => format!("{on}"),
        Value::Choice(word) => format!("{word:?}"),
        _ => String::new(),
    }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}

fn value(kind: Kind, text: &str) -> Result<Value<'static>, String> {
    Ok(match kind {
        Kind::Switch => match text {
            "true" => Value::Switch(true),
            "false" => Value::Switch(false),
            _ => return Err(format!("'{text}' is neither true nor false")),
        },
        Kind::Number => Value::Number(text.parse().map_err(|_| format!("'{text}' is no number"))?),
        Kind::Count => Value::Count(text.parse().map_err(|_| format!("'{text}' is no whole number"))?),
        Kind::Choice(words) => Value::Choice(words[position(text, words)?]),
        Kind::Several(words) => {
            let list = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
            let bit = |word: &str| Ok::<u32, String>(1 << position(unquoted(word.trim()), words)?);
            Value::Several(list.split(',').map(bit).try_fold(0, |all, bit| Ok::<u32, String>(all | bit?))?)
        }
        Kind::Counts => return Err(format!("'{text}' is a list of numbers, which only routers have")),
        Kind::OrWord(_, word) if text == word => Value::Choice(word),
        Kind::OrWord(kind, word) => {
            value(*kind, text).map_err(|message| format!("{message}, or '{word}'"))?
        }
        Kind::Duration | Kind::Bytes | Kind::Rate | Kind::Packets | Kind::Either(..) => {
            quantity(&dimensions(kind), text)?
        }
    })
}

fn quantity(accepted: &[Dimension], text: &str) -> Result<Value<'static>, String> {
    let read = quantity::parse(text, accepted);
    Ok(match read.map_err(|refusal| format!("{}; {}", refusal.message, refusal.help))? {
        Quantity::Time(span) => Value::Duration(span),
        Quantity::Size(size) => Value::Bytes(size),
        Quantity::Rate(rate) => Value::Rate(rate),
        Quantity::Packets(packets) => Value::Packets(packets),
        Quantity::Segments(_) | Quantity::Bdp(_) => return Err(quantity::example(accepted)),
    })
}

/// Dimension of quantities of this kind.
fn dimensions(kind: Kind) -> Vec<Dimension> {
    match kind {
        Kind::Duration => [Dimension::Time].into(),
        Kind::Bytes => [Dimension::Size].into(),
        Kind::Rate => [Dimension::Rate].into(),
        Kind::Packets => [Dimension::Packets].into(),
        Kind::Either(one, other) => [dimensions(*one), dimensions(*other)].concat(),
        _ => Vec::new(),
    }
}

fn position(word: &str, words: &'static [&'static str]) -> Result<usize, String> {
    let known = words.iter().position(|other| *other == word);
    known.ok_or_else(|| format!("'{word}' is none of {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    fn refused(text: &str) -> String {
        Registry::built_in().read(text).expect_err(text).to_string()
    }

    /// Every single-valued default can be written as the table shows it, and changes nothing.
    #[test]
    fn defaults_are_read_as_they_are_shown() {
        let mut read = 0;
        for entry in ENTRIES {
            for parameter in entry.parameters.iter().filter(|parameter| parameter.requires.is_none()) {
                // A default in words depends on another setting.
                let Ok(expected) = value(parameter.kind, parameter.default) else { continue };
                let text = format!("{}:{}={}", entry.name, parameter.name, parameter.default);
                let selection = Registry::built_in().read(&text).expect(&text);
                assert_eq!(selection.settings(), [(parameter.name, expected)], "{text}");
                read += 1;
            }
        }
        assert!(read > 50, "{read} of the parameters have a plain default");
    }

    #[test]
    fn refusals_say_what_is_allowed() {
        for (text, message) in [
            ("cubicc:beta=0.8", "no algorithm is named 'cubicc'; did you mean 'cubic'?"),
            ("cubic:beta=7", "beta: 7 is outside of "),
            ("cubic:beta=fast", "beta: 'fast' is no number"),
            ("cubic:beta", "beta: '' is no number"),
            ("cubic:abe=yes", "abe: 'yes' is neither true nor false"),
            ("cubic:beta_ecn=0.9", "beta_ecn: does nothing without abe = true"),
            ("slow-start:alpha=1", "alpha: unknown parameter of reno; it has "),
            ("hoe:acks=third", "acks: 'third' is none of closely-spaced, second-and-third"),
        ] {
            let given = refused(text);
            assert!(given.starts_with(message), "{text}: {given}");
        }
    }

    #[test]
    fn words_may_have_quotes() {
        let registry = Registry::built_in();
        for text in ["hoe:acks=second-and-third", "hoe:acks=\"second-and-third\""] {
            let selection = registry.read(text).expect(text);
            assert_eq!(selection.settings(), [("acks", Value::Choice("second-and-third"))]);
        }
        assert_eq!(registry.read("cubic:abe=true,beta_ecn=0.9").expect("met").settings().len(), 2);
    }
}

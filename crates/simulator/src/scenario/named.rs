//! Settings of things that are chosen by name, read as their lists of parameters say.

use super::error::{Problem, allowed};
use super::reader::{Item, KeySchema, Read, quantity_schema, table_schema};
use super::units::{Dimension, Quantity};
use crate::named::{Contradiction, Entry};
use selfclock_congestion::parameter::{Kind, Parameter, ParameterError, Value};
use serde_json::{Value as Json, json};

impl Contradiction {
    /// The problem, at the setting if it is written in this table, else at the table.
    pub(super) fn located(&self, table: &Item<'_>) -> Problem {
        let written = table.get(self.parameter);
        let place = written.as_ref().map_or(&table.place, |item| &item.place);
        place.problem(self.message, self.help)
    }
}

/// Sets what a table says, key by key; the keys of `structure` are read elsewhere.
pub fn read_settings(
    table: &Item<'_>,
    structure: &[&'static str],
    parameters: &'static [Parameter],
    mut set: impl FnMut(&str, Value<'_>) -> Result<(), ParameterError>,
) -> Result<(), Problem> {
    for entry in table.entries() {
        let key = entry.place.last_key();
        if structure.contains(&key) {
            continue;
        }
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == key) else {
            let names = structure.iter().copied().chain(parameters.iter().map(|parameter| parameter.name));
            return Err(entry.place.problem(format!("unknown key {key:?}"), allowed(key, names)));
        };
        let value = read_value(parameter.kind, &entry)?;
        set(key, value).map_err(|error| refusal(&error, parameter, &entry))?;
    }
    let missing = parameters
        .iter()
        .find(|parameter| parameter.default.is_empty() && table.get(parameter.name).is_none());
    missing.map_or(Ok(()), |parameter| {
        Err(table.place.problem(format!("missing key {:?}", parameter.name), parameter.about.trim()))
    })
}

/// Why a parameter did not take a value, at its place.
pub fn refusal(error: &ParameterError, parameter: &Parameter, item: &Item<'_>) -> Problem {
    match error {
        ParameterError::OutOfRange(low, high) => {
            let unit = parameter.unit;
            let message = format!("{} is out of range", item.written());
            item.place.problem(message, format!("allowed: {low} to {high} {unit}").trim_end())
        }
        ParameterError::WrongKind(_) | ParameterError::Unknown => item.place.problem("unknown value", ""),
    }
}

/// Units in which a kind is written.
fn dimensions(kind: Kind) -> Vec<Dimension> {
    match kind {
        Kind::Duration => vec![Dimension::Time],
        Kind::Bytes => vec![Dimension::Size],
        Kind::Rate => vec![Dimension::Rate],
        Kind::Packets => vec![Dimension::Packets],
        Kind::OrWord(kind, _) => dimensions(*kind),
        Kind::Either(one, other) => [dimensions(*one), dimensions(*other)].concat(),
        Kind::Switch | Kind::Number | Kind::Count | Kind::Choice(_) => Vec::new(),
    }
}

/// A value of this kind.
pub fn read_value<'a>(kind: Kind, item: &Item<'a>) -> Result<Value<'a>, Problem> {
    Ok(match kind {
        Kind::Switch => Value::Switch(bool::read(item)?),
        Kind::Number => Value::Number(item.number()?),
        Kind::Count => Value::Count(item.integer(0, i64::MAX)? as u64),
        Kind::Choice(words) => {
            let word = item.string(&format!("one of {}", words.join(", ")))?;
            if !words.contains(&word) {
                let help = allowed(word, words.iter().copied());
                return Err(item.place.problem(format!("unknown value {word:?}"), help));
            }
            Value::Choice(word)
        }
        Kind::OrWord(_, word) if item.is_word(word) => Value::Choice(word),
        Kind::OrWord(kind, _) => read_value(*kind, item)?,
        Kind::Duration | Kind::Bytes | Kind::Rate | Kind::Packets | Kind::Either(..) => {
            match item.quantity(&dimensions(kind))? {
                Quantity::Time(span) => Value::Duration(span),
                Quantity::Size(size) => Value::Bytes(size),
                Quantity::Rate(rate) => Value::Rate(rate),
                Quantity::Packets(packets) => Value::Packets(packets),
                _ => return Err(item.expected("a string with a number and a unit")),
            }
        }
    })
}

/// JSON Schema of the values of a parameter.
pub fn value_schema(parameter: &Parameter) -> Json {
    let (low, high) = parameter.range;
    match parameter.kind {
        Kind::Switch => json!({ "type": "boolean" }),
        // JSON has no infinity.
        Kind::Number => {
            json!({ "type": "number", "minimum": low.max(f64::MIN), "maximum": high.min(f64::MAX) })
        }
        Kind::Count => json!({ "type": "integer", "minimum": low as u64, "maximum": high as u64 }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::OrWord(kind, word) => {
            json!({ "anyOf": [{ "const": word }, value_schema(&Parameter { kind: *kind, ..*parameter })] })
        }
        kind => quantity_schema(&dimensions(kind)),
    }
}

/// JSON Schema of a table with these keys and the settings of an entry.
pub fn settings_schema(entry: Entry, structure: impl IntoIterator<Item = KeySchema>) -> Json {
    let settings = entry.parameters.iter().map(|parameter| {
        let (about, default, source) = (parameter.about.trim(), parameter.default, parameter.source);
        let required = default.is_empty();
        let about =
            if required { about.to_owned() } else { format!("{about} Default: {default} ({source}).") };
        KeySchema { name: parameter.name, about, schema: value_schema(parameter), required }
    });
    let about = format!("{} {}.", entry.about.trim(), entry.source);
    table_schema(&about, structure.into_iter().chain(settings))
}

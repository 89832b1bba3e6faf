//! Settings of named components, read according to their parameter lists.

use super::error::{Problem, allowed};
use super::reader::{FromItem, Item, KeySchema, missing, quantity_schema, table_schema};

use crate::named::{Contradiction, Named};
use selfclock_congestion::parameter::{ABOVE_ZERO, Counts, Kind, Parameter, ParameterError, Value};
use selfclock_congestion::quantity::{Dimension, Quantity};
use serde_json::{Value as Json, json};

impl Contradiction {
    /// The problem, located at the setting if written in this table, otherwise at the table.
    pub(super) fn located(&self, table: &Item<'_>) -> Problem {
        let written = table.get(self.parameter);
        let place = written.as_ref().map_or(&table.place, |item| &item.place);
        place.problem(self.message, self.help)
    }
}

/// Reads the choice made by `key` in a table, or else `default`, with its settings. The keys of
/// `structure` are read elsewhere.
pub fn read_named<T: Named>(
    table: &Item<'_>,
    (key, what): (&'static str, &str),
    default: Option<T>,
    structure: impl Fn(&T) -> &'static str,
) -> Result<T, Problem> {
    let mut choice = match (table.get(key), default) {
        (Some(written), _) => {
            let name = written.string(&format!("the name of a {what}"))?;
            T::named(name).ok_or_else(|| {
                let names = T::all().map(|choice| choice.entry().name);
                written.place.problem(format!("unknown {what} {name:?}"), allowed(name, names))
            })?
        }
        (None, Some(default)) => default,
        (None, None) => return Err(missing(table, key)),
    };
    read_settings(table, &[key, structure(&choice)], &mut choice)?;
    choice.check().map_err(|contradiction| contradiction.located(table))?;
    Ok(choice)
}

/// Applies a table's settings, key by key; the keys of `structure` are read elsewhere.
fn read_settings(
    table: &Item<'_>,
    structure: &[&'static str],
    choice: &mut impl Named,
) -> Result<(), Problem> {
    let parameters = choice.entry().parameters;
    let names = parameters.iter().map(|parameter| parameter.name);
    table.only_keys(&structure.iter().copied().chain(names).collect::<Vec<_>>())?;
    for parameter in parameters {
        let Some(item) = table.get(parameter.name) else {
            if parameter.default.is_empty() {
                return Err(missing(table, parameter.name));
            }
            continue;
        };
        let value = read_value(parameter.kind, &item)?;
        choice.set(parameter.name, value).map_err(|error| refusal(&error, parameter, &item))?;
    }
    Ok(())
}

/// Why a parameter refused a value, with its place.
pub fn refusal(error: &ParameterError, parameter: &Parameter, item: &Item<'_>) -> Problem {
    match error {
        ParameterError::OutOfRange(low, high) if (*low, *high) == ABOVE_ZERO => {
            item.place.problem("must be above zero", "")
        }
        ParameterError::OutOfRange(low, high) => {
            let unit = parameter.unit;
            let range = if high.is_finite() { format!("{low} to {high}") } else { format!("from {low}") };
            let message = format!("{} is out of range", item.written());
            item.place.problem(message, format!("allowed: {range} {unit}").trim_end())
        }
        ParameterError::WrongKind(_) | ParameterError::Unknown => item.place.problem("unknown value", ""),
    }
}

/// Dimensions of a kind's quantities.
fn dimensions(kind: Kind) -> Vec<Dimension> {
    match kind {
        Kind::Duration => vec![Dimension::Time],
        Kind::Bytes => vec![Dimension::Size],
        Kind::Rate => vec![Dimension::Rate],
        Kind::Packets => vec![Dimension::Packets],
        Kind::OrWord(kind, _) => dimensions(*kind),
        Kind::Either(one, other) => [dimensions(*one), dimensions(*other)].concat(),
        Kind::Switch | Kind::Number | Kind::Count | Kind::Choice(_) | Kind::Several(_) | Kind::Counts => {
            Vec::new()
        }
    }
}

/// Index of a string among these words.
fn position(item: &Item<'_>, words: &[&str]) -> Result<usize, Problem> {
    let given = item.string(&format!("one of {}", words.join(", ")))?;
    words.iter().position(|&word| word == given).ok_or_else(|| {
        item.place.problem(format!("unknown value {given:?}"), allowed(given, words.iter().copied()))
    })
}

/// Reads a value of this kind.
pub fn read_value<'a>(kind: Kind, item: &Item<'a>) -> Result<Value<'a>, Problem> {
    Ok(match kind {
        Kind::Switch => Value::Switch(bool::read(item)?),
        Kind::Number => Value::Number(item.number()?),
        Kind::Count => Value::Count(item.integer(0, i64::MAX)? as u64),
        Kind::Choice(words) => Value::Choice(words[position(item, words)?]),
        Kind::Several(words) => {
            let chosen = item.array("an array")?.into_iter();
            Value::Several(
                chosen.map(|item| Ok(1 << position(&item, words)?)).try_fold(0, |all, bit| Ok(all | bit?))?,
            )
        }
        Kind::Counts => {
            let numbers = item.array("an array")?.into_iter();
            let numbers: Vec<u32> = numbers
                .map(|item| Ok(item.integer(1, u32::MAX.into())? as u32))
                .collect::<Result<_, Problem>>()?;
            let counts = Counts::new(&numbers).filter(|_| !numbers.is_empty());
            let help = format!("such as [14, 26, 28], at most {} numbers", Counts::MOST);
            Value::Counts(counts.ok_or_else(|| item.place.problem("not a list in ascending order", help))?)
        }
        Kind::OrWord(_, word) if item.is_word(word) => Value::Choice(word),
        Kind::OrWord(kind, word) => {
            read_value(*kind, item).map_err(|problem| problem.or_at(&item.place, &format!("{word:?}")))?
        }
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
        // The maximum TOML integer.
        Kind::Count => {
            json!({ "type": "integer", "minimum": low as u64, "maximum": (high as u64).min(i64::MAX as u64) })
        }
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Several(words) => json!({ "type": "array", "items": { "enum": words }, "minItems": 1 }),
        Kind::Counts => json!({
            "type": "array", "minItems": 1, "maxItems": Counts::MOST, "items": { "type": "integer", "minimum": 1, "maximum": u32::MAX },
        }),
        Kind::OrWord(kind, word) => {
            json!({ "anyOf": [{ "const": word }, value_schema(&Parameter { kind: *kind, ..*parameter })] })
        }
        kind => quantity_schema(&dimensions(kind)),
    }
}

/// JSON Schemas of the tables that [`read_named`] reads, one per choice, with the keys of its
/// structure.
pub fn named_schemas<T: Named>(
    key: &'static str,
    about: &str,
    default: Option<T>,
    structure: impl Fn(&T) -> KeySchema,
) -> Vec<Json> {
    let default = default.map_or("", |choice| choice.entry().name);
    let schema = |choice: T| {
        let entry = choice.entry();
        let chooser = KeySchema {
            name: key,
            about: about.to_owned(),
            schema: json!({ "enum": [entry.name] }),
            required: entry.name != default,
        };
        let settings = entry.parameters.iter().map(setting_schema);
        let about = format!("{} {}.", entry.about.trim(), entry.source);
        table_schema(&about, [chooser, structure(&choice)].into_iter().chain(settings))
    };
    T::all().map(schema).collect()
}

fn setting_schema(parameter: &Parameter) -> KeySchema {
    let (about, default, source) = (parameter.about.trim(), parameter.default, parameter.source);
    let required = default.is_empty();
    let about = if required { about.to_owned() } else { format!("{about} Default: {default} ({source}).") };
    KeySchema { name: parameter.name, about, schema: value_schema(parameter), required }
}

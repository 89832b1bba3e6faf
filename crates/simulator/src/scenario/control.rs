//! `congestion_control`: which start and window, or which model, with which parameters, from the registry of algorithms.

use std::collections::BTreeMap;

use selfclock_congestion::entry::Part;
use selfclock_congestion::parameter::Parameter;
use selfclock_congestion::registry::{
    DEFAULT_START, DEFAULT_WINDOW, ENTRIES, NO_ESTIMATE, RESERVED, Registry, Selection,
};
use serde_json::{Value as Json, json};

use super::error::{Problem, allowed};
use super::named::{read_value, refusal, value_schema};
use super::reader::{Item, KeySchema, Read, table_schema};

/// A start and a window, with an estimator if there is one, or a model; with their parameters.
#[derive(Clone, Debug)]
pub struct Control {
    /// Start and window, or model.
    pub selection: Selection,
    /// Name in records.
    pub name: String,
}

impl Default for Control {
    fn default() -> Self {
        Self::new(&Registry::built_in(), DEFAULT_START, DEFAULT_WINDOW)
            .expect("the registry knows its defaults")
    }
}

impl Control {
    /// The part that is a default goes without saying, so "reno" is slow start and Reno, and "packet-pair" is
    /// packet pair and Reno.
    fn new(registry: &Registry, start: &str, window: &str) -> Option<Self> {
        let name = match (start, window) {
            (DEFAULT_START, window) => window.to_owned(),
            (start, DEFAULT_WINDOW) => start.to_owned(),
            (start, window) => format!("{window}+{start}"),
        };
        Some(Self { selection: registry.parts(start, window)?, name })
    }

    /// With this estimator, which the name tells if it is not the usual one of the window.
    fn with_estimate(self, estimate: &str) -> Option<Self> {
        let selection = self.selection.with_estimate(estimate)?;
        let suffix = selection.unusual_estimate().map_or_else(String::new, |estimate| match estimate {
            NO_ESTIMATE => String::new(),
            estimate => format!("+{estimate}"),
        });
        Some(Self { selection, name: self.name + &suffix })
    }

    fn model(registry: &Registry, name: &str) -> Option<Self> {
        Some(Self { selection: registry.model(name)?, name: name.to_owned() })
    }

    fn from_name(item: &Item<'_>, name: &str) -> Result<Self, Problem> {
        let control = match item.registry.entries().find(|entry| entry.name == name).map(|entry| entry.part) {
            Some(Part::Start) => Self::new(item.registry, name, DEFAULT_WINDOW),
            Some(Part::Window) => Self::new(item.registry, DEFAULT_START, name),
            Some(Part::Model) => Self::model(item.registry, name),
            Some(Part::Estimate) => Self::default().with_estimate(name),
            None => None,
        };
        let names = item.registry.entries().map(|entry| entry.name);
        control.ok_or_else(|| item.place.problem(format!("unknown algorithm {name:?}"), allowed(name, names)))
    }

    fn from_table(item: &Item<'_>) -> Result<Self, Problem> {
        let model = part(item, "model", Part::Model)?;
        let mut control = match model {
            Some(model) => {
                if let Some(other) = ["window", "start", "estimate"].into_iter().find_map(|key| item.get(key))
                {
                    return Err(other.place.problem(
                        format!("{model} is start and window in one"),
                        "leave out either the model or the start and window",
                    ));
                }
                Self::model(item.registry, model)
            }
            None => {
                let start = part(item, "start", Part::Start)?.unwrap_or(DEFAULT_START);
                let window = part(item, "window", Part::Window)?.unwrap_or(DEFAULT_WINDOW);
                Self::new(item.registry, start, window)
            }
        }
        .ok_or_else(|| item.place.problem("start and window do not combine", ""))?;
        if let Some(written) = item.get("estimate") {
            let name = written.string("the name of an estimator, or \"none\"")?;
            let unknown =
                || written.place.problem(format!("unknown estimate {name:?}"), allowed(name, estimates()));
            control = control.with_estimate(name).ok_or_else(unknown)?;
        }
        for entry in item.entries() {
            let key = entry.place.last_key();
            if !RESERVED.contains(&key) {
                let parts = if model.is_some() { &RESERVED[3..] } else { &RESERVED };
                set(&mut control.selection, key, &entry, parts)?;
                check_requirements(&control.selection, item, &entry)?;
            }
        }
        Ok(control)
    }
}

impl Read for Control {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.value.as_str() {
            Some(name) => Self::from_name(item, name),
            None if item.value.is_table() => Self::from_table(item),
            None => Err(item.expected("the name of an algorithm, or a table")),
        }
    }

    fn schema() -> Json {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        let key =
            |name, about: &str, schema| KeySchema { name, about: about.to_owned(), schema, required: false };
        let start =
            key("start", "How the connection begins. Default: \"slow-start\".", names_schema(Part::Start));
        let window =
            key("window", "How the window grows and shrinks. Default: \"reno\".", names_schema(Part::Window));
        let model = key(
            "model",
            "An algorithm that is both, instead of `start` and `window`.",
            names_schema(Part::Model),
        );
        let estimate = key(
            "estimate",
            "What measures the path beside them. Default: \"icim\" for \"lotka-volterra\", else \"none\".",
            json!({ "enum": estimates().collect::<Vec<_>>() }),
        );
        let keys = [window, start, estimate, model].into_iter().chain(parameter_keys());
        let table = table_schema("Start and window, or model, with their parameters.", keys);
        json!({ "anyOf": [{ "enum": names }, table] })
    }
}

fn names(registry: &Registry, part: Part) -> impl Iterator<Item = &'static str> + Clone {
    registry.entries().filter(move |entry| entry.part == part).map(|entry| entry.name)
}

fn estimates() -> impl Iterator<Item = &'static str> + Clone {
    let built_in = ENTRIES.iter().filter(|entry| entry.part == Part::Estimate);
    built_in.map(|entry| entry.name).chain([NO_ESTIMATE])
}

fn names_schema(part: Part) -> Json {
    json!({ "enum": names(&Registry::built_in(), part).collect::<Vec<_>>() })
}

fn part<'a>(item: &Item<'a>, key: &str, part: Part) -> Result<Option<&'a str>, Problem> {
    let Some(named) = item.get(key) else {
        return Ok(None);
    };
    let name = named.string("the name of an algorithm")?;
    if names(item.registry, part).any(|known| known == name) {
        return Ok(Some(name));
    }
    Err(named.place.problem(format!("unknown {key} {name:?}"), allowed(name, names(item.registry, part))))
}

fn set(
    selection: &mut Selection,
    name: &str,
    item: &Item<'_>,
    parts: &[&'static str],
) -> Result<(), Problem> {
    let Some(parameter) = selection.parameter(name) else {
        let own = selection.parameters().map(|parameter| parameter.name);
        let names: Vec<&str> = parts.iter().copied().chain(own).collect();
        return Err(item.place.problem("unknown parameter", allowed(name, names.iter().copied())));
    };
    let value = read_value(parameter.kind, item)?;
    selection.set(name, value).map_err(|error| refusal(&error, parameter, item))
}

/// Refuses a parameter that would do nothing.
fn check_requirements(selection: &Selection, item: &Item<'_>, entry: &Item<'_>) -> Result<(), Problem> {
    let key = entry.place.last_key();
    let written = |name: &str, wanted: &str| {
        item.get(name).is_some_and(|value| match value.value.as_str() {
            Some(word) => format!("{word:?}") == wanted,
            None => value.value.as_bool().is_some_and(|on| on.to_string() == wanted),
        })
    };
    for Parameter { name, default, requires, .. } in selection.parameters() {
        let Some((other, wanted)) = *requires else { continue };
        if *name == key && !written(other, wanted) {
            let help = format!("write {other} = {wanted} beside it, or leave it out");
            return Err(entry.place.problem(format!("does nothing without {other} = {wanted}"), help));
        }
        if default.is_empty() && other == key && written(other, wanted) && item.get(name).is_none() {
            let message = format!("does nothing without {name}");
            return Err(entry.place.problem(message, format!("write {name} beside it")));
        }
    }
    Ok(())
}

/// Every parameter of every algorithm. One name may stand for a parameter of several.
fn parameter_keys() -> impl Iterator<Item = KeySchema> {
    let mut keys: BTreeMap<&'static str, Vec<(String, Json)>> = BTreeMap::new();
    for entry in ENTRIES {
        for parameter in entry.parameters {
            let (algorithm, about) = (entry.name, parameter.about.trim());
            let (default, source) = (parameter.default, parameter.source);
            let about = format!("{algorithm}: {about} Default: {default} ({source}).");
            keys.entry(parameter.name).or_default().push((about, value_schema(parameter)));
        }
    }
    keys.into_iter().map(|(name, meanings)| {
        let (about, mut schemas): (Vec<String>, Vec<Json>) = meanings.into_iter().unzip();
        let schema = if schemas.len() == 1 { schemas.remove(0) } else { json!({ "anyOf": schemas }) };
        KeySchema { name, about: about.join(" "), schema, required: false }
    })
}

//! `congestion_control`: start and window, or model, with their parameters, from the registry.

use std::collections::BTreeMap;

use selfclock_congestion::entry::Part;
use selfclock_congestion::parameter::Parameter;
use selfclock_congestion::registry::{
    DEFAULT_START, DEFAULT_WINDOW, NO_ESTIMATE, RESERVED, Registry, Selection, answer,
};
use serde_json::{Value as Json, json};

use super::error::{Problem, allowed};
use super::named::{read_value, refusal, value_schema};
use super::reader::{FromItem, Item, KeySchema, table_schema};
use super::stack::{CONTROLLER, STACK, word_schema};
use crate::stack::KNOWN;

impl FromItem for Selection {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.value.as_str() {
            Some(name) => from_name(item, name),
            None if item.value.is_table() => from_table(item),
            None => Err(item.expected("the name of an algorithm, or a table")),
        }
    }

    fn schema() -> Json {
        json!({ "$ref": ALGORITHM })
    }
}

/// Placeholder in the schema for the choice of an algorithm, which [`fill`] replaces.
const ALGORITHM: &str = "algorithm";

/// Replaces the placeholders in a schema by the algorithms of a registry.
pub fn fill(schema: &mut Json, registry: &Registry) {
    fill_with(schema, &registry_schema(registry));
}

fn fill_with(node: &mut Json, chosen: &Json) {
    match node {
        Json::Object(map) if map.get("$ref").is_some_and(|name| name == ALGORITHM) => {
            map.remove("$ref");
            map.extend(
                chosen.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        Json::Object(map) => map.values_mut().for_each(|inner| fill_with(inner, chosen)),
        Json::Array(list) => list.iter_mut().for_each(|inner| fill_with(inner, chosen)),
        _ => {}
    }
}

fn registry_schema(registry: &Registry) -> Json {
    let all: Vec<&str> = registry.entries().map(|entry| entry.name).collect();
    let key =
        |name, about: &str, schema| KeySchema { name, about: about.to_owned(), schema, required: false };
    let one_of = |part| json!({ "enum": names(registry, part).collect::<Vec<_>>() });
    let keys = [
        key("window", "How the window grows and shrinks. Default: \"reno\".", one_of(Part::Window)),
        key("start", "How the connection begins. Default: \"slow-start\".", one_of(Part::Start)),
        key(
            "estimate",
            "What measures the path beside them. Default: \"icim\" for \"lotka-volterra\", else \"none\".",
            json!({ "enum": estimates(registry).collect::<Vec<_>>() }),
        ),
        key("model", "An algorithm that is both, instead of `start` and `window`.", one_of(Part::Model)),
        key(
            CONTROLLER,
            "A congestion controller of the stack, instead of an algorithm of ours.",
            json!({ "type": "string" }),
        ),
        key(
            STACK,
            "The QUIC stack in which the algorithm runs. Default: none, our TCP.",
            json!({ "enum": KNOWN }),
        ),
    ];
    let keys = keys.into_iter().chain(parameter_keys(registry));
    let table = table_schema("Start and window, or model, with their parameters.", keys);
    json!({ "anyOf": [{ "enum": all }, table, word_schema()] })
}

fn from_name(item: &Item<'_>, name: &str) -> Result<Selection, Problem> {
    let names = item.registry.entries().map(|entry| entry.name);
    if names.clone().any(|known| known == name)
        && let Ok(selection) = item.registry.select(name)
    {
        return Ok(selection);
    }
    Err(item.place.problem(format!("unknown algorithm {name:?}"), meant(name, names)))
}

/// The answer to an unknown name of an algorithm, or the allowed names.
fn meant<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    answer(name).map_or_else(|| allowed(name, names), str::to_owned)
}

fn from_table(item: &Item<'_>) -> Result<Selection, Problem> {
    let model = part(item, "model", Part::Model)?;
    let selection = match model {
        Some(model) => {
            if let Some(other) = ["window", "start", "estimate"].into_iter().find_map(|key| item.get(key)) {
                return Err(other.place.problem(
                    format!("{model} is start and window in one"),
                    "leave out either the model or the start and window",
                ));
            }
            item.registry.model(model)
        }
        None => {
            let start = part(item, "start", Part::Start)?.unwrap_or(DEFAULT_START);
            let window = part(item, "window", Part::Window)?.unwrap_or(DEFAULT_WINDOW);
            item.registry.parts(start, window)
        }
    };
    let mut selection = selection.ok_or_else(|| item.place.problem("start and window do not combine", ""))?;
    if let Some(written) = item.get("estimate") {
        let name = written.string("the name of an estimator, or \"none\"")?;
        selection = selection.with_estimate(name).ok_or_else(|| {
            let help = allowed(name, estimates(item.registry));
            written.place.problem(format!("unknown estimate {name:?}"), help)
        })?;
    }
    for entry in item.entries() {
        let key = entry.place.last_key();
        if !RESERVED.contains(&key) && key != STACK {
            let parts = if model.is_some() { &RESERVED[3..] } else { &RESERVED };
            set(&mut selection, key, &entry, parts)?;
            check_requirements(&selection, item, &entry)?;
        }
    }
    Ok(selection)
}

fn names(registry: &Registry, part: Part) -> impl Iterator<Item = &'static str> + Clone {
    registry.entries().filter(move |entry| entry.part == part).map(|entry| entry.name)
}

fn estimates(registry: &Registry) -> impl Iterator<Item = &'static str> + Clone {
    names(registry, Part::Estimate).chain([NO_ESTIMATE])
}

fn part<'a>(item: &Item<'a>, key: &str, part: Part) -> Result<Option<&'a str>, Problem> {
    let Some(named) = item.get(key) else {
        return Ok(None);
    };
    let name = named.string("the name of an algorithm")?;
    if names(item.registry, part).any(|known| known == name) {
        return Ok(Some(name));
    }
    Err(named.place.problem(format!("unknown {key} {name:?}"), meant(name, names(item.registry, part))))
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

/// Refuses a parameter without effect.
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

/// Every parameter of every algorithm. Several may share a name.
fn parameter_keys(registry: &Registry) -> impl Iterator<Item = KeySchema> + use<> {
    let mut keys: BTreeMap<&'static str, Vec<(String, Json)>> = BTreeMap::new();
    for entry in registry.entries() {
        for parameter in entry.parameters {
            let (algorithm, about) = (entry.name, parameter.about.trim());
            let default = match parameter.requires {
                Some((other, value)) if parameter.default.is_empty() => {
                    format!("Required with {other} = {value}")
                }
                _ => format!("Default: {}", parameter.default),
            };
            let about = format!("{algorithm}: {about} {default} ({}).", parameter.source);
            keys.entry(parameter.name).or_default().push((about, value_schema(parameter)));
        }
    }
    keys.into_iter().map(|(name, meanings)| {
        let (about, mut schemas): (Vec<String>, Vec<Json>) = meanings.into_iter().unzip();
        let schema = if schemas.len() == 1 { schemas.remove(0) } else { json!({ "anyOf": schemas }) };
        KeySchema { name, about: about.join(" "), schema, required: false }
    })
}

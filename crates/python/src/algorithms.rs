//! What can be named in a scenario.

use pyo3::prelude::*;
use selfclock_congestion::parameter::{Kind, Parameter};
use selfclock_congestion::registry::{Entry, Part};
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{DisciplinePlan, MechanismPlan};
use serde_json::{Value, json};

use crate::control::registry;

/// Every algorithm with its parameters, as JSON text.
#[pyfunction]
pub fn algorithms() -> String {
    Value::Array(registry().entries().map(entry).collect()).to_string()
}

/// Every queue discipline with its settings, as JSON text.
#[pyfunction]
pub fn queues() -> String {
    named::<DisciplinePlan>("queue")
}

/// Every router mechanism with its settings, as JSON text.
#[pyfunction]
pub fn routers() -> String {
    named::<MechanismPlan>("router")
}

fn named<T: Named>(part: &str) -> String {
    let row = |choice: T| {
        let entry = choice.entry();
        row(entry.name, part, entry.about, entry.source, entry.parameters)
    };
    Value::Array(T::all().map(row).collect()).to_string()
}

fn entry(entry: Entry) -> Value {
    let part = match entry.part {
        Part::Start => "start",
        Part::Window => "window",
        Part::Model => "model",
        Part::Estimate => "estimate",
    };
    row(entry.name, part, entry.about, entry.source, entry.parameters)
}

fn row(name: &str, part: &str, about: &str, source: &str, parameters: &[Parameter]) -> Value {
    let parameters: Vec<Value> = parameters.iter().map(parameter).collect();
    json!({ "name": name, "part": part, "about": about.trim(), "source": source, "parameters": parameters })
}

fn parameter(parameter: &Parameter) -> Value {
    let (kind, allowed) = match parameter.kind {
        Kind::Switch => ("switch", json!(["true", "false"])),
        Kind::Choice(words) => ("choice", json!(words)),
        Kind::Several(words) => ("list of words", json!(words)),
        Kind::Number => ("number", range(parameter)),
        Kind::Duration => ("duration", range(parameter)),
        Kind::Bytes => ("bytes", range(parameter)),
        Kind::Rate => ("rate", range(parameter)),
        Kind::Count => ("count", range(parameter)),
        Kind::Packets => ("packets", range(parameter)),
        Kind::OrWord(..) => ("value or word", range(parameter)),
        Kind::Either(..) => ("one of two units", range(parameter)),
    };
    json!({
        "name": parameter.name,
        "about": parameter.about.trim(),
        "kind": kind,
        "unit": parameter.unit,
        "default": parameter.default,
        "allowed": allowed,
        "source": parameter.source,
    })
}

/// Smallest and largest value, in the parameter's unit.
fn range(parameter: &Parameter) -> Value {
    json!({ "minimum": parameter.range.0, "maximum": parameter.range.1 })
}

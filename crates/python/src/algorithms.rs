//! What can be named in a scenario.

use pyo3::prelude::*;
use selfclock_congestion::parameter::{Kind, Parameter};
use selfclock_congestion::registry::{ENTRIES, Entry, Part};
use serde_json::{Value, json};

/// Every algorithm with its parameters, as JSON text.
#[pyfunction]
pub fn algorithms() -> String {
    Value::Array(ENTRIES.iter().map(entry).collect()).to_string()
}

fn entry(entry: &Entry) -> Value {
    let part = match entry.part {
        Part::Start => "start",
        Part::Window => "window",
        Part::Model => "model",
        Part::Estimate => "estimate",
    };
    let parameters: Vec<Value> = entry.parameters.iter().map(parameter).collect();
    json!({
        "name": entry.name,
        "part": part,
        "about": entry.about.trim(),
        "source": entry.source,
        "parameters": parameters,
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let (kind, allowed) = match parameter.kind {
        Kind::Switch => ("switch", json!(["true", "false"])),
        Kind::Number => ("number", range(parameter)),
        Kind::Duration => ("duration", range(parameter)),
        Kind::Bytes => ("bytes", range(parameter)),
        Kind::Rate => ("rate", range(parameter)),
        Kind::Choice(words) => ("choice", json!(words)),
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

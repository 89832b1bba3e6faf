//! Names available to scenarios.

use pyo3::prelude::*;
use selfclock_congestion::Registry;
use selfclock_congestion::entry::{Entry, Part};
use selfclock_congestion::parameter::{Kind, Parameter};
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{DisciplinePlan, MechanismPlan};
use selfclock_simulator::scenario;
use selfclock_simulator::stack::{self, Stack};
use serde_json::{Value, json};

use crate::control::registry;
use crate::scenario::raised;

/// Units, totals, series and transport keys, as JSON text.
#[pyfunction]
pub fn catalogue() -> String {
    selfclock_simulator::catalogue::json().to_string()
}

/// Every algorithm with its parameters, as JSON text.
#[pyfunction]
pub fn algorithms() -> String {
    let registry = registry();
    Value::Array(registry.entries().map(|row| entry(&registry, row)).collect()).to_string()
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

/// Every built-in QUIC stack with the names of its congestion controllers, as JSON text.
#[pyfunction]
pub fn stacks() -> String {
    let row = |stack: &'static dyn Stack| json!({ "name": stack.name(), "about": stack.about(), "controllers": stack.controllers() });
    Value::Array(stack::all().into_iter().map(row).collect()).to_string()
}

fn named<T: Named>(part: &str) -> String {
    let row = |choice: T| {
        let entry = choice.entry();
        row(entry.name, part, entry.about, entry.source, entry.parameters)
    };
    Value::Array(T::all().map(row).collect()).to_string()
}

/// The table of an algorithm such as "cubic+hystart++:beta=0.8" in a scenario file.
#[pyfunction]
pub fn control_table(text: &str) -> PyResult<String> {
    scenario::control_table(&registry(), text).map_err(raised)
}

/// The answer to a name that people know and no algorithm has; none for others.
#[pyfunction]
pub fn known_elsewhere(name: &str) -> Option<&'static str> {
    selfclock_congestion::registry::answer(name)
}

/// The table of a queue discipline such as "codel:target=5ms" in a scenario file.
#[pyfunction]
pub fn queue_table(text: &str) -> PyResult<String> {
    scenario::queue_table(text).map_err(raised)
}

fn entry(registry: &Registry, entry: Entry) -> Value {
    let Entry { name, about, source, parameters, .. } = entry;
    let mut row = row(name, entry.part.name(), about, source, parameters);
    row["marks"] = entry.marks.name().into();
    if matches!(entry.part, Part::Window | Part::Model) {
        row["recovery"] = entry.recovery.name().into();
        row["after_idle"] = entry.after_idle.name().into();
    }
    row["router"] = json!(entry.router.map(|router| {
        json!({ "mechanism": router.mechanism, "everywhere": router.everywhere, "without": router.without })
    }));
    row["peer"] = registry.select(name).is_ok_and(|selection| !selection.partner().is_none()).into();
    row
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
        Kind::Counts => ("list of whole numbers", json!(["from 1, ascending"])),
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
        "requires": parameter.requires.map(|(other, value)| format!("{other} = {value}")),
    })
}

/// Smallest and largest value, in the parameter's unit.
fn range(parameter: &Parameter) -> Value {
    json!({ "minimum": parameter.range.0, "maximum": parameter.range.1 })
}

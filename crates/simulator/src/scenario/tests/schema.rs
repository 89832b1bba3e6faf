//! JSON Schema and reference.

use super::folder;
use crate::named::Named as _;
use crate::plan::{DisciplinePlan, MechanismPlan};
use crate::scenario::schema;
use selfclock_congestion::registry::{ENTRIES, Registry};
use serde_json::Value as Json;

/// Calls `visit` with the name and schema of every key.
fn each_key(schema: &Json, visit: &mut impl FnMut(&str, &Json)) {
    match schema {
        Json::Object(object) => {
            for (name, key) in object.get("properties").and_then(Json::as_object).into_iter().flatten() {
                visit(name, key);
            }
            object.values().for_each(|value| each_key(value, visit));
        }
        Json::Array(values) => values.iter().for_each(|value| each_key(value, visit)),
        _ => {}
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema(&Registry::built_in());
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut keys = 0;
    each_key(&schema, &mut |name, key| {
        keys += 1;
        assert!(key["description"].as_str().is_some_and(|about| about.len() > 3), "{name}");
        let kinds = ["type", "enum", "const", "anyOf", "oneOf"];
        assert!(kinds.iter().any(|kind| key.get(kind).is_some()), "{name} has no type");
    });
    assert!(keys > 90, "{keys}");
    assert_eq!(schema["required"], serde_json::json!(["schema", "duration", "network", "flow"]));
    let table = &schema["properties"]["flow"]["items"]["properties"]["congestion_control"]["anyOf"][1];
    let starts = table["properties"]["start"]["enum"].as_array().expect("names of starts");
    assert!(starts.contains(&Json::from("packet-pair")) && !starts.contains(&Json::from("reno")));
    assert_eq!(table["properties"]["tick"]["type"], "string");
}

/// The reference contains every key of the schema as code, and no table of it names any other.
/// Parameters of algorithms, queue disciplines and router mechanisms have tables elsewhere, made
/// from the registry.
#[test]
fn the_reference_lists_every_key() {
    let path = folder().join("docs/scenario-reference.md");
    let reference = std::fs::read_to_string(path).expect("the reference");
    let mut names = std::collections::BTreeSet::new();
    each_key(&schema(&Registry::built_in()), &mut |name, _| {
        names.insert(name.to_owned());
    });
    let named = DisciplinePlan::all().map(|plan| plan.entry().parameters);
    let named = named.chain(MechanismPlan::all().map(|plan| plan.entry().parameters));
    let settings = ENTRIES.iter().map(|entry| entry.parameters).chain(named);
    let settings: std::collections::BTreeSet<&str> =
        settings.flatten().map(|parameter| parameter.name).collect();
    let is_parameter = |name: &str| settings.contains(name);
    for name in names.iter().filter(|name| !is_parameter(name)) {
        let named = [format!("`{name}`"), format!(".{name}`")].iter().any(|name| reference.contains(name));
        assert!(named, "{name} is not in the reference");
    }
    for row in reference.lines().filter_map(|line| line.strip_prefix("| `")) {
        let name = row.split('`').next().and_then(|path| path.rsplit('.').next()).unwrap_or_default();
        assert!(names.contains(name), "{name} is in the reference, but is no key");
    }
}

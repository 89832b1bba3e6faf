//! JSON Schema of a scenario file, from the same declarations as the reader.

use selfclock_congestion::registry::Registry;
use serde_json::{Value as Json, json};

use super::control;
use super::reader::FromItem;
use super::table::ScenarioTable;

/// JSON Schema (draft 2020-12) of a scenario file that may name any algorithm of the registry.
pub fn schema(registry: &Registry) -> Json {
    let mut schema = ScenarioTable::schema();
    control::fill(&mut schema, registry);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("selfclock scenario");
    schema
}

//! JSON Schema of a scenario file, from the same declarations as the reader.

use serde_json::{Value as Json, json};

use super::reader::Read;
use super::table::ScenarioTable;

/// JSON Schema (draft 2020-12) of a scenario file.
pub fn schema() -> Json {
    let mut schema = ScenarioTable::schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("selfclock scenario");
    schema
}

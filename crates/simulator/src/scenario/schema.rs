//! JSON Schema of a scenario file, from the same declarations as the reader.

use serde_json::{Value as Json, json};

use super::file::File;
use super::reader::Read;

/// JSON Schema (draft 2020-12) of a scenario file.
pub fn schema() -> Json {
    let mut schema = File::schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("selfclock scenario");
    schema
}

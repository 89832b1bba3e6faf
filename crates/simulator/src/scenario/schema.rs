//! JSON Schema of a scenario file, from the same declarations as the reader.

use selfclock_congestion::registry::Registry;
use serde_json::{Value as Json, json};

use super::control;
use super::layer::{self, KeyDefault, Layer as _};
use super::reader::FromItem;
use super::table::ScenarioTable;
use super::table::transport::TransportTable;
use crate::plan::Transport;

/// JSON Schema (draft 2020-12) of a scenario file that may name any algorithm of the registry.
pub fn schema(registry: &Registry) -> Json {
    let mut schema = ScenarioTable::schema();
    control::fill(&mut schema, registry);
    let defaults = transport_defaults();
    layer::describe(&mut schema["properties"]["transport"], &defaults);
    layer::describe(&mut schema["properties"]["flow"]["items"]["properties"]["transport"], &defaults);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("selfclock scenario");
    schema
}

/// The defaults of every transport key.
pub fn transport_defaults() -> Vec<KeyDefault> {
    let profiles = [Transport::modern(), Transport::classic()];
    TransportTable::defaults(profiles.each_ref(), profiles.each_ref().map(|profile| profile.mss))
}

//! Router mechanisms, read by name.

use super::value::Name;
use crate::router::MechanismPlan;
use crate::router::mechanism::Placement;
use crate::scenario::error::Problem;
use crate::scenario::named::{named_schemas, read_named};
use crate::scenario::reader::{Field, FromItem, Item, KeySchema, List, Several};
use serde_json::{Value as Json, json};

/// A mechanism, as written.
#[derive(Clone, Debug)]
pub struct RouterTable {
    /// The mechanism and its settings.
    pub mechanism: MechanismPlan,
    /// Names of its links or nodes; by default as its [`Placement`] says.
    pub names: List<Name>,
}

/// The key that places a mechanism.
fn place_key(mechanism: &MechanismPlan) -> &'static str {
    match mechanism.placement() {
        Placement::Links | Placement::LinksOrAllOfRouters => "links",
        Placement::Nodes => "nodes",
    }
}

impl FromItem for RouterTable {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.table("a table")?;
        let mechanism = read_named(item, ("mechanism", "mechanism"), None, place_key)?;
        let names = match mechanism.placement() {
            Placement::LinksOrAllOfRouters => Several::read_key(item, place_key(&mechanism))?.0,
            Placement::Links | Placement::Nodes => List::read_key(item, place_key(&mechanism))?,
        };
        Ok(Self { mechanism, names })
    }

    fn schema() -> Json {
        let place = |mechanism: &MechanismPlan| {
            KeySchema {
            name: place_key(mechanism),
            about: match mechanism.placement() {
                Placement::Links => "Links before which it stands.",
                Placement::LinksOrAllOfRouters => {
                    "Links before which it stands. Default: all that leave a router."
                }
                Placement::Nodes => {
                    "Routers of the domain: it stands before all links that leave them. The first and the last on a flow's way are the flow's edges."
                }
            }
            .to_owned(),
            schema: <List<Name> as Field>::schema(),
            required: mechanism.placement() != Placement::LinksOrAllOfRouters,
        }
        };
        json!({ "oneOf": named_schemas("mechanism", "Mechanism in the router.", None, place) })
    }
}

//! A link's `queue`: its limit, or a table with a discipline and its settings.

use crate::named::Named as _;
use crate::plan::{PlanError, QueueSize};
use crate::queue::DisciplinePlan;
use crate::scenario::error::Problem;
use crate::scenario::named::{named_schemas, read_named};
use crate::scenario::reader::{Field, FromItem, Item, KeySchema, Maybe, quantity_schema};
use selfclock_congestion::quantity::{self, Dimension, Quantity};
use serde_json::{Value as Json, json};

/// Units of a limit.
const DIMENSIONS: [Dimension; 3] = [Dimension::Packets, Dimension::Size, Dimension::Bdp];

impl FromItem for QueueSize {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self::Unlimited);
        }
        let size = match item.quantity(&DIMENSIONS)? {
            Quantity::Packets(packets) => Self::Packets(packets),
            Quantity::Size(size) => Self::Bytes(size),
            Quantity::Bdp(multiple) => Self::Bdp(multiple),
            _ => Self::Packets(0),
        };
        if size.is_nothing() {
            let help = format!("{}, or \"unlimited\"", quantity::example(&DIMENSIONS));
            return Err(item.place.problem(PlanError::NoQueue.to_string(), help));
        }
        Ok(size)
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "unlimited" }, quantity_schema(&DIMENSIONS)] })
    }
}

/// A queue, as written: its limit, or a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// Queue limit. `None`: that of its discipline's source, or else of its place in the network.
    pub limit: Option<QueueSize>,
    /// Who is dropped or marked, and who goes first.
    pub discipline: DisciplinePlan,
}

impl FromItem for Queue {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.value.as_table().is_none() {
            return QueueSize::read(item).map(|limit| Self { limit: Some(limit), ..Self::default() });
        }
        let default = Some(DisciplinePlan::default());
        let discipline = read_named(item, ("discipline", "queue discipline"), default, |_| "limit")?;
        let limit: Maybe<QueueSize> = Field::read_key(item, "limit")?;
        Ok(Self { limit: limit.map(|limit| limit.value), discipline })
    }

    fn schema() -> Json {
        let default = DisciplinePlan::default();
        let about = format!("Queue discipline. Default: \"{}\".", default.entry().name);
        let mut forms = vec![QueueSize::schema()];
        forms.extend(named_schemas("discipline", &about, Some(default), |discipline: &DisciplinePlan| {
            let usual = discipline.usual_limit().map_or("as without a table".to_owned(), |it| {
                format!("{} packets ({})", it.packets, it.source)
            });
            KeySchema {
                name: "limit",
                about: format!("What the queue holds at most, all its parts together. Default: {usual}."),
                schema: QueueSize::schema(),
                required: false,
            }
        }));
        json!({ "anyOf": forms })
    }
}

//! A link's `queue`: its limit, or a table with a discipline and its settings.

use crate::named::Named as _;
use crate::queue::DisciplinePlan;
use crate::scenario::error::Problem;
use crate::scenario::named::{named_schemas, read_named};
use crate::scenario::reader::{Field, FromItem, Item, KeySchema, Maybe, quantity_schema};
use crate::scenario::units::{self, Dimension, Quantity};
use selfclock_congestion::units::Bytes;
use serde_json::{Value as Json, json};

/// What a queue holds at most, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueSize {
    /// Any number.
    Unlimited,
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// A multiple of the bandwidth-delay product.
    Bdp(f64),
}

impl QueueSize {
    const DIMENSIONS: [Dimension; 3] = [Dimension::Packets, Dimension::Size, Dimension::Bdp];
}

impl FromItem for QueueSize {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self::Unlimited);
        }
        match item.quantity(&Self::DIMENSIONS)? {
            Quantity::Packets(packets) if packets > 0 => Ok(Self::Packets(packets)),
            Quantity::Size(size) if size > Bytes::ZERO => Ok(Self::Bytes(size)),
            Quantity::Bdp(multiple) if multiple > 0.0 => Ok(Self::Bdp(multiple)),
            _ => Err(item.place.problem(
                "a queue must hold something",
                format!("{}, or \"unlimited\"", units::example(&Self::DIMENSIONS)),
            )),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "unlimited" }, quantity_schema(&Self::DIMENSIONS)] })
    }
}

/// A queue, as written: its limit, or a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// What it holds at most. `None`: the default of its place in the network.
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
        forms.extend(named_schemas("discipline", &about, Some(default), |_| KeySchema {
            name: "limit",
            about: "What the queue holds at most, all its parts together. Default: as without a table."
                .to_owned(),
            schema: QueueSize::schema(),
            required: false,
        }));
        json!({ "anyOf": forms })
    }
}

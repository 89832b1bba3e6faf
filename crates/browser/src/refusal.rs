//! Why a request was refused.

use selfclock_simulator::scenario::ScenarioError;
use serde_json::{Value, json};

use crate::size::Size;

/// A refused request.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The scenario has an error.
    Scenario(Box<ScenarioError>),
    /// It is too large.
    TooLarge(Size, String),
    /// The run has failed, or the request is invalid.
    Failed(String),
}

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error.into())
    }
}

impl Refusal {
    /// JSON for the page.
    pub fn json(&self) -> Value {
        match self {
            Self::Scenario(error) => json!({
                "kind": "error",
                "text": error.to_string(),
                "message": error.message,
                "help": error.help,
                "key": error.key,
                "line": error.line(),
                "column": error.column(),
                "source": error.source_name,
            }),
            Self::TooLarge(size, message) => {
                let mut refusal = unlocated("size", message);
                refusal["size"] = size.json();
                refusal
            }
            Self::Failed(message) => unlocated("failed", message),
        }
    }
}

fn unlocated(kind: &str, message: &str) -> Value {
    json!({
        "kind": kind, "text": message, "message": message, "help": "", "key": "",
        "line": null, "column": null, "source": "",
    })
}

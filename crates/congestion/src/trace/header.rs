//! The head of a trace: an algorithm, its parameters, and the connection's set-up.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::record::TraceError;
use crate::entry::Part;
use crate::parameter::Value;
use crate::registry::{Registry, Selection};
use crate::state::Setup;
use crate::units::{Bytes, Duration, Rate};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    Number(u8, u64),
    Word(String),
}

impl From<Value<'_>> for Setting {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Switch(on) => Self::Number(0, on.into()),
            Value::Number(number) => Self::Number(1, number.to_bits()),
            Value::Duration(span) => Self::Number(2, span.picoseconds()),
            Value::Bytes(size) => Self::Number(3, size.get()),
            Value::Rate(rate) => Self::Number(4, rate.bits_per_second()),
            Value::Count(count) => Self::Number(5, count),
            Value::Packets(packets) => Self::Number(6, packets),
            Value::Several(words) => Self::Number(7, words.into()),
            Value::Choice(word) => Self::Word(word.to_owned()),
            // No algorithm has such a parameter.
            Value::Counts(counts) => Self::Word(alloc::format!("{counts:?}")),
        }
    }
}

impl Setting {
    fn value(&self) -> Result<Value<'_>, TraceError> {
        Ok(match self {
            Self::Word(word) => Value::Choice(word),
            &Self::Number(kind, number) => match kind {
                0 => Value::Switch(number != 0),
                1 => Value::Number(f64::from_bits(number)),
                2 => Value::Duration(Duration::from_picoseconds(number)),
                3 => Value::Bytes(Bytes(number)),
                4 => Value::Rate(Rate::from_bits_per_second(number)),
                5 => Value::Count(number),
                6 => Value::Packets(number),
                7 => Value::Several(number as u32),
                _ => return Err(TraceError::Malformed),
            },
        })
    }
}

/// The head of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Header {
    pub(super) parts: Vec<(Part, String)>,
    pub(super) settings: Vec<(String, Setting)>,
    pub(super) setup: Setup,
}

impl Header {
    pub(super) fn new(selection: &Selection, setup: Setup) -> Self {
        let settings = selection.settings().iter().map(|&(name, value)| (name.to_owned(), value.into()));
        let parts = selection.entries().map(|entry| (entry.part, entry.name.to_owned()));
        Self { parts: parts.collect(), settings: settings.collect(), setup }
    }

    pub(super) fn selection(&self, registry: &Registry) -> Result<Selection, TraceError> {
        let name = |part| self.parts.iter().find(|named| named.0 == part).map(|named| named.1.as_str());
        let chosen = match (name(Part::Model), name(Part::Start), name(Part::Window)) {
            (Some(model), ..) => registry.model(model),
            (None, Some(start), Some(window)) => {
                let estimate = name(Part::Estimate).unwrap_or(crate::registry::NO_ESTIMATE);
                registry.parts(start, window).and_then(|parts| parts.with_estimate(estimate))
            }
            _ => return Err(TraceError::Malformed),
        };
        let names = || self.parts.iter().map(|named| named.1.as_str()).collect::<Vec<_>>().join("+");
        let mut selection = chosen.ok_or_else(|| TraceError::UnknownAlgorithm(names()))?;
        for (name, setting) in &self.settings {
            let result = selection.set(name, setting.value()?);
            result.map_err(|error| TraceError::Parameter(name.clone(), error))?;
        }
        Ok(selection)
    }
}

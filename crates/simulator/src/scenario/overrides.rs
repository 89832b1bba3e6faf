//! Overrides of a scenario: `PATH=VALUE`.
//!
//! A path consists of keys and indices, such as `network.bottleneck.rate`, `flow.0.transport.mss`,
//! `flow[0].start` or, for every element, `flow.*.start`. A value is TOML; anything else is taken
//! as a string, so quotes may be omitted.

use std::ops::Range;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, TableLike, Value};

use super::error::{Place, Problem};

/// Maximum depth of a path: more than any key of a scenario, and safe for the stack.
const DEEPEST_PATH: usize = 16;

/// One override.
#[derive(Clone, Debug)]
pub struct Override {
    path: Vec<Segment>,
    value: Value,
}

/// One step of a path, and its place in the override.
#[derive(Clone, Debug)]
struct Segment {
    name: String,
    /// The path up to and including this step.
    key: String,
    span: Range<usize>,
}

impl Override {
    /// Reads `PATH=VALUE`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let whole = |message: &str| {
            let place = Place { key: String::new(), span: 0..text.len() };
            place.problem(message, "write PATH=VALUE, for example network.bottleneck.rate=10Mbps")
        };
        let (path, value) = text.split_once('=').ok_or_else(|| whole("no \"=\""))?;
        let path = segments(path);
        if path.iter().any(|segment| segment.name.is_empty()) {
            return Err(whole("the path has an empty key"));
        }
        if path.len() > DEEPEST_PATH {
            return Err(whole("the path is too deep"));
        }
        let value = value.trim();
        Ok(Self { path, value: value.parse().unwrap_or_else(|_| Value::from(value)) })
    }

    /// Whether it sets this top-level key, or something in it.
    pub fn is_in(&self, key: &str) -> bool {
        self.path.first().is_some_and(|first| first.name == key)
    }

    /// Edits the document.
    pub fn apply(&self, document: &mut DocumentMut) -> Result<(), Problem> {
        self.set(document.as_item_mut(), &self.path)
    }

    fn set(&self, item: &mut Item, path: &[Segment]) -> Result<(), Problem> {
        let Some((segment, rest)) = path.split_first() else {
            replace(item, &self.value);
            return Ok(());
        };
        if let Some(tables) = item.as_array_of_tables_mut() {
            return self.set_in_tables(tables, segment, rest);
        }
        if let Some(array) = item.as_array_mut() {
            return self.set_in_array(array, segment, rest);
        }
        match item.as_table_like_mut() {
            Some(table) => self.set_key(table, segment, rest),
            None => Err(segment.problem(format!("the parent of {:?} is not a table", segment.name), "")),
        }
    }

    fn set_in_tables(
        &self,
        tables: &mut ArrayOfTables,
        at: &Segment,
        rest: &[Segment],
    ) -> Result<(), Problem> {
        let indices = at.indices(tables.len())?;
        // A whole element is set key by key, so that it stays a table with a header.
        let Some((key, rest)) = rest.split_first() else {
            return Err(at.problem("an element of a list", "name one of its keys"));
        };
        for table in tables.iter_mut().skip(indices.start).take(indices.len()) {
            self.set_key(table, key, rest)?;
        }
        Ok(())
    }

    fn set_in_array(&self, array: &mut Array, at: &Segment, rest: &[Segment]) -> Result<(), Problem> {
        let indices = at.indices(array.len())?;
        for value in array.iter_mut().skip(indices.start).take(indices.len()) {
            let mut element = Item::Value(value.clone());
            self.set(&mut element, rest)?;
            if let Ok(changed) = element.into_value() {
                *value = changed;
            }
        }
        Ok(())
    }

    fn set_key(&self, table: &mut dyn TableLike, key: &Segment, rest: &[Segment]) -> Result<(), Problem> {
        if let Some(item) = table.get_mut(&key.name) {
            return self.set(item, rest);
        }
        // An inline table stays where it is created, whatever follows in the file.
        let mut created = Item::Value(Value::InlineTable(InlineTable::new()));
        self.set(&mut created, rest)?;
        table.insert(&key.name, created);
        Ok(())
    }
}

/// Byte range of the value in an override.
pub fn value_span(text: &str) -> Range<usize> {
    text.find('=').map_or(0, |equals| equals + 1)..text.len()
}

/// Replaces a value, keeping the surrounding spaces and comment.
fn replace(item: &mut Item, value: &Value) {
    let mut value = value.clone();
    if let Some(old) = item.as_value() {
        *value.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(value);
}

impl Segment {
    fn problem(&self, message: impl Into<String>, help: &str) -> Problem {
        Place { key: self.key.clone(), span: self.span.clone() }.problem(message, help)
    }

    /// The elements of an array that this selects.
    fn indices(&self, length: usize) -> Result<Range<usize>, Problem> {
        if self.name == "*" {
            return Ok(0..length);
        }
        match self.name.parse::<usize>() {
            Ok(index) if index < length => Ok(index..index + 1),
            _ => Err(self.problem(
                format!("{:?} is not an element", self.name),
                &format!("an index from 0 to {}, or * for every element", length.saturating_sub(1)),
            )),
        }
    }
}

/// Splits at dots and brackets: `flow[0].start` is flow, 0, start.
fn segments(path: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut push = |range: Range<usize>| {
        let name = path[range.clone()].trim().to_owned();
        segments.push(Segment { name, key: path[..range.end].to_owned(), span: range });
    };
    for (position, separator) in path.match_indices(['.', '[']) {
        push(start..position);
        start = position + separator.len();
    }
    push(start..path.len());
    for segment in &mut segments {
        if path[..segment.span.start].ends_with('[')
            && let Some(index) = segment.name.strip_suffix(']')
        {
            segment.name = index.to_owned();
        }
    }
    segments
}

//! Errors with a place in a file.

use std::fmt;
use std::ops::Range;

use selfclock_congestion::registry::nearest;

use crate::plan::PlanError;

/// Why a scenario was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or `--set` for an override.
    pub source_name: String,
    /// The place in the text; `None` without a text, such as for a missing file.
    pub location: Option<Box<Location>>,
    /// The key, such as `flow[0].transport.mss`; empty if it concerns the whole file.
    pub key: String,
    /// The error.
    pub message: String,
    /// Allowed values; may be empty.
    pub help: String,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line itself, shortened if it is very long.
    excerpt: String,
    /// Position and number of the marks below the excerpt.
    marks: Range<usize>,
}

/// Maximum number of characters shown of a line.
const EXCERPT: usize = 160;

impl ScenarioError {
    /// An error without a place in a text.
    pub(super) fn unlocated(source_name: &str, message: String) -> Self {
        let source_name = source_name.to_owned();
        Self { source_name, location: None, key: String::new(), message, help: String::new() }
    }

    /// Line, from 1.
    pub fn line(&self) -> Option<usize> {
        self.location.as_ref().map(|location| location.line)
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> Option<usize> {
        self.location.as_ref().map(|location| location.column)
    }
}

impl Location {
    /// The place of a byte range in a text. A multi-line range is cut at the end of its first line.
    fn new(text: &str, span: Range<usize>) -> Self {
        let start = char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let end = char_boundary(text, span.end).clamp(start, line_end);
        let column = text[line_start..start].chars().count();
        let width = text[start..end].trim_end().chars().count().max(1);
        // A long line is shown from shortly before the place.
        let skip = if column + width < EXCERPT { 0 } else { column.saturating_sub(EXCERPT / 4) };
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let line = text[line_start..line_end].trim_end();
        let excerpt: String = line.chars().skip(skip).take(EXCERPT).map(printable).collect();
        let marks = column - skip..(column - skip + width).min(EXCERPT);
        let line = text[..start].matches('\n').count() + 1;
        Self { line, column: column + 1, excerpt, marks }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source_name)?;
        if let Some(location) = &self.location {
            write!(f, ":{}:{}", location.line, location.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.location {
            Some(location) => write!(f, "\n{}", Excerpt { location, help: &self.help }),
            None if self.help.is_empty() => Ok(()),
            None => write!(f, " ({})", self.help),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// The last character boundary at or before `index`.
fn char_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&index| text.is_char_boundary(index)).unwrap_or(0)
}

/// The line, with marks and the help below it.
struct Excerpt<'a> {
    location: &'a Location,
    help: &'a str,
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { line, excerpt, marks, .. } = self.location;
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let indent = " ".repeat(marks.start);
        let carets = "^".repeat(marks.len().max(1));
        write!(f, "{gutter} |\n{number} | {excerpt}\n{gutter} | {indent}{carets}")?;
        if self.help.is_empty() { Ok(()) } else { write!(f, " {}", self.help) }
    }
}

/// A key, and the byte range of it or its value in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The key, such as `flow[0].transport.mss`.
    pub key: String,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// An error not yet attached to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The error.
    pub message: String,
    /// Allowed values; may be empty.
    pub help: String,
}

impl Place {
    /// A problem here.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { place: self.clone(), message: message.into(), help: help.into() }
    }
}

impl PlanError {
    /// The same problem, located here.
    pub(super) fn at(&self, place: &Place) -> Problem {
        place.problem(self.to_string(), self.help())
    }
}

impl Problem {
    /// Adds another allowed form, if the problem concerns this value itself.
    pub fn or_at(mut self, place: &Place, other: &str) -> Self {
        if self.place == *place {
            self.help = match self.help.as_str() {
                "" => format!("the only word allowed is {other}"),
                help => format!("{help}, or {other}"),
            };
        }
        self
    }

    /// The error within a text.
    pub fn in_text(self, source_name: &str, text: &str) -> ScenarioError {
        ScenarioError {
            source_name: source_name.to_owned(),
            location: Some(Box::new(Location::new(text, self.place.span))),
            key: self.place.key,
            message: self.message,
            help: self.help,
        }
    }
}

/// Maximum length of a list of names in a message.
const LISTED: usize = 40;

/// "allowed: a, b, c"; preceded by the closest name, if one is near.
pub fn allowed<'a>(given: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let meant =
        nearest(given, names.clone()).map_or_else(String::new, |name| format!("did you mean {name:?}? "));
    let listed: Vec<&str> = names.clone().take(LISTED).collect();
    let more = names.count() - listed.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{meant}allowed: {}{more}", listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, span: Range<usize>) -> ScenarioError {
        let place = Place { key: "flow[0].start".into(), span };
        place.problem("\"10\" has no unit", "write a time").in_text("scenario.toml", text)
    }

    #[test]
    fn an_error_shows_its_line() {
        let text = "a = 1\nb = 2\nstart = \"10\"\n";
        assert_eq!(
            at(text, 20..24).to_string(),
            "scenario.toml:3:9: flow[0].start: \"10\" has no unit\n  |\n3 | start = \"10\"\n  |         ^^^^ write a time"
        );
    }

    #[test]
    fn columns_count_characters() {
        let error = at("ключ = 1", 12..13);
        assert_eq!((error.line(), error.column()), (Some(1), Some(9)));
        assert!(error.to_string().contains("\n  |         ^ write"), "{error}");
    }

    #[test]
    fn any_span_of_any_text_is_a_place() {
        for text in ["", "\n", "ä\r\nb", "\t\u{1}x"] {
            for start in 0..text.len() + 2 {
                for end in start..text.len() + 2 {
                    assert!(!at(text, start..end).to_string().is_empty());
                }
            }
        }
    }

    #[test]
    fn a_long_line_is_shortened() {
        let text = format!("{}BAD{}", "a".repeat(5_000), "c".repeat(5_000));
        let error = at(&text, 5_000..5_003).to_string();
        assert!(error.len() < 600 && error.contains("aBADc") && error.contains(" ^^^ "), "{error}");
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["rate", "delay", "queue"];
        assert_eq!(
            allowed("dealy", names.into_iter()),
            "did you mean \"delay\"? allowed: rate, delay, queue"
        );
        assert_eq!(allowed("bandwidth", names.into_iter()), "allowed: rate, delay, queue");
        assert_eq!(allowed("x", ["a", "b"].into_iter()), "allowed: a, b");
        assert!(allowed("RATE", names.into_iter()).starts_with("did you mean \"rate\"? "));
    }
}

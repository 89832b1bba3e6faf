//! Choices in one word: `cubic+hystart++:beta=0.8` for an algorithm, `codel:target=5ms` for a queue
//! discipline.
//!
//! Each becomes the inline table that a scenario file would contain. The table is read like a
//! file's, so that validation has a single source; problems are then located in the word.

use std::fmt::Write as _;
use std::ops::Range;

use selfclock_congestion::registry::{Registry, Setting, with_settings};
use toml::de::{DeTable, DeValue};
use toml_edit::{Key, Value};

use super::error::{Place, Problem, ScenarioError};
use super::reader::{FromItem, Item};
use super::stack::{self, Control};
use super::table::queue::Queue;

/// The table of an algorithm and its parameters: `{ window = "cubic", beta = 0.8 }`, or of a
/// stack's controller: `{ stack = "quinn", controller = "bbr" }`.
///
/// # Errors
/// The algorithm or a parameter is unknown, or a value is not allowed.
pub fn control_table(registry: &Registry, text: &str) -> Result<String, ScenarioError> {
    let source = "algorithm";
    let whole = Place { key: String::new(), span: 0..text.len() };
    if let Some((stack, controller)) =
        stack::own(registry, text, &whole).map_err(|problem| problem.in_text(source, text))?
    {
        return Ok(format!(
            "{{ {} = {:?}, {} = {controller:?} }}",
            stack::STACK,
            stack.0.name(),
            stack::CONTROLLER
        ));
    }
    let (label, settings) = with_settings(text);
    let (label, stack) =
        stack::split(registry, label).map_or((label, None), |(label, name)| (label, Some(name)));
    let parts =
        registry.label_parts(label).map_err(|error| ScenarioError::unlocated(source, error.to_string()))?;
    let parts = parts.iter().map(|entry| (entry.part.name(), entry.name));
    let choice = Choice::new(parts.chain(stack.map(|name| (stack::STACK, name))), text, &settings);
    choice
        .and_then(|choice| choice.read::<Control>(registry))
        .map_err(|problem| problem.in_text(source, text))
}

/// The table of a queue discipline and its settings: `{ discipline = "codel", target = "5ms" }`.
///
/// # Errors
/// The discipline or a setting is unknown, or a value is not allowed.
pub fn queue_table(text: &str) -> Result<String, ScenarioError> {
    let (name, settings) = with_settings(text);
    let choice = Choice::new([("discipline", name)].into_iter(), text, &settings);
    choice
        .and_then(|choice| choice.read::<Queue>(&Registry::built_in()))
        .map_err(|problem| problem.in_text("queue", text))
}

/// A table under construction, with the origin in the word of each of its parts.
struct Choice {
    table: String,
    /// Byte ranges in the table and in the word.
    places: Vec<(Range<usize>, Range<usize>)>,
}

/// Prefix of the table when it is read.
const KEY: &str = "choice = ";

impl Choice {
    fn new<'a>(
        parts: impl Iterator<Item = (&'a str, &'a str)>,
        text: &str,
        settings: &[Setting],
    ) -> Result<Self, Problem> {
        let name = 0..text.find(':').unwrap_or(text.len());
        let mut choice = Self { table: String::new(), places: Vec::new() };
        for (key, value) in parts {
            choice.add(key, (&name, &Value::from(value), &name));
        }
        for setting in settings {
            let written = &text[setting.name.clone()];
            if written.is_empty() || setting.value.is_empty() {
                let place = Place { key: String::new(), span: setting.name.start..setting.value.end };
                return Err(place.problem("a setting needs a name and a value", "write NAME=VALUE"));
            }
            let value = &text[setting.value.clone()];
            // A value that is not TOML is a string, so that quotes may be omitted.
            let value = value.parse().unwrap_or_else(|_| Value::from(value));
            choice.add(written, (&setting.name, &value, &setting.value));
        }
        Ok(choice)
    }

    fn add(&mut self, key: &str, (key_at, value, value_at): (&Range<usize>, &Value, &Range<usize>)) {
        self.table += if self.table.is_empty() { "{ " } else { ", " };
        for (written, at, behind) in
            [(Key::new(key).to_string(), key_at, " = "), (value.to_string().trim().to_owned(), value_at, "")]
        {
            let start = self.table.len();
            let _ = write!(self.table, "{written}{behind}");
            self.places.push((start..start + written.len(), at.clone()));
        }
    }

    /// The table, if it is a valid `T`.
    fn read<T: FromItem>(self, registry: &Registry) -> Result<String, Problem> {
        let table = format!("{} }}", self.table);
        let text = format!("{KEY}{table}");
        let parsed = DeTable::parse(&text).map_err(|error| {
            let place = Place { key: String::new(), span: error.span().unwrap_or(0..0) };
            place.problem(error.message().replace('\n', ", "), "")
        });
        let read = parsed.and_then(|parsed| {
            let whole = DeValue::Table(parsed.into_inner());
            let Some(value) = whole.as_table().and_then(|outer| outer.get("choice")) else { return Ok(()) };
            let item = Item {
                value: value.get_ref(),
                place: Place { key: String::new(), span: value.span() },
                registry,
            };
            T::read(&item).map(|_| ())
        });
        read.map(|()| table).map_err(|problem| self.placed(problem))
    }

    /// Maps a problem of the table to the word.
    fn placed(&self, problem: Problem) -> Problem {
        let start = problem.place.span.start.saturating_sub(KEY.len());
        let within = self.places.iter().find(|(table, _)| table.contains(&start));
        let whole = 0..self.places.last().map_or(0, |(_, word)| word.end);
        let span = within.map_or(whole, |(_, word)| word.clone());
        Problem { place: Place { span, ..problem.place.clone() }, ..problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(text: &str) -> Result<String, String> {
        control_table(&Registry::built_in(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_word_becomes_a_table() {
        assert_eq!(control("cubic").as_deref(), Ok("{ window = \"cubic\" }"));
        assert_eq!(
            control("cubic+hystart++:beta=0.8").as_deref(),
            Ok("{ window = \"cubic\", start = \"hystart++\", beta = 0.8 }")
        );
        assert_eq!(
            control("packet-pair:tick=1ms,probing=both-sides").as_deref(),
            Ok("{ start = \"packet-pair\", tick = \"1ms\", probing = \"both-sides\" }")
        );
        assert_eq!(
            queue_table("codel:target=5ms, limit=2 bdp").as_deref().map_err(ToString::to_string),
            Ok("{ discipline = \"codel\", target = \"5ms\", limit = \"2 bdp\" }")
        );
        assert_eq!(queue_table("dualpi2").ok().as_deref(), Some("{ discipline = \"dualpi2\" }"));
    }

    #[test]
    fn a_problem_is_placed_in_the_word() {
        for (text, said, marked) in [
            ("cubic:betta=0.8", "did you mean \"beta\"?", "betta"),
            ("cubic:beta=7", "7 is out of range", "beta"),
            ("cubic:beta=high", "expected a number", "beta"),
            ("packet-pair:tick=10", "10 has no unit", "tick"),
            ("cubic:beta", "NAME=VALUE", "beta"),
            ("cubic:beta=0.8,", "NAME=VALUE", " "),
            ("cubic:beta=0.8,beta=0.7", "duplicate key", "beta"),
            ("bbr3:window=cubic", "start and window in one", "cubic"),
        ] {
            let error = control(text).expect_err(text);
            assert!(error.starts_with("algorithm:1:") && error.contains(said), "{error}");
            let carets = error.lines().last().map_or(0, |line| line.matches('^').count());
            assert_eq!(carets, marked.len(), "{error}");
        }
        let error = control("quin:cubic").expect_err("no stack");
        assert!(
            error.contains("unknown stack \"quin\"") && error.contains("did you mean \"quinn\"?"),
            "{error}"
        );
        let error = control("renoo").expect_err("unknown");
        assert_eq!(error, "algorithm: no algorithm is named 'renoo'; did you mean 'reno'?");
        for (text, said) in [
            ("codell", "did you mean \"codel\"?"),
            ("codel:target=5", "5 has no unit"),
            ("codel:tarket=5ms", "did you mean \"target\"?"),
            ("red:min=3", "queue:1:"),
            ("", "unknown queue discipline"),
        ] {
            let error = queue_table(text).expect_err(text).to_string();
            assert!(error.contains(said) && error.contains(text), "{error}");
        }
    }
}

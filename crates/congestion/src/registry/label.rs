//! Labels: an algorithm in one word, as records and command lines name it.
//!
//! A label is the name of a window, a start, a model or an estimator (`cubic`), a window with a
//! start (`cubic+hystart++`), or a window, a start or both with an estimator (`reno+icim`). Omitted
//! parts have their default: `reno` is slow start and Reno. On a command line settings may follow:
//! `cubic+hystart++:beta=0.8,alpha=0.5`.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::known::answer;
use super::{DEFAULT_START, DEFAULT_WINDOW, NO_ESTIMATE, Registry, Selection};
use crate::entry::{Entry, Part};

/// Why a label names no algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelError {
    /// The label as it was given.
    pub label: String,
    /// The answer to a name that people know and no algorithm has.
    pub answer: Option<&'static str>,
    /// The closest valid label, unless there is an answer.
    pub near: Option<String>,
    /// The valid names, by kind.
    names: Vec<(Part, Vec<&'static str>)>,
}

impl fmt::Display for LabelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no algorithm is named '{}'; ", self.label)?;
        if let Some(answer) = self.answer {
            return f.write_str(answer);
        }
        if let Some(near) = &self.near {
            return write!(f, "did you mean '{near}'?");
        }
        f.write_str("there are ")?;
        for (part, names) in &self.names {
            write!(f, "the {}s {}, ", part.name(), names.join(", "))?;
        }
        f.write_str("and a window with a start or an estimator, as in 'cubic+hystart++' or 'reno+icim'")
    }
}

impl core::error::Error for LabelError {}

/// A setting after a name, `beta=0.8`: positions of its name and value in the text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name.
    pub name: Range<usize>,
    /// The trimmed value; empty without "=".
    pub value: Range<usize>,
}

/// Splits a text such as `cubic+hystart++:beta=0.8,alpha=0.5` into the name before the first colon
/// and the settings after it. Commas inside brackets do not separate settings.
///
/// ```
/// use selfclock_congestion::registry::with_settings;
///
/// let (label, settings) = with_settings("cubic:beta=0.8");
/// assert_eq!((label, settings[0].value.clone()), ("cubic", 11..14));
/// ```
pub fn with_settings(text: &str) -> (&str, Vec<Setting>) {
    let Some((name, rest)) = text.split_once(':') else { return (text.trim(), Vec::new()) };
    let mut settings = Vec::new();
    let (mut depth, mut start) = (0_usize, name.len() + 1);
    for (at, letter) in rest.char_indices().map(|(at, letter)| (name.len() + 1 + at, letter)) {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                settings.push(setting(text, start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    settings.push(setting(text, start..text.len()));
    (name.trim(), settings)
}

fn setting(text: &str, whole: Range<usize>) -> Setting {
    let equals = text[whole.clone()].find('=').map_or(whole.end, |at| whole.start + at);
    let trimmed = |part: Range<usize>| {
        let within = &text[part.clone()];
        let start = part.start + (within.len() - within.trim_start().len());
        start..start + within.trim().len()
    };
    Setting { name: trimmed(whole.start..equals), value: trimmed((equals + 1).min(whole.end)..whole.end) }
}

impl Registry {
    /// The parts that a label names: a window, a start or both, or a model, then an estimator.
    ///
    /// # Errors
    /// A part of the label is unknown, or its parts do not combine.
    pub fn label_parts(&self, label: &str) -> Result<Vec<Entry>, LabelError> {
        self.split(label).ok_or_else(|| self.unknown(label))
    }

    /// The algorithm of a label, with default parameters.
    ///
    /// # Errors
    /// A part of the label is unknown, or its parts do not combine.
    pub fn select(&self, label: &str) -> Result<Selection, LabelError> {
        let parts = self.label_parts(label)?;
        let named = |part| parts.iter().find(|entry| entry.part == part).map(|entry| entry.name);
        let selection = match named(Part::Model) {
            Some(model) => self.model(model),
            None => self.parts(
                named(Part::Start).unwrap_or(DEFAULT_START),
                named(Part::Window).unwrap_or(DEFAULT_WINDOW),
            ),
        };
        let selection = match named(Part::Estimate) {
            Some(estimate) => selection.and_then(|selection| selection.with_estimate(estimate)),
            None => selection,
        };
        selection.ok_or_else(|| self.unknown(label))
    }

    fn split(&self, label: &str) -> Option<Vec<Entry>> {
        if let Some(whole) = self.named(label) {
            return Some(vec![whole]);
        }
        let (rest, estimate) = self.cut(label, Part::Estimate);
        let (first, start) = match self.named(rest) {
            Some(first) => (first, None),
            None => {
                let (rest, start) = self.cut(rest, Part::Start);
                (self.named(rest).filter(|first| first.part == Part::Window)?, start)
            }
        };
        matches!(first.part, Part::Window | Part::Start)
            .then(|| [Some(first), start, estimate].into_iter().flatten().collect())
    }

    /// Cuts off a last part of this kind. A name may contain plus signs, so the search is for
    /// names, not for the sign.
    fn cut<'a>(&self, label: &'a str, part: Part) -> (&'a str, Option<Entry>) {
        self.entries()
            .filter(|entry| entry.part == part)
            .find_map(|entry| Some((label.strip_suffix(entry.name)?.strip_suffix('+')?, Some(entry))))
            .unwrap_or((label, None))
    }

    fn named(&self, name: &str) -> Option<Entry> {
        self.entries().find(|entry| entry.name == name)
    }

    fn names(&self, part: Part) -> impl Iterator<Item = &'static str> + Clone {
        self.entries().filter(move |entry| entry.part == part).map(|entry| entry.name)
    }

    fn unknown(&self, label: &str) -> LabelError {
        let answer = answer(label);
        let near = match label.split_once('+') {
            _ if answer.is_some() => None,
            None => nearest(label, self.entries().map(|entry| entry.name)).map(str::to_owned),
            Some((first, second)) => nearest(first, self.names(Part::Window)).and_then(|first| {
                let second = nearest(second, self.names(Part::Start).chain(self.names(Part::Estimate)))?;
                Some(format!("{first}+{second}"))
            }),
        };
        let kinds = [Part::Window, Part::Start, Part::Model, Part::Estimate];
        LabelError {
            label: label.to_owned(),
            answer,
            near,
            names: kinds.map(|part| (part, self.names(part).collect())).into(),
        }
    }
}

impl Selection {
    /// The built-in algorithm of a label, with default parameters.
    ///
    /// ```
    /// use selfclock_congestion::registry::Selection;
    ///
    /// let fast = Selection::from_label("cubic+hystart++")?;
    /// assert_eq!(fast.label(), "cubic+hystart++");
    /// let error = Selection::from_label("cubic+hystart").unwrap_err();
    /// assert_eq!(error.near.as_deref(), Some("cubic+hystart++"));
    /// # Ok::<(), selfclock_congestion::registry::LabelError>(())
    /// ```
    ///
    /// # Errors
    /// A part of the label is no name, or its parts do not combine.
    pub fn from_label(label: &str) -> Result<Self, LabelError> {
        Registry::built_in().select(label)
    }

    /// The label: all non-default parts, and the estimator if it is not the window's usual one.
    pub fn label(&self) -> String {
        let named = |part| self.entries().find(|entry| entry.part == part).map_or("", |entry| entry.name);
        let mut label = match (named(Part::Start), named(Part::Window)) {
            (DEFAULT_START, window) => window.to_owned(),
            (start, DEFAULT_WINDOW) => start.to_owned(),
            ("", _) => named(Part::Model).to_owned(),
            (start, window) => format!("{window}+{start}"),
        };
        if self.unusual_estimate().is_some_and(|estimate| estimate != NO_ESTIMATE) {
            label = label + "+" + named(Part::Estimate);
        }
        label
    }
}

/// The name closest to an unknown one, whatever its case.
pub fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = given.to_lowercase();
    let distances = names.map(|name| (edit_distance(&lower, &name.to_lowercase()), name));
    // Of two that differ only in case, the one with more matching letters.
    let unlike = |name: &str| name.chars().zip(given.chars()).filter(|(a, b)| a != b).count();
    let (distance, name) = distances.min_by_key(|&(distance, name)| (distance, unlike(name), name))?;
    (distance <= 2 && distance < name.chars().count().min(given.chars().count())).then_some(name)
}

/// Levenshtein distance; texts of very different length are not compared and count as far apart.
fn edit_distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 8 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    fn names(label: &str) -> Vec<(&'static str, &'static str)> {
        let parts = Registry::built_in().label_parts(label).expect(label);
        parts.iter().map(|entry| (entry.part.name(), entry.name)).collect()
    }

    #[test]
    fn a_label_is_its_parts() {
        assert_eq!(names("cubic"), [("window", "cubic")]);
        assert_eq!(names("hystart++"), [("start", "hystart++")]);
        assert_eq!(names("bbr3"), [("model", "bbr3")]);
        assert_eq!(names("cubic+hystart++"), [("window", "cubic"), ("start", "hystart++")]);
        assert_eq!(names("packet-pair+icim"), [("start", "packet-pair"), ("estimate", "icim")]);
        assert_eq!(
            names("reno+hystart+++icim"),
            [("window", "reno"), ("start", "hystart++"), ("estimate", "icim")]
        );
    }

    #[test]
    fn a_label_is_written_as_it_is_read() {
        for entry in ENTRIES {
            let named = Selection::from_label(entry.name).expect(entry.name);
            let expected = match entry.part {
                Part::Estimate => format!("reno+{}", entry.name),
                _ if entry.name == DEFAULT_START => DEFAULT_WINDOW.to_owned(),
                _ => entry.name.to_owned(),
            };
            assert_eq!(named.label(), expected);
        }
        for label in ["cubic+hystart++", "reno+icim", "vegas+packet-pair+icim", "lotka-volterra+imtcp"] {
            assert_eq!(Selection::from_label(label).expect(label).label(), label);
        }
        // Defaults are omitted.
        assert_eq!(Selection::from_label("cubic+slow-start").expect("known").label(), "cubic");
        assert_eq!(Selection::from_label("reno+hystart++").expect("known").label(), "hystart++");
        let alone = Selection::from_label("lotka-volterra").expect("known").with_estimate(NO_ESTIMATE);
        assert_eq!(alone.expect("allowed").label(), "lotka-volterra");
    }

    #[test]
    fn what_is_no_label_is_refused_with_what_was_meant() {
        let near = |label| Selection::from_label(label).expect_err(label).near;
        for (label, meant) in [
            ("renoo", "reno"),
            ("CUBIC", "cubic"),
            ("cubic+hystart", "cubic+hystart++"),
            ("rena+icin", "reno+icim"),
        ] {
            assert_eq!(near(label).as_deref(), Some(meant));
        }
        for label in ["", "+", "reno+", "+icim", "hystart+++reno", "bbr3+icim", "reno+icim+icim", "my-own"] {
            assert_eq!(near(label), None, "{label}");
        }
        let message = Selection::from_label("renoo").expect_err("unknown").to_string();
        assert_eq!(message, "no algorithm is named 'renoo'; did you mean 'reno'?");
        let message = Selection::from_label("nobody").expect_err("unknown").to_string();
        assert!(message.contains("the windows reno, ") && message.ends_with("'reno+icim'"), "{message}");
        // Long labels take neither much time nor stack.
        assert!(Selection::from_label(&"reno+".repeat(100_000)).is_err());
    }

    #[test]
    fn settings_stand_behind_a_colon() {
        let split = |text: &str| {
            let (label, settings) = with_settings(text);
            let written = settings
                .iter()
                .map(|setting| format!("{}={}", &text[setting.name.clone()], &text[setting.value.clone()]));
            (label.to_owned(), written.collect::<Vec<_>>())
        };
        let expected = |label: &str, settings: &[&str]| {
            (label.to_owned(), settings.iter().map(|&each| each.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(split("cubic"), expected("cubic", &[]));
        assert_eq!(
            split("cubic+hystart++:beta=0.8, alpha = 0.5"),
            expected("cubic+hystart++", &["beta=0.8", "alpha=0.5"])
        );
        assert_eq!(split("x:list=[1,2],y=a=b"), expected("x", &["list=[1,2]", "y=a=b"]));
        assert_eq!(split("cubic:"), expected("cubic", &["="]));
        assert_eq!(split("cubic:beta,"), expected("cubic", &["beta=", "="]));
        assert_eq!(split("é:ü=ö]],"), expected("é", &["ü=ö]]", "="]));
    }

    #[test]
    fn edit_distances() {
        for (a, b, distance) in [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edit_distance(a, b), distance);
            assert_eq!(edit_distance(b, a), distance);
        }
    }
}

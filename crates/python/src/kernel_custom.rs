//! A user's own algorithm as its object describes it: named, with parameters, but without decisions
//! in this process.

use congestion::custom::Custom;
use congestion::decision::Pacing;
use congestion::entry::{Entry, Marks, Part};
use congestion::parameter::{Kind, Parameter, ParameterError, Value as Given, magnitude};
use congestion::part::{ModelPart, StartPart, WindowPart};
use congestion::registry::Registry;
use congestion::state::WindowState;
use congestion::{Acknowledged, LossDetected, Selection, Timeout};
use selfclock_congestion as congestion;
use selfclock_kernel::custom::LAYOUT;
use selfclock_kernel::linux::resident::description;
use serde_json::Value;

use crate::control::{kept, registry};

/// The algorithm with the parameters chosen for it, as words for the kernel.
#[derive(Clone, Debug)]
struct Described {
    entry: Entry,
    words: Vec<u64>,
}

/// It decides in the kernel alone.
#[derive(Clone, Copy, Debug)]
struct Elsewhere;

impl StartPart for Elsewhere {
    fn grow(&mut self, _: &Acknowledged, _: &mut WindowState) {}
}
impl WindowPart for Elsewhere {
    fn grow(&mut self, _: &Acknowledged, _: &mut WindowState) {}
    fn on_loss(&mut self, _: &LossDetected, _: &mut WindowState) {}
    fn on_timeout(&mut self, _: &Timeout, _: &mut WindowState) {}
}
impl ModelPart for Elsewhere {
    fn on_ack(&mut self, _: &Acknowledged, _: &mut WindowState) {}
    fn on_loss(&mut self, _: &LossDetected, _: &mut WindowState) {}
    fn on_timeout(&mut self, _: &Timeout, _: &mut WindowState) {}
    fn pacing(&self, _: &WindowState) -> Option<Pacing> {
        None
    }
}

impl Custom for Described {
    type Part = Elsewhere;

    fn entry(&self) -> Entry {
        self.entry
    }
    fn set(&mut self, name: &str, value: Given<'_>) -> Result<(), ParameterError> {
        let index = self.entry.parameters.iter().position(|parameter| parameter.name == name);
        let index = index.ok_or(ParameterError::Unknown)?;
        let Parameter { kind, range: (low, high), .. } = self.entry.parameters[index];
        if magnitude(value).is_some_and(|number| !(low..=high).contains(&number)) {
            return Err(ParameterError::OutOfRange(low, high));
        }
        self.words[index] = match (kind, value) {
            (Kind::Switch, Given::Switch(on)) => on.into(),
            (Kind::Number, Given::Number(number)) => number.to_bits(),
            (Kind::Duration, Given::Duration(span)) => span.picoseconds(),
            (Kind::Bytes, Given::Bytes(size)) => size.get(),
            (Kind::Rate, Given::Rate(rate)) => rate.bits_per_second(),
            (Kind::Count, Given::Count(count)) => count,
            (Kind::Packets, Given::Packets(packets)) => packets,
            (Kind::Choice(words), Given::Choice(word)) => {
                let place = words.iter().position(|other| *other == word);
                place.ok_or(ParameterError::WrongKind(kind))? as u64
            }
            _ => return Err(ParameterError::WrongKind(kind)),
        };
        Ok(())
    }
    fn build(&self) -> Elsewhere {
        Elsewhere
    }
    fn words(&self, each: &mut dyn FnMut(u64)) -> Option<()> {
        self.words.iter().for_each(|word| each(*word));
        Some(())
    }
}

/// A text of the description, kept for the life of the process, as the registry requires.
fn text(value: &Value, key: &str) -> Option<&'static str> {
    value[key].as_str().map(|text| kept(text.to_owned()))
}

fn parameter(row: &Value) -> Option<(Parameter, u64)> {
    let choices = row["choices"].as_array()?.iter();
    let choices: Vec<&'static str> =
        choices.map(|word| word.as_str().map(|word| kept(word.to_owned()))).collect::<Option<_>>()?;
    let kind = match row["kind"].as_str()? {
        "switch" => Kind::Switch,
        "number" => Kind::Number,
        "duration" => Kind::Duration,
        "bytes" => Kind::Bytes,
        "rate" => Kind::Rate,
        "count" => Kind::Count,
        "packets" => Kind::Packets,
        "choice" => Kind::Choice(choices.leak()),
        _ => return None,
    };
    let end = |index: usize| row["range"][index].as_str()?.parse().ok();
    let parameter = Parameter {
        name: text(row, "name")?,
        about: text(row, "about")?,
        unit: text(row, "unit")?,
        kind,
        default: text(row, "default")?,
        source: text(row, "source")?,
        range: (end(0)?, end(1)?),
        requires: None,
    };
    Some((parameter, row["word"].as_u64()?))
}

fn described(document: &Value) -> Option<Described> {
    let rows = document["parameters"].as_array()?.iter().map(parameter);
    let (parameters, words): (Vec<_>, Vec<_>) = rows.collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let part = [Part::Start, Part::Window, Part::Model];
    let marks = [Marks::Ignored, Marks::Once, Marks::InProportion];
    let entry = Entry {
        name: text(document, "name")?,
        part: part.into_iter().find(|part| document["part"] == part.name())?,
        about: text(document, "about")?,
        source: text(document, "source")?,
        parameters: parameters.leak(),
        marks: marks.into_iter().find(|marks| document["marks"] == marks.name())?,
        ..Entry::MODEL
    };
    Some(Described { entry, words })
}

/// The selection of an object made by `selfclock kernel build`, with settings such as
/// "increase=2,decrease=0.7"; and its label.
pub fn selection(object: &[u8], settings: &str) -> Result<(Selection, String), String> {
    const NO_OBJECT: &str = "this is no object of selfclock kernel build";
    let document: Value =
        description(object).and_then(|text| serde_json::from_str(text).ok()).ok_or(NO_OBJECT)?;
    if document["layout"] != LAYOUT {
        return Err(format!(
            "the object has layout {}, and this program loads layout {LAYOUT}: build it again",
            document["layout"]
        ));
    }
    let own = described(&document).ok_or(NO_OBJECT)?;
    let (name, part) = (own.entry.name, own.entry.part);
    let mut registry: Registry = registry().clone();
    let registered = match part {
        Part::Start => registry.register_start(own),
        Part::Window => registry.register_window(own),
        _ => registry.register_model(own),
    };
    registered.map_err(|error| format!("{name}: {error}"))?;
    let label = if settings.is_empty() { name.to_owned() } else { format!("{name}:{settings}") };
    Ok((registry.read(&label).map_err(|error| error.to_string())?, label))
}

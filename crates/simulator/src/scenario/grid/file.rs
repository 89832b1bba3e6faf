//! Structure of grid files. Values are interpreted by the scenario in which they are set.

use std::ops::Range;

use selfclock_congestion::registry::Registry;
use serde_json::{Value as Json, json};
use toml::de::DeValue;

use super::Setting;
use super::values::{Axis, Random, ValueRange, Values};
use crate::scenario::error::{Place, Problem, ScenarioError};
use crate::scenario::reader::{FromItem, Item, Maybe, Needed, table, value_or, words};
use crate::scenario::table::value::{Count, Name};
use crate::scenario::table::{SchemaVersion, Seed};
use crate::scenario::toml_text;

/// A grid names settings; the resulting scenario is read with the actual registry.
static NO_OTHERS: Registry = Registry::built_in();

/// Maximum number of seeds per point.
const MOST_SEEDS: i64 = 1_000_000;

table! {
    /// A selfclock sweep: its points are every entry of `point` with every combination of `grid`
    /// and every draw of `random`.
    GridFile {
        /// Version of the file format: 1.
        schema: Needed<SchemaVersion>,
        /// The scenario file that every point starts from; a relative path starts at this file.
        scenario: Needed<String>,
        /// Name in reports. Default: the name of the file without its extension.
        name: Maybe<Name>,
        /// How many seeds each point runs with, counted from 1, or a list of seeds. Default: the
        /// seed of the scenario.
        seeds: Maybe<Seeds>,
        /// Probability with which a confidence interval holds the mean. Default: 0.95.
        confidence: Maybe<Confidence>,
        /// Settings of every point: paths as `--set` takes them, in quotes, and values.
        set: Maybe<Settings>,
        /// Paths, each with a list or a range of values; every combination is a point.
        grid: Maybe<Axes>,
        /// Points one by one: paths and values.
        point: Maybe<Points>,
        /// Points drawn at random.
        random: Maybe<RandomFile>,
    }

    /// Points drawn at random.
    RandomFile {
        /// How many.
        draws: Needed<Count>,
        /// Seed of the draws. Default: 1.
        seed: Maybe<Seed>,
        /// Paths, each with a range to draw from, or a list to choose from.
        over: Needed<Axes>,
    }

    /// Values between two ends. Both are numbers, or numbers with the same unit.
    RangeFile {
        /// One end.
        from: Needed<Bound>,
        /// The other end.
        to: Needed<Bound>,
        /// How many values, both ends among them; not for random draws.
        steps: Maybe<Steps>,
        /// Even spacing, or even ratios. Default: "linear".
        scale: Maybe<Scale>,
        /// Whole numbers only. Default: true for numbers without a point or a unit, packets and
        /// bytes.
        whole: Maybe<bool>,
    }
}

/// A grid as written in the file.
#[derive(Clone, Debug)]
pub struct Written {
    /// Path of the scenario file.
    pub scenario: String,
    /// Name in reports.
    pub name: Option<String>,
    /// Seeds of every point; empty for the scenario's.
    pub seeds: Vec<u64>,
    /// Level of the confidence intervals.
    pub confidence: f64,
    /// Settings of every point.
    pub fixed: Vec<Setting>,
    /// Every combination of these.
    pub axes: Vec<Axis>,
    /// Combined with each of these, if any.
    pub points: Vec<Vec<Setting>>,
    /// Combined with each draw of this.
    pub random: Option<Random>,
}

/// JSON Schema (draft 2020-12) of a grid file.
pub fn grid_schema() -> Json {
    let mut schema = GridFile::schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("selfclock sweep");
    schema
}

impl Written {
    /// Reads a text; `source_name` identifies the file in messages.
    pub fn read(text: &str, source_name: &str) -> Result<Self, ScenarioError> {
        read(text).map_err(|problem| problem.in_text(source_name, text))
    }
}

fn read(text: &str) -> Result<Written, Problem> {
    let value = toml_text::parse(text)?;
    let file = GridFile::read(&Item { value: &value, place: Place::default(), registry: &NO_OTHERS })?;
    let set = file.set.map(|set| set.value.0).unwrap_or_default();
    let axes = file.grid.map(|axes| axes.value.0).unwrap_or_default();
    let points = file.point.map(|points| points.value.0).unwrap_or_default();
    let random = file.random.map(|random| random.value);
    let drawn = random.as_ref().map_or(&[][..], |random| &random.over.value.0);
    check_paths(&set, &axes, &points, drawn)?;
    check_ranges(&axes, drawn)?;
    let axis = |entry: &Entry| entry.axis(text);
    let setting = |entry: &Entry| entry.setting(text);
    Ok(Written {
        scenario: file.scenario.value,
        name: file.name.map(|name| name.value.0),
        seeds: file.seeds.map(|seeds| seeds.value.0).unwrap_or_default(),
        confidence: file.confidence.map_or(0.95, |confidence| confidence.value.0),
        fixed: set.iter().map(setting).collect(),
        axes: axes.iter().map(axis).collect(),
        points: points.iter().map(|(point, _)| point.0.iter().map(setting).collect()).collect(),
        random: random.as_ref().map(|random| Random {
            draws: random.draws.value.0,
            seed: value_or(&random.seed, Seed(1)).0,
            over: drawn.iter().map(axis).collect(),
        }),
    })
}

/// Each path is set in one place, and every point sets the same paths.
fn check_paths(
    set: &[Entry],
    axes: &[Entry],
    points: &[(Settings, Place)],
    drawn: &[Entry],
) -> Result<(), Problem> {
    let first = points.first().map_or(&[][..], |(settings, _)| &settings.0);
    let paths: Vec<&Entry> = [set, axes, first, drawn].into_iter().flatten().collect();
    for (number, entry) in paths.iter().enumerate() {
        if paths[..number].iter().any(|earlier| earlier.path == entry.path) {
            return Err(entry.place.problem("this path is set twice", ""));
        }
    }
    for (point, place) in points {
        let same = point.0.len() == first.len()
            && first.iter().all(|one| point.0.iter().any(|other| other.path == one.path));
        if !same {
            let paths: Vec<&str> = first.iter().map(|entry| entry.path.as_str()).collect();
            let help = format!("those of the first: {}", paths.join(", "));
            return Err(place.problem("every point must set the same paths", help));
        }
    }
    Ok(())
}

/// A grid's range has steps; a range for draws has none.
fn check_ranges(axes: &[Entry], drawn: &[Entry]) -> Result<(), Problem> {
    let steps = |entry: &Entry| entry.range.as_ref().map(|range| range.steps.is_some());
    if let Some(entry) = axes.iter().find(|entry| steps(entry) == Some(false)) {
        return Err(entry.place.problem("a range in a grid needs steps", "write steps = 5"));
    }
    if let Some(entry) = drawn.iter().find(|entry| steps(entry) == Some(true)) {
        return Err(entry.place.problem("a range to draw from has no steps", "leave them out"));
    }
    Ok(())
}

/// A path and its place, and the place of its value or list; or a range instead.
#[derive(Clone, Debug)]
pub struct Entry {
    path: String,
    place: Place,
    values: Vec<Range<usize>>,
    range: Option<ValueRange>,
}

impl Entry {
    /// The first value.
    fn setting(&self, text: &str) -> Setting {
        let span = self.values.first().unwrap_or(&self.place.span).clone();
        let toml = text.get(span.clone()).unwrap_or_default().to_owned();
        Setting { path: self.path.clone(), toml, span, path_span: self.place.span.clone() }
    }

    fn axis(&self, text: &str) -> Axis {
        let written =
            |span: &Range<usize>| (text.get(span.clone()).unwrap_or_default().to_owned(), span.clone());
        let values = match &self.range {
            Some(range) => Values::Range(range.clone()),
            None => Values::List(self.values.iter().map(written).collect()),
        };
        Axis { path: self.path.clone(), span: self.place.span.clone(), values }
    }
}

/// Paths, each with one value.
#[derive(Clone, Debug)]
pub struct Settings(Vec<Entry>);

/// Paths, each with a list or a range.
#[derive(Clone, Debug)]
pub struct Axes(Vec<Entry>);

/// Several sets of paths with one value each, and their places.
#[derive(Clone, Debug)]
pub struct Points(Vec<(Settings, Place)>);

/// Seeds, in running order.
#[derive(Clone, Debug)]
pub struct Seeds(Vec<u64>);

/// Between 0 and 1.
#[derive(Clone, Copy, Debug)]
pub struct Confidence(f64);

/// How many values.
#[derive(Clone, Copy, Debug)]
pub struct Steps(u64);

/// Spacing of values in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Even spacing.
    Linear,
    /// Even ratios.
    Logarithmic,
}

words! {
    Scale { "linear" => Self::Linear, "log" => Self::Logarithmic, }
}

/// An end of a range: a number, and a unit that may be empty.
#[derive(Clone, Debug)]
pub struct Bound {
    number: f64,
    unit: String,
    /// Whether it is written without a point.
    whole: bool,
}

/// The keys of a table with their values, in the order of the file.
fn entries<'a>(item: &Item<'a>) -> Result<Vec<(Entry, Item<'a>)>, Problem> {
    let table = item.table("a table of paths")?;
    if table.is_empty() {
        return Err(item.place.problem("is empty", "write a path in quotes, and values"));
    }
    let mut entries = Vec::new();
    for (key, value) in table {
        let path = key.get_ref().to_string();
        let name = format!("{}.\"{path}\"", item.place.key);
        let place = Place { key: name.clone(), span: key.span() };
        // An unquoted path makes nested tables, of which only the first key is known here.
        if !path.contains('.') && value.get_ref().as_table().is_some_and(|table| !table.contains_key("from"))
        {
            let help = "write the whole path in quotes: \"network.bottleneck.queue\"";
            return Err(place.problem("expected a path and a value, found a table", help));
        }
        let value = Item {
            value: value.get_ref(),
            place: Place { key: name, span: value.span() },
            registry: &NO_OTHERS,
        };
        entries.push((Entry { path, place, values: Vec::new(), range: None }, value));
    }
    entries.sort_by_key(|(entry, _)| entry.place.span.start);
    Ok(entries)
}

/// JSON Schema of a table with paths as keys.
fn paths_schema(values: Json) -> Json {
    json!({ "type": "object", "minProperties": 1, "additionalProperties": values })
}

impl FromItem for Settings {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let entries = entries(item)?.into_iter();
        let read = entries.map(|(entry, value)| Entry { values: vec![value.place.span], ..entry });
        Ok(Self(read.collect()))
    }
    fn schema() -> Json {
        paths_schema(json!({}))
    }
}

impl FromItem for Axes {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let mut axes = Vec::new();
        for (entry, value) in entries(item)? {
            axes.push(match value.value {
                DeValue::Array(list) if list.is_empty() => {
                    return Err(value.place.problem("is empty", "at least one value is needed"));
                }
                DeValue::Array(list) => {
                    Entry { values: list.iter().map(toml::Spanned::span).collect(), ..entry }
                }
                DeValue::Table(_) => {
                    Entry { range: Some(RangeFile::read(&value)?.resolve(&value.place)?), ..entry }
                }
                _ => {
                    return Err(value
                        .expected("a list of values, or a range such as { from = 1, to = 9, steps = 5 }"));
                }
            });
        }
        Ok(Self(axes))
    }
    fn schema() -> Json {
        paths_schema(json!({ "anyOf": [{ "type": "array", "minItems": 1 }, RangeFile::schema()] }))
    }
}

impl FromItem for Points {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let points = item.value.as_array().filter(|points| !points.is_empty());
        let points = points.ok_or_else(|| item.expected("points, each under a heading [[point]]"))?;
        let read = points.iter().enumerate().map(|(number, point)| {
            let place = Place { key: format!("point[{number}]"), span: point.span() };
            let point = Item { value: point.get_ref(), place, registry: &NO_OTHERS };
            Ok((Settings::read(&point)?, point.place))
        });
        read.collect::<Result<_, _>>().map(Self)
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": Settings::schema(), "minItems": 1 })
    }
}

impl FromItem for Seeds {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let Some(list) = item.value.as_array() else {
            return Ok(Self((1..=item.integer(1, MOST_SEEDS)?.cast_unsigned()).collect()));
        };
        let mut seeds = Vec::new();
        for (index, seed) in list.iter().enumerate() {
            let place = Place { key: format!("{}[{index}]", item.place.key), span: seed.span() };
            let seed = Item { value: seed.get_ref(), place, registry: &NO_OTHERS };
            let number = Seed::read(&seed)?.0;
            if seeds.contains(&number) {
                return Err(seed.place.problem(format!("{number} is there twice"), ""));
            }
            seeds.push(number);
        }
        if seeds.is_empty() {
            return Err(item.place.problem("is empty", "at least one seed is needed"));
        }
        Ok(Self(seeds))
    }
    fn schema() -> Json {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": MOST_SEEDS },
            { "type": "array", "items": Seed::schema(), "minItems": 1, "uniqueItems": true },
        ] })
    }
}

impl FromItem for Confidence {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let level = item.number()?;
        if level > 0.0 && level < 1.0 {
            return Ok(Self(level));
        }
        Err(item
            .place
            .problem(format!("{level} is out of range"), "allowed: above 0 and below 1, such as 0.95"))
    }
    fn schema() -> Json {
        json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 })
    }
}

impl FromItem for Steps {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.integer(2, 1_000_000).map(|steps| Self(steps.cast_unsigned()))
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 2, "maximum": 1_000_000 })
    }
}

impl FromItem for Bound {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let Some(text) = item.value.as_str() else {
            let whole = matches!(item.value, DeValue::Integer(_));
            return Ok(Self { number: item.number()?, unit: String::new(), whole });
        };
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let unit = unit.trim().to_owned();
        let number = digits.parse().ok().filter(|_| !unit.is_empty());
        let number = number.ok_or_else(|| {
            item.place
                .problem(format!("{text:?} is not a number with a unit"), "write \"10 Mbps\", \"20 ms\" or 5")
        })?;
        let whole = matches!(unit.as_str(), "packet" | "packets" | "B");
        Ok(Self { number, unit, whole })
    }
    fn schema() -> Json {
        json!({ "type": ["number", "string"] })
    }
}

impl RangeFile {
    fn resolve(self, place: &Place) -> Result<ValueRange, Problem> {
        let (from, to) = (&self.from.value, &self.to.value);
        if from.unit != to.unit {
            let help = format!("from has the unit {:?}, to has {:?}", from.unit, to.unit);
            return Err(self.to.place.problem("both ends of a range need the same unit", help));
        }
        let logarithmic = value_or(&self.scale, Scale::Linear) == Scale::Logarithmic;
        if logarithmic && (from.number <= 0.0 || to.number <= 0.0) {
            return Err(place.problem("a logarithmic range must be above zero at both ends", ""));
        }
        let whole = value_or(&self.whole, from.whole && to.whole);
        if whole && (from.number.fract() != 0.0 || to.number.fract() != 0.0) {
            return Err(place.problem("a range of whole numbers needs whole numbers as ends", ""));
        }
        let steps = self.steps.map(|steps| steps.value.0);
        Ok(ValueRange {
            from: from.number,
            to: to.number,
            unit: from.unit.clone(),
            steps,
            logarithmic,
            whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: &str = r#"schema = 1
scenario = "base.toml"
seeds = 3

[set]
duration = "5 s"

[grid]
"network.bottleneck.queue" = ["5 packets", 'unlimited']
"flow.*.congestion_control" = [{ window = "cubic", start = "hystart++" }]
"transport.initial_window" = { from = 1, to = 10, steps = 4 }

[[point]]
"flow.0.start" = "1 s"

[[point]]
"flow.0.start" = "2 s"

[random]
draws = 7
over = { "network.bottleneck.rate" = { from = "1 Mbps", to = "100 Mbps", scale = "log" } }
"#;

    fn list(axis: &Axis) -> Vec<(&str, &str)> {
        match &axis.values {
            Values::List(values) => {
                values.iter().map(|(toml, at)| (toml.as_str(), &GRID[at.clone()])).collect()
            }
            Values::Range(range) => panic!("{range:?}"),
        }
    }

    fn range(axis: &Axis) -> &ValueRange {
        match &axis.values {
            Values::Range(range) => range,
            Values::List(values) => panic!("{values:?}"),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let grid = Written::read(GRID, "grid.toml").unwrap();
        assert_eq!(grid.seeds, [1, 2, 3]);
        assert_eq!(grid.fixed[0].to_string(), "duration=\"5 s\"");
        assert_eq!(&GRID[grid.fixed[0].span.clone()], "\"5 s\"");
        let paths: Vec<&str> = grid.axes.iter().map(|axis| axis.path.as_str()).collect();
        assert_eq!(
            paths,
            ["network.bottleneck.queue", "flow.*.congestion_control", "transport.initial_window"]
        );
        assert_eq!(&GRID[grid.axes[0].span.clone()], "\"network.bottleneck.queue\"");
        assert_eq!(list(&grid.axes[0]), [("\"5 packets\"", "\"5 packets\""), ("'unlimited'", "'unlimited'")]);
        let control = "{ window = \"cubic\", start = \"hystart++\" }";
        assert_eq!(list(&grid.axes[1]), [(control, control)]);
        let steps = range(&grid.axes[2]);
        assert!(steps.whole && steps.steps == Some(4) && !steps.logarithmic);
        let points: Vec<&str> = grid.points.iter().map(|point| point[0].toml.as_str()).collect();
        assert_eq!(points, ["\"1 s\"", "\"2 s\""]);
        let random = grid.random.expect("random points");
        let drawn = range(&random.over[0]);
        assert_eq!((random.draws, random.seed), (7, 1));
        assert_eq!((drawn.from, drawn.to, drawn.unit.as_str()), (1.0, 100.0, "Mbps"));
        assert!(drawn.logarithmic && !drawn.whole);
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = grid_schema();
        assert_eq!(schema["title"], "selfclock sweep");
        for key in ["scenario", "seeds", "confidence", "set", "grid", "point", "random"] {
            assert!(schema["properties"][key].is_object(), "{key}");
        }
    }

    /// A mistake, the line it is reported at, and a part of its message.
    #[test]
    fn mistakes_are_located() {
        for (from, to, line, words) in [
            ("[grid]", "[gird]", 8, "did you mean \"grid\""),
            ("seeds = 3", "seeds = 0", 3, "out of range"),
            ("seeds = 3", "seeds = [1, 2, 1]", 3, "twice"),
            ("seeds = 3", "confidence = 95", 3, "below 1"),
            ("['5 packets', 'unlimited']", "[]", 9, "empty"),
            ("\"network.bottleneck.queue\" =", "network.bottleneck.queue =", 9, "in quotes"),
            ("[\"5 packets\", 'unlimited']", "\"5 packets\"", 9, "a list of values"),
            (", steps = 4", "", 11, "steps"),
            (", steps = 4", ", step = 4", 11, "did you mean \"steps\""),
            ("steps = 4", "steps = 1", 11, "out of range"),
            ("\"flow.0.start\" = \"2 s\"", "\"flow.1.start\" = \"2 s\"", 16, "the same paths"),
            ("\"flow.0.start\" = \"1 s\"", "\"duration\" = \"1 s\"", 14, "twice"),
            ("\"100 Mbps\"", "\"100 Gbps\"", 21, "the same unit"),
            ("\"1 Mbps\"", "\"Mbps\"", 21, "not a number with a unit"),
            ("\"1 Mbps\"", "\"0 Mbps\"", 21, "above zero"),
            ("draws = 7", "draws = -7", 20, "out of range"),
            ("scenario = \"base.toml\"", "", 1, "missing key \"scenario\""),
        ] {
            let text = GRID.replacen(
                "[\"5 packets\", 'unlimited']",
                "['5 packets', 'unlimited']",
                usize::from(to == "[]"),
            );
            let text = text.replacen(from, to, 1);
            let error = Written::read(&text, "grid.toml").expect_err(to);
            assert!(error.to_string().contains(words), "{to}: {error}");
            assert_eq!(error.line(), Some(line), "{to}: {error}");
        }
    }
}

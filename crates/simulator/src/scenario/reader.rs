//! From TOML values to typed ones, each with its place in the file.
//!
//! A type for scenarios implements [`FromItem`]: reader and JSON Schema. [`table!`] declares a
//! struct for a TOML table, so that its keys, their descriptions, the reader and the schema come
//! from the same lines.

use selfclock_congestion::quantity::{self, Dimension, Quantity};
use selfclock_congestion::registry::Registry;
use selfclock_congestion::units::{Bytes, Duration, Rate};
use serde_json::{Value as Json, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Place, Problem, allowed};

/// A TOML value and its place.
pub struct Item<'a> {
    /// The value.
    pub value: &'a DeValue<'a>,
    /// Where it stands.
    pub place: Place,
    /// Available algorithms.
    pub registry: &'a Registry,
}

/// A type that can occur in a scenario.
pub trait FromItem: Sized {
    /// Reads a TOML value.
    fn read(item: &Item<'_>) -> Result<Self, Problem>;
    /// JSON Schema of its values.
    fn schema() -> Json;
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

/// A required key.
pub type Needed<T> = Located<T>;
/// An optional key.
pub type Maybe<T> = Option<Located<T>>;
/// A key with one or more values.
pub type List<T> = Vec<Located<T>>;

impl<'a> Item<'a> {
    /// The problem of an unexpected value.
    pub fn expected(&self, what: &str) -> Problem {
        self.place.problem(format!("expected {what}, found {}", type_name(self.value)), "")
    }

    /// A string, or the problem of an unexpected value.
    pub fn string(&self, what: &str) -> Result<&'a str, Problem> {
        self.value.as_str().ok_or_else(|| self.expected(what))
    }

    /// The items of a non-empty array, or the problem of an unexpected value.
    pub fn array(&self, what: &str) -> Result<Vec<Self>, Problem> {
        let array = self.value.as_array().ok_or_else(|| self.expected(what))?;
        if array.is_empty() {
            return Err(self.place.problem("is empty", "at least one is needed"));
        }
        let items = array.iter().enumerate().map(|(index, element)| Item {
            value: element.get_ref(),
            place: self.place.element(index, element),
            ..*self
        });
        Ok(items.collect())
    }

    /// The elements of an array, read; as [`Item::array`].
    pub fn elements<T: FromItem>(&self, what: &str) -> Result<List<T>, Problem> {
        let items = self.array(what)?.into_iter();
        items.map(|item| Ok(Located { value: T::read(&item)?, place: item.place })).collect()
    }

    /// A table, or the problem of an unexpected value.
    pub fn table(&self, what: &str) -> Result<&'a DeTable<'a>, Problem> {
        self.value.as_table().ok_or_else(|| self.expected(what))
    }

    /// The value as written, if it is a plain one.
    pub fn written(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(on) => on.to_string(),
            _ => "this".to_owned(),
        }
    }

    /// True for the string `word`.
    pub fn is_word(&self, word: &str) -> bool {
        self.value.as_str() == Some(word)
    }

    /// The value of a key of this table.
    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        let value = self.value.as_table()?.get(key)?;
        Some(Item { value: value.get_ref(), place: self.place.child(key, value), ..*self })
    }

    /// The keys of this table, in the order of the file.
    pub fn entries(&self) -> Vec<Item<'a>> {
        let mut entries: Vec<Item<'a>> = self
            .value
            .as_table()
            .into_iter()
            .flatten()
            .map(|(key, value)| Item {
                value: value.get_ref(),
                place: self.place.child(key.get_ref(), key),
                ..*self
            })
            .collect();
        entries.sort_by_key(|entry| entry.place.span.start);
        entries
    }

    /// Refuses keys other than these.
    pub fn only_keys(&self, keys: &[&str]) -> Result<(), Problem> {
        self.table("a table")?;
        for entry in self.entries() {
            let key = entry.place.last_key();
            if !keys.contains(&key) {
                return Err(entry.place.problem("unknown key", allowed(key, keys.iter().copied())));
            }
        }
        Ok(())
    }

    /// An integer in a range.
    pub fn integer(&self, low: i64, high: i64) -> Result<i64, Problem> {
        let help = match high {
            i64::MAX => format!("allowed: from {low}"),
            high if high == low => format!("allowed: {low}"),
            high => format!("allowed: {low} to {high}"),
        };
        let DeValue::Integer(digits) = self.value else {
            return Err(Problem { help, ..self.expected("an integer") });
        };
        match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(number) if (low..=high).contains(&number) => return Ok(number),
            _ => {}
        }
        Err(self.place.problem(format!("{digits} is out of range"), help))
    }

    /// A finite number.
    pub fn number(&self) -> Result<f64, Problem> {
        let text = match self.value {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            _ => return Err(self.expected("a number")),
        };
        let number = text.parse().unwrap_or(f64::NAN);
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.place.problem(format!("{text} is not a finite number"), "write a number such as 0.5"))
        }
    }

    /// A number in a range.
    pub fn number_within(&self, low: f64, high: f64) -> Result<f64, Problem> {
        let help = || format!("allowed: {low} to {high}");
        let number = self.number().map_err(|problem| Problem { help: help(), ..problem })?;
        if (low..=high).contains(&number) {
            return Ok(number);
        }
        Err(self.place.problem(format!("{number} is out of range"), help()))
    }

    /// A quantity of one of these dimensions.
    pub fn quantity(&self, accepted: &[Dimension]) -> Result<Quantity, Problem> {
        match self.value {
            DeValue::String(text) => quantity::parse(text, accepted)
                .map_err(|refusal| self.place.problem(refusal.message, refusal.help)),
            DeValue::Integer(_) | DeValue::Float(_) => {
                let number = match self.value {
                    DeValue::Float(float) => float.to_string(),
                    _ => self.value.as_integer().map(ToString::to_string).unwrap_or_default(),
                };
                Err(self.place.problem(format!("{number} has no unit"), quantity::example(accepted)))
            }
            _ => Err(self.expected("a string with a number and a unit")),
        }
    }

    /// A length of time.
    pub fn duration(&self) -> Result<Duration, Problem> {
        match self.quantity(&[Dimension::Time])? {
            Quantity::Time(span) => Ok(span),
            _ => Err(self.expected("a time")),
        }
    }

    /// A rate.
    pub fn rate(&self) -> Result<Rate, Problem> {
        match self.quantity(&[Dimension::Rate])? {
            Quantity::Rate(rate) => Ok(rate),
            _ => Err(self.expected("a rate")),
        }
    }

    /// A number of bytes.
    pub fn bytes(&self) -> Result<Bytes, Problem> {
        match self.quantity(&[Dimension::Size])? {
            Quantity::Size(size) => Ok(size),
            _ => Err(self.expected("a size")),
        }
    }
}

impl Place {
    fn child<T>(&self, key: &str, spanned: &Spanned<T>) -> Self {
        let key = if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) };
        Self { key, span: spanned.span() }
    }

    fn element<T>(&self, index: usize, spanned: &Spanned<T>) -> Self {
        Self { key: format!("{}[{index}]", self.key), span: spanned.span() }
    }

    /// The key without its parent tables.
    pub fn last_key(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// Cardinality of a key: required, optional, or a list.
pub trait Field: Sized {
    /// Whether the key is required.
    const REQUIRED: bool;
    /// From a table.
    fn read_key(table: &Item<'_>, key: &str) -> Result<Self, Problem>;
    /// JSON Schema of its value.
    fn schema() -> Json;
}

/// The problem of a missing key.
pub fn missing(table: &Item<'_>, key: &str) -> Problem {
    table.place.problem(format!("missing key {key:?}"), "")
}

impl<T: FromItem> Field for Needed<T> {
    const REQUIRED: bool = true;
    fn read_key(table: &Item<'_>, key: &str) -> Result<Self, Problem> {
        Maybe::<T>::read_key(table, key)?.ok_or_else(|| missing(table, key))
    }
    fn schema() -> Json {
        T::schema()
    }
}

impl<T: FromItem> Field for Maybe<T> {
    const REQUIRED: bool = false;
    fn read_key(table: &Item<'_>, key: &str) -> Result<Self, Problem> {
        table.get(key).map(|item| Ok(Located { value: T::read(&item)?, place: item.place })).transpose()
    }
    fn schema() -> Json {
        T::schema()
    }
}

impl<T: FromItem> Field for List<T> {
    const REQUIRED: bool = true;
    fn read_key(table: &Item<'_>, key: &str) -> Result<Self, Problem> {
        table.get(key).ok_or_else(|| missing(table, key))?.elements("an array")
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema(), "minItems": 1 })
    }
}

/// An optional key with any number of values.
#[derive(Clone, Debug)]
pub struct Several<T>(pub List<T>);

impl<T: FromItem> Field for Several<T> {
    const REQUIRED: bool = false;
    fn read_key(table: &Item<'_>, key: &str) -> Result<Self, Problem> {
        table.get(key).map_or(Ok(Self(Vec::new())), |_| List::read_key(table, key).map(Self))
    }
    fn schema() -> Json {
        <List<T> as Field>::schema()
    }
}

/// The written value, or a default.
pub fn value_or<T: Copy>(written: &Maybe<T>, default: T) -> T {
    written.as_ref().map_or(default, |written| written.value)
}

/// The place of the written value, or a default.
pub fn place_or<'a, T>(written: &'a Maybe<T>, default: &'a Place) -> &'a Place {
    written.as_ref().map_or(default, |written| &written.place)
}

/// One key of a table in a schema.
pub struct KeySchema {
    /// Name.
    pub name: &'static str,
    /// Its purpose.
    pub about: String,
    /// Its values.
    pub schema: Json,
    /// Whether it is required.
    pub required: bool,
}

/// JSON Schema of a table with exactly these keys.
pub fn table_schema(about: &str, keys: impl IntoIterator<Item = KeySchema>) -> Json {
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for key in keys {
        let mut schema = key.schema;
        schema["description"] = json!(key.about.trim());
        if key.required {
            required.push(key.name);
        }
        properties.insert(key.name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": about.trim(),
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A TOML table, whose keys may also be part of a larger one.
pub trait Table: Sized {
    /// Names of its keys.
    fn names() -> Vec<&'static str>;
    /// Reads its keys; others are ignored.
    fn read_keys(table: &Item<'_>) -> Result<Self, Problem>;
    /// JSON Schemas of its keys.
    fn key_schemas() -> Vec<KeySchema>;
}

/// Declares a struct for a TOML table: each key with its description and type ([`Needed`],
/// [`Maybe`] or [`List`]). `..part: Other` at the end adds the keys of another table.
macro_rules! table {
    ($($(#[doc = $about:literal])+ $name:ident {
        $($(#[doc = $key_about:literal])+ $key:ident: $kind:ty,)+ $(..$part:ident: $whole:ty,)?
    })+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        #[allow(dead_code, reason = "a key such as the version is read to be checked, and then known")]
        pub struct $name {
            $($(#[doc = $key_about])+ pub $key: $kind,)+
            $(#[doc = "The other keys."] pub $part: $whole,)?
        }

        impl $crate::scenario::reader::Table for $name {
            fn names() -> Vec<&'static str> {
                #[allow(unused_mut)]
                let mut names = vec![$(stringify!($key)),+];
                $(names.extend(<$whole as $crate::scenario::reader::Table>::names());)?
                names
            }
            fn read_keys(
                table: &$crate::scenario::reader::Item<'_>,
            ) -> Result<Self, $crate::scenario::error::Problem> {
                Ok(Self {
                    $($key: $crate::scenario::reader::Field::read_key(table, stringify!($key))?,)+
                    $($part: <$whole as $crate::scenario::reader::Table>::read_keys(table)?,)?
                })
            }
            fn key_schemas() -> Vec<$crate::scenario::reader::KeySchema> {
                #[allow(unused_mut)]
                let mut schemas = vec![$($crate::scenario::reader::KeySchema {
                    name: stringify!($key),
                    about: concat!($($key_about),+).to_owned(),
                    schema: <$kind as $crate::scenario::reader::Field>::schema(),
                    required: <$kind as $crate::scenario::reader::Field>::REQUIRED,
                }),+];
                $(schemas.extend(<$whole as $crate::scenario::reader::Table>::key_schemas());)?
                schemas
            }
        }

        impl $crate::scenario::reader::FromItem for $name {
            fn read(
                item: &$crate::scenario::reader::Item<'_>,
            ) -> Result<Self, $crate::scenario::error::Problem> {
                use $crate::scenario::reader::Table;
                item.only_keys(&Self::names())?;
                Self::read_keys(item)
            }
            fn schema() -> serde_json::Value {
                use $crate::scenario::reader::Table;
                $crate::scenario::reader::table_schema(concat!($($about),+), Self::key_schemas())
            }
        }
    )+};
}
pub(super) use table;

/// Reads an enum from words.
macro_rules! words {
    ($($kind:ty { $($word:literal => $value:expr,)+ })+) => {$(
        impl $crate::scenario::reader::FromItem for $kind {
            fn read(
                item: &$crate::scenario::reader::Item<'_>,
            ) -> Result<Self, $crate::scenario::error::Problem> {
                let words = [$($word),+];
                match item.string(&format!("one of {}", words.join(", ")))? {
                    $($word => Ok($value),)+
                    other => {
                        let help = $crate::scenario::error::allowed(other, words.into_iter());
                        Err(item.place.problem(format!("unknown value {other:?}"), help))
                    }
                }
            }
            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$($word),+] })
            }
        }

        impl $crate::scenario::layer::Setting<$kind> for $kind {
            fn put(&self, setting: &mut $kind) {
                *setting = *self;
            }
            fn write(setting: &$kind, _: selfclock_congestion::units::Bytes) -> String {
                let words = [$(($word, $value)),+];
                let word = words.iter().find(|(_, value)| value == setting);
                word.map_or_else(String::new, |(word, _)| format!("{word:?}"))
            }
        }
    )+};
}
pub(super) use words;

/// JSON Schema of a quantity.
pub fn quantity_schema(accepted: &[Dimension]) -> Json {
    json!({ "type": "string", "pattern": quantity::pattern(accepted) })
}

impl FromItem for bool {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.value.as_bool().ok_or_else(|| item.expected("true or false"))
    }
    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

impl FromItem for String {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.string("a string").map(str::to_owned)
    }
    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

impl FromItem for Duration {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.duration()
    }
    fn schema() -> Json {
        quantity_schema(&[Dimension::Time])
    }
}

impl FromItem for Bytes {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        item.bytes()
    }
    fn schema() -> Json {
        quantity_schema(&[Dimension::Size])
    }
}

/// A rate of zero would never deliver a packet, so it is refused everywhere.
impl FromItem for Rate {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.quantity(&[Dimension::Rate])? {
            Quantity::Rate(rate) if rate.bits_per_second() > 0 => Ok(rate),
            _ => Err(item.place.problem("a rate must be above zero", quantity::example(&[Dimension::Rate]))),
        }
    }
    fn schema() -> Json {
        quantity_schema(&[Dimension::Rate])
    }
}

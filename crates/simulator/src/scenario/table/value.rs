//! Values with their own range or word, shared by several tables.

use crate::scenario::error::Problem;
use crate::scenario::reader::{FromItem, Item};
use selfclock_congestion::units::Bytes;
use serde_json::{Value as Json, json};

/// A value, or the word "off".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrOff<T> {
    /// Not used.
    Off,
    /// Used, with this.
    On(T),
}

impl<T: FromItem> FromItem for OrOff<T> {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("off") {
            return Ok(Self::Off);
        }
        T::read(item).map(Self::On).map_err(|problem| problem.or_at(&item.place, "\"off\""))
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "off" }, T::schema()] })
    }
}

/// Above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive<T>(pub T);

impl<T: FromItem + Default + PartialEq> FromItem for Positive<T> {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let value = T::read(item)?;
        if value == T::default() {
            return Err(item.place.problem("must be above zero", ""));
        }
        Ok(Self(value))
    }
    fn schema() -> Json {
        T::schema()
    }
}

fn size_within(item: &Item<'_>, low: u64) -> Result<Bytes, Problem> {
    let size = item.bytes()?;
    if (low..=65_535).contains(&size.get()) {
        return Ok(size);
    }
    Err(item
        .place
        .problem(format!("{} B is out of range", size.get()), format!("allowed: {low} B to 65535 B")))
}

/// Size of a packet or of its payload: 1 to 65535 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSize(pub Bytes);

impl FromItem for PacketSize {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        size_within(item, 1).map(Self)
    }
    fn schema() -> Json {
        Bytes::schema()
    }
}

/// Size of a header: 0 to 65535 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderSize(pub Bytes);

impl FromItem for HeaderSize {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        size_within(item, 0).map(Self)
    }
    fn schema() -> Json {
        Bytes::schema()
    }
}

/// Declares numbers with a range.
macro_rules! ranges {
    ($($(#[$about:meta])* $name:ident($kind:ty) = $read:ident, $json:literal, $low:expr, $high:expr;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub $kind);

        impl $crate::scenario::reader::FromItem for $name {
            fn read(
                item: &$crate::scenario::reader::Item<'_>,
            ) -> Result<Self, $crate::scenario::error::Problem> {
                item.$read($low, $high).map(|number| Self(number as $kind))
            }
            fn schema() -> serde_json::Value {
                serde_json::json!({ "type": $json, "minimum": $low, "maximum": $high })
            }
        }

        impl $crate::scenario::layer::Setting<$kind> for $name {
            fn put(&self, setting: &mut $kind) {
                *setting = self.0;
            }
            fn write(setting: &$kind, _: selfclock_congestion::units::Bytes) -> String {
                setting.to_string()
            }
        }
    )+};
}
pub(in crate::scenario) use ranges;

ranges! {
    /// At least one.
    Count(u64) = integer, "integer", 1, i64::MAX;
    /// At least one, at most 2^32 - 1.
    SmallCount(u32) = integer, "integer", 1, i64::from(u32::MAX);
    /// A probability.
    Probability(f64) = number_within, "number", 0.0, 1.0;
}

/// Name of a node, link, flow or run. It may become a file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

/// Longest name, in bytes.
const LONGEST_NAME: usize = 200;

/// Characters that leave a folder, or that make a name look like another: controls, and those that
/// change the direction of text or have no width (Unicode Technical Report 36, 3.1).
fn forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '/' | '\\' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl FromItem for Name {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        let name = item.string("a name")?;
        // A name that begins with a dot is hidden, or a folder such as `..`.
        if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || name.contains(forbidden) {
            let help =
                "1 to 200 bytes, no dot at the beginning, no slash, no backslash, no control character";
            return Err(item.place.problem("not a name", help));
        }
        Ok(Self(name.to_owned()))
    }
    fn schema() -> Json {
        json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_NAME })
    }
}

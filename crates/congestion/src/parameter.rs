//! Parameters of algorithms: one documented struct each, with the unit and the source of every
//! default.
//!
//! [`parameters!`](crate::parameters) declares the struct and, from the same lines, the table that
//! `selfclock algorithms` prints and the function that sets a parameter by name.

use core::fmt;

use crate::units::{Bytes, Duration, Packets, Rate};

/// Value type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number.
    Number,
    /// A length of time.
    Duration,
    /// A number of bytes.
    Bytes,
    /// A rate.
    Rate,
    /// A whole number.
    Count,
    /// A number of packets, with its unit.
    Packets,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One or more of these words, as a list.
    Several(&'static [&'static str]),
    /// Whole numbers from 1 in ascending order, as a list.
    Counts,
    /// A value of this kind, or this word.
    OrWord(&'static Kind, &'static str),
    /// A value of one kind or the other, distinguished by their units.
    Either(&'static Kind, &'static Kind),
}

/// A typed value for a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "values live only while a scenario is read")]
pub enum Value<'a> {
    /// For [`Kind::Switch`].
    Switch(bool),
    /// For [`Kind::Number`].
    Number(f64),
    /// For [`Kind::Duration`].
    Duration(Duration),
    /// For [`Kind::Bytes`].
    Bytes(Bytes),
    /// For [`Kind::Rate`].
    Rate(Rate),
    /// For [`Kind::Count`].
    Count(u64),
    /// For [`Kind::Packets`].
    Packets(u64),
    /// For [`Kind::Choice`] and the word of [`Kind::OrWord`].
    Choice(&'a str),
    /// For [`Kind::Several`]: bit N is set if word N is in the list.
    Several(u32),
    /// For [`Kind::Counts`].
    Counts(Counts),
}

/// Whole numbers from 1 in ascending order, at most [`Counts::MOST`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    length: u8,
    numbers: [u32; Self::MOST],
}

impl Counts {
    /// Maximum number of them.
    pub const MOST: usize = 64;

    /// None.
    pub const NONE: Self = Self { length: 0, numbers: [0; Self::MOST] };

    /// These numbers; `None` if they are too many, or one is zero or not above the one before.
    pub fn new(numbers: &[u32]) -> Option<Self> {
        let ascends = numbers.windows(2).all(|pair| pair[0] < pair[1]);
        if numbers.len() > Self::MOST || numbers.first() == Some(&0) || !ascends {
            return None;
        }
        let mut counts = Self { length: numbers.len() as u8, ..Self::NONE };
        counts.numbers[..numbers.len()].copy_from_slice(numbers);
        Some(counts)
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..usize::from(self.length)]
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl ParameterType for Counts {
    const KIND: Kind = Kind::Counts;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Counts(counts) = value { Some(counts) } else { None }
    }
}

impl Value<'_> {
    /// The same value, with the static word of `kind` in place of a borrowed one; `None` if `kind`
    /// has no such word.
    pub(crate) fn kept(self, kind: Kind) -> Option<Value<'static>> {
        Some(match self {
            Self::Switch(on) => Value::Switch(on),
            Self::Number(number) => Value::Number(number),
            Self::Duration(span) => Value::Duration(span),
            Self::Bytes(size) => Value::Bytes(size),
            Self::Rate(rate) => Value::Rate(rate),
            Self::Count(count) => Value::Count(count),
            Self::Packets(packets) => Value::Packets(packets),
            Self::Several(words) => Value::Several(words),
            Self::Counts(counts) => Value::Counts(counts),
            Self::Choice(word) => Value::Choice(match kind {
                Kind::Choice(words) => words.iter().copied().find(|other| *other == word)?,
                Kind::OrWord(_, other) if other == word => other,
                _ => return None,
            }),
        })
    }
}

/// Description of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// Unit of the value; empty if dimensionless.
    pub unit: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// Default, as a scenario would write it, or in words if it depends on another setting; empty
    /// if a value is required.
    pub default: &'static str,
    /// Source of the default.
    pub source: &'static str,
    /// Smallest and largest allowed number, in `unit`, for kinds with a range.
    pub range: (f64, f64),
    /// Another parameter and its value, as a scenario writes it, without which this one has no
    /// effect. If this one has no default, that value in turn needs it.
    pub requires: Option<(&'static str, &'static str)>,
}

/// The range of all numbers above zero.
pub const ABOVE_ZERO: (f64, f64) = (f64::MIN_POSITIVE, f64::INFINITY);

/// Why a parameter was not set.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// No parameter has this name.
    Unknown,
    /// The value is of another kind.
    WrongKind(Kind),
    /// The number is outside the allowed range.
    OutOfRange(f64, f64),
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no parameter has this name"),
            Self::WrongKind(kind) => write!(f, "the value is of another kind than {kind:?}"),
            Self::OutOfRange(low, high) => write!(f, "the value is outside of {low} to {high}"),
        }
    }
}

impl core::error::Error for ParameterError {}

/// A type that a parameter can have.
pub trait ParameterType: Sized {
    /// Its value kind.
    const KIND: Kind;
    /// Converts a value; `None` if it has another kind or is not one of the choices.
    fn from_value(value: Value<'_>) -> Option<Self>;
    /// The value as a 64-bit word for the kernel; `None` if the type has no such form.
    fn to_word(&self) -> Option<u64> {
        None
    }
    /// The value of a 64-bit word; `None` if invalid.
    fn from_word(_word: u64) -> Option<Self> {
        None
    }
}

/// Parameters as 64-bit words, as an algorithm compiled for the kernel takes them.
/// [`parameters!`](crate::parameters) implements it.
pub trait Words: Sized {
    /// Number of words.
    const COUNT: usize;
    /// All parameters, in the order of their table; `None` if one has no such form.
    fn to_words(&self, each: impl FnMut(u64)) -> Option<()>;
    /// The inverse of [`Self::to_words`]. Invalid words become the default.
    fn from_words(next: impl FnMut() -> u64) -> Self;
}

/// The word for no value: a NaN, outside the range of every parameter.
const NO_VALUE: u64 = u64::MAX;

/// Declares the 64-bit form of a type.
macro_rules! word {
    ($value:ident => $to:expr, $word:ident => $from:expr) => {
        fn to_word(&self) -> Option<u64> {
            let $value = *self;
            Some($to)
        }
        fn from_word($word: u64) -> Option<Self> {
            if $word == NO_VALUE { None } else { $from }
        }
    };
}

impl ParameterType for bool {
    const KIND: Kind = Kind::Switch;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Switch(on) = value { Some(on) } else { None }
    }
    word! { on => u64::from(on), word => Some(word != 0) }
}
impl ParameterType for f64 {
    const KIND: Kind = Kind::Number;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Number(number) = value { Some(number) } else { None }
    }
    word! { number => number.to_bits(), word => Some(Self::from_bits(word)) }
}
impl ParameterType for Duration {
    const KIND: Kind = Kind::Duration;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Duration(span) = value { Some(span) } else { None }
    }
    word! { span => span.picoseconds(), word => Some(Self::from_picoseconds(word)) }
}
impl ParameterType for Bytes {
    const KIND: Kind = Kind::Bytes;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Bytes(size) = value { Some(size) } else { None }
    }
    word! { size => size.get(), word => Some(Self(word)) }
}

impl ParameterType for Rate {
    const KIND: Kind = Kind::Rate;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Rate(rate) = value { Some(rate) } else { None }
    }
    word! { rate => rate.bits_per_second(), word => Some(Self::from_bits_per_second(word)) }
}

impl ParameterType for u32 {
    const KIND: Kind = Kind::Count;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Count(count) = value { count.try_into().ok() } else { None }
    }
    word! { count => u64::from(count), word => word.try_into().ok() }
}

impl ParameterType for u64 {
    const KIND: Kind = Kind::Count;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Count(count) = value { Some(count) } else { None }
    }
    word! { count => count, word => Some(word) }
}

impl ParameterType for Packets {
    const KIND: Kind = Kind::Packets;
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Packets(packets) = value { Some(Self(packets)) } else { None }
    }
    word! { packets => packets.0, word => Some(Self(word)) }
}

/// An optional parameter, whose default is `None`.
impl<T: ParameterType> ParameterType for Option<T> {
    const KIND: Kind = T::KIND;
    fn from_value(value: Value<'_>) -> Option<Self> {
        T::from_value(value).map(Some)
    }
    fn to_word(&self) -> Option<u64> {
        self.as_ref().map_or(Some(NO_VALUE), T::to_word)
    }
    fn from_word(word: u64) -> Option<Self> {
        if word == NO_VALUE { Some(None) } else { T::from_word(word).map(Some) }
    }
}

/// The number to compare with a parameter's range, if the value has one.
pub fn magnitude(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number),
        Value::Duration(span) => Some(span.seconds()),
        Value::Bytes(size) => Some(size.get() as f64),
        Value::Rate(rate) => Some(rate.bits_per_second() as f64),
        Value::Count(number) | Value::Packets(number) => Some(number as f64),
        Value::Switch(_) | Value::Choice(_) | Value::Several(_) | Value::Counts(_) => None,
    }
}

/// The only element, if any: the optional part of a `parameters!` row.
#[doc(hidden)]
pub const fn first<T: Copy>(optional: &[T]) -> Option<T> {
    if let [only, ..] = optional { Some(*only) } else { None }
}

/// An enum whose variants are words in a scenario.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $crate::parameter::ParameterType for $name {
            const KIND: $crate::parameter::Kind = $crate::parameter::Kind::Choice(&[$($word),+]);
            fn from_value(value: $crate::parameter::Value<'_>) -> Option<Self> {
                match value {
                    $($crate::parameter::Value::Choice($word) => Some(Self::$variant),)+
                    _ => None,
                }
            }
            fn to_word(&self) -> Option<u64> {
                Some(*self as u64)
            }
            fn from_word(word: u64) -> Option<Self> {
                $(if word == Self::$variant as u64 {
                    return Some(Self::$variant);
                })+
                None
            }
        }
    };
}

/// Declares a struct of parameters: fields with default, unit, allowed range and source.
#[macro_export]
macro_rules! parameters {
    ($(#[$meta:meta])* $name:ident {
        $($(#[doc = $about:literal])+ $field:ident: $kind:ty = $default:expr, shown $shown:literal, unit $unit:literal, range $range:expr, $(requires $other:ident = $needed:literal,)? source $source:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name { $($(#[doc = $about])+ pub $field: $kind,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// Every parameter with its unit, default and source.
            pub const TABLE: &'static [$crate::parameter::Parameter] = &[$($crate::parameter::Parameter {
                name: stringify!($field),
                about: concat!($($about),+),
                unit: $unit,
                kind: <$kind as $crate::parameter::ParameterType>::KIND,
                default: $shown,
                source: $source,
                range: $range,
                requires: $crate::parameter::first(&[$((stringify!($other), stringify!($needed)))?]),
            },)*];

            /// Sets one parameter by name.
            #[allow(unused_variables)]
            pub fn set(&mut self, name: &str, value: $crate::parameter::Value<'_>) -> Result<(), $crate::parameter::ParameterError> {
                use $crate::parameter::{magnitude, ParameterError, ParameterType};
                $(if name == stringify!($field) {
                    let (low, high): (f64, f64) = $range;
                    // In this form NaN is out of range.
                    if magnitude(value).is_some_and(|number| !(low..=high).contains(&number)) {
                        return Err(ParameterError::OutOfRange(low, high));
                    }
                    self.$field = <$kind>::from_value(value).ok_or(ParameterError::WrongKind(<$kind>::KIND))?;
                    return Ok(());
                })*
                Err(ParameterError::Unknown)
            }
        }

        impl $crate::parameter::Words for $name {
            const COUNT: usize = Self::TABLE.len();
            #[allow(unused_mut, unused_variables)]
            fn to_words(&self, mut each: impl FnMut(u64)) -> Option<()> {
                $(each($crate::parameter::ParameterType::to_word(&self.$field)?);)*
                Some(())
            }
            #[allow(unused_mut, unused_variables)]
            #[inline(always)]
            fn from_words(mut next: impl FnMut() -> u64) -> Self {
                Self { $($field: <$kind as $crate::parameter::ParameterType>::from_word(next()).unwrap_or($default),)* }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// Words.
        Word {
            /// One.
            One = "one",
            /// The other.
            Other = "other",
        }
    }

    parameters! {
        /// One of each kind.
        Parameters {
            /// A switch.
            switch: bool = false, shown "false", unit "", range (0.0, 0.0), source "";
            /// A number.
            number: f64 = 2.0, shown "2", unit "", range (1.0, 3.0), source "";
            /// A length of time.
            span: Duration = Duration::from_milliseconds(2), shown "2 ms", unit "s", range (0.001, 0.003), source "";
            /// Bytes.
            size: Bytes = Bytes(20), shown "20 B", unit "B", range (10.0, 30.0), source "";
            /// A rate.
            rate: Rate = Rate::from_bits_per_second(200), shown "200 bps", unit "bit/s", range (100.0, 300.0), source "";
            /// A word.
            word: Word = Word::One, shown "one", unit "", range (0.0, 0.0), source "";
        }
    }

    /// Each kind accepts only its own values, including both ends of its range, and keeps the
    /// former value when it refuses one.
    #[test]
    fn values_and_their_kinds() {
        let time = Duration::from_microseconds;
        let rate = Rate::from_bits_per_second;
        let good = [
            ("switch", vec![Value::Switch(true)]),
            ("number", vec![Value::Number(1.0), Value::Number(3.0)]),
            ("span", vec![Value::Duration(time(1000)), Value::Duration(time(3000))]),
            ("size", vec![Value::Bytes(Bytes(10)), Value::Bytes(Bytes(30))]),
            ("rate", vec![Value::Rate(rate(100)), Value::Rate(rate(300))]),
            ("word", vec![Value::Choice("other")]),
        ];
        for (name, values) in &good {
            for (other, of_other) in &good {
                let mut parameters = Parameters::default();
                for value in of_other {
                    let result = parameters.set(name, *value);
                    let changed = parameters != Parameters::default();
                    assert_eq!((result.is_ok(), changed), (name == other, name == other), "{name} {value:?}");
                }
            }
            assert!(values.iter().all(|value| Parameters::default().set(name, *value).is_ok()));
        }
        let mut parameters = Parameters::default();
        for (name, value) in [
            ("number", Value::Number(0.999)),
            ("number", Value::Number(3.001)),
            ("number", Value::Number(f64::NAN)),
            ("span", Value::Duration(time(999))),
            ("span", Value::Duration(time(3001))),
            ("size", Value::Bytes(Bytes(9))),
            ("size", Value::Bytes(Bytes(31))),
            ("rate", Value::Rate(rate(99))),
            ("rate", Value::Rate(rate(301))),
        ] {
            let result = parameters.set(name, value);
            assert!(matches!(result, Err(ParameterError::OutOfRange(..))), "{name} {value:?}: {result:?}");
        }
        let no_word = Err(ParameterError::WrongKind(Kind::Choice(&["one", "other"])));
        assert_eq!(parameters.set("word", Value::Choice("third")), no_word);
        assert_eq!(parameters.set("none", Value::Switch(true)), Err(ParameterError::Unknown));
        assert_eq!(parameters, Parameters::default());
        assert_eq!(Parameters::TABLE.len(), 6);
    }

    /// To 64 bits and back, for each kind of value and each word; an invalid word becomes the
    /// default.
    #[test]
    fn values_as_words() {
        let mut parameters = Parameters::default();
        for word in [Word::One, Word::Other] {
            (parameters.switch, parameters.number, parameters.word) = (true, 2.5, word);
            parameters.span = Duration::from_microseconds(1500);
            (parameters.size, parameters.rate) = (Bytes(11), Rate::from_bits_per_second(299));
            let mut words = Vec::new();
            assert_eq!(parameters.to_words(|word| words.push(word)), Some(()));
            assert_eq!(words.len(), Parameters::TABLE.len());
            let mut given = words.into_iter();
            assert_eq!(Parameters::from_words(|| given.next().expect("as many")), parameters);
        }
        assert_eq!(Parameters::from_words(|| NO_VALUE), Parameters::default());
        assert_eq!(u32::from_word(1 << 32), None);
        assert_eq!((u32::from_word(7), u64::from_word(8)), (Some(7), Some(8)));
        assert_eq!(Packets::from_word(9).and_then(|packets| packets.to_word()), Some(9));
        assert_eq!(Some(3.0_f64).to_word().and_then(Option::<f64>::from_word), Some(Some(3.0)));
        assert_eq!(None::<f64>.to_word().and_then(Option::<f64>::from_word), Some(None));
    }
}

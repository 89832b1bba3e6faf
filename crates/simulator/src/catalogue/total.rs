//! Totals: numbers for a whole run, each with what a table must know of it.

use crate::shared::Name;
use selfclock_congestion::names;

/// A total, as tables show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// Key in JSON and columns.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether a summary omits it instead of writing null.
    pub omitted: bool,
    /// Unit in tables and figures; the value itself is in the unit of its name.
    pub unit: &'static str,
    /// Its name on an axis, without unit.
    pub word: &'static str,
    /// Heading of a page's column, with `{}` for the unit; empty if no table of a run has it.
    pub heading: &'static str,
    /// Heading where there is little room: a common part and its own, in two lines.
    pub short: &'static str,
    /// Decimals; `None` for four digits.
    pub decimals: Option<u8>,
    /// Where it is zero or unknown in every row, its column is omitted.
    pub sparse: bool,
    /// Of a table without room the columns with the highest value are omitted first; 0: never.
    pub spare: u8,
    /// How those of several flows or links become one of the run; `None` if they do not.
    pub combined: Option<Combined>,
    /// Whether it has a meaning for UDP.
    pub udp: bool,
    /// Whether an emulation has it, which does not observe the hosts.
    pub emulated: bool,
}

impl Total {
    /// One that no table shows.
    pub const fn new(name: &'static str, about: &'static str, kind: Kind) -> Self {
        Self {
            name,
            about,
            kind,
            omitted: false,
            unit: "",
            word: "",
            heading: "",
            short: "",
            decimals: None,
            sparse: false,
            spare: 0,
            combined: None,
            udp: true,
            emulated: true,
        }
    }
}

names! {
    /// How the totals of several flows or links become one of a run.
    pub enum Combined {
        /// The sum.
        Sum => "sum",
        /// The smallest that is known.
        Least => "least",
        /// The mean of those known, weighted by the bytes that each flow delivered.
        Mean => "mean",
        /// The value of the link with the highest utilization.
        Busiest => "busiest",
    }
}

/// Type of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// "text", "count", "real", or the name of a table of totals.
    pub name: &'static str,
    /// Whether there are several.
    pub list: bool,
    /// Whether it may be unknown.
    pub null: bool,
}

/// A type that a total may have.
pub trait Described {
    /// Its description.
    const KIND: Kind;
}

macro_rules! described {
    ($($type:ty = $name:literal),+ $(,)?) => {$(
        impl Described for $type {
            const KIND: Kind = Kind { name: $name, list: false, null: false };
        }
    )+};
}

described! { String = "text", Name = "text", u64 = "count", f64 = "real" }

impl<T: Described> Described for Option<T> {
    const KIND: Kind = Kind { null: true, ..T::KIND };
}

impl<T: Described> Described for Vec<T> {
    const KIND: Kind = Kind { list: true, ..T::KIND };
}

/// Declares totals: a struct with a field for each, and the list of what tables must know of them.
macro_rules! totals {
    ($(
        $(#[$attribute:meta])*
        pub struct $Summary:ident {
            $(
                $(#[doc = $about:literal])+
                $(#[serde($($serde:tt)+)])?
                $name:ident: $type:ty $({ $($fact:ident: $value:expr),+ $(,)? })?,
            )+
        }
    )+) => {$(
        $(#[$attribute])*
        pub struct $Summary {
            $($(#[doc = $about])+ $(#[serde($($serde)+)])? pub $name: $type,)+
        }

        impl $Summary {
            /// Its totals, in the order of the fields.
            pub const TOTALS: &'static [$crate::catalogue::total::Total] = &[
                $($crate::catalogue::total::Total {
                    $($($fact: $value,)+)?
                    ..$crate::catalogue::total::Total::new(
                        stringify!($name),
                        concat!($($about),+),
                        <$type as $crate::catalogue::total::Described>::KIND,
                    )
                },)+
            ];
        }

        impl $crate::catalogue::total::Described for $Summary {
            const KIND: $crate::catalogue::total::Kind =
                $crate::catalogue::total::Kind { name: stringify!($Summary), list: false, null: false };
        }
    )+};
}
pub(crate) use totals;

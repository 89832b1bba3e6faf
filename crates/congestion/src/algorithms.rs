//! From a list of algorithms: the enum that dispatches among them, and what the registry needs.

/// Declares one kind of part: `kind $Part chosen by $Choice { module::Algorithm, ... }`.
///
/// A listed module has an `ENTRY` for the registry, `Parameters`, and the algorithm with a `new(Parameters)`. One that is large
/// and seldom used is held `in Box`, so that it does not make every connection large.
macro_rules! algorithms {
    (@held $held:ty) => { $held };
    (@held $held:ty, $box:ident) => { $box<$held> };
    (@hold $value:expr) => { $value };
    (@hold $value:expr, $box:ident) => { $box::new($value) };
    ($(#[$meta:meta])* $part:ident, chosen by $choice:ident {
        $($module:ident::$algorithm:ident $(in $box:ident)?,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub enum $part {
            $(#[doc = concat!("[`", stringify!($module), "`]")] $algorithm(
                $crate::algorithms::algorithms!(@held $module::$algorithm $(, $box)?)
            ),)+
        }

        /// The registry's rows for these.
        pub(crate) const ENTRIES: &[$crate::registry::Entry] = &[$($module::ENTRY,)+];

        /// One of these with its parameters, not yet running.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum $choice {
            $($algorithm($module::Parameters),)+
        }

        impl $choice {
            /// The one with this name, with default parameters.
            pub(crate) fn named(name: &str) -> Option<Self> {
                $(if name == $module::ENTRY.name {
                    return Some(Self::$algorithm($module::Parameters::default()));
                })+
                None
            }

            /// Its row in the registry.
            pub(crate) fn entry(&self) -> &'static $crate::registry::Entry {
                match self {
                    $(Self::$algorithm(_) => &$module::ENTRY,)+
                }
            }

            /// Sets one parameter by name.
            pub(crate) fn set(
                &mut self,
                name: &str,
                value: $crate::parameter::Value<'_>,
            ) -> Result<(), $crate::parameter::ParameterError> {
                match self {
                    $(Self::$algorithm(parameters) => parameters.set(name, value),)+
                }
            }

            /// A new one for a connection.
            pub(crate) fn build(&self) -> $part {
                match self {
                    $(Self::$algorithm(parameters) => $part::$algorithm(
                        $crate::algorithms::algorithms!(@hold $module::$algorithm::new(*parameters) $(, $box)?)
                    ),)+
                }
            }
        }

        /// Calls the same method on whichever it is.
        macro_rules! each {
            ($of:expr, $each:ident => $call:expr) => {
                match $of {
                    $($part::$algorithm($each) => $call,)+
                }
            };
        }
    };
}
pub(crate) use algorithms;

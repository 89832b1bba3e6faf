//! Generated from a list of algorithms: the enum that dispatches among them, and their registry
//! rows.
//!
//! An enum, not a trait object: the path of an ACK has no dynamic dispatch. The macro that
//! [`crate::part`] makes beside a part's trait forwards every method.

/// Declares one kind of part: `Part, chosen by Choice { module::Algorithm, ... }`. `open as
/// AnyPart` after the choice admits user-defined algorithms.
///
/// A listed module has an `ENTRY` for the registry, `Parameters`, and the algorithm with a
/// `new(Parameters)`. A large and rarely used algorithm is held `in Box`, so that it does not
/// enlarge every connection.
macro_rules! algorithms {
    (@held $held:ty) => { $held };
    (@held $held:ty, $box:ident) => { $box<$held> };
    (@hold $value:expr) => { $value };
    (@hold $value:expr, $box:ident) => { $box::new($value) };
    (@custom $part:ident $any:ident $each:ident) => { $part::Custom($each) };
    ($(#[$meta:meta])* $part:ident, chosen by $choice:ident $(, open as $any:ident)? {
        $($module:ident::$algorithm:ident $(in $box:ident)?,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum $part {
            $(#[doc = concat!("[`", stringify!($module), "`]")] $algorithm(
                $crate::dispatch::algorithms!(@held $module::$algorithm $(, $box)?)
            ),)+
            $(
                /// A user-defined one.
                Custom(alloc::boxed::Box<dyn $any>),
            )?
        }

        /// Registry rows of these algorithms.
        pub(crate) const ENTRIES: &[$crate::entry::Entry] = &[$($module::ENTRY,)+];

        /// One of these with its parameters, not yet running.
        #[derive(Clone, Debug)]
        pub(crate) enum $choice {
            $($algorithm($module::Parameters),)+
            $(Custom($crate::custom::CustomChoice<dyn $any>),)?
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
            pub(crate) fn entry(&self) -> $crate::entry::Entry {
                match self {
                    $(Self::$algorithm(_) => $module::ENTRY,)+
                    $(Self::Custom(custom) => $crate::custom::CustomChoice::<dyn $any>::entry(custom),)?
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
                    $(Self::Custom(custom) => $crate::custom::CustomChoice::<dyn $any>::set(custom, name, value),)?
                }
            }

            /// All parameters as 64-bit words; `None` if they have no such form.
            #[allow(dead_code, reason = "no estimator runs in a kernel")]
            pub(crate) fn words(&self, mut each: impl FnMut(u64)) -> Option<()> {
                match self {
                    $(Self::$algorithm(parameters) => $crate::parameter::Words::to_words(parameters, &mut each),)+
                    $(Self::Custom(custom) => {
                        $crate::custom::CustomChoice::<dyn $any>::words(custom, &mut each)
                    })?
                }
            }

            /// Makes the algorithm of a new connection.
            pub(crate) fn build(&self) -> $part {
                match self {
                    $(Self::$algorithm(parameters) => $part::$algorithm(
                        $crate::dispatch::algorithms!(@hold $module::$algorithm::new(*parameters) $(, $box)?)
                    ),)+
                    $(Self::Custom(custom) => {
                        $part::Custom($crate::custom::CustomChoice::<dyn $any>::build(custom))
                    })?
                }
            }
        }

        /// Calls the same method on the algorithm an enum holds.
        macro_rules! each {
            ($of:expr, $each:ident => $call:expr) => {
                match $of {
                    $($part::$algorithm($each) => $call,)+
                    $($crate::dispatch::algorithms!(@custom $part $any $each) => $call,)?
                }
            };
        }
    };
}
pub(crate) use algorithms;

/// Forwards methods to the algorithm that an enum holds: `(each)`, or `(Enum, mostly Usual)`, which
/// inlines only calls of the usual algorithm, so that little code is inlined into the sender.
macro_rules! forward {
    ($how:tt) => {};
    ($how:tt $(#[$meta:meta])* fn $method:ident $arguments:tt $(-> $output:ty)? $body:block $($rest:tt)*) => {
        $crate::dispatch::forward! { $how fn $method $arguments $(-> $output)?; $($rest)* }
    };
    ($how:tt $(#[$meta:meta])* fn $method:ident(&self $(, $name:ident: $type:ty)*) $(-> $output:ty)?; $($rest:tt)*) => {
        $crate::dispatch::forward! { @one $how [&] fn $method($($name: $type),*) $(-> $output)? }
        $crate::dispatch::forward! { $how $($rest)* }
    };
    ($how:tt $(#[$meta:meta])* fn $method:ident(&mut self $(, $name:ident: $type:ty)*) $(-> $output:ty)?; $($rest:tt)*) => {
        $crate::dispatch::forward! { @one $how [&mut] fn $method($($name: $type),*) $(-> $output)? }
        $crate::dispatch::forward! { $how $($rest)* }
    };
    (@one (each) [$($own:tt)+] fn $method:ident($($name:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline]
        fn $method($($own)+ self, $($name: $type),*) $(-> $output)? {
            each!(self, part => part.$method($($name),*))
        }
    };
    (@one ($part:ident, mostly $usual:ident) [$($own:tt)+] fn $method:ident($($name:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline]
        fn $method($($own)+ self, $($name: $type),*) $(-> $output)? {
            #[inline(never)]
            fn others(this: $($own)+ $part, $($name: $type),*) $(-> $output)? {
                each!(this, part => part.$method($($name),*))
            }
            match self {
                Self::$usual(part) => part.$method($($name),*),
                _ => others(self, $($name),*),
            }
        }
    };
}
pub(crate) use forward;

//! From a list of algorithms: the enum that dispatches among them, and the registry's view of them.
//!
//! An enum, not a trait object: the path of an ACK has no dynamic dispatch. Every method of a
//! part's trait is forwarded by the macro that [`crate::part`] makes beside the trait.

/// Declares one kind of part: `Part, chosen by Choice { module::Algorithm, ... }`, and with `open
/// as AnyPart` after the choice one that user-defined algorithms can join.
///
/// A listed module has an `ENTRY` for the registry, `Parameters`, and the algorithm with a
/// `new(Parameters)`. A large and seldom used algorithm is held `in Box`, so that it does not make
/// every connection large.
macro_rules! algorithms {
    (@held $held:ty) => { $held };
    (@held $held:ty, $box:ident) => { $box<$held> };
    (@hold $value:expr) => { $value };
    (@hold $value:expr, $box:ident) => { $box::new($value) };
    (@none $any:ident) => { None };
    (@custom $part:ident $any:ident $each:ident) => { $part::Custom($each) };
    ($(#[$meta:meta])* $part:ident, chosen by $choice:ident $(, open as $any:ident)? {
        $($module:ident::$algorithm:ident $(in $box:ident)?,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub enum $part {
            $(#[doc = concat!("[`", stringify!($module), "`]")] $algorithm(
                $crate::dispatch::algorithms!(@held $module::$algorithm $(, $box)?)
            ),)+
            $(
                /// A user-defined one.
                Custom(alloc::boxed::Box<dyn $any>),
            )?
        }

        /// The registry's rows for these.
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

            /// Hands over every parameter as 64 bits; `None` of a user-defined one, whose form is
            /// its own.
            #[allow(dead_code, reason = "no estimator runs in a kernel")]
            pub(crate) fn words(&self, each: impl FnMut(u64)) -> Option<()> {
                match self {
                    $(Self::$algorithm(parameters) => parameters.words(each),)+
                    $(Self::Custom(_) => $crate::dispatch::algorithms!(@none $any),)?
                }
            }

            /// A new one for a connection.
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

        /// Calls the same method on whichever it is.
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
/// inlines calls of the usual algorithm only, so that the code inlined into the sender is short.
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

//! Enums whose variants have names in records, lists and messages.

/// Declares an enum with `ALL`, its variants in their order, and `name`.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident $(= $number:literal)? => $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $($(#[$variant_meta])* $variant $(= $number)?,)+ }

        impl $name {
            /// Every variant, in the order of its number.
            $visibility const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Name in records, lists and messages.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

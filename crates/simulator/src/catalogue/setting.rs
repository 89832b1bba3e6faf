//! Settings that two named profiles have values for.

/// Declares settings: a struct with a field for each, and its value in the profile of a current
/// stack and in that of the papers' simulators, where that differs.
macro_rules! settings {
    ($(
        $(#[$attribute:meta])*
        pub struct $Settings:ident {
            $($(#[doc = $about:literal])+ $name:ident: $type:ty = $modern:expr $(, $classic:expr)?;)+
        }
    )+) => {$(
        $(#[$attribute])*
        pub struct $Settings {
            $($(#[doc = $about])+ pub $name: $type,)+
        }

        impl $Settings {
            /// Settings of a current Linux.
            pub const fn modern() -> Self {
                Self { $($name: $modern,)+ }
            }

            /// Settings of the papers' simulators.
            pub const fn classic() -> Self {
                Self { $($name: $crate::catalogue::setting::last!($modern $(, $classic)?),)+ }
            }
        }
    )+};
}
pub(crate) use settings;

/// The last of one or two expressions.
macro_rules! last {
    ($modern:expr) => {
        $modern
    };
    ($modern:expr, $classic:expr) => {
        $classic
    };
}
pub(crate) use last;

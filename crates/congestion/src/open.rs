//! Type-erased parts of other crates. They are called through a pointer; built-in parts are not.

use alloc::boxed::Box;

use core::any::Any;
use core::fmt::Debug;

use crate::part::{ModelPart, StartPart, WindowPart};

/// Declares the type-erased form of one kind of part.
macro_rules! open {
    ($(#[$meta:meta])* $any:ident, $part:ident) => {
        $(#[$meta])*
        pub trait $any: $part + Any + Debug + Send + Sync {
            /// A copy.
            fn clone_box(&self) -> Box<dyn $any>;
        }

        impl<P: $part + Clone + Debug + Send + Sync + 'static> $any for P {
            fn clone_box(&self) -> Box<dyn $any> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $any> {
            fn clone(&self) -> Self {
                (**self).clone_box()
            }
        }
    };
}

open! {
    /// Any start that can be copied.
    AnyStart, StartPart
}
open! {
    /// Any window algorithm that can be copied.
    AnyWindow, WindowPart
}
open! {
    /// Any model that can be copied.
    AnyModel, ModelPart
}

#![cfg_attr(all(feature = "quinn", feature = "noq"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "quinn", feature = "noq")),
    doc = "The congestion control algorithms of selfclock in QUIC stacks."
)]
//!
//! # Contents
//!
//! * [`Factory`]: an algorithm by name, for the connections of a stack. `quinn`, `noq` and `s2n`,
//!   behind the features of these names: implementations of the stacks' traits.
//! * [`driver`]: the link between any stack and an algorithm. [`Traces`]: records of its events
//!   and decisions.

#[cfg(any(feature = "quinn", feature = "noq"))]
mod clock;
pub mod driver;
mod factory;
mod flight;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
mod round_trip;
#[cfg(feature = "s2n")]
pub mod s2n;
mod traces;

pub use factory::{Factory, FactoryError, Stack};
#[cfg(feature = "noq")]
pub use noq::Noq;
#[cfg(feature = "quinn")]
pub use quinn::{Quinn, factory};
#[cfg(feature = "s2n")]
pub use s2n::S2n;
pub use traces::Traces;

#![doc = include_str!("../README.md")]
//! ## Where to start
//!
//! [`plan::Plan`] is a run, fully resolved; [`plan::dumbbell`] and its siblings build one.
//! [`Simulation`] runs it, and [`Outcome`] holds the results, made of the types in [`record`].
//! [`environment::Environment`] is a run that an agent steers. [`queue`] and [`router`] have the
//! settings of queue disciplines and router mechanisms.

// Unit tests share code with integration tests that name the crate.
#[cfg(test)]
extern crate self as selfclock_simulator;

pub mod bare_loop;
pub mod catalogue;
pub mod delivery_trace;
mod engine;
pub mod environment;
pub mod fingerprint;
mod graph;
pub mod named;
mod network;
mod packet;
pub mod plan;
pub mod queue;
pub mod record;
pub mod router;
#[cfg(feature = "scenario-files")]
pub mod scenario;
mod shared;
mod simulation;
pub mod stack;
mod subset;
mod traffic;
mod transport;
pub mod wires;

pub use shared::Shared;
pub use simulation::{NotDivided, NotForked, Outcome, Parallel, Progress, Simulation, Stopped, Trunk};
pub use transport::rtt_histogram::RttHistogram;

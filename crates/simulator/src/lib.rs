//! A deterministic packet-level simulator for congestion control.
//!
//! [`plan::Plan`] says what to run, [`Simulation`] runs it, [`Outcome`] is what it leaves behind.

pub mod engine;
pub mod network;
pub mod plan;
pub mod queue;
pub mod record;
mod simulation;
pub mod traffic;
pub mod transport;

pub use simulation::{Outcome, Simulation};

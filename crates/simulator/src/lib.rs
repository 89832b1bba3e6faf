//! A deterministic packet-level simulator for congestion control.
//!
//! [`scenario::Scenario`] reads a file into a [`plan::Plan`], [`Simulation`] runs it, [`Outcome`] is what it leaves
//! behind.

pub mod bare_loop;
pub mod delivery_trace;
pub mod engine;
pub mod environment;
pub mod named;
pub mod network;
pub mod packet;
pub mod plan;
pub mod queue;
pub mod record;
pub mod router;
pub mod scenario;
mod shared;
mod simulation;
pub mod traffic;
pub mod transport;

pub use shared::Shared;
pub use simulation::{Outcome, Progress, Simulation, Stopped};

//! A deterministic packet-level simulator for congestion control.
//!
//! [`scenario`] reads a file into a [`plan::Plan`]; [`Simulation`] runs it.

pub mod network;
pub mod plan;
pub mod record;
pub mod scenario;

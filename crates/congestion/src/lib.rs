#![doc = include_str!("../README.md")]
//! # Where things are
//!
//! * [`event`]: events of a connection. [`decision`]: the resulting decision. [`state`]: the
//!   window, and the set-up of a connection.
//! * [`part`]: the traits that an author implements. [`start`], [`window`], [`model`],
//!   [`estimate`]: the built-in algorithms.
//! * [`Controller`]: one connection, and the rules that hold for every algorithm.
//! * [`registry`]: every algorithm by name, with its parameters, units, defaults and their sources.
//!   [`custom`]: user-defined algorithms.
//! * [`receiver`]: an algorithm's partner at the other end of the path. [`option`]: the TCP options
//!   between the two.
//! * [`trace`]: events and decisions in a file, and their replay.
//! * [`delivery_rate`]: measurement of the rates that some algorithms request. [`quantity`]:
//!   numbers with units, as text.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod algorithm;
pub mod composition;
pub mod controller;
pub mod custom;
pub mod decision;
pub mod delivery_rate;
mod dispatch;
pub mod entry;
pub mod estimate;
pub mod event;
pub mod failure;
#[cfg(test)]
mod fixtures;
pub mod held;
pub mod model;
mod names;
pub mod open;
pub mod option;
pub mod parameter;
pub mod part;
pub mod quantity;
pub mod random;
pub mod receiver;
pub mod registry;
pub mod start;
pub mod state;
pub mod trace;
pub mod units;
pub mod window;

pub use algorithm::Algorithm;
pub use controller::Controller;
pub use decision::{Decision, Pacing, Phase, Probe, ProbePart, Snapshot};
pub use event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, Event, HandshakeLost, LossDetected, MssChanged,
    RateSample, RecoveryEnded, RestartCause, Resumed, Sent, SpuriousLoss, Stamped, Timeout,
};
pub use option::PeerOption;
pub use registry::{Registry, Selection};
pub use state::{PathEstimate, PathModel, Setup, WindowBefore, WindowState};
pub use units::{Bytes, Duration, Rate, Time};

#![doc = include_str!("../README.md")]
//! # For the author of a transport
//!
//! Choose an algorithm ([`Selection`], or by a label with [`Registry`]), describe the connection
//! ([`Setup`]), pass the [`event`]s on to its [`Controller`], and obey the [`Decision`]. What an
//! algorithm asks of a transport beyond that is in [`Selection::needs`], [`Selection::marks`] and
//! [`Controller::wants_rate_samples`]; [`delivery_rate`] measures the rates. [`option`] and
//! [`receiver`] are for algorithms with a partner at the other end. The example `transport` drives
//! a connection.
//!
//! Enums and decisions may grow: a `match` needs an arm for the rest. [`Setup`] and the events are
//! made by a transport, so write `..Setup::default()`, and set fields on what `new` returns.
//!
//! # For the author of an algorithm
//!
//! Implement a trait of [`part`] for the algorithm, declare its parameters with [`parameters!`],
//! and register both through [`custom`]. [`state`] is the window that it governs, and
//! [`failure`] what is refused of it. The example `algorithm` is a whole one.
//!
//! # For the author of a tool
//!
//! [`registry::ENTRIES`] describes every algorithm with its [`parameter`]s, units, defaults and
//! sources ([`entry`]). [`trace`] records events and decisions, and replays them to the bit. The
//! example `list` prints the algorithms.
//!
//! # Features
//!
//! `text`, on by default: algorithms and quantities as text, from labels such as
//! `cubic+hystart++:beta=0.8` ([`quantity`], `Selection::from_label`, `Registry::read`). A
//! transport that chooses with [`Selection::new`] does without.

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
mod held;
pub mod model;
mod names;
pub mod open;
pub mod option;
pub mod parameter;
pub mod part;
#[cfg(feature = "text")]
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

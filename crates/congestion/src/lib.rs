//! Congestion control as pure state machines: *events in, decision out*.
//!
//! Nothing here reads a clock, draws a random number that does not follow from a seed it was given, allocates per packet or does I/O: time is a field of every
//! event and a [`Decision`] is a plain value. The same code can therefore be driven by a simulator, by a QUIC
//! stack, or by the kernel's `cong_control` hook.
//!
//! * [`event`]: what can happen to a connection, one small struct each, and the [`Decision`] that comes out.
//! * [`start`]: how a connection begins. [`window`]: how its window then grows and shrinks. The two combine in a
//!   [`Controller`].
//! * [`model`]: algorithms that own both.
//! * [`receiver`]: what an algorithm needs at the other end of the path.
//! * [`registry`]: every part by name, with its parameters, units, defaults and their sources.

mod algorithms;
pub mod controller;
pub mod estimate;
pub mod event;
pub mod model;
pub mod option;
pub mod parameter;
pub mod random;
pub mod receiver;
pub mod registry;
pub mod start;
pub mod units;
pub mod window;

pub use controller::Controller;
pub use event::{
    Acknowledged, Decision, DuplicateAck, EcnEcho, Established, LossDetected, Pacing, Phase, Probe,
    RateSample, RecoveryEnded, Sent, Snapshot, Timeout,
};
pub use option::PeerOption;
pub use units::{Bytes, Duration, Rate, Time};

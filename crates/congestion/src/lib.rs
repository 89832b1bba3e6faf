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
//! * [`custom`]: algorithms of other crates.
//! * [`receiver`]: what an algorithm needs at the other end of the path.
//! * [`registry`]: every part by name, with its parameters, units, defaults and their sources.
//!
//! # Driving an algorithm
//!
//! Whoever has the connection picks an algorithm by name, tells its [`Controller`] what happens, and asks what may be in
//! flight. Which segment is lost and which leaves next stays with the transport. Here a path of 100 ms without losses:
//!
//! ```
//! use selfclock_congestion::{Acknowledged, Bytes, Duration, LossDetected, Selection, Setup, Time};
//!
//! let mss = Bytes(1448);
//! let mut cubic = Selection::new("hystart++", "cubic").expect("both are built in").controller(Setup {
//!     mss,
//!     header: Bytes(52),
//!     initial_window: 10.0,
//!     initial_ssthresh: f64::INFINITY,
//!     receive_window: Bytes::MAX,
//!     selective_acks: true,
//!     byte_counting: true,
//!     seed: 1,
//! });
//! assert_eq!(cubic.decision().window, Bytes(10 * 1448));
//!
//! // Slow start: each round trip acknowledges the window that was sent in the one before, and doubles it.
//! let rtt = Duration::from_milliseconds(100);
//! let (mut now, mut acknowledged) = (Time::ZERO, 0);
//! for _ in 0..3 {
//!     now = now + rtt;
//!     let window = cubic.decision().window.get();
//!     for _ in 0..window / mss.get() {
//!         acknowledged += mss.get();
//!         cubic.on_ack(&Acknowledged {
//!             now,
//!             size: mss,
//!             acknowledged_total: Bytes(acknowledged),
//!             sent_total: Bytes(acknowledged + window),
//!             rtt: Some(rtt),
//!             smoothed_rtt: Some(rtt),
//!             minimum_rtt: Some(rtt),
//!             in_flight: Bytes(window),
//!             window_limited: true,
//!             recovering: false,
//!             marked: Bytes::ZERO,
//!             rate: None,
//!             option: None,
//!         });
//!     }
//! }
//! assert_eq!(cubic.decision().window, Bytes(80 * 1448));
//!
//! // A loss leaves 0.7 of what was in flight (RFC 9438, section 4.6).
//! cubic.on_loss(&LossDetected { now, flight_size: Bytes(80 * 1448) });
//! assert_eq!(cubic.decision().window, Bytes(56 * 1448));
//! ```
//!
//! A transport that spaces segments looks at [`Decision::pacing`], one with options of its own passes on
//! [`PeerOption`]s, and one that measures delivery rates asks [`Controller::wants_rate_samples`].

pub mod controller;
pub mod custom;
pub mod decision;
mod dispatch;
pub mod entry;
pub mod estimate;
pub mod event;
pub mod failure;
#[cfg(test)]
mod fixtures;
pub mod model;
mod names;
pub mod option;
pub mod parameter;
pub mod part;
pub mod random;
pub mod receiver;
pub mod registry;
pub mod start;
pub mod state;
pub mod units;
pub mod window;

pub use controller::Controller;
pub use decision::{Decision, Pacing, Phase, Probe, ProbePart, Snapshot};
pub use event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RateSample, RecoveryEnded, RestartCause,
    Sent, Timeout,
};
pub use option::PeerOption;
pub use registry::{Registry, Selection};
pub use state::{PathEstimate, Setup, WindowState};
pub use units::{Bytes, Duration, Rate, Time};

//! Time-ordered execution: the event queue, lazy timers and random streams.
//!
//! # Order
//! Events run in the order of (time, place, sequence at that place), a property of the network and
//! not of the engine's schedule: scheduling draws and counts nothing. So events computed ahead of
//! the clock, in batches, in epochs, after a fork or on another thread have the order that they
//! would have one by one.
//!
//! At equal times
//! 1. timers precede packets: what was due at a place comes before what arrives there. A timer's
//!    place is its owner: first all applications that begin, write or stop, then probe and
//!    reordering timers, retransmission timers, paced segments, delayed ACKs, transmitters of
//!    managed queues and routers, each in the order of the plan. A timer is due once at a time, so
//!    there is no sequence;
//! 2. the place of a packet is the link that it has just crossed, in the order of the plan, and its
//!    sequence is its number among the packets of that link, which keeps their order.
//!
//! An event triggered at the current time takes its place among those still to come at that time.
//! [`event_queue`] packs kind, place and sequence into one 64-bit order number.

pub mod epochs;
pub mod event_queue;
pub mod lanes;
pub mod memory;
pub mod random;
pub mod ring;
pub mod timer;

pub use event_queue::{EventQueue, Target, packet_order};
pub use lanes::{Due, Lanes};
pub use random::Stream;
pub use ring::Ring;
pub use timer::Timer;

//! Time-ordered execution: the event queue, lazy timers and random streams.
//!
//! # Order
//! Events run in the order of (time, place, sequence at that place), which is a property of the
//! network and not of how the engine gets to its work: nothing is drawn or counted when an event is
//! scheduled. So what is computed ahead of the clock, in trains, in batches, in epochs, after a
//! fork or on another thread has the order that it would have one by one.
//!
//! At one time
//! 1. timers come before packets: what was due at a place comes before what arrives there. Their
//!    place is whose they are: first all applications that begin, write or stop, then probe and
//!    reordering timers, retransmission timers, paced segments, delayed acknowledgements,
//!    transmitters of managed queues and routers, each in the order of the plan. A timer is due
//!    once at a time, so there is no sequence;
//! 2. the place of a packet is the link that it has just crossed, in the order of the plan, and its
//!    sequence is its number among the packets of that link, which keeps their order.
//!
//! What an event lets happen at its own time takes its place among what is still to come then.
//! [`event_queue`] has kind, place and sequence in one order number of 64 bits.

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

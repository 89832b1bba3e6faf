//! Time-ordered execution: the event queue, lazy timers and random streams.
//!
//! # Order
//! Events run in the order of (time, order number). An order number is drawn from one counter when an event is
//! *scheduled*: for a packet, when it is committed to its next stop; for a timer, when it is set. Events at equal
//! time therefore run in the order in which they were scheduled, on every machine and on any number of threads. A
//! receiver's timer comes before a segment that arrives at the same time.

pub mod epochs;
pub mod event_queue;
pub mod lanes;
pub mod memory;
pub mod random;
pub mod ring;
pub mod timer;

pub use event_queue::{EventQueue, Target};
pub use lanes::{Due, Lanes};
pub use random::Stream;
pub use ring::Ring;
pub use timer::Timer;

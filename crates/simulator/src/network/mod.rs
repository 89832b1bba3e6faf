//! Links, packets, topologies, and the way packets take.

pub mod delivery_trace;
pub mod gate;
pub mod link;
pub mod loss;
pub mod packet;
pub mod path;
pub mod route;
pub mod topology;

pub use delivery_trace::{DeliveryTrace, DeliveryTraceBuilder};
pub use link::{Link, Passage};
pub use packet::{Extra, Extras, Packet};
pub use path::Network;

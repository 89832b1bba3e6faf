//! Links, packets and the way packets take.

pub mod link;
pub mod loss;
pub mod packet;
pub mod path;

pub use link::{Link, Passage};
pub use packet::{Extra, Extras, Packet};
pub use path::Network;

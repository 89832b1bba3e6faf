//! What the path can carry, measured from the connection's own segments.

pub mod pair_interval;

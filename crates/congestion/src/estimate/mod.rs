//! What a path can carry, and what it does, estimated from what comes back.

pub mod pair_interval;
pub mod round_trip;
pub mod windowed_maximum;

//! Refuses what no memory can hold, before any of it is allocated.

use super::error::{Place, Problem};

/// Most memory that a run may need by this estimate: 16 GiB.
pub const MOST_BYTES: u128 = 16 << 30;

/// Something that takes memory.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// How many.
    pub count: u128,
    /// Of what.
    pub what: &'static str,
    /// Bytes for each, a rough estimate.
    pub each: u128,
    /// Where the number comes from.
    pub place: &'a Place,
}

impl Demand<'_> {
    const fn bytes(&self) -> u128 {
        self.count.saturating_mul(self.each)
    }
}

/// Refuses demands that add up to more than [`MOST_BYTES`]; points at the largest.
pub fn check(demands: &[Demand<'_>]) -> Result<(), Problem> {
    let total = demands.iter().fold(0_u128, |sum, demand| sum.saturating_add(demand.bytes()));
    let Some(largest) = demands.iter().max_by_key(|demand| demand.bytes()) else {
        return Ok(());
    };
    if total <= MOST_BYTES {
        return Ok(());
    }
    let message = format!(
        "needs about {} GiB of memory, {} of them for {} {}",
        total >> 30,
        largest.bytes() >> 30,
        largest.count,
        largest.what
    );
    Err(largest.place.problem(message, format!("at most {} GiB", MOST_BYTES >> 30)))
}

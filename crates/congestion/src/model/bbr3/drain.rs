//! Drain, section 5.3.2: drains the queue that Startup built.

use super::path::Path;

/// Maximum number of round trips in Drain.
const MAXIMUM_ROUNDS: u64 = 3;

/// BBR.drain_start_round.
#[derive(Clone, Debug)]
pub struct State {
    start_round: u64,
}

impl State {
    /// EnterDrain.
    pub const fn new(path: &Path) -> Self {
        Self { start_round: path.round.count }
    }

    /// CheckDrainDone.
    pub fn is_done(&self, in_flight: f64, path: &Path) -> bool {
        in_flight <= path.inflight(path.bw, 1.0) || path.round.count > self.start_round + MAXIMUM_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bbr3::Parameters;
    use crate::units::{Bytes, Duration, Time};

    /// 1 Mbyte/s over 100 ms is a BDP of 100 kbyte.
    #[test]
    fn it_ends_at_one_bandwidth_delay_product_or_after_three_round_trips() {
        let mut path = Path::new(Parameters::default());
        path.bw = 1e6;
        path.min_rtt.update(Time::ZERO, Some(Duration::from_milliseconds(100)), &path.parameters);
        let drain = State::new(&path);
        assert!(drain.is_done(100_000.0, &path) && !drain.is_done(100_001.0, &path));
        for round in 1..=4 {
            path.round.update(Bytes::ZERO);
            assert_eq!(drain.is_done(200_000.0, &path), round > 3);
        }
    }
}

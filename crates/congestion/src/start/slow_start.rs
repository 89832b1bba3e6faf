//! Slow start, RFC 5681 section 3.1.

use super::StartPart;
use crate::controller::WindowState;
use crate::event::Acknowledged;
use crate::parameters;
use crate::registry::{Entry, Part};

/// What `selfclock algorithms` says.
pub const ENTRY: Entry = Entry {
    name: "slow-start",
    part: Part::Start,
    about: "Doubles the window every round-trip time until ssthresh or a loss.",
    source: "RFC 5681 section 3.1",
    parameters: Parameters::TABLE,
};

parameters! {
    /// Parameters of slow start.
    Parameters {
        /// Most segments that one acknowledgement may add to the window.
        segments_per_ack: f64 = 1.0, shown "1", unit "segments", range (1.0, 1e6),
            source "RFC 5681 section 3.1: cwnd += min (N, SMSS)";
    }
}

/// Slow start.
#[derive(Clone, Debug)]
pub struct SlowStart {
    parameters: Parameters,
}

impl SlowStart {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters }
    }
}

impl StartPart for SlowStart {
    /// "During slow start, a TCP increments cwnd by at most SMSS bytes for each ACK received that cumulatively
    /// acknowledges new data." `min(N, SMSS)` guards against a receiver that divides its acknowledgements.
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let acknowledged = state.segments(event.size);
        state.cwnd += acknowledged.min(self.parameters.segments_per_ack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::tests::{ack, state};

    #[test]
    fn doubles_per_round_when_every_segment_is_acknowledged() {
        let mut start = SlowStart::new(Parameters::default());
        let mut state = state(10.0);
        for _ in 0..10 {
            start.grow(&ack(state.mss.get()), &mut state);
        }
        assert_eq!(state.cwnd, 20.0);
    }

    #[test]
    fn acknowledgement_division_gains_nothing() {
        let mut start = SlowStart::new(Parameters::default());
        let mut state = state(10.0);
        let mss = state.mss.get();
        for _ in 0..mss {
            start.grow(&ack(1), &mut state);
        }
        // 1000 additions of 1/1000 in binary: exact to 1000 roundings of 2^-49.
        assert!((state.cwnd - 11.0).abs() < 1e-11, "{}", state.cwnd);
    }
}

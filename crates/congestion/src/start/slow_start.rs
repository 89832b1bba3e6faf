//! Slow start, RFC 5681 section 3.1.

use crate::entry::Entry;
use crate::event::Acknowledged;
use crate::parameters;
use crate::part::StartPart;
use crate::state::WindowState;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "slow-start",
    about: "Doubles the window every round-trip time until ssthresh or a loss.",
    source: "RFC 5681 section 3.1",
    parameters: Parameters::TABLE,
    ..Entry::START
};

/// The limit is [`WindowState::slow_start_limit`]: a value that cannot be written.
const BY_TRANSPORT: f64 = 0.0;

parameters! {
    /// Parameters of slow start.
    Parameters {
        /// Most segments that one acknowledgement may add to the window.
        segments_per_ack: f64 = BY_TRANSPORT, shown "no limit with byte_counting, else 1", unit "segments",
            range (1.0, 1e6), source "Linux tcp_slow_start; RFC 5681 section 3.1: cwnd += min (N, SMSS); RFC 3465 section 2.3: 2";
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
    fn only_grows(&self) -> bool {
        true
    }

    /// "During slow start, a TCP increments cwnd by at most SMSS bytes for each ACK received that
    /// cumulatively acknowledges new data." `min(N, SMSS)` guards against a receiver that divides
    /// its acknowledgements. With byte counting everything acknowledged counts.
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let written = self.parameters.segments_per_ack;
        let limit = if written == BY_TRANSPORT { state.slow_start_limit } else { written };
        state.cwnd += state.slow_start_step_up_to(event.size, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::event::Timeout;
    use crate::fixtures::{ack, setup, state};
    use crate::start::Start;
    use crate::state::Setup;
    use crate::units::{Bytes, Time};
    use crate::window::Window;
    use crate::window::reno::{self, Reno};

    #[test]
    fn doubles_per_round_when_every_segment_is_acknowledged() {
        let mut start = SlowStart::new(Parameters::default());
        let mut state = state(10.0);
        for _ in 0..10 {
            start.grow(&ack(state.mss.get()), &mut state);
        }
        assert_eq!(state.cwnd, 20.0);
    }

    /// Linux counts everything acknowledged; RFC 3465, section 2.4: one segment after a timeout. An
    /// explicit value takes precedence: section 2.3 has two.
    #[test]
    fn what_an_acknowledgement_adds() {
        for (byte_counting, written, steps) in [
            (true, BY_TRANSPORT, [1.0, 2.0, 4.0, 1.0]),
            (false, BY_TRANSPORT, [1.0, 1.0, 1.0, 1.0]),
            (true, 2.0, [1.0, 2.0, 2.0, 2.0]),
            (false, 3.0, [1.0, 2.0, 3.0, 3.0]),
        ] {
            let parameters = Parameters { segments_per_ack: written };
            let setup = Setup { byte_counting, ..setup() };
            let mut controller = Controller::new(
                setup,
                Start::SlowStart(SlowStart::new(parameters)),
                Window::Reno(Reno::new(reno::Parameters::default())),
                None,
            );
            let mut found = Vec::new();
            for (segments, after_timeout) in [(1, false), (2, false), (4, false), (4, true)] {
                if after_timeout {
                    let (now, flight_size) = (Time::ZERO, Bytes(40_000));
                    controller.on_timeout(&Timeout::new(now, flight_size));
                }
                let before = controller.snapshot().cwnd_segments;
                controller.on_ack(&ack(segments * 1000));
                found.push(controller.snapshot().cwnd_segments - before);
            }
            assert_eq!(found, steps, "{byte_counting} {written}");
        }
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

//! Additive increase, multiplicative decrease: a congestion control that selfclock does not have.
//!
//! Three things make an algorithm: its parameters, its reaction to events, and its name. With the
//! default parameters this one is Reno, so its results can be checked against the built-in one;
//! `tests/as_reno.rs` does. Here it is a model, which owns start and window; [`window`] has it as a
//! window algorithm, which any start goes with. Without the standard library it also compiles for
//! the kernel: `selfclock kernel build`.

#![no_std]

pub mod window;

use selfclock_congestion::custom::Custom;
use selfclock_congestion::decision::Pacing;
use selfclock_congestion::entry::{Entry, Marks};
use selfclock_congestion::event::{Acknowledged, EcnEcho, LossDetected, Timeout};
use selfclock_congestion::parameter::{ParameterError, Value};
use selfclock_congestion::parameters;
use selfclock_congestion::part::ModelPart;
use selfclock_congestion::state::WindowState;

parameters! {
    /// Parameters for a scenario: `congestion_control = { model = "my-aimd", decrease = 0.7 }`.
    Parameters {
        /// Increase of the window per round trip in congestion avoidance.
        increase: f64 = 1.0, shown "1", unit "segments", range (0.01, 100.0), source "RFC 5681 section 3.1";
        /// Fraction of the flight size kept at a loss.
        decrease: f64 = 0.5, shown "0.5", unit "", range (0.1, 0.99), source "RFC 5681 section 3.1";
    }
}

impl Custom for Parameters {
    type Part = Aimd;

    fn entry(&self) -> Entry {
        Entry {
            name: "my-aimd",
            about: "Additive increase, multiplicative decrease.",
            source: "an example",
            parameters: Self::TABLE,
            marks: Marks::Once,
            ..Entry::MODEL
        }
    }
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        self.set(name, value)
    }
    fn build(&self) -> Aimd {
        Aimd { parameters: *self }
    }
}

/// One connection's state: plain data. What all algorithms have, window and threshold, is in the
/// [`WindowState`].
#[derive(Clone, Copy, Debug)]
pub struct Aimd {
    parameters: Parameters,
}

impl Aimd {
    /// Segments left of this many.
    fn decreased(&self, segments: f64) -> f64 {
        segments * self.parameters.decrease
    }
}

impl ModelPart for Aimd {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if event.recovering || !event.window_limited {
            return;
        }
        // As the transport counts, bytes or ACKs: a receiver that divides its ACKs gains nothing
        // either way (RFC 3465).
        state.cwnd += if state.in_slow_start() {
            state.slow_start_step(event.size)
        } else {
            self.parameters.increase * state.counted(event.size) / state.cwnd
        };
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        // Of at most the window: while a segment may be late or lost, more is in flight. At least
        // "2*SMSS"; at least one after a mark.
        let kept = self.decreased(state.flight(event.flight_size));
        state.reduce_to(kept);
    }
    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        self.on_loss(&LossDetected::new(event.now, event.flight_size), state);
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        if !event.repeated {
            state.ssthresh = self.decreased(state.flight(event.flight_size)).max(2.0);
        }
    }
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
    fn sets_window_alone(&self) -> bool {
        true
    }
}

//! The same as a window algorithm: what happens below ssthresh is left to the start, so that any
//! start goes with it.

use selfclock_congestion::custom::Custom;
use selfclock_congestion::entry::Entry;
use selfclock_congestion::event::{Acknowledged, LossDetected, Timeout};
use selfclock_congestion::parameter::{ParameterError, Value, Words};
use selfclock_congestion::part::WindowPart;
use selfclock_congestion::state::WindowState;

use crate::{Aimd, Parameters};

/// The parameters of the window algorithm: `congestion_control = { window = "my-window", start =
/// "hystart++", decrease = 0.7 }`.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowParameters(pub Parameters);

impl Custom for WindowParameters {
    type Part = AimdWindow;

    fn entry(&self) -> Entry {
        Entry {
            name: "my-window",
            about: "Additive increase, multiplicative decrease, after any start.",
            source: "an example",
            parameters: Parameters::TABLE,
            ..Entry::WINDOW
        }
    }
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        self.0.set(name, value)
    }
    fn build(&self) -> AimdWindow {
        AimdWindow(Aimd { parameters: self.0 })
    }
}

/// For the kernel. [`parameters!`](selfclock_congestion::parameters) implements it for the struct
/// inside.
impl Words for WindowParameters {
    const COUNT: usize = Parameters::COUNT;

    fn to_words(&self, each: impl FnMut(u64)) -> Option<()> {
        self.0.to_words(each)
    }
    fn from_words(next: impl FnMut() -> u64) -> Self {
        Self(Parameters::from_words(next))
    }
}

/// One connection's state. A mark is answered as a loss is, unless `on_ecn_echo` says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct AimdWindow(Aimd);

impl WindowPart for AimdWindow {
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        state.cwnd += self.0.parameters.increase * state.counted(event.size) / state.cwnd;
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        let kept = self.0.decreased(state.flight(event.flight_size));
        state.reduce_to(kept);
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        if !event.repeated {
            state.ssthresh = self.0.decreased(state.flight(event.flight_size)).max(2.0);
        }
    }
}

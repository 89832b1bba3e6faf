//! An algorithm: a window that adds some segments per round trip, by name and with a parameter.

use selfclock_congestion::custom::Custom;
use selfclock_congestion::entry::Entry;
use selfclock_congestion::parameter::{ParameterError, Value};
use selfclock_congestion::part::WindowPart;
use selfclock_congestion::{
    Acknowledged, Bytes, LossDetected, Registry, Setup, Time, Timeout, WindowState, parameters,
};

parameters! {
    /// Parameters of the window algorithm.
    Parameters {
        /// Segments added per round trip.
        added: f64 = 1.0, shown "1", unit "segments", range (0.1, 10.0), source "RFC 5681";
    }
}

/// The algorithm of a connection.
#[derive(Clone, Debug)]
pub struct Additive(Parameters);

impl WindowPart for Additive {
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        state.cwnd += self.0.added * state.counted(event.size) / state.cwnd;
    }
    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        state.ssthresh = (state.cwnd / 2.0).max(2.0);
        state.cwnd = state.ssthresh;
    }
    fn on_timeout(&mut self, _event: &Timeout, state: &mut WindowState) {
        state.ssthresh = (state.cwnd / 2.0).max(2.0);
    }
}

impl Custom for Parameters {
    type Part = Additive;
    fn entry(&self) -> Entry {
        Entry { name: "additive", about: "Adds segments.", parameters: Self::TABLE, ..Entry::WINDOW }
    }
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        self.set(name, value)
    }
    fn build(&self) -> Additive {
        Additive(*self)
    }
}

fn main() {
    let mut registry = Registry::built_in();
    registry.register_window(Parameters::default()).expect("a new name");
    let mut selection = registry.parts("slow-start", "additive").expect("every start combines with it");
    selection.set("added", Value::Number(3.0)).expect("in range");
    let mut control = selection.controller(Setup::default());
    control.on_loss(&LossDetected::new(Time::ZERO, Bytes(10 * 1448)));
    println!("{} segments after a loss", control.snapshot().cwnd_segments);
    assert_eq!(control.snapshot().cwnd_segments, 5.0);
}

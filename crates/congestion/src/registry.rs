//! Every part of an algorithm by name.

use crate::controller::{Controller, Setup};
use crate::parameter::{Parameter, ParameterError, Value};
use crate::receiver::{PacketPairReceiver, ReceiverPart};
use crate::start::Start;
use crate::start::packet_pair::{self, PacketPair};
use crate::start::slow_start::{self, SlowStart};
use crate::window::Window;
use crate::window::reno::{self, Reno};

/// Which part of an algorithm a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// How a connection begins.
    Start,
    /// How its window then grows and shrinks.
    Window,
}

/// One row of `selfclock algorithms`.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in a scenario.
    pub name: &'static str,
    /// Which part it is.
    pub part: Part,
    /// One sentence.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// Every part that can be named in a scenario.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "slow-start",
        part: Part::Start,
        about: "Doubles the window every round-trip time until ssthresh or a loss.",
        source: "RFC 5681 section 3.1",
        parameters: slow_start::Parameters::TABLE,
    },
    Entry {
        name: "packet-pair",
        part: Part::Start,
        about: "Slow start in pairs that the receiver times; the rest of the window is spaced by the interval it \
                reports, and so is what follows a recovery.",
        source: "Nishida, Nakamura, Murai: New Congestion Control mechanism for TCP with Packet Pair scheme",
        parameters: packet_pair::Parameters::TABLE,
    },
    Entry {
        name: "reno",
        part: Part::Window,
        about: "One segment more per round-trip time, half the flight at a loss.",
        source: "RFC 5681",
        parameters: reno::Parameters::TABLE,
    },
];

/// The start and window that are meant where only one of them is named.
pub const DEFAULT_START: &str = "slow-start";
/// The window that is meant where only a start is named.
pub const DEFAULT_WINDOW: &str = "reno";

#[derive(Clone, Copy, Debug)]
enum StartChoice {
    SlowStart(slow_start::Parameters),
    PacketPair(packet_pair::Parameters),
}

#[derive(Clone, Copy, Debug)]
enum WindowChoice {
    Reno(reno::Parameters),
}

/// A start and a window with their parameters, chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    start: StartChoice,
    window: WindowChoice,
}

impl Selection {
    /// The named start and window; `None` if there is no part of that kind with that name.
    pub fn new(start: &str, window: &str) -> Option<Self> {
        let start = match start {
            "slow-start" => StartChoice::SlowStart(slow_start::Parameters::default()),
            "packet-pair" => StartChoice::PacketPair(packet_pair::Parameters::default()),
            _ => return None,
        };
        let window = match window {
            "reno" => WindowChoice::Reno(reno::Parameters::default()),
            _ => return None,
        };
        Some(Self { start, window })
    }

    /// The parameter with this name in the chosen start or window.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters().find(|parameter| parameter.name == name)
    }

    /// Every parameter of the chosen window and start.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let start = match self.start {
            StartChoice::SlowStart(_) => slow_start::Parameters::TABLE,
            StartChoice::PacketPair(_) => packet_pair::Parameters::TABLE,
        };
        let window = match self.window {
            WindowChoice::Reno(_) => reno::Parameters::TABLE,
        };
        window.iter().chain(start)
    }

    /// Sets a parameter of the window or the start.
    pub fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        let in_window = match &mut self.window {
            WindowChoice::Reno(parameters) => parameters.set(name, value),
        };
        if in_window != Err(ParameterError::Unknown) {
            return in_window;
        }
        match &mut self.start {
            StartChoice::SlowStart(parameters) => parameters.set(name, value),
            StartChoice::PacketPair(parameters) => parameters.set(name, value),
        }
    }

    /// The sender's part for a new connection.
    pub fn controller(&self, setup: Setup) -> Controller {
        let start = match self.start {
            StartChoice::SlowStart(parameters) => Start::SlowStart(SlowStart::new(parameters)),
            StartChoice::PacketPair(parameters) => Start::PacketPair(PacketPair::new(parameters)),
        };
        let window = match self.window {
            WindowChoice::Reno(parameters) => Window::Reno(Reno::new(parameters)),
        };
        Controller::new(setup, start, window)
    }

    /// The receiver's part for a new connection.
    pub fn receiver(&self) -> ReceiverPart {
        match self.start {
            StartChoice::SlowStart(_) => ReceiverPart::Plain,
            StartChoice::PacketPair(parameters) => {
                ReceiverPart::PacketPair(PacketPairReceiver::new(parameters))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_chosen() {
        for entry in ENTRIES {
            let (start, window) = match entry.part {
                Part::Start => (entry.name, DEFAULT_WINDOW),
                Part::Window => (DEFAULT_START, entry.name),
            };
            let selection = Selection::new(start, window).expect(entry.name);
            for parameter in entry.parameters {
                assert!(selection.parameter(parameter.name).is_some());
            }
        }
    }

    /// Keys of start and window stand in one table in a scenario.
    #[test]
    fn no_start_parameter_is_also_a_window_parameter() {
        let of =
            |part| ENTRIES.iter().filter(move |entry| entry.part == part).flat_map(|entry| entry.parameters);
        for start in of(Part::Start) {
            assert!(of(Part::Window).all(|window| window.name != start.name), "{}", start.name);
        }
    }
}

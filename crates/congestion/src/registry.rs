//! Every part of an algorithm by name.

use crate::controller::{Controller, Setup};
use crate::parameter::{Parameter, ParameterError, Value};
use crate::receiver::ReceiverPart;
use crate::start::{self, StartChoice};
use crate::window::{self, WindowChoice};

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

/// Every part that can be named in a scenario: the starts, then the windows.
pub const ENTRIES: &[Entry] = &{
    let mut all = [start::ENTRIES[0]; start::ENTRIES.len() + window::ENTRIES.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < start::ENTRIES.len() {
            start::ENTRIES[i]
        } else {
            window::ENTRIES[i - start::ENTRIES.len()]
        };
        i += 1;
    }
    all
};

/// The start that is meant where only a window is named.
pub const DEFAULT_START: &str = start::slow_start::ENTRY.name;
/// The window that is meant where only a start is named.
pub const DEFAULT_WINDOW: &str = window::reno::ENTRY.name;

/// A start and a window with their parameters, chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    start: StartChoice,
    window: WindowChoice,
}

impl Selection {
    /// The named start and window; `None` if there is no part of that kind with that name.
    pub fn new(start: &str, window: &str) -> Option<Self> {
        Some(Self { start: StartChoice::named(start)?, window: WindowChoice::named(window)? })
    }

    /// The parameter with this name in the chosen start or window.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters().find(|parameter| parameter.name == name)
    }

    /// Every parameter of the chosen window and start.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.window.entry().parameters.iter().chain(self.start.entry().parameters)
    }

    /// Sets a parameter of the window or the start.
    pub fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        match self.window.set(name, value) {
            Err(ParameterError::Unknown) => self.start.set(name, value),
            result => result,
        }
    }

    /// The sender's part for a new connection.
    pub fn controller(&self, setup: Setup) -> Controller {
        Controller::new(setup, self.start.build(), self.window.build())
    }

    /// The receiver's part for a new connection.
    pub fn receiver(&self) -> ReceiverPart {
        self.start.receiver()
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

    #[test]
    fn names_are_unique() {
        for (i, entry) in ENTRIES.iter().enumerate() {
            assert!(ENTRIES[..i].iter().all(|earlier| earlier.name != entry.name), "{}", entry.name);
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

//! Algorithms that decide in the kernel: once loaded, they need no process. The kernel itself holds
//! the registration, so that nothing is pinned and nothing is on disk; the maps are found through
//! the [`About`] page, which lives as long as the programs.

mod about;
mod control;
mod default;
mod install;
mod recorder;

use std::io;
use std::os::fd::{AsFd, OwnedFd};

pub use about::About;
pub use control::{Control, Totals};
pub use default::{Namespace, Scope};
pub use install::{Installed, description, install};
pub use recorder::{Recorded, Recorder};

use super::found::open;
use super::load::information;
use super::register::{is_installed, remove};
use super::sys::{bpf_ids, command};

/// Prefix of these objects' map names in the kernel. It differs from that of `selfclock kernel
/// run`, which would take them over.
const PREFIX: &str = "scn_";

/// An algorithm that is in the kernel.
#[derive(Debug)]
pub struct Resident {
    /// The loaded object.
    pub about: About,
    /// Its counters.
    pub control: Control,
    /// The registration.
    operations: OwnedFd,
}

/// Every algorithm that [`install`] loaded and that is registered or has connections.
pub fn find() -> io::Result<Vec<Resident>> {
    let mut found = Vec::new();
    for id in bpf_ids(command::MAP_GET_NEXT_ID)? {
        // It may have gone meanwhile.
        let Ok(fd) = open(command::MAP_GET_FD_BY_ID, id) else { continue };
        let Ok(information) = information(fd.as_fd()) else { continue };
        if !information[24..].starts_with(b"scn_about\0") {
            continue;
        }
        let about = About::new(fd.as_fd())?;
        if !about.is_ours() {
            continue;
        }
        let Ok(operations) = open(command::MAP_GET_FD_BY_ID, about.operations()) else { continue };
        let Ok(control) = open(command::MAP_GET_FD_BY_ID, about.control()) else { continue };
        found.push(Resident { about, control: Control::new(control.as_fd())?, operations });
    }
    Ok(found)
}

/// The state of a [`Resident`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Name of the congestion control.
    pub name: String,
    /// The algorithm with its parameters.
    pub algorithm: String,
    /// Seconds since 1970 when it was loaded.
    pub since: u64,
    /// Sockets can choose it; otherwise only connections from before `unload` use it.
    pub registered: bool,
    /// Counters of the programs.
    pub totals: Totals,
    /// The process that records it.
    pub recorder: Option<u32>,
    /// Network namespaces with this default.
    pub defaults: Vec<String>,
}

impl Resident {
    /// Sockets can choose it.
    pub fn is_registered(&self) -> bool {
        is_installed(self.operations.as_fd()).unwrap_or(false)
    }

    /// Warnings about it.
    pub fn state(&self) -> State {
        let name = self.about.name();
        let registered = self.is_registered();
        let defaults = if registered { default::holders(&name) } else { Vec::new() };
        State {
            algorithm: self.about.label(),
            since: self.about.since(),
            registered,
            totals: self.control.totals(),
            recorder: self.control.recorder(),
            defaults: defaults.into_iter().map(|space| space.place).collect(),
            name,
        }
    }

    /// Makes it the default of a network namespace, and remembers the former default.
    pub fn make_default(&self, scope: Scope) -> io::Result<String> {
        let space = scope.open()?;
        let before = default::replace(&space, &self.about.name())?;
        if before != self.about.name() {
            self.about.remember(space.number, &before);
        }
        Ok(before)
    }

    /// Restores the default of each namespace, then unregisters the name. Its connections continue
    /// under it until they close.
    pub fn unload(&self) -> io::Result<State> {
        let state = self.state();
        if state.registered {
            default::give_back(&state.name, |number| self.about.remembered(number));
            remove(self.operations.as_fd())?;
        }
        Ok(state)
    }
}

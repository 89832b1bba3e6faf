//! Algorithms that decide in the kernel: once loaded, they need no process. The kernel itself holds
//! the registration, so that nothing is pinned and nothing is on disk; the maps are found through
//! the [`About`] page, which lives as long as the programs.

mod about;
mod control;
mod default;
mod install;
mod recorder;

use std::io;
use std::os::fd::AsFd as _;

pub use about::About;
pub use control::{Control, Totals};
pub use default::{Namespace, Restored, Scope};
pub use install::{Installed, description, install};
pub use recorder::{Recorded, Recorder};

use super::bpf::{MapFd, map_kind};
use super::object::MapSpec;
use super::owned::{Owned, owned};
use super::register::{is_installed, remove};

/// Prefix of these objects' map names in the kernel. It differs from that of `selfclock kernel
/// run`, which would take them over.
const PREFIX: &str = "scn_";
/// `BPF_F_MMAPABLE`.
const MMAPABLE: u32 = 1 << 10;

/// The map of switches and counters, as bpf/native.bpf.c declares it.
fn control_spec() -> MapSpec {
    let name = "control".to_owned();
    let (key_size, value_size) = (4, 128);
    MapSpec {
        name,
        kind: map_kind::ARRAY,
        key_size,
        value_size,
        entries: 1,
        flags: MMAPABLE,
        ..MapSpec::default()
    }
}

/// The ring of records, as bpf/native.bpf.c declares it.
fn records_spec() -> MapSpec {
    let entries = super::ring::SIZE as u32;
    MapSpec { name: "records".to_owned(), kind: map_kind::RING, entries, ..MapSpec::default() }
}

/// An algorithm that is in the kernel.
#[derive(Debug)]
pub struct Resident {
    /// Name of the congestion control.
    pub name: String,
    /// The loaded object.
    pub about: About,
    /// Its counters.
    pub control: Control,
    /// Its ring of records.
    records: MapFd,
    /// Former defaults; `None` of an object that another version loaded.
    defaults: Option<MapFd>,
    /// The registration.
    operations: MapFd,
}

/// Every algorithm that [`install`] loaded and that is registered or has connections.
pub fn find() -> io::Result<Vec<Resident>> {
    Ok(owned()?.into_iter().filter_map(Resident::new).collect())
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
    /// After [`Resident::unload`], the default that each of them has now.
    pub restored: Vec<Restored>,
    /// Whether the process that loaded it lives; `None` if that is in another PID namespace.
    pub loader_lives: Option<bool>,
}

impl Resident {
    /// `None` if it is no algorithm that decides in the kernel.
    fn new(own: Owned) -> Option<Self> {
        let about = About::new(own.map(PREFIX, &about::spec())?.as_fd()).ok()?;
        let control = Control::new(own.map(PREFIX, &control_spec())?.as_fd()).ok()?;
        let records = own.map(PREFIX, &records_spec())?.try_clone().ok()?;
        let defaults = own.map(PREFIX, &default::spec()).and_then(|map| map.try_clone().ok());
        let Owned { name, operations, .. } = own;
        about.is_ours().then_some(Self { name, about, control, records, defaults, operations })
    }

    /// Sockets can choose it.
    pub fn is_registered(&self) -> bool {
        is_installed(&self.operations).unwrap_or(false)
    }

    /// Warnings about it.
    pub fn state(&self) -> State {
        let name = self.name.clone();
        let registered = self.is_registered();
        State {
            algorithm: self.about.label(),
            since: self.about.since(),
            registered,
            totals: self.control.totals(),
            recorder: self.control.recorder(),
            defaults: if registered { default::holders(&name) } else { Vec::new() },
            restored: Vec::new(),
            loader_lives: self.about.loader().is_alive(),
            name,
        }
    }

    /// Makes it the default of a network namespace, and remembers the former default.
    pub fn make_default(&self, scope: Scope) -> io::Result<String> {
        let space = scope.open()?;
        let before = default::replace(&space, &self.name)?;
        if let Some(defaults) = &self.defaults
            && before != self.name
        {
            default::remember(defaults, space.number, &before);
        }
        Ok(before)
    }

    /// Restores the default of each namespace, then unregisters the name. Its connections continue
    /// under it until they close.
    pub fn unload(&self) -> io::Result<State> {
        let mut state = self.state();
        if state.registered {
            let remembered = |number| default::remembered(self.defaults.as_ref()?, number);
            state.restored = default::give_back(&state.name, remembered);
            remove(&self.operations)?;
        }
        Ok(state)
    }
}

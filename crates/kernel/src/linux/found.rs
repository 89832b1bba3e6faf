//! Sessions of `selfclock kernel run` in the kernel: those of other processes, and connections that
//! a process left behind.
//!
//! While connections use a congestion control, the kernel keeps its programs and their maps. So a
//! killed process leaves only its connections, and the next one finds them: see `owned`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::bpf::{detach, registrations};
use super::load::{BRIDGE, Map};
use super::object::{MapSpec, Object};
use super::owned::{Owned, owned};
use super::slots::{Control, Slots, Totals};

/// Prefix of the names of this program's maps in the kernel.
pub const PREFIX: &str = "sc_";

/// Maps of one session.
#[derive(Debug)]
pub struct Found {
    /// Name of the congestion control.
    pub name: String,
    /// Its control page.
    pub control: Control,
    /// All its maps, by their names in the object.
    pub maps: Vec<Map>,
    /// The slots.
    pub slots: Slots,
    /// The registration, if the name is taken.
    link: Option<OwnedFd>,
}

/// Findings of [`unload`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unloaded {
    /// Name of the congestion control.
    pub name: String,
    /// The process that registered it.
    pub owner: u32,
    /// Whether it was registered until now.
    pub registered: bool,
    /// Connections that continue under it, as Reno.
    pub flows: u32,
    /// Counters of the kernel part.
    pub totals: Totals,
}

/// The maps by which a session is continued: all but the constants, which are part of the programs.
fn specs() -> Vec<MapSpec> {
    let object = Object::read(BRIDGE).unwrap_or_default();
    object.maps.into_iter().filter(|spec| spec.constants.is_empty()).collect()
}

/// Every session in the kernel.
pub fn find() -> io::Result<Vec<Found>> {
    let all = owned()?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let (specs, mut links) = (specs(), registrations()?);
    let mut found: Vec<Found> = Vec::new();
    for own in all {
        let place = links.iter().position(|(map, _)| *map == own.operations.shape().id);
        let link = place.map(|place| links.swap_remove(place).1);
        let Some(one) = Found::new(own, &specs, link) else { continue };
        // A session that continues the connections of a dead one has its maps, too.
        match found.iter_mut().find(|other| other.control_id() == one.control_id()) {
            Some(other) if one.is_registered() => *other = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    Ok(found)
}

impl Found {
    /// `None` if it is no session.
    fn new(own: Owned, specs: &[MapSpec], link: Option<OwnedFd>) -> Option<Self> {
        let copied = |spec: &MapSpec| {
            let fd = own.map(PREFIX, spec)?.try_clone().ok()?;
            Some(Map { name: spec.name.clone(), fd })
        };
        let maps = specs.iter().map(copied).collect::<Option<Vec<_>>>()?;
        let map = |name| maps.iter().find(|map| map.name == name);
        let control = Control::new(map("control")?.fd.as_fd()).ok()?;
        let slots = Slots::new(map("slots")?.fd.as_fd()).ok()?;
        control.is_ours().then_some(Self { name: own.name, control, maps, slots, link })
    }

    fn control_id(&self) -> Option<u32> {
        self.maps.iter().find(|map| map.name == "control").map(|map| map.fd.shape().id)
    }

    /// The name is taken.
    pub const fn is_registered(&self) -> bool {
        self.link.is_some()
    }

    fn unload(&self) -> Unloaded {
        self.control.ask_to_stop();
        if let Some(link) = &self.link {
            // The owner may already have done so.
            let _ = detach(link.as_fd());
        }
        self.described()
    }

    fn described(&self) -> Unloaded {
        Unloaded {
            name: self.name.clone(),
            owner: self.control.owner(),
            registered: self.is_registered(),
            flows: self.slots.used(),
            totals: self.control.totals(),
        }
    }
}

/// Unregisters one congestion control by name, or all of this program's. The processes that
/// registered them end, stopped ones once they continue; connections continue under Reno.
pub fn unload(name: Option<&str>) -> io::Result<Vec<Unloaded>> {
    let found = find()?;
    let named = |found: &&Found| name.is_none_or(|name| found.name == name);
    Ok(found.iter().filter(named).map(Found::unload).collect())
}

/// Objects present, unchanged.
pub fn list() -> io::Result<Vec<Unloaded>> {
    Ok(find()?.iter().map(Found::described).collect())
}

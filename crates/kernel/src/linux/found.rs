//! Objects already in the kernel: registrations of other processes, and connections that a process
//! left behind.
//!
//! Nothing is pinned. While connections use the congestion control, its programs hold the maps; a
//! map can be opened by its number. So a killed process leaves only its connections, and the next
//! one finds them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::load::{Map, information};
use super::register::{detach, word};
use super::slots::{Control, Slots, Totals};
use super::sys::{Attributes, bpf_ids, bpf_open, command};

/// Prefix of the names of this program's maps in the kernel.
pub const PREFIX: &str = "sc_";

/// Maps of one session.
#[derive(Debug)]
pub struct Found {
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

/// Opens an object of the kernel by its number.
pub(super) fn open(command: i32, id: u32) -> io::Result<OwnedFd> {
    bpf_open(command, Attributes::new().number(id).number(0).number(0))
}

/// Registrations of BPF congestion controls: the number of the map, and the link.
fn registrations() -> io::Result<Vec<(u32, OwnedFd)>> {
    const STRUCT_OPS: u32 = 9;
    let mut found = Vec::new();
    for id in bpf_ids(command::LINK_GET_NEXT_ID)? {
        // It may have gone meanwhile.
        let Ok(link) = open(command::LINK_GET_FD_BY_ID, id) else { continue };
        if let Ok(information) = information(link.as_fd())
            && word(&information, 0) == STRUCT_OPS
        {
            found.push((word(&information, 16), link));
        }
    }
    Ok(found)
}

/// Everything of this program in the kernel.
pub fn find() -> io::Result<Vec<Found>> {
    let mut links = registrations()?;
    let mut found = Vec::new();
    for id in bpf_ids(command::MAP_GET_NEXT_ID)? {
        let Ok(fd) = open(command::MAP_GET_FD_BY_ID, id) else { continue };
        let Ok(information) = information(fd.as_fd()) else { continue };
        if !information[24..].starts_with(b"sc_control\0") {
            continue;
        }
        let control = Control::new(fd.as_fd())?;
        if !control.is_ours() {
            continue;
        }
        let [slots, events, free_slots, registration] = control.maps();
        let mut maps = vec![Map { name: "control".to_owned(), fd }];
        for (name, id) in [("slots", slots), ("events", events), ("free_slots", free_slots)] {
            let Ok(fd) = open(command::MAP_GET_FD_BY_ID, id) else { continue };
            maps.push(Map { name: name.to_owned(), fd });
        }
        let Some(slots) = maps.iter().find(|map| map.name == "slots") else { continue };
        let slots = Slots::new(slots.fd.as_fd())?;
        let place = links.iter().position(|(map, _)| *map == registration);
        let link = place.map(|place| links.swap_remove(place).1);
        if maps.len() == 4 {
            found.push(Found { control, maps, slots, link });
        }
    }
    Ok(found)
}

impl Found {
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
        Unloaded {
            name: self.control.name(),
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
    let named = |found: &&Found| name.is_none_or(|name| found.control.name() == name);
    Ok(found.iter().filter(named).map(Found::unload).collect())
}

/// Objects present, unchanged.
pub fn list() -> io::Result<Vec<Unloaded>> {
    let describe = |found: &Found| Unloaded {
        name: found.control.name(),
        owner: found.control.owner(),
        registered: found.is_registered(),
        flows: found.slots.used(),
        totals: found.control.totals(),
    };
    Ok(find()?.iter().map(describe).collect())
}

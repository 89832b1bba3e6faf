//! Programs at a network device (tcx): loaded, attached, and removed when their descriptors are
//! closed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::bpf::{Target, link};
use super::found::PREFIX;
use super::load::{LoadError, Map, Purpose, create_map, failed, load_program, load_types};
use super::object::Object;
use super::sys::interface;

/// Reports the packets that a device takes from connections under an algorithm: `bpf/tap.bpf.c`,
/// compiled.
pub const TAP: &[u8] = include_bytes!("../../bpf/tap.bpf.o");
/// Limits the windows of ACKs that a device takes: `bpf/edge.bpf.c`, compiled.
pub const EDGE: &[u8] = include_bytes!("../../bpf/edge.bpf.o");

/// `BPF_PROG_TYPE_SCHED_CLS`.
const CLASSIFIER: u32 = 3;
/// The sections of programs, and the `BPF_TCX_*` hook of each.
const PLACES: [(&str, u32); 2] = [("tcx/ingress", 46), ("tcx/egress", 47)];

/// Hardware types of devices, `ARPHRD_*`: Ethernet and loopback put 14 bytes before the IP header,
/// TUN and tunnels none.
const WITH_ETHERNET: [u16; 2] = [1, 772];
const WITHOUT_HEADER: [u16; 3] = [65534, 776, 768];
const ETHERNET_HEADER: u32 = 14;

/// Programs at a device.
#[derive(Debug)]
pub struct Attached {
    _links: Vec<OwnedFd>,
    /// Programs attached to a device.
    pub maps: Vec<Map>,
}

/// All maps of an object, and those of them that are not in `shared` and thus created.
pub(super) fn with_shared(
    object: &Object,
    shared: &[Map],
    types: BorrowedFd<'_>,
) -> Result<(Vec<Map>, Vec<Map>), LoadError> {
    let (mut all, mut maps) = (Vec::new(), Vec::new());
    for spec in &object.maps {
        let copied = |map: &Map| {
            let fd = map.fd.try_clone().map_err(failed("share a map"))?;
            Ok(Map { name: map.name.clone(), fd })
        };
        if let Some(map) = shared.iter().find(|map| map.name == spec.name) {
            all.push(copied(map)?);
        } else {
            let map = create_map(PREFIX, spec, types)?;
            all.push(copied(&map)?);
            maps.push(map);
        }
    }
    Ok((all, maps))
}

/// Attaches the programs of an object to a device of this network namespace. Maps in `shared` are
/// used by name; the others are created.
pub fn attach(object: &[u8], shared: &[Map], device: &str) -> Result<Attached, LoadError> {
    let no_device = |error| LoadError::NoDevice(device.to_owned(), error);
    let (index, hardware) = interface(device).map_err(no_device)?;
    let link_header = match hardware {
        kind if WITH_ETHERNET.contains(&kind) => ETHERNET_HEADER,
        kind if WITHOUT_HEADER.contains(&kind) => 0,
        kind => return Err(LoadError::NotForPackets(device.to_owned(), kind)),
    };
    let sections = PLACES.map(|(section, _)| section);
    let object = Object::read_sections(object, &sections).ok_or(LoadError::BadObject)?;
    let types = load_types(&object)?;
    let (all, maps) = with_shared(&object, shared, types.as_fd())?;
    let settings = all.iter().find(|map| map.name == "device").ok_or(LoadError::BadObject)?;
    let mut value = [0; 8];
    value[..4].copy_from_slice(&link_header.to_ne_bytes());
    settings.fd.update(&[0; 4], &value).map_err(failed("describe the device"))?;
    let mut links = Vec::new();
    for program in &object.programs {
        let (_, place) =
            PLACES.iter().find(|(section, _)| *section == program.member).ok_or(LoadError::BadObject)?;
        let purpose = Purpose { kind: CLASSIFIER, attach: 0, operations: 0 };
        let fd = load_program(program, &all, types.as_fd(), purpose)?;
        let attached = link(fd.as_fd(), Target::Device(index), *place);
        links.push(attached.map_err(failed("attach to the device"))?);
    }
    Ok(Attached { _links: links, maps })
}

//! TCP options on the connections of a cgroup's processes: the program that writes and reads them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use selfclock_congestion::{Selection, Setup};

use super::bpf::{MapFd, Target, link};
use super::device::with_shared;
use super::load::{LoadError, Map, Purpose, failed, load_program, load_types};
use super::object::Object;
use crate::bridge::Outgoing;

/// Writes options and reports the peer's: `bpf/options.bpf.c`, compiled.
pub const OPTIONS: &[u8] = include_bytes!("../../bpf/options.bpf.o");

/// Its only section.
const SECTION: &str = "sockops";
/// `BPF_PROG_TYPE_SOCK_OPS`.
const SOCKET_OPERATIONS: u32 = 13;
/// `BPF_CGROUP_SOCK_OPS`.
const AT_CGROUP: u32 = 3;

/// `struct counts` of `bpf/options.h`: sums over all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionCounts {
    /// Data segments that left with an option.
    pub marked: u64,
    /// ACKs that left with an option.
    pub replied: u64,
    /// Pairs whose second segment did not follow the first at once, so that only the first has its
    /// mark.
    pub apart: u64,
    /// Packets of several segments, which cannot be marked one by one.
    pub bundled: u64,
    /// Segments whose header had no room, because of SACK blocks.
    pub crowded: u64,
    /// ACKs that arrived with an option.
    pub heard: u64,
    /// Data segments that arrived with an option.
    pub arrived: u64,
    /// Reports that found the ring full.
    pub lost: u64,
}

/// The program at a cgroup. Dropping it removes it.
#[derive(Debug)]
pub struct Carrier {
    _link: OwnedFd,
    outgoing: MapFd,
    counts: MapFd,
}

/// `struct settings`: the ExID, and the options of a connection that begins.
fn settings(selection: &Selection) -> Result<Vec<u8>, LoadError> {
    let opening = Outgoing::opening(selection.controller(Setup::default()));
    let opening = opening.ok_or_else(|| LoadError::NoOptions(selection.label()))?;
    let first = opening.marks.1.front().map(|block| block.first).unwrap_or_default();
    // A mark, and beside it a reply of 8 bytes.
    let bytes = (u32::from(first[1]) + 8).next_multiple_of(4);
    let mut settings = vec![first[2], first[3], 0, 0];
    settings.extend_from_slice(&bytes.to_ne_bytes());
    settings.extend_from_slice(&opening.bytes(true));
    Ok(settings)
}

impl Carrier {
    /// Attaches the program to a directory of cgroup v2: it serves the connections that processes
    /// in it and below open from now on. `shared` are the maps of the congestion control.
    pub fn attach(selection: &Selection, shared: &[Map], cgroup: &Path) -> Result<Self, LoadError> {
        let no_cgroup = |error| LoadError::NoCgroup(cgroup.display().to_string(), error);
        let settings = settings(selection)?;
        let directory = File::open(cgroup).map_err(no_cgroup)?;
        let object = Object::read_sections(OPTIONS, &[SECTION]).ok_or(LoadError::BadObject)?;
        let types = load_types(&object)?;
        let (all, mut maps) = with_shared(&object, shared, types.as_fd())?;
        let mut take = |name: &str| {
            let at = maps.iter().position(|map| map.name == name).ok_or(LoadError::BadObject)?;
            Ok(maps.swap_remove(at).fd)
        };
        let (outgoing, counts) = (take("outgoing")?, take("counts")?);
        take("settings")?.update(&[0; 4], &settings).map_err(failed("write the options"))?;
        let program = object.programs.first().ok_or(LoadError::BadObject)?;
        let purpose = Purpose { kind: SOCKET_OPERATIONS, attach: 0, operations: 0 };
        let program = load_program(program, &all, types.as_fd(), purpose)?;
        let attached = link(program.as_fd(), Target::Cgroup(directory.as_fd()), AT_CGROUP);
        let link = attached.map_err(|error| {
            match error.raw_os_error() {
                // EBADF: a directory, but not of cgroup v2.
                Some(libc::EBADF) => no_cgroup(io::Error::from_raw_os_error(libc::ENOTDIR)),
                _ => failed("attach to the cgroup")(error),
            }
        })?;
        Ok(Self { _link: link, outgoing, counts })
    }

    /// The options that a connection's next segments carry.
    pub fn put(&self, key: u64, options: &[u8]) -> io::Result<()> {
        self.outgoing.update(&key.to_ne_bytes(), options)
    }

    /// Counters.
    pub fn counts(&self) -> OptionCounts {
        let bytes = self.counts.lookup(&[0; 4]).unwrap_or_default();
        let mut words =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(std::array::from_fn(|i| word[i])));
        let mut next = || words.next().unwrap_or(0);
        OptionCounts {
            marked: next(),
            replied: next(),
            apart: next(),
            bundled: next(),
            crowded: next(),
            heard: next(),
            arrived: next(),
            lost: next(),
        }
    }
}

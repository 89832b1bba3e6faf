//! Registers loaded programs as a congestion control, for the life of this process or permanently.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::bpf::{self, MapFd, NewMap, Target, map_kind, word};
use super::load::{LoadError, Loaded, Map, failed};

/// `BPF_STRUCT_OPS`.
const ATTACH_STRUCT_OPS: u32 = 44;
/// `BPF_F_LINK`.
const LINK: u32 = 1 << 13;
/// Name in the kernel of the maps that are registered.
pub const OPERATIONS: &str = "sc_operations";

/// A congestion control registered by a link: unregistered when this is dropped, or the process
/// ends.
#[derive(Debug)]
pub struct Registration {
    link: OwnedFd,
}

impl Registration {
    /// Unregisters the name. Connections continue.
    pub fn detach(&self) -> io::Result<()> {
        bpf::detach(self.link.as_fd())
    }
}

/// Refuses invalid names of BPF congestion controls, like `bpf_obj_name_cpy` of Linux.
pub fn check_name(name: &str) -> Result<(), LoadError> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || name.len() > 15 || !name.chars().all(good) {
        return Err(LoadError::BadName(name.to_owned()));
    }
    Ok(())
}

impl Loaded {
    /// The map whose value is registered.
    fn operations(&mut self, name: &str, flags: u32) -> Result<MapFd, LoadError> {
        check_name(name)?;
        self.image[self.name_at..self.name_at + name.len()].copy_from_slice(name.as_bytes());
        let new = NewMap {
            kind: map_kind::STRUCT_OPS,
            key_size: 4,
            value_size: self.image.len() as u32,
            entries: 1,
            flags,
            name: OPERATIONS,
            types: Some((self.btf.as_fd(), 0, 0)),
            structure: self.around,
        };
        bpf::create(new).map_err(failed("create the registration"))
    }

    /// Registers the programs under a name for the life of the registration.
    pub fn register(mut self, name: &str) -> Result<Registration, LoadError> {
        let map = self.operations(name, LINK)?;
        map.update(&[0; 4], &self.image).map_err(failed("fill the registration"))?;
        let link = bpf::link(map.as_fd(), Target::Kernel, ATTACH_STRUCT_OPS).map_err(taken(name))?;
        self.programs.clear();
        Ok(Registration { link })
    }

    /// Registers the programs under a name, until [`remove`]: without a link the kernel keeps the
    /// registration after this process ends.
    pub fn install(mut self, name: &str) -> Result<(), LoadError> {
        let map = self.operations(name, 0)?;
        map.update(&[0; 4], &self.image).map_err(taken(name))
    }

    /// Keeps a map alive as long as the programs, although none of them uses it.
    pub fn bind(&self, map: &Map) -> Result<(), LoadError> {
        let program = self.programs.first().ok_or(LoadError::BadObject)?;
        bpf::bind(program.as_fd(), map.fd.as_fd()).map_err(failed("keep a map with the programs"))
    }

    /// Programs that the kernel has accepted.
    pub fn programs(&self) -> usize {
        self.programs.len()
    }
}

fn taken(name: &str) -> impl FnOnce(io::Error) -> LoadError + use<> {
    let name = name.to_owned();
    move |error| {
        if error.raw_os_error() == Some(libc::EEXIST) {
            LoadError::NameTaken(name)
        } else {
            failed("register the congestion control")(error)
        }
    }
}

/// Whether the congestion control of [`Loaded::install`] with this map is registered.
pub fn is_installed(operations: &MapFd) -> io::Result<bool> {
    /// `BPF_STRUCT_OPS_STATE_INUSE`.
    const IN_USE: u32 = 1;
    // struct bpf_struct_ops_common_value: reference count, then the state.
    Ok(word(&operations.lookup(&[0; 4])?, 4) == IN_USE)
}

/// Unregisters a congestion control of [`Loaded::install`]. Its connections continue under it.
pub fn remove(operations: &MapFd) -> io::Result<()> {
    operations.delete(&[0; 4])
}

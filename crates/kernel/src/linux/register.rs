//! Registers loaded programs as a congestion control, for the life of this process or permanently.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::load::{LoadError, Loaded, Map, failed, information, update};
use super::sys::{Attributes, bpf_do, bpf_open, command};

const MAP_STRUCT_OPS: u32 = 26;
const ATTACH_STRUCT_OPS: u32 = 44;
const LINK: u32 = 1 << 13;

/// A congestion control registered by a link: unregistered when this is dropped, or the process
/// ends.
#[derive(Debug)]
pub struct Registration {
    link: OwnedFd,
    /// Number of the map behind it.
    pub id: u32,
}

impl Registration {
    /// Unregisters the name. Connections continue.
    pub fn detach(&self) -> io::Result<()> {
        detach(self.link.as_fd())
    }
}

/// Unregisters a name registered by link.
pub fn detach(link: BorrowedFd<'_>) -> io::Result<()> {
    bpf_do(command::LINK_DETACH, Attributes::new().fd(link))
}

/// A 32-bit word of a kernel description.
pub fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Number of a map in the kernel.
pub fn map_id(map: BorrowedFd<'_>) -> Result<u32, LoadError> {
    let information = information(map).map_err(failed("look at a map"))?;
    Ok(word(&information, 4))
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
    fn operations(&mut self, name: &str, flags: u32) -> Result<OwnedFd, LoadError> {
        check_name(name)?;
        self.image[self.name_at..self.name_at + name.len()].copy_from_slice(name.as_bytes());
        let attributes = [MAP_STRUCT_OPS, 4, self.image.len() as u32, 1, flags, 0, 0]
            .into_iter()
            .fold(Attributes::new(), Attributes::number)
            .name("sc_operations")
            .number(0)
            .fd(self.btf.as_fd())
            .number(0)
            .number(0)
            .number(self.around);
        bpf_open(command::MAP_CREATE, attributes).map_err(failed("create the registration"))
    }

    /// Registers the programs under a name for the life of the registration.
    pub fn register(mut self, name: &str) -> Result<Registration, LoadError> {
        let map = self.operations(name, LINK)?;
        update(map.as_fd(), &[0; 4], &self.image).map_err(failed("fill the registration"))?;
        let id = map_id(map.as_fd())?;
        let attributes = Attributes::new().fd(map.as_fd()).number(0).number(ATTACH_STRUCT_OPS).number(0);
        let link = bpf_open(command::LINK_CREATE, attributes).map_err(taken(name))?;
        self.programs.clear();
        Ok(Registration { link, id })
    }

    /// Registers the programs under a name, until [`remove`]: without a link the kernel keeps the
    /// registration after this process ends. `before` receives the number of the registration's map
    /// before anything is registered.
    pub fn install(
        mut self,
        name: &str,
        before: impl FnOnce(u32) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let map = self.operations(name, 0)?;
        before(map_id(map.as_fd())?)?;
        update(map.as_fd(), &[0; 4], &self.image).map_err(taken(name))
    }

    /// Keeps a map alive as long as the programs, although none of them uses it.
    pub fn bind(&self, map: &Map) -> Result<(), LoadError> {
        let program = self.programs.first().ok_or(LoadError::BadObject)?;
        let attributes = Attributes::new().fd(program.as_fd()).fd(map.fd.as_fd()).number(0);
        bpf_do(command::PROG_BIND_MAP, attributes).map_err(failed("keep a map with the programs"))
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
pub fn is_installed(operations: BorrowedFd<'_>) -> io::Result<bool> {
    /// `BPF_STRUCT_OPS_STATE_INUSE`.
    const IN_USE: u32 = 1;
    let size = word(&information(operations)?, 12) as usize;
    let mut value = vec![0; size];
    let attributes = Attributes::new().fd(operations).number(0).read(&[0; 4]).written(&mut value).long(0);
    bpf_do(command::MAP_LOOKUP_ELEM, attributes)?;
    // struct bpf_struct_ops_common_value: reference count, then the state.
    Ok(word(&value, 4) == IN_USE)
}

/// Unregisters a congestion control of [`Loaded::install`]. Its connections continue under it.
pub fn remove(operations: BorrowedFd<'_>) -> io::Result<()> {
    bpf_do(command::MAP_DELETE_ELEM, Attributes::new().fd(operations).number(0).read(&[0; 4]))
}

//! Loads an object through `bpf(2)` and registers it as a congestion control. The kernel itself
//! fills in its offsets (CO-RE).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::bpf::{self, MapFd, NewMap, NewProgram, map_kind};
use super::btf::{Btf, kind};
use super::object::{MapSpec, Object, Program, Reference};

/// The kernel part: `bpf/bridge.bpf.c`, compiled. It holds no offset of a particular kernel.
pub const BRIDGE: &[u8] = include_bytes!("../../bpf/bridge.bpf.o");

/// The same without `cong_control`, for algorithms that only set a window.
pub const WINDOW: &[u8] = include_bytes!("../../bpf/window.bpf.o");

/// The kernel part for an algorithm, which may set only a window.
pub const fn bridge(only_grows: bool) -> &'static [u8] {
    if only_grows { WINDOW } else { BRIDGE }
}

/// Location of the kernel's types.
pub const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";

/// `BPF_PROG_TYPE_STRUCT_OPS`.
pub(super) const STRUCT_OPS: u32 = 27;

/// Why nothing was loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The process may not load programs.
    NotAllowed,
    /// The loaded object could not be found again, and thus not removed.
    NotRemovable,
    /// The kernel does not publish its types.
    NoTypes(io::Error),
    /// The kernel lacks a required feature, which is named.
    TooOld(&'static str),
    /// A congestion control of this name is registered.
    NameTaken(String),
    /// An algorithm was loaded under this name before: the name and the algorithm.
    LoadedAlready(String, String),
    /// The parameters of the algorithm cannot be passed to the kernel.
    NoParameters,
    /// The name is not one of 1 to 15 letters, digits, `_` and `.`.
    BadName(String),
    /// The verifier refused a program: its name, and the end of the verifier's log.
    Refused(String, String),
    /// Segments of this algorithm carry no option that real connections can carry.
    NoOptions(String),
    /// This is no directory of cgroup v2.
    NoCgroup(String, io::Error),
    /// There is no such network device.
    NoDevice(String, io::Error),
    /// The device's link-layer header is not supported: its hardware type.
    NotForPackets(String, u16),
    /// A step failed.
    Failed(&'static str, io::Error),
    /// The object cannot be read.
    BadObject,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed => f.write_str(
                "this needs the capabilities CAP_BPF and CAP_NET_ADMIN, and CAP_PERFMON: run it as root",
            ),
            Self::NotRemovable => f.write_str(
                "this needs the capability CAP_SYS_ADMIN, too, without which it could not be unloaded: run it as root",
            ),
            Self::NoTypes(error) => {
                write!(f, "{KERNEL_TYPES}: {error}; the kernel must be built with CONFIG_DEBUG_INFO_BTF=y")
            }
            Self::TooOld(what) => write!(
                f,
                "this kernel ({}) has no {what}; Linux 6.10 or later has",
                super::sys::kernel_release()
            ),
            Self::NameTaken(name) => write!(
                f,
                "a congestion control named {name:?} is registered already; choose another name with --name"
            ),
            Self::LoadedAlready(name, label) => write!(
                f,
                "{name:?} is loaded already, with {label}; selfclock kernel unload {name} removes it, --name loads \
                 another beside it"
            ),
            Self::NoParameters => {
                f.write_str("the parameters of this algorithm cannot be passed to the kernel")
            }
            Self::BadName(name) => write!(
                f,
                "{name:?} cannot name a congestion control: 1 to 15 letters, digits, '_' and '.' can"
            ),
            Self::Refused(program, said) => write!(f, "the kernel refused the program {program:?}: {said}"),
            Self::NoOptions(label) => write!(
                f,
                "segments of {label:?} carry no option of an experimental kind; those of packet-pair with \
                 option_kind=253 or 254, and of modified-swift-start do"
            ),
            Self::NoCgroup(path, error) => write!(
                f,
                "{path:?} is no directory of cgroup v2 ({error}); processes whose connections carry options are in \
                 one, such as /sys/fs/cgroup"
            ),
            Self::NoDevice(device, error) => write!(f, "device {device:?}: {error}"),
            Self::NotForPackets(device, kind) => {
                write!(
                    f,
                    "device {device:?} is neither Ethernet, loopback nor a tunnel (hardware type {kind})"
                )
            }
            Self::Failed(step, error) => write!(f, "{step}: {error}"),
            Self::BadObject => f.write_str("the compiled kernel part cannot be read"),
        }
    }
}

impl std::error::Error for LoadError {}

pub(super) fn failed(step: &'static str) -> impl FnOnce(io::Error) -> LoadError {
    move |error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => LoadError::NotAllowed,
        Some(libc::ENOSYS) => LoadError::TooOld("bpf system call"),
        _ => LoadError::Failed(step, error),
    }
}

/// The kernel's types.
pub fn kernel_types() -> Result<Vec<u8>, LoadError> {
    std::fs::read(KERNEL_TYPES).map_err(LoadError::NoTypes)
}

/// A map, created or found.
#[derive(Debug)]
pub struct Map {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub fd: MapFd,
}

/// Loads the types of an object.
pub fn load_types(object: &Object) -> Result<OwnedFd, LoadError> {
    bpf::load_types(&object.btf).map_err(failed("load types"))
}

/// Creates a map of an object with these types. Its kernel name, `prefix` and the map's own, shows
/// its owner.
pub fn create_map(prefix: &str, spec: &MapSpec, types: BorrowedFd<'_>) -> Result<Map, LoadError> {
    let MapSpec { name, kind, key_size, value_size, entries, flags, types: (key, value), constants } = spec;
    let new = NewMap {
        kind: *kind,
        key_size: *key_size,
        value_size: *value_size,
        entries: *entries,
        flags: *flags,
        name: &format!("{prefix}{name}"),
        // The kernel requires types of memory per socket only.
        types: (*kind == map_kind::SOCKET_STORAGE).then_some((types, *key, *value)),
        structure: 0,
    };
    let fd = bpf::create(new).map_err(failed("create a map"))?;
    if !constants.is_empty() {
        fd.update(&[0; 4], constants).map_err(failed("write constants"))?;
        fd.freeze().map_err(failed("freeze constants"))?;
    }
    Ok(Map { name: name.clone(), fd })
}

/// Creates the maps of an object.
pub fn create_maps(prefix: &str, object: &Object, types: BorrowedFd<'_>) -> Result<Vec<Map>, LoadError> {
    object.maps.iter().map(|spec| create_map(prefix, spec, types)).collect()
}

/// The structure of congestion controls in this kernel.
pub(super) struct Operations<'a> {
    types: Btf<'a>,
    /// `tcp_congestion_ops`, and `bpf_struct_ops_tcp_congestion_ops` around it.
    own: u32,
    pub around: u32,
    /// Offset of the first in the second.
    at: usize,
}

impl<'a> Operations<'a> {
    pub fn find(types: &'a [u8]) -> Result<Self, LoadError> {
        let bad = || LoadError::TooOld("readable types");
        let types = Btf::read(types).ok_or_else(bad)?;
        let name = "bpf_struct_ops_tcp_congestion_ops";
        let around = types.find(name, kind::STRUCT);
        let around = around.ok_or(LoadError::TooOld("congestion controls in BPF (CONFIG_BPF_JIT)"))?;
        let own = types.find("tcp_congestion_ops", kind::STRUCT).ok_or_else(bad)?;
        let data = types.members(around).into_iter().find(|member| member.name == "data");
        let at = data.ok_or_else(bad)?.offset;
        let operations = Self { types, own, around, at };
        if operations.arguments("cong_control") != Some(4) {
            return Err(LoadError::TooOld("cong_control with four arguments"));
        }
        Ok(operations)
    }

    /// Index and offset of a member.
    fn member(&self, name: &str) -> Option<(u32, usize)> {
        let members = self.types.members(self.own);
        let index = members.iter().position(|member| member.name == name)?;
        Some((index as u32, self.at + members[index].offset))
    }

    /// Bytes of the value that is registered.
    pub fn size(&self) -> Option<u32> {
        self.types.size(self.around)
    }

    /// Offset of a member in the value that is registered.
    pub fn offset(&self, name: &str) -> Option<usize> {
        self.member(name).map(|(_, at)| at)
    }

    /// Offsets in that value of all function pointers; read from the kernel, each is the number of
    /// a program, or 0.
    pub fn functions(&self) -> Vec<usize> {
        let is_function = |member: u32| {
            let pointed = self.types.size(member).filter(|_| self.types.kind(member) == Some(kind::PTR))?;
            self.types.kind(pointed).filter(|kind| *kind == kind::FUNC_PROTO)
        };
        let members = self.types.members(self.own).into_iter();
        members
            .filter(|member| is_function(member.kind).is_some())
            .map(|member| self.at + member.offset)
            .collect()
    }

    /// Number of arguments of a function-pointer member.
    fn arguments(&self, name: &str) -> Option<u32> {
        let members = self.types.members(self.own);
        let pointer = members.iter().find(|member| member.name == name)?.kind;
        let function = self.types.size(pointer)?;
        (self.types.kind(function) == Some(kind::FUNC_PROTO)).then(|| self.types.count(function))?
    }
}

/// Programs in the kernel, not registered yet.
#[derive(Debug)]
pub struct Loaded {
    pub(super) btf: OwnedFd,
    /// Type of the registered structure.
    pub(super) around: u32,
    /// Value to register: descriptors at the members' offsets, and the flags.
    pub(super) image: Vec<u8>,
    pub(super) name_at: usize,
    /// Held until registration.
    pub(super) programs: Vec<OwnedFd>,
}

/// Loads the programs of an object, with its types and these maps. The kernel verifies each.
pub fn load(object: &Object, btf: OwnedFd, maps: &[Map], kernel_types: &[u8]) -> Result<Loaded, LoadError> {
    let operations = Operations::find(kernel_types)?;
    let size = operations.size().ok_or(LoadError::BadObject)?;
    let mut image = vec![0; size as usize];
    let mut programs = Vec::new();
    let purpose = |attach| Purpose { kind: STRUCT_OPS, attach, operations: operations.own };
    for program in &object.programs {
        let missing = LoadError::TooOld("operation of congestion controls that is needed");
        let (index, at) = operations.member(&program.member).ok_or(missing)?;
        let fd = load_program(program, maps, btf.as_fd(), purpose(index))?;
        image[at..at + 8].copy_from_slice(&(fd.as_raw_fd() as u64).to_ne_bytes());
        programs.push(fd);
    }
    let place = |name| operations.offset(name).ok_or(LoadError::BadObject);
    let flags = place("flags")?;
    image[flags..flags + 4].copy_from_slice(&object.flags.to_ne_bytes());
    Ok(Loaded { btf, around: operations.around, image, name_at: place("name")?, programs })
}

/// Purpose of a program: its type, and its attachment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    /// `BPF_PROG_TYPE_*`.
    pub kind: u32,
    /// Of an operation, its index in the structure.
    pub attach: u32,
    /// Type of the structure, in the kernel.
    pub operations: u32,
}

/// The code of a program with the descriptors of its maps; in a 64-bit load, the source register
/// says what is named.
fn linked(program: &Program, maps: &[Map]) -> Result<Vec<u8>, LoadError> {
    const MAP: u8 = 1;
    const VALUE_OF_MAP: u8 = 2;
    let mut code = program.code.clone();
    for Reference { at, map, place } in &program.maps {
        let map = maps.iter().find(|each| each.name == *map).ok_or(LoadError::BadObject)?;
        let kind = if place.is_some() { VALUE_OF_MAP } else { MAP };
        code[at + 1] = code[at + 1] & 15 | kind << 4;
        code[at + 4..at + 8].copy_from_slice(&map.fd.as_fd().as_raw_fd().to_ne_bytes());
        code[at + 12..at + 16].copy_from_slice(&place.unwrap_or(0).to_ne_bytes());
    }
    Ok(code)
}

pub(super) fn load_program(
    program: &Program,
    maps: &[Map],
    btf: BorrowedFd<'_>,
    Purpose { kind, attach, operations }: Purpose,
) -> Result<OwnedFd, LoadError> {
    let code = linked(program, maps)?;
    let mut log = vec![0; 1 << 16];
    let name = program.member.replace('/', "_");
    let new = NewProgram {
        kind,
        code: &code,
        name: &name,
        attach,
        types: btf,
        functions: &program.functions,
        accesses: &program.accesses,
        structure: operations,
    };
    let once = |log: &mut [u8]| bpf::load_program(new, log);
    let error = match once(&mut []) {
        Ok(fd) => return Ok(fd),
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => return Err(LoadError::NotAllowed),
        Err(error) => error,
    };
    // Load again, now with the verifier's log.
    let _ = once(&mut log);
    let said = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rev().find(|line| !line.starts_with("processed ") && !line.is_empty());
    let said = last.map_or_else(|| error.to_string(), |line| format!("{error}: {line}"));
    Err(LoadError::Refused(program.member.clone(), said))
}

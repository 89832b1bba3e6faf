//! `bpf(2)`: one safe function for each command that is used. Each computes the lengths that it
//! passes to the kernel, and a map is read only with the size that the kernel states for it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Commands that return a new descriptor: `enum bpf_cmd` of include/uapi/linux/bpf.h.
#[derive(Clone, Copy, Debug)]
enum Opening {
    MapCreate = 0,
    ProgramLoad = 5,
    ProgramById = 13,
    MapById = 14,
    TypesLoad = 18,
    LinkCreate = 28,
    LinkById = 30,
}

/// All other commands.
#[derive(Clone, Copy, Debug)]
enum Command {
    Lookup = 1,
    Update = 2,
    Delete = 3,
    NextMap = 12,
    Describe = 15,
    Freeze = 22,
    NextLink = 31,
    Detach = 34,
    Bind = 35,
}

/// Kinds of maps, `BPF_MAP_TYPE_*`.
pub mod map_kind {
    pub const HASH: u32 = 1;
    pub const ARRAY: u32 = 2;
    pub const LRU_HASH: u32 = 9;
    pub const QUEUE: u32 = 22;
    pub const STACK: u32 = 23;
    pub const SOCKET_STORAGE: u32 = 24;
    pub const STRUCT_OPS: u32 = 26;
    pub const RING: u32 = 27;
}

/// Kinds whose lookups and updates move exactly `value_size` bytes. Of the others, those per CPU
/// move that many for each CPU, and maps of descriptors four (`bpf_map_value_size` of
/// kernel/bpf/syscall.c).
const PLAIN: [u32; 6] = [
    map_kind::HASH,
    map_kind::ARRAY,
    map_kind::LRU_HASH,
    map_kind::QUEUE,
    map_kind::STACK,
    map_kind::STRUCT_OPS,
];

/// Bytes of `union bpf_attr` that are passed; the kernel accepts zeros beyond its own size.
const ATTRIBUTES: usize = 152;

/// The attributes of a call, field by field, with the memory they point to.
#[derive(Debug)]
struct Attributes<'a> {
    bytes: [u8; ATTRIBUTES],
    at: usize,
    kept: std::marker::PhantomData<&'a mut [u8]>,
}

impl<'a> Attributes<'a> {
    const fn new() -> Self {
        Self { bytes: [0; ATTRIBUTES], at: 0, kept: std::marker::PhantomData }
    }
    fn put(mut self, bytes: &[u8]) -> Self {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
        self
    }
    fn number(self, number: u32) -> Self {
        self.put(&number.to_ne_bytes())
    }
    fn long(self, number: u64) -> Self {
        self.put(&number.to_ne_bytes())
    }
    fn fd(self, fd: BorrowedFd<'_>) -> Self {
        self.put(&fd.as_raw_fd().to_ne_bytes())
    }
    /// A name of up to 15 bytes.
    fn name(self, name: &str) -> Self {
        let mut bytes = [0_u8; 16];
        let length = name.len().min(15);
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        self.put(&bytes)
    }
    /// The address of memory that the kernel reads.
    fn read(self, bytes: &'a [u8]) -> Self {
        self.long(if bytes.is_empty() { 0 } else { bytes.as_ptr() as u64 })
    }
    /// The address of memory that the kernel writes.
    fn written(self, bytes: &'a mut [u8]) -> Self {
        self.long(if bytes.is_empty() { 0 } else { bytes.as_mut_ptr() as u64 })
    }
}

/// The system call. Returns its result and the attributes, which some commands write.
///
/// # Safety
/// Every address in the attributes is of memory borrowed by them, at least as long as the length
/// that the command reads or writes there.
unsafe fn call(command: i32, attributes: Attributes<'_>) -> io::Result<(i64, [u8; ATTRIBUTES])> {
    let Attributes { mut bytes, .. } = attributes;
    // SAFETY: the attributes have the stated length; the caller vouches for the addresses in them.
    let returned = unsafe { libc::syscall(libc::SYS_bpf, command, bytes.as_mut_ptr(), ATTRIBUTES) };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok((returned, bytes)) }
}

/// # Safety
/// As [`call`].
unsafe fn open(command: Opening, attributes: Attributes<'_>) -> io::Result<OwnedFd> {
    // SAFETY: as the caller vouches.
    let (fd, _) = unsafe { call(command as i32, attributes) }?;
    // SAFETY: these commands return a new descriptor without another owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// # Safety
/// As [`call`].
unsafe fn run(command: Command, attributes: Attributes<'_>) -> io::Result<()> {
    // SAFETY: as the caller vouches.
    unsafe { call(command as i32, attributes) }.map(|_| ())
}

/// A 32-bit word of a kernel description.
pub fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A kernel description: `struct bpf_map_info`, `bpf_link_info` or `bpf_prog_info`.
///
/// # Safety
/// Each address in `information` is zero or of memory as long as stated beside it.
unsafe fn describe(fd: BorrowedFd<'_>, information: &mut [u8]) -> io::Result<()> {
    let length = information.len() as u32;
    let attributes = Attributes::new().fd(fd).number(length).written(information);
    // SAFETY: the kernel writes at most the stated length; the caller vouches for the addresses.
    unsafe { run(Command::Describe, attributes) }
}

/// A map's `struct bpf_map_info`, by the kernel. It never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number in the kernel.
    pub id: u32,
    /// `BPF_MAP_TYPE_*`.
    pub kind: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Number of values.
    pub entries: u32,
    /// `BPF_F_*`.
    pub flags: u32,
    /// Name, padded with zeros.
    pub name: [u8; 16],
    /// Of an operations structure, its type in the kernel.
    pub structure: u32,
}

impl Shape {
    /// Has this name.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.split(|byte| *byte == 0).next() == Some(&name.as_bytes()[..name.len().min(15)])
    }
}

/// A map, with the shape that the kernel states.
#[derive(Debug)]
pub struct MapFd {
    fd: OwnedFd,
    shape: Shape,
}

impl AsFd for MapFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl MapFd {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        let mut bytes = [0; 80];
        // SAFETY: all zero.
        unsafe { describe(fd.as_fd(), &mut bytes) }?;
        let shape = Shape {
            kind: word(&bytes, 0),
            id: word(&bytes, 4),
            key_size: word(&bytes, 8),
            value_size: word(&bytes, 12),
            entries: word(&bytes, 16),
            flags: word(&bytes, 20),
            name: std::array::from_fn(|index| bytes[24 + index]),
            structure: word(&bytes, 44),
        };
        Ok(Self { fd, shape })
    }

    /// The map with this number.
    pub fn by_id(id: u32) -> io::Result<Self> {
        let attributes = Attributes::new().number(id);
        // SAFETY: no address.
        Self::new(unsafe { open(Opening::MapById, attributes) }?)
    }

    /// Its shape.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A second descriptor of it.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()?, shape: self.shape })
    }

    /// Refuses kinds whose values have another size than stated, and keys and values of another
    /// size than the map's.
    fn demand(&self, key: usize, value: Option<usize>) -> io::Result<()> {
        let Shape { kind, key_size, value_size, .. } = self.shape;
        let fits = PLAIN.contains(&kind)
            && key == key_size as usize
            && value.is_none_or(|value| value == value_size as usize);
        if fits { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EINVAL)) }
    }

    /// The value of a key.
    pub fn lookup(&self, key: &[u8]) -> io::Result<Vec<u8>> {
        self.demand(key.len(), None)?;
        let mut value = vec![0; self.shape.value_size as usize];
        let attributes = Attributes::new().fd(self.as_fd()).number(0).read(key).written(&mut value).long(0);
        // SAFETY: key and value have the sizes of this map, whose kind moves no more.
        unsafe { run(Command::Lookup, attributes) }?;
        Ok(value)
    }

    /// Writes a value.
    pub fn update(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.demand(key.len(), Some(value.len()))?;
        let attributes = Attributes::new().fd(self.as_fd()).number(0).read(key).read(value).long(0);
        // SAFETY: as in `lookup`.
        unsafe { run(Command::Update, attributes) }
    }

    /// Removes a key.
    pub fn delete(&self, key: &[u8]) -> io::Result<()> {
        self.demand(key.len(), None)?;
        let attributes = Attributes::new().fd(self.as_fd()).number(0).read(key);
        // SAFETY: the key has the size of this map's.
        unsafe { run(Command::Delete, attributes) }
    }

    /// Lets nobody change it any more but programs.
    pub fn freeze(&self) -> io::Result<()> {
        // SAFETY: no address.
        unsafe { run(Command::Freeze, Attributes::new().fd(self.as_fd())) }
    }
}

/// A map to be created.
#[derive(Clone, Copy, Debug)]
pub struct NewMap<'a> {
    /// `BPF_MAP_TYPE_*`.
    pub kind: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Number of values.
    pub entries: u32,
    /// `BPF_F_*`.
    pub flags: u32,
    /// Name, of which 15 bytes are used.
    pub name: &'a str,
    /// Loaded types, and the numbers in them of key and value.
    pub types: Option<(BorrowedFd<'a>, u32, u32)>,
    /// Of an operations structure, its type in the kernel.
    pub structure: u32,
}

/// Creates a map.
pub fn create(map: NewMap<'_>) -> io::Result<MapFd> {
    let NewMap { kind, key_size, value_size, entries, flags, name, types, structure } = map;
    let attributes = [kind, key_size, value_size, entries, flags, 0, 0]
        .into_iter()
        .fold(Attributes::new(), Attributes::number)
        .name(name)
        .number(0);
    let attributes = match types {
        Some((types, key, value)) => attributes.fd(types).number(key).number(value),
        None => attributes.number(0).number(0).number(0),
    };
    // SAFETY: no address.
    MapFd::new(unsafe { open(Opening::MapCreate, attributes.number(structure)) }?)
}

/// Loads types.
pub fn load_types(types: &[u8]) -> io::Result<OwnedFd> {
    let attributes = Attributes::new().read(types).long(0).number(types.len() as u32);
    // SAFETY: the kernel reads the stated length.
    unsafe { open(Opening::TypesLoad, attributes) }
}

/// A program to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct NewProgram<'a> {
    /// `BPF_PROG_TYPE_*`.
    pub kind: u32,
    /// Instructions, 8 bytes each.
    pub code: &'a [u8],
    /// Name, of which 15 bytes are used.
    pub name: &'a str,
    /// Where it is attached; of an operation, its index in the structure.
    pub attach: u32,
    /// Its types.
    pub types: BorrowedFd<'a>,
    /// `struct bpf_func_info`, 8 bytes each.
    pub functions: &'a [u8],
    /// `struct bpf_core_relo`, 16 bytes each.
    pub accesses: &'a [u8],
    /// Type of the structure, in the kernel.
    pub structure: u32,
}

/// Loads a program; the verifier writes into `log` unless it is empty.
pub fn load_program(program: NewProgram<'_>, log: &mut [u8]) -> io::Result<OwnedFd> {
    let NewProgram { kind, code, name, attach, types, functions, accesses, structure } = program;
    let (level, length) = (u32::from(!log.is_empty()), log.len() as u32);
    let attributes = Attributes::new()
        .number(kind)
        .number((code.len() / 8) as u32)
        .read(code)
        .read(b"GPL\0")
        .number(level)
        .number(length)
        .written(log)
        .number(0)
        .number(0)
        .name(name)
        .number(0)
        .number(attach)
        .fd(types)
        .number(8)
        .read(functions)
        .number((functions.len() / 8) as u32)
        .number(0)
        .long(0)
        .number(0)
        .number(structure)
        .number(0)
        .number((accesses.len() / 16) as u32)
        .long(0)
        .read(accesses)
        .number(16)
        .number(0);
    // SAFETY: each slice is passed with its length, in units of its elements, rounded down.
    unsafe { open(Opening::ProgramLoad, attributes) }
}

/// The target of a link.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// Nothing but the kernel: a registration.
    Kernel,
    /// A network device, by its number.
    Device(u32),
    /// A directory of cgroup v2.
    Cgroup(BorrowedFd<'a>),
}

/// Attaches a program, or registers the structure of a map.
pub fn link(what: BorrowedFd<'_>, target: Target<'_>, attach: u32) -> io::Result<OwnedFd> {
    let attributes = Attributes::new().fd(what);
    let attributes = match target {
        Target::Kernel => attributes.number(0),
        Target::Device(number) => attributes.number(number),
        Target::Cgroup(directory) => attributes.fd(directory),
    };
    // SAFETY: no address.
    unsafe { open(Opening::LinkCreate, attributes.number(attach).number(0)) }
}

/// Ends what a link does.
pub fn detach(link: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no address.
    unsafe { run(Command::Detach, Attributes::new().fd(link)) }
}

/// Keeps a map alive as long as a program.
pub fn bind(program: BorrowedFd<'_>, map: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no address.
    unsafe { run(Command::Bind, Attributes::new().fd(program).fd(map).number(0)) }
}

/// Numbers of all kernel objects of a kind.
fn ids(next: Command) -> io::Result<Vec<u32>> {
    let (mut ids, mut last) = (Vec::new(), 0);
    loop {
        // SAFETY: no address.
        match unsafe { call(next as i32, Attributes::new().number(last)) } {
            Ok((_, attributes)) => {
                last = word(&attributes, 4);
                ids.push(last);
            }
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(ids),
            Err(error) => return Err(error),
        }
    }
}

/// Every map of the kernel that can be opened; one may have gone meanwhile. Needs CAP_SYS_ADMIN.
pub fn all_maps() -> io::Result<impl Iterator<Item = MapFd>> {
    Ok(ids(Command::NextMap)?.into_iter().filter_map(|id| MapFd::by_id(id).ok()))
}

/// Registrations of operations: the number of the map, and the link. Needs CAP_SYS_ADMIN.
pub fn registrations() -> io::Result<Vec<(u32, OwnedFd)>> {
    /// `BPF_LINK_TYPE_STRUCT_OPS`.
    const STRUCT_OPS: u32 = 9;
    let mut found = Vec::new();
    for id in ids(Command::NextLink)? {
        // SAFETY: no address.
        let Ok(link) = (unsafe { open(Opening::LinkById, Attributes::new().number(id)) }) else { continue };
        let mut bytes = [0; 80];
        // SAFETY: all zero.
        if unsafe { describe(link.as_fd(), &mut bytes) }.is_ok() && word(&bytes, 0) == STRUCT_OPS {
            found.push((word(&bytes, 16), link));
        }
    }
    Ok(found)
}

/// A program's description by the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramInfo {
    /// `BPF_PROG_TYPE_*`.
    pub kind: u32,
    /// The user who loaded it.
    pub owner: u32,
    /// Numbers of the maps that it uses or keeps.
    pub maps: Vec<u32>,
}

/// The program with this number. Needs CAP_SYS_ADMIN.
pub fn program(id: u32) -> io::Result<ProgramInfo> {
    // SAFETY: no address.
    let fd = unsafe { open(Opening::ProgramById, Attributes::new().number(id)) }?;
    /// `struct bpf_prog_info` up to `map_ids`, with room for the name.
    const SIZE: usize = 80;
    let mut bytes = [0; SIZE];
    // SAFETY: all zero.
    unsafe { describe(fd.as_fd(), &mut bytes) }?;
    let count = word(&bytes, 52);
    // A program has at most MAX_USED_MAPS, 64.
    let mut maps = vec![0_u32; count.min(1024) as usize];
    let mut again = [0; SIZE];
    again[52..56].copy_from_slice(&(maps.len() as u32).to_ne_bytes());
    again[56..64].copy_from_slice(&(maps.as_mut_ptr() as u64).to_ne_bytes());
    // SAFETY: the only address is of `maps`, and their number is stated.
    unsafe { describe(fd.as_fd(), &mut again) }?;
    maps.truncate(word(&again, 52).min(count) as usize);
    Ok(ProgramInfo { kind: word(&bytes, 0), owner: word(&bytes, 48), maps })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(kind: u32) -> Shape {
        Shape { id: 1, kind, key_size: 4, value_size: 8, entries: 1, flags: 0, name: [0; 16], structure: 0 }
    }

    /// A per-CPU map moves `value_size` bytes for each CPU (`bpf_map_value_size`): its lookups are
    /// refused before the kernel is asked, as are keys and values of another size.
    #[test]
    fn sizes_are_demanded() {
        let file = || OwnedFd::from(std::fs::File::open("/dev/null").expect("/dev/null"));
        let map = |kind| MapFd { fd: file(), shape: shape(kind) };
        // BPF_MAP_TYPE_PERCPU_HASH, PERCPU_ARRAY, LRU_PERCPU_HASH, PERCPU_CGROUP_STORAGE, and a map
        // of maps.
        for kind in [5, 6, 10, 21, 12, map_kind::SOCKET_STORAGE] {
            let error = map(kind).lookup(&[0; 4]).expect_err("refused");
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "kind {kind}");
        }
        let array = map(map_kind::ARRAY);
        assert!(array.demand(4, Some(8)).is_ok());
        assert!(array.demand(3, Some(8)).is_err());
        assert!(array.demand(4, Some(9)).is_err());
    }

    #[test]
    fn names_have_fifteen_bytes() {
        let mut shape = shape(map_kind::ARRAY);
        shape.name[..13].copy_from_slice(b"sc_free_slots");
        assert!(shape.is_named("sc_free_slots"));
        assert!(!shape.is_named("sc_free_slot"));
        assert!(!shape.is_named("sc_free_slots_"));
    }
}

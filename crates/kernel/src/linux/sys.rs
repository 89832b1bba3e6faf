//! All uses of `unsafe`: system calls that take pointers, and memory shared with the kernel. The
//! rest of the crate calls these safe functions, which take slices, check lengths and own what they
//! open.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

/// Commands of `bpf(2)`, `enum bpf_cmd` of include/uapi/linux/bpf.h.
pub mod command {
    pub const MAP_CREATE: i32 = 0;
    pub const MAP_LOOKUP_ELEM: i32 = 1;
    pub const MAP_UPDATE_ELEM: i32 = 2;
    pub const MAP_DELETE_ELEM: i32 = 3;
    pub const PROG_LOAD: i32 = 5;
    pub const MAP_GET_NEXT_ID: i32 = 12;
    pub const MAP_GET_FD_BY_ID: i32 = 14;
    pub const OBJ_GET_INFO_BY_FD: i32 = 15;
    pub const BTF_LOAD: i32 = 18;
    pub const MAP_FREEZE: i32 = 22;
    pub const LINK_CREATE: i32 = 28;
    pub const LINK_GET_FD_BY_ID: i32 = 30;
    pub const LINK_GET_NEXT_ID: i32 = 31;
    pub const LINK_DETACH: i32 = 34;
    pub const PROG_BIND_MAP: i32 = 35;
}

/// Bytes of `union bpf_attr` that are passed; the kernel accepts zeros beyond its own size.
const ATTRIBUTES: usize = 152;

/// The attributes of a `bpf` call, field by field, with the memory they point to.
#[derive(Debug)]
pub struct Attributes<'a> {
    bytes: [u8; ATTRIBUTES],
    at: usize,
    kept: std::marker::PhantomData<&'a mut [u8]>,
}

impl<'a> Attributes<'a> {
    pub const fn new() -> Self {
        Self { bytes: [0; ATTRIBUTES], at: 0, kept: std::marker::PhantomData }
    }
    fn put(mut self, bytes: &[u8]) -> Self {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
        self
    }
    /// A number of 32 bits.
    pub fn number(self, number: u32) -> Self {
        self.put(&number.to_ne_bytes())
    }
    /// A number of 64 bits.
    pub fn long(self, number: u64) -> Self {
        self.put(&number.to_ne_bytes())
    }
    /// A descriptor.
    pub fn fd(self, fd: BorrowedFd<'_>) -> Self {
        self.put(&fd.as_raw_fd().to_ne_bytes())
    }
    /// A name of up to 15 bytes.
    pub fn name(self, name: &str) -> Self {
        let mut bytes = [0_u8; 16];
        let length = name.len().min(15);
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        self.put(&bytes)
    }
    /// The address of memory that the kernel reads.
    pub fn read(self, bytes: &'a [u8]) -> Self {
        self.long(if bytes.is_empty() { 0 } else { bytes.as_ptr() as u64 })
    }
    /// The address of memory that the kernel writes.
    pub fn written(self, bytes: &'a mut [u8]) -> Self {
        self.long(if bytes.is_empty() { 0 } else { bytes.as_mut_ptr() as u64 })
    }
}

/// `bpf(2)`. Returns its result and the first two attributes, which some commands write.
fn bpf(command: i32, attributes: Attributes<'_>) -> io::Result<(i64, [u32; 2])> {
    let Attributes { mut bytes, .. } = attributes;
    // SAFETY: the attributes have the stated length, and every address in them is of a slice
    // borrowed for the life of `attributes`, with the length given beside it or fixed by the
    // command.
    let returned = unsafe { libc::syscall(libc::SYS_bpf, command, bytes.as_mut_ptr(), ATTRIBUTES) };
    if returned < 0 {
        return Err(io::Error::last_os_error());
    }
    let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok((returned, [word(0), word(4)]))
}

/// A command that returns a descriptor.
pub fn bpf_open(command: i32, attributes: Attributes<'_>) -> io::Result<OwnedFd> {
    let (fd, _) = bpf(command, attributes)?;
    // SAFETY: these commands return a new descriptor without another owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// A command that returns nothing.
pub fn bpf_do(command: i32, attributes: Attributes<'_>) -> io::Result<()> {
    bpf(command, attributes).map(|_| ())
}

/// Numbers of all kernel objects of a kind: `command` is one of `*_GET_NEXT_ID`.
pub fn bpf_ids(command: i32) -> io::Result<Vec<u32>> {
    let (mut ids, mut last) = (Vec::new(), 0);
    loop {
        match bpf(command, Attributes::new().number(last)) {
            Ok((_, [_, next])) => {
                ids.push(next);
                last = next;
            }
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(ids),
            Err(error) => return Err(error),
        }
    }
}

/// Memory shared with the kernel, as words that either side may write at any time.
#[derive(Debug)]
pub struct Mapping {
    words: *mut AtomicU64,
    length: usize,
    writable: bool,
}

// SAFETY: the words are atomic, and the memory is unmapped when the owner is dropped.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` of `fd`'s memory, from `offset`.
    pub fn new(fd: BorrowedFd<'_>, bytes: usize, offset: usize, writable: bool) -> io::Result<Self> {
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let offset = offset as libc::off_t;
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let start =
            unsafe { libc::mmap(null_mut(), bytes, protection, libc::MAP_SHARED, fd.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { words: start.cast(), length: bytes / 8, writable })
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.length, "word {index} of {}", self.length);
        // SAFETY: within the mapping, which is page-aligned and lives as long as `self`.
        unsafe { &*self.words.add(index) }
    }
    /// Reads a word.
    pub fn load(&self, index: usize, order: Ordering) -> u64 {
        self.word(index).load(order)
    }
    /// Writes a word.
    pub fn store(&self, index: usize, value: u64, order: Ordering) {
        assert!(self.writable, "a mapping that is only read");
        self.word(index).store(value, order);
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made.
        unsafe { libc::munmap(self.words.cast(), self.length * 8) };
    }
}

/// Bytes of a page.
pub fn page() -> usize {
    // SAFETY: has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

fn clock(which: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time to `time`.
    unsafe { libc::clock_gettime(which, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of `CLOCK_MONOTONIC`, the clock of `bpf_ktime_get_ns`.
pub fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Seconds since 1970.
pub fn seconds_since_1970() -> u64 {
    clock(libc::CLOCK_REALTIME) / 1_000_000_000
}

/// Processor time of this thread, ns.
pub fn thread_time() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Waits until `fd` can be read, at most this many milliseconds.
pub fn wait_readable(fd: BorrowedFd<'_>, milliseconds: i32) {
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, as stated. An interruption counts as a timeout.
    unsafe { libc::poll(&mut entry, 1, milliseconds) };
}

/// Makes this thread's sleeps end on time instead of up to 50 µs late.
pub fn exact_naps() {
    // SAFETY: changes a property of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Gives this thread real-time priority (SCHED_FIFO), and locks its memory.
pub fn realtime() -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: 5 };
    // SAFETY: reads the parameter.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: changes no memory. If it fails, the thread may wait for a page.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) };
    Ok(())
}

/// A network device of this thread's namespace: its number, and its hardware type (`ARPHRD_*`).
pub fn interface(name: &str) -> io::Result<(u32, u16)> {
    let not_found = || io::Error::from_raw_os_error(libc::ENODEV);
    let text = std::ffi::CString::new(name).map_err(|_| not_found())?;
    // SAFETY: a NUL-terminated string.
    let index = unsafe { libc::if_nametoindex(text.as_ptr()) };
    let bytes = text.as_bytes_with_nul();
    if index == 0 || bytes.len() > libc::IFNAMSIZ {
        return Err(not_found());
    }
    let socket = std::net::UdpSocket::bind((std::net::Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: integers and arrays of integers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    // SAFETY: a request with a name, into which the kernel writes the address.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written it.
    Ok((index, unsafe { request.ifr_ifru.ifru_hwaddr.sa_family }))
}

/// Moves this thread into a network namespace: a file such as `/proc/1/ns/net`.
pub fn enter_namespace(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: affects only this thread, and accesses no memory.
    if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A process with this number lives.
pub fn is_alive(process: u32) -> bool {
    std::path::Path::new("/proc").join(process.to_string()).exists()
}

/// Release of the kernel, such as `6.18.44`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

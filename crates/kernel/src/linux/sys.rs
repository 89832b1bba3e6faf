//! System calls that take pointers, and memory shared with the kernel. With `bpf.rs` these are all
//! uses of `unsafe` of the Linux part: the rest calls safe functions, which take slices, check
//! lengths and own what they open.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// If the first word holds the given value, sets it and the second to zero.
    pub fn clear(&self, (index, held): (usize, u64), other: usize) {
        if self.load(index, Ordering::Acquire) == held {
            self.store(other, 0, Ordering::Release);
            // Another process may have taken it meanwhile.
            let swapped = self.word(index).compare_exchange(held, 0, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_err() {
                self.store(other, 1, Ordering::Release);
            }
        }
    }
    /// Does the same when this process ends, however it ends: by a second process that waits for
    /// the end of a pipe.
    pub fn clear_at_death(&self, first: (usize, u64), other: usize) -> io::Result<Guard> {
        // Outside the new process, which may not panic.
        assert!(self.writable && first.0.max(other) < self.length, "words {} and {other}", first.0);
        let mut ends = [0; 2];
        // SAFETY: writes two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just created, without another owner.
        let [read, write] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        // SAFETY: the new process makes system calls and accesses the mapping; it neither allocates
        // nor takes a lock, and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                wait_for_the_end(read.as_raw_fd());
                self.clear(first, other);
                // SAFETY: ends the process without destructors.
                unsafe { libc::_exit(0) }
            }
            process => Ok(Guard { process, end: Some(write) }),
        }
    }
    /// Writes a word.
    pub fn store(&self, index: usize, value: u64, order: Ordering) {
        assert!(self.writable, "a mapping that is only read");
        self.word(index).store(value, order);
    }
}

/// In the process that waits: until the other end of the pipe is closed. It keeps no other
/// descriptor, so that nobody waits for it, and no signal for the first process's group ends it.
fn wait_for_the_end(pipe: i32) {
    // SAFETY: system calls on numbers and on the memory of this function.
    unsafe {
        libc::setsid();
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &all, null_mut());
        libc::prctl(libc::PR_SET_NAME, c"selfclock-guard".as_ptr());
        if pipe > 0 {
            libc::syscall(libc::SYS_close_range, 0_u32, (pipe - 1) as u32, 0_u32);
        }
        libc::syscall(libc::SYS_close_range, (pipe + 1) as u32, u32::MAX, 0_u32);
        let mut byte = 0_u8;
        while libc::read(pipe, (&raw mut byte).cast(), 1) > 0 {}
    }
}

/// A process that waits for the end of this one: see [`Mapping::clear_at_death`]. Dropping it ends
/// it.
#[derive(Debug)]
pub struct Guard {
    process: libc::pid_t,
    end: Option<OwnedFd>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end = None;
        // SAFETY: a child of this process, which ends now.
        unsafe { libc::waitpid(self.process, null_mut(), 0) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made.
        unsafe { libc::munmap(self.words.cast(), self.length * 8) };
    }
}

/// A new file, in place of one of its name. No link is followed, which another user may have put
/// there: with O_EXCL the name must not exist (open(2)).
pub fn new_file(path: &std::path::Path) -> io::Result<std::fs::File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::OpenOptions::new().write(true).create_new(true).open(path)
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

/// The user of this process, as which it loads.
pub fn user() -> u32 {
    // SAFETY: has no preconditions.
    unsafe { libc::geteuid() }
}

/// Release of the kernel, such as `6.18.44`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

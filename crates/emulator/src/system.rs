//! Kernel calls without a function in Rust's standard library. The only `unsafe` of this crate:
//! each is a system call with arguments that live as long as it.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::Duration;

/// Priority among SCHED_FIFO threads: above all ordinary ones, below the kernel's own interrupt
/// threads (50).
const PRIORITY: libc::c_int = 5;

fn checked(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// A file of our own for what a descriptor of the caller's stands for: that may be closed at any
/// time.
pub fn share(descriptor: RawFd) -> io::Result<File> {
    // SAFETY: takes numbers. A descriptor that is not open is an error.
    let own = checked(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) })?;
    // SAFETY: it was just made, and nobody else knows of it.
    Ok(unsafe { File::from_raw_fd(own) })
}

/// A read that finds nothing and a write for which there is no room return at once.
pub fn never_wait(file: &File) -> io::Result<()> {
    let own = file.as_raw_fd();
    // SAFETY: takes numbers.
    let flags = checked(unsafe { libc::fcntl(own, libc::F_GETFL) })?;
    // SAFETY: as before.
    checked(unsafe { libc::fcntl(own, libc::F_SETFL, flags | libc::O_NONBLOCK) }).map(drop)
}

/// Files that may have something to read.
pub struct Readable(Vec<libc::pollfd>);

impl Readable {
    /// These, by their places.
    pub fn new<'a>(files: impl IntoIterator<Item = &'a File>) -> Self {
        let poll = |file: &File| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        Self(files.into_iter().map(poll).collect())
    }

    /// From now on the file at this place is left out.
    pub fn forget(&mut self, place: usize) {
        self.0[place].fd = -1;
    }

    /// Waits until one of them has something to read or is closed, or the time is over.
    pub fn wait(&mut self, most: Duration) -> io::Result<()> {
        let timeout = libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: most.subsec_nanos() as libc::c_long,
        };
        let count = self.0.len() as libc::nfds_t;
        // SAFETY: the array has `count` elements; no signal mask is given.
        match checked(unsafe { libc::ppoll(self.0.as_mut_ptr(), count, &timeout, std::ptr::null()) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.0.iter_mut().for_each(|file| file.revents = 0);
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// After [`Readable::wait`]: the file at this place has something to read or is closed.
    pub fn is_ready(&self, place: usize) -> bool {
        self.0[place].revents != 0
    }
}

/// This thread goes before all ordinary ones.
pub fn become_realtime() -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: 0 is this thread; the structure is read only.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) }).map(drop)
}

/// This thread is woken when its time has come, not up to 50 µs later with others.
pub fn wake_exactly() {
    // SAFETY: takes numbers. Where it is refused, wake-ups are later, which is measured.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// Keeps the memory of this process from being swapped out, once it is used; until the value is
/// dropped.
pub struct LockedMemory(());

impl LockedMemory {
    /// From now on.
    pub fn lock() -> io::Result<Self> {
        // What is mapped and never used, Python's reserves, is not filled.
        // SAFETY: takes flags.
        checked(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) })?;
        Ok(Self(()))
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: takes nothing.
        unsafe { libc::munlockall() };
    }
}

//! Kernel calls without a function in Rust's standard library. The only `unsafe` of this crate:
//! each is a system call with arguments that live as long as it.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Priority among SCHED_FIFO threads: above all ordinary ones, below the kernel's own interrupt
/// threads (50).
const PRIORITY: libc::c_int = 5;

fn checked(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// Makes reads without data and writes without room return at once.
pub fn never_wait(file: &File) -> io::Result<()> {
    let own = file.as_raw_fd();
    // SAFETY: takes numbers.
    let flags = checked(unsafe { libc::fcntl(own, libc::F_GETFL) })?;
    // SAFETY: as before.
    checked(unsafe { libc::fcntl(own, libc::F_SETFL, flags | libc::O_NONBLOCK) }).map(drop)
}

/// Files that may become readable.
pub struct Readable(Vec<libc::pollfd>);

impl Readable {
    /// These files, by position.
    pub fn new<'a>(files: impl IntoIterator<Item = &'a File>) -> Self {
        let poll = |file: &File| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        Self(files.into_iter().map(poll).collect())
    }

    /// Excludes the file at this position from now on.
    pub fn forget(&mut self, place: usize) {
        self.0[place].fd = -1;
    }

    /// Waits until one of them is readable or closed, or the time is over.
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

    /// After [`Readable::wait`]: whether the file at this position is readable or closed.
    pub fn is_ready(&self, place: usize) -> bool {
        self.0[place].revents != 0
    }
}

/// Gives this thread priority over all ordinary ones.
pub fn become_realtime() -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: 0 is this thread; the structure is read only.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) }).map(drop)
}

/// Makes this thread's wake-ups exact instead of up to 50 µs late.
pub fn wake_exactly() {
    // SAFETY: takes numbers. If refused, wake-ups are later, which is measured.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// Keeps used memory of this process from being swapped out, until the value is dropped.
pub struct LockedMemory(());

impl LockedMemory {
    /// From now on.
    pub fn lock() -> io::Result<Self> {
        // Mapped but unused memory, such as Python's reserves, is not filled. SAFETY: takes flags.
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

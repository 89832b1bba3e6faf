//! The ring of events: `BPF_MAP_TYPE_RINGBUF`, seen from user space.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::bpf::{MapFd, map_kind};
use super::sys::{Mapping, page, wait_readable};
use crate::event::KernelEvent;

/// Bytes of the ring; `bpf/report.h` has the same.
pub const SIZE: usize = 1 << 22;
/// Words before a record: its length and page offset.
const HEADER: usize = 1;
const BUSY: u64 = 1 << 31;
const DISCARDED: u64 = 1 << 30;

/// The ring of events.
#[derive(Debug)]
pub struct Ring {
    fd: MapFd,
    /// Read position, in bytes since the beginning.
    consumer: Mapping,
    /// A page with the write position, then the records, mapped twice so that none wraps.
    producer: Mapping,
}

impl Ring {
    /// Maps the ring. The kernel maps nothing beyond a smaller one's end.
    pub fn new(fd: MapFd) -> io::Result<Self> {
        let shape = fd.shape();
        if (shape.kind, shape.entries as usize) != (map_kind::RING, SIZE) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let consumer = Mapping::new(fd.as_fd(), page(), 0, true)?;
        let producer = Mapping::new(fd.as_fd(), page() + 2 * SIZE, page(), false)?;
        Ok(Self { fd, consumer, producer })
    }

    /// Its descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Skips all pending records.
    pub fn skip(&self) {
        self.consumer.store(0, self.producer.load(0, Acquire), Release);
    }

    /// Hands over pending events in order, at most `most`. Returns their number.
    pub fn drain(&self, most: usize, mut take: impl FnMut(&KernelEvent)) -> usize {
        self.drain_records::<{ KernelEvent::SIZE }>(most, |bytes| take(&KernelEvent::from_bytes(bytes)))
    }

    /// Hands over pending records of this size in order, at most `most`. Returns their number.
    pub fn drain_records<const SIZE_OF_RECORD: usize>(
        &self,
        most: usize,
        mut take: impl FnMut(&[u8; SIZE_OF_RECORD]),
    ) -> usize {
        let mut read = self.consumer.load(0, Relaxed);
        let records = page() / 8;
        let mut taken = 0;
        while taken < most && read < self.producer.load(0, Acquire) {
            let at = records + (read as usize % SIZE) / 8;
            let header = self.producer.load(at, Acquire) & 0xffff_ffff;
            if header & BUSY != 0 {
                break;
            }
            let length = (header & !(BUSY | DISCARDED)) as usize;
            if header & DISCARDED == 0 && length == SIZE_OF_RECORD {
                let mut bytes = [0; SIZE_OF_RECORD];
                for (word, bytes) in bytes.chunks_exact_mut(8).enumerate() {
                    let value = self.producer.load(at + HEADER + word, Relaxed);
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
                take(&bytes);
                taken += 1;
            }
            read += (length.next_multiple_of(8) + 8 * HEADER) as u64;
            self.consumer.store(0, read, Release);
        }
        taken
    }

    /// Waits for an event, at most this many milliseconds.
    pub fn wait(&self, milliseconds: i32) {
        wait_readable(self.fd(), milliseconds);
    }
}

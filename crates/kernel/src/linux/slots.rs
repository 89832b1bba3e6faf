//! The two arrays that the kernel part and this process share: `struct slot` and `struct control`
//! of `bpf/shared.h`, in words of 64 bits.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::sys::{Mapping, page};
use crate::bridge::Answer;
use crate::event::KernelEvent;

/// Number of slots: the maximum of concurrent connections with answers.
pub const SLOTS: u32 = 1024;
/// `LAYOUT` of `bpf/shared.h`.
pub const LAYOUT: u64 = 1;
const WORDS: usize = 16;

/// Counters of a connection in the kernel part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// Number of the connection; 0 if the slot is free.
    pub flow: u64,
    /// Number of its last event.
    pub number: u64,
    /// Number of fallbacks to Reno.
    pub fallbacks: u64,
    /// ACKs under Reno.
    pub fallback_acks: u64,
    /// Events lost because the ring was full.
    pub lost_events: u64,
    /// ACKs processed under an answer.
    pub applied: u64,
    /// ACKs that found an answer half written.
    pub torn: u64,
    /// ACKs whose answer predates the preceding event.
    pub late: u64,
}

/// The slots.
#[derive(Debug)]
pub struct Slots(Mapping);

impl Slots {
    /// Maps the slots.
    pub fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Mapping::new(fd, SLOTS as usize * WORDS * 8, 0, true).map(Self)
    }

    /// Answers an event.
    pub fn answer(&self, event: &KernelEvent, answer: &Answer) {
        if event.slot >= SLOTS {
            return;
        }
        let at = event.slot as usize * WORDS;
        let put = |word: usize, value: u64| self.0.store(at + word, value, Release);
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        put(1, event.number);
        put(0, event.id);
        put(3, answer.pacing);
        put(4, two(answer.cwnd, answer.ssthresh));
        put(5, two(answer.flags, answer.slope));
        put(6, event.tp_delivered.into());
        put(2, event.number);
    }

    /// Counters of the kernel part.
    pub fn counts(&self, slot: u32) -> SlotCounts {
        let at = slot.min(SLOTS - 1) as usize * WORDS;
        let get = |word: usize| self.0.load(at + word, Relaxed);
        SlotCounts {
            flow: get(8),
            number: get(9),
            fallbacks: get(10),
            fallback_acks: get(11),
            lost_events: get(12),
            applied: get(13),
            torn: get(14),
            late: get(15),
        }
    }

    /// Connections that have a slot.
    pub fn used(&self) -> u32 {
        (0..SLOTS).filter(|slot| self.counts(*slot).flow != 0).count() as u32
    }
}

/// Counters of all connections in the kernel part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections so far.
    pub flows: u64,
    /// Connections without a slot: Reno controls them.
    pub without_slot: u64,
    /// Events lost because the ring was full.
    pub lost_events: u64,
    /// Number of fallbacks to Reno.
    pub fallbacks: u64,
}

/// The control page.
#[derive(Debug)]
pub struct Control(Mapping);

impl Control {
    /// Maps the page.
    pub fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Mapping::new(fd, page(), 0, true).map(Self)
    }

    /// Records the owner: process, and name of the congestion control.
    pub fn claim(&self, name: &str) {
        let mut bytes = [0_u8; 16];
        let length = name.len().min(15);
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        let put = |word: usize, value: u64| self.0.store(word, value, Release);
        put(2, 0);
        put(3, std::process::id().into());
        for (word, bytes) in bytes.chunks_exact(8).enumerate() {
            put(4 + word, u64::from_le_bytes(std::array::from_fn(|index| bytes[index])));
        }
        put(0, LAYOUT);
    }

    /// It is of this version.
    pub fn is_ours(&self) -> bool {
        self.0.load(0, Acquire) == LAYOUT
    }

    /// The process that claimed it last.
    pub fn owner(&self) -> u32 {
        self.0.load(3, Acquire) as u32
    }

    /// Whether events wake the reader of the ring.
    pub fn set_quiet(&self, quiet: bool) {
        self.0.store(1, quiet.into(), Release);
    }

    /// Asks the owner to end.
    pub fn ask_to_stop(&self) {
        self.0.store(2, 1, Release);
    }

    /// Whether a process has asked the owner to end.
    pub fn stop_asked(&self) -> bool {
        self.0.load(2, Acquire) != 0
    }

    /// Counters of the kernel part.
    pub fn totals(&self) -> Totals {
        let get = |word: usize| self.0.load(word, Relaxed);
        Totals { flows: get(8), without_slot: get(9), lost_events: get(10), fallbacks: get(11) }
    }
}

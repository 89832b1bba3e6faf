//! Switches and counters of an object: `struct native_control` of its C side, in words of 64 bits.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::super::sys::{Mapping, is_alive, page};

/// Version of the page.
const LAYOUT: u64 = 1;

/// Counters of the programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections so far.
    pub flows: u64,
    /// Connections that have ended.
    pub ended: u64,
    /// Events that were decided.
    pub events: u64,
    /// ACKs among them.
    pub acks: u64,
    /// Connections without state, because memory ran out: Reno controls them.
    pub without_state: u64,
    /// ACKs under Reno.
    pub fallback_acks: u64,
    /// Events lost because the recording's ring was full.
    pub lost_records: u64,
    /// Events that were recorded.
    pub recorded: u64,
}

impl Totals {
    /// Connections now.
    pub const fn live(&self) -> u64 {
        self.flows.saturating_sub(self.ended)
    }
}

/// The page.
#[derive(Debug)]
pub struct Control(Mapping);

impl Control {
    /// Maps the page.
    pub fn new(map: BorrowedFd<'_>) -> io::Result<Self> {
        Mapping::new(map, page(), 0, true).map(Self)
    }

    /// Initializes a new page. User space polls the ring: no wake-ups.
    pub fn begin(&self) {
        self.0.store(2, 1, Release);
        self.0.store(0, LAYOUT, Release);
    }

    /// Switches recording on for connections that begin from now on, or off for all.
    pub fn set_recording(&self, on: bool) {
        self.0.store(3, if on { std::process::id().into() } else { 0 }, Release);
        self.0.store(1, on.into(), Release);
    }

    /// The process that records, if it is alive.
    pub fn recorder(&self) -> Option<u32> {
        let process = self.0.load(3, Acquire) as u32;
        (process != 0 && is_alive(process)).then_some(process)
    }

    /// Values of the counters.
    pub fn totals(&self) -> Totals {
        let get = |word: usize| self.0.load(word, Relaxed);
        Totals {
            flows: get(6),
            ended: get(7),
            events: get(8),
            acks: get(9),
            without_state: get(10),
            fallback_acks: get(11),
            lost_records: get(12),
            recorded: get(13),
        }
    }
}

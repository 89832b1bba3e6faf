//! Switches and counters of an object: `struct native_control` of its C side, in words of 64 bits.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::super::process::Owner;
use super::super::sys::{Guard, Mapping, now, page};

/// Version of the page.
const LAYOUT: u64 = 1;
/// Word of the recorder's beat, which no program of the kernel uses.
const BEAT: usize = 14;
/// Time without a beat after which a recorder of another PID namespace is dead, ns: its loop beats
/// every half millisecond, and a full disk may delay it.
const PATIENCE: u64 = 1_000_000_000;

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

    /// Switches recording on, for connections that begin from now on: until [`Self::end`], or until
    /// the process ends, however it ends.
    pub fn record(&self) -> io::Result<Guard> {
        let owner = Owner::own().word();
        let guard = self.0.clear_at_death((3, owner), 1)?;
        self.0.store(3, owner, Release);
        self.0.store(1, 1, Release);
        Ok(guard)
    }

    /// Ends this process's recording.
    pub fn end(&self) {
        self.0.clear((3, Owner::own().word()), 1);
    }

    /// This process still is the recorder.
    pub fn is_recorder(&self) -> bool {
        self.0.load(3, Acquire) == Owner::own().word()
    }

    /// Shows that the recorder lives: to be called several times a second.
    pub fn beat(&self) {
        self.0.store(BEAT, self.0.load(BEAT, Relaxed).wrapping_add(1), Relaxed);
    }

    /// The process that records. One whose number and start time are not of this namespace lives if
    /// its beat goes on; if not, it was killed, and its recording is ended here.
    pub fn recorder(&self) -> Option<u32> {
        let word = self.0.load(3, Acquire);
        let owner = Owner::from_words(word, 0);
        if word == 0 || owner.is_here() {
            return (word != 0).then_some(owner.process);
        }
        let (before, deadline) = (self.0.load(BEAT, Relaxed), now() + PATIENCE);
        while now() < deadline {
            if self.0.load(BEAT, Relaxed) != before {
                return Some(owner.process);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        self.0.clear((3, word), 1);
        None
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

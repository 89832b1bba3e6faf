//! Description of the loaded object, in a page that lives in the kernel with the programs.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::super::object::MapSpec;
use super::super::sys::Mapping;

/// Magic number and version of the page.
const LAYOUT: u64 = u64::from_le_bytes(*b"scabout\x02");
/// Words of the page, 4 KiB.
const WORDS: usize = 512;
/// Namespaces whose former default can be stored.
const DEFAULTS: usize = 8;
/// Offset of the defaults in the page: number and 16-byte name of each.
const DEFAULTS_AT: usize = 6;
/// Offset of the algorithm's label.
const LABEL_AT: usize = DEFAULTS_AT + 3 * DEFAULTS;
/// Offset of the head of a record: its length in bytes, then the bytes.
const HEAD_AT: usize = 128;
/// Largest head, in bytes: some hundred settings.
pub const LONGEST_HEAD: usize = 8 * (WORDS - HEAD_AT - 1);

/// Numbers of the maps that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// Of the registration.
    pub operations: u32,
    /// The map that holds the page.
    pub control: u32,
    /// Of the ring.
    pub records: u32,
}

/// The page.
#[derive(Debug)]
pub struct About(Mapping);

/// The map that the page is in.
pub fn spec() -> MapSpec {
    const ARRAY: u32 = 2;
    const MMAPABLE: u32 = 1 << 10;
    MapSpec {
        name: "about".to_owned(),
        kind: ARRAY,
        key_size: 4,
        value_size: 8 * WORDS as u32,
        entries: 1,
        flags: MMAPABLE,
        types: (0, 0),
        constants: Vec::new(),
    }
}

impl About {
    /// Maps the page.
    pub fn new(map: BorrowedFd<'_>) -> io::Result<Self> {
        Mapping::new(map, 8 * WORDS, 0, true).map(Self)
    }

    /// Writes the page. A label that is too long is truncated. `head` is the head
    /// of its records, at most `LONGEST_HEAD` bytes.
    pub fn fill(&self, name: &str, label: &str, head: &[u8], since: u64, numbers: Numbers) {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        self.0.store(1, two(numbers.operations, numbers.control), Release);
        self.0.store(2, numbers.records.into(), Release);
        self.0.store(3, since, Release);
        self.put_text(4, 6, name);
        self.put_text(LABEL_AT, HEAD_AT, label);
        self.0.store(HEAD_AT, head.len() as u64, Release);
        for (index, part) in head.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0.store(HEAD_AT + 1 + index, u64::from_le_bytes(word), Release);
        }
        self.0.store(0, LAYOUT, Release);
    }

    fn put_text(&self, from: usize, to: usize, text: &str) {
        let mut bytes = text.bytes();
        for word in from..to {
            // The last byte stays zero.
            let room = if word + 1 == to { 7 } else { 8 };
            let mut part = [0; 8];
            for (place, byte) in part[..room].iter_mut().zip(&mut bytes) {
                *place = byte;
            }
            self.0.store(word, u64::from_le_bytes(part), Release);
        }
    }

    fn text(&self, from: usize, to: usize) -> String {
        let bytes = (from..to).flat_map(|word| self.0.load(word, Acquire).to_le_bytes());
        String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<_>>()).into_owned()
    }

    /// It is of this version.
    pub fn is_ours(&self) -> bool {
        self.0.load(0, Acquire) == LAYOUT
    }

    /// Number of the map that is registered.
    pub fn operations(&self) -> u32 {
        self.0.load(1, Acquire) as u32
    }

    /// Number of the map of switches and counters.
    pub fn control(&self) -> u32 {
        (self.0.load(1, Acquire) >> 32) as u32
    }

    /// Number of the ring.
    pub fn records(&self) -> u32 {
        self.0.load(2, Acquire) as u32
    }

    /// Seconds since 1970 when it was loaded.
    pub fn since(&self) -> u64 {
        self.0.load(3, Acquire)
    }

    /// Name of the congestion control.
    pub fn name(&self) -> String {
        self.text(4, 6)
    }

    /// The algorithm with its parameters.
    pub fn label(&self) -> String {
        self.text(LABEL_AT, HEAD_AT)
    }

    /// The head of its records: [`crate::log::head`].
    pub fn head(&self) -> Vec<u8> {
        let length = (self.0.load(HEAD_AT, Acquire) as usize).min(LONGEST_HEAD);
        let words = HEAD_AT + 1..HEAD_AT + 1 + length.div_ceil(8);
        let mut bytes: Vec<u8> = words.flat_map(|word| self.0.load(word, Acquire).to_le_bytes()).collect();
        bytes.truncate(length);
        bytes
    }

    /// Stores the former default of a namespace. Without room for another namespace, stores
    /// nothing.
    pub fn remember(&self, namespace: u64, before: &str) {
        let rows = (0..DEFAULTS).map(|row| DEFAULTS_AT + 3 * row);
        let free = |at: &usize| [0, namespace].contains(&self.0.load(*at, Acquire));
        if let Some(at) = rows.into_iter().find(free) {
            self.put_text(at + 1, at + 3, before);
            self.0.store(at, namespace, Release);
        }
    }

    /// Former default of a namespace.
    pub fn remembered(&self, namespace: u64) -> Option<String> {
        let mut rows = (0..DEFAULTS).map(|row| DEFAULTS_AT + 3 * row);
        let at = rows.find(|at| self.0.load(*at, Acquire) == namespace)?;
        Some(self.text(at + 1, at + 3))
    }
}

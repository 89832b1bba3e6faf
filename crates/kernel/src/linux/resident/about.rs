//! Description of the loaded object, in a page that lives in the kernel with the programs.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::super::object::MapSpec;
use super::super::process::Owner;
use super::super::sys::Mapping;

/// Magic number and version of the page.
const LAYOUT: u64 = u64::from_le_bytes(*b"scabout\x02");
/// Words of the page, 4 KiB.
const WORDS: usize = 512;
/// Offset of the name.
const NAME_AT: usize = 4;
/// Offset of the algorithm's label.
const LABEL_AT: usize = 30;
/// Offset of the head of a record: its length in bytes, then the bytes.
const HEAD_AT: usize = 128;
/// Largest head, in bytes: some hundred settings.
pub const LONGEST_HEAD: usize = 8 * (WORDS - HEAD_AT - 1);

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
    pub fn fill(&self, name: &str, label: &str, head: &[u8], since: u64) {
        let own = Owner::own();
        self.0.store(1, own.word(), Release);
        self.0.store(2, own.namespace, Release);
        self.0.store(3, since, Release);
        self.put_text(NAME_AT, NAME_AT + 2, name);
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

    /// The process that loaded it.
    pub fn loader(&self) -> Owner {
        Owner::from_words(self.0.load(1, Acquire), self.0.load(2, Acquire))
    }

    /// Seconds since 1970 when it was loaded.
    pub fn since(&self) -> u64 {
        self.0.load(3, Acquire)
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
}

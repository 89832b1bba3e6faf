//! Data held by the receiver beyond the next expected byte.

use crate::packet::{Extra, MAXIMUM_SACK_BLOCKS};
use std::collections::VecDeque;

/// A block of bytes held out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    start: u64,
    end: u64,
    segments: u64,
}

/// Effect of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The next expected byte, with nothing held: the usual case.
    InOrder,
    /// The next expected byte, which connects to held data.
    FilledGap,
    /// Beyond a gap.
    OutOfOrder,
    /// Nothing new.
    Duplicate,
}

/// The receive sequence space of one connection.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    next: u64,
    delivered_segments: u64,
    /// Present once something has arrived out of order.
    held: Option<Box<Held>>,
    /// Whether data is held beyond a gap.
    has_gap: bool,
    /// Whether duplicates are reported (D-SACK).
    reports_duplicates: bool,
    /// Whether one is to be reported.
    has_duplicate: bool,
}

/// Data held beyond a gap.
#[derive(Clone, Debug, Default)]
struct Held {
    blocks: VecDeque<Block>,
    /// Beginnings and ends of the last reported blocks, the latest first: whole ones, since a block
    /// that grows is reported again, and those delivered since.
    recent: [(u64, u64); MAXIMUM_SACK_BLOCKS],
    recent_blocks: usize,
    /// The duplicate part of the last segment.
    duplicate: Option<(u64, u64)>,
}

impl Reassembly {
    /// Nothing has arrived. `reports_duplicates`: with D-SACK blocks.
    pub fn new(reports_duplicates: bool) -> Self {
        Self { reports_duplicates, ..Self::default() }
    }

    /// Next byte expected: everything before it has been delivered.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Byte after the highest that has arrived.
    pub fn highest(&self) -> u64 {
        let last = self.held.as_ref().and_then(|held| held.blocks.back());
        last.map_or(self.next, |block| block.end)
    }

    /// Next byte expected, and the one after the highest that has arrived.
    #[inline(always)]
    pub fn reached(&self) -> (u64, u64) {
        (self.next, if self.has_gap { self.highest() } else { self.next })
    }

    /// Discards data held beyond a gap.
    pub fn discard(&mut self) {
        (self.held, self.has_gap, self.has_duplicate) = (None, false, false);
    }

    /// Segments delivered in order.
    pub fn delivered_segments(&self) -> u64 {
        self.delivered_segments
    }

    /// Whether data is held beyond a gap.
    #[inline]
    pub fn has_gap(&self) -> bool {
        self.has_gap
    }

    /// Whether the next ACK carries SACK blocks.
    #[inline]
    pub fn has_blocks(&self) -> bool {
        self.has_gap | self.has_duplicate
    }

    /// A segment arrives.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> Arrival {
        if start == self.next && !self.has_gap {
            self.next = end;
            self.delivered_segments += 1;
            return Arrival::InOrder;
        }
        self.insert_with_gaps(start, end)
    }

    /// `segments` segments arrive in order, with nothing held, ending before `end`.
    pub fn insert_batch(&mut self, segments: u64, end: u64) {
        self.next = end;
        self.delivered_segments += segments;
    }

    fn insert_with_gaps(&mut self, start: u64, end: u64) -> Arrival {
        if self.reports_duplicates {
            self.note_duplicate(start, end);
        }
        if end <= self.next {
            return Arrival::Duplicate;
        }
        if start <= self.next {
            self.next = end;
            self.delivered_segments += 1;
            let Some(held) = &mut self.held else { return Arrival::FilledGap };
            while let Some(&block) = held.blocks.front()
                && block.start <= self.next
            {
                self.next = self.next.max(block.end);
                self.delivered_segments += block.segments;
                held.blocks.pop_front();
            }
            self.has_gap = !held.blocks.is_empty();
            return Arrival::FilledGap;
        }
        self.has_gap = true;
        self.held.get_or_insert_default().insert(start, end)
    }

    /// "A D-SACK block is only used to report a duplicate contiguous sequence of data received by
    /// the receiver in the most recent packet" (RFC 2883, section 4): the part of the segment that
    /// was there already, below the next expected byte or in the first block that it meets.
    #[inline(never)]
    fn note_duplicate(&mut self, start: u64, end: u64) {
        let duplicate = if start < self.next {
            Some((start, end.min(self.next)))
        } else {
            let blocks = self.held.iter().flat_map(|held| &held.blocks);
            let mut common = blocks.map(|block| (start.max(block.start), end.min(block.end)));
            common.find(|(from, to)| from < to)
        };
        self.has_duplicate = duplicate.is_some();
        if let Some(held) = self.held.as_deref_mut() {
            held.duplicate = duplicate;
        } else if self.has_duplicate {
            self.held = Some(Box::new(Held { duplicate, ..Held::default() }));
        }
    }

    /// Writes at most `room` SACK blocks: a duplicate, once, then those held, the last reported
    /// first.
    pub fn sack_blocks(&mut self, extra: &mut Extra, room: usize) {
        self.has_duplicate = false;
        if let Some(held) = &mut self.held {
            held.sack_blocks(self.next, extra, room);
        }
    }
}

impl Held {
    /// A segment beyond a gap.
    fn insert(&mut self, start: u64, end: u64) -> Arrival {
        // The first block that ends at or after the segment's beginning, which it may touch: mostly
        // the last.
        let index = match self.blocks.back() {
            Some(last) if last.end < start => self.blocks.len(),
            Some(last) if last.start <= start => self.blocks.len() - 1,
            _ => self.blocks.partition_point(|block| block.end < start),
        };
        let mut merged = Block { start, end, segments: 1 };
        let mut absorbed = 0;
        while let Some(&block) = self.blocks.get(index + absorbed)
            && block.start <= end
        {
            if block.start <= start && end <= block.end {
                self.note_recent(block);
                return Arrival::Duplicate;
            }
            merged = Block {
                start: merged.start.min(block.start),
                end: merged.end.max(block.end),
                segments: merged.segments + block.segments,
            };
            absorbed += 1;
        }
        match absorbed {
            0 => self.blocks.insert(index, merged),
            _ => {
                self.blocks[index] = merged;
                for _ in 1..absorbed {
                    self.blocks.remove(index + 1);
                }
            }
        }
        self.note_recent(merged);
        Arrival::OutOfOrder
    }

    /// "The first SACK block MUST specify the contiguous block of data containing the segment which
    /// triggered this ACK" (RFC 2018, section 4), so this block goes to the front.
    fn note_recent(&mut self, block: Block) {
        let mut kept = 1;
        let old = self.recent;
        for &(start, end) in &old[..self.recent_blocks] {
            let is_part = block.start <= start && start < block.end;
            if !is_part && kept < MAXIMUM_SACK_BLOCKS {
                self.recent[kept] = (start, end);
                kept += 1;
            }
        }
        self.recent[0] = (block.start, block.end);
        self.recent_blocks = kept;
    }

    /// Writes at most `room` SACK blocks, the last reported first.
    fn sack_blocks(&mut self, next: u64, extra: &mut Extra, room: usize) {
        let held = self.recent[..self.recent_blocks].iter().filter(|(start, _)| *start >= next);
        let mut count = 0;
        // "The first SACK block in the SACK option specifies the duplicate sequence", and a larger
        // block that holds it comes second (RFC 2883, section 4): `note_recent` put it in front.
        for (place, block) in
            extra.sack[..room].iter_mut().zip(self.duplicate.take().into_iter().chain(held.copied()))
        {
            *place = block;
            count += 1;
        }
        extra.sack_blocks = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(reassembly: &mut Reassembly, room: usize) -> Vec<(u64, u64)> {
        let mut extra = Extra::default();
        reassembly.sack_blocks(&mut extra, room);
        extra.sack[..extra.sack_blocks as usize].to_vec()
    }

    /// RFC 2018, section 4, case 3 of the examples: segments 5000 and every second one lost.
    #[test]
    fn the_latest_block_comes_first() {
        let mut reassembly = Reassembly { next: 5000, ..Reassembly::default() };
        for start in [5500, 6500, 7500, 8500] {
            assert_eq!(reassembly.insert(start, start + 500), Arrival::OutOfOrder);
        }
        assert_eq!(blocks(&mut reassembly, 3), [(8500, 9000), (7500, 8000), (6500, 7000)]);
        // The fourth segment is received out of order: it joins two blocks.
        reassembly.insert(7000, 7500);
        assert_eq!(blocks(&mut reassembly, 3), [(6500, 8000), (8500, 9000), (5500, 6000)]);
        assert_eq!(reassembly.insert(5000, 5500), Arrival::FilledGap);
        assert_eq!(reassembly.next(), 6000);
        assert_eq!(blocks(&mut reassembly, 3), [(6500, 8000), (8500, 9000)]);
    }

    /// RFC 2883, section 4: below the cumulative ACK, in a block beyond it, and part of a segment.
    #[test]
    fn a_duplicate_is_reported_first_and_once() {
        let mut reassembly = Reassembly { next: 4000, ..Reassembly::new(true) };
        assert_eq!(reassembly.insert(3000, 3500), Arrival::Duplicate);
        assert!(reassembly.has_blocks() && !reassembly.has_gap());
        assert_eq!(blocks(&mut reassembly, 3), [(3000, 3500)]);
        assert!(!reassembly.has_blocks());
        reassembly.insert(4500, 5000);
        reassembly.insert(5000, 5500);
        assert_eq!(blocks(&mut reassembly, 3), [(4500, 5500)]);
        assert_eq!(reassembly.insert(5000, 5500), Arrival::Duplicate);
        assert_eq!(blocks(&mut reassembly, 3), [(5000, 5500), (4500, 5500)]);
        assert_eq!(blocks(&mut reassembly, 3), [(4500, 5500)]);
        assert_eq!(reassembly.insert(3500, 4500), Arrival::FilledGap);
        assert_eq!(blocks(&mut reassembly, 3), [(3500, 4000)]);
        assert_eq!(reassembly.next(), 5500);
    }

    #[test]
    fn what_is_discarded_has_not_arrived() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(0, 500);
        assert_eq!(reassembly.highest(), 500);
        reassembly.insert(1000, 1500);
        assert_eq!(reassembly.highest(), 1500);
        reassembly.discard();
        assert_eq!((reassembly.next(), reassembly.highest(), reassembly.has_gap()), (500, 500, false));
        assert_eq!(blocks(&mut reassembly, 3), []);
        reassembly.insert(500, 1000);
        assert_eq!((reassembly.next(), reassembly.delivered_segments()), (1000, 2));
    }

    proptest! {
        /// Against a set of bytes: what is delivered, what is held and what is reported.
        #[test]
        fn holds_what_arrived(arrivals in proptest::collection::vec((0_u64..40, 1_u64..4), 1..80)) {
            let mut reassembly = Reassembly::default();
            let mut held = [false; 64];
            for (start, length) in arrivals {
                reassembly.insert(start, start + length);
                for byte in start..start + length { held[byte as usize] = true; }
                let next = held.iter().position(|&byte| !byte).unwrap_or(64) as u64;
                prop_assert_eq!(reassembly.next(), next);
                prop_assert_eq!(reassembly.has_gap(), held[next as usize..].contains(&true));
                for (from, to) in blocks(&mut reassembly, 4) {
                    prop_assert!(from > next && held[from as usize..to as usize].iter().all(|&byte| byte));
                    prop_assert!(!held[to as usize] && !held[from as usize - 1], "a whole block");
                }
            }
        }
    }
}

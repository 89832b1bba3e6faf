//! The segments outstanding, and the state of each.
//!
//! Work per acknowledgement is constant on average, however many segments are in flight and however
//! many holes there are: stretches of SACKed segments are skipped in one step, and the edge below
//! which holes count as lost and the place to look for the next retransmission only move forward.

use crate::engine::Ring;
use selfclock_congestion::units::Time;

/// DupThresh of RFC 6675 and RFC 5681.
pub const DUPLICATE_THRESHOLD: u32 = 3;

/// A segment that was sent and is not acknowledged cumulatively.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// First payload byte.
    pub sequence: u64,
    /// When it was last sent.
    pub sent: Time,
    /// At both ends of a stretch of SACKed segments: distance to the other end. Meaningless
    /// elsewhere.
    stretch: u32,
    /// Payload, bytes: limited by the size of an IP packet.
    pub length: u16,
    flags: u8,
}

const _: () = assert!(size_of::<Segment>() == 24, "a window of segments is passed over once per round trip");

/// Distance, in segments, of the prefetch for a flow's next ACKs: beyond the cache line of the
/// first, which has two or three.
const PREFETCHED: usize = 4;

pub(super) const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Retransmitted since it was marked lost, and not known to have arrived.
const RESENT: u8 = 4;
/// Sent more than once.
pub(super) const RETRANSMITTED: u8 = 8;
/// Retransmitted by the retransmission timer.
const TIMED_OUT: u8 = 16;

impl Segment {
    pub(super) const fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
    /// Byte after the last.
    pub const fn end(&self) -> u64 {
        self.sequence + self.length as u64
    }
    /// Whether the receiver has reported it.
    pub const fn is_sacked(&self) -> bool {
        self.is(SACKED)
    }
    /// Whether it is lost and not yet retransmitted.
    pub const fn awaits_retransmission(&self) -> bool {
        self.flags & (LOST | RESENT) == LOST
    }
    /// Whether it was lost, and its retransmission is in the network.
    pub const fn is_resent(&self) -> bool {
        self.is(RESENT)
    }
    /// Whether it was sent more than once.
    pub const fn was_retransmitted(&self) -> bool {
        self.is(RETRANSMITTED)
    }
    /// Whether the retransmission timer caused its retransmission.
    pub const fn had_timed_out(&self) -> bool {
        self.is(TIMED_OUT)
    }
}

/// Segments that a cumulative ACK removed from the scoreboard.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advance {
    /// Payload newly acknowledged, bytes.
    pub bytes: u64,
    /// Send time of the newest segment sent only once.
    pub newest_sent_once: Option<Time>,
    /// Send time of the oldest segment sent only once.
    pub oldest_sent_once: Option<Time>,
    /// Whether any segment had been sent more than once.
    pub any_retransmitted: bool,
}

impl Advance {
    #[inline]
    fn note_sent_once(&mut self, sent: Time) {
        self.oldest_sent_once.get_or_insert(sent);
        self.newest_sent_once = Some(sent);
    }
}

/// Retransmitted segments outstanding of which the receiver has two copies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Duplicates {
    /// Their number.
    pub segments: u32,
    /// First byte of the first that is SACKed.
    pub first_sacked: Option<u64>,
}

/// The outstanding segments, in sequence. Fields used by every ACK come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    pub(super) segments: Ring<Segment>,
    /// Number of the first segment outstanding; numbers count all segments ever sent.
    pub(super) first: u64,
    outstanding: u64,
    sacked: u64,
    lost: u64,
    resent: u64,
    /// Every segment below this number that is not SACKed is lost: at least three SACKed segments
    /// follow.
    pub(super) edge: u64,
    /// No segment with a smaller number awaits retransmission.
    pub(super) retransmit_from: u64,
    pub(super) sacked_from_edge: u32,
    /// No segment below this number is possibly lost: see [`Scoreboard::next_possibly_lost`].
    pub(super) possibly_lost_from: u64,
    /// Byte after the highest SACKed segment.
    pub(super) highest_sacked_end: u64,
    /// Total payload marked lost, each time counted.
    lost_total: u64,
}

impl Scoreboard {
    /// New data was sent.
    #[inline]
    pub fn push(&mut self, sequence: u64, length: u16, now: Time) {
        let segment = self.segments.push_place();
        (segment.sequence, segment.sent, segment.length) = (sequence, now, length);
        (segment.stretch, segment.flags) = (0, 0);
        self.outstanding += u64::from(length);
    }

    /// Prefetches the first outstanding segment and the slot of the next one.
    #[inline(always)]
    pub fn prefetch(&self) {
        self.segments.prefetch(0);
        self.segments.prefetch_end();
    }

    /// Nothing is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Number of segments outstanding.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// The first segment outstanding.
    pub fn front(&self) -> Option<&Segment> {
        self.segments.front()
    }

    /// Payload outstanding: FlightSize of RFC 5681.
    #[inline]
    pub fn outstanding_bytes(&self) -> u64 {
        self.outstanding
    }

    /// Payload SACKed.
    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked
    }

    /// Payload believed to be in the network: outstanding, less SACKed or lost, plus
    /// retransmissions. This is "pipe" of RFC 6675.
    #[inline]
    pub fn pipe_bytes(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.resent
    }

    /// Payload marked lost and not yet retransmitted.
    pub fn bytes_to_retransmit(&self) -> u64 {
        self.lost - self.resent
    }

    /// Payload marked lost since the connection began; a segment counts each time.
    pub fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// The receiver has everything below `acknowledgement`.
    #[inline(always)]
    pub fn advance(&mut self, acknowledgement: u64) -> Advance {
        self.segments.prefetch(PREFETCHED);
        // The usual case: one segment, sent once, with no other state, and the same for the next.
        if let Some(&segment) = self.segments.front()
            && segment.end() == acknowledgement
            && segment.flags == 0
            && self.outstanding_is_plain()
        {
            self.segments.drop_front();
            self.first += 1;
            self.edge = self.first;
            self.retransmit_from = self.first;
            self.outstanding -= u64::from(segment.length);
            let bytes = u64::from(segment.length);
            let sent = Some(segment.sent);
            return Advance {
                bytes,
                newest_sent_once: sent,
                oldest_sent_once: sent,
                any_retransmitted: false,
            };
        }
        self.advance_over_any(acknowledgement)
    }

    /// Whether nothing outstanding is SACKed or lost.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.sacked | self.lost == 0
    }

    /// The same, and no marker is ahead of the first segment.
    #[inline]
    fn outstanding_is_plain(&self) -> bool {
        self.is_plain() && self.edge <= self.first + 1 && self.retransmit_from <= self.first + 1
    }

    fn advance_over_any(&mut self, acknowledgement: u64) -> Advance {
        let mut advance = Advance::default();
        let mut stretch_left = 0;
        while let Some(&segment) = self.segments.front() {
            if segment.end() > acknowledgement {
                break;
            }
            self.segments.drop_front();
            let number = self.first;
            self.first += 1;
            advance.bytes += u64::from(segment.length);
            self.outstanding -= u64::from(segment.length);
            if segment.flags == 0 {
                advance.note_sent_once(segment.sent);
                continue;
            }
            if segment.is(SACKED) {
                stretch_left = if stretch_left == 0 { segment.stretch } else { stretch_left - 1 };
                self.sacked -= u64::from(segment.length);
                if number >= self.edge {
                    self.sacked_from_edge -= 1;
                }
            } else if !segment.is(RETRANSMITTED) {
                advance.note_sent_once(segment.sent);
            }
            self.forget_loss(&segment);
            advance.any_retransmitted |= segment.is(RETRANSMITTED);
        }
        // A cumulative ACK that ends inside a stretch of SACKed segments cuts it.
        if stretch_left > 0
            && let Some(front) = self.segments.front_mut()
        {
            front.stretch = stretch_left - 1;
            if let Some(end) = self.segments.get_mut(stretch_left as usize - 1) {
                end.stretch = stretch_left - 1;
            }
        }
        // One that ends inside a segment leaves its rest.
        if let Some(front) = self.segments.front_mut()
            && front.sequence < acknowledgement
        {
            let cut = (acknowledgement - front.sequence) as u16;
            let part = u64::from(cut);
            front.sequence = acknowledgement;
            front.length -= cut;
            let flags = front.flags;
            advance.bytes += part;
            self.outstanding -= part;
            self.sacked -= if flags & SACKED != 0 { part } else { 0 };
            self.lost -= if flags & LOST != 0 { part } else { 0 };
            self.resent -= if flags & RESENT != 0 { part } else { 0 };
        }
        self.edge = self.edge.max(self.first);
        self.retransmit_from = self.retransmit_from.max(self.first);
        advance
    }

    fn forget_loss(&mut self, segment: &Segment) {
        if segment.is(LOST) {
            self.lost -= u64::from(segment.length);
        }
        if segment.is(RESENT) {
            self.resent -= u64::from(segment.length);
        }
    }

    /// The receiver holds the bytes from `start` to before `end`. Returns the newly SACKed payload.
    #[cfg(test)]
    pub fn sack(&mut self, start: u64, end: u64) -> u64 {
        self.sack_each(start, end, |_, _| {})
    }

    /// Like [`Scoreboard::sack`]; calls `news_of` with index and former state of each newly SACKed
    /// segment.
    pub fn sack_each(&mut self, start: u64, end: u64, mut news_of: impl FnMut(usize, &Segment)) -> u64 {
        let mut news = 0;
        let mut index = self.first_from(start);
        while let Some(&segment) = self.segments.get(index) {
            if segment.end() > end {
                break;
            }
            if segment.is(SACKED) {
                // Inside a stretch only if the peer reports a block that begins inside an earlier
                // one; `stretch` is meaningless there, so step one by one to its end.
                let begins_stretch = index == 0 || !self.segments[index - 1].is(SACKED);
                index += if begins_stretch { segment.stretch as usize + 1 } else { 1 };
                continue;
            }
            news_of(index, &segment);
            self.forget_loss(&segment);
            self.sacked += u64::from(segment.length);
            news += u64::from(segment.length);
            if self.first + index as u64 >= self.edge {
                self.sacked_from_edge += 1;
            }
            self.segments[index].flags = segment.flags & !(LOST | RESENT) | SACKED;
            self.join_stretches(index);
            self.highest_sacked_end = self.highest_sacked_end.max(segment.end());
            index += 1;
        }
        news
    }

    /// Index of the first segment that begins at or after `start`. With segments of one size it is
    /// computed directly; a search costs a memory access per bisection step.
    fn first_from(&self, start: u64) -> usize {
        let place = self.segments.front().and_then(|first| {
            let place = start.checked_sub(first.sequence)? / u64::from(first.length.max(1));
            usize::try_from(place).ok()
        });
        match place.and_then(|place| Some((place, self.segments.get(place)?))) {
            Some((place, segment)) if segment.sequence == start => place,
            _ => self.segments.partition_point(|segment| segment.sequence < start),
        }
    }

    /// Joins a newly SACKed segment with the stretches on both sides.
    fn join_stretches(&mut self, index: usize) {
        let left = match index.checked_sub(1).map(|left| self.segments[left]) {
            Some(segment) if segment.is(SACKED) => index - 1 - segment.stretch as usize,
            _ => index,
        };
        let right = match self.segments.get(index + 1) {
            Some(segment) if segment.is(SACKED) => index + 1 + segment.stretch as usize,
            _ => index,
        };
        let stretch = (right - left) as u32;
        self.segments[left].stretch = stretch;
        self.segments[right].stretch = stretch;
    }

    pub(super) fn mark_lost(&mut self, index: usize) -> bool {
        let segment = &mut self.segments[index];
        if segment.is(SACKED) || segment.is(LOST) {
            return false;
        }
        segment.flags |= LOST;
        self.lost += u64::from(segment.length);
        self.lost_total += u64::from(segment.length);
        true
    }

    /// The receiver has discarded reported data: clears all SACK marks. Returns their indices.
    pub fn forget_sacks(&mut self) -> Vec<usize> {
        let sacked = (0..self.len()).filter(|&index| self.segments[index].is(SACKED)).collect();
        self.segments.for_each_mut(|segment| segment.flags &= !SACKED);
        (self.sacked, self.sacked_from_edge, self.highest_sacked_end) = (0, 0, 0);
        (self.edge, self.possibly_lost_from) = (self.first, self.first);
        sacked
    }

    /// Marks the first outstanding segment lost, even if it was retransmitted.
    pub fn mark_first_lost(&mut self) {
        if !self.segments.is_empty() {
            self.mark_lost_again(0);
        }
    }

    /// Marks the segment at this index lost, even if it was retransmitted.
    pub fn mark_lost_again(&mut self, index: usize) {
        self.mark_lost(index);
        let segment = &mut self.segments[index];
        if segment.is(RESENT) {
            self.resent -= u64::from(segment.length);
            self.lost_total += u64::from(segment.length);
            segment.flags &= !RESENT;
        }
        self.retransmit_from = self.retransmit_from.min(self.first + index as u64);
    }

    /// The segment at this index is retransmitted as a probe: not marked lost, and counted once.
    pub fn probe(&mut self, index: usize, now: Time) -> Segment {
        let segment = &mut self.segments[index];
        segment.sent = now;
        segment.flags |= RETRANSMITTED;
        *segment
    }

    /// Marks everything without a SACK lost, retransmissions included: the retransmission timer
    /// expired.
    pub fn mark_all_lost(&mut self) {
        self.lost_total += self.pipe_bytes();
        self.segments.for_each_mut(|segment| {
            if !segment.is(SACKED) {
                segment.flags = segment.flags & !RESENT | LOST;
            }
        });
        self.lost = self.outstanding - self.sacked;
        self.resent = 0;
        self.retransmit_from = self.first;
    }

    /// The outstanding retransmitted segments within this range: what of it D-SACK reports.
    pub fn retransmitted_within(&self, start: u64, end: u64) -> Duplicates {
        let mut duplicates = Duplicates::default();
        let mut index = self.first_from(start);
        while let Some(segment) = self.segments.get(index).filter(|segment| segment.end() <= end) {
            if segment.is(RETRANSMITTED) {
                duplicates.segments += 1;
                if segment.is(SACKED) {
                    duplicates.first_sacked.get_or_insert(segment.sequence);
                }
            }
            index += 1;
        }
        duplicates
    }

    /// Payload of retransmissions in the network.
    pub fn resent_bytes(&self) -> u64 {
        self.resent
    }

    /// Clears all loss marks, and counts each segment in flight once.
    pub fn unmark_losses(&mut self) {
        self.segments.for_each_mut(|segment| segment.flags &= !(LOST | RESENT));
        (self.lost, self.resent) = (0, 0);
    }

    /// The retransmission timer retransmits the first outstanding segment.
    pub fn note_timeout_of_first(&mut self) {
        if let Some(first) = self.segments.front_mut() {
            first.flags |= TIMED_OUT;
        }
    }

    /// Index of the first segment that is lost and not retransmitted.
    #[inline(always)]
    pub fn next_retransmission(&mut self) -> Option<usize> {
        if self.lost == self.resent {
            return None;
        }
        while let Some(segment) = self.segments.get((self.retransmit_from - self.first) as usize) {
            if segment.is(LOST) && !segment.is(RESENT) {
                return Some((self.retransmit_from - self.first) as usize);
            }
            self.retransmit_from += 1;
        }
        None
    }

    /// The segment at this index is retransmitted now.
    pub fn retransmit(&mut self, index: usize, now: Time) -> Segment {
        // A possibly lost segment is marked lost from now on, so that it is counted once.
        self.mark_lost(index);
        let segment = &mut self.segments[index];
        segment.sent = now;
        if !segment.is(RESENT) {
            self.resent += u64::from(segment.length);
        }
        segment.flags |= RESENT | RETRANSMITTED;
        *segment
    }

    /// Recomputes the counters segment by segment, for tests.
    #[cfg(test)]
    pub fn check(&self) {
        let sum = |flag| {
            let of_flag = self.segments.iter().filter(|segment| segment.is(flag));
            of_flag.map(|segment| u64::from(segment.length)).sum::<u64>()
        };
        assert_eq!(
            self.outstanding,
            self.segments.iter().map(|segment| u64::from(segment.length)).sum::<u64>()
        );
        assert_eq!((self.sacked, self.lost, self.resent), (sum(SACKED), sum(LOST), sum(RESENT)));
        let mut index = 0;
        while index < self.segments.len() {
            if !self.segments[index].is(SACKED) {
                index += 1;
                continue;
            }
            let stretch = self.segments.iter().skip(index).take_while(|segment| segment.is(SACKED)).count();
            assert_eq!(self.segments[index].stretch as usize, stretch - 1, "start of stretch at {index}");
            assert_eq!(
                self.segments[index + stretch - 1].stretch as usize,
                stretch - 1,
                "end of stretch at {index}"
            );
            index += stretch;
        }
        let from_edge = self.segments.iter().skip((self.edge - self.first) as usize);
        assert_eq!(self.sacked_from_edge as usize, from_edge.filter(|segment| segment.is(SACKED)).count());
    }
}

impl std::ops::Index<usize> for Scoreboard {
    type Output = Segment;
    /// The outstanding segment at this index, counted from the first.
    fn index(&self, index: usize) -> &Segment {
        &self.segments[index]
    }
}

/// This number of segments of 1000 bytes, sent at time zero.
#[cfg(test)]
pub(super) fn full(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for number in 0..segments {
        board.push(number * 1000, 1000, Time::ZERO);
    }
    board
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn after_a_timeout_everything_not_sacked_is_retransmitted_in_order() {
        let mut board = full(5);
        board.sack(2000, 3000);
        board.mark_all_lost();
        assert_eq!(board.pipe_bytes(), 0);
        let mut again = Vec::new();
        while let Some(index) = board.next_retransmission() {
            again.push(board.retransmit(index, Time::ZERO).sequence);
        }
        assert_eq!(again, [0, 1000, 3000, 4000]);
        assert_eq!(board.pipe_bytes(), 4000);
    }

    /// Ten thousand holes in fifty thousand segments: every segment is visited a bounded number of
    /// times. A walk over the window per ACK would take 2·10^9 steps and this test minutes.
    #[test]
    fn ten_thousand_holes() {
        let mut board = full(50_000);
        for hole in 0..10_000_u64 {
            let first = hole * 5 + 1;
            for segment in first..first + 4 {
                board.sack(first * 1000, (segment + 1) * 1000);
                board.mark_lost_below_edge();
                if let Some(index) = board.next_retransmission() {
                    board.retransmit(index, Time::ZERO);
                }
            }
        }
        board.check();
        // All but the last holes need three segments above: all 10,000 have four.
        assert_eq!(board.bytes_to_retransmit(), 0);
        assert_eq!(board.pipe_bytes(), 10_000_000);
        for hole in 0..10_000_u64 {
            board.advance((hole + 1) * 5000);
        }
        assert!(board.is_empty());
    }

    proptest! {
        #[test]
        fn counters_and_stretches_stay_right(steps in proptest::collection::vec((0_u8..7, 0_u64..60, 1_u64..8), 1..120)) {
            let mut board = full(40);
            let mut next = 40_000;
            let mut una = 0;
            for (step, place, length) in steps {
                match step {
                    0 => { board.push(next, 1000, Time::ZERO); next += 1000; }
                    1 => {
                        let to = (una + place * 250).min(next);
                        let before = una;
                        una = una.max(to);
                        prop_assert_eq!(board.advance(to).bytes, una - before);
                    }
                    2 | 3 => {
                        let start = una / 1000 * 1000 + place * 1000;
                        board.sack(start, (start + length * 1000).min(next));
                    }
                    4 => { board.mark_lost_below_edge(); }
                    5 => { board.mark_all_lost(); }
                    _ => if let Some(index) = board.next_retransmission().or_else(|| board.next_possibly_lost()) {
                        board.retransmit(index, Time::ZERO);
                    }
                }
                board.check();
                prop_assert!(board.pipe_bytes() <= board.outstanding_bytes());
            }
        }
    }
}

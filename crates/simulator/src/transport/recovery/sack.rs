//! Recovery by selective ACKs: "IsLost ()" and "NextSeg ()" of RFC 6675. "Update ()" and "SetPipe
//! ()" are the scoreboard's counters.

use super::scoreboard::{DUPLICATE_THRESHOLD, RETRANSMITTED, SACKED, Scoreboard};

impl Scoreboard {
    /// Marks segments lost by IsLost: "Either DupThresh discontiguous SACKed sequences have arrived
    /// above 'SeqNum' or more than (DupThresh - 1) * SMSS bytes with sequence numbers greater than
    /// 'SeqNum' have been SACKed." With full segments: three SACKed segments follow. True if a
    /// segment was newly marked.
    pub fn mark_lost_below_edge(&mut self) -> bool {
        let mut marked = false;
        while self.sacked_from_edge >= DUPLICATE_THRESHOLD {
            let index = (self.edge - self.first) as usize;
            if self.segments[index].is(SACKED) {
                if self.sacked_from_edge == DUPLICATE_THRESHOLD {
                    break;
                }
                self.sacked_from_edge -= 1;
            } else {
                marked |= self.mark_lost(index);
            }
            self.edge += 1;
        }
        marked
    }

    /// A loss recovery begins: "Upon the receipt of [...] DupAcks equal to DupThresh" or "if
    /// DupAcks < DupThresh but IsLost (HighACK + 1) returns true" (section 5).
    pub fn begins_recovery(&self, duplicates: u32) -> bool {
        self.bytes_to_retransmit() > 0 || duplicates >= DUPLICATE_THRESHOLD
    }

    /// Index of the first segment above every retransmission and below the highest SACKed one that
    /// is neither SACKed nor retransmitted: rule 3 of NextSeg.
    pub fn next_possibly_lost(&mut self) -> Option<usize> {
        self.possibly_lost_from = self.possibly_lost_from.max(self.retransmit_from).max(self.edge);
        while let Some(segment) = self.segments.get((self.possibly_lost_from - self.first) as usize)
            && segment.sequence < self.highest_sacked_end
        {
            if !segment.is(SACKED) && !segment.is(RETRANSMITTED) {
                return Some((self.possibly_lost_from - self.first) as usize);
            }
            self.possibly_lost_from += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::full;
    use selfclock_congestion::units::Time;

    #[test]
    fn three_sacked_segments_above_make_a_hole_lost() {
        let mut board = full(10);
        board.sack(1000, 2000);
        board.sack(3000, 4000);
        assert!(!board.mark_lost_below_edge());
        board.sack(5000, 6000);
        assert!(board.mark_lost_below_edge());
        // Hole 0 has three above it; holes 2 and 4 have two and one.
        assert_eq!(board.next_retransmission(), Some(0));
        assert_eq!(board.bytes_to_retransmit(), 1000);
        assert_eq!(board.pipe_bytes(), 6000);
        board.retransmit(0, Time::ZERO);
        assert_eq!(board.next_retransmission(), None);
        assert_eq!(board.pipe_bytes(), 7000);
        assert_eq!(board.next_possibly_lost(), Some(2));
    }
}

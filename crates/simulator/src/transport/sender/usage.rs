//! How much of the window a sender uses.
//!
//! A window that is not used tells nothing about the path, and does not grow (RFC 7661). One moment
//! is no measure: an ACK may find the application silent in a round trip that the window limited,
//! or a burst of it in one that the window did not. Linux therefore remembers the strongest sign
//! within a window of data (`tcp_cwnd_validate`), and so does this.

/// Use of the window in the current window of data. Numbers are of payload, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowUse {
    /// Whether the window has limited the sender.
    limited: bool,
    /// Otherwise: the most in flight.
    most: u64,
    /// SND.NXT when it began.
    until: u64,
    /// SND.NXT when the window was last full.
    full_until: u64,
}

/// Reason for the end of a round of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The window is full.
    Window,
    /// Pacer, shaper or allowance hold back what may leave later.
    Held,
    /// The application has no more, or the receiver takes no more.
    Data,
}

impl WindowUse {
    /// Nothing sent yet: the initial window counts as used.
    pub const fn new() -> Self {
        Self { limited: true, most: 0, until: 0, full_until: 0 }
    }

    /// Whether the window limits the sender.
    #[inline(always)]
    pub const fn is_limited(&self) -> bool {
        self.limited
    }

    /// The most in flight in a window of data that the window has not limited, bytes.
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// A round of sending has ended, limited by the window or not, with this much in flight.
    /// `range`: SND.UNA and SND.NXT.
    #[inline(always)]
    pub fn note(&mut self, limited: bool, in_flight: u64, range: (u64, u64)) {
        if limited {
            self.full_until = range.1;
        }
        self.remember(limited, in_flight, range);
    }

    #[inline(always)]
    fn remember(&mut self, limited: bool, in_flight: u64, (una, next): (u64, u64)) {
        if limited || una >= self.until || !self.limited && in_flight > self.most {
            *self = Self { limited, most: in_flight, until: next, full_until: self.full_until };
        }
    }

    /// The next segment is held back. "A sender that is pacing packets [...] SHOULD NOT consider
    /// itself application limited if it would have fully utilized the congestion window without
    /// pacing delay" (RFC 9002, section 7.8): `fills`. A rate that does not follow the window never
    /// fills it, however large it becomes; so half of it must be in use, as in RFC 7661, section
    /// 4.3. A window that was full stays limited for its round trip, although it may have jumped
    /// since: only then can its pacing have filled it.
    pub fn note_held(&mut self, fills: bool, window: u64, in_flight: u64, range: (u64, u64)) {
        let most = if range.0 < self.until { self.most.max(in_flight) } else { in_flight };
        let half_used = window <= most.saturating_mul(2);
        self.limited &= half_used || range.0 < self.full_until;
        self.remember(fills && half_used, in_flight, range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limited at one moment: limited until what was then outstanding is acknowledged.
    #[test]
    fn the_strongest_sign_of_a_window_of_data_counts() {
        let mut used = WindowUse::new();
        used.note(true, 10, (0, 10));
        used.note(false, 9, (1, 10));
        used.note(false, 1, (9, 10));
        assert!(used.is_limited());
        used.note(false, 3, (10, 13));
        assert!(!used.is_limited());
        used.note(true, 10, (11, 21));
        assert!(used.is_limited());
    }

    /// RFC 9002, section 7.8, with a window of ten: seven in flight and more than three waiting
    /// would fill it; seven and two would not; four in flight are less than half.
    #[test]
    fn a_held_segment_counts_only_with_a_used_window() {
        for (fills, in_flight, limited) in
            [(true, 7, true), (false, 7, false), (true, 5, true), (true, 4, false)]
        {
            let mut used = WindowUse::new();
            used.note(false, 1, (0, 1));
            used.note_held(fills, 10, in_flight, (0, 7));
            assert_eq!(used.is_limited(), limited, "{in_flight}");
        }
        // The most of the round trip, not of the moment.
        for (una, limited) in [(5, true), (6, false)] {
            let mut used = WindowUse::new();
            used.note(true, 6, (0, 6));
            used.note_held(true, 10, 2, (una, 7));
            assert_eq!(used.is_limited(), limited);
        }
        // A window of 6, full, that jumps to 40: it counts for its round trip, not for the next.
        let mut used = WindowUse::new();
        used.note(true, 6, (0, 6));
        used.note_held(true, 40, 6, (3, 9));
        assert!(used.is_limited());
        used.note_held(true, 40, 6, (6, 12));
        assert!(!used.is_limited());
    }
}

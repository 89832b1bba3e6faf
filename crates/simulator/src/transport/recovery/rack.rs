//! RACK: a segment is lost if another one sent a reordering window later has been delivered (RFC
//! 8985).
//!
//! The segments believed to be in the network are in a list in the order of their last
//! transmission, so that candidates for loss are at its head. Every segment enters the list once
//! per transmission and leaves it once, and an ACK examines one more than it removes: constant work
//! per ACK on average.
//!
//! At equal times the RFC takes the segment with the higher sequence number as sent later; here the
//! order of transmission is known and decides.
//!
//! Names in quotation marks are those of the RFC. As in Linux, D-SACK widens the reordering window
//! only where reordering was seen, and not for a tail loss probe (`tcp_dsack_seen`).

use super::scoreboard::{DUPLICATE_THRESHOLD, Scoreboard, Segment};
use crate::engine::Ring;
use selfclock_congestion::units::{Duration, Time};

/// No segment.
const NONE: u64 = u64::MAX;

/// Number of recoveries for which a wider reordering window persists: "RACK.reo_wnd_persist = 16".
const PERSISTENCE: u32 = 16;

/// Largest multiple of a quarter of the minimum RTT (Linux, `tcp_rack_update_reo_wnd`).
const MAXIMUM_MULTIPLIER: u32 = 255;

/// Stands for a distance where the segment is not in the list.
const UNLISTED: i32 = i32::MIN;

/// List neighbours of one outstanding segment: their distances from it in segment numbers, 0
/// without one. No window has more segments than a distance can express.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Number of transmissions before its last one.
    order: u64,
    before: i32,
    after: i32,
}

/// The distance between two segments, zero to none.
fn distance(from: u64, to: u64) -> i32 {
    if to == NONE { 0 } else { to.wrapping_sub(from) as i32 }
}

/// The segment at this distance from another.
fn neighbour(of: u64, distance: i32) -> u64 {
    if distance == 0 { NONE } else { of.wrapping_add_signed(i64::from(distance)) }
}

/// The list of the segments believed to be in the network.
#[derive(Clone, Debug)]
struct List {
    /// One per outstanding segment.
    places: Ring<Place>,
    /// Number of the first outstanding segment.
    first: u64,
    /// The segment in the network that was sent earliest.
    head: u64,
    tail: u64,
    /// Numbers of lost segments awaiting retransmission, in the order of detection. Some may have
    /// been delivered since.
    lost: Ring<u64>,
    /// All segments from this number on have been sent once, after all other transmissions, and
    /// none has left the list.
    orderly_from: u64,
}

impl List {
    /// The list if all outstanding segments were sent once, in order, as the last `count` of these
    /// transmissions.
    fn orderly(first: u64, count: u64, sendings: u64) -> Self {
        let (places, lost) = (Ring::default(), Ring::default());
        let mut list = Self { places, first, head: NONE, tail: NONE, lost, orderly_from: first };
        for (number, order) in (first..first + count).zip(sendings - count..) {
            list.add(number, order);
        }
        list
    }

    fn place(&mut self, number: u64) -> &mut Place {
        &mut self.places[(number - self.first) as usize]
    }

    /// A new segment, sent after all others.
    fn add(&mut self, number: u64, order: u64) {
        self.places.push(Place { order: 0, before: UNLISTED, after: 0 });
        self.append(number, order);
    }

    fn append(&mut self, number: u64, order: u64) {
        let before = std::mem::replace(&mut self.tail, number);
        *self.place(number) = Place { order, before: distance(number, before), after: 0 };
        if before == NONE {
            self.head = number;
        } else {
            self.place(before).after = distance(before, number);
        }
    }

    fn take_out(&mut self, index: usize) {
        let Place { before, after, .. } = self.places[index];
        if before == UNLISTED {
            return;
        }
        self.places[index].before = UNLISTED;
        let number = self.first + index as u64;
        let (before, after) = (neighbour(number, before), neighbour(number, after));
        if before == NONE {
            self.head = after;
        } else {
            self.place(before).after = distance(before, after);
        }
        if after == NONE {
            self.tail = before;
        } else {
            self.place(after).before = distance(after, before);
        }
    }
}

/// RACK state of one connection.
#[derive(Clone, Debug)]
pub struct Rack {
    /// `None` if all outstanding segments were sent once, in order, after all others: nothing to
    /// store.
    list: Option<Box<List>>,
    /// Number of the first outstanding segment, and of the next new one; numbers count all segments
    /// ever sent.
    first: u64,
    next: u64,
    /// Sendings so far.
    sendings: u64,
    /// SACKed segments outstanding: "RACK.segs_sacked".
    sacked: u32,
    /// "RACK.xmit_ts": send time of the most recently sent segment among those delivered, and the
    /// number of transmissions before it.
    newest: (Time, u64),
    /// "RACK.rtt": round-trip time of the last delivered segment.
    rtt: Duration,
    /// "RACK.fack": end of the highest delivered segment.
    highest: u64,
    /// "RACK.reordering_seen".
    reordering_seen: bool,
    /// "RACK.reo_wnd_mult", and the recoveries until it returns to one ("RACK.reo_wnd_persist").
    multiplier: u32,
    persist: u32,
    /// SND.NXT at the last D-SACK that widened the window: "RACK.dsack_round".
    duplicate_round: u64,
    /// When everything sent before the newest delivered segment counts as lost, unless delivered by
    /// then.
    deadline: Option<Time>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            list: None,
            first: 0,
            next: 0,
            sendings: 0,
            sacked: 0,
            newest: (Time::ZERO, 0),
            rtt: Duration::ZERO,
            highest: 0,
            reordering_seen: false,
            multiplier: 1,
            persist: 0,
            duplicate_round: 0,
            deadline: None,
        }
    }
}

/// Inputs of the reordering window.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Whether loss recovery is active, after a fast retransmit or a timeout.
    pub in_recovery: bool,
    /// Smallest round-trip time.
    pub minimum_rtt: Duration,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Duration,
}

impl Rack {
    /// The list, created if necessary, for any change other than an appended new segment.
    fn list(&mut self) -> &mut List {
        let Self { list, first, next, sendings, .. } = self;
        let list = list.get_or_insert_with(|| Box::new(List::orderly(*first, *next - *first, *sendings)));
        list.orderly_from = *next;
        list
    }

    /// Number of transmissions before that of the first outstanding segment, without a list.
    fn orderly_first(&self) -> u64 {
        self.sendings - (self.next - self.first)
    }

    /// Outstanding segment `index`, a new or an earlier one, is sent.
    #[inline]
    pub fn on_sent(&mut self, index: usize) {
        let (number, order) = (self.first + index as u64, self.sendings);
        if number == self.next {
            self.next += 1;
            if let Some(list) = &mut self.list {
                list.add(number, order);
            }
        } else {
            let list = self.list();
            list.take_out(index);
            list.append(number, order);
        }
        self.sendings += 1;
    }

    /// Outstanding segment `index` is SACKed for the first time. `echo`: the timestamp that the ACK
    /// echoes.
    pub fn on_delivered(
        &mut self,
        index: usize,
        segment: &Segment,
        now: Time,
        echo: Option<Time>,
        minimum_rtt: Option<Duration>,
    ) {
        let list = self.list();
        list.take_out(index);
        let order = list.places[index].order;
        self.note_delivered(segment, order, self.highest, now, echo, minimum_rtt);
    }

    /// "RACK.fack": the end of the highest segment that has been delivered.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// A segment with this many earlier transmissions is acknowledged or SACKed for the first time.
    /// Steps 2 and 3 of section 6.2: it was reordered if one that ends at `highest` or beyond was
    /// delivered before it.
    #[inline]
    fn note_delivered(
        &mut self,
        segment: &Segment,
        order: u64,
        highest: u64,
        now: Time,
        echo: Option<Time>,
        minimum_rtt: Option<Duration>,
    ) {
        if segment.end() > self.highest {
            self.highest = segment.end();
        } else if segment.end() < highest && !segment.was_retransmitted() {
            self.reordering_seen = true;
        }
        let rtt = now.since(segment.sent);
        if segment.was_retransmitted() {
            // The first transmission may have been delivered.
            let earlier = echo.is_some_and(|echo| echo < segment.sent);
            if earlier || minimum_rtt.is_some_and(|minimum| rtt < minimum) {
                return;
            }
        }
        self.rtt = rtt;
        self.newest = self.newest.max((segment.sent, order));
    }

    /// Everything below `acknowledgement` is acknowledged, and still on the scoreboard. The highest
    /// segment delivered by earlier ACKs ended at `highest`: the blocks of this ACK tell nothing of
    /// the order, since a delayed ACK may cover what has arrived before them (Linux, `prior_fack`).
    #[inline]
    pub fn on_cumulative_ack(
        &mut self,
        board: &Scoreboard,
        (acknowledgement, highest): (u64, u64),
        now: Time,
        echo: Option<Time>,
        minimum_rtt: Option<Duration>,
    ) {
        let mut index = 0;
        while index < board.len() && board[index].end() <= acknowledgement {
            let segment = &board[index];
            if !segment.is_sacked() {
                let order = self.take_first();
                self.note_delivered(segment, order, highest.min(self.highest), now, echo, minimum_rtt);
            }
            self.drop_front(segment.is_sacked());
            index += 1;
        }
    }

    /// The segment just reported by [`Rack::on_delivered`] was SACKed.
    pub fn note_sacked(&mut self) {
        self.sacked += 1;
    }

    /// Removes the first outstanding segment from the list. Returns the number of transmissions
    /// before its last one.
    #[inline]
    fn take_first(&mut self) -> u64 {
        let Some(list) = &mut self.list else { return self.orderly_first() };
        list.take_out(0);
        list.places[0].order
    }

    /// The first outstanding segment has been delivered, whether or not it was SACKed before.
    #[inline]
    fn drop_front(&mut self, sacked_before: bool) {
        self.sacked -= u32::from(sacked_before);
        self.first += 1;
        let Some(list) = &mut self.list else { return };
        list.places.drop_front();
        list.first = self.first;
        // Segments found lost precede it.
        if self.first >= list.orderly_from {
            self.list = None;
        }
    }

    /// "RACK.reo_wnd", step 4 of section 6.2.
    fn reordering_window(&self, conditions: Conditions) -> Duration {
        if !self.reordering_seen && (conditions.in_recovery || self.sacked >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        conditions.minimum_rtt.scaled(self.multiplier.into(), 4).min(conditions.smoothed_rtt)
    }

    /// D-SACK reports the duplicate of a retransmission: that was reordering, whose window is
    /// widened, once per round trip. "RACK_update_reo_wnd" in step 4 of section 6.2.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        if self.reordering_seen && una >= self.duplicate_round {
            self.duplicate_round = next;
            self.multiplier = (self.multiplier + 1).min(MAXIMUM_MULTIPLIER);
            self.persist = PERSISTENCE;
        }
    }

    /// The original of a retransmitted segment has arrived, and it begins at this byte.
    pub fn note_reordering(&mut self, first: u64) {
        self.reordering_seen |= first < self.highest;
    }

    /// The segments marked lost are in the network after all.
    pub fn on_unmarked(&mut self, board: &Scoreboard) {
        self.reordering_seen = true;
        self.deadline = None;
        let list = self.list();
        (list.head, list.tail) = (NONE, NONE);
        let mut in_network = Vec::new();
        for index in 0..board.len() {
            let place = &mut list.places[index];
            place.before = UNLISTED;
            if !board[index].is_sacked() {
                in_network.push((place.order, list.first + index as u64));
            }
        }
        in_network.sort_unstable();
        for (order, number) in in_network {
            list.append(number, order);
        }
    }

    /// A recovery has ended.
    pub fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Nothing in the network was sent before the newest delivered segment, so nothing can be lost.
    #[inline]
    pub fn nothing_overtaken(&mut self) -> bool {
        let nothing = match &self.list {
            // Everything outstanding was sent after everything delivered.
            None => true,
            Some(list) => {
                let head = list.places.get((list.head.wrapping_sub(list.first)) as usize);
                head.is_none_or(|head| head.order >= self.newest.1)
            }
        };
        if nothing {
            self.deadline = None;
        }
        nothing
    }

    /// Marks lost segments, retransmissions included. Step 5 of section 6.2. Returns true if one of
    /// them is a retransmission that left at or after `since`.
    pub fn detect(&mut self, board: &mut Scoreboard, now: Time, conditions: Conditions, since: Time) -> bool {
        let window = self.reordering_window(conditions);
        let mut retransmission_lost = false;
        self.deadline = None;
        // Without a list nothing was sent before a delivered segment.
        while let Some(list) = self.list.as_deref()
            && list.head != NONE
        {
            let index = (list.head - list.first) as usize;
            let segment = board[index];
            if list.places[index].order >= self.newest.1 {
                break;
            }
            if segment.sent + self.rtt + window > now {
                // "timeout = max(Segment.xmit_ts + RACK.rtt + RACK.reo_wnd - Now(), timeout)" over
                // all earlier transmissions: none is later than the newest delivered segment.
                self.deadline = Some(self.newest.0 + self.rtt + window);
                break;
            }
            retransmission_lost |= segment.is_resent() && segment.sent >= since;
            self.mark_lost(board, index);
        }
        retransmission_lost
    }

    /// The retransmission timer expired: the first segment is lost, and every segment sent so long
    /// ago that it would have been acknowledged (section 6.3).
    pub fn on_timeout(&mut self, board: &mut Scoreboard, now: Time, conditions: Conditions) {
        let window = self.reordering_window(Conditions { in_recovery: true, ..conditions });
        self.deadline = None;
        if !board.is_empty() && !board[0].is_sacked() {
            self.mark_lost(board, 0);
        }
        while let head = self.list().head
            && head != NONE
        {
            let index = (head - self.first) as usize;
            if board[index].sent + self.rtt + window > now {
                return;
            }
            self.mark_lost(board, index);
        }
    }

    /// The receiver has discarded the reported segments with these indices: they are lost.
    pub fn on_reneging(&mut self, board: &mut Scoreboard, forgotten: &[usize]) {
        self.sacked = 0;
        for &index in forgotten {
            self.mark_lost(board, index);
        }
    }

    fn mark_lost(&mut self, board: &mut Scoreboard, index: usize) {
        let list = self.list();
        list.take_out(index);
        board.mark_lost_again(index);
        list.lost.push(list.first + index as u64);
    }

    /// Index of the next retransmission: the first outstanding one, if lost, then in the order of
    /// detection.
    #[inline(always)]
    pub fn next_retransmission(&mut self, board: &Scoreboard) -> Option<usize> {
        if !board.is_empty() && board[0].awaits_retransmission() {
            return Some(0);
        }
        let list = self.list.as_deref_mut()?;
        while let Some(&number) = list.lost.front() {
            if let Some(index) = number.checked_sub(list.first)
                && board[index as usize].awaits_retransmission()
            {
                return Some(index as usize);
            }
            list.lost.drop_front();
        }
        None
    }

    /// Earliest time at which another segment may count as lost.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CALM: Conditions = Conditions {
        in_recovery: false,
        minimum_rtt: Duration::from_milliseconds(100),
        smoothed_rtt: Duration::from_milliseconds(100),
    };

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// Scoreboard and RACK side by side, as the sender keeps them; segments of 1000 bytes.
    #[derive(Default)]
    struct Rig {
        board: Scoreboard,
        rack: Rack,
        next: u64,
        una: u64,
        /// Transmissions, and the number before the last one of each segment.
        sendings: u64,
        orders: Vec<u64>,
    }

    impl Rig {
        fn send(&mut self, milliseconds: u64) {
            self.board.push(self.next * 1000, 1000, at(milliseconds));
            self.next += 1;
            self.orders.push(self.sendings);
            self.sendings += 1;
            self.rack.on_sent(self.board.len() - 1);
        }
        /// Segments from the first to before the second.
        fn sack(&mut self, milliseconds: u64, first: u64, end: u64) {
            let rack = &mut self.rack;
            self.board.sack_each(first * 1000, end * 1000, |index, segment| {
                rack.on_delivered(index, segment, at(milliseconds), None, Some(CALM.minimum_rtt));
                rack.note_sacked();
            });
        }
        fn ack(&mut self, milliseconds: u64, end: u64) {
            let Self { board, rack, .. } = self;
            rack.on_cumulative_ack(
                board,
                (end * 1000, u64::MAX),
                at(milliseconds),
                None,
                Some(CALM.minimum_rtt),
            );
            board.advance(end * 1000);
            self.una = self.una.max(end);
        }
        fn detect(&mut self, milliseconds: u64) {
            self.rack.detect(&mut self.board, at(milliseconds), CALM, Time::ZERO);
        }
        /// Retransmits everything lost. Returns the numbers of the segments.
        fn retransmit(&mut self, milliseconds: u64) -> Vec<u64> {
            let mut again = Vec::new();
            while let Some(index) = self.rack.next_retransmission(&self.board) {
                again.push(self.board.retransmit(index, at(milliseconds)).sequence / 1000);
                self.rack.on_sent(index);
                self.orders[self.una as usize + index] = self.sendings;
                self.sendings += 1;
            }
            again
        }
    }

    /// Section 3.1's example: segments 1 and 2 of three are delivered, 0 is not. Without reordering
    /// seen, one SACKed segment leaves it a quarter of the round trip.
    #[test]
    fn a_quarter_of_the_round_trip_for_reordering() {
        let mut rig = Rig::default();
        for time in [0, 1, 2] {
            rig.send(time);
        }
        rig.sack(101, 1, 2);
        rig.detect(101);
        assert_eq!(rig.board.bytes_to_retransmit(), 0);
        // Sent at 1 ms, round-trip time 100 ms, reordering window 25 ms.
        assert_eq!(rig.rack.deadline(), Some(at(126)));
        rig.detect(126);
        assert_eq!(rig.retransmit(126), [0]);
        assert_eq!(rig.rack.deadline(), None);
    }

    #[test]
    fn none_after_three_sacked_segments_or_in_recovery() {
        let mut rig = Rig::default();
        for time in [0, 1, 2, 3] {
            rig.send(time);
        }
        rig.sack(103, 1, 4);
        rig.detect(103);
        assert_eq!(rig.retransmit(103), [0]);
        let mut rig = Rig::default();
        rig.send(0);
        rig.send(1);
        rig.sack(101, 1, 2);
        rig.rack.detect(&mut rig.board, at(101), Conditions { in_recovery: true, ..CALM }, Time::ZERO);
        assert_eq!(rig.retransmit(101), [0]);
    }

    /// Once a segment sent only once is delivered below another, the window stays.
    #[test]
    fn reordering_is_remembered() {
        let mut rig = Rig::default();
        for time in 0..8 {
            rig.send(time);
        }
        rig.sack(102, 1, 2);
        rig.ack(103, 1);
        assert!(rig.rack.reordering_seen);
        rig.sack(107, 4, 8);
        rig.detect(107);
        assert_eq!(rig.board.bytes_to_retransmit(), 0, "four SACKed, and still time is left");
        rig.detect(132);
        assert_eq!(rig.retransmit(132), [2, 3]);
    }

    /// A retransmission can be lost like anything else sent before a delivered segment.
    #[test]
    fn a_lost_retransmission_is_retransmitted() {
        let mut rig = Rig::default();
        for time in 0..5 {
            rig.send(time);
        }
        rig.sack(104, 1, 5);
        rig.detect(104);
        assert_eq!(rig.retransmit(104), [0]);
        for time in 105..109 {
            rig.send(time);
        }
        rig.sack(205, 5, 6);
        rig.detect(205);
        assert_eq!(rig.retransmit(205), [0], "retransmitted at 104, before the segment of 105");
        assert_eq!(rig.board.pipe_bytes(), 4000);
        rig.ack(305, 9);
        assert!(rig.board.is_empty());
        assert_eq!(rig.rack.sacked, 0);
        assert!(rig.rack.list.is_none(), "nothing is left to write down");
    }

    #[test]
    fn a_timeout_takes_what_is_overdue() {
        let mut rig = Rig::default();
        rig.send(0);
        rig.ack(100, 1);
        rig.send(100);
        rig.send(200);
        rig.send(450);
        rig.rack.on_timeout(&mut rig.board, at(500), CALM);
        assert_eq!(rig.retransmit(500), [1, 2]);
        assert_eq!(rig.board.pipe_bytes(), 3000);
    }

    /// Ten thousand holes in fifty thousand segments, each lost three times. A walk over all
    /// segments per ACK would take 8·10^9 steps.
    #[test]
    fn ten_thousand_holes() {
        let mut rig = Rig::default();
        for _ in 0..50_000 {
            rig.send(0);
        }
        for hole in 0..10_000_u64 {
            let first = hole * 5 + 1;
            for segment in first..first + 4 {
                rig.sack(100 + hole, first, segment + 1);
                rig.detect(100 + hole);
                rig.retransmit(100 + hole);
            }
        }
        assert_eq!(rig.board.pipe_bytes(), 10_000_000);
        // One new segment per ACK, each of which reports a lost retransmission.
        for round in 0..2 {
            for probe in 0..10_000_u64 {
                let now = 20_000 + round * 20_000 + probe;
                rig.send(now);
                rig.sack(now + 10_000, rig.next - 1, rig.next);
                rig.detect(now + 10_000);
                rig.retransmit(now + 10_000);
            }
        }
        assert_eq!(rig.board.pipe_bytes(), 10_000_000);
        rig.ack(100_000, rig.next);
        assert!(rig.board.is_empty());
    }

    proptest! {
        /// Against a walk over all segments.
        #[test]
        fn agrees_with_the_walk_of_the_rfc(
            steps in proptest::collection::vec((0_u8..6, 0_u64..40, 1_u64..5, 0_u64..60), 1..150),
        ) {
            let mut rig = Rig::default();
            let mut now = 0;
            for (step, place, length, wait) in steps {
                now += wait;
                match step {
                    0 | 1 => for _ in 0..length { rig.send(now); },
                    2 => rig.ack(now, (rig.una + length).min(rig.next)),
                    3 => rig.sack(now, rig.una + place, (rig.una + place + length).min(rig.next)),
                    4 => { rig.retransmit(now); }
                    _ => rig.rack.on_timeout(&mut rig.board, at(now), CALM),
                }
                let window = rig.rack.reordering_window(CALM);
                let Rack { rtt, newest, .. } = rig.rack;
                let expected: Vec<bool> = (0..rig.board.len()).map(|index| {
                    let segment = rig.board[index];
                    segment.awaits_retransmission()
                        || !segment.is_sacked()
                            && rig.orders[rig.una as usize + index] < newest.1
                            && segment.sent + rtt + window <= at(now)
                }).collect();
                rig.detect(now);
                let found: Vec<bool> = (0..rig.board.len()).map(|index| rig.board[index].awaits_retransmission()).collect();
                prop_assert_eq!(found, expected);
                rig.board.check();
            }
        }
    }
}
